"""The demo's data: what scikit-learn ships, with all squares and interactions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from pursuit._utils.types import Array, Matrix, Vector


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set as it was measured; ``classes`` are labels to keep the shares of."""

    title: str
    names: tuple[str, ...]
    X: Vector
    y: Array
    classes: Array | None = None
    target: str = "y"


@dataclass(frozen=True, eq=False)
class Split:
    """Columns, squares and products; training rows and rows that are held out."""

    names: tuple[str, ...]
    X: Vector
    y: Array
    X_test: Vector
    y_test: Array


def diabetes() -> Dataset:
    """442 patients, 10 measurements, 64 columns: sex has two values, so its square is left out."""
    held = load_diabetes(scaled=False)
    return Dataset(
        "Diabetes: progression after one year", tuple(held.feature_names), held.data, held.target, target="progression"
    )


def breast_cancer() -> Dataset:
    """569 tumours, 30 measurements, 495 columns."""
    held = load_breast_cancer()
    labels = held.target_names[held.target]
    names = tuple(map(str, held.feature_names))
    return Dataset("Breast cancer: malignant or benign", names, held.data, labels, labels, "tumour")


def splits(data: Dataset, n_splits: int) -> Iterator[Split]:
    """Random splits, 30% held out; what standardises is computed on the training rows."""
    for seed in range(n_splits):
        parts = train_test_split(data.X, data.y, test_size=0.3, random_state=seed, stratify=data.classes)
        X, X_test, y, y_test = parts
        yield _widened(data.names, X, y, X_test, y_test)


def all_rows(data: Dataset) -> Split:
    """Every row to train on."""
    return _widened(data.names, data.X, data.y, data.X[:0], data.y[:0])


def _widened(names: tuple[str, ...], X: Matrix, y: Array, X_test: Matrix, y_test: Array) -> Split:
    scale = StandardScaler().fit(X)
    wide, wide_test, labels = expand(scale.transform(X), (X_test - scale.mean_) / scale.scale_, names)
    return Split(labels, wide, y, wide_test, y_test)


def expand(X: Matrix, X_test: Matrix, names: Sequence[str]) -> tuple[Matrix, Matrix, tuple[str, ...]]:
    """Columns, then their squares and products; the square of a column with two values says nothing new."""
    products = PolynomialFeatures(2, include_bias=False).fit(X)
    two_values = np.array([len(np.unique(column)) <= 2 for column in X.T])
    powers = products.powers_[~(products.powers_[:, two_values] == 2).any(axis=1)]
    labels = (
        "*".join(f"{names[j]}^2" if row[j] == 2 else str(names[j]) for j in np.flatnonzero(row).tolist())
        for row in powers
    )
    first = powers.argmax(axis=1)
    second = np.array([np.flatnonzero(row)[-1] for row in powers])
    alone = powers.sum(axis=1) == 1
    wide, wide_test = (np.where(alone, Z[:, first], Z[:, first] * Z[:, second]) for Z in (X, X_test))
    return wide, wide_test, tuple(labels)
