"""How good are the answers: against abess, enumeration and a planted support: ``python benchmarks/quality.py``.

Seeded instances; rows are AR(1) with unit variance. Every support is judged by ``problems.objective``. Where time is
compared, contenders take turns and the fastest turn counts. ``--quick`` takes a tenth of the instances.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from machine import BUSY, facts
from peers import Fit, abess, sklearn_omp, solver
from rich.console import Console
from run import show_lines, timed
from scipy.signal import lfilter
from scipy.special import expit
from verdict import Line, line

from problems import LINEAR, Data, Problem, objective

SETTINGS = [(rho, snr) for rho in (0.5, 0.9) for snr in (1.0, 5.0)]
SAME = 1e-9


def ar(rng: np.random.Generator, n: int, p: int, rho: float) -> np.ndarray:
    noise = rng.standard_normal((n, p))
    noise[:, 1:] *= np.sqrt(1 - rho**2)
    return lfilter([1.0], [1.0, -rho], noise, axis=1)


def random_instance(kind: str, n: int, p: int, k: int, rho: float, snr: float, seed: int) -> Data:
    """k coefficients of size 1..2, random signs and places; logistic: halved, and no SNR."""
    rng = np.random.default_rng([seed, n, p, k, round(10 * rho), round(snr)])
    X = ar(rng, n, p, rho)
    planted = np.sort(rng.choice(p, k, replace=False))
    signal = X[:, planted] @ (rng.uniform(1, 2, k) * rng.choice([-1.0, 1.0], k))
    if kind == "logistic":
        return Data(X, (rng.random(n) < expit(signal / 2)).astype(float), planted)
    return Data(X, signal + rng.normal(0, np.sqrt(signal.var() / snr), n), planted)


def spaced_instance(n: int, p: int, k: int, rho: float, snr: float, seed: int) -> Data:
    """Coefficients 1 at equal spacing."""
    rng = np.random.default_rng([seed, n, p, k])
    X = ar(rng, n, p, rho)
    planted = np.arange(k) * (p // k)
    signal = X[:, planted].sum(axis=1)
    return Data(X, signal + rng.normal(0, np.sqrt(signal.var() / snr), n), planted)


def instances(kind: str, n: int, p: int, k: int, count: int) -> Iterator[Data]:
    settings = SETTINGS if kind == "linear" else [(rho, 0.0) for rho in (0.5, 0.9)]
    for seed in range(count):
        yield random_instance(kind, n, p, k, *settings[seed % len(settings)], seed)


def against_abess(kind: str, n: int, p: int, k: int, count: int, better: float | None) -> list[Line]:
    """The share of instances on which auto is no worse than abess, and strictly better."""
    problem = Problem(kind, n, p, k, "quality")
    name = f"{kind} n={n} p={p} k={k}, {count} instances: auto"
    if importlib.util.find_spec("abess") is None:
        return [(f"{name} against abess", "", "abess is not installed", "-")]
    excess, seconds = [], np.zeros(2)
    for data in instances(kind, n, p, k, count):
        values = []
        for place, contender in enumerate((solver("auto"), abess)):
            spent, support = timed(contender(problem, data))
            seconds[place] += spent
            values.append(objective(kind, data, support))
        excess.append(values[0] / values[1] - 1)
    share, strict = np.mean(np.array(excess) <= SAME), np.mean(np.array(excess) < -SAME)
    wanted = "reported" if better is None else f">= {better:.0%}"
    spent = f"{1e3 * seconds[0] / count:.2f} against {1e3 * seconds[1] / count:.2f}"
    return [
        line(f"{name} no worse than abess", ">= 99%", f"{share:.1%} (worst {max(excess):+.1e})", share >= 0.99),
        line(f"{name} strictly better", wanted, f"{strict:.1%}", better is None or strict >= better),
        (f"{name} and abess, ms per instance", "reported", spent, "-"),
    ]


def enumerate_all(data: Data, k: int) -> float:
    """The best objective over all supports of k columns (linear, with intercept), from the Gram matrix."""
    X, y = data.X - data.X.mean(0), data.y - data.y.mean()
    sets = np.array(list(combinations(range(X.shape[1]), k)))
    G, b = X.T @ X, X.T @ y
    coef = np.linalg.solve(G[sets[:, :, None], sets[:, None, :]], b[sets][:, :, None])[:, :, 0]
    return objective("linear", data, sets[np.argmax((b[sets] * coef).sum(axis=1))])


def against_enumeration(n: int, p: int, k: int, count: int) -> list[Line]:
    problem = Problem("linear", n, p, k, "quality")
    optimal = {"auto": 0, "local_search": 0}
    for data in instances("linear", n, p, k, count):
        best = enumerate_all(data, k)
        for name in optimal:
            value = objective("linear", data, solver(name)(problem, data)())
            if value < best * (1 - SAME):
                raise AssertionError("a support better than all supports: the enumeration is wrong")
            optimal[name] += value <= best * (1 + SAME)
    return [
        line(
            f"linear n={n} p={p} k={k}, {count} instances: {name} finds the enumerated optimum",
            f">= {least:.0%}",
            f"{optimal[name] / count:.1%}",
            optimal[name] >= least * count,
        )
        for name, least in (("auto", 0.98), ("local_search", 0.95))
    ]


def best_turns(calls: dict[str, Fit], turns: int) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """Fastest of so many interleaved turns, after a first that does not count; and the supports."""
    supports = {name: call() for name, call in calls.items()}
    seconds = dict.fromkeys(calls, np.inf)
    for _ in range(turns):
        for name, call in calls.items():
            seconds[name] = min(seconds[name], timed(call)[0])
    return seconds, supports


def search_after_grahtp(problem: Problem, turns: int) -> list[Line]:
    """local_search from GraHTP's point: on a fresh objective (judged), and on the one GraHTP has warmed."""
    from pursuit import GLM, solve

    data = problem.make(0)
    warm = GLM(data.X, data.y)
    point = solve(warm, problem.k, solver="grahtp")
    best = {"grahtp": np.inf, "search": np.inf, "search, warm": np.inf}
    for _ in range(turns):
        runs = {
            "grahtp": lambda: solve(GLM(data.X, data.y), problem.k, solver="grahtp").support,
            "search": lambda: solve(GLM(data.X, data.y), problem.k, solver="local_search", start=point).support,
        }
        for name, run in runs.items():
            best[name] = min(best[name], timed(run)[0])
        f = GLM(data.X, data.y)
        start = solve(f, problem.k, solver="grahtp")
        began = time.perf_counter()
        end = solve(f, problem.k, solver="local_search", start=start)
        best["search, warm"] = min(best["search, warm"], time.perf_counter() - began)
    cold, kept = best["search"] / best["grahtp"], best["search, warm"] / best["grahtp"]
    name = f"{problem.name}: local_search from the GraHTP point, times the GraHTP run"
    said = f"{cold:.2f} ({1e3 * best['search']:.1f} over {1e3 * best['grahtp']:.1f} ms)"
    return [
        line(f"{name}, fresh objective", "< 3", said, cold < 3),
        line(f"{name}, same objective", "< 3", f"{kept:.2f}", kept < 3),
        line(f"{problem.name}: the end of it", "swap_optimal", end.optimality, end.optimality == "swap_optimal"),
    ]


