"""The one minimiser of a smooth function of few variables: a descent times a search.

| descent | when | a step costs |
|---|---|---|
| Newton, Cholesky | a Hessian is at hand | the Hessian, m^3/3 |
| Newton on \\|H\\| | the same, f not convex | the Hessian, 9 m^3 |
| Newton in a box, on a hyperplane (``box_qp``) | ``within`` | a few m^3 |
| Newton by conjugate gradients | only products with the Hessian | two products with the columns per inner step |
| L-BFGS (J. Nocedal, 1980) | value and gradient alone | one evaluation |

The search is for a step that meets the weak Wolfe conditions, in the approximate form of W. W. Hager and H. Zhang
(2005) that still works where differences of f are lost in rounding. A direction along which f falls without end is
followed until f has fallen ``UNBOUNDED_FALL`` times its scale: then the minimum is -inf.

A fit without a note is a minimiser to the digits there are: its Newton decrement, what the quadratic model says is left
to gain, is a negligible share of the height of f. Whatever ended otherwise says so.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from .._utils.rounding import EPS
from .._utils.types import Matrix, Vector
from ..engines import check_time
from .box_qp import box_qp
from .factor import Factor, absolute, pseudo_solve
from .problem import FeasibleSet, Fit, Line, SmoothProblem, State

CONVERGED_ROUNDINGS = 500  # rounding units of the height at which a Newton decrement ends it
FLAT_DECREMENT = 1e-20  # the same where the Hessian is singular and the decrement with its stand-in says less
MIN_FALL_SHARE = 1e-3  # share of a value that stands in for how far it has fallen, where it began too high for that
MAX_STALLED_GAP = 1e-10  # share of the height that may be left where nothing falls any more
SINGULAR_PIVOTS = 1e-13  # ratio of squared pivots at which a Newton direction is not trusted
CG_TOLERANCE = 1e-9  # share of the coefficients to which conjugate gradients minimise a quadratic
DAMPING_SHARE = 1e-4  # share of the largest curvature that stands in for a missing one
UNBOUNDED_FALL = 1e20  # fall of f, relative to max(1, |f|), that counts as without end
MAX_NEWTON_STEPS = 200
MAX_QUASI_NEWTON_STEPS = 3000
LBFGS_PAIRS = 40  # pairs that L-BFGS keeps
MAX_SETTLED_GROWTH = 1e-2  # share by which coefficients may still grow when f has settled, after SETTLING_STEPS steps
SETTLING_STEPS = 10
# Wolfe's constants; the last where a direction's length is not trusted
SUFFICIENT_DECREASE, WOLFE_CURVATURE, TIGHT_WOLFE_CURVATURE = 1e-4, 0.9, 0.1


class NotFiniteError(ArithmeticError):
    """The function or its gradient is NaN or infinite where a number is needed."""


class _BottomlessError(Exception):
    def __init__(self, at: State) -> None:
        self.at = at


@dataclass(frozen=True)
class Step:
    """A direction, and whether the model behind it can be trusted: its length, and the decrement as what is left.

    ``left`` is what is left to gain where d itself does not tell.
    """

    d: Vector
    trusted: bool = True
    convex: bool = True
    left: float = 0.0


def minimise(problem: SmoothProblem, z: Vector, within: FeasibleSet | None = None, eps: float = EPS) -> Fit:
    """A minimiser near z (the minimiser, if f is convex); ``eps`` is the precision in which f is computed."""
    state = problem.at(z)
    if state.value == np.inf:
        return Fit(state, np.inf, False, "the function is infinite where the refit begins")
    if not state.finite:
        raise NotFiniteError(f"the function is {state.value} or its gradient is not finite where a refit begins")
    if len(z) == 0:
        return Fit(state, state.value, lower_bound=state.value)
    try:
        with np.errstate(all="ignore"):  # a step that overflows is a step that is not taken
            descent = _Descent(problem, within, eps, state)
            fit = descent.run()
            if descent.turn >= MAX_NEWTON_STEPS and not descent.quasi and problem.convex and problem.bottom == -np.inf:
                fit = _another_way(problem, within, eps, fit)
            return fit
    except _BottomlessError as far:
        note = "the function falls without bound on the chosen coordinates, so no minimiser exists"
        return Fit(far.at, -np.inf, False, note, False)


def _another_way(problem: SmoothProblem, within: FeasibleSet | None, eps: float, fit: Fit) -> Fit:
    """Where Newton's steps ran out: L-BFGS goes on, and Newton's decrement tells whether it came to the minimum."""
    if within is None:
        further = _Descent(problem, None, eps, fit.at, quasi=True).run()
        fit = further if further.value <= fit.value else fit
    return _Descent(problem, within, eps, problem.at(fit.z)).run()


class _Descent:
    """One minimisation: where it is, where it began, and what its direction remembers."""

    def __init__(
        self, problem: SmoothProblem, within: FeasibleSet | None, eps: float, state: State, quasi: bool = False
    ) -> None:
        self.problem, self.within, self.eps, self.state, self.first = problem, within, eps, state, state.value
        self.most = np.inf if within is None else 1.0
        self.pairs = deque[tuple[Vector, Vector, float]](maxlen=LBFGS_PAIRS)
        self.damp = 0.0 if within is not None else DAMPING_SHARE
        self.turn, self.steepest = 0, _norm(state.gradient)
        self.products = not quasi and within is None and state.hessian is None and problem.product(state) is not None
        self.quasi = quasi or (within is None and state.hessian is None and not self.products)
        self.spent, self.weakest, self.strongest = 0, 0.0, 0.0  # products with the Hessian, and its curvatures seen

    def _step(self) -> Step:
        if self.within is not None:
            return self._boxed()
        if self.quasi:
            return self._quasi_newton()
        return self._conjugate_gradients() if self.products else self._newton()

    @property
    def scale(self) -> float:
        """What is negligible is so beside this: the height of f, or how far it has fallen."""
        value, lower = self.state.value, self.problem.lower
        height = abs(value) if lower == -np.inf else value - lower
        if self.problem.bottom > -np.inf:
            return height
        fallen = MIN_FALL_SHARE * abs(value) if self.problem.steep and lower > -np.inf else abs(self.first - value)
        return max(height, fallen)

    def run(self) -> Fit:
        steps = MAX_QUASI_NEWTON_STEPS if self.quasi else MAX_NEWTON_STEPS
        while self.turn < steps:
            check_time()
            state = self.state
            if state.value <= self.problem.bottom:
                return Fit(
                    state, state.value, note=self.problem.endless, minimiser=False, lower_bound=self.problem.lower
                )
            if _norm(state.gradient) == 0.0 and (self.quasi or self.problem.convex):
                return Fit(state, state.value, lower_bound=state.value)
            step = self._step()
            decrement = max(-float(state.gradient @ step.d), step.left)
            if self._settled(step, decrement):
                return self._finish(step, decrement)
            if self.spent > self.problem.patience:
                note = f"the refit stopped after {self.spent} products with the Hessian"
                return Fit(state, state.value, False, note, lower_bound=self.problem.lower)
            ahead = self._search(step, decrement)
            if ahead is None:
                if self.quasi and self.pairs and decrement > 1e4 * self.eps * self.scale:
                    self.pairs.clear()  # once more along the gradient
                    self.turn += 1
                    continue
                return self._stuck(step, decrement)
            if self.quasi:
                self._remember(ahead)
            self.state, self.turn = ahead, self.turn + 1
        note = f"the refit stopped after {steps} {'quasi-' if self.quasi else ''}Newton steps"
        if self.problem.bottom > -np.inf:
            note += ": some coefficients grow without end, so there may be no finite minimiser (set l2 > 0)"
        return Fit(self.state, self.state.value, False, note, self.problem.bottom == -np.inf)

    # descents

    def _newton(self) -> Step:
        assert self.state.hessian is not None
        H, g = self.state.hessian(), self.state.gradient
        if not self.problem.convex:
            return _around(H, g)
        factor = Factor(H, quick=True)
        if factor.rcond > SINGULAR_PIVOTS:
            return Step(-factor.solve(g))
        bound = self.problem.curve()  # what is missing (dependent columns, flat stretches of a loss) is lent
        if bound is not None:
            H = H + self.damp * bound
            factor = Factor(H, quick=True)
            if factor.rcond > SINGULAR_PIVOTS:
                return Step(-factor.solve(g), trusted=False)
        d = -pseudo_solve(H, g)
        return Step(d if d.any() else -g, trusted=False)

    def _boxed(self) -> Step:
        assert self.within is not None
        assert self.state.hessian is not None
        within, z, H = self.within, self.state.z, self.state.hessian()
        H = H if self.problem.convex else absolute(H)
        if self.damp:
            H = H + self.damp * np.diag(np.maximum(H.diagonal(), 1e-3 * H.diagonal().max()))
        t = 0.0 if within.a is None else within.t - float(within.a @ z)
        d = box_qp(H, self.state.gradient, within.low - z, within.high - z, within.a, t, within.sides(z)).d
        return Step(np.clip(z + d, within.low, within.high) - z)

    def _conjugate_gradients(self) -> Step:
        """Newton's direction, roughly far from the minimiser; of a quadratic, to within CG_TOLERANCE.

        In coordinates in which H_jj is 1, where these are known. The curvatures of f come with it (Lanczos), and so
        does what is left to gain where the gradient is next to nothing: at most ||g||^2 over the weakest of them.
        """
        s = self._evening()
        r, z = -s * self.state.gradient, self.state.z / s
        d, v, rr = np.zeros_like(r), r.copy(), float(r @ r)
        if self.weakest > 0 and 2 * rr / self.weakest <= CONVERGED_ROUNDINGS * self.eps * self.scale:
            return Step(s * r / self.strongest, left=2 * rr / self.weakest)
        apply = self.problem.product(self.state)
        assert apply is not None
        rough = rr * 1e-4 * min(1.0, np.sqrt(rr) / max(self.steepest, 1e-300))
        seen, turns = np.inf, list[tuple[float, float]]()
        for _ in range(min(500, 2 * len(r))):
            check_time()
            if self.spent > self.problem.patience:
                break
            Hv = s * apply(s * v)
            self.spent += 1
            curve, size = float(v @ Hv), float(v @ v)
            if curve <= 1e-300:
                break
            seen = min(seen, curve / size)
            t = rr / curve
            d += t * v
            r = r - t * Hv
            rr, before = float(r @ r), rr
            turns.append((t, rr / before))
            if rr <= ((CG_TOLERANCE * seen * _norm(z + d)) ** 2 if self.problem.quadratic else rough):
                break
            v = r + (rr / before) * v
        self.weakest, self.strongest = _curvatures(turns)
        if not d.any():
            return Step(-self.state.gradient, trusted=False)
        d = s * d
        return Step(d, left=-float(self.state.gradient @ d) + (rr / self.weakest if self.weakest > 0 else np.inf))

    def _evening(self) -> Any:
        """Scales of the variables in which H_jj is 1; the number 1 where H_jj is not known."""
        diagonal = self.problem.diagonal(self.state)
        return 1.0 if diagonal is None else 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))

    def _quasi_newton(self) -> Step:
        g = self.state.gradient
        if not self.pairs:
            return Step(-self._first_step() * g, trusted=False)
        return Step(_two_loops(self.pairs, g))

    def _first_step(self) -> float:
        """The gradient's squared norm over the curvature along it."""
        g, z = self.state.gradient, self.state.z
        size = _norm(g)
        h = 1e-6 * max(1.0, _norm(z)) / size
        ahead = self.problem.at(z - h * g, hessian=False)
        curve = float(g @ (g - ahead.gradient)) / h if ahead.finite and h > 0 else 0.0  # 0: the gradient has overflowed
        return size**2 / curve if curve > 1e-12 * size**2 else 1.0 / max(1.0, size)

    def _remember(self, ahead: State) -> None:
        s, y = ahead.z - self.state.z, ahead.gradient - self.state.gradient
        sy = float(s @ y)
        if sy > self.eps * _norm(s) * _norm(y):
            self.pairs.append((s, y, sy))

    # the search

    def _search(self, step: Step, decrement: float) -> State | None:
        """The state at a step along the direction that is neither too long nor too short; None where nothing falls."""
        problem, state, d = self.problem, self.state, step.d
        slope, noise = min(-decrement, 0.0), self.eps * self.scale
        if step.trusted and problem.convex and not self.quasi:  # mostly the whole step will do
            ahead = problem.at(self._moved(1.0, d))
            if ahead.finite and ahead.value <= state.value + SUFFICIENT_DECREASE * slope:
                self._adapt(1.0, step)
                return ahead
        t, ahead_or_none = _wolfe(
            problem.line(state, d),
            state,
            slope,
            noise,
            self.most,
            TIGHT_WOLFE_CURVATURE if problem.convex else WOLFE_CURVATURE,
        )
        self._adapt(t, step)
        if t == 0.0:
            return None
        ahead = problem.at(self._moved(t, d)) if ahead_or_none is None or self.within else ahead_or_none
        return ahead if ahead.finite and ahead.value <= state.value + 4 * noise else None

    def _moved(self, t: float, d: Vector) -> Vector:
        z = self.state.z + t * d
        return z if self.within is None else np.clip(z, self.within.low, self.within.high)

    def _adapt(self, t: float, step: Step) -> None:
        """Lend more where the model promised too much, less where it held."""
        if self.within is not None:
            self.damp = max(10 * self.damp, 1e-6) if t < 0.2 else (0.1 * self.damp if self.damp > 1e-9 else 0.0)
        elif not step.trusted:
            self.damp = min(10 * self.damp, 1.0) if t < 0.1 else max(0.1 * self.damp, 1e-8) if t >= 1 else self.damp

    # the end

    def _settled(self, step: Step, decrement: float) -> bool:
        if self.quasi:
            return bool(self.pairs) and decrement <= self.eps * self.scale
        return (
            step.convex
            and decrement <= (CONVERGED_ROUNDINGS * self.eps if step.trusted else FLAT_DECREMENT) * self.scale
        )

    def _finish(self, step: Step, decrement: float) -> Fit:
        """One last step, for free digits; and whether the coefficients have settled as the value has."""
        state, end = self.state, self.state
        if self.products:  # digits are not free
            return Fit(
                end, end.value, lower_bound=self.problem.lower
            )  # the weakest curvature that was seen bounds nothing
        ahead = self.problem.at(self._moved(1.0, step.d), hessian=False)
        shorter = ahead.finite and _norm(ahead.gradient) <= _norm(state.gradient)
        if ahead.finite and ahead.value <= state.value + (4 * self.eps * self.scale if shorter else 0.0):
            end = ahead
        least = end.value - max(decrement, CONVERGED_ROUNDINGS * self.eps * self.scale)
        if not step.trusted:  # a decrement with a stand-in for the curvature knows no ridge far below it
            least -= self.problem.penalty_at(end.z)
        grown = _norm(end.z) > (1 + MAX_SETTLED_GROWTH) * _norm(state.z)
        if not self.problem.convex and self.turn >= SETTLING_STEPS and grown:
            note = "the value has settled but coefficients still grow, so there may be no finite minimiser"
            return Fit(end, end.value, True, note, False)
        return Fit(end, end.value, lower_bound=least)

    def _stuck(self, step: Step, decrement: float) -> Fit:
        state = self.state
        few_digits = max(MAX_STALLED_GAP if self.problem.convex else 1e-9, 1e5 * self.eps)
        if step.convex and decrement <= few_digits * self.scale * (1.0 if step.trusted else 1e-6):
            return Fit(state, state.value, lower_bound=state.value - max(decrement, few_digits * self.scale))
        if not self.problem.convex:
            if decrement <= few_digits * self.scale:  # all the digits there are
                return Fit(state, state.value)
            note = "the value falls no further although the gradient says so (check the gradient)"
            return Fit(state, state.value, False, f"the refit stopped where {note}")
        note = f"the refit stopped where no step helps, up to {decrement:.1e} above the minimum"
        return Fit(state, state.value, False, note, lower_bound=self.problem.lower)


