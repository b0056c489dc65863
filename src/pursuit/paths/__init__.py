"""Every size at once: the k-path."""

from .certified import Certificates
from .follow import path
from .found import Path
from ..solvers.walk import every_size

__all__ = ["Certificates", "Path", "every_size", "path"]
