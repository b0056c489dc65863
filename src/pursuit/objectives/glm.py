"""Generalised linear models: data, a ridge, an intercept, and what is kept of the Gram matrix.

    f(x, b) = sum_i s_i phi(y_i, x_i . x + b + o_i) / sum_i s_i  +  l2/2 ||x||^2

The intercept b is never penalised and never counted in k. With ``standardize=True`` x belongs to the standardised
columns (and so does the penalty); results are reported in the units of X.

With q outputs (several responses, classes) a column has q coefficients and there are q intercepts. The coordinates are
the entries of the p x q matrix of coefficients, row by row: j q + r belongs to column j and output r. A column is a
group of q coordinates, so that solvers, constraints and exchanges work as they are. X'CX serves all responses.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.lazy import lazy
from .._utils.row_order import warn_column_order
from .._utils.settings import settings_to_json
from .._utils.types import ArrayLike, Columns, Flags, Intercept, MatrixLike, Ridge, Vector
from .._utils.validation import check_array, check_flag, check_number, check_start
from ..constraints import AtMost
from ..data import GramColumns, as_data, placed
from ..kernels.path import PathPlan, PathPoint, PathSolution
from ..kernels.search import SearchPlan, SearchSolution
from ..kernels.unit_columns import UnitColumns
from ..losses import Loss, Multinomial, as_loss
from ..refits.columns import MAX_HESSIAN_COLUMNS
from . import classes, least_squares, likelihood
from .base import Objective, Point, Slope
from .centred import MAX_ENTRIES, exact_combinations, exact_exchanges, unit_columns
from .glm_path import glm_path, glm_refits
from .glm_refits import GLMRefits
from .one_column import best_column

if TYPE_CHECKING:
    from ..engines.dask import Dask as Engine

DENSE_SPEED, SPARSE_SPEED = 1e9, 1e8  # multiplications in a second, the latter where numbers lie apart
# Newton steps of a refit, and products with its columns where there is no Hessian
EXPECTED_NEWTON_STEPS, EXPECTED_PRODUCTS = 5, 100
MIN_MEAN_TO_SPREAD = 30  # of a column, from which on its products with others are coarser than ``rounded`` says


class GLM(GLMRefits):
    """A generalised linear model on any design, to be minimised over k-sparse coefficients.

    Parameters
    ----------
    X : array, data frame, SciPy sparse matrix, LinearOperator or data in parts, shape (n, p)
        The columns; a data frame's names are kept as ``names``.
    y : array of shape (n,) or (n, q), or None
        Targets; for "squared" also (n, q) for several responses with one support; for "multinomial" labels (text or
        whole numbers) or shares of the classes, shape (n, q), at least 0, every row sums to 1. None where X brings its
        own.
    loss : str or Loss, default "squared"
        Name or instance, see ``pursuit.list_losses()``; also "multinomial".
    l2 : float or array of shape (p,), default 0
        Ridge: half of it times the squared norm is added; a number, or one per column.
    fit_intercept : bool, default True
        Whether there is an intercept, which is not penalised and does not count in k.
    sample_weight : array of shape (n,) or None, default None
        Weights of the rows, normalised to sum to one.
    offset : array of shape (n,) or None, default None
        What is added to the linear predictor of each row.
    standardize : bool, default False
        Work on the standardised view of X; results are in the units of X either way.

    See Also
    --------
    solve : Minimises it.
    SparseRegressor : The same with scikit-learn's conventions.

    Notes
    -----
    ``f(x, b) = sum_i w_i phi(y_i, x_i' x + b + o_i) + l2 / 2 |x|^2``, with weights w that sum to one.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y, "huber"), 2).support.tolist()
    [3, 7]
    """

    convex = True
    columns_per_feature = 1  # columns that are one feature of the user's: 2 for a complex coefficient

    def __init__(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        loss: str | Loss = "squared",
        *,
        l2: ArrayLike = 0.0,
        fit_intercept: bool = True,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        standardize: bool = False,
    ) -> None:
        data = as_data(X, y, as_loss(loss, several=True), sample_weight, offset)
        self.loss, self.smooth, self.quadratic = data.loss, data.loss.smooth, data.loss.quadratic
        warn_column_order(data.names, l2=l2)
        self.ridge = _check_ridge(l2, data.shape[1])
        self.fit_intercept = check_flag(fit_intercept, "fit_intercept")
        self.standardize = check_flag(standardize, "standardize")
        if not (self.loss.smooth or np.all(self.ridge)):
            raise ValueError(
                f"loss {self.loss.name!r} needs l2 > 0: without a ridge it is not a support vector machine"
            )
        if self.standardize:
            data = data.standardized(self.fit_intercept)
        elif self.fit_intercept:
            data = data.shifted()
        self.data, self.names, self.outputs = data, data.names, data.outputs
        self.dim = data.shape[1] * self.outputs
        self.width = self.outputs * self.columns_per_feature
        if self.outputs > 1:
            self.offers = (*Objective.offers, "proof")
        if not self.loss.separable:
            self.offers = ("bounds",)
        self._forget()

    @property
    def l2(self) -> Ridge:
        """The ridge: a number, or one per column."""
        return self.ridge

    def problem_settings(self) -> dict[str, object]:
        shift = None if self.standardize or self.data.view is None else settings_to_json(self.data.view[0])
        return {
            **super().problem_settings(),
            "loss": settings_to_json(self.loss),
            "l2": settings_to_json(self.ridge),
            "fit_intercept": self.fit_intercept,
            "standardize": self.standardize,
            "shift of the columns": shift,
        }

    def fingerprint(self) -> list[tuple[float, float]]:
        return [*super().fingerprint(), *map(tuple, self.data.raw.sketch().tolist())]

    def _probes(self) -> Iterator[Point | None]:
        """None but for a loss of the user's: its settings may not tell all of it."""
        known = self.loss.code is not None or isinstance(self.loss, Multinomial)
        return iter(()) if known else super()._probes()

    def expect_search(self) -> None:
        self._wants_moments = True

    def _forget(self) -> None:
        """Begin with nothing kept: no null model, no Gram columns."""
        self._wants_moments = False
        self._null: Point | None = None
        self.gram = GramColumns(self.data, self.fit_intercept) if self.loss.quadratic else None

    def to_engine(self, engine: "Engine") -> "GLM":
        return type(self)(
            placed(self.data.raw, engine),
            loss=self.loss,
            l2=self.ridge,
            fit_intercept=self.fit_intercept,
            standardize=self.standardize,
        )

    def forget(self) -> None:
        self.data.forget()
        self.__dict__.pop("_unit_columns", None)
        if self.gram is not None:
            self.gram.forget()
        if self._null is not None:
            self._null.__dict__.pop("gradient", None)

    def __getstate__(self) -> dict[str, object]:
        kept = ("_null", "gram", "_without", "tilt", "_first", "scaled_form", "_unit_columns", "far_from_zero")
        return {key: value for key, value in self.__dict__.items() if key not in kept}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._forget()

    @property
    def work(self) -> float:
        entries = self.data.nbytes / self.data.dtype.itemsize
        return entries if self.outputs == 1 or self.quadratic else 10.0 * self.outputs**2 * entries

    def seconds(self, size: int) -> float:
        if self.outputs > 1:
            return 0.0
        share = min(1.0, size / self.dim)
        entries = self.work * (share if self.data.full else np.sqrt(share))  # the columns chosen are the fuller ones
        refit = (
            EXPECTED_PRODUCTS * entries
            if size > MAX_HESSIAN_COLUMNS
            else EXPECTED_NEWTON_STEPS * (entries**2 / self.data.shape[0] + size**3 / 3)
        )
        return float((self.work + refit) / (DENSE_SPEED if self.data.full else SPARSE_SPEED))

    def refits(self, supports: list[Columns]) -> list[Point]:
        points = glm_refits(self, supports) if self.outputs == 1 else None
        return super().refits(supports) if points is None else points

    def unit_columns(self) -> UnitColumns | None:
        found = self._unit_columns
        return None if found is None else found._replace(ridge=np.broadcast_to(self.ridge, self.data.shape[1]))

    @lazy
    def far_from_zero(self) -> bool:
        if self.gram is None or not self.fit_intercept or self.data.shape[0] * self.data.shape[1] > MAX_ENTRIES:
            return False
        squares = self.curvatures(self.null, np.arange(0, self.dim, self.outputs)) - self.ridge
        return bool((self.data.moments().mean ** 2 > MIN_MEAN_TO_SPREAD**2 * squares)[squares > 0].any())

    def combinations(self, support: Columns, cols: Columns) -> Flags:
        return exact_combinations(self, support, cols)

    def exchange_bounds(self, support: Columns, newcomer: int) -> Vector | None:
        return exact_exchanges(self, support, newcomer)

    @lazy
    def _unit_columns(self) -> UnitColumns | None:
        """Without the ridge: ``ridged`` objectives share it."""
        return unit_columns(self)

    def quick_search(self, constraint: AtMost, start: Columns, plan: SearchPlan) -> "SearchSolution | None":
        """A search for the best support in one kernel call; None where the data are too large for that."""
        if self.gram is not None:
            return least_squares.search(self, constraint, start, plan)
        if self.outputs > 1:
            return classes.search(self, constraint, start, plan)
        if constraint.unit_of is not None or self.loss.code is None or not self.loss.smooth or self.data.products_only:
            return None
        if constraint.k == 1 and not constraint.include.size and self.data.near:
            single = best_column(self, constraint, plan)
            if single is not None:
                return single
        return likelihood.search(self, constraint, start, plan)

    def best_subset(self, constraint: AtMost, plan: SearchPlan | PathPlan) -> PathPoint | None:
        single = self.quadratic and self.outputs == 1 and not self.data.products_only
        return least_squares.best_subset(self, constraint, plan) if single else None

    def quick_path(self, constraint: AtMost, plan: PathPlan) -> PathSolution | None:
        return (glm_path if self.outputs == 1 or self.quadratic else classes.path)(self, constraint, plan)

    def ridged(self, weights: Vector) -> Any:
        """f + sum_j weights_j/2 x_j^2; what is kept of X (Gram columns, the null model) is shared."""
        if self.outputs > 1 and weights.ndim:  # one per coordinate
            return super().ridged(weights)
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, ridge=self.ridge + weights)
        return twin

    def minibatch(self, rng: np.random.Generator, share: float) -> Slope:
        n = self.data.shape[0]
        few = np.sort(rng.integers(n, size=max(1, round(share * n))))
        data = self.data.take(few, n / len(few))

        def slope(support: Columns, coef: Vector, intercept: Intercept) -> tuple[Vector, Intercept]:
            _, g, in_b = data.at(*self._matrix(support, coef), intercept)
            g = g.reshape(-1)
            g[support] += self._ridge(support) * coef
            return g, in_b if self.fit_intercept else 0.0 * in_b

        return slope

    def copies(self, one: int, other: int) -> bool:
        return not self.data.products_only and self.data.copies(
            one // self.outputs, other // self.outputs, self.fit_intercept
        )

    def in_units(self, point: Point) -> tuple[Vector, Intercept]:
        coef, b = self.data.in_units(*self._matrix(point.support, point.coef), point.free)
        return coef.reshape(-1), b

    def from_units(self, x: ArrayLike, intercept: Intercept | None = None) -> Point:
        p, q = self.data.shape[1], self.outputs
        shape, each = ((p,), "vector with one entry") if q == 1 else ((p, q), "matrix with one row")
        x = check_start(x, f"a vector of {p} numbers" if q == 1 else f"a matrix of shape ({p}, {q})")
        if x.shape != shape or not np.isfinite(x).all():
            raise ValueError(f"start must be a finite {each} per column of X, shape {shape}")
        cols = np.flatnonzero(x if q == 1 else x.any(axis=1))
        b = intercept if q == 1 or intercept is None else np.asarray(intercept, dtype=np.float64)
        coef, b = self.data.from_units(cols, x[cols], 0.0 if b is None else b)
        return self.at(
            cols if self.outputs == 1 else self.coordinates(cols), coef.reshape(-1), None if intercept is None else b
        )


def _check_ridge(l2: ArrayLike, p: int) -> Ridge:
    """A number, or one per column."""
    if isinstance(l2, str) or not np.iterable(l2):
        return check_number(l2, "l2")
    ridge = check_array(l2, "l2")
    if ridge.shape != (p,) or not (ridge >= 0).all():
        raise ValueError(f"l2 must be a number, or one per column (shape ({p},)), none of them negative or infinite")
    return ridge
