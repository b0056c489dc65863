"""Every size at once: the k-path."""

from ..solvers.walk import every_size
from .certified import Certificates
from .follow import path
from .found import Path

__all__ = ["Certificates", "Path", "every_size", "path"]
