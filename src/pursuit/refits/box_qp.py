"""A quadratic over a box and one hyperplane: the sub-problem of every refit with bounds.

    min over d of   g'd + d'Hd/2    s.t.   low <= d <= high,   a'd = t  (or no a)

Optimal when the reduced gradient r = g + Hd - multiplier a vanishes where d is free, is >= 0 at low and <= 0 at high.

1. Block principal pivoting (L. Portugal, J. Judice, L. Vicente, Math. Comp. 63, 1994): guess which bounds hold, solve
   for the rest, correct every wrong guess at once. A few k x k solves, and the end is exact. With the hyperplane it
   may fail to end; then
2. Mehrotra's predictor-corrector interior point (SIAM J. Optim. 2, 1992) tells which bounds hold, and 1. finishes.

Variables are scaled to a unit diagonal of H; a singular H gets a ridge of PIVOT_RIDGE on that scale.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from .._utils.types import Matrix, Vector
from ..engines import check_time

Sides = NDArray[np.int8]

PIVOT_RIDGE = 1e-12  # added to a unit diagonal where a pivot falls below it
SIGN_TOLERANCE = 1e-11  # a reduced gradient this small beside its terms has no sign
REACH_TOLERANCE = 1e-12  # share of the reach within which a right-hand side counts as its end
# limits: pivoting rounds, rounds without progress, interior steps
MAX_PIVOTS, MAX_IDLE_PIVOTS, MAX_INTERIOR_STEPS = 40, 4, 100


class InfeasibleError(ValueError):
    """No point of the box lies on the hyperplane."""


@dataclass(frozen=True)
class Solution:
    """The minimiser, the multiplier of a'd = t (0 without one), and where it lies: -1 at low, 0 between, 1 at high."""

    d: Vector
    multiplier: float
    side: Sides


@dataclass(frozen=True)
class _Box:
    """The problem, scaled."""

    H: Matrix
    g: Vector
    low: Vector
    high: Vector
    a: Vector | None
    t: float


def reach(a: Vector, low: Vector, high: Vector) -> tuple[float, float]:
    """The least and the greatest a'd over the box."""
    at_low, at_high = _times(a, low), _times(a, high)
    return float(np.minimum(at_low, at_high).sum()), float(np.maximum(at_low, at_high).sum())


def box_qp(
    H: Matrix, g: Vector, low: Vector, high: Vector, a: Vector | None = None, t: float = 0.0, side: Sides | None = None
) -> Solution:
    """The minimiser; ``side`` is a guess of where it lies. Raises InfeasibleError."""
    if (low > high).any():
        raise InfeasibleError("a lower bound lies above its upper bound")
    if a is not None and not a.any():
        if abs(t) > REACH_TOLERANCE:
            raise InfeasibleError("no coefficient can change the sum")
        a = None
    if a is not None:
        least, most = reach(a, low, high)
        slack = REACH_TOLERANCE * (
            float(np.abs(_finite(_times(a, low))).sum() + np.abs(_finite(_times(a, high))).sum()) + abs(t)
        )
        if t > most + slack or t < least - slack:
            raise InfeasibleError(f"the sum must be {t:g}, and the bounds allow {least:g} to {most:g}")
        if t >= most - slack or t <= least + slack:
            return _at_the_end(H, g, low, high, a, t >= most - slack)
    diagonal = H.diagonal()
    largest = float(diagonal.max(initial=0.0))
    D = 1.0 / np.sqrt(np.where(diagonal > 1e-14 * largest, diagonal, largest or 1.0))
    size = 1.0 if a is None else float(np.linalg.norm(D * a))
    box = _Box(H * D * D[:, None], D * g, low / D, high / D, None if a is None else D * a / size, t / size)
    guess = np.zeros(len(g), np.int8) if side is None else side.copy()
    guess[(guess < 0) & np.isinf(low) | (guess > 0) & np.isinf(high)] = 0
    guess[low == high] = -1
    solved = _pivot(box, guess) or _pivot(box, _interior(box)[1])
    if solved is None:  # too degenerate to name the bounds: the interior point itself
        u, where = _interior(box)
        r = box.H @ u + box.g
        multiplier = 0.0 if box.a is None else multiplier_of(r, box.a, where)
        solved = u, multiplier, where
    u, multiplier, where = solved
    d = np.where(where < 0, low, np.where(where > 0, high, np.clip(D * u, low, high)))
    return Solution(d, multiplier / size, where)


