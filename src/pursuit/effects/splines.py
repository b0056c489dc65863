"""Columns that stand for one feature: a natural cubic spline, a monotone spline, or the feature itself.

A natural cubic spline with K knots has K - 1 columns beside the constant. The first is the standardised feature z; the
others span what is not linear. On the training rows these are orthogonal to 1 and z and to each other; they are ordered
by roughness (the integral of the squared second derivative), and their standard deviations fall with it
(``ROUGHNESS_SCALES``), so that an ordinary ridge on all columns is a smoothing penalty. Beyond the first and the last
knot every spline is linear.

A monotone spline has one column per knot: the integral of the hat function at that knot, those at the ends going on
as constants. Its coefficients are slopes at the knots (in units of the columns' scales), so that the curve rises
everywhere if and only if they are non-negative.

| symbol | here |
|---|---|
| z = (x - m) / s | ``center``, ``scale`` |
| knots t_1 < .. < t_K | ``knots``, in the units of x |
| columns (N(x) - [1, z] L) V | ``shift`` (L), ``rotation`` (V) |

Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 2nd edition, section 5.2.1; Ramsay (1988),
Monotone regression splines in action.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from .._utils.types import JSON, Columns, Matrix, Vector

#: Quantiles at which knots lie, by their number.
KNOT_QUANTILES: dict[int, tuple[float, ...]] = {
    3: (0.1, 0.5, 0.9),
    4: (0.05, 0.35, 0.65, 0.95),
    5: (0.05, 0.275, 0.5, 0.725, 0.95),
    6: (0.05, 0.23, 0.41, 0.59, 0.77, 0.95),
    7: (0.025, 0.1833, 0.3417, 0.5, 0.6583, 0.8167, 0.975),
}
ROUGHNESS_SCALES = (0.7, 0.5, 0.35, 0.25, 0.18)  # standard deviations of the columns that bend
MIN_KNOT_GAP = 1e-6  # share of the distance between the outer knots below which two knots are one
MIN_RELATIVE_SPREAD = 1e-13  # of a column, below which it is constant but for rounding
MIN_EIGENVALUE = 1e-9  # share of the mean variance below which a direction is rounding
VALUES_AT_A_TIME = 1 << 13  # whose columns stay in the processor's cache while they are made
NO_MATRIX = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class ColumnBasis:
    """The columns of one feature, fitted to training rows.

    ``kind`` is "linear", "smooth", "increasing" or "decreasing"; ``width`` is the number of columns (those that the
    training rows do not determine are zero).
    """

    kind: str
    width: int
    center: float
    scale: float  # 0: the feature is constant, and all columns are zero
    knots: Vector
    shift: Matrix
    rotation: Matrix
    low: float  # the least and the largest value on the training rows
    high: float

    def evaluate(self, x: Vector) -> Matrix:
        """The columns at the values x, shape (len(x), width)."""
        out = np.zeros((len(x), self.width), order="F")
        if self.scale == 0:
            return out
        x = np.asarray(x, dtype=np.float64)
        for low in range(0, len(x), VALUES_AT_A_TIME):
            some = slice(low, low + VALUES_AT_A_TIME)
            self._evaluate(x[some], out[some])
        return out

    def _evaluate(self, x: Vector, out: Matrix) -> None:
        if self.kind in ("increasing", "decreasing"):
            columns = hat_integrals(x, self.knots)
            out[:, : columns.shape[1]] = (columns - self.shift[0]) * self.rotation[0]
            return
        z = (x - self.center) / self.scale
        out[:, 0] = z
        if len(self.knots):
            bends = natural_splines(x, self.knots)
            bends -= self.shift[0]
            bends -= np.outer(z, self.shift[1])
            out[:, 1 : 1 + self.rotation.shape[1]] = bends @ self.rotation

    def to_json(self) -> JSON:
        """The numbers, as JSON holds them."""
        return {
            "kind": self.kind,
            "width": self.width,
            "center": self.center,
            "scale": self.scale,
            "knots": self.knots.tolist(),
            "shift": self.shift.tolist(),
            "rotation": self.rotation.tolist(),
            "low": self.low,
            "high": self.high,
        }


def column_from_json(fields: object) -> ColumnBasis:
    """A feature's columns from JSON values; TypeError says what they must be."""
    if not isinstance(fields, dict):
        raise TypeError("an object with the knots and matrices of a feature")
    kind, width = fields.get("kind"), fields.get("width")
    if kind not in ("linear", "smooth", "increasing", "decreasing"):
        raise TypeError("an object whose kind is linear, smooth, increasing or decreasing")
    if isinstance(width, bool) or not isinstance(width, int) or width < 1:
        raise TypeError("an object whose width is a number of columns")
    try:
        center, scale, low, high = (float(fields[name]) for name in ("center", "scale", "low", "high"))
        knots = np.array(fields["knots"], dtype=np.float64)
        shift, rotation = (np.array(fields[name], dtype=np.float64) for name in ("shift", "rotation"))
    except (KeyError, TypeError, ValueError):
        raise TypeError("an object with center, scale, knots, shift, rotation, low and high") from None
    shift, rotation = (NO_MATRIX if part.size == 0 else part for part in (shift, rotation))
    numbers = (center, scale, low, high, knots, shift, rotation)
    if not all(np.isfinite(part).all() for part in numbers) or scale < 0:
        raise TypeError("an object of finite numbers")
    monotone = kind in ("increasing", "decreasing")
    shapes = ((1, len(knots)), (1, len(knots))) if monotone else ((2, len(knots) - 2), (len(knots) - 2,) * 2)
    fits = knots.ndim == 1 and (np.diff(knots) > 0).all() and (shift.shape, rotation.shape) == shapes
    columns = len(knots) if monotone else 1 + rotation.shape[1]
    if (len(knots) and not fits) or (scale > 0 and columns > width) or (monotone and scale > 0 and not len(knots)):
        raise TypeError("an object whose knots rise and whose matrices fit them")
    return ColumnBasis(kind, width, center, scale, knots, shift, rotation, low, high)


