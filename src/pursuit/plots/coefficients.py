"""The coefficients of one model as horizontal bars."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pursuit._utils.types import Array, ArrayLike, Columns
from pursuit.plots._axes import DOWN, GREY, UP, axes, quiet
from pursuit.reports.build import DisplayedModel, per_sd

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

    from pursuit.io import Model
    from pursuit.solving.result import Result


def plot_coefficients(
    result_or_estimator: "Result | Model | BaseEstimator",
    names: Sequence[str] | None = None,
    ax: "Axes | None" = None,
    *,
    scale: ArrayLike | None = None,
) -> "Axes":
    """Draw the non-zero coefficients, largest on top.

    An estimator that standardised is drawn per standard deviation of a column, so that bars can be compared; one that
    did not, a Result and a Model are drawn in the units of X, unless ``scale`` is given. The axis says which. With
    several outputs a bar is the norm of a feature's coefficients.

    Parameters
    ----------
    result_or_estimator : Result, Model or fitted estimator
        What to draw.
    names : sequence of str or None, default None
        One name per column of X; None: the model's own, else ``x0, x1, ...``.
    ax : matplotlib Axes or None, default None
        Where to draw; None makes new axes.
    scale : array or None, default None
        Standard deviations, one entry per column.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Raises
    ------
    ValueError
        Where what is given has no coefficients, or ``names`` are too few.

    See Also
    --------
    PathDisplay : The coefficients of every size.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pursuit import SparseRegressor
    >>> from pursuit.plots import plot_coefficients
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ax = plot_coefficients(SparseRegressor(k=3).fit(X, y))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['bmi', 's5', 'bp']
    """
    support, coef, unit = _parts(result_or_estimator, scale)
    what = "coefficient"
    if coef.ndim == 2:
        coef, what = np.linalg.norm(coef, axis=1), "norm of the coefficients"
    if names is not None and len(support) and len(names) <= support.max():
        raise ValueError(f"names has {len(names)} entries, but the model uses column {support.max()}")
    called = _own_names(result_or_estimator, support) if names is None else [str(names[j]) for j in support]
    ax = axes(ax)
    order = np.argsort(-np.abs(coef), kind="stable")
    labels = [called[i] for i in order]
    lengths = coef[order]
    bars = ax.barh(np.arange(len(order)), lengths, color=[UP if c >= 0 else DOWN for c in lengths], height=0.62)
    ax.bar_label(bars, [f"{c:.3g}".replace("-", "\N{MINUS SIGN}") for c in lengths], padding=4, fontsize=8, color=GREY)
    ax.set_yticks(np.arange(len(order)), labels)
    ax.invert_yaxis()
    ax.axvline(0, color="#adb5bd", linewidth=0.8)
    ax.margins(x=0.16)
    ax.set_xlabel(f"{what} {unit}")
    ax.set_ylabel("feature")
    quiet(ax, "x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def _own_names(model: object, support: Columns) -> list[str]:
    """What an estimator, a Model or a Result calls the columns of its support."""
    names = getattr(model, "feature_names_in_", getattr(model, "feature_names", None))
    if names is not None:
        return [str(names[j]) for j in support]
    return list(getattr(model, "names", None) or (f"x{j}" for j in support))


def _parts(model: Any, scale: ArrayLike | None) -> tuple[Columns, Array, str]:
    """Support, coefficients on it and their unit, of an estimator, a Model or a Result."""
    result = getattr(model, "result_", model)
    if not hasattr(result, "support"):
        raise ValueError("result_or_estimator must be a fitted estimator, a Result or a Model")
    chooses = hasattr(model, "refit_coef_")  # what predicts is not its result_
    support, coef = (model.support_, model._on_support()[0]) if chooses else (result.support, result.coef)
    support, coef = np.asarray(support), np.asarray(coef)
    if scale is not None:
        by = np.asarray(scale, dtype=np.float64)[support]
        return support, coef * (by if coef.ndim == 1 else by[:, None]), "per standard deviation"
    if chooses and model.standardize and hasattr(model, "objective_"):  # without the data their scale is not known
        return support, per_sd(model.objective_, DisplayedModel(support, coef, 0.0)), "per standard deviation"
    if getattr(model, "standardize", False) and model is not result and not chooses:
        unit = "per standard deviation" if model.fit_intercept else "per root mean square"
        return support, result.point.coef.reshape(coef.shape), unit  # what was minimised over
    return support, coef, "in the units of X"