def hard_correlation(n: int, p: int, k: int, turns: int, seeds: int) -> list[Line]:
    """AR(0.9), ones at equal spacing, SNR 5: the planted residual, and the time of scikit-learn's OMP."""
    lines = []
    for seed in range(seeds):
        data = spaced_instance(n, p, k, 0.9, 5.0, seed)
        problem = Problem("linear", n, p, k, "quality")
        calls = {"auto": solver("auto")(problem, data), "OMP": sklearn_omp(problem, data)}
        seconds, supports = best_turns(calls, turns)
        planted = objective("linear", data, data.planted)
        over = {name: objective("linear", data, support) / planted - 1 for name, support in supports.items()}
        ratio = seconds["auto"] / seconds["OMP"]
        name = f"AR(0.9) n={n} p={p} k={k} seed {seed}"
        said = f"{over['auto']:+.2%} (OMP {over['OMP']:+.2%})"
        took = f"{ratio:.2f} ({1e3 * seconds['auto']:.0f} over {1e3 * seconds['OMP']:.0f} ms)"
        lines += [
            line(f"{name}: auto's residual over the planted one's", "<= 0", said, over["auto"] <= SAME),
            line(f"{name}: auto's time over sklearn OMP's", "<= 1.5", took, ratio <= 1.5),
        ]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the instances, small problems")
    parser.add_argument("--only", choices=["linear", "logistic", "enumeration", "search", "ar"], help="one figure")
    parser.add_argument("--turns", type=int, default=5, help="timed turns (default 5)")
    given = parser.parse_args()
    tenth, turns = (10, 1) if given.quick else (1, given.turns)
    large = {"search": LINEAR[2], "ar": (1000, 10000, 20)}
    if given.quick:
        large = {"search": LINEAR[0], "ar": (300, 1000, 10)}
    figures: dict[str, Callable[[], list[Line]]] = {
        "linear": lambda: against_abess("linear", 100, 300, 10, 200 // tenth, 0.75),
        "logistic": lambda: against_abess("logistic", 200, 300, 8, 100 // tenth, None),
        "enumeration": lambda: against_enumeration(100, 20, 4, 500 // tenth),
        "search": lambda: search_after_grahtp(large["search"], turns),
        "ar": lambda: hard_correlation(*large["ar"], turns, 1 if given.quick else 3),
    }
    console = Console(width=None if Console().is_terminal else 140, highlight=False)
    machine = facts()
    show_lines(console, "Machine", ("", ""), machine.items())
    busy = "; THE MACHINE WAS BUSY: no ratio of times is final" if BUSY in machine["load before the run"] else ""
    busy += "; QUICK: not the problems of the figures" if given.quick else ""
    for name, figure in figures.items():
        if given.only in (None, name):
            show_lines(console, f"Quality: {name}{busy}", ("figure", "wanted", "measured", ""), figure())


if __name__ == "__main__":
    main()