def multiplier_of(r: Vector, a: Vector, side: Sides) -> float:
    """The multiplier at a point with gradient r: by least squares where free, else from what the bounds allow.

    With every coefficient at a bound a whole interval is right: its middle, or its finite end.
    """
    free = (side == 0) & (a != 0)
    if free.any():
        return float(a[free] @ r[free] / (a[free] @ a[free]))
    lower, upper = _interval(r, a, side)
    if np.isfinite(lower) and np.isfinite(upper):
        return 0.5 * (lower + upper)
    return lower if np.isfinite(lower) else upper if np.isfinite(upper) else 0.0


def project(v: Vector, low: Vector, high: Vector, a: Vector | None, t: float) -> Vector:
    """The point of the box (on the hyperplane) nearest to v: clip(v + mu a), mu between two sorted breakpoints.

    Where the hyperplane is out of reach, the point of the box nearest to it.
    """
    inside = np.clip(v, low, high)
    if a is None or not a.any() or abs(float(a @ inside) - t) <= 1e-14 * (np.abs(a) @ np.abs(inside)):
        return inside
    least, most = reach(a, low, high)
    if not least < t < most:
        ends = np.where((a > 0) == (t >= most), high, low)
        return np.where(a == 0, inside, ends)
    with np.errstate(divide="ignore", invalid="ignore"):
        kinks = np.concatenate([(low - v) / a, (high - v) / a])
    kinks = np.sort(kinks[np.isfinite(kinks)])

    def excess(mu: float) -> float:
        return float(a @ np.clip(v + mu * a, low, high)) - t

    first, last = -1, len(kinks)  # excess rises with mu: below 0 up to kinks[first], at least 0 from kinks[last]
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if excess(kinks[middle]) < 0 else (first, middle)
    if last < len(kinks) and first >= 0:
        mu = 0.5 * (kinks[first] + kinks[last])
    else:
        mu = kinks[-1] + 1.0 if last == len(kinks) and len(kinks) else kinks[0] - 1.0 if len(kinks) else 0.0
    w = v + mu * a
    free = (w > low) & (w < high) & (a != 0)
    if free.any():  # between two kinks the excess is linear
        mu -= excess(mu) / float(a[free] @ a[free])
    return np.clip(v + mu * a, low, high)


def _at_the_end(H: Matrix, g: Vector, low: Vector, high: Vector, a: Vector, most: bool) -> Solution:
    """Only one point of the columns with a_j != 0 reaches t; the others are free of the hyperplane."""
    up = (a > 0) == most
    fixed = np.where(up, high, low)
    low, high = np.where(a == 0, low, fixed), np.where(a == 0, high, fixed)
    inner = box_qp(H, g, low, high)
    side = np.where(a == 0, inner.side, np.where(up, 1, -1)).astype(np.int8)
    return Solution(inner.d, multiplier_of(g + H @ inner.d, a, side), side)


