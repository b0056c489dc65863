"""Refits of a GLM on a support: from Gram columns where these are cheap, else from the data."""

from dataclasses import replace

import numpy as np

from .._utils.arrays import common
from .._utils.rounding import MAX_MEAN_TO_SPREAD, MAX_ROUNDING_SHARE, value_rounding
from .._utils.types import Columns, Intercept, Vector
from ..refits import refit
from ..refits.factor import MIN_GOOD_CONDITION, Factor
from ..refits.methods import EXACT_VALUE_SHARE
from .base import Point
from .glm_values import GLMValues


class GLMRefits(GLMValues):
    """The minimiser on a support."""

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        if len(support) == 0:
            return self.null
        if self.gram is not None and self._null is not None and self.gram.cheap(self._columns(support)):
            point = self._refit_by_gram(support, start)
            if point is not None:
                return point
        return self.refit_on_data(support, start)

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
            self.dim,
            support,
            fit.coef.reshape(-1),
            fit.b,
            fit.value,
            slope,
            fit.converged,
            fit.note,
            fit.minimiser,
            support_bound=fit.lower_bound,
        ).bind(self)

    def _begin(self, support: Columns, start: Point | None) -> tuple[Vector, Intercept]:
        """Coefficients (with several outputs a row per column) and intercept to begin a refit from."""
        coef = np.zeros(len(support))
        shape = coef.shape if self.outputs == 1 else (-1, self.outputs)
        direct = self.loss.quadratic and not self.data.products_only  # needs no start
        if start is None or direct or not self.loss.smooth or not start.value < self._without.value:
            return coef.reshape(shape), self._first
        here, there = common(support, start.support)
        coef[here] = start.coef[there]
        if len(here) < len(start.support) and not self.loss.quadratic:
            left = self.support_problem(support)  # without its other columns a start may be worse than nothing
            if not left.at(left.join(coef.reshape(shape), start.free), hessian=False).value < self._without.value:
                return np.zeros_like(coef).reshape(shape), self._without.b
        return coef.reshape(shape), start.free

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
        if factor.rcond < MIN_GOOD_CONDITION:
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

        def slope() -> Vector:  # gathers the columns again: a point keeps no k x p matrix alive
            g = null.gradient + (gram.combined(cols, coef) if q == 1 else gram.combined(cols, coef.T).T.reshape(-1))
            g[support] = 0.0
            return g

        least = value - max(noise, EXACT_VALUE_SHARE * value)
        return Point(self.dim, support, coef.reshape(-1), b, value, slope, True, support_bound=least).bind(self)

    def _far(self, cols: Columns, squares: Vector) -> bool:
        """Whether a column is so far from zero beside its spread that products with it have lost digits."""
        assert self.gram is not None
        return bool((self.gram.means[cols] ** 2 > MAX_MEAN_TO_SPREAD**2 * squares)[squares > 0].any())
