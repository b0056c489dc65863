"""How often ``auto`` ends at the best known support: ``python benchmarks/search_quality.py --best-known``.

Fresh least squares problems of six kinds: n 120-500, p 300-1500, k from half to twice the truth, SNR 0.5-8. ``auto``
and abess take turns on one thread (processor time, the fastest turn counts). The best known value of a problem is the
least that any run has met: ``--best-known`` adds a thorough search of ``--seconds`` each, which also starts from the
planted columns and from abess's. These searches are kept in ``--best``, a file that later runs read, so that they need
not be repeated; what ``auto`` and abess find is in ``--out``. Both are written line by line: ``--resume`` goes on.
"""

import argparse
import inspect
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from machine import BUSY, facts
from resumable import Entry, Key, run
from rich.console import Console
from rich.table import Table
from run import show_lines
from scipy.signal import lfilter
from search_tables import contenders, take_turns
from verdict import Line, line

from problems import Data, objective

KINDS = ("AR", "factor", "block", "heavy-tailed", "binary", "near-duplicate")
SAME = 1e-9  # relative difference of values that counts as equal
RESULTS = Path(__file__).parent / "results"


def columns(rng: np.random.Generator, kind: str, n: int, p: int) -> np.ndarray:
    """Correlated columns of one kind."""
    X = rng.standard_normal((n, p))
    if kind == "AR":
        rho = rng.choice([0.5, 0.8, 0.95])
        X[:, 1:] *= np.sqrt(1 - rho**2)
        return lfilter([1.0], [1.0, -rho], X, axis=1)
    if kind == "factor":
        factors = int(rng.integers(1, 6))
        return X + rng.uniform(0.5, 2) * rng.standard_normal((n, factors)) @ rng.standard_normal((factors, p))
    if kind == "block":
        size = int(rng.integers(5, 30))
        return X + rng.uniform(0.7, 3) * np.repeat(rng.standard_normal((n, -(-p // size))), size, axis=1)[:, :p]
    if kind == "heavy-tailed":
        return rng.standard_t(3, (n, p)) + rng.uniform(0, 1) * rng.standard_t(3, (n, 1))
    if kind == "binary":
        shared = rng.uniform(0, 1) * rng.standard_normal((n, 1))
        return (X + shared > rng.uniform(-0.5, 2, p)).astype(float)
    half = p // 2
    X[:, half : 2 * half] = X[:, :half] + 10.0 ** rng.uniform(-2, -0.3) * X[:, half : 2 * half]
    return X[:, rng.permutation(p)]


def draw(seed: int) -> tuple[str, Data, int]:
    """Kind, data and k of a seed; kinds take turns."""
    rng = np.random.default_rng([seed, 24])
    kind = KINDS[seed % len(KINDS)]
    n, p = int(rng.integers(120, 501)), int(300 * 5 ** rng.random())
    X = columns(rng, kind, n, p)
    truth = int(rng.integers(4, min(30, n // 8) + 1))
    k = max(1, round(truth * 2 ** rng.uniform(-1, 1)))
    planted = np.sort(rng.choice(p, truth, replace=False))
    signal = X[:, planted] @ (rng.uniform(0.5, 2, truth) * rng.choice([-1.0, 1.0], truth))
    noise = np.sqrt(signal.var() / (0.5 * 16 ** rng.random()))
    return kind, Data(X, signal + rng.normal(0, noise or 1.0, n), planted), k


def measure(turns: int, key: Key) -> Entry:
    """``auto`` and abess on one problem."""
    seed, effort = key
    kind, data, k = draw(seed)
    seconds, found = take_turns(contenders(data, k, effort), turns)
    return {
        "kind": kind,
        "n": len(data.y),
        "p": data.X.shape[1],
        "k": k,
        "null": float(data.y.var() / 2),
        "ours": objective("linear", data, found["auto"].support),
        "theirs": objective("linear", data, found["abess"]),
        "seconds": seconds["auto"],
        "abess": seconds["abess"],
        "optimality": found["auto"].optimality,
    }


def search_long(seconds: float, key: Key) -> Entry:
    """The best of a thorough search, and of searches from the planted columns and from abess's."""
    import pursuit

    seed, repeat = key
    _, data, k = draw(seed)
    f = pursuit.GLM(data.X, data.y)
    supports = [contenders(data, k, None)["abess"](), data.planted]
    for support in list(supports):
        start = np.zeros(data.X.shape[1])
        coef = np.abs(f.refit(support).coef) * data.X[:, support].std(axis=0)
        start[support[np.argsort(-coef)[:k]]] = 1.0
        supports.append(pursuit.solve(f, k, solver="local_search", start=start).support)
    ways: list[dict[str, Any]] = [{"solver": pursuit.solvers.Auto(restarts="limit")}]
    if "effort" in inspect.signature(pursuit.solve).parameters:
        ways.append({"effort": "thorough"})
    for way in ways:
        found = pursuit.solve(pursuit.GLM(data.X, data.y), k, time_limit=seconds, random_state=1 + repeat, **way)
        supports.append(found.support)
    fitting = [support for support in supports if len(support) <= k]
    values = [objective("linear", data, support) for support in fitting]
    best = int(np.argmin(values))
    return {"best": values[best], "support": fitting[best].tolist(), "seconds": seconds}


def earlier_searches(path: Path) -> dict[Key, Entry]:
    lines = path.read_text().splitlines() if path.exists() else []
    return {tuple(entry["key"]): entry for entry in map(json.loads, lines)}


def best_known(entries: dict[Key, Entry], searches: dict[Key, Entry]) -> dict[int, float]:
    best: dict[int, float] = {}
    for (seed, _), entry in entries.items():
        best[seed] = min(entry["ours"], entry["theirs"])
    for (seed, _), entry in searches.items():
        if seed in best:
            best[seed] = min(best[seed], entry["best"])
    return best


class Figures:
    """Shares, losses and times over some problems."""

    def __init__(self, entries: list[Entry], best: list[float]) -> None:
        self.ours, self.theirs, self.null, self.seconds, self.abess = (
            np.array([entry[field] for entry in entries]) for field in ("ours", "theirs", "null", "seconds", "abess")
        )
        self.best, self.optimality = np.array(best), [entry["optimality"] for entry in entries]

    @staticmethod
    def share(flags: np.ndarray) -> str:
        """A share and its standard error."""
        mean = float(np.mean(flags))
        return f"{mean:.1%} ({np.sqrt(mean * (1 - mean) / len(flags)):.1%})"

    @staticmethod
    def mean(values: np.ndarray) -> str:
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        return f"{values.mean():.2e} ({error:.0e})"

    @property
    def at_best(self) -> np.ndarray:
        return self.ours <= self.best * (1 + SAME)

    @property
    def abess_better(self) -> np.ndarray:
        return self.theirs < self.ours * (1 - SAME)

    def row(self) -> tuple[str, ...]:
        ratio = self.seconds / self.abess
        return (
            str(len(self.best)),
            self.share(self.at_best),
            self.share(self.theirs <= self.best * (1 + SAME)),
            self.share(self.abess_better),
            self.share(self.ours < self.theirs * (1 - SAME)),
            self.mean((self.ours - self.best) / self.null),
            self.mean((self.theirs - self.best) / self.null),
            f"{np.median(ratio):.2f}, {np.exp(np.log(ratio).mean()):.2f}, {self.seconds.sum() / self.abess.sum():.2f}",
            f"{1e3 * self.seconds.mean():.1f} / {1e3 * self.abess.mean():.1f}",
            f"{self.optimality.count('swap_optimal')}/{len(self.best)}",
        )


def show(console: Console, entries: dict[Key, Entry], best: dict[int, float]) -> Figures:
    table = Table(title="Fresh problems (standard errors); losses are above the best known, of the null value")
    for head in (
        "kind",
        "problems",
        "auto at the best",
        "abess at the best",
        "abess better",
        "auto better",
        "auto's mean loss",
        "abess's",
        "times abess: median, geo. mean, total",
        "ms",
        "swap_optimal",
    ):
        table.add_column(head)
    for kind in (*KINDS, "all"):
        some = {key: entry for key, entry in entries.items() if kind in ("all", entry["kind"])}
        if some:
            figures = Figures(list(some.values()), [best[seed] for seed, _ in some])
            table.add_row(kind, *figures.row())
    console.print(table)
    return figures


def judged(figures: Figures) -> list[Line]:
    share, worse = float(np.mean(figures.at_best)), int(figures.abess_better.sum())
    loss = (figures.ours - figures.best) / figures.null
    return [
        line("auto at the best known value", ">= 90%", figures.share(figures.at_best), share >= 0.9),
        line("problems on which abess is better", "0", str(worse), worse == 0),
        ("auto's loss: mean, worst", "reported", f"{figures.mean(loss)}, {loss.max():.2e}", "-"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--turns", type=int, default=3, help="timed turns; short calls get four times as many")
    parser.add_argument("--effort", choices=["fast", "default", "thorough"], help="passed on to solve")
    parser.add_argument("--best-known", action="store_true", help="search long for those that have no such search yet")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each of these searches")
    parser.add_argument("--repeat", type=int, default=0, help="number of the search: another one adds to those before")
    parser.add_argument("--jobs", type=int, default=1, help="processes for the long searches")
    parser.add_argument("--resume", action="store_true", help="go on with --out of an earlier run")
    parser.add_argument("--out", type=Path, default=RESULTS / "search_quality.jsonl")
    parser.add_argument("--best", type=Path, default=RESULTS / "search_quality_best.jsonl")
    args = parser.parse_args()
    console = Console(width=None if Console().is_terminal else 200, highlight=False)
    machine = facts()
    show_lines(console, "Machine", ("", ""), machine.items())
    seeds = range(args.seed, args.seed + args.problems)
    if not args.resume:
        args.out.unlink(missing_ok=True)
    entries = run(partial(measure, args.turns), [(seed, args.effort) for seed in seeds], args.out, 1, console)
    wanted: list[Key] = [(seed, args.repeat) for seed in seeds] if args.best_known else []
    run(partial(search_long, args.seconds), wanted, args.best, args.jobs, console)
    searches = earlier_searches(args.best)
    without = len(set(seeds) - {seed for seed, _ in searches})
    if without:
        console.print(f"{without} problems have no long search: their best known is the better of auto and abess")
    busy = "; THE MACHINE WAS BUSY: ratios of times are not final" if BUSY in machine["load before the run"] else ""
    figures = show(console, entries, best_known(entries, searches))
    title = f"Quality of the search, effort {args.effort or 'not given'}{busy}"
    show_lines(console, title, ("figure", "wanted", "measured", ""), judged(figures))


if __name__ == "__main__":
    main()