def _pivot(box: _Box, side: Sides) -> tuple[Vector, float, Sides] | None:
    """From a guess of the sides to the solution, or None if it does not come to an end."""
    fixed, edge = box.low == box.high, 1e-13 * (1.0 + np.abs(_finite(box.low)) + np.abs(_finite(box.high)))
    fewest, patience = len(side) + 1, MAX_IDLE_PIVOTS
    for _ in range(MAX_PIVOTS):
        check_time()
        solved = _given(box, side)
        if solved is None:
            return None
        u, r, multiplier, noise = solved
        free = side == 0
        below, above = free & (u < box.low - edge), free & (u > box.high + edge)
        wrong = ((side < 0) & (r < -noise) | (side > 0) & (r > noise)) & ~fixed
        bad = int(np.count_nonzero(below | above | wrong))
        if bad == 0:
            return u, multiplier, side
        if bad < fewest:
            fewest, patience = bad, MAX_IDLE_PIVOTS
        else:
            patience -= 1
        if patience <= 0:  # Murty's rule, one at a time: it ends wherever H alone decides
            last = int(np.flatnonzero(below | above | wrong)[-1])
            below, above, wrong = (mask & (np.arange(len(side)) == last) for mask in (below, above, wrong))
        side = np.where(below, -1, np.where(above, 1, np.where(wrong, 0, side))).astype(np.int8)
    return None


def _given(box: _Box, side: Sides) -> tuple[Vector, Vector, float, float] | None:
    """The solution if exactly these bounds hold: u, reduced gradient, multiplier, and the noise in the gradient."""
    free = np.flatnonzero(side == 0)
    u = np.where(side < 0, box.low, np.where(side > 0, box.high, 0.0))
    r = box.g + box.H @ u
    rest = 0.0 if box.a is None else box.t - float(box.a @ u)
    multiplier, aF = 0.0, None if box.a is None else box.a[free]
    if len(free):
        L = _factor(box.H[np.ix_(free, free)])
        if L is None:
            return None
        u[free] = -lapack.dpotrs(L, r[free], lower=1)[0]
        if aF is not None and aF.any():
            Ba = lapack.dpotrs(L, aF, lower=1)[0]
            multiplier = (rest - float(aF @ u[free])) / float(aF @ Ba)
            u[free] += multiplier * Ba
        r = box.g + box.H @ u
    noise = SIGN_TOLERANCE * float(max(np.abs(v).max(initial=0.0) for v in (box.g, r, u)))
    if box.a is not None:
        if aF is None or not aF.any():
            if abs(rest) > 1e-12 * (1.0 + abs(box.t)):
                return None
            lower, upper = _interval(r, box.a, np.where(box.low == box.high, 0, side).astype(np.int8))
            if lower > upper + noise:
                return None
            multiplier = multiplier_of(r, box.a, side)
        r = r - multiplier * box.a
    return u, r, multiplier, noise


