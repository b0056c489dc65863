"""What is known of a solution, for people."""

from .describe import summary
from .page import Summary

__all__ = ["Summary", "summary"]
