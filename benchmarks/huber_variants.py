"""The rule that chooses k with the Huber loss, new and old settings, on small regression tables.

``python benchmarks/huber_variants.py``: y is standardised by its training rows, and errors are 100 log mean absolute
error of the test rows. Old settings: tau 1/3, metric Z'Z/n + I, slopes as they are, the least loss, no guard.
"""

import argparse
import pickle
from pathlib import Path

import numpy as np
from rule_variants import choose, pieces
from tables import table

NAMES = (
    "biomass",
    "carseats",
    "college",
    "hitters",
    "mlb1",
    "nbasal",
    "saratoga",
    "uscrime",
    "card",
    "car_prices",
    "chem_yield",
    "loans",
)
NEW, OLD = (0.15, 1e-4, 1.0), (1 / 3, 1.0, 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "huber")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    apart, new, old = [], [], []
    for split in range(given.splits):
        for name in NAMES:
            X, y, X_test, y_test = table(name, split)
            y, y_test = (y - y.mean()) / y.std(), (y_test - y.mean()) / y.std()

            def judge(coef: np.ndarray, intercept: float, X=X_test, y=y_test) -> float:
                return 100 * float(np.log(np.abs(y - X @ coef - intercept).mean()))

            path = given.out / f"{name}-{split}.pickle"
            if not path.exists():
                path.write_bytes(pickle.dumps(pieces("huber", X, y, judge, [NEW, OLD])))
            piece = pickle.loads(path.read_bytes())
            a, b = choose(piece, NEW), choose(piece, OLD, share=0.0, guard=np.inf, nats=0.0)
            apart, new, old = [*apart, a[0] - b[0]], [*new, a[1]], [*old, b[1]]
            print(f"{name:12s} {split} new minus old {a[0] - b[0]:+6.1f}, features {a[1]} and {b[1]}", flush=True)
    error = np.std(apart, ddof=1) / np.sqrt(len(apart))
    print(f"{np.mean(apart):+.2f} ({error:.2f}), worst {max(apart):+.1f}, features {np.sum(new) / np.sum(old):.2f}")


if __name__ == "__main__":
    main()
