"""The same question to many halves of the rows."""

from .agreement import stability
from .bounds import Bounds
from .found import Stability
from .partners import Partner
from .selectors import Selector

__all__ = ["Bounds", "Partner", "Selector", "Stability", "stability"]
