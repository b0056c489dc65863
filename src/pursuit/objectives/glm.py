"""Generalised linear models: data, a ridge, an intercept, and what is kept of the Gram matrix.

    f(x, b) = sum_i s_i phi(y_i, x_i . x + b + o_i) / sum_i s_i  +  l2/2 ||x||^2

The intercept b is never penalised and never counted in k. With ``standardize=True`` x belongs to the standardised
columns (and so does the penalty); results are reported in the units of X.

With q outputs (several responses, classes) a column has q coefficients and there are q intercepts. The coordinates are
the entries of the p x q matrix of coefficients, row by row: j q + r belongs to column j and output r. A column is a
group of q coordinates, so that solvers, constraints and exchanges work as they are. X'CX serves all responses.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .._utils.column_names import column_label
from .._utils.lazy import lazy
from .._utils.row_order import warn_column_order
from .._utils.settings import settings_to_json
from .._utils.sorted_sets import common
from .._utils.types import Columns, Flags, Vector
from .._utils.validation import check_array, check_flag, check_number, check_start
from ..constraints import AtMost
from ..data import GramColumns, Model, QuadraticForm, as_data, placed
from ..kernels.path import PathPlan, PathPoint, PathSolution
from ..kernels.rounding import MAX_MEAN_TO_SPREAD, MAX_ROUNDING_SHARE, value_rounding
from ..kernels.search import SearchPlan, SearchSolution
from ..losses import Loss, Multinomial, as_loss
from ..refits import Fitted, intercept_of, refit
from ..refits.columns import LARGE, SEPARATED
from ..refits.factor import WELL_CONDITIONED, Factor
from ..refits.methods import EXACT, FLOOR
from . import classes, least_squares, likelihood
from .base import Objective, Point, Slope
from .centred import MAX_ENTRIES, CentredColumns, centred_columns, exact_combinations
from .dual import HasDual
from .glm_path import glm_path, glm_refits
from .one_column import best_column
from .several_responses import path_of_responses, search_responses
from .working_set import FLAT

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
    y : targets, shape (n,); for "squared" also (n, q) for several responses with one support; for "multinomial" labels
        (text or whole numbers) or shares of the classes, shape (n, q), at least 0, every row sums to 1
    loss : name or instance, see ``pursuit.list_losses()``; also "multinomial"
    l2 : ridge, half of it times the squared norm is added; a number, or one per column
    fit_intercept, sample_weight, offset : as in statistics; weights are normalised to sum to one
    standardize : work on the standardised view of X
    """

    convex = True
    columns_per_feature = 1  # columns that are one feature of the user's: 2 for a complex coefficient

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
    def l2(self) -> Any:
        """The ridge: a number, or one per column."""
        return self.ridge

    def problem_settings(self) -> dict[str, Any]:
        shift = None if self.standardize or self.data.view is None else settings_to_json(self.data.view[0])
        return {
            **super().problem_settings(), "loss": settings_to_json(self.loss), "l2": settings_to_json(self.ridge),
            "fit_intercept": self.fit_intercept, "standardize": self.standardize, "shift of the columns": shift,
        }  # fmt: skip

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

    def to_engine(self, engine: Any) -> "GLM":
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
        entries = self.data.nbytes / self.data.dtype.itemsize
        return entries if self.outputs == 1 else 10.0 * self.outputs**2 * entries

    def seconds(self, size: int) -> float:
        if self.outputs > 1:
            return 0.0
        share = min(1.0, size / self.dim)
        entries = self.work * (share if self.data.full else np.sqrt(share))  # the columns chosen are the fuller ones
        refit = PRODUCTS * entries if size > LARGE else STEPS * (entries**2 / self.data.shape[0] + size**3 / 3)
        return float((self.work + refit) / (SPEED if self.data.full else SPARSE_SPEED))

    @property
    def null(self) -> Point:
        """The model without features; its gradient is the first pass over X and tells whether X is finite."""
        if self._null is None:
            nothing, fit, data = np.empty(0, np.int64), self._without, self.data
            no_coefficients, smooth = data.no_coefficients, self.smooth
            if smooth:
                first = data.first_pass(fit.b) if self._wants_moments else data.at(nothing, no_coefficients, fit.b)
                _, gradient, self.tilt = first  # the slope is 0, but for rounding
                gradient = gradient.reshape(-1)
            else:
                gradient = data.weighted_transpose(self.duals(nothing))

            def again() -> Vector:  # without a reference to self, whose null model this is
                return data.at(nothing, no_coefficients, fit.b).gradient.reshape(-1) if smooth else gradient

            self._check_finite(gradient)
            if not self.standardize:
                size = float(np.sqrt(abs(fit.value) or 1.0))
                self.data.check_small(self._columns(np.flatnonzero(np.abs(gradient) <= TINY * size)))
            self._null = Point(
                self.dim, nothing, np.empty(0), fit.b, fit.value, again, True, fit.note, fit.minimiser,
                support_bound=fit.value,
            )  # fmt: skip
            gradient.setflags(write=False)
            self._null.__dict__["gradient"] = gradient
        return self._null

    def know_null(self, b: float, value: float, tilt: float) -> None:
        """Take the model without features from a kernel that has seen to it that X is finite."""
        if self._null is not None:
            return
        nothing, data, self.tilt = np.empty(0, np.int64), self.data, tilt
        no_coefficients = data.no_coefficients
        self._null = Point(
            self.dim, nothing, np.empty(0), b, value, lambda: data.at(nothing, no_coefficients, b).gradient, True,
            support_bound=(1 - EXACT) * value,
        )  # fmt: skip

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
        """A value at or below which the residual counts as zero; -inf where the infimum is not known."""
        return self.lower + max(FLOOR * self.height, 0.0 if self.loss.attained else SEPARATED)

    @property
    def floor(self) -> float:  # type: ignore[override]
        if self._has_ridge:
            return -np.inf
        if self.loss.targets in ("binary", "classes"):
            return self.nothing
        return NEGLIGIBLE * self.null.value if self.loss.code is not None and self.loss.targets == "real" else -np.inf

    def at(self, support: Columns, coef: Vector, intercept: Any = None) -> Point:
        cols, C = self._matrix(support, coef)
        if not self.fit_intercept:  # a start may come from an objective that has one
            intercept = self._first
        elif intercept is None:
            intercept = intercept_of(self.data.intercept_problem(cols, C), self._first if self.outputs > 1 else 0.0)
        value, gradient, _ = self.data.at(cols, C, intercept)
        gradient = gradient.reshape(-1)
        ridge = self._ridge(support)
        gradient[support] += ridge * coef
        value += 0.5 * float(coef @ (ridge * coef))
        return Point(self.dim, support, coef, intercept, value, lambda: gradient).bind(self)

    def value(self, support: Columns, coef: Vector, intercept: Any) -> float:
        """f alone: only the support's columns are read."""
        loss = self.data.value(*self._matrix(support, coef), intercept)
        return loss + 0.5 * float(coef @ (self._ridge(support) * coef))

    def value_at(self, point: Point) -> float:
        return self.value(point.support, point.coef, point.free)

    def loss_at(self, point: Point) -> float:
        """The mean loss at a point, without the ridge."""
        return float(self.data.value(*self._matrix(point.support, point.coef), point.free))

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        if len(support) == 0:
            return self.null
        if self.gram is not None and self._null is not None and self.gram.cheap(self._columns(support)):
            point = self._refit_by_gram(support, start)
            if point is not None:
                return point
        return self.refit_on_data(support, start)

    def refits(self, supports: list[Columns]) -> list[Point]:
        points = glm_refits(self, supports) if self.outputs == 1 else None
        return super().refits(supports) if points is None else points

    def refit_on_data(self, support: Columns, start: Point | None = None) -> Point:
        """``refit`` without what is kept: certificates ask for it, so that no claim depends on what was done before.

        A whole Gram matrix of rows that are read does not, and spares reading them again.
        """
        if self.gram is not None and self.gram.read and self.gram.complete and len(support):
            point = self._refit_by_gram(support, start)
            if point is not None:
                return point
        cols = self._whole_columns(support)
        fit = refit(self.support_problem(support), *self._begin(support, start))
        if not self.smooth:
            self.duals(support, fit)
            fit = replace(fit, dual=None)  # which stays with the rows

        def slope() -> Vector:
            if fit.full_gradient is not None:
                g = fit.full_gradient.copy()
            elif self.smooth:
                g = self.data.at(cols, fit.coef, fit.b).gradient.reshape(-1)
            else:  # of a kink's many subgradients, the one that vanishes on the support
                g = self.data.weighted_transpose(self.duals(support))
            g[support] = 0.0
            return g

        return Point(
            self.dim, support, fit.coef.reshape(-1), fit.b, fit.value, slope, fit.converged, fit.note, fit.minimiser,
            support_bound=fit.lower_bound,
        ).bind(self)  # fmt: skip

    def duals(self, support: Columns, fit: Fitted | None = None) -> Vector:
        """The dual variables of a refit whose loss is not differentiable, one per row; kept with the rows."""

        def again() -> Vector | None:
            return (fit or refit(self.support_problem(support), np.zeros(len(support)), self._first)).dual

        ridge = np.broadcast_to(self._ridge(support), len(support))
        return self.data.recall(("duals", support.tobytes(), ridge.tobytes(), self.fit_intercept), again)

    def support_problem(self, support: Columns) -> Any:
        """f on a support, as a function of its coefficients and the intercept."""
        cols = self._columns(support)
        ridge = self.ridge if isinstance(self.ridge, float) else self.ridge[cols]
        return self.data.column_problem(cols, ridge, self.fit_intercept, self.lower)

    @lazy
    def _without(self) -> Fitted:
        """The model without features, which needs no pass over X."""
        if self.quadratic and self.data.whole and self.data.near and self.outputs == 1:
            b, value = self.data.constant_fit(self._first, self.fit_intercept)
            return Fitted(np.empty(0), b, value, value - EXACT * max(value - self.lower, 0.0))
        return refit(self.support_problem(np.empty(0, np.int64)), self.data.no_coefficients, self._first)

    @lazy
    def _first(self) -> Any:
        """An intercept to begin with."""
        return self.data.start() if self.fit_intercept else 0.0 if self.outputs == 1 else np.zeros(self.outputs)

    def _begin(self, support: Columns, start: Point | None) -> tuple[Vector, Any]:
        """Coefficients (with several outputs a row per column) and intercept to begin a refit from."""
        coef = np.zeros(len(support))
        if self.outputs > 1:
            return self._begin_with_outputs(support, start)
        direct = self.loss.quadratic and not self.data.products_only  # needs no start
        if start is None or direct or not self.loss.smooth or not start.value < self._without.value:
            return coef, self._first
        here, there = common(support, start.support)
        coef[here] = start.coef[there]
        if len(here) < len(start.support) and not self.loss.quadratic:
            left = self.support_problem(support)  # without its other columns a start may be worse than nothing
            if not left.at(left.join(coef, start.free), hessian=False).value < self._without.value:
                return np.zeros(len(support)), self._without.b
        return coef, start.free

    def _begin_with_outputs(self, support: Columns, start: Point | None) -> tuple[Vector, Any]:
        coef = np.zeros((len(support) // self.outputs, self.outputs))
        if start is None or self.quadratic or not start.value < self._without.value:
            return coef, self._first
        left = start.x[support].reshape(coef.shape)
        few = self.support_problem(support)  # without its other columns a start may be worse than nothing
        better = few.at(few.join(left, start.free), hessian=False).value < self._without.value
        return (left, start.free) if better else (coef, self._first)

    def _refit_by_gram(self, support: Columns, start: Point | None) -> Point | None:
        """The squared loss from kept Gram columns, without reading X; None where that would cost digits."""
        assert self.gram is not None
        null, gram, cols, q = self.null, self.gram, self._whole_columns(support), self.outputs
        hint = None if start is None or not gram.missing(cols) else start.known_gradient
        if hint is not None and q > 1:
            hint = np.abs(hint.reshape(-1, q)).max(axis=1)
        small = gram.entries(cols, cols, hint)
        constant = small.diagonal() == 0
        small[constant] = small[:, constant] = 0.0  # rounding is all that was there
        if self._far(cols, small.diagonal()):
            return None
        ridge = self.ridge if isinstance(self.ridge, float) else self.ridge[cols]
        small[np.arange(len(cols)), np.arange(len(cols))] += ridge
        factor = Factor(small)
        if factor.rcond < WELL_CONDITIONED:
            return None
        means = gram.means[cols]
        down = null.gradient[support]
        if q > 1:
            down = np.where(constant[:, None], 0.0, down.reshape(-1, q) - np.outer(means, self.tilt))
        else:
            down = np.where(constant, 0.0, down - means * self.tilt)
        coef = -factor.solve(down)
        coef -= factor.solve(small @ coef + down)
        value = null.value + 0.5 * float(np.vdot(down, coef))
        length = coef if q == 1 else np.sqrt((coef**2).sum(axis=1))
        noise = value_rounding(length, small.diagonal(), null.value, self.rounded)
        if not noise <= MAX_ROUNDING_SHARE * value:
            return None
        b = null.free - means @ coef if self.fit_intercept else self._first
        b = float(b) if q == 1 else b

        def slope() -> Vector:  # the columns are asked for again: a point keeps no k x p matrix alive
            g = null.gradient + (gram.combined(cols, coef) if q == 1 else gram.combined(cols, coef.T).T.reshape(-1))
            g[support] = 0.0
            return g

        least = value - max(noise, EXACT * value)
        return Point(self.dim, support, coef.reshape(-1), b, value, slope, True, support_bound=least).bind(self)

    def _far(self, cols: Columns, squares: Vector) -> bool:
        """Whether a column is so far from zero beside its spread that products with it have lost digits."""
        assert self.gram is not None
        return bool((self.gram.means[cols] ** 2 > MAX_MEAN_TO_SPREAD**2 * squares)[squares > 0].any())

    def curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        features, V = self._matrix(cols, v)
        model, ridge = self._model(point), float(v @ (self._ridge(cols) * v))
        if self.quadratic and self.outputs > 1:  # every response has the same Hessian
            return sum(model.curvature(features, column, self.fit_intercept) for column in V.T) + ridge
        return model.curvature(features, V, self.fit_intercept) + ridge

    def curvatures(self, point: Point, cols: Columns) -> Vector:
        shared = self.quadratic and self.outputs > 1
        features, at = np.unique(cols // self.outputs, return_inverse=True) if shared else (cols, slice(None))
        known = None if self.gram is None else self.gram.diagonal(features)
        if known is None:
            known = self._model(point).squares(features, self.fit_intercept)
        known = known[at]
        if not np.isfinite(known).all():
            if not self.loss.quadratic:  # at a point where phi'' overflows
                return np.nan_to_num(known, nan=1e300, posinf=1e300)
            bad = self._columns(cols[~np.isfinite(known)])
            where, it = column_label(bad, self.names), "it" if len(bad) == 1 else "them"
            raise ValueError(f"X has values in {where} that are too large to square; rescale {it}")
        return np.asarray(known + self._ridge(cols))

    def mean_curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        """By one product where a column costs one: random signs make v'Hv what is asked for, in the mean."""
        if self.data.products_only:
            return self.curvature(point, cols, v * np.random.default_rng(0).choice([-1.0, 1.0], len(v)))
        return float(v**2 @ self.curvatures(point, cols))

    def hessian_rows(self, point: Point, cols: Columns, others: Columns | None = None) -> Vector:
        if self.quadratic and self.outputs > 1:
            H = self._shared_rows(point, cols, np.arange(self.dim) if others is None else others)
        else:
            H = self._hessian_rows(point, cols, others)
        if others is None:
            H[np.arange(len(cols)), cols] += self._ridge(cols)
        else:
            order = np.argsort(others)  # groups come unit after unit
            here, there = common(cols, others[order])
            H[here, order[there]] += self._ridge(cols[here])
        return H

    def _hessian_rows(self, point: Point, cols: Columns, others: Columns | None) -> Vector:
        """The Hessian of the loss; of the squared loss that of one response."""
        if others is None and self.gram is not None and len(cols) <= self.gram.capacity:
            return self.gram.columns(cols, point.known_gradient if self.outputs == 1 else None)
        if others is not None and self.gram is not None and not self.gram.missing(cols):
            return self.gram.entries(cols, others)
        return self._model(point).rows(cols, others, self.fit_intercept)

    def _shared_rows(self, point: Point, cols: Columns, others: Columns) -> Vector:
        """H[cols][:, others] of several responses: X'CX for each of them, and nothing between two."""
        (mine, at), (theirs, there) = (np.unique(some // self.outputs, return_inverse=True) for some in (cols, others))
        G = self._hessian_rows(point, mine, None if len(theirs) == self.data.shape[1] else theirs)
        return np.where((cols % self.outputs)[:, None] == others % self.outputs, G[at][:, there], 0.0)

    def centred_columns(self) -> CentredColumns | None:
        found = self._centred if self.outputs == 1 else None
        return None if found is None else found._replace(ridge=np.broadcast_to(self.ridge, self.dim))

    @lazy
    def far_from_zero(self) -> bool:  # type: ignore[override]
        if (
            self.gram is None
            or self.outputs > 1
            or not self.fit_intercept
            or self.data.shape[0] * self.data.shape[1] > MAX_ENTRIES
        ):
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
        model, bound = self.data.model(*self._matrix(point.support, point.coef), point.free), self.loss.smoothness
        return model if not np.isfinite(bound) or model.weight > FLAT * bound else model.bounding()

    def quick_search(self, constraint: AtMost, start: Columns, plan: SearchPlan) -> "SearchSolution | None":
        """A search for the best support in one kernel call; None where the data are too large for that."""
        if self.outputs > 1:
            several = search_responses if self.quadratic else classes.search
            return several(self, constraint, start, plan)
        if constraint.unit_of is not None or self.loss.code is None or not self.loss.smooth or self.data.products_only:
            return None
        if constraint.k == 1 and not constraint.include.size and self.gram is None and self.data.near:
            single = best_column(self, constraint, plan)
            if single is not None:
                return single
        return (least_squares if self.gram is not None else likelihood).search(self, constraint, start, plan)

    def best_subset(self, constraint: AtMost, plan: SearchPlan | PathPlan) -> PathPoint | None:
        single = self.quadratic and self.outputs == 1 and not self.data.products_only
        return least_squares.best_subset(self, constraint, plan) if single else None

    def quick_path(self, constraint: AtMost, plan: PathPlan) -> PathSolution | None:
        several = path_of_responses if self.quadratic else classes.path
        return glm_path(self, constraint, plan) if self.outputs == 1 else several(self, constraint, plan)

    @lazy
    def evened(self) -> tuple[QuadraticForm, Vector]:
        """The squared loss on columns of mean square 1 as a quadratic form, kept for proofs, and 1 / their scale."""
        m, s, constant = self.data.scales(self.fit_intercept)
        if self.gram is not None and self.gram.read:
            even = np.where(constant, 0.0, 1 / s)
            p = len(even)
            down = np.outer(self.gram.means, self.tilt) - self.null.gradient.reshape(p, -1)
            gram = self.gram.columns(np.arange(p)) * np.outer(even, even)
            return QuadraticForm(gram, even[:, None] * down, np.zeros(p), 0.0), even
        form = self.data.form(m, np.where(constant, np.inf, s), self.null.free)
        return form.centred() if self.fit_intercept else form, np.where(constant, 0.0, 1 / s)

    @lazy
    def lower(self) -> float:  # type: ignore[override]
        """The weighted sum of every sample's own infimum; -inf where that is not known."""
        return self.data.infimum()

    def ridged(self, weights: Vector) -> Any:
        """f + sum_j weights_j/2 x_j^2; what is kept of X (Gram columns, the null model) is shared."""
        if self.outputs > 1 and weights.ndim:  # one per coordinate
            return super().ridged(weights)
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, ridge=self.ridge + weights)
        return twin

    @property
    def _has_ridge(self) -> bool:
        return self.ridge > 0.0 if isinstance(self.ridge, float) else bool(self.ridge.any())

    def _ridge(self, cols: Columns) -> Any:
        """The ridge of these coordinates: a number, or one each."""
        if isinstance(self.ridge, float):
            return self.ridge
        return self.ridge[cols if self.outputs == 1 else cols // self.outputs]

    def column_ridge(self, cols: Columns) -> Vector:
        """The ridge of these columns of X."""
        return np.broadcast_to(self.ridge, self.data.shape[1])[cols]

    def _matrix(self, support: Columns, coef: Vector) -> tuple[Columns, Vector]:
        """Columns and their coefficients, with several outputs a row each; coordinates that are missing are zero."""
        if self.outputs == 1:
            return support, coef
        cols = np.unique(support // self.outputs)
        C = np.zeros((len(cols), self.outputs))
        C[np.searchsorted(cols, support // self.outputs), support % self.outputs] = coef
        return cols, C

    def _columns(self, support: Columns) -> Columns:
        """The columns of coordinates."""
        return support if self.outputs == 1 else np.unique(support // self.outputs)

    def _whole_columns(self, support: Columns) -> Columns:
        """The columns of a support, all of whose outputs must be in it."""
        if self.outputs == 1:
            return support
        cols = support[:: self.outputs] // self.outputs
        if not np.array_equal(self.coordinates(cols), support):
            raise ValueError("a support of several outputs must hold whole features")
        return cols

    def minibatch(self, rng: np.random.Generator, share: float) -> Slope:
        n = self.data.shape[0]
        few = np.sort(rng.integers(n, size=max(1, round(share * n))))
        data = self.data.take(few, n / len(few))

        def slope(support: Columns, coef: Vector, intercept: Any) -> tuple[Vector, Any]:
            _, g, in_b = data.at(*self._matrix(support, coef), intercept)
            g = g.reshape(-1)
            g[support] += self._ridge(support) * coef
            return g, in_b if self.fit_intercept else 0.0 * in_b

        return slope

    def copies(self, one: int, other: int) -> bool:
        return not self.data.products_only and self.data.copies(
            one // self.outputs, other // self.outputs, self.fit_intercept
        )

    def in_units(self, point: Point) -> tuple[Vector, Any]:
        coef, b = self.data.in_units(*self._matrix(point.support, point.coef), point.free)
        return coef.reshape(-1), b

    def from_units(self, x: Any, intercept: Any = None) -> Point:
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

    def _check_finite(self, gradient: Vector) -> None:
        if not np.isfinite(gradient).all():
            gradient = gradient if self.outputs == 1 else gradient.reshape(-1, self.outputs).sum(axis=1)
            _, mean, square = self.data.moments()  # a row's NaN can reach every column's gradient: look again
            finite = np.isfinite(mean) & np.isfinite(square)
            where = column_label(np.flatnonzero(~(np.isfinite(gradient) if finite.all() else finite)), self.names)
            raise ValueError(f"X contains NaN or infinity (or values too large to add up) in {where}")


def _check_ridge(l2: Any, p: int) -> Any:
    """A number, or one per column."""
    if isinstance(l2, str) or not np.iterable(l2):
        return check_number(l2, "l2")
    ridge = check_array(l2, "l2")
    if ridge.shape != (p,) or not (ridge >= 0).all():
        raise ValueError(f"l2 must be a number, or one per column (shape ({p},)), none of them negative or infinite")
    return ridge
