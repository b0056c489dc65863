"""What ``fit`` was given, checked: arrays, or data in parts that bring their own."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._errors import check_weights
from .._types import Array, Vector
from ..data import Data, Source, as_data, placed
from ..designs import as_design


@dataclass(frozen=True)
class Given:
    """Data for any loss, and what looks at single rows asks for: one number a row, when it is asked for.

    ``several``: whether a target has several outputs. ``X`` is what splitters and scorers are shown, ``source`` where
    rows come from if they are in parts. ``offset``: whether there is one that scorers do not know of.
    """

    several: bool
    data: Callable[[Any], Data]
    y: Callable[[], Array]
    weights: Callable[[], Vector | None]
    X: Any
    source: Source | None = None
    offset: bool = False

    def on(self, engine: Any) -> "Given":
        """The same with the data's rows on the workers of an engine."""
        return replace(self, data=lambda loss: placed(self.data(loss), engine))


def from_arrays(X: Any, y: Array, told: Array, sample_weight: Any, offset: Any, names: Any) -> Given:
    """Arrays that were validated; ``y`` is numeric, ``told`` the user's."""

    def data(loss: Any) -> Data:
        return as_data(as_design(X, names), y, loss, sample_weight, offset)

    return Given(y.ndim > 1, data, lambda: told, lambda: sample_weight, X, offset=offset is not None)


def from_source(
    source: Source, several: bool, classes: Array | None = None, factors: Vector | None = None
) -> Given:  # fmt: skip
    """Data in parts, with classes where labels are to be told apart, and factors of their weights."""

    def data(loss: Any) -> Data:
        return source.bound(loss, classes, factors)

    def weights() -> Vector | None:
        if factors is None or classes is None:
            return source.weights()
        own = check_weights(source.weights(), source.shape[0])  # which are then no numbers of repeated rows
        return own * factors[np.searchsorted(classes, source.targets())]

    return Given(several, data, source.targets, weights, np.empty((source.shape[0], 0)), source)


def refuse_others(*others: Any) -> None:
    """Raise where something is given that data in parts bring themselves."""
    if any(other is not None for other in others):
        raise TypeError("data in parts bring their own: leave y, sample_weight and offset out")


def read_source(estimator: Any, source: Source, reset: bool) -> None:
    """Take the columns' number and names from data in parts, or compare them with those of ``fit``."""
    names, known = source.names, getattr(estimator, "feature_names_in_", None)
    if reset:
        estimator.n_features_in_ = source.shape[1]
        if names is not None:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        elif known is not None:
            del estimator.feature_names_in_
    elif source.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {source.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    elif names is not None and known is not None and tuple(names) != tuple(map(str, known)):
        raise ValueError("the parts have other column names than those seen at fit, or another order of them")
