"""What a fit takes past the machines at hand: the cost model of docs/scale.md, simulated with measured constants.

    python benchmarks/scale_plan.py                        # 1e9 rows x 1e6 columns, 100 entries a row, 100 workers

A question goes to all workers at once; each works for a time that varies, and its answer waits for its turn on the
client's line. The client adds answers up in the order of the plan.
"""

import argparse
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Constants:
    """Measured here (benchmarks/scale_dask.py, scale_disk.py, scale_sparse.py), except for the line and the threads."""

    question: float = 4e-3  # seconds on the way, with nothing to do and little to say
    line: float = 1.25e9  # bytes a second into the client: 10 Gbit/s
    added: float = 5e9  # bytes of answers that the client adds up in a second
    read: float = 2.2e9  # bytes of CSR that one thread reads in a second, for a gradient
    threads: int = 8  # a worker's, as far as its memory keeps up
    spread: float = 0.2  # standard deviation of the logarithm of a worker's time


@dataclass(frozen=True)
class Problem:
    n: float = 1e9
    p: float = 1e6
    entries: float = 100  # a row
    k: int = 1000
    workers: int = 100
    iterations: int = 10  # of GraHTP
    steps: int = 6  # of Newton's method in a refit

    @property
    def rows(self) -> float:
        """Bytes of the rows on one worker: value and index of every entry."""
        return 12 * self.n * self.entries / self.workers

    @property
    def chosen(self) -> float:
        """Bytes of the chosen columns there: they are ten times as full as the others."""
        return min(self.rows, 10 * self.rows * self.k / self.p)


def fit(known: Constants, problem: Problem, tree: bool = False, seed: int = 0) -> dict[str, np.ndarray]:
    """Seconds of GraHTP's gradients and of its refits: all, work, line, sum.

    ``tree``: workers add up pairwise, and the client gets two answers; it is not built.
    """
    rng, w = np.random.default_rng(seed), problem.workers
    senders, rounds = (2, np.ceil(np.log2(w / 2))) if tree else (w, 0)

    def ask(read: float, back: float) -> np.ndarray:
        """The slowest worker, then answers one after the other into the client."""
        pace = np.exp(known.spread * rng.standard_normal(w))
        work = float(read / (known.read * known.threads) * pace.max())
        line = senders * back / known.line + rounds * (known.question + back / known.line + back / known.added)
        added = senders * back / known.added
        return np.array([known.question + work + line + added, work, line, added])

    gradients = [ask(problem.rows, 8 * problem.p) for _ in range(problem.iterations)]
    systems = problem.iterations * problem.steps
    refits = [ask(problem.chosen * problem.k**0.5, 8.0 * problem.k**2) for _ in range(systems)]
    return {"gradients": np.sum(gradients, axis=0), "refits": np.sum(refits, axis=0)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, kind in (("n", float), ("p", float), ("entries", float), ("k", int), ("workers", int)):
        parser.add_argument(f"--{name}", type=kind, default=getattr(Problem(), name))
    requested, known = Problem(**vars(parser.parse_args())), Constants()
    print(
        f"{requested.n:.0e} rows x {requested.p:.0e} columns, {requested.entries:g} entries a row, k={requested.k}: "
        f"{requested.rows * requested.workers / 1e12:.2f} TB of CSR"
    )
    print(f"{'workers':>8} {'sum':>7} {'GB each':>8} | gradients s (work, line, sum) | refits s (same) | whole s")
    for workers in sorted({10, 30, requested.workers, 3 * requested.workers}):
        for tree in (False, True):
            problem = replace(requested, workers=workers)
            took = fit(known, problem, tree)
            cells = [f"{a[0]:9.1f} ({a[1]:.1f}, {a[2]:.1f}, {a[3]:.1f})" for a in took.values()]
            how, whole = "tree" if tree else "client", sum(a[0] for a in took.values())
            print(f"{workers:8d} {how:>7} {problem.rows / 1e9:8.1f} | {' | '.join(cells)} | {whole:7.1f}")


if __name__ == "__main__":
    main()
