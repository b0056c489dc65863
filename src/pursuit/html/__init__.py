"""Reports as one HTML file: no network, no other file, readable without JavaScript."""

from .report import write_graph_report, write_report

__all__ = ["write_graph_report", "write_report"]
