"""What every size of a path on a working set says about a problem, held against the referee of exchanges."""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import pursuit
from fuzz.exchange_judge import MONOTONE, Complaint, ExchangeJudge, objective
from fuzz.exchange_problems import ExchangeProblem
from pursuit.objectives import glm_path, least_squares

FEWEST_COLUMNS = 160  # below that the kernel has no working set


def on_working_set(f: Any, constraint: Any, plan: Any) -> Any:
    """The kernel on any number of columns, which has other ways for small data."""
    return least_squares.path(f, constraint, plan._replace(thorough=False, only=None), True)


class PathJudge:
    """Everything false that is said of the sizes of one problem's path.

    ``notes``: how many sizes claim that no exchange helps, and seconds.
    """

    def __init__(self, problem: ExchangeProblem) -> None:
        self.problem = problem
        self.notes: dict[str, Any] = {}

    def complaints(self) -> Iterator[Complaint]:
        problem, f = self.problem, objective(self.problem)
        first = max(len(problem.include), 1)
        began = time.process_time()
        with patch.object(glm_path, "_quadratic", on_working_set):
            results = pursuit.path(f, range(first, max(problem.k, first) + 1), **problem.sets)
        claimed = sum(result.optimality == "swap_optimal" for result in results)
        self.notes |= {"seconds": time.process_time() - began, "sizes": len(results), "claimed": claimed}
        self.notes["optimality"] = "swap_optimal" if claimed == len(results) else "some sizes are not"
        for size, result in enumerate(results, start=first):
            for complaint in ExchangeJudge(replace(problem, k=size)).claims(result):
                yield complaint._replace(text=f"k = {size}: {complaint.text}")
        height = f.null.value
        for less, more in pairwise(results):
            if more.value > less.value + MONOTONE * height:
                yield Complaint("monotone", (more.value - less.value) / height, f"{less.value:.10g}, {more.value:.10g}")