def _interior(box: _Box) -> tuple[Vector, Sides]:
    """Mehrotra's method from the middle of the box; then the side on which each multiplier exceeds its distance."""
    move = box.low < box.high
    side = np.where(move, 0, -1).astype(np.int8)
    u = np.where(move, 0.0, box.low)
    if not move.any():
        return u, side
    H, low, high = box.H[np.ix_(move, move)], box.low[move], box.high[move]
    g = box.g[move] + box.H[np.ix_(move, ~move)] @ u[~move]
    a = None if box.a is None or not box.a[move].any() else box.a[move]
    t = 0.0 if box.a is None else box.t - float(box.a[~move] @ u[~move])
    below, above = np.isfinite(low), np.isfinite(high)
    x = np.clip(0.0, low, high)
    room = np.where(below & above, high - low, 2.0)
    x = np.where(below, np.maximum(x, low + 0.5 * np.minimum(room, 2.0)), x)
    x = np.where(above, np.minimum(x, high - 0.5 * np.minimum(room, 2.0)), x)
    y = 0.0
    strength = max(1.0, float(np.abs(g).max()))
    zl, zh = below * strength, above * strength
    count = max(1, int(below.sum() + above.sum()))
    sl, sh = np.where(below, x - low, 1.0), np.where(above, high - x, 1.0)  # kept apart from x: they get tiny
    for _ in range(MAX_INTERIOR_STEPS):
        check_time()
        rd = g + H @ x - zl + zh - (0.0 if a is None else y * a)
        rp = 0.0 if a is None else t - float(a @ x)
        mu = float(sl @ zl + sh @ zh) / count
        if mu <= 1e-15 * strength and np.abs(rd).max() <= 1e-12 * strength and abs(rp) <= 1e-13 * (1 + abs(t)):
            break
        M = H.copy()
        M[np.diag_indices_from(M)] += zl / sl + zh / sh
        L = _factor(M)
        if L is None:
            break
        Ba = None if a is None else lapack.dpotrs(L, a, lower=1)[0]

        def step(cl: Vector, ch: Vector, L=L, Ba=Ba, sl=sl, sh=sh, zl=zl, zh=zh, rd=rd, rp=rp):  # type: ignore[no-untyped-def]
            """Newton's step to slack x multiplier = c."""
            pl, ph = np.where(below, cl / sl - zl, 0.0), np.where(above, ch / sh - zh, 0.0)
            dx, dy = lapack.dpotrs(L, pl - ph - rd, lower=1)[0], 0.0
            if a is not None and Ba is not None:
                dy = (rp - float(a @ dx)) / float(a @ Ba)
                dx = dx + dy * Ba
            return dx, dy, pl - zl / sl * dx, ph + zh / sh * dx

        zero = np.zeros_like(x)
        dx, _, dl, dh = step(zero, zero)
        p, q = _positive(sl, dx * below, sh, -dx * above), _positive(zl, dl, zh, dh)
        ahead = float((sl + p * dx * below) @ (zl + q * dl) + (sh - p * dx * above) @ (zh + q * dh)) / count
        sigma = (max(ahead, 0.0) / mu) ** 3 if mu > 0 else 0.0
        dx, dy, dl, dh = step(sigma * mu - dx * dl, sigma * mu + dx * dh)
        both = min(1.0, 0.995 * min(_positive(sl, dx * below, sh, -dx * above), _positive(zl, dl, zh, dh)))
        x, y, zl, zh = x + both * dx, y + both * dy, zl + both * dl, zh + both * dh
        sl, sh = sl + both * dx * below, sh - both * dx * above
        if not both > 1e-12 or not min(sl.min(), sh.min()) > 1e-200:
            break
    u[move] = np.clip(x, low, high)
    side[move] = np.where(zl > sl, -1, np.where(zh > sh, 1, 0))
    return u, side


def _positive(*pairs: Vector) -> float:
    """How far (no further than 1) pairs of a vector and its change can go and stay positive."""
    far = 1.0 / 0.995
    for z, dz in zip(pairs[::2], pairs[1::2], strict=True):
        down = dz < 0
        far = min(far, float((-z[down] / dz[down]).min(initial=np.inf)))
    return far


def _factor(M: Matrix) -> Matrix | None:
    """Cholesky; with a ridge where the matrix is singular, None where it is not even semi-definite."""
    L, info = lapack.dpotrf(M, lower=1, clean=0)
    if info == 0 and float(L.diagonal().min()) ** 2 > PIVOT_RIDGE * float(L.diagonal().max()) ** 2:
        return L
    for ridge in (PIVOT_RIDGE, 1e2 * PIVOT_RIDGE, 1e4 * PIVOT_RIDGE):
        L, info = lapack.dpotrf(M + ridge * np.diag(np.maximum(1.0, M.diagonal())), lower=1, clean=0)
        if info == 0:
            return L
    return None


def _interval(r: Vector, a: Vector, side: Sides) -> tuple[float, float]:
    """The multipliers for which r - multiplier a has the right sign wherever a bound holds."""
    bound = (side != 0) & (a != 0)
    rate, floor = r[bound] / a[bound], (side[bound] > 0) == (a[bound] > 0)
    return float(rate[floor].max(initial=-np.inf)), float(rate[~floor].min(initial=np.inf))


def _times(a: Vector, bound: Vector) -> Vector:
    """a_j bound_j with 0 inf = 0."""
    return np.where(a == 0, 0.0, a * np.where(a == 0, 0.0, bound))


def _finite(v: Vector) -> Vector:
    return np.where(np.isfinite(v), v, 0.0)
