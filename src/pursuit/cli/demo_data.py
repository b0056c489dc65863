"""The demo's data: what scikit-learn ships, with all squares and interactions."""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED = 0


@dataclass(frozen=True, eq=False)
class Split:
    """Training and held-out rows of one data set."""

    title: str
    names: tuple[str, ...]
    X: NDArray[np.float64]
    y: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]


def diabetes() -> Split:
    """442 patients, 10 measurements, 64 columns: sex has two values, so its square is left out."""
    from sklearn.datasets import load_diabetes

    held = load_diabetes(scaled=False)
    return _split("Diabetes: progression after one year", held.data, held.target, held.feature_names)


def breast_cancer() -> Split:
    """569 tumours, 30 measurements, 495 columns."""
    from sklearn.datasets import load_breast_cancer

    held = load_breast_cancer()
    labels = held.target_names[held.target]
    return _split("Breast cancer: malignant or benign", held.data, labels, held.feature_names, stratify=labels)


def _split(title: str, X: Any, y: Any, names: Any, stratify: Any = None) -> Split:
    from sklearn.model_selection import train_test_split

    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=SEED, stratify=stratify)
    mean, spread = X.mean(axis=0), X.std(axis=0)
    names = [str(name) for name in names]
    wide, labels = expand((X - mean) / spread, names)
    wide_test, _ = expand((X_test - mean) / spread, names, labels)
    return Split(title, labels, wide, y, wide_test, y_test)


def expand(X: Any, names: Any, kept: Any = None) -> tuple[Any, tuple[str, ...]]:
    """Columns, then their squares and products; the square of a column with two values says nothing new."""
    columns, labels = list(X.T), list(names)
    for i, j in combinations_with_replacement(range(len(names)), 2):
        columns.append(X[:, i] * X[:, j])
        labels.append(f"{names[i]}^2" if i == j else f"{names[i]}*{names[j]}")
    if kept is None:
        binary = {f"{name}^2" for name, column in zip(names, X.T, strict=True) if len(np.unique(column)) <= 2}
        kept = [label for label in labels if label not in binary]
    place = {label: k for k, label in enumerate(labels)}
    return np.column_stack([columns[place[label]] for label in kept]), tuple(kept)