def fit_column(x: Vector, weights: Vector | None, kind: str, n_knots: int, width: int | None = None) -> ColumnBasis:
    """The columns of a feature with values x; ``width`` of them where it is given, else as many as the knots make.

    Rows of weight zero have no effect, and a weight of 2 is the same as a row that comes twice.
    """
    x = np.asarray(x, dtype=np.float64)
    if weights is None:
        c = np.full(len(x), 1.0 / len(x))
    else:
        counted = weights > 0
        x, c = x[counted], weights[counted] / weights[counted].sum()
    low, high = float(x.min()), float(x.max())
    center = low + float(c @ (x - low))
    scale = float(np.sqrt(c @ (x - center) ** 2))
    if high - low <= MIN_RELATIVE_SPREAD * max(abs(low), abs(high)) or scale == 0:
        return ColumnBasis(kind, width or 1, center, 0.0, np.empty(0), NO_MATRIX, NO_MATRIX, low, high)
    if kind == "linear":
        return ColumnBasis(kind, width or 1, center, scale, np.empty(0), NO_MATRIX, NO_MATRIX, low, high)
    knots = choose_knots(x, c, n_knots)
    if kind in ("increasing", "decreasing"):
        if width is not None and len(knots) > width:
            knots = knots[np.linspace(0, len(knots) - 1, width).round().astype(np.int64)]
        columns = hat_integrals(x, knots)
        mean = c @ columns
        factor = monotone_factor(kind, c @ (columns - mean) ** 2)
        return ColumnBasis(kind, width or len(knots), center, scale, knots, mean[None], factor, low, high)
    line = ColumnBasis(kind, width or 1, center, scale, np.empty(0), NO_MATRIX, NO_MATRIX, low, high)
    if len(knots) < 3 or width == 1:  # two values make a line
        return line
    bends, z = natural_splines(x, knots), (x - center) / scale
    shift = np.vstack([c @ bends, (c * z) @ bends])  # 1 and z are orthonormal on the training rows
    rest = bends - shift[0] - np.outer(z, shift[1])
    rotation = smooth_rotation(knots, rest.T @ (c[:, None] * rest), width)
    if rotation is None:
        return line
    return ColumnBasis(kind, width or 1 + rotation.shape[1], center, scale, knots, shift, rotation, low, high)


def monotone_factor(kind: str, variance: Vector) -> Matrix:
    """What the integrals of hats are multiplied by: it makes their variance 1, and their sign that of the slope."""
    spread, sign = np.sqrt(variance), 1.0 if kind == "increasing" else -1.0
    return np.divide(sign, spread, out=np.zeros_like(spread), where=spread > 0)[None]


def smooth_rotation(knots: Vector, S: Matrix, width: int | None) -> Matrix | None:
    """The matrix that makes columns that bend of natural splines with covariance S; None where these do not vary."""
    level = float(np.trace(S)) / len(S)
    if level <= 0:
        return None
    _, V = eigh(_roughness(knots), S + MIN_EIGENVALUE * level * np.eye(len(S)))
    V = V[:, : None if width is None else width - 1]  # the smoothest, where all rows have fewer columns than these
    V *= np.where(V.sum(axis=0) < 0, -1.0, 1.0)  # the sign is arbitrary, and ought to be the same on every machine
    return np.asarray(V * np.array(ROUGHNESS_SCALES[: V.shape[1]]))


