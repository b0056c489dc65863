"""What is known of a solution, for people."""

from .describe import summary
from .intervals import Intervals
from .page import Summary

__all__ = ["Intervals", "Summary", "summary"]
