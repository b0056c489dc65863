"""Pictures of results; matplotlib is imported when one is drawn."""

from pursuit.plots.coefficients import plot_coefficients
from pursuit.plots.scores import plot_scores

__all__ = ["plot_coefficients", "plot_scores"]
