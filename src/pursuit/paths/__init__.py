"""Every size at once: the k-path."""

from .path import Path, path
from .walk import every_size

__all__ = ["Path", "every_size", "path"]
