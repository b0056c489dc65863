"""What a path says about a problem, held against the referee: a list of sentences about what is wrong."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

import pursuit
from fuzz.judge import objective
from fuzz.problems import Problem
from fuzz.referee import Referee

FLOOR = 64 * 2.0**-52  # share of the null model's height below which there is nothing


def complaints(problem: Problem, **options: Any) -> list[str]:
    """Everything that is wrong with the path of all sizes."""
    units = problem.X.shape[1] if problem.groups is None else len(np.unique(problem.groups))
    ks = range(len(problem.include), units - len(problem.exclude) + 1)
    return list(Claims(problem).about(pursuit.path(objective(problem), ks, **problem.sets, **options), ks))


class Claims:
    def __init__(self, problem: Problem) -> None:
        self.referee = Referee(problem)

    def about(self, path: pursuit.Path, ks: range) -> Iterator[str]:
        if path.ks.tolist() != list(ks):
            yield f"sizes {path.ks.tolist()} instead of {list(ks)}"
        for smaller, larger in pairwise(path):
            if larger.value > smaller.value:
                yield f"size {larger.k} has {larger.value:.12g}, more than the {smaller.value:.12g} of {smaller.k}"
        for result in path:
            yield from self._value(result)
            yield from self._swaps(result)

    def _room(self, result: pursuit.Result, value: float) -> float:
        floor = FLOOR * (self.referee.null.value - self.referee.bottom)
        floor = max(floor, 1e-14) if self.referee.problem.loss in ("logistic", "poisson") else floor
        rounding = self.referee.rounding(result.support, result.coef, result.intercept)
        return 1e-9 * self.referee.scale(value) + rounding + floor

    def _value(self, result: pursuit.Result) -> Iterator[str]:
        truth = self.referee.value(result.support, result.coef, result.intercept)
        if not abs(result.value - truth) <= self._room(result, truth):
            yield f"size {result.k}: value {result.value:.12g}, but the coefficients have {truth:.12g}"

    def _swaps(self, result: pursuit.Result) -> Iterator[str]:
        """No single exchange helps, where that is said."""
        strong = "no single exchange helps" in result.reason
        if strong != (result.optimality == "swap_optimal"):
            yield f"size {result.k}: optimality {result.optimality!r} beside the reason {result.reason!r}"
        if not strong:
            return
        labels = self.referee.problem.groups
        unit = np.arange(result.dim) if labels is None else labels
        mine, room = set(unit[result.support].tolist()), 2 * self._room(result, result.value)
        self.referee.problem = replace(self.referee.problem, k=result.k)
        for cols in self.referee.supports():
            if len(mine - set(unit[list(cols)].tolist())) > 1:
                continue
            other = self.referee.minimum(cols)
            if other.value < result.value - room - 1e-9 * self.referee.scale(result.value):
                here = f"{result.support.tolist()}: {result.value:.12g}"
                yield f"size {result.k}: swap_optimal at {here}, but {cols} has {other.value:.12g}"
                return
