"""The k-path: ``path()``, its result :class:`Path`, and certificates for every size."""

from ..solvers.path_search import every_size
from .api import path
from .certify import Certificates
from .result import Path

__all__ = ["Certificates", "Path", "every_size", "path"]
