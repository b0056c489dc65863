"""The hinge over a few columns: Newton on the hinge rounded less and less, or dual coordinate descent.

| method | when | cost |
|---|---|---|
| the path of rounded hinges in one kernel call | small, and its gap closes | some 30 steps of n m flops |
| the same by ``refit``, in orthonormal coordinates | n m^2 up to ``MAX_NEWTON_WORK``, or no dense copy | 8 refits |
| dual coordinate descent | else | epochs of n m flops |

All end with dual variables alpha in [0, 1]; the value is the hinge's own. ``least`` is the dual value at alpha, made
feasible, so that it is a bound whatever the iteration did; a gap above ``MAX_SILENT_GAP`` is said.
"""

from dataclasses import replace

import numpy as np

from .. import _core
from .._utils.types import Intercept, Vector
from ..designs.blocks import DenseBlock
from ..designs.rows import Rows
from ..engines import check_time
from ..losses.hinges import SmoothedHinge
from .columns import MAX_DENSE_COPY, Fitted, LossOnColumns
from .methods import coordinates, refit

MAX_NEWTON_WORK = 5e8  # n m^2 up to which Newton's method is used
MAX_KERNEL_WORK = 2e6  # n m^2 up to which one kernel call does it all
KERNEL_DECREMENT = 1e-12  # Newton decrement, relative to the value, at which that kernel is done
CLOSED_GAP = 1e-7  # gap, relative to the value, that it must close
EPOCH_FLOPS = 1e8  # flops between two looks at the clock
# limits: epochs in a round, rounds (moves of b), and what counts as none
MAX_EPOCHS, MAX_INTERCEPT_MOVES, MIN_INTERCEPT_MOVE = 2000, 200, 1e-9
MAX_SILENT_GAP = 1e-6  # duality gap, relative to the value, that is worth a sentence
SMOOTHING_WIDTHS = 10.0 ** -np.arange(8)  # widths over which the kink is rounded, one after the other
KERNEL_SMOOTHING_WIDTHS = 10.0 ** -np.array(
    [1.0, 2.0, 3.0, 5.0, 7.0]
)  # the same in the kernel, whose search can take longer steps


def hinge(problem: LossOnColumns) -> Fitted:
    """The minimiser over (coefficients, intercept), with its dual."""
    rows, n, m = problem.rows, len(problem.rows.y), problem.width
    if m == 0:
        return constant(problem)
    if n * m * m <= MAX_KERNEL_WORK:
        z, alpha, done = _core.rounded_hinge(
            problem.block.dense(),
            rows.samples(problem.loss),
            np.broadcast_to(problem.ridge, m),
            problem.intercept,
            np.zeros(m + problem.intercept),
            KERNEL_SMOOTHING_WIDTHS,
            KERNEL_DECREMENT,
        )
        quick = _certified(problem, alpha, *problem.split(z)) if done else None
        if quick is not None and quick.value - quick.lower_bound <= CLOSED_GAP * quick.value:
            return quick
    by_newton = (
        n * m * m <= MAX_NEWTON_WORK or n * m > MAX_DENSE_COPY
    )  # the latter without any dense copy of the columns
    return _certified(problem, *(rounded(problem) if by_newton else coordinate_descent(problem)))


def _certified(problem: LossOnColumns, alpha: Vector, coef: Vector, b: Intercept) -> Fitted:
    """Coefficients with the best intercept for them, and what the dual variables say of them."""
    rows = problem.rows
    if problem.intercept:
        b = best_threshold(rows, rows.shift(problem.block.matvec(coef), 0.0))
    value = problem.at(problem.join(coef, b), hessian=False).value
    least = min(dual_value(problem, alpha), value)
    gap = value - least
    note = f"the refit stopped at a duality gap of {gap:.1e}" if gap > MAX_SILENT_GAP * value else ""
    return Fitted(coef.copy(), b, value, least, note, dual=-rows.y * alpha)


def dual_value(problem: LossOnColumns, alpha: Vector) -> float:
    """D at the nearest feasible dual variables: a lower bound."""
    rows = problem.rows
    a = -rows.y * alpha
    if problem.intercept:
        low, high = problem.loss.dual_domain(rows.y)
        a = _core.balanced(a, rows.c, low, high, 0.0)
        if abs(float(rows.c @ a)) > 1e-12 * float(rows.c @ np.abs(a)):
            return problem.lower
    slope = problem.block.rmatvec(rows.c * a)
    charge = 0.5 * float(np.sum(slope * slope / problem.ridge))
    drift = 0.0 if rows.offset is None else float((rows.c * a) @ rows.offset)
    return drift - float(rows.c @ np.where(rows.c > 0, problem.loss.conjugate(rows.y, a), 0.0)) - charge


