"""Pictures of results; matplotlib is imported when one is drawn."""

from pursuit.plots.coefficients import plot_coefficients
from pursuit.plots.scores import plot_scores
from pursuit.plots.subsets import plot_subsets
from pursuit.plots.trace import plot_trace

__all__ = ["plot_coefficients", "plot_scores", "plot_subsets", "plot_trace"]
