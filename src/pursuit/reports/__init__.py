"""What is known of a solution, for people."""

from .build import summary
from .intervals import Intervals
from .model_summary import Summary

__all__ = ["Intervals", "Summary", "summary"]