def rounded(problem: LossOnColumns) -> tuple[Vector, Vector, Intercept]:
    """The path of smoothed hinges to the hinge; at its end alpha = clip((1 - y eta) / gamma)."""
    rows, smooth = problem.rows, replace(problem, loss=SmoothedHinge(1.0))
    z = np.zeros(problem.width + problem.intercept)
    stored = problem.columns()
    room = None if stored is None else coordinates(smooth, stored, z)
    there = smooth if room is None else replace(smooth, block=DenseBlock(room.Q), ridge=room.ridge, stored=None)
    z = np.zeros(there.width + problem.intercept)
    for gamma in SMOOTHING_WIDTHS:
        v, b = there.split(z)
        fit = refit(replace(there, loss=SmoothedHinge(gamma)), v, b)
        z = there.join(fit.coef, fit.b)
    alpha = np.clip((1 - rows.y * there.eta(z)) / gamma, 0.0, 1.0)
    if room is None or stored is None:
        return alpha, fit.coef, fit.b
    scale = np.where(np.isfinite(stored.s), stored.s, 0.0)
    return alpha, scale * room.outward(fit.coef), 0.0


def coordinate_descent(problem: LossOnColumns) -> tuple[Vector, Vector, Intercept]:
    """Dual coordinate descent; the intercept by proximal steps, so that sum_i c_i y_i alpha_i ends at zero."""
    rows, l2 = problem.rows, float(np.min(problem.ridge, initial=np.inf))
    scale = np.sqrt(l2 / problem.ridge) * np.ones(problem.width)  # columns so scaled have one l2
    samples = np.asfortranarray(problem.block.dense().T * scale[:, None])
    alpha, b, rho = np.full(len(rows.y), 0.5), 0.0, max(l2, 1e-3) if problem.intercept else 1e30
    some = int(np.clip(EPOCH_FLOPS / samples.size, 1, MAX_EPOCHS))
    for turn in range(MAX_INTERCEPT_MOVES):
        epochs = 0
        while epochs < MAX_EPOCHS:
            check_time()
            alpha, coef, ahead, used = _core.hinge_dual(
                samples,
                rows.samples(problem.loss),
                l2,
                rho,
                b,
                alpha,
                MIN_INTERCEPT_MOVE,
                some,
                turn + MAX_INTERCEPT_MOVES * epochs,
            )
            epochs += used
            if used < some:
                break
        moved, b = abs(ahead - b) * rho if problem.intercept else 0.0, ahead
        if moved <= MIN_INTERCEPT_MOVE and (epochs < MAX_EPOCHS or turn >= 10):
            break
    return alpha, coef * scale, b if problem.intercept else 0.0


def constant(problem: LossOnColumns) -> Fitted:
    """The hinge model without features, and of its many duals the even one: samples at the kink share alike."""
    rows = problem.rows
    eta = rows.shift(np.zeros(len(rows.y)), 0.0)
    b = best_threshold(rows, eta) if problem.intercept else 0.0
    short = 1.0 - rows.y * (eta + b)
    kink = np.abs(short) <= 1e-12
    alpha = (short > 0).astype(float)
    alpha[kink] = 0.0
    shared = float((rows.c * rows.y)[kink].sum())
    if problem.intercept and shared != 0:
        alpha[kink] = np.clip(-float(rows.c * rows.y @ alpha) / shared, 0.0, 1.0)
    value = float(rows.c @ np.maximum(0.0, short))
    return Fitted(np.empty(0), b, value, value, dual=-rows.y * alpha)


def best_threshold(rows: Rows, eta: Vector) -> float:
    """The b that minimises sum_i c_i max(0, 1 - y_i (eta_i + b)); the middle where a whole interval does.

    The slope in b starts at -sum of the positive class and rises by c_i at each kink b_i = y_i - eta_i.
    """
    kinks = rows.y - eta
    order = np.argsort(kinks)
    kinks, slope = kinks[order], np.cumsum(rows.c[order]) - float(rows.c[rows.y > 0].sum())
    left = min(int(np.searchsorted(slope, -1e-12)), len(kinks) - 1)
    right = min(int(np.searchsorted(slope, 1e-12)), len(kinks) - 1)
    return float(0.5 * (kinks[left] + kinks[right]))
