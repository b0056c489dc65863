"""What is minimised: where X meets a loss, and (later) other functions of a sparse vector."""

from .base import Objective, Point
from .defaults import ObjectiveDefaults
from .glm import GLM
from .multi import MultiGLM

__all__ = ["GLM", "MultiGLM", "Objective", "ObjectiveDefaults", "Point"]
