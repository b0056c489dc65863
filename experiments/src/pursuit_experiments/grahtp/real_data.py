"""The real data of figures 4 and 5: what stands in for the paper's four sets, divided into training and test rows.

| paper (table 3) | here |
|---|---|
| gisette, 6000 + 1000 rows, 5000 columns | dorothea, 600 + 200 rows, 88119 columns of 0 and 1 |
| breast cancer, 54 + 79, 22283 | chowdary, 54 + 50, 22283 (breast against colon), logarithms, standardised |
| rcv1.binary, 20242 + 20000, 47236 | rcv1_binary, 12000 + 11808, 47236 |
| news20.binary, 10000 + 9996, 1355191 | newsgroups_bigrams, 11293 + 7528 as marked, 1283064, tf-idf, unit rows |
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pursuit_experiments import sources

if TYPE_CHECKING:
    from pursuit import GLM

SETS = ("dorothea", "chowdary", "rcv1_binary", "newsgroups_bigrams")
TRAINING = {"dorothea": 600, "chowdary": 54, "rcv1_binary": 12000}
QUICK, QUICK_ROWS, QUICK_COLUMNS = "dorothea, a corner", 300, 2000  # what the quick forms use
L2 = 2.5e-6  # lambda / 4, lambda = 1e-5


class Divided(NamedTuple):
    """Training and test rows; y is 0 or 1."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray

    def error(self, x: np.ndarray) -> float:
        """Share of the test rows on the wrong side of zero; zero itself counts as the negative class."""
        return float(np.mean((self.X_test @ x > 0) != (self.y_test > 0)))


@lru_cache(maxsize=2)
def divided(name: str) -> Divided:
    if name == QUICK:
        whole = divided(SETS[0])
        return Divided(
            whole.X[:QUICK_ROWS, :QUICK_COLUMNS],
            whole.y[:QUICK_ROWS],
            whole.X_test[:, :QUICK_COLUMNS],
            whole.y_test,
        )
    from sklearn.model_selection import train_test_split

    held = sources.arrays(name)
    X, y = sources.load(name)
    labels = (y == np.unique(y)[1]).astype(float)
    if name == "newsgroups_bigrams":
        test = held["test"]
        train, test = np.flatnonzero(~test), np.flatnonzero(test)
        X = sources.tfidf(X, train)
    else:
        rows = np.arange(len(labels))
        train, test = train_test_split(rows, train_size=TRAINING[name], stratify=labels, random_state=4)
        train, test = np.sort(train), np.sort(test)
    if name == "chowdary":
        X = np.log2(1 + X)
        X = (X - X[train].mean(axis=0)) / np.maximum(X[train].std(axis=0), 1e-6)
    return Divided(X[train], labels[train], X[test], labels[test])


def objective(data: Divided) -> "GLM":
    """Mean logistic loss on the training rows and the ridge, without an intercept."""
    from pursuit import GLM

    return GLM(data.X, data.y, "logistic", l2=L2, fit_intercept=False)
