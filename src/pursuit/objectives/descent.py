"""Minimisers of a smooth function that nobody vouches for: it may be non-convex, bottomless, or NaN in places.

| method | when | needs |
|---|---|---|
| damped Newton on \\|H\\| | a Hessian is at hand | value, gradient, Hessian |
| L-BFGS (J. Nocedal, 1980) | otherwise | value, gradient |

Both search along their direction for a step that meets the weak Wolfe conditions, in the approximate form of W. W.
Hager and H. Zhang (2005) that still works where differences of f are lost in rounding. A direction along which f falls
without end is followed until f has fallen ``BOTTOMLESS`` times its scale: then the minimum is -inf.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .refits import Factor

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

EPS = float(np.finfo(float).eps)
BOTTOMLESS = 1e20  # fall of f, relative to max(1, |f|), that counts as without end
NEWTON_STEPS = 200
QUASI_STEPS = 3000
MEMORY = 40  # pairs that L-BFGS keeps
GROWTH = 1e-2  # share by which coefficients may still grow when f has settled, after SETTLING steps
SETTLING = 10


class NotFiniteError(ArithmeticError):
    """The function or its gradient is NaN or infinite where a number is needed."""


@dataclass(frozen=True)
class Trial:
    """f at z: value, gradient, and the Hessian when asked for."""

    z: Vector
    value: float
    gradient: Vector
    hessian: Callable[[], Matrix] | None = None

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.value) and np.isfinite(self.gradient).all())


@dataclass(frozen=True)
class End:
    """Where a minimisation ended; ``value`` is -inf where f falls without bound, inf where it is outside its domain."""

    at: Trial
    value: float
    converged: bool = True
    note: str = ""
    minimiser: bool = True


Evaluate = Callable[[Vector], Trial]


class _BottomlessError(Exception):
    def __init__(self, at: Trial) -> None:
        self.at = at


def minimise(evaluate: Evaluate, z: Vector, eps: float = EPS) -> End:
    """A local minimiser near z; ``eps`` is the precision in which f is computed."""
    here = evaluate(z)
    if here.value == np.inf:
        return End(here, np.inf, False, "the function is infinite where the refit begins")
    if not here.finite:
        raise NotFiniteError(f"the function is {here.value} or its gradient is not finite where a refit begins")
    if len(z) == 0:
        return End(here, here.value)
    try:
        return _newton(evaluate, here, eps) if here.hessian is not None else _quasi_newton(evaluate, here, eps)
    except _BottomlessError as far:
        note = "the function falls without bound on the chosen coordinates, so no minimiser exists"
        return End(far.at, -np.inf, False, note, False)


def _newton(evaluate: Evaluate, here: Trial, eps: float) -> End:
    first = here.value
    for turn in range(NEWTON_STEPS):
        assert here.hessian is not None
        d, convex = _direction(here.hessian(), here.gradient)
        decrement = -float(here.gradient @ d)
        scale = max(abs(here.value), abs(first - here.value))
        if convex and decrement <= 500 * eps * scale:  # one last step; its quadratic model is f to the last digit
            return _settled(here, Trial(here.z + d, here.value - 0.5 * decrement, np.zeros_like(d)), turn)
        ahead = _search(evaluate, here, d, eps * scale)
        if ahead is None:
            return _stuck(here, decrement, scale, eps)
        here = ahead
    return End(here, here.value, False, f"the refit stopped after {NEWTON_STEPS} Newton steps")


def _direction(H: Matrix, g: Vector) -> tuple[Vector, bool]:
    """-|H|^-1 g, and whether H is positive (semi)definite; at a saddle, downhill along its lowest curvature."""
    if not np.isfinite(H).all():
        raise NotFiniteError("the Hessian is NaN or infinite on the chosen coordinates")
    factor = Factor(H)
    if factor.rcond > 1e-13:
        return -factor.solve(g), True
    values, vectors = np.linalg.eigh(0.5 * (H + H.T))
    size, along = np.abs(values), vectors.T @ g
    top = float(size.max())
    if top == 0.0:
        return -g, False
    convex = values[0] > -1e-9 * top
    keep = size > 1e-12 * top if convex else size > 0
    d = -(vectors[:, keep] @ (along[keep] / np.maximum(size[keep], 1e-9 * top if not convex else 0.0)))
    if not convex:  # also where the gradient does not see it: at a saddle it vanishes
        sign = -1.0 if along[0] > 0 else 1.0
        d += sign * max(float(np.linalg.norm(d)), 1.0) * vectors[:, 0]
    elif not keep.all() and float(np.abs(along[~keep]).max()) > 1e-6 * float(np.abs(along).max()):
        d -= vectors[:, ~keep] @ along[~keep]  # no curvature at all, but a slope
        convex = False
    return d, bool(convex)


def _quasi_newton(evaluate: Evaluate, here: Trial, eps: float) -> End:
    first, pairs = here.value, deque[tuple[Vector, Vector, float]](maxlen=MEMORY)
    for turn in range(QUASI_STEPS):
        g = here.gradient
        if float(np.linalg.norm(g)) == 0.0:
            return End(here, here.value)
        d = _two_loops(pairs, g) if pairs else -_first_step(evaluate, here) * g
        decrement = -float(g @ d)
        scale = max(abs(here.value), abs(first - here.value))
        if pairs and decrement <= eps * scale:
            return _finish(evaluate, here, d, turn, eps * scale)
        ahead = _search(evaluate, here, d, eps * scale)
        if ahead is None:
            if not pairs:
                return _stuck(here, decrement, scale, eps)
            if decrement <= 1e4 * eps * scale:
                return End(here, here.value)
            pairs.clear()  # once more along the gradient
            continue
        s, y = ahead.z - here.z, ahead.gradient - g
        sy = float(s @ y)
        if sy > eps * float(np.linalg.norm(s) * np.linalg.norm(y)):
            pairs.append((s, y, sy))
        here = ahead
    return End(here, here.value, False, f"the refit stopped after {QUASI_STEPS} quasi-Newton steps")


def _two_loops(pairs: deque[tuple[Vector, Vector, float]], g: Vector) -> Vector:
    """L-BFGS's approximation of -H^-1 g."""
    q, weights = g.copy(), []
    for s, y, sy in reversed(pairs):
        weights.append(float(s @ q) / sy)
        q -= weights[-1] * y
    _, y, sy = pairs[-1]
    q *= sy / float(y @ y)
    for (s, y, sy), weight in zip(pairs, reversed(weights), strict=True):
        q += (weight - float(y @ q) / sy) * s
    return -q


