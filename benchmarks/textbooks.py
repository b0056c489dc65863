"""Sparse recovery next to textbook algorithms in NumPy (tests/solvers/references.py): how many signals each finds.

    python benchmarks/textbooks.py [--trials 50]

y = A x, Gaussian A of 200 x 400, k = 10 .. 80, flat, Gaussian and decaying signals; found: relative error below 1e-3.
The verdict asks for no fewer than the textbook's, less two binomial errors.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import pursuit
from solvers.references import TEXTBOOKS, recovery


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--solvers", default=",".join(TEXTBOOKS))
    options = parser.parse_args()
    solvers, behind = options.solvers.split(","), 0
    print(f"| signal | k | {' | '.join(solvers)} |\n|---|---|{'---|' * len(solvers)}")
    for kind in ("flat", "gaussian", "decaying"):
        for k in range(10, 90, 10):
            found = {solver: [0, 0] for solver in solvers}
            for trial in range(options.trials):
                A, x = recovery(kind, k, trial)
                f = pursuit.GLM(A, A @ x, fit_intercept=False)
                for solver in solvers:
                    ends = pursuit.solve(f, k, solver=solver).x, TEXTBOOKS[solver](A, A @ x, k)
                    for i, end in enumerate(ends):
                        found[solver][i] += bool(np.linalg.norm(end - x) < 1e-3 * np.linalg.norm(x))
            cells = []
            for mine, theirs in found.values():
                share = theirs / options.trials
                short = mine < theirs - 2 * np.sqrt(options.trials * share * (1 - share))
                behind += short
                cells.append(f"{mine} / {theirs}{' BEHIND' if short else ''}")
            print(f"| {kind} | {k} | {' | '.join(cells)} |", flush=True)
    print("no solver is behind its textbook" if behind == 0 else f"{behind} cells are behind")
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
