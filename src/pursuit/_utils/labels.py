"""Class labels: of one type, none missing, sorted."""

import numbers
from collections.abc import Sequence
from typing import cast

import numpy as np

from .types import Array, ArrayLike, Columns
from .validation import check_mask, check_shape

_KINDS = {**dict.fromkeys("US", "text"), **dict.fromkeys("biuf", "numbers"), **dict.fromkeys("mM", "dates")}


def as_labels(y: ArrayLike, name: str = "y") -> Array:
    """Labels as an array of one type; ValueError where types are mixed or labels are missing.

    NumPy would turn ``["a", 1]`` into text without a warning, so lists and arrays of objects are looked at one by one.
    Objects that all are numbers become numbers.
    """
    check_mask(y, name)
    shape = check_shape(y, name)
    raw = np.asarray(y) if hasattr(y, "dtype") or not isinstance(y, list | tuple) else None
    if raw is not None and raw.dtype.kind != "O":
        labels = raw
    else:
        entries = list(cast("Sequence[object]", y)) if raw is None else raw.ravel().tolist()
        examples: dict[str, object] = {}
        for example in {type(entry): entry for entry in entries}.values():
            examples.setdefault(_kind(example), example)
        if "numbers" in examples:  # of which each may be NaN
            examples.update((_kind(entry), entry) for entry in entries if _kind(entry) == "missing")
        if "missing" in examples:
            raise ValueError(f"{name} contains NaN or other missing labels ({examples['missing']!r}); drop those rows")
        if len(examples) > 1:
            kinds = " and ".join(f"{entry!r} ({kind})" for kind, entry in examples.items())
            raise ValueError(f"{name} holds labels of mixed type, such as {kinds}; make all of them text, or numbers")
        plain = raw is None or "numbers" in examples
        labels = np.asarray(entries if plain else raw).reshape(shape)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(f"{name} contains NaN or infinity")
    return labels


def distinct_labels(y: ArrayLike, name: str = "y") -> tuple[Array, Columns]:
    """The labels, sorted, and for every row the index of its own."""
    labels = as_labels(y, name)
    if labels.ndim != 1:
        raise ValueError(f"{name} must have one label per row of X, got shape {labels.shape}")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        kind = type(labels[0]).__name__
        raise ValueError(
            f"{name} holds labels of type {kind}, which have no order; make them text, or numbers"
        ) from None
    return classes, codes


def merge_labels(parts: Sequence[Array]) -> Array:
    """The distinct labels of several parts, sorted; ValueError where some have text and others numbers."""
    kinds = [_KINDS.get(labels.dtype.kind, "other objects") for labels in parts]
    for i, kind in enumerate(kinds):
        if kind != kinds[0]:
            raise ValueError(f"y holds labels of mixed type: part {i} has {kind}, and part 0 has {kinds[0]}")
    return distinct_labels(np.concatenate(parts))[0]


def _kind(label: object) -> str:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return "missing"
    if isinstance(label, str | bytes):
        return "text"
    if isinstance(label, numbers.Number | np.bool_):
        return "missing" if label != label else "numbers"
    return type(label).__name__
