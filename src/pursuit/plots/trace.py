"""How a run went: the primal-dual gap, or the value, against iterations or seconds."""

from collections.abc import Mapping
from typing import Any

from pursuit.plots._axes import LINES, axes, quiet

WHAT = {"gap": "primal-dual gap", "value": "best value"}
AGAINST = {"iteration": "iterations", "seconds": "seconds"}


def plot_trace(results: Any, *, what: str | None = None, against: str = "iteration", ax: Any | None = None) -> Any:
    """Draw the trace of a result, or one line per entry of a mapping from labels to results, and return the axes.

    Parameters
    ----------
    results : a Result, a fitted estimator, or a mapping from labels to those
    what : "gap" (best value minus lower bound, on a log scale: figures 5.3 and 5.5 of the DIHT paper), "value" (best
        so far, the lower bound dashed below it where there is one), or None: "gap" where every result has one
    against : "iteration" or "seconds"
    """
    held = dict(results) if isinstance(results, Mapping) else {"": results}
    if not held:
        raise ValueError("results is empty; give a Result, a fitted estimator, or a mapping from labels to those")
    traces = {label: _trace(label, result) for label, result in held.items()}
    bounded = all(record.gap is not None for trace in traces.values() for record in trace)
    what = what or ("gap" if bounded else "value")
    if what not in WHAT:
        raise ValueError(f"what must be 'gap' or 'value', got {what!r}")
    if against not in AGAINST:
        raise ValueError(f"against must be 'iteration' or 'seconds', got {against!r}")
    if what == "gap" and not bounded:
        raise ValueError("what='gap' needs lower bounds, which only dual methods give: solver='diht' or 'sdiht'")
    ax = axes(ax)
    for i, (label, trace) in enumerate(traces.items()):
        across, colour = [getattr(record, against) for record in trace], LINES[i % len(LINES)]
        heights = [record.gap if what == "gap" else record.best for record in trace]
        ax.plot(across, heights, color=colour, linewidth=1.8, label=label, marker="o" if len(trace) == 1 else None)
        if what == "value" and all(record.lower is not None for record in trace):
            ax.plot(across, [record.lower for record in trace], color=colour, linewidth=1.2, linestyle="--")
    if what == "gap" and any(line.get_ydata().max() > 0 for line in ax.lines):
        ax.set_yscale("log", nonpositive="mask")
    ax.set_xlabel(AGAINST[against])
    ax.set_ylabel(WHAT[what])
    if len(traces) > 1:
        ax.legend(frameon=False, fontsize=9)
    quiet(ax, "y")
    return ax


def _trace(label: str, result: Any) -> Any:
    """The records of a result, or of the result that a fitted estimator holds."""
    trace = getattr(getattr(result, "result_", result), "trace", None)
    if not trace:
        name = f"results[{label!r}]" if label else "results"
        raise ValueError(f"{name} has no trace to draw; give a Result of solve, or a fitted estimator")
    return trace
