"""The coefficients of one model as horizontal bars."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pursuit.plots._axes import DOWN, GREY, UP, axes, quiet


def plot_coefficients(
    result_or_estimator: Any, names: Sequence[str] | None = None, ax: Any | None = None, *, scale: Any = None
) -> Any:
    """Draw the non-zero coefficients, largest on top, and return the axes.

    ``names`` holds one name per column of X; without it the estimator's own are used, else ``x0, x1, ...``. ``scale``
    multiplies the coefficients, one entry per column (their standard deviations make the bars comparable). With several
    outputs a bar is the norm of a feature's coefficients.
    """
    support, coef, own = _parts(result_or_estimator)
    what = "coefficient"
    if coef.ndim == 2:
        coef, what = np.linalg.norm(coef, axis=1), "norm of the coefficients"
    names = own if names is None else names
    if names is not None and len(support) and len(names) <= support.max():
        raise ValueError(f"names has {len(names)} entries, but the model uses column {support.max()}")
    if scale is not None:
        coef = coef * np.asarray(scale, dtype=np.float64)[support]
    ax = axes(ax)
    order = np.argsort(-np.abs(coef), kind="stable")
    labels = [f"x{j}" if names is None else str(names[j]) for j in support[order]]
    lengths = coef[order]
    bars = ax.barh(np.arange(len(order)), lengths, color=[UP if c >= 0 else DOWN for c in lengths], height=0.62)
    ax.bar_label(bars, [f"{c:.3g}".replace("-", "\N{MINUS SIGN}") for c in lengths], padding=4, fontsize=8, color=GREY)
    ax.set_yticks(np.arange(len(order)), labels)
    ax.invert_yaxis()
    ax.axvline(0, color="#adb5bd", linewidth=0.8)
    ax.margins(x=0.16)
    ax.set_xlabel(what if scale is None else f"{what} per standard deviation")
    quiet(ax, "x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def _parts(held: Any) -> tuple[Any, Any, Sequence[str] | None]:
    """Support, coefficients on it, and names of an estimator, a Model or a Result."""
    if hasattr(held, "result_"):
        return held.result_.support, held.result_.coef, getattr(held, "feature_names_in_", None)
    if not hasattr(held, "support"):
        raise ValueError("result_or_estimator must be a fitted estimator, a Result or a Model")
    return np.asarray(held.support), np.asarray(held.coef), getattr(held, "feature_names", None)
