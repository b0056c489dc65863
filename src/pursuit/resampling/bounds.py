"""How many wrong features a threshold lets through, at most, in the mean.

[MB] Meinshausen, Buehlmann: Stability selection, JRSS B 72 (2010). [SS] Shah, Samworth: Variable selection with error
control: another look at stability selection, JRSS B 75 (2013).

| paper | here |
|---|---|
| p | ``p``: features that compete |
| q = E of the number selected on a half-sample | ``q`` |
| tau, pi_thr | ``threshold``, a multiple of 1 / (2 B) |
| B | ``pairs`` of complementary halves |
| theta = q / p | a feature selected by a half-sample with no more than this chance is wrong: it is in L_theta |

[MB, theorem 1] counts features that are noise, and assumes them exchangeable and the procedure no worse than guessing.
[SS] counts those of L_theta, and assumes nothing (theorem 1), or a shape of the distribution of a frequency.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._utils.types import Columns, Vector

MIN_EXPONENT, MAX_EXPONENT = 1e-12, 1e8  # between which the a of (a + i)^(1/r) is looked for
MAX_HALVINGS = 70
GOLDEN_RATIO = (np.sqrt(5.0) - 1.0) / 2.0


class Bounds(NamedTuple):
    """The expected number of wrong features among the stable ones is at most this.

    ``q`` is the mean number of features that a half-sample selects at some size, of ``p`` that compete.
    """

    q: float
    p: int
    meinshausen_buehlmann: float
    shah_samworth: float
    unimodal: float
    r_concave: float


def bounds(q: float, p: int, threshold: float, pairs: int) -> Bounds:
    """All of them; none is larger than what is selected at all, q / threshold.

    What is r-concave is unimodal, so that the bound of the weaker assumption holds for the stronger one too.
    """
    worst = min(worst_case(q, p, threshold), float(p), q / threshold)
    one = min(unimodal(q, p, threshold, pairs), worst)
    return Bounds(q, p, worst, worst, one, min(r_concave(q, p, threshold, pairs), one))


def worst_case(q: float, p: int, threshold: float) -> float:
    """q^2 / ((2 tau - 1) p): [MB, theorem 1], and without its assumptions, for L_theta, [SS, theorem 1]."""
    return q * q / ((2.0 * threshold - 1.0) * p) if q > 0 else 0.0


def unimodal(q: float, p: int, threshold: float, pairs: int) -> float:
    """[SS, theorem 2]: the share of pairs whose halves both select a feature has a unimodal distribution.

    Where the theorem has nothing to say (theta above 1 / sqrt 3, a threshold next to 1/2), the worst case.
    """
    theta, slack = q / p, 0.5 / pairs
    worst = worst_case(q, p, threshold)
    if threshold > 0.75:
        factor = 4.0 * (1.0 - threshold + slack) / (1.0 + 1.0 / pairs)
    else:
        low = min(0.5 + theta**2, 0.5 + slack + 0.75 * theta**2)
        if threshold < 0.5 + 1.0 / pairs or threshold <= low:
            return worst
        factor = 1.0 / (2.0 * (2.0 * threshold - 1.0 - slack))
    return min(worst, factor * theta * q) if theta <= 1.0 / np.sqrt(3.0) else worst


def r_concave(q: float, p: int, threshold: float, pairs: int) -> float:
    """[SS, eq. 8]: both shares have r-concave distributions, simultaneous ones r = -1/2, single ones r = -1/4."""
    theta, count = q / p, round(2 * pairs * threshold)
    both, single = tail(theta**2, count - pairs, pairs, -0.5), tail(theta, count, 2 * pairs, -0.25)
    return p * min(both, single)


def tail(mean: float, count: int, size: int, r: float) -> float:
    """The largest P(X >= count) of an r-concave X on 0, 1, ..., size with E X <= mean size [SS, section 3.3].

    It is reached by P(X = i) ~ (a + i)^(1/r) on 0..k with what is left over on k + 1 [SS, appendix A.4]; a and k are
    looked for. 1 where count is not above twice the mean.
    """
    level = mean * size
    if level <= 0:
        return 0.0
    first = int(np.floor(2.0 * level)) + 1  # from here on a falling density has this mean
    if count < first:
        return 1.0
    ends = np.arange(max(first, count - 1), size + 1)  # with less, nothing is as large as count
    if len(ends) == 1:  # there is no k + 1
        return 1.0
    a = np.log(_with_mean(level, ends, 1.0 / r))  # of 0..k, where nothing is left over

    def reached(log_a: Vector) -> Vector:
        return _exceeds(np.exp(log_a), ends[:-1], count, level, 1.0 / r)

    return float(np.clip(_largest(reached, a[1:], a[:-1]).max(), 0.0, 1.0))


def _powers(a: Vector, ends: Columns, s: float) -> tuple[Vector, Columns]:
    """(a + i)^s / a^s for i = 0..ends, zero beyond, and i."""
    i = np.arange(int(ends.max()) + 1)
    return np.where(i <= ends[:, None], (1.0 + i / a[:, None]) ** s, 0.0), i


def _with_mean(level: float, ends: Columns, s: float) -> Vector:
    """For each end k the a for which the density (a + i)^s on 0..k has the mean ``level``."""
    low, high = np.full(len(ends), np.log(MIN_EXPONENT)), np.full(len(ends), np.log(MAX_EXPONENT))
    for _ in range(MAX_HALVINGS):
        middle = 0.5 * (low + high)
        w, i = _powers(np.exp(middle), ends, s)
        above = (w @ i) / w.sum(axis=1) > level
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.exp(0.5 * (low + high))


def _exceeds(a: Vector, ends: Columns, count: int, level: float, s: float) -> Vector:
    """P(X >= count) with what is left over on k + 1, so that the mean is ``level``."""
    w, i = _powers(a, ends, s)
    share = (ends + 1 - level) / np.sum((ends[:, None] + 1 - i) * w, axis=1)
    return 1.0 - share * w[:, :count].sum(axis=1)


def _largest(f: Callable[[Vector], Vector], low: Vector, high: Vector) -> Vector:
    """Largest values between, by golden sections of all intervals at once."""
    best = np.maximum(f(low), f(high))
    for _ in range(MAX_HALVINGS // 2):
        left, right = high - GOLDEN_RATIO * (high - low), low + GOLDEN_RATIO * (high - low)
        at_left, at_right = f(left), f(right)
        best = np.maximum(best, np.maximum(at_left, at_right))
        worse = at_left < at_right
        low, high = np.where(worse, left, low), np.where(worse, high, right)
    return best
