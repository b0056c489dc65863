"""One prediction, split into what each feature contributes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._utils.text import format_number, format_table, html_table, truncate
from .._utils.types import Array, ArrayLike, Intercept, Vector


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The contributions of the features to one prediction.

    Attributes
    ----------
    names : tuple of str
        The features of the model.
    values : ndarray of shape (k,)
        The row's values of these features.
    contributions : ndarray of shape (k,) or (k, outputs)
        Coefficient times value, or the value of a curve; with the intercept they add up to ``eta``.
    intercept : float or ndarray
        The linear predictor where all features (of an additive model: all curves) are zero.
    eta : float or ndarray
        The linear predictor.
    prediction : object
        What ``predict`` gives for the row; None with several responses.
    outputs : tuple of str
        Names of the outputs, where there are several.
    offset : float
        The row's offset, which is part of ``eta``.
    """

    names: tuple[str, ...]
    values: Vector
    contributions: Array
    intercept: Intercept
    eta: Intercept
    prediction: object
    outputs: tuple[str, ...] = ()
    offset: float = 0.0

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        table = self.contributions if self.contributions.ndim == 2 else self.contributions[:, None]
        heads = ["feature", "value", *(self.outputs if self.contributions.ndim == 2 else ("contribution",))]
        order = np.argsort(-np.abs(table).max(axis=1, initial=0.0), kind="stable")
        cells = [[truncate(self.names[i]), format_number(self.values[i]), *map(format_number, table[i])] for i in order]
        cells.append(["(intercept)", "", *map(format_number, np.ravel(self.intercept))])
        if self.offset:
            cells.append(["(offset)", "", *[format_number(self.offset)] * table.shape[1]])
        cells.append(["sum", "", *map(format_number, np.ravel(self.eta))])
        return heads, cells

    def __str__(self) -> str:
        heads, cells = self._rows()
        end = "" if self.prediction is None else f"\n\nprediction: {_shown(self.prediction)}"
        return format_table(heads, cells) + end

    __repr__ = __str__

    def _repr_html_(self) -> str:
        heads, cells = self._rows()
        return html_table("contributions to one prediction", heads, cells)


def check_one_row(number: object) -> None:
    """Raise unless there is one row to explain."""
    if number != 1:
        raise ValueError(f"row must be one row, got {number}; explain them one by one")


def make_explanation(
    names: Sequence[str],
    values: Vector,
    coef: Array,
    intercept: Intercept,
    prediction: object,
    outputs: tuple[str, ...],
    offset: ArrayLike = 0.0,
) -> Explanation:
    """The explanation of a row from its values on the support."""
    contributions = coef * (values if coef.ndim == 1 else values[:, None])
    return explain_contributions(names, values, contributions, intercept, prediction, outputs, offset)


def explain_contributions(
    names: Sequence[str],
    values: Vector,
    contributions: Array,
    intercept: Intercept,
    prediction: object,
    outputs: tuple[str, ...],
    offset: ArrayLike = 0.0,
) -> Explanation:
    """The explanation of a row from what each feature adds to its linear predictor."""
    shift = float(np.ravel(offset)[0])
    eta = contributions.sum(axis=0) + intercept + shift
    if contributions.ndim == 1:
        return Explanation(tuple(names), values, contributions, float(intercept), float(eta), prediction, offset=shift)
    outputs = outputs or tuple(map(str, range(contributions.shape[1])))
    return Explanation(
        tuple(names), values, contributions, np.asarray(intercept), np.asarray(eta), prediction, outputs, shift
    )


def _shown(value: object) -> str:
    return format_number(float(value)) if isinstance(value, float | np.floating) else str(value)
