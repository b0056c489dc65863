"""What is minimised: where X meets a loss, and (later) other functions of a sparse vector."""

from .base import Objective, Point
from .defaults import ObjectiveDefaults
from .glm import GLM

__all__ = ["GLM", "Objective", "ObjectiveDefaults", "Point"]
