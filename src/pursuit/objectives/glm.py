"""Generalised linear models: the one place where X meets a loss.

    f(x, b) = sum_i s_i phi(y_i, x_i . x + b + o_i) / sum_i s_i  +  l2/2 ||x||^2

The intercept b is never penalised and never counted in k. With ``standardize=True`` x belongs to the standardised
columns (and so does the penalty); results are reported in the units of X.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._errors import check_number, check_offset, check_weights
from .._lazy import lazy
from .._names import Names, called
from .._sorted import common
from ..designs import Block, Design, Rows, Standardized, as_design, centre, check_small, cross
from ..losses import Loss, as_loss
from ..losses.base import check_derivative
from ..refits import Columns as FewColumns
from ..refits import Fitted, Stored, best_intercept, refit
from ..refits.columns import EXACT, FLOOR, GATHERED, SEPARATED
from ..refits.factor import Factor
from . import searched
from .base import Columns, Point, Slope, Vector
from .gathered import Gathered
from .gram import GramColumns

if TYPE_CHECKING:
    from ..constraints import AtMost

TRUSTED = 1e-6  # reciprocal condition above which a refit needs no second look at the data
CANCELLED = 1e-3  # share of the null value below which values are computed from residuals
ROUGH = 8  # Gram columns that must be missing, and multiplications of their product with X, for a rough first look
ROUGH_WORK = 1e8
FAR = 1e4  # mean over spread of a column from which on the data are asked
SMALL_SHARE = 1e-6  # share of it below which a search needs the data
NEGLIGIBLE = 1e-18  # share of the null model's squared residual that counts as none
TINY = 1e-140  # share of the height at which a gradient may mean that a column is too small to square


class GLM:
    """A generalised linear model on any design, to be minimised over k-sparse coefficients.

    Parameters
    ----------
    X : array, data frame (its column names are kept as ``names``), SciPy sparse matrix or LinearOperator, shape (n, p)
    y : targets, shape (n,)
    loss : name or instance, see ``pursuit.list_losses()``
    l2 : ridge, half of it times the squared norm is added
    fit_intercept, sample_weight, offset : as in statistics; weights are normalised to sum to one
    standardize : work on the standardised view of X
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: str | Loss = "squared",
        *,
        l2: float = 0.0,
        fit_intercept: bool = True,
        sample_weight: Any = None,
        offset: Any = None,
        standardize: bool = False,
    ) -> None:
        design = as_design(X)
        self.loss = as_loss(loss)
        self.l2 = check_number(l2, "l2")
        self.fit_intercept = bool(fit_intercept)
        n, self.dim = design.shape
        if np.ndim(y) != 1 or len(y) != n:
            raise ValueError(f"y must have one entry per row of X, shape ({n},), got shape {np.shape(y)}")
        if not self.loss.smooth and self.l2 == 0:
            raise ValueError(
                f"loss {self.loss.name!r} needs l2 > 0: without a ridge it is not a support vector machine"
            )
        self.rows = Rows(
            self.loss.encode(y),
            check_weights(sample_weight, n),
            check_offset(offset, n),
        )
        if self.loss.code is None:
            with np.errstate(all="ignore"):
                check_derivative(self.loss, self.rows.y)
        self.standardize = bool(standardize)
        self.extra: Vector | None = None  # a ridge per column on top of l2, see `ridged`
        if standardize:
            design = Standardized(design, self.rows.c, self.fit_intercept)
        elif self.fit_intercept:  # which takes up what is taken off
            design = Standardized.shifted(design)
        self.design: Design = design
        self._forget()

    def _forget(self) -> None:
        """Begin with nothing kept: no null model, no Gram columns, no gathered block."""
        self._null: Point | None = None
        self._gathered = Gathered(self.design)
        self.gram = GramColumns(self._gathered, self.rows.c, self.fit_intercept) if self.loss.quadratic else None
        self._variances: Vector | None = None

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_null", "gram", "_variances", "_gathered", "_without", "_tilt")
        return {key: value for key, value in self.__dict__.items() if key not in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    @property
    def names(self) -> Names | None:
        """The names of X's columns, where X is a data frame."""
        return self.design.names

    @property
    def work(self) -> float:
        return self.design.nbytes / self.design.dtype.itemsize

    @property
    def smooth(self) -> bool:
        return self.loss.smooth

    @property
    def convex(self) -> bool:
        return True

    @property
    def quadratic(self) -> bool:
        return self.loss.quadratic

    @property
    def null(self) -> Point:
        """The model without features; its gradient is the first pass over X and tells whether X is finite."""
        if self._null is None:
            null = self.refit(np.empty(0, np.int64))
            self._check_finite(null.gradient)
            if not self.standardize:
                size = float(np.sqrt(abs(null.value) or 1.0))
                check_small(self.design, np.flatnonzero(np.abs(null.gradient) <= TINY * size))
            eta = self.rows.shift(np.zeros(len(self.rows.y)), null.free)
            self._tilt = float(self.loss.terms(self.rows.y, eta, self.rows.c)[1].sum())  # 0, but for rounding
            self._null = replace(null.detached(), least=null.value, dual=null.dual)  # or it would hold what holds it
            self._null.__dict__["gradient"] = null.gradient
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
    def floor(self) -> float:
        if self.l2 > 0 or self.extra is not None:
            return -np.inf
        if self.loss.targets == "binary":
            return self.nothing
        return NEGLIGIBLE * self.null.value if self.loss.code is not None and self.loss.targets == "real" else -np.inf

    def at(self, support: Columns, coef: Vector, intercept: float | None = None) -> Point:
        if intercept is None:
            intercept = self._best_intercept(support, coef)
        value, gradient, _ = self.design.value_gradient(self.loss, self.rows, support, coef, intercept)
        ridge = self._ridge(support)
        gradient[support] += ridge * coef
        value += 0.5 * float(coef @ (ridge * coef))
        return Point(self.dim, support, coef, intercept, value, lambda: gradient)

    def value(self, support: Columns, coef: Vector, intercept: float) -> float:
        """f alone: only the support's columns are read, and added up in twice the digits where that is affordable."""
        if self.design.shape[0] * len(support) <= GATHERED and not self.design.lean:
            A, m, s = self.design.stored(support)
            raw = coef / s
            eta = _core.exact_eta(np.asfortranarray(A), raw, intercept - float(m @ raw), self.rows.offset)
        else:
            eta = self.rows.shift(self.design.matmat(support, coef[:, None])[:, 0], intercept)
        return self.loss.terms(self.rows.y, eta, self.rows.c)[0] + 0.5 * float(coef @ (self._ridge(support) * coef))

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        if len(support) == 0 and self._null is not None:
            return self._null
        if self.gram is not None and self._null is not None and self.gram.cheap(support):
            point = self._refit_by_gram(support, start)
            if point is not None:
                return point
        return self.refit_on_data(support, start)

    def refit_on_data(self, support: Columns, start: Point | None = None) -> Point:
        """``refit`` without what is kept: certificates ask for it, so that no claim depends on what was done before."""
        fit = refit(self.few(support), *self._begin(support, start))

        def slope() -> Vector:
            if fit.pull is not None:
                g = fit.pull.copy()
            elif fit.dual is None:
                g = self.design.value_gradient(self.loss, self.rows, support, fit.coef, fit.b)[1]
            else:  # of a kink's many subgradients, the one that vanishes on the support
                g = self.design.rmatmat((self.rows.c * fit.dual)[:, None])[:, 0]
            g[support] = 0.0
            return g

        return Point(
            self.dim, support, fit.coef, fit.b, fit.value, slope, True, fit.note, fit.minimiser, least=fit.least,
            dual=fit.dual,
        )  # fmt: skip

    def few(self, support: Columns, gathered: bool = False) -> FewColumns:
        """f on a support, as a function of its coefficients and the intercept; ``gathered``: with a Hessian."""
        block = self._gathered(support) if gathered else self._gathered.few(support)
        return FewColumns(
            block, self.rows, self.loss, self._ridge(support), self.fit_intercept, self.lower,
            lambda: Stored(*self.design.stored(support)),
        )  # fmt: skip

    @lazy
    def _without(self) -> Fitted:
        """The model without features, as far as it needs no pass over X."""
        return refit(self.few(np.empty(0, np.int64)), np.empty(0), self._first())

    def _first(self) -> float:
        """An intercept to begin with."""
        if not self.fit_intercept:
            return 0.0
        y, c, offset = self.rows.y, self.rows.c, self.rows.offset
        known = None if offset is None else self.loss.intercept(y, c, offset)
        return self.loss.start(y, c) if known is None else known

    def _begin(self, support: Columns, start: Point | None) -> tuple[Vector, float]:
        """Coefficients and intercept to begin a refit from."""
        coef = np.zeros(len(support))
        direct = self.loss.quadratic and not self.design.lean  # needs no start
        if start is None or direct or not self.loss.smooth or not start.value < self._without.value:
            return coef, self._first()
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
        null = self.null
        H = self.gram.columns(support, None if start is None else start.known_gradient)
        small = H[:, support]
        constant = small.diagonal() == 0
        if self._far(support, small.diagonal()):
            return None
        small[np.arange(len(support)), np.arange(len(support))] += self._ridge(support)
        factor = Factor(small)
        if factor.rcond < TRUSTED:
            return None
        down = np.where(constant, 0.0, null.gradient[support] - self.gram.means[support] * self._tilt)
        coef = -factor.solve(down)
        coef -= factor.solve(small @ coef + down)
        value = null.value + 0.5 * float(down @ coef)
        if value < CANCELLED * null.value:
            return None
        b = null.free - float(self.gram.means[support] @ coef) if self.fit_intercept else 0.0

        def slope() -> Vector:
            g = null.gradient + coef @ H
            g[support] = 0.0
            return g

        return Point(self.dim, support, coef, b, value, slope, True, least=(1 - EXACT) * value)

    def _far(self, cols: Columns, squares: Vector) -> bool:
        """Whether a column is so far from zero beside its spread that products with it have lost digits."""
        assert self.gram is not None
        return bool((self.gram.means[cols] ** 2 > FAR**2 * squares)[squares > 0].any())

    def gathered(self, cols: Columns) -> Block:
        """The columns, gathered."""
        return self._gathered(cols)

    def curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        turn = self.design.matmat(cols, v[:, None])[:, 0]
        w = self._weights(point)
        total = float(w.sum())
        if self.fit_intercept and total > 0:
            turn = turn - float(w @ turn) / total
        return float(w @ turn**2) + float(v @ (self._ridge(cols) * v))

    def curvatures(self, point: Point, cols: Columns) -> Vector:
        known = None if self.gram is None else self.gram.diagonal(cols)
        if known is None:
            w = self._weights(point)
            if len(cols) * 8 > self.dim:  # one pass over X is cheaper than a gather of so many columns
                known = self._all_curvatures(w)[cols]
            else:
                known = self._gathered(cols).curvatures(w, self.fit_intercept)
        if not np.isfinite(known).all():
            if not self.loss.quadratic:  # at a point where phi'' overflows
                return np.nan_to_num(known, nan=1e300, posinf=1e300)
            bad = cols[~np.isfinite(known)]
            where, it = called(bad, self.names), "it" if len(bad) == 1 else "them"
            raise ValueError(f"X has values in {where} that are too large to square; rescale {it}")
        return np.asarray(known + self._ridge(cols))

    def mean_curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        """By one product where a column costs one: random signs make v'Hv what is asked for, in the mean."""
        if self.design.lean:
            return self.curvature(point, cols, v * np.random.default_rng(0).choice([-1.0, 1.0], len(v)))
        return float(v**2 @ self.curvatures(point, cols))

    def hessian_rows(self, point: Point, cols: Columns, others: Columns | None = None) -> Vector:
        if others is None and self.gram is not None and len(cols) <= self.gram.capacity:
            H = self.gram.columns(cols)
        else:
            w = self._weights(point)
            A = self._gathered(cols).dense().copy(order="F")
            if self.fit_intercept:
                centre(A, w)
            A *= w[:, None]
            H = cross(self.design, A, others)
        if others is None:
            H[np.arange(len(cols)), cols] += self._ridge(cols)
        else:
            order = np.argsort(others)  # groups come unit after unit
            here, there = common(cols, others[order])
            H[here, order[there]] += self._ridge(cols[here])
        return H

    def rough_rows(self, point: Point, cols: Columns) -> tuple[Any, Vector] | None:
        """H[cols] in single precision and all H_jj, where that is much cheaper than in double; None elsewhere."""
        held = self.gram is not None and self.gram.missing(cols) < ROUGH
        if held or self.work * len(cols) < ROUGH_WORK:
            return None
        w = self._weights(point)
        total = float(w.sum())
        if total <= 0:
            return None
        A = self._gathered(cols).dense().copy(order="F")
        if self.fit_intercept:
            centre(A, w)
        A *= w[:, None]
        rough = self.design.rough_cross(A, w / total)
        if rough is None:
            return None
        rows, mean, var = rough
        self._variances = total * (var if self.fit_intercept else var + mean**2)
        rows[np.arange(len(cols)), cols] += self._ridge(cols)
        return rows, self._variances + self._ridge(np.arange(self.dim))

    def _all_curvatures(self, w: Vector) -> Vector:
        """Weighted variances (mean squares without an intercept) of all columns; kept for the squared loss."""
        if self._variances is None or not self.loss.quadratic:
            total = float(w.sum())
            if not total > 0:  # a loss of straight pieces
                return np.zeros(self.dim)
            mean, var = self.design.stats(w / total)
            self._variances = total * (var if self.fit_intercept else var + mean**2)
        return self._variances

    def _weights(self, point: Point) -> Vector:
        """c phi'' at a point; where that is nearly nothing, the bound on it."""
        if self.loss.quadratic:
            return self.rows.c
        eta = self.rows.shift(self.design.matmat(point.support, point.coef[:, None])[:, 0], point.free)
        w = self.loss.terms(self.rows.y, eta, self.rows.c)[2]
        bound = self.loss.smoothness
        return w if not np.isfinite(bound) or w.sum() > 1e-10 * bound else bound * self.rows.c

    def quick_search(self, constraint: "AtMost", start: Columns, plan: searched.Plan) -> "searched.Searched | None":
        """A search for the best support in one kernel call; None where the data are too large for that."""
        if constraint.unit_of is not None or self.loss.code is None or not self.loss.smooth or self.design.lean:
            return None
        scale = 1e-9 * self.height
        if self.gram is not None:
            return self._search_gram(constraint, start, scale, plan) if self.gram.small else None
        if not searched.affordable(self.design.shape, 1, constraint):
            return None
        even = searched.Evened.of(self.design.block(np.arange(self.dim)), self.rows.c, self.fit_intercept)
        if even is None:
            return None
        bound = self.loss.smoothness
        curve = float(bound) if np.isfinite(bound) else 0.0
        kernel = partial(_core.likelihood_search, self.rows.samples(self.loss), curve)
        found = searched.likelihood(kernel, even, self.ridge, 1, constraint, start, self.floor, scale,
                                    self.fit_intercept, plan)  # fmt: skip
        if found is not None:
            points = [(S, coef[:, 0], float(b[0]), value) for S, coef, b, value in found.points]
            found = replace(found, points=points)
        return found

    def _search_gram(
        self, constraint: "AtMost", start: Columns, scale: float, plan: searched.Plan
    ) -> "searched.Searched | None":
        assert self.gram is not None
        everything = np.arange(self.dim)
        H = self.gram.columns(everything)
        if self._far(everything, H.diagonal()):
            return None
        down = np.where(H.diagonal() == 0, 0.0, self.null.gradient - self.gram.means * self._tilt)
        H[everything, everything] += self.ridge * (H.diagonal() > 0)
        found = searched.quadratic(H, down, self.null.value, constraint, start, scale, plan)
        if found is None or (found.points and found.points[-1][-1] < SMALL_SHARE * self.null.value):
            return None  # too little is left for differences of Gram entries to tell
        base = self.null.free if self.fit_intercept else 0.0
        points = [(S, x, base - float(self.gram.means[S] @ x), value) for S, x, _, value in found.points]
        return replace(found, points=points)

    @lazy
    def lower(self) -> float:
        """The weighted sum of every sample's own infimum; -inf where that is not known."""
        return self.loss.infimum(self.rows.y, self.rows.c)

    def ridged(self, weights: Vector) -> "GLM":
        """f + sum_j weights_j/2 x_j^2; what is kept of X (Gram columns, the null model) is shared."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, extra=weights if self.extra is None else self.extra + weights)
        return twin

    @property
    def ridge(self) -> Any:
        """The ridge: l2, or one number per column."""
        return self.l2 if self.extra is None else self.l2 + self.extra

    def _ridge(self, cols: Columns) -> Any:
        """The ridge on these columns: l2, or one number per column."""
        return self.l2 if self.extra is None else self.l2 + self.extra[cols]

    def minibatch(self, rng: np.random.Generator, share: float) -> Slope:
        n = self.design.shape[0]
        few = np.sort(rng.integers(n, size=max(1, round(share * n))))
        design = self.design.take(few)
        offset = None if self.rows.offset is None else self.rows.offset[few]
        rows = Rows(self.rows.y[few], self.rows.c[few] * (n / len(few)), offset)

        def slope(support: Columns, coef: Vector, intercept: float) -> tuple[Vector, float]:
            _, g, in_b = design.value_gradient(self.loss, rows, support, coef, intercept)
            g[support] += self._ridge(support) * coef
            return g, in_b if self.fit_intercept else 0.0

        return slope

    def in_units(self, point: Point) -> tuple[Vector, float]:
        return self.design.in_units(point.support, point.coef, point.free)

    def from_units(self, x: Any, intercept: float | None = None) -> Point:
        try:
            x = np.asarray(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"start must be a Result or a vector of {self.dim} numbers, got {x!r}") from None
        if x.shape != (self.dim,) or not np.isfinite(x).all():
            raise ValueError(f"start must be a finite vector with one entry per column of X, shape ({self.dim},)")
        support = np.flatnonzero(x)
        coef, b = self.design.from_units(support, x[support], 0.0 if intercept is None else intercept)
        return self.at(support, coef, None if intercept is None else b)

    def _best_intercept(self, support: Columns, coef: Vector) -> float:
        if not self.fit_intercept:
            return 0.0
        eta = self.rows.shift(self.design.matmat(support, coef[:, None])[:, 0], 0.0)
        return best_intercept(self.loss, replace(self.rows, offset=eta))

    def _check_finite(self, gradient: Vector) -> None:
        if not np.isfinite(gradient).all():
            mean, var = self.design.stats(self.rows.c)  # a row's NaN can reach every column's gradient: look again
            finite = np.isfinite(mean) & np.isfinite(var)
            where = called(np.flatnonzero(~(np.isfinite(gradient) if finite.all() else finite)), self.names)
            raise ValueError(f"X contains NaN or infinity (or values too large to add up) in {where}")
