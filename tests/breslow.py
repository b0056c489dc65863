"""A loss that couples rows, for tests: Breslow's partial likelihood. y is a time, with a minus where it is censored."""

import numpy as np

from pursuit import Loss
from pursuit.losses.row_hessians import RiskSetHessian


class Breslow(Loss):
    name = "breslow"
    separable = False

    def _sorted(self, y, eta, c):
        times = np.abs(y)
        order = np.argsort(times, kind="stable")
        sorted_times = times[order]
        first = np.searchsorted(sorted_times, sorted_times, "left")
        last = np.searchsorted(sorted_times, sorted_times, "right") - 1
        share = c[order] * np.exp(eta[order] - eta.max())
        return order, first, last, share, np.where(y > 0, c, 0.0)[order]

    def first_order(self, y, eta, c):
        order, first, last, share, events = self._sorted(y, eta, c)
        size = np.cumsum(share[::-1])[::-1][first]
        used = events > 0
        value = float(events[used] @ (np.log(size[used]) + eta.max() - eta[order][used]))
        rate = np.divide(events, size, out=np.zeros_like(size), where=used)
        d1 = np.empty_like(eta)
        d1[order] = share * np.cumsum(rate)[last] - events
        return value, d1

    def row_hessian(self, y, eta, c):
        return RiskSetHessian(*self._sorted(y, eta, c))


class BreslowInStrata(Breslow):
    whole_strata = True
