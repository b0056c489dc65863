"""Folds: who is left out, from a number, a splitter or pairs of indices; and everybody else, without a copy of X."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state

from .._utils.labels import as_labels
from .._utils.row_order import warn_at_caller
from .._utils.types import Array, ArrayLike, Columns, Flags, Folds, Matrix, MatrixLike, Seed, Vector
from .._utils.validation import check_integer, first_line, format_list
from ..data.rows import Data

#: Whether rows have groups, and whether shares of classes are kept.
_KINDS: dict[tuple[bool, bool], Any] = {
    (False, False): KFold,
    (False, True): StratifiedKFold,
    (True, False): GroupKFold,
    (True, True): StratifiedGroupKFold,
}
ROWS_PER_FOLD = 8  # below it the moments of every fold's rows are no smaller than X, nor are they cheaper than a pass


@dataclass(frozen=True)
class Fold:
    """The data that a fold is fitted on, how many of its rows count, the data that are held out, and its number.

    ``to_whole``: where its columns are not those of all rows (splines with knots of their own), the function that takes
    coefficients of all its columns, p x outputs, to those of the columns of all rows.
    """

    data: Data
    n: float
    held_out: Data
    number: int = 0
    to_whole: Callable[[Matrix], Matrix] | None = None


class Partition(Sequence[tuple[Columns, Columns]]):
    """Pairs of training and test rows where every row is tested once and trains otherwise: a label per row.

    Pairs are made on demand: indices of all folds would be ten times as large as those of the rows.
    """

    def __init__(self, labels: Columns, many: int) -> None:
        self.labels, self.many = labels, many

    def __len__(self) -> int:
        return self.many

    def __getitem__(self, j: Any) -> Any:
        if isinstance(j, slice):
            return [self[i] for i in range(self.many)[j]]
        j = range(self.many)[j]
        return np.flatnonzero(self.labels != j), np.flatnonzero(self.labels == j)


def splits(
    cv: Folds, X: MatrixLike, y: Array, groups: ArrayLike | None, classes: bool, random_state: Seed, weights: Vector
) -> tuple[Sequence[tuple[Columns, Columns]], str]:
    """Pairs of training and test rows, and a sentence where there are fewer of them than requested.

    A number of folds shuffles the rows first (files are often sorted), from seed ``random_state`` or 0, and keeps the
    shares of the classes; it is capped at the number of rows, of the rarest class's rows, and of groups, which stay
    whole. Rows without a weight have no part in it.
    """
    n = len(y)
    if groups is not None:
        groups = own = as_labels(groups, "cv_groups")
        if own.shape != (n,):
            raise ValueError(f"cv_groups must have one entry per row of X, shape ({n},), got shape {own.shape}")
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        return _shuffled(cv, y, groups, classes, 0 if random_state is None else random_state, weights)
    if cv is None or isinstance(cv, bool | float | str | type):
        raise ValueError(f"cv must be a number of folds from 2 up, a splitter, or pairs of indices, got {cv!r}")
    try:
        pairs = [(_rows(train, n), _rows(test, n)) for train, test in check_cv(cv).split(X, y, groups)]
    except (TypeError, ValueError) as error:
        if groups is None and "groups" in str(error):
            raise ValueError(f"cv={cv!r} needs to know the groups of rows: give fit(..., cv_groups=...)") from error
        name = "cv" if isinstance(cv, Sequence) else f"cv={cv!r}"
        raise ValueError(f"{name} did not split the rows: {first_line(error)}") from error
    if not pairs:
        raise ValueError(f"cv={cv!r} gave no folds")
    for j, (train, test) in enumerate(pairs):
        for rows, name in ((train, "to train on"), (test, "to test on")):
            if not weights[rows].any():
                raise ValueError(f"fold {j} of cv has no row with a weight {name}")
    return pairs, ""


def _shuffled(
    cv: Folds, y: Array, groups: Array | None, classes: bool, random_state: Seed, weights: Vector
) -> tuple[Sequence[tuple[Columns, Columns]], str]:
    """So many folds, or as many as there can be."""
    cv = requested = check_integer(cv, "cv", "a number of folds from 2 up, a splitter, or pairs of indices", 2)
    n, counted = len(y), weights > 0
    count = int(np.count_nonzero(counted))
    if count < 2:
        raise ValueError(f"cross-validation needs at least 2 rows with a weight, got n_samples={count}")
    if count < n:
        y, groups = y[counted], None if groups is None else groups[counted]
    alone = _classes_of_one_row(y) if classes else np.zeros(count, dtype=bool)
    if alone.any() and count - alone.sum() >= 2:
        return _train_always(np.flatnonzero(counted), alone, cv, y, groups, random_state, n)
    least = int(np.unique(y, return_counts=True)[1].min()) if classes else count
    why = f"{'the rarest class' if classes else 'X'} has {least} rows"
    if groups is not None:
        kinds = len(np.unique(groups))
        if kinds < 2:
            raise ValueError("cv_groups has one value in all rows; folds need at least two")
        least, why = (kinds, f"cv_groups has {kinds} groups") if kinds < least else (least, why)
    cv = max(2, min(cv, least))
    labels, kind = np.empty(count, _label_type(cv)), _KINDS[groups is not None, classes and least > 1]
    try:
        for j, test in enumerate(_tests(kind, cv, random_state, y, groups)):
            labels[test] = j
    except (TypeError, ValueError) as error:
        raise ValueError(f"cv={cv!r} did not split the rows: {first_line(error)}") from error
    if count < n:  # the other rows are dealt out, so that it is a partition
        everybody = (np.arange(n) % cv).astype(labels.dtype)
        everybody[counted] = labels
        labels = everybody
    return Partition(labels, cv), f"cv={requested} was capped at {cv} folds, as {why}" if cv < requested else ""


def _classes_of_one_row(y: Array) -> Flags:
    """Whether a row is the only one of its class."""
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    return np.asarray(counts[codes.ravel()] == 1)


def _train_always(
    rows: Columns, alone: Flags, cv: int, y: Array, groups: Array | None, random_state: Seed, n: int
) -> tuple[Sequence[tuple[Columns, Columns]], str]:
    """Folds of the other rows; the only row of a class is in every training fold, and is never held out."""
    labels = format_list(sorted(map(str, y[alone].tolist())))
    warn_at_caller(
        f"class {labels} has one row, which trains in every fold and is held out in none; its part of the model is not"
        " tested"
    )
    own = None if groups is None else groups[~alone]
    parts, note = _shuffled(cv, y[~alone], own, True, random_state, np.ones(int((~alone).sum())))
    tests = [rows[~alone][test] for _, test in parts]
    return [(np.setdiff1d(np.arange(n), test), test) for test in tests], note


def _tests(kind: Any, cv: int, random_state: Seed, y: Array, groups: Array | None) -> Iterator[Columns]:
    """Test rows of every fold."""
    if kind is KFold:  # the same as scikit-learn's, which needs five times the memory
        order = np.arange(len(y), dtype=_index_type(len(y)))
        check_random_state(random_state).shuffle(order)
        yield from np.array_split(order, cv)
    else:
        nothing = np.empty((len(y), 0))
        yield from (test for _, test in kind(cv, shuffle=True, random_state=random_state).split(nothing, y, groups))


def _label_type(count: int) -> np.dtype[Any]:
    """The smallest that holds so many labels and -1."""
    return np.min_scalar_type(-count - 1)


def _index_type(n: int) -> Any:
    return np.int64 if n > np.iinfo(np.int32).max else np.int32


def check_two_classes(y: Array, weights: Vector) -> None:
    """Raise where the rows with a weight are all of one class: rows without are as if they were not there."""
    counted = y[weights > 0]
    if len(counted) and (counted == counted[0]).all():
        raise ValueError(
            f"y holds only one class ({counted[0]!s}) among the rows with a weight; a classifier needs two classes"
        )


def check_classes(pairs: Sequence[tuple[Columns, Columns]], y: Array, weights: Vector) -> None:
    """Raise where a fold would be fitted without one of the classes."""
    classes = np.unique(y[weights > 0])
    for j, (train, _) in enumerate(pairs):
        lacking = np.setdiff1d(classes, y[train[weights[train] > 0]])
        if len(lacking) and (y[weights > 0] == lacking[0]).sum() == 1:
            raise ValueError(
                f"y holds class {lacking[0]!s} once, so that no fold can both train and test on it; leave it out, or "
                "choose by a criterion such as rule='bic'"
            )
        if len(lacking):
            raise ValueError(
                f"fold {j} of cv trains on no row of class {lacking[0]!s}; use StratifiedKFold, fewer folds, or leave "
                "a class so rare out"
            )


def folds(data: Data, pairs: Sequence[tuple[Columns, Columns]], weights: Vector, counts: Vector) -> list[Fold]:
    """The folds of pairs of rows; ``weights`` are those of all rows, ``counts`` says how often a row counts.

    Where the test rows are a partition and everybody else trains, moments and Gram columns are those of all rows less
    the fold's; else the rows that do not train have weight 0.
    """
    raw, n = data.raw, data.shape[0]
    partition = None if n < ROWS_PER_FOLD * len(pairs) else _partition(pairs, n)
    if partition is not None:
        labels, count = partition.labels, float(counts.sum())
        cache = raw.folds(labels)
        return [
            Fold(cache.train(j), count - float(counts[labels == j].sum()), cache.held_out(j), j)
            for j in range(len(pairs))
        ]
    return [_weighted(raw, *pair, weights, counts, j) for j, pair in enumerate(pairs)]


def _weighted(raw: Data, train: Columns, test: Columns, weights: Vector, counts: Vector, number: int) -> Fold:
    c, n, held_out = fold_weights(raw.shape[0], train, test, weights, counts)
    return Fold(raw.weighted(c), n, raw.weighted(held_out), number)


def fold_weights(
    n: int, train: Columns, test: Columns, weights: Vector, counts: Vector
) -> tuple[Vector, float, Vector]:
    """Weights of the n rows in a training fold, how many of them count, and their weights in the held-out fold."""
    times, held_out = (np.bincount(rows, minlength=n) for rows in (train, test))
    c = weights * times  # a row that is drawn twice counts twice
    return c / c.sum(), float(counts @ times), weights * held_out


def _partition(pairs: Sequence[tuple[Columns, Columns]], n: int) -> Partition | None:
    """The same folds as a partition, where they are one."""
    if isinstance(pairs, Partition):
        return pairs
    labels = np.full(n, -1, _label_type(len(pairs)))
    for j, (_, test) in enumerate(pairs):
        labels[test] = j
    once = sum(len(test) for _, test in pairs) == n and len(pairs) > 1 and (labels >= 0).all()
    rest = once and all(len(train) == n - len(test) and _apart(train, test, n) for train, test in pairs)
    return Partition(labels, len(pairs)) if rest else None


def _apart(train: Columns, test: Columns, n: int) -> bool:
    seen = np.zeros(n, bool)
    seen[train] = True
    return not seen[test].any() and int(seen.sum()) == len(train)


def _rows(rows: Any, n: int) -> Columns:
    rows = np.asarray(rows)
    if rows.dtype == bool:
        rows = np.flatnonzero(rows)
    if rows.size and (rows.dtype.kind not in "iu" or rows.min() < -n or rows.max() >= n):
        raise ValueError(f"rows must be whole numbers from 0 to {n - 1}")
    return (rows.astype(np.int64) % n).astype(_index_type(n))
