"""Floors: what a linear GraHTP, and a search that ends exchange-optimal, must cost at the speed of this machine.

    floor of GraHTP = gradients x (one pass over X) + refits x (n k^2 + k^3 / 3 flops) / (flops per second of dgemm)
    floor of a search = 2 x (one pass over X) + n p k / 2 multiply-adds at the rate of sgemm

Gradients are the iterates of the trace and the start; refits are the iterates. Rejected trials are not needed, so they
do not count. A search reads X for its moments and for a gradient, and half of the flops of k Gram rows prove that no
exchange helps. The pass is the faster of pursuit's kernel and NumPy's X.T @ d, on one thread or all. On a busy machine
a floor is measured too high, and the ratio to it looks better than it is.
"""

import time
from collections.abc import Callable
from functools import cache

import numpy as np
from threadpoolctl import threadpool_limits

from problems import Data, Problem


def best_of(call: Callable[[], object], repeats: int = 20, seconds: float = 0.5) -> float:
    """The fastest of ``repeats`` calls, fewer when they take longer than ``seconds`` together."""
    best, end = np.inf, time.perf_counter() + seconds
    for turn in range(repeats):
        began = time.perf_counter()
        call()
        now = time.perf_counter()
        best = min(best, now - began)
        if turn >= 2 and now > end:
            break
    return best


def passes(data: Data) -> tuple[Callable[[], object], ...]:
    """Ways to read X once: the race times them in turns with everyone else."""
    from pursuit import _core

    n = len(data.y)
    c, cols, coef = np.full(n, 1 / n), np.empty(0, np.int64), np.empty(0)

    X, samples = _core.Matrix(data.X), _core.Samples(data.y, c, None, 0, 0.0)

    def kernel() -> None:
        X.value_gradient(samples, cols, coef, 0.0)

    def alone() -> None:
        before = _core.set_threads(1)
        kernel()
        _core.set_threads(before)

    return kernel, alone, lambda: data.X.T @ data.y


@cache
def gemm_speed(m: int = 1000, single: bool = False) -> float:
    """Flops per second of a square product, in float64 or (``single``) float32."""
    A = np.random.default_rng(0).standard_normal((m, m), np.float32 if single else np.float64)
    together = best_of(lambda: A @ A, 50, 2.0)
    with threadpool_limits(1, "blas"):
        return 2 * m**3 / min(together, best_of(lambda: A @ A, 50, 2.0))


def floor(problem: Problem, data: Data, once: float) -> tuple[float, int]:
    """Seconds of the floor, given those of one pass, and the number of iterates."""
    from pursuit import GLM, solve

    turns = len(solve(GLM(data.X, data.y), problem.k, solver="grahtp").trace)
    flops = turns * (problem.n * problem.k**2 + problem.k**3 / 3)
    return (turns + 1) * once + flops / gemm_speed(), turns


def search_floor(problem: Problem, once: float) -> float:
    """Seconds below which no search can prove that no single exchange helps, given those of one pass."""
    flops = problem.k * problem.n * problem.p  # half as many multiply-adds, two flops each
    return 2 * once + flops / gemm_speed(single=True)
