"""Step sizes. None of them has a constant that a user must tune.

The step 1/M of the papers needs M, the largest curvature over sparse directions, which is not known. Two curvatures are
cheap, and a safeguard in the solver (accept when f falls, else the next step) does the rest. With v the gradient on the
support and on the k best coordinates outside, H the Hessian at the point:

    restricted   v'v / v'Hv                 for a move along all of v at once (IHT)
    natural      v'v / sum_j v_j^2 H_jj     for v's coordinates one by one: it weighs an exchange (GraHTP)

After a natural step the ladder halves; where no step on it changes the support, it stretches to the first that does.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._utils.types import Columns, Vector
from .._utils.validation import check_number, format_list
from ..constraints import AtMost
from ..objectives.base import Objective, Point
from ..refits.factor import newton_direction
from ..sparse_eigenvalues import hessian_at, hessian_bound, largest

MAX_HALVINGS = 12  # how often a safeguarded step is halved before the solver gives up on it
MAX_NATURAL_HALVINGS = 4  # how often the natural step is halved
AVERAGED_COORDINATES = 16  # coordinates of largest gradient whose curvatures are averaged
PAPER = "paper"  # the constant step of the GraHTP paper, by name
MAX_STRETCH = 16.0  # how far beyond the natural step the first change of support may lie


def restricted_step(f: Objective, constraint: AtMost, point: Point) -> float:
    """1 / (curvature of f along its gradient on the support; at the start, on the k best coordinates)."""
    cols = point.support if np.any(point.gradient[point.support]) else constraint.top(point.gradient)
    v = _unit(point.gradient[cols])
    return _inverse(f.curvature(point, cols, v))


def natural_steps(f: Objective, constraint: AtMost, point: Point) -> Iterator[float]:
    """1 / (mean curvature of the k best coordinates), its halves, and last the first step that changes the support."""
    cols = constraint.top(point.gradient, min(constraint.k, AVERAGED_COORDINATES))
    v = _unit(point.gradient[cols])
    step = _inverse(f.mean_curvature(point, cols, v))
    for halvings in range(MAX_NATURAL_HALVINGS):
        yield step / 2**halvings
    change = constraint.first_change(point.support, point.x, point.gradient)
    if step < change <= MAX_STRETCH * step:
        yield change * (1 + 1e-9)


def thresholding_step(
    f: Objective,
    constraint: AtMost,
    point: Point,
    step: float | None,
    threshold: Callable[[Vector], Columns],
    refit: Callable[[Columns, Vector], Point],
) -> Point | None:
    """The next point of hard thresholding pursuit, or None where no step gives a new support (and a lower value).

    ``z = x - step * gradient``, then ``refit(threshold(z), z)``: with a constant step whatever it gives, without one
    the first of the natural steps that lowers f.
    """
    support = point.support
    for length in natural_steps(f, constraint, point) if step is None else (step,):
        z = point.x - length * point.gradient
        previous, support = support, threshold(z)
        if np.array_equal(support, point.support) or np.array_equal(support, previous):
            continue
        trial = refit(support, z)
        if step is not None or trial.value < point.value:
            return trial
    return None


def newton_step(f: Objective, point: Point, cols: Columns, kappa: float | None = None) -> Point:
    """One Newton step of f on columns that hold the point's support, of length ``kappa`` or halved until f falls."""
    d = newton_direction(f.hessian_rows(point, cols, cols), point.gradient[cols])
    if kappa is not None:
        return f.at(cols, point.x[cols] + kappa * d)
    return _along(f, point, cols, d, 1.0)


def gradient_step(f: Objective, point: Point, cols: Columns) -> Point:
    """One gradient step of f on columns that hold the point's support, 1/curvature long, halved until f falls."""
    g = point.gradient[cols]
    return _along(f, point, cols, -g, _inverse(f.curvature(point, cols, _unit(g))))


def _along(f: Objective, point: Point, cols: Columns, d: Vector, step: float) -> Point:
    x = point.x[cols]
    for halvings in range(MAX_HALVINGS):
        trial = f.at(cols, x + step / 2**halvings * d)
        if trial.value < point.value:
            return trial
    return point


def check_step(step: Any, words: tuple[str, ...] = ()) -> None:
    """A constant step must be positive; some solvers know steps by name."""
    if isinstance(step, str) and words:
        if step not in words:
            raise ValueError(f"step must be a positive number or one of {format_list(map(repr, words))}, got {step!r}")
    elif step is not None:
        check_number(step, "step", strict=True)


def constant_step(f: Objective, constraint: AtMost, start: Point, step: Any) -> float | None:
    """The constant step of a run: a number, "paper" for 1/(2 M_2k) (GraHTP, Theorem 8), None where there is none.

    M_2k is the largest 2k-sparse eigenvalue that the truncated power method finds, of the bound of f's Hessians where
    the loss has one, else of the Hessian at the start.
    """
    if step != PAPER:
        return None if step is None else float(step)
    H = hessian_bound(f) or hessian_at(f, start)
    size = 2 * len(constraint.columns_of(constraint.allowed[: constraint.k]))
    M = largest(H, min(size, H.dim), np.random.default_rng(0)).value
    return _inverse(2.0 * M)


def _unit(v: Vector) -> Vector:
    norm = float(np.linalg.norm(v))
    return v / norm if norm > 0 else v


def _inverse(curve: float) -> float:
    return 1.0 / curve if curve > 1e-300 else 1.0