def _first_step(evaluate: Evaluate, here: Trial) -> float:
    """The gradient's squared norm over the curvature along it."""
    g = here.gradient
    size = float(np.linalg.norm(g))
    h = 1e-6 * max(1.0, float(np.linalg.norm(here.z))) / size
    ahead = evaluate(here.z - h * g)
    curve = float(g @ (g - ahead.gradient)) / h if ahead.finite else 0.0
    return size**2 / curve if curve > 1e-12 * size**2 else 1.0 / max(1.0, size)


def _search(evaluate: Evaluate, here: Trial, d: Vector, noise: float) -> Trial | None:
    """The point at a weak Wolfe step along d; None where nothing falls."""
    slope = min(float(here.gradient @ d), 0.0)
    low, high, t, stretch = 0.0, np.inf, 1.0, 4.0
    best, seen = None, False
    for _ in range(70):
        trial = evaluate(here.z + t * d)
        if trial.value == -np.inf or here.value - trial.value > BOTTOMLESS * max(1.0, abs(here.value)):
            raise _BottomlessError(best if best is not None and trial.value == -np.inf else trial)
        seen = seen or trial.finite
        ahead = float(trial.gradient @ d) if trial.finite else np.nan
        fell = trial.finite and (
            trial.value < here.value + 1e-4 * t * slope
            or (trial.value <= here.value + 4 * noise and abs(ahead) <= 0.9998 * abs(slope))
        )
        if not fell:
            high = t
        elif ahead < 0.9 * slope or (slope == 0.0 and ahead < 0.0):
            low, best = t, trial
        else:
            return trial
        if high == np.inf:
            t, stretch = t * stretch, min(stretch**2, 1e4)
        else:
            t = np.sqrt(low * high) if low > 0 and high > 10 * low else 0.5 * (low + high)
    if not seen:
        raise NotFiniteError("the function or its gradient became NaN or infinite in a refit, however short the step")
    return best


def _finish(evaluate: Evaluate, here: Trial, d: Vector, turn: int, noise: float) -> End:
    """One last step, for free digits."""
    ahead = evaluate(here.z + d)
    shorter = ahead.finite and float(np.linalg.norm(ahead.gradient)) <= float(np.linalg.norm(here.gradient))
    return _settled(here, ahead if shorter and ahead.value <= here.value + 4 * noise else here, turn)


def _settled(before: Trial, end: Trial, turn: int) -> End:
    """The end, and whether the coefficients have settled as the value has."""
    if turn >= SETTLING and float(np.linalg.norm(end.z)) > (1 + GROWTH) * float(np.linalg.norm(before.z)):
        note = "the value has settled but coefficients still grow, so there may be no finite minimiser"
        return End(end, end.value, True, note, False)
    return End(end, end.value)


def _stuck(here: Trial, decrement: float, scale: float, eps: float) -> End:
    if decrement <= max(1e-9, 1e5 * eps) * scale:  # all the digits there are
        return End(here, here.value)
    note = "the refit stopped where the value falls no further although the gradient says so (check the gradient)"
    return End(here, here.value, False, note)
