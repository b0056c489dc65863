"""What is minimised: where X meets a loss, and functions of a sparse vector that the user brings."""

from .base import Objective, Point
from .function import Function
from .glm import GLM
from .jax_objective import from_jax
from .multi import MultiGLM
from .torch_objective import from_torch

ObjectiveDefaults = Objective  # what a user's objective inherits

__all__ = ["GLM", "Function", "MultiGLM", "Objective", "ObjectiveDefaults", "Point", "from_jax", "from_torch"]
