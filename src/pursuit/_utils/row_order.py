"""Series beside X, or beside its columns: matched by position, with a warning where their labels say otherwise."""

import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pandas import Index


def warn_row_order(X: object, **beside: object) -> None:
    """Warn where something beside X (y, sample_weight, ...) has X's row labels in another order.

    pandas would align the two; here rows are matched by position, as everywhere in scikit-learn. Polars and NumPy have
    no row labels.
    """
    index = _index(X)
    if index is None:
        return
    for name, values in beside.items():
        if _reordered(index, _index(values)):
            warn_at_caller(
                f"{name} has the row labels of X in another order, and rows are matched by position: give "
                f"{name}.loc[X.index], or {name}.to_numpy() where the order is right"
            )


def warn_column_order(names: Sequence[str] | None, **beside: object) -> None:
    """Warn where something with one entry per column has the column names as labels, in another order."""
    own = list(names or ())
    for name, values in beside.items():
        index = _index(values)
        labels = [] if index is None else list(index)
        if own and len(labels) == len(own) and labels != own and set(labels) == set(own):
            warn_at_caller(
                f"{name} has the column names as labels, in another order, and is matched by position: reorder it, or "
                f"give {name}.to_numpy() where the order is right"
            )


def _index(values: object) -> "Index | None":
    """The labels of a pandas object; None of anything else (a list has a method of that name)."""
    index = getattr(values, "index", None)
    known = hasattr(index, "equals") and hasattr(index, "isin") and not hasattr(values, "__dask_graph__")
    return index if known else None


def _reordered(ours: "Index", theirs: "Index | None") -> bool:
    if theirs is None or len(ours) != len(theirs) or ours.equals(theirs):
        return False
    return bool(np.all(ours.isin(theirs)) and np.all(theirs.isin(ours)))


def warn_at_caller(words: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line."""
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("pursuit", "sklearn"):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(words, category, stacklevel=depth)
