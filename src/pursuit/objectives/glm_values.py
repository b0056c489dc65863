"""A GLM's values, gradients and second derivatives at sparse points, its null model, its quadratic form for proofs."""

from typing import Any

import numpy as np

from .._utils.arrays import common
from .._utils.column_names import column_label
from .._utils.lazy import lazy
from .._utils.types import Columns, Intercept, Ridge, Vector
from ..data import Data, GramColumns, Model, QuadraticForm
from ..losses import Loss
from ..refits import Fitted, intercept_of, refit
from ..refits.columns import SEPARATED_LOSS, LossOnColumns
from ..refits.methods import EXACT_VALUE_SHARE, FLOOR_SHARE
from .base import Point
from .dual import HasDual
from .working_set import MIN_CURVATURE_SHARE

NEGLIGIBLE_SHARE = 1e-18  # share of the null model's squared residual that counts as none
MIN_GRADIENT_SHARE = 1e-140  # share of the height at which a gradient may mean that a column is too small to square


class GLMValues(HasDual):
    """The loss of some data with a ridge at sparse points; columns and coordinates, where a column has several.

    X'CX, the Hessian of the squared loss, serves all responses.
    """

    data: Data
    loss: Loss
    ridge: Ridge
    fit_intercept: bool
    standardize: bool
    outputs: int
    gram: GramColumns | None
    tilt: Any  # the derivative in the intercepts at the null model: 0, but for rounding
    _null: Point | None
    _wants_moments: bool

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
                self.data.check_small(self._columns(np.flatnonzero(np.abs(gradient) <= MIN_GRADIENT_SHARE * size)))
            self._null = Point(
                self.dim,
                nothing,
                np.empty(0),
                fit.b,
                fit.value,
                again,
                True,
                fit.note,
                fit.minimiser,
                support_bound=fit.value,
            )
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
            self.dim,
            nothing,
            np.empty(0),
            b,
            value,
            lambda: data.at(nothing, no_coefficients, b).gradient,
            True,
            support_bound=(1 - EXACT_VALUE_SHARE) * value,
        )

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
        return self.lower + max(FLOOR_SHARE * self.height, 0.0 if self.loss.attained else SEPARATED_LOSS)

    @property
    def floor(self) -> float:  # type: ignore[override]
        if self._has_ridge:
            return -np.inf
        if self.loss.targets in ("binary", "classes"):
            return self.nothing
        return (
            NEGLIGIBLE_SHARE * self.null.value
            if self.loss.code is not None and self.loss.targets == "real"
            else -np.inf
        )

    def at(self, support: Columns, coef: Vector, intercept: Intercept | None = None) -> Point:
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

    def value(self, support: Columns, coef: Vector, intercept: Intercept) -> float:
        """f alone: only the support's columns are read."""
        loss = self.data.value(*self._matrix(support, coef), intercept)
        return loss + 0.5 * float(coef @ (self._ridge(support) * coef))

    def value_at(self, point: Point) -> float:
        return self.value(point.support, point.coef, point.free)

    def loss_at(self, point: Point) -> float:
        """The mean loss at a point, without the ridge."""
        return float(self.data.value(*self._matrix(point.support, point.coef), point.free))

    def without_ridge(self, point: Point) -> float:
        """The mean loss at a point whose value is known: no pass over the rows."""
        return point.value - 0.5 * float(point.coef @ (self._ridge(point.support) * point.coef))

    def duals(self, support: Columns, fit: Fitted | None = None) -> Vector:
        """The dual variables of a refit whose loss is not differentiable, one per row; kept with the rows."""

        def again() -> Vector | None:
            return (fit or refit(self.support_problem(support), np.zeros(len(support)), self._first)).dual

        ridge = np.broadcast_to(self._ridge(support), len(support))
        return self.data.recall(("duals", support.tobytes(), ridge.tobytes(), self.fit_intercept), again)

    def support_problem(self, support: Columns) -> LossOnColumns:
        """f on a support, as a function of its coefficients and the intercept."""
        cols = self._columns(support)
        ridge = self.ridge if isinstance(self.ridge, float) else self.ridge[cols]
        return self.data.column_problem(cols, ridge, self.fit_intercept, self.lower)

    @lazy
    def _without(self) -> Fitted:
        """The model without features, which needs no pass over X."""
        if self.quadratic and self.data.whole and self.data.near and self.outputs == 1:
            b, value = self.data.constant_fit(self._first, self.fit_intercept)
            return Fitted(np.empty(0), b, value, value - EXACT_VALUE_SHARE * max(value - self.lower, 0.0))
        return refit(self.support_problem(np.empty(0, np.int64)), self.data.no_coefficients, self._first)

    @lazy
    def _first(self) -> Any:
        """An intercept to begin with."""
        return self.data.start() if self.fit_intercept else 0.0 if self.outputs == 1 else np.zeros(self.outputs)

    @lazy
    def lower(self) -> float:
        """The weighted sum of every sample's own infimum; -inf where that is not known."""
        return self.data.infimum()

    @property
    def _has_ridge(self) -> bool:
        return self.ridge > 0.0 if isinstance(self.ridge, float) else bool(self.ridge.any())

    def _ridge(self, cols: Columns) -> Ridge:
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

    def _check_finite(self, gradient: Vector) -> None:
        if not np.isfinite(gradient).all():
            gradient = gradient if self.outputs == 1 else gradient.reshape(-1, self.outputs).sum(axis=1)
            _, mean, square = self.data.moments()  # a row's NaN can reach every column's gradient: look again
            finite = np.isfinite(mean) & np.isfinite(square)
            where = column_label(np.flatnonzero(~(np.isfinite(gradient) if finite.all() else finite)), self.names)
            raise ValueError(f"X contains NaN or infinity (or values too large to add up) in {where}")

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
        """By one product where a column costs one: with random signs v, v'Hv has the wanted mean."""
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

    def _model(self, point: Point) -> Model:
        """The Hessian of the loss at a point; where that is nearly nothing, the bound on it."""
        model, bound = self.data.model(*self._matrix(point.support, point.coef), point.free), self.loss.smoothness
        return model if not np.isfinite(bound) or model.weight > MIN_CURVATURE_SHARE * bound else model.bounding()

    @lazy
    def scaled_form(self) -> tuple[QuadraticForm, Vector]:
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
