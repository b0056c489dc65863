"""Table 4 of the GraHTP paper (JMLR 18, 2018): discriminant analysis of breast cancer with a sparse precision matrix.

    python experiments/grahtp/lda.py --replications 100

Protocol (6.3.2, after Cai, Liu and Luo 2011): 5 pCR and 16 RD subjects are held out at random, the 113 genes with the
largest two-sample t statistics of the other 112 are standardised by them, the precision matrix within classes is tuned
by 6-fold cross-validation, and the discriminant scores decide. pCR is positive.

Not the paper's: its 22,283 genes are here the 1,400 of ``breast_cancer_hess``, screened with all labels, so that errors
are optimistic for every method. Data: $PURSUIT_DATA, else ../shared/data beside the project.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import ttest_ind
from sklearn.covariance import GraphicalLassoCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from pursuit import SparseLDA

DATA = Path(os.environ.get("PURSUIT_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
GENES, HELD_OUT, FOLDS = 113, {1: 5, -1: 16}, 6
PAPER = {  # specificity, sensitivity, MCC, each with its standard deviation
    "GraHTP": ((0.77, 0.11), (0.77, 0.19), (0.49, 0.19)),
    "GraSP": ((0.73, 0.10), (0.78, 0.18), (0.45, 0.17)),
    "FBS": ((0.78, 0.11), (0.74, 0.18), (0.48, 0.19)),
    "FoBa": ((0.72, 0.11), (0.78, 0.18), (0.44, 0.18)),
    "GLasso": ((0.81, 0.11), (0.64, 0.21), (0.45, 0.19)),
}


class Lasso:
    """The same discriminant analysis with scikit-learn's graphical lasso, tuned by as many folds."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Lasso":
        self.classes, codes = np.unique(y, return_inverse=True)
        self.means = np.array([X[codes == c].mean(axis=0) for c in range(len(self.classes))])
        folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
        rows = X - self.means[codes]
        spread = rows.std(axis=0)
        found = GraphicalLassoCV(alphas=10, cv=folds, assume_centered=True).fit(rows / spread)
        self.precision = found.precision_ / np.outer(spread, spread)
        self.priors = np.bincount(codes) / len(codes)
        self.n_edges_ = int(np.count_nonzero(np.triu(found.precision_, 1)))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        coef = self.means @ self.precision
        scores = X @ coef.T - np.einsum("ij,ij->i", coef, self.means) / 2 + np.log(self.priors)
        return self.classes[scores.argmax(axis=1)]


METHODS: dict[str, Callable[[], SparseLDA | Lasso]] = {
    "SparseLDA": lambda: SparseLDA(cv=FOLDS),
    "SparseLDA, shrinkage by CV": lambda: SparseLDA(shrinkage="cv", cv=FOLDS),
    "SparseLDA, shrinkage and l1 by CV": lambda: SparseLDA(shrinkage="cv", l1="cv", cv=FOLDS),
    "GraphicalLassoCV": Lasso,
}


def split(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Which rows are held out."""
    test = np.zeros(len(y), dtype=bool)
    for label, count in HELD_OUT.items():
        test[rng.choice(np.flatnonzero(y == label), count, replace=False)] = True
    return test


def prepared(X: np.ndarray, y: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The most significant genes of the training rows, standardised by these."""
    t = np.abs(ttest_ind(X[~test & (y == 1)], X[~test & (y == -1)]).statistic)
    genes = np.argsort(-t, kind="stable")[:GENES]
    mean, spread = X[~test][:, genes].mean(axis=0), X[~test][:, genes].std(axis=0)
    Z = (X[:, genes] - mean) / spread
    return Z[~test], Z[test]


def measures(truth: np.ndarray, said: np.ndarray) -> tuple[float, float, float]:
    """Specificity, sensitivity and the correlation of Matthews (0 where one class is never said)."""
    tp, tn = np.sum((truth == 1) & (said == 1)), np.sum((truth == -1) & (said == -1))
    fp, fn = np.sum((truth == -1) & (said == 1)), np.sum((truth == 1) & (said == -1))
    below = float(np.sqrt(float(tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))
    return tn / (tn + fp), tp / (tp + fn), (tp * tn - fp * fn) / below if below else 0.0


def main() -> None:
    asked = argparse.ArgumentParser(description="Table 4 of the GraHTP paper")
    asked.add_argument("--replications", type=int, default=100)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    path = DATA / "breast_cancer_hess.npz"
    if not path.exists():
        print(f"skipped: there is no {path.name} in $PURSUIT_DATA or ../shared/data")
        return
    with np.load(path, allow_pickle=False) as held:
        X, y = held["X"], held["y"].astype(int)
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in METHODS}
    for replication in range(given.replications):
        test = split(y, np.random.default_rng([given.seed, replication]))
        train_rows, test_rows = prepared(X, y, test)
        for name, make in METHODS.items():
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", RuntimeWarning)
                model = make().fit(train_rows, y[~test])
            seconds = time.perf_counter() - began
            found[name].append((*measures(y[test], model.predict(test_rows)), model.n_edges_, seconds))
    show(found, given.replications)


def show(found: dict[str, list[tuple[float, ...]]], n: int) -> None:
    print(f"{n} replications; mean (standard deviation) [standard error]\n")
    head = f"{'':36}{'specificity':>22}{'sensitivity':>22}{'MCC':>22}{'edges':>8}{'seconds':>9}"
    print(f"{head}\n{'-' * len(head)}")
    for name, rows in found.items():
        means, spread = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1 if n > 1 else 0)
        cells = [f"{means[i]:.2f} ({spread[i]:.2f}) [{spread[i] / np.sqrt(n):.3f}]" for i in range(3)]
        print(f"{name:36}" + "".join(f"{cell:>22}" for cell in cells) + f"{means[3]:8.0f}{means[4]:9.2f}")
    for name, cells in PAPER.items():
        words = [f"{mean:.2f} ({spread:.2f}) [{spread / 10:.3f}]" for mean, spread in cells]
        print(f"{'paper: ' + name:36}" + "".join(f"{word:>22}" for word in words))


if __name__ == "__main__":
    main()
