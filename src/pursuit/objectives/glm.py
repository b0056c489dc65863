"""Generalised linear models: data, a ridge, an intercept, and what is kept of the Gram matrix.

    f(x, b) = sum_i s_i phi(y_i, x_i . x + b + o_i) / sum_i s_i  +  l2/2 ||x||^2

The intercept b is never penalised and never counted in k. With ``standardize=True`` x belongs to the standardised
columns (and so does the penalty); results are reported in the units of X.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .. import searched
from .._described import described
from .._errors import check_array, check_flag, check_number, check_start
from .._lazy import lazy
from .._names import called
from .._order import warn_column_order
from .._sorted import common
from .._types import Columns, Flags, Vector
from ..constraints import AtMost
from ..data import Form, GramColumns, Model, as_data, placed
from ..losses import Loss, as_loss
from ..refits import Fitted, LossOnColumns, intercept_of, refit
from ..refits.columns import LARGE, SEPARATED
from ..refits.factor import WELL_CONDITIONED, Factor
from ..refits.methods import EXACT, FLOOR
from ..walked import PathPlan, Walked
from . import least_squares, likelihood
from .base import Point, Slope
from .centred import MAX_ENTRIES, CentredColumns, centred_columns, exact_combinations
from .dual import HasDual
from .few_columns import FLAT
from .kernel_path import glm_path, glm_refits
from .one_column import best_column

ROUGH = 8  # Gram columns that must be missing, and multiplications of their product with X, for a rough first look
ROUGH_WORK = 1e8
NEGLIGIBLE = 1e-18  # share of the null model's squared residual that counts as none
SPEED, SPARSE_SPEED = 1e9, 1e8  # multiplications in a second, the latter where numbers lie apart
STEPS, PRODUCTS = 5, 100  # Newton steps of a refit, and products with its columns where there is no Hessian
MEAN_OVER_SPREAD = 30  # of a column, from which on its products with others are coarser than ``rounded`` says
TINY = 1e-140  # share of the height at which a gradient may mean that a column is too small to square


class GLM(HasDual):
    """A generalised linear model on any design, to be minimised over k-sparse coefficients.

    Parameters
    ----------
    X : array, data frame (its column names are kept as ``names``), SciPy sparse matrix or LinearOperator, shape (n, p)
    y : targets, shape (n,)
    loss : name or instance, see ``pursuit.list_losses()``
    l2 : ridge, half of it times the squared norm is added; a number, or one per column
    fit_intercept, sample_weight, offset : as in statistics; weights are normalised to sum to one
    standardize : work on the standardised view of X
    """

    convex = True

    def __init__(
        self,
        X: Any,
        y: Any = None,
        loss: str | Loss = "squared",
        *,
        l2: Any = 0.0,
        fit_intercept: bool = True,
        sample_weight: Any = None,
        offset: Any = None,
        standardize: bool = False,
    ) -> None:
        data = as_data(X, y, as_loss(loss), sample_weight, offset)
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
        self.data, self.dim, self.names = data, data.shape[1], data.names
        self._forget()

    def marks(self) -> dict[str, Any]:
        shift = None if self.standardize or self.data.view is None else described(self.data.view[0])
        return {
            **super().marks(), "loss": described(self.loss), "l2": described(self.ridge),
            "fit_intercept": self.fit_intercept, "standardize": self.standardize, "shift of the columns": shift,
        }  # fmt: skip

    def fingerprint(self) -> list[tuple[float, float]]:
        return [*super().fingerprint(), *map(tuple, self.data.raw.sketch().tolist())]

    def _probes(self) -> Iterator[Point | None]:
        """None but for a loss of the user's: its settings may not tell all of it."""
        return super()._probes() if self.loss.code is None else iter(())

    def expect_search(self) -> None:
        self._wants_moments = True

    def _forget(self) -> None:
        """Begin with nothing kept: no null model, no Gram columns."""
        self._wants_moments = False
        self._null: Point | None = None
        self.gram = GramColumns(self.data, self.fit_intercept) if self.loss.quadratic else None

    def on(self, engine: Any) -> "GLM":
        return type(self)(
            placed(self.data.raw, engine), loss=self.loss, l2=self.ridge, fit_intercept=self.fit_intercept,
            standardize=self.standardize,
        )  # fmt: skip

    def forget(self) -> None:
        self.data.forget()
        self.__dict__.pop("_centred", None)
        if self.gram is not None:
            self.gram.forget()
        if self._null is not None:
            self._null.__dict__.pop("gradient", None)

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_null", "gram", "_without", "tilt", "_first", "evened", "_centred", "far_from_zero")
        return {key: value for key, value in self.__dict__.items() if key not in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    @property
    def work(self) -> float:
        return self.data.nbytes / self.data.dtype.itemsize

    def seconds(self, size: int) -> float:
        share = min(1.0, size / self.dim)
        entries = self.work * (share if self.data.full else np.sqrt(share))  # the columns chosen are the fuller ones
        refit = PRODUCTS * entries if size > LARGE else STEPS * (entries**2 / self.data.shape[0] + size**3 / 3)
        return float((self.work + refit) / (SPEED if self.data.full else SPARSE_SPEED))

    @property
    def null(self) -> Point:
        """The model without features; its gradient is the first pass over X and tells whether X is finite."""
        if self._null is None:
            nothing, fit, data = np.empty(0, np.int64), self._without, self.data
            if self.smooth:
                first = data.first_pass(fit.b) if self._wants_moments else data.at(nothing, np.empty(0), fit.b)
                _, gradient, self.tilt = first  # the slope is 0, but for rounding
            else:
                gradient = data.pull(self.duals(nothing))
            again = (lambda: data.at(nothing, np.empty(0), fit.b).gradient) if self.smooth else (lambda: gradient)
            self._check_finite(gradient)
            if not self.standardize:
                size = float(np.sqrt(abs(fit.value) or 1.0))
                self.data.check_small(np.flatnonzero(np.abs(gradient) <= TINY * size))
            self._null = Point(
                self.dim, nothing, np.empty(0), fit.b, fit.value, again, True, fit.note, fit.minimiser, least=fit.value,
            )  # fmt: skip
            gradient.setflags(write=False)
            self._null.__dict__["gradient"] = gradient
        return self._null

    @property
    def height(self) -> float:
        """How far the null model is above the loss's infimum: what there is to explain."""
        lower = self.lower
        return self.null.value - lower if lower > -np.inf else abs(self.null.value)

    def scale(self, value: float) -> float:
        """What a gap at this value is relative to."""
        return max(abs(value), 1e-9 * self.height)

    @property
    def nothing(self) -> float:
        """A value at or below which nothing is left to explain; -inf where the infimum is not known."""
        return self.lower + max(FLOOR * self.height, 0.0 if self.loss.attained else SEPARATED)

    @property
    def floor(self) -> float:  # type: ignore[override]
        if self._has_ridge:
            return -np.inf
        if self.loss.targets == "binary":
            return self.nothing
        return NEGLIGIBLE * self.null.value if self.loss.code is not None and self.loss.targets == "real" else -np.inf

    def at(self, support: Columns, coef: Vector, intercept: float | None = None) -> Point:
        if not self.fit_intercept:  # a start may come from an objective that has one
            intercept = 0.0
        elif intercept is None:
            intercept = intercept_of(self.data.held(support, coef))
        value, gradient, _ = self.data.at(support, coef, intercept)
        ridge = self._ridge(support)
        gradient[support] += ridge * coef
        value += 0.5 * float(coef @ (ridge * coef))
        return Point(self.dim, support, coef, intercept, value, lambda: gradient).owned(self)

    def value(self, support: Columns, coef: Vector, intercept: float) -> float:
        """f alone: only the support's columns are read."""
        return self.data.value(support, coef, intercept) + 0.5 * float(coef @ (self._ridge(support) * coef))

    def value_at(self, point: Point) -> float:
        return self.value(point.support, point.coef, point.free)

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        if len(support) == 0:
            return self.null
        if self.gram is not None and self._null is not None and self.gram.cheap(support):
            point = self._refit_by_gram(support, start)
            if point is not None:
                return point
        return self.refit_on_data(support, start)

    def refits(self, supports: list[Columns]) -> list[Point]:
        points = glm_refits(self, supports)
        return super().refits(supports) if points is None else points

    def refit_on_data(self, support: Columns, start: Point | None = None) -> Point:
        """``refit`` without what is kept: certificates ask for it, so that no claim depends on what was done before.

        A whole Gram matrix of rows that are read does not, and spares reading them again.
        """
        if self.gram is not None and self.gram.read and self.gram.complete and len(support):
            point = self._refit_by_gram(support, start)
            if point is not None:
                return point
        fit = refit(self.few(support), *self._begin(support, start))
        if not self.smooth:
            self.duals(support, fit)
            fit = replace(fit, dual=None)  # which stays with the rows

        def slope() -> Vector:
            if fit.pull is not None:
                g = fit.pull.copy()
            elif self.smooth:
                g = self.data.at(support, fit.coef, fit.b).gradient
            else:  # of a kink's many subgradients, the one that vanishes on the support
                g = self.data.pull(self.duals(support))
            g[support] = 0.0
            return g

        return Point(
            self.dim, support, fit.coef, fit.b, fit.value, slope, fit.converged, fit.note, fit.minimiser,
            least=fit.least,
        ).owned(self)  # fmt: skip

    def duals(self, support: Columns, fit: Fitted | None = None) -> Vector:
        """The dual variables of a refit whose loss has kinks, one per row; kept with the rows."""

        def again() -> Vector | None:
            return (fit or refit(self.few(support), np.zeros(len(support)), self._first)).dual

        ridge = np.broadcast_to(self._ridge(support), len(support))
        return self.data.recall(("duals", support.tobytes(), ridge.tobytes(), self.fit_intercept), again)

    def few(self, support: Columns) -> LossOnColumns:
        """f on a support, as a function of its coefficients and the intercept."""
        return self.data.few(support, self._ridge(support), self.fit_intercept, self.lower)

    @lazy
    def _without(self) -> Fitted:
        """The model without features, which needs no pass over X."""
        if self.quadratic and self.data.whole and self.data.near:
            b, value = self.data.constant_fit(self._first, self.fit_intercept)
            return Fitted(np.empty(0), b, value, value - EXACT * max(value - self.lower, 0.0))
        return refit(self.few(np.empty(0, np.int64)), np.empty(0), self._first)

    @lazy
    def _first(self) -> float:
        """An intercept to begin with."""
        return self.data.start() if self.fit_intercept else 0.0

    def _begin(self, support: Columns, start: Point | None) -> tuple[Vector, float]:
        """Coefficients and intercept to begin a refit from."""
        coef = np.zeros(len(support))
        direct = self.loss.quadratic and not self.data.lean  # needs no start
        if start is None or direct or not self.loss.smooth or not start.value < self._without.value:
            return coef, self._first
        here, there = common(support, start.support)
        coef[here] = start.coef[there]
        if len(here) < len(start.support) and not self.loss.quadratic:
            left = self.few(support)  # without its other columns a start may be worse than nothing
            if not left.at(left.join(coef, start.free), hessian=False).value < self._without.value:
                return np.zeros(len(support)), self._without.b
        return coef, start.free

    def _refit_by_gram(self, support: Columns, start: Point | None) -> Point | None:
        """The squared loss from kept Gram columns, without reading X; None where that would cost digits."""
        assert self.gram is not None
        null, gram = self.null, self.gram
        hint = None if start is None or not gram.missing(support) else start.known_gradient
        small = gram.entries(support, support, hint)
        constant = small.diagonal() == 0
        small[constant] = small[:, constant] = 0.0  # rounding is all that was there
        if self._far(support, small.diagonal()):
            return None
        small[np.arange(len(support)), np.arange(len(support))] += self._ridge(support)
        factor = Factor(small)
        if factor.rcond < WELL_CONDITIONED:
            return None
        down = np.where(constant, 0.0, null.gradient[support] - self.gram.means[support] * self.tilt)
        coef = -factor.solve(down)
        coef -= factor.solve(small @ coef + down)
        value = null.value + 0.5 * float(down @ coef)
        noise = searched.rounding(coef, small.diagonal(), null.value, self.rounded)
        if not noise <= searched.CANCELLED * value:
            return None
        b = null.free - float(self.gram.means[support] @ coef) if self.fit_intercept else 0.0

        def slope() -> Vector:  # the columns are asked for again: a point keeps no k x p matrix alive
            g = null.gradient + gram.combined(support, coef)
            g[support] = 0.0
            return g

        return Point(self.dim, support, coef, b, value, slope, True, least=value - max(noise, EXACT * value)).owned(
            self
        )

    def _far(self, cols: Columns, squares: Vector) -> bool:
        """Whether a column is so far from zero beside its spread that products with it have lost digits."""
        assert self.gram is not None
        return bool((self.gram.means[cols] ** 2 > searched.FAR**2 * squares)[squares > 0].any())

    def curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        turn = self._model(point).along(cols, v)
        return float(turn.moment(self.fit_intercept)) + float(v @ (self._ridge(cols) * v))

    def curvatures(self, point: Point, cols: Columns) -> Vector:
        known = None if self.gram is None else self.gram.diagonal(cols)
        if known is None:
            known = self._model(point).squares(cols, self.fit_intercept)
        if not np.isfinite(known).all():
            if not self.loss.quadratic:  # at a point where phi'' overflows
                return np.nan_to_num(known, nan=1e300, posinf=1e300)
            bad = cols[~np.isfinite(known)]
            where, it = called(bad, self.names), "it" if len(bad) == 1 else "them"
            raise ValueError(f"X has values in {where} that are too large to square; rescale {it}")
        return np.asarray(known + self._ridge(cols))

    def mean_curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        """By one product where a column costs one: random signs make v'Hv what is asked for, in the mean."""
        if self.data.lean:
            return self.curvature(point, cols, v * np.random.default_rng(0).choice([-1.0, 1.0], len(v)))
        return float(v**2 @ self.curvatures(point, cols))

    def hessian_rows(self, point: Point, cols: Columns, others: Columns | None = None) -> Vector:
        if others is None and self.gram is not None and len(cols) <= self.gram.capacity:
            H = self.gram.columns(cols, point.known_gradient)
        elif others is not None and self.gram is not None and not self.gram.missing(cols):
            H = self.gram.entries(cols, others)
        else:
            H = self._model(point).rows(cols, others, self.fit_intercept)
        if others is None:
            H[np.arange(len(cols)), cols] += self._ridge(cols)
        else:
            order = np.argsort(others)  # groups come unit after unit
            here, there = common(cols, others[order])
            H[here, order[there]] += self._ridge(cols[here])
        return H

    def rough_rows(self, point: Point, cols: Columns) -> tuple[Any, Vector] | None:
        """H[cols] in single precision and all H_jj, where that is much cheaper than in double; None elsewhere."""
        if self.work * len(cols) < ROUGH_WORK or (self.gram is not None and self.gram.missing(cols) < ROUGH):
            return None
        rough = self._model(point).rough(cols, self.fit_intercept)
        if rough is None:
            return None
        rows, spread = rough
        rows[np.arange(len(cols)), cols] += self._ridge(cols)
        return rows, spread.moment(self.fit_intercept) + self._ridge(np.arange(self.dim))

    def centred_columns(self) -> CentredColumns | None:
        found = self._centred
        return None if found is None else found._replace(ridge=np.broadcast_to(self.ridge, self.dim))

    @lazy
    def far_from_zero(self) -> bool:  # type: ignore[override]
        if self.gram is None or not self.fit_intercept or self.data.shape[0] * self.data.shape[1] > MAX_ENTRIES:
            return False
        squares = self.curvatures(self.null, np.arange(self.dim)) - self.ridge
        return bool((self.data.moments().mean ** 2 > MEAN_OVER_SPREAD**2 * squares)[squares > 0].any())

    def combinations(self, support: Columns, cols: Columns) -> Flags:
        return exact_combinations(self, support, cols)

    @lazy
    def _centred(self) -> CentredColumns | None:
        """Without the ridge: ``ridged`` objectives share it."""
        return centred_columns(self)

    def _model(self, point: Point) -> Model:
        """The Hessian of the loss at a point; where that is nearly nothing, the bound on it."""
        model, bound = self.data.model(point.support, point.coef, point.free), self.loss.smoothness
        return model if not np.isfinite(bound) or model.weight > FLAT * bound else model.bounding()

    def quick_search(self, constraint: AtMost, start: Columns, plan: searched.Plan) -> "searched.Searched | None":
        """A search for the best support in one kernel call; None where the data are too large for that."""
        if constraint.unit_of is not None or self.loss.code is None or not self.loss.smooth or self.data.lean:
            return None
        if constraint.k == 1 and not constraint.include.size and self.gram is None and self.data.near:
            single = best_column(self, constraint, plan)
            if single is not None:
                return single
        return (least_squares if self.gram is not None else likelihood).search(self, constraint, start, plan)

    def quick_path(self, constraint: AtMost, plan: PathPlan) -> Walked | None:
        return glm_path(self, constraint, plan)

    @lazy
    def evened(self) -> tuple[Form, Vector]:
        """The squared loss on columns of mean square 1 as a quadratic form, kept for proofs, and 1 / their scale."""
        m, s, constant = self.data.scales(self.fit_intercept)
        if self.gram is not None and self.gram.read:
            even = np.where(constant, 0.0, 1 / s)
            pull = even * (self.gram.means * self.tilt - self.null.gradient)
            gram = self.gram.columns(np.arange(self.dim)) * np.outer(even, even)
            return Form(gram, pull, np.zeros(self.dim), 0.0), even
        form = self.data.form(m, np.where(constant, np.inf, s), self.null.free)
        return form.centred() if self.fit_intercept else form, np.where(constant, 0.0, 1 / s)

    @lazy
    def lower(self) -> float:  # type: ignore[override]
        """The weighted sum of every sample's own infimum; -inf where that is not known."""
        return self.data.infimum()

    def ridged(self, weights: Vector) -> "GLM":
        """f + sum_j weights_j/2 x_j^2; what is kept of X (Gram columns, the null model) is shared."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, ridge=self.ridge + weights)
        return twin

    @property
    def _has_ridge(self) -> bool:
        return self.ridge > 0.0 if isinstance(self.ridge, float) else bool(self.ridge.any())

    def _ridge(self, cols: Columns) -> Any:
        """The ridge on these columns: one number, or one per column."""
        return self.ridge if isinstance(self.ridge, float) else self.ridge[cols]

    def minibatch(self, rng: np.random.Generator, share: float) -> Slope:
        n = self.data.shape[0]
        few = np.sort(rng.integers(n, size=max(1, round(share * n))))
        data = self.data.take(few, n / len(few))

        def slope(support: Columns, coef: Vector, intercept: float) -> tuple[Vector, float]:
            _, g, in_b = data.at(support, coef, intercept)
            g[support] += self._ridge(support) * coef
            return g, in_b if self.fit_intercept else 0.0

        return slope

    def copies(self, one: int, other: int) -> bool:
        return not self.data.lean and self.data.copies(one, other, self.fit_intercept)

    def in_units(self, point: Point) -> tuple[Vector, float]:
        return self.data.in_units(point.support, point.coef, point.free)

    def from_units(self, x: Any, intercept: float | None = None) -> Point:
        x = check_start(x, f"a vector of {self.dim} numbers")
        if x.shape != (self.dim,) or not np.isfinite(x).all():
            raise ValueError(f"start must be a finite vector with one entry per column of X, shape ({self.dim},)")
        support = np.flatnonzero(x)
        coef, b = self.data.from_units(support, x[support], 0.0 if intercept is None else intercept)
        return self.at(support, coef, None if intercept is None else b)

    def _check_finite(self, gradient: Vector) -> None:
        if not np.isfinite(gradient).all():
            _, mean, square = self.data.moments()  # a row's NaN can reach every column's gradient: look again
            finite = np.isfinite(mean) & np.isfinite(square)
            where = called(np.flatnonzero(~(np.isfinite(gradient) if finite.all() else finite)), self.names)
            raise ValueError(f"X contains NaN or infinity (or values too large to add up) in {where}")


def _check_ridge(l2: Any, p: int) -> Any:
    """A number, or one per column."""
    if isinstance(l2, str) or not np.iterable(l2):
        return check_number(l2, "l2")
    ridge = check_array(l2, "l2")
    if ridge.shape != (p,) or not (ridge >= 0).all():
        raise ValueError(f"l2 must be a number, or one per column (shape ({p},)), none of them negative or infinite")
    return ridge
