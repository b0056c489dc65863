"""Discriminant analysis of breast cancer by sparse precision matrices (JMLR 18 (2018), 6.3.2; Cai, Liu, Luo 2011).

5 pCR and 16 RD subjects are held out, the 113 genes with the largest t statistics of the other 112 are standardised by
these, the precision matrix within classes is tuned by 6 folds of them, and the discriminant scores decide. pCR is the
positive class.
"""

import time
from typing import NamedTuple

import numpy as np

from pursuit_experiments.sources import load

from .precision import Fit, greedy, likelihood, tuned

DATA = "breast_cancer_hess"
GENES, FOLDS, HELD_OUT = 113, 6, {1: 5, -1: 16}
EDGES = (57, 80, 113, 160, 226, 320, 452, 640, 904, 1280, 2000)  # from half the genes on, by roots of two
PENALTIES = 12  # of the graphical lasso, from 0.95 to 0.05 of the one that leaves no edge


class Division(NamedTuple):
    """Rows that train and rows that are held out, with their classes (1: pCR, -1: RD)."""

    train: np.ndarray
    trained: np.ndarray
    test: np.ndarray
    held: np.ndarray


class FeasibleSet(NamedTuple):
    """Covariance of rows about the means of their classes, their number, and that of other rows about these means."""

    covariance: np.ndarray
    rows: int
    test: np.ndarray
    n_test: int


class Precision(NamedTuple):
    """A precision matrix within classes, processor seconds with all that chose it, and whether that ended a grid."""

    W: np.ndarray
    edges: int
    seconds: float
    end: bool = False


def division(copy: int, genes: int = GENES) -> Division:
    """The most significant genes of the rows that train, standardised by these."""
    from scipy.stats import ttest_ind

    X, y = load(DATA)
    y = y.astype(int)
    rng, test = np.random.default_rng([0, copy]), np.zeros(len(y), dtype=bool)
    for label, count in HELD_OUT.items():
        test[rng.choice(np.flatnonzero(y == label), count, replace=False)] = True
    t = np.abs(ttest_ind(X[~test & (y == 1)], X[~test & (y == -1)]).statistic)
    chosen = np.argsort(-t, kind="stable")[:genes]
    mean, spread = X[~test][:, chosen].mean(axis=0), X[~test][:, chosen].std(axis=0)
    Z = (X[:, chosen] - mean) / spread
    return Division(Z[~test], y[~test], Z[test], y[test])


def centred(X: np.ndarray, y: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Rows about the means that the rows ``by`` have in their classes."""
    means = {label: X[by & (y == label)].mean(axis=0) for label in HELD_OUT}
    return np.asarray(X - np.array([means[label] for label in y]))


def folds(part: Division) -> list[FeasibleSet]:
    from sklearn.model_selection import StratifiedKFold

    found = []
    for _, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(part.train, part.trained):
        out = np.isin(np.arange(len(part.train)), test)
        rows = centred(part.train, part.trained, ~out)
        S, T = (rows[some].T @ rows[some] / some.sum() for some in (~out, out))
        found.append(FeasibleSet(S, int((~out).sum()), T, int(out.sum())))
    return found


def whole(part: Division) -> tuple[np.ndarray, int]:
    """The covariance within classes of all rows that train, and the number of rows it stands for: one mean is known."""
    rows = centred(part.train, part.trained, np.ones(len(part.train), dtype=bool))
    return rows.T @ rows / len(rows), len(rows) - 1


def by_greedy(name: str, part: Division, sizes: tuple[int, ...]) -> Precision:
    """The edge count whose held-out likelihood over the folds is best, all folds side by side, until it falls."""
    parts, spent, scores = folds(part), 0.0, []
    runs = [greedy(name, fold.covariance, fold.rows - 1, sizes) for fold in parts]
    for fits in zip(*runs, strict=False):
        spent += sum(fit.more for fit in fits)
        scores.append(sum(fold.n_test * likelihood(fit.W, fold.test) for fit, fold in zip(fits, parts, strict=True)))
        if scores[-1] < max(scores):
            break
    best = int(np.argmax(scores))
    S, rows = whole(part)
    fit = tuned(greedy(name, S, rows, sizes[best : best + 1]), lambda fit: likelihood(fit.W, S)).best
    return Precision(fit.W, fit.edges, spent + fit.seconds, best == len(sizes) - 1)


def by_lasso(part: Division) -> Precision:
    """scikit-learn's graphical lasso with its own cross-validation, on correlations."""
    from sklearn.covariance import GraphicalLassoCV
    from sklearn.model_selection import StratifiedKFold

    began = time.process_time()
    rows = centred(part.train, part.trained, np.ones(len(part.train), dtype=bool))
    spread = rows.std(axis=0)
    R = np.corrcoef(rows.T)
    alphas = np.geomspace(0.95, 0.05, PENALTIES) * np.abs(R - np.eye(len(R))).max()
    split = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(rows, part.trained))
    model = GraphicalLassoCV(alphas=list(alphas), cv=split, assume_centered=True).fit(rows / spread)
    W = model.precision_ / np.outer(spread, spread)
    seconds = time.process_time() - began
    return Precision(W, Fit(W, 0, 0).edges, seconds, bool(model.alpha_ <= alphas[-1] * 1.001))


def by_ours(part: Division, shrinkage: float | str) -> Precision:
    """``SparseLDA`` with what it chooses by itself."""
    from pursuit import SparseLDA

    began = time.process_time()
    model = SparseLDA(shrinkage=shrinkage, cv=FOLDS, n_jobs=1).fit(part.train, part.trained)
    return Precision(model.precision_, model.n_edges_, time.process_time() - began)


def predicted(W: np.ndarray, part: Division) -> np.ndarray:
    """argmax over classes of x' W mu - mu' W mu / 2 + log pi."""
    labels = np.array(list(HELD_OUT))
    means = np.array([part.train[part.trained == label].mean(axis=0) for label in labels])
    coef, shares = means @ W, np.array([np.mean(part.trained == label) for label in labels])
    scores = part.test @ coef.T - np.einsum("ij,ij->i", coef, means) / 2 + np.log(shares)
    return np.asarray(labels[scores.argmax(axis=1)])


def measures(truth: np.ndarray, said: np.ndarray) -> dict[str, float]:
    """Specificity, sensitivity and the correlation of Matthews (0 where one class is never said)."""
    from sklearn.metrics import matthews_corrcoef

    return {
        "specificity": float(np.mean(said[truth == -1] == -1)),
        "sensitivity": float(np.mean(said[truth == 1] == 1)),
        "mcc": float(matthews_corrcoef(truth, said)),
    }
