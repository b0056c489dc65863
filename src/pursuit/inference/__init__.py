"""Intervals after selection, each labelled with what it is worth.

``split_intervals`` selects on one part of the rows and estimates on the other: valid, at the price of rows.
``bootstrap_intervals`` repeats the selection on resampled rows: how much the procedure varies, without a coverage.
"""

from .bootstrap import bootstrap_intervals
from .split import split_intervals

__all__ = ["bootstrap_intervals", "split_intervals"]
