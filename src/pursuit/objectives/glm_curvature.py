"""Second derivatives of a GLM at a point, and its quadratic form on columns of mean square 1."""

import numpy as np

from .._utils.arrays import common
from .._utils.column_names import column_label
from .._utils.lazy import lazy
from .._utils.types import Columns, Vector
from ..data import Model, QuadraticForm
from .base import Point
from .glm_refits import GLMRefits
from .working_set import FLAT


class GLMCurvature(GLMRefits):
    """Hessian rows and diagonals; X'CX serves all responses of the squared loss."""

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
        return model if not np.isfinite(bound) or model.weight > FLAT * bound else model.bounding()

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
