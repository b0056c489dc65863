"""The demo's data: what scikit-learn ships, with all squares and interactions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from pursuit._types import Array, Vector

SEED = 0


@dataclass(frozen=True, eq=False)
class Split:
    """Training and held-out rows of one data set."""

    title: str
    names: tuple[str, ...]
    X: Vector
    y: Array
    X_test: Vector
    y_test: Array


def diabetes() -> Split:
    """442 patients, 10 measurements, 64 columns: sex has two values, so its square is left out."""
    held = load_diabetes(scaled=False)
    return _split("Diabetes: progression after one year", held.data, held.target, held.feature_names)


def breast_cancer() -> Split:
    """569 tumours, 30 measurements, 495 columns."""
    held = load_breast_cancer()
    labels = held.target_names[held.target]
    return _split("Breast cancer: malignant or benign", held.data, labels, held.feature_names, stratify=labels)


def _split(title: str, X: Any, y: Any, names: Any, stratify: Any = None) -> Split:
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=SEED, stratify=stratify)
    scale = StandardScaler().fit(X)
    wide, wide_test, labels = expand(scale.transform(X), scale.transform(X_test), names)
    return Split(title, labels, wide, y, wide_test, y_test)


def expand(X: Any, X_test: Any, names: Any) -> tuple[Any, Any, tuple[str, ...]]:
    """Columns, then their squares and products; the square of a column with two values says nothing new."""
    products = PolynomialFeatures(2, include_bias=False).fit(X)
    two_values = np.array([len(np.unique(column)) <= 2 for column in X.T])
    kept = ~(products.powers_[:, two_values] == 2).any(axis=1)
    labels = ("*".join(f"{names[j]}^2" if row[j] == 2 else str(names[j]) for j in np.flatnonzero(row))
              for row in products.powers_[kept])  # fmt: skip
    return products.transform(X)[:, kept], products.transform(X_test)[:, kept], tuple(labels)
