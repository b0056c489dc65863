"""Points of every size as a :class:`pursuit.Path`."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .._utils.types import Keywords
from ..paths import Path
from ..solving.result import Result
from .choose import Chosen
from .problem import Problem

if TYPE_CHECKING:
    from ..objectives.glm import GLM


def as_path(problem: Problem, f: "GLM", chosen: Chosen, seconds: float) -> Path:
    """The plain fits on all rows at the chosen ridge; ``scores`` is NaN for sizes that were not tried."""
    g = problem.restricted(f)
    sizes = tuple(sorted(chosen.points))
    solver = problem.solver if isinstance(problem.solver, str) else "path"
    results = [Result.of(g, problem.sparse_set(f, k), chosen.points[k], solver=solver) for k in sizes]
    if problem.allowed.is_bounded:
        own: Keywords = {"bounds": problem.allowed.bounds, "sum_to": problem.allowed.sum_to}
        results = [replace(result, **own) for result in results]
    scores = np.array([chosen.scores.get(k, np.nan) for k in sizes])
    reason = "every size was tried from its neighbours"
    return Path(tuple[Result, ...](results), f.null.value, f.lower, "converged", reason, seconds, sizes, scores)
