"""The same question to many halves of the rows."""

from .bounds import Bounds
from .partners import Partner
from .result import Stability
from .selectors import Selector
from .stability_selection import stability

__all__ = ["Bounds", "Partner", "Selector", "Stability", "stability"]
