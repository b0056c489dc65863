"""Pictures of results; matplotlib is imported when one is drawn."""

from pursuit.plots.coefficients import plot_coefficients
from pursuit.plots.comparison import plot_comparison
from pursuit.plots.cv import CVDisplay
from pursuit.plots.edge_frequency import EdgeFrequencyDisplay
from pursuit.plots.edge_path import EdgePathDisplay
from pursuit.plots.effects import EffectDisplay
from pursuit.plots.graph import GraphDisplay
from pursuit.plots.path import PathDisplay
from pursuit.plots.scores import plot_scores
from pursuit.plots.stability import StabilityDisplay
from pursuit.plots.subsets import plot_subsets
from pursuit.plots.support import SupportDisplay
from pursuit.plots.theorems import plot_theorems
from pursuit.plots.trace import plot_trace

__all__ = [
    "CVDisplay",
    "EdgeFrequencyDisplay",
    "EdgePathDisplay",
    "EffectDisplay",
    "GraphDisplay",
    "PathDisplay",
    "StabilityDisplay",
    "SupportDisplay",
    "plot_coefficients",
    "plot_comparison",
    "plot_scores",
    "plot_subsets",
    "plot_theorems",
    "plot_trace",
]
