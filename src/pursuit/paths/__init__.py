"""Every size at once: the k-path."""

from .follow import path
from .found import Path
from .walk import every_size

__all__ = ["Path", "every_size", "path"]
