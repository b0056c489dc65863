"""How a run went: the primal-dual gap, the distance to the best value, or the value, against iterations or seconds."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pursuit.plots._axes import GREY, axes, quiet, style
from pursuit.solving.result import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

    from pursuit.solving.result import Result

QUANTITIES = {
    "gap": "primal-dual gap",
    "distance": "best value so far minus the best of all",
    "value": "best value so far",
}
AXIS_LABELS = {"iteration": "iterations", "seconds": "seconds"}
MARKERS_PER_LINE = 8  # markers per line, about
MIN_DISTANCE_SHARE = 1e-12  # share of the best value that is no distance
FLOOR_FACTOR = 10.0  # how far below the smallest distance the best value is drawn, on a log scale


def plot_trace(
    results: "Result | BaseEstimator | Mapping[str, Result | BaseEstimator]",
    *,
    what: str | None = None,
    against: str = "iteration",
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the trace of a result, or one line per entry of a mapping from labels to results.

    Parameters
    ----------
    results : Result, fitted estimator, or mapping from labels to those
        What to draw.
    what : {"gap", "distance", "value"} or None, default None
        "gap": best value minus lower bound, on a log scale (figures 5.3 and 5.5 of the DIHT paper). "distance": from
        the best value so far to the best that any of the results met, on a log scale; lines end on the dotted line
        where they reach it. "value": best so far, the lower bound dashed below it where there is one. None: "gap" where
        every result has one, else "distance".
    against : {"iteration", "seconds"}, default "iteration"
        What the horizontal axis shows.
    ax : matplotlib Axes or None, default None
        Where to draw; None makes new axes.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Raises
    ------
    ValueError
        Where there is no trace, or ``what`` or ``against`` cannot be drawn.

    See Also
    --------
    plot_comparison : Values and seconds at the end.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> from pursuit.plots import plot_trace
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7])
    >>> plot_trace({name: pursuit.solve(f, 2, solver=name) for name in ("omp", "ompr")}).get_xlabel()
    'iterations'
    """
    held = dict(results) if isinstance(results, Mapping) else {"": results}
    if not held:
        raise ValueError("results is empty; give a Result, a fitted estimator, or a mapping from labels to those")
    traces = {label: _trace(label, result) for label, result in held.items()}
    bounded = all(record.gap is not None for trace in traces.values() for record in trace)
    what = what or ("gap" if bounded else "distance")
    if what not in QUANTITIES:
        raise ValueError(f"what must be 'gap', 'distance' or 'value', got {what!r}")
    if against not in AXIS_LABELS:
        raise ValueError(f"against must be 'iteration' or 'seconds', got {against!r}")
    if what == "gap" and not bounded:
        raise ValueError("what='gap' needs lower bounds, which only dual methods give: solver='diht' or 'sdiht'")
    ax = axes(ax)
    heights = _heights(list(traces.values()), what)
    for i, ((label, trace), height) in enumerate(zip(traces.items(), heights, strict=True)):
        across, looks = [getattr(record, against) for record in trace], style(i)
        step = max(1, len(trace) // MARKERS_PER_LINE)
        ax.plot(across, height, label=label, linewidth=1.6, markersize=5, markevery=(i % step, step), **looks)
        if what == "value" and all(record.lower is not None for record in trace):
            bounds = np.array([record.lower for record in trace], dtype=np.float64)
            ax.plot(across, bounds, color=looks["color"], linewidth=1.0, linestyle="--")
    _scale(ax, what, heights)
    ax.set_xlabel(AXIS_LABELS[against])
    if against == "iteration" and ax.get_xscale() == "linear":
        ax.xaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]
    ax.set_ylabel(QUANTITIES[what])
    if len(traces) > 1:
        ax.legend(edgecolor="none", framealpha=0.85, fontsize=8, handlelength=3.5, ncols=1 + (len(traces) > 6))
    quiet(ax, "y")
    return ax


def _heights(traces: Sequence[Sequence[Record]], what: str) -> list[list[float]]:
    if what == "distance":
        best = min(record.best for trace in traces for record in trace)
        above = [[record.best - best for record in trace] for trace in traces]
        least = min((d for line in above for d in line if d > MIN_DISTANCE_SHARE * abs(best)), default=0.0)
        return [[d if d >= least > 0 else least / FLOOR_FACTOR for d in line] for line in above]  # a log scale has no 0
    return [[getattr(record, "gap" if what == "gap" else "best") for record in trace] for trace in traces]


def _scale(ax: "Axes", what: str, heights: Sequence[Sequence[float]]) -> None:
    """A log scale where something is above 0, and a line where the best value is reached."""
    if what == "value" or not any(height > 0 for line in heights for height in line):
        return
    ax.set_yscale("log", nonpositive="mask")
    if what == "distance":
        low = min(height for line in heights for height in line)
        ax.axhline(low, color=GREY, linewidth=1, linestyle=":", zorder=1)
        ax.annotate(
            "best",
            (0, low),
            xycoords=("axes fraction", "data"),
            xytext=(3, 3),
            textcoords="offset points",
            fontsize=8,
            color=GREY,
        )


def _trace(label: str, result: object) -> Sequence[Record]:
    """The records of a result, or of the result that a fitted estimator holds."""
    trace = getattr(getattr(result, "result_", result), "trace", None)
    if not trace or not isinstance(trace, tuple | list):
        name = f"results[{label!r}]" if label else "results"
        raise ValueError(f"{name} has no trace to draw; give a Result of solve, or a fitted estimator")
    return trace