def choose_knots(x: Vector, c: Vector, n_knots: int) -> Vector:
    """Knots at quantiles of x, or of its distinct values where too many of its values are the same."""
    knots = _apart(weighted_quantiles(x, c, KNOT_QUANTILES[n_knots]))
    if len(knots) >= 3:
        return knots
    distinct = np.unique(x)
    even = np.full(len(distinct), 1.0 / len(distinct))
    return _apart(weighted_quantiles(distinct, even, KNOT_QUANTILES[3]))


def weighted_quantiles(x: Vector, c: Vector, levels: Any) -> Vector:
    """Quantiles with weights c: the inverse of the distribution function, the mean of two values where it is flat."""
    order = np.argsort(x, kind="stable")
    values, total = x[order], np.cumsum(c[order])
    total /= total[-1]
    levels = np.asarray(levels, dtype=np.float64)
    room = 1e-12  # a sum of weights that is a level but for rounding
    last = len(values) - 1
    left = np.minimum(np.searchsorted(total, levels - room), last)
    right = np.minimum(np.searchsorted(total, levels + room), last)
    return np.asarray(0.5 * (values[left] + values[right]))


def _apart(knots: Vector) -> Vector:
    """Knots that are not next to each other."""
    knots = np.unique(knots)
    if len(knots) < 2:
        return knots
    gap = MIN_KNOT_GAP * (knots[-1] - knots[0])
    kept = [knots[0]]
    for knot in knots[1:]:
        if knot - kept[-1] > gap:
            kept.append(knot)
    return np.array(kept)


def _cube(x: Vector) -> Vector:
    """x^3: a power of NumPy takes more than twice as long."""
    return np.asarray(x * x * x)


def natural_splines(x: Vector, knots: Vector) -> Matrix:
    """The K - 2 natural cubic splines that vanish below the first knot; linear beyond the last one."""
    span = knots[-1] - knots[0]
    u, t = (x - knots[0]) / span, (knots - knots[0]) / span
    inner = np.clip(u, 0.0, 1.0)
    a, b = t[-2], t[-1]
    tail, slope_tail = _cube(np.maximum(inner - a, 0.0)), 3 * (b - a) ** 2
    beyond = np.maximum(u - 1.0, 0.0)
    out = np.empty((len(x), len(knots) - 2), order="F")
    for i, own in enumerate(t[:-2]):
        share = (b - own) / (b - a)
        out[:, i] = _cube(np.maximum(inner - own, 0.0)) - share * tail
        out[:, i] += (3 * (b - own) ** 2 - share * slope_tail) * beyond
    return out


def _roughness(knots: Vector) -> Matrix:
    """Integrals of products of the second derivatives of ``natural_splines``, which are linear between knots: exact."""
    t = (knots - knots[0]) / (knots[-1] - knots[0])
    a, b = t[-2], t[-1]

    def second(u: Vector) -> Matrix:
        ramps = np.maximum(u[:, None] - t[:-2], 0.0)
        return np.asarray(6 * (ramps - np.maximum(u - a, 0.0)[:, None] * (b - t[:-2]) / (b - a)))

    left, right = second(t[:-1]), second(t[1:])
    middle, h = 0.5 * (left + right), np.diff(t)[:, None]
    return np.asarray((left.T @ (h * left) + 4 * middle.T @ (h * middle) + right.T @ (h * right)) / 6)


def hat_integrals(x: Vector, knots: Vector) -> Matrix:
    """Integrals of the hat functions at the knots, from the first knot on; constants beyond the ends become lines."""
    t = (knots - knots[0]) / (knots[-1] - knots[0]) if len(knots) > 1 else knots - knots[0]
    u = (x - knots[0]) / (knots[-1] - knots[0]) if len(knots) > 1 else x - knots[0]
    out = np.zeros((len(x), len(knots)), order="F")
    for i in range(len(knots) - 1):
        h = t[i + 1] - t[i]
        w = np.clip(u - t[i], 0.0, h)
        rising = 0.5 * w**2 / h
        out[:, i + 1] += rising
        out[:, i] += w - rising
    out[:, 0] += np.minimum(u, 0.0)
    out[:, -1] += np.maximum(u - t[-1], 0.0)
    return out


def change_of_basis(old: ColumnBasis, new: ColumnBasis, x: Vector, c: Vector) -> Matrix:
    """The matrix T for which ``old.evaluate(x) @ b`` is nearly ``new.evaluate(x) @ (T @ b)``, but for a constant.

    By least squares on the rows x with weights c; where the knots agree it is exact.
    """
    A, B = new.evaluate(x), old.evaluate(x)
    A = A - c @ A
    B = B - c @ B
    G = A.T @ (c[:, None] * A)
    level = np.trace(G) / len(G)
    if not level > 0:
        return np.zeros((new.width, old.width))
    G[np.diag_indices(len(G))] += 1e-10 * level
    return np.asarray(np.linalg.solve(G, A.T @ (c[:, None] * B)))


def offsets_of(widths: list[int]) -> Columns:
    """Where the columns of each feature begin, and the end."""
    return np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