def _curvatures(turns: list[tuple[float, float]]) -> tuple[float, float]:
    """The smallest and the largest curvature that conjugate gradients met; zeros where there are none.

    The steps and the shares of the squared residual that each left make a tridiagonal matrix with these eigenvalues.
    """
    if not turns:
        return 0.0, 0.0
    t, beta = np.array(turns).T
    diagonal = 1.0 / t
    diagonal[1:] += beta[:-1] / t[:-1]
    beside = np.sqrt(beta[:-1]) / t[:-1]
    if not (np.isfinite(diagonal).all() and np.isfinite(beside).all()):
        return 0.0, 0.0
    values = eigvalsh_tridiagonal(diagonal, beside)
    return float(max(values[0], 0.0)), float(values[-1])


def _around(H: Matrix, g: Vector) -> Step:
    """-|H|^-1 g, and whether H is positive (semi)definite; at a saddle, downhill along its lowest curvature."""
    if not np.isfinite(H).all():
        raise NotFiniteError("the Hessian is NaN or infinite on the chosen coordinates")
    factor = Factor(H)
    if factor.rcond > SINGULAR_PIVOTS:
        return Step(-factor.solve(g))
    values, vectors = np.linalg.eigh(0.5 * (H + H.T))
    size, along = np.abs(values), vectors.T @ g
    top = float(size.max())
    if top == 0.0:
        return Step(-g, convex=False)
    convex = bool(values[0] > -1e-9 * top)
    keep = size > 1e-12 * top if convex else size > 0
    d = -(vectors[:, keep] @ (along[keep] / np.maximum(size[keep], 1e-9 * top if not convex else 0.0)))
    if not convex:  # also where the gradient does not see it: at a saddle it vanishes
        sign = -1.0 if along[0] > 0 else 1.0
        d += sign * max(_norm(d), 1.0) * vectors[:, 0]
    elif not keep.all() and float(np.abs(along[~keep]).max()) > 1e-6 * float(np.abs(along).max()):
        d -= vectors[:, ~keep] @ along[~keep]  # no curvature at all, but a slope
        convex = False
    return Step(d, convex=convex)


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


