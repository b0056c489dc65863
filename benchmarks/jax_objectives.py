"""A user's JAX function, ours against skscope's ScopeSolver: ``python benchmarks/jax_objectives.py``.

The same function, traced from the same float64 JAX arrays, linear and logistic, n=1000, p=5000, k=50 (AR(1), rho=.5,
SNR 5). First calls, which compile, are reported apart; then the two take turns and the fastest turn counts. What each
support is worth is computed by one neutral refit without intercept.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import pursuit
from problems import Data, Problem

jax.config.update("jax_enable_x64", True)  # skscope works in JAX's own precision; pursuit would not need it

REACH = 10.0  # times faster, with an objective no worse


def loss_of(problem: Problem, data: Data) -> Callable[[Any], Any]:
    X, y = jnp.asarray(data.X), jnp.asarray(data.y)

    def linear(x: Any) -> Any:
        return 0.5 * jnp.mean((y - X @ x) ** 2)

    def logistic(x: Any) -> Any:
        eta = X @ x
        return jnp.mean(jnp.logaddexp(0.0, eta) - y * eta)

    return linear if problem.kind == "linear" else logistic


def ours(problem: Problem, fun: Callable[[Any], Any], solver: str) -> Callable[[], np.ndarray]:
    made: list[Any] = []  # so that making the objective (the trace) belongs to the first call

    def fit() -> np.ndarray:
        if not made:
            made.append(pursuit.from_jax(fun, problem.p))
        return pursuit.solve(made[0], problem.k, solver=solver).support

    return fit


def skscope(problem: Problem, fun: Callable[[Any], Any]) -> Callable[[], np.ndarray]:
    from skscope import ScopeSolver

    return lambda: np.flatnonzero(ScopeSolver(problem.p, problem.k, problem.n).solve(fun, jit=True))


def timed(fit: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    time.sleep(0.05)
    began = time.perf_counter()
    support = fit()
    return time.perf_counter() - began, support


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3, help="timed calls after the first (default 3)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, nargs=3, default=(1000, 5000, 50), metavar=("N", "P", "K"))
    given = parser.parse_args()
    peer = importlib.util.find_spec("skscope") is not None
    print(f"{'problem':28}{'contender':20}{'first':>9}{'then':>9}{'objective':>13}{'faster':>9}")
    for kind in ("linear", "logistic"):
        problem = Problem(kind, *given.size, "jax")
        data = problem.make(given.seed)
        fun = loss_of(problem, data)
        fits = {f"pursuit {name}": ours(problem, fun, name) for name in ("grahtp", "auto")}
        if peer:
            fits["skscope scope"] = skscope(problem, fun)
        first = {name: timed(fit) for name, fit in fits.items()}
        then = {name: [] for name in fits}
        for _ in range(given.repeats):
            for name, fit in fits.items():
                then[name].append(timed(fit)[0])
        referee = pursuit.GLM(data.X, data.y, "squared" if kind == "linear" else "logistic", fit_intercept=False)
        worth = {name: referee.refit(np.asarray(support)).value for name, (_, support) in first.items()}
        for name in fits:
            ratio = min(then["skscope scope"]) / min(then[name]) if peer else np.nan
            print(
                f"{problem.name:28}{name:20}{first[name][0]:9.3f}{min(then[name]):9.3f}{worth[name]:13.6g}{ratio:8.1f}x",
                flush=True,
            )
        if peer:
            good = [n for n in fits if n.startswith("pursuit") and worth[n] <= worth["skscope scope"] * (1 + 1e-9)]
            best = max((min(then["skscope scope"]) / min(then[n]) for n in good), default=0.0)
            verdict = "reached" if best >= REACH else "missed"
            print(f"  {verdict}: {best:.1f}x with an objective no worse ({REACH:g}x wanted)")


if __name__ == "__main__":
    main()