def _wolfe(
    line: Line, begin: State, slope: float, noise: float, most: float, steep: float
) -> tuple[float, State | None]:
    """A step t up to ``most`` with a slope no steeper than ``steep`` times the first, and the state there if known."""
    low, high, t, stretch = 0.0, np.inf, 1.0, 4.0
    best: tuple[float, State | None] = (0.0, None)
    least, seen = begin.value + 4 * noise, False
    for _ in range(70):
        check_time()
        value, ahead, state = line(t)
        if value == -np.inf or begin.value - value > UNBOUNDED_FALL * max(1.0, abs(begin.value)):
            raise _BottomlessError(best[1] if best[1] is not None and value == -np.inf else state or begin)
        finite = bool(np.isfinite(value) and np.isfinite(ahead))
        seen = seen or finite
        fell = finite and (
            value < begin.value + SUFFICIENT_DECREASE * t * slope
            or (value <= begin.value + 4 * noise and abs(ahead) <= 0.9998 * abs(slope))
        )
        if fell and value <= least:
            best, least = (t, state), value
        if not fell:
            high = t
        elif t >= most:
            return t, state
        elif ahead < steep * slope or (slope == 0.0 and ahead < 0.0):
            low = t
        elif steep < WOLFE_CURVATURE and ahead > -steep * slope:
            high = t
        else:
            return t, state
        if high == np.inf:
            t, stretch = min(t * stretch, most), min(stretch**2, 1e4)
        else:
            t = np.sqrt(low * high) if low > 0 and high > 10 * low else 0.5 * (low + high)
    if not seen:
        raise NotFiniteError("the function or its gradient became NaN or infinite in a refit, however short the step")
    return best


def _norm(v: Vector) -> float:
    return float(np.linalg.norm(v))
