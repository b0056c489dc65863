"""What the library says about a problem, held against the referee: a list of sentences about what is wrong."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

import pursuit
from fuzz.problems import Problem
from fuzz.referee import Referee

SAME = 1e-8  # relative difference that a change of units may make to a number that is a claim
TIME = 2.0  # seconds for a proof
SOLVERS = ("omp", "grahtp", "local_search", "foba")


def loss_of(problem: Problem) -> Any:
    """The loss as the library takes it."""
    if problem.loss == "huber":
        return pursuit.Huber(delta=problem.param)
    if problem.loss == "smoothed_hinge":
        return pursuit.SmoothedHinge(gamma=problem.param)
    return problem.loss


def objective(problem: Problem) -> pursuit.GLM:
    """The problem as the library takes it."""
    return pursuit.GLM(
        problem.X,
        problem.y,
        loss_of(problem),
        l2=problem.l2,
        fit_intercept=problem.intercept,
        sample_weight=problem.weight,
        offset=problem.offset,
        standardize=problem.standardize,
    )


def judge(problem: Problem) -> list[str]:
    """Everything that is wrong with what the library says."""
    return list(Judge(problem).complaints())


class Judge:
    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.rng = np.random.default_rng([problem.seed, 1])
        self.referee = Referee(problem)
        self.f = objective(problem)
        self.other = problem.rescaled(self.rng, 400 if self.rng.random() < 0.3 else 23)
        self.g = objective(self.other)
        grown = self.other.y[np.argmax(np.abs(problem.y))] / np.abs(problem.y).max() if np.any(problem.y) else 1.0
        self.factor = float(grown * (1 if problem.loss == "huber" else grown)) if self._has_units() else 1.0
        if problem.loss == "huber":
            self.factor = float(grown) ** 2

    def _has_units(self) -> bool:
        return self.problem.loss in ("squared", "huber")

    def complaints(self) -> Iterator[str]:
        for cols in self._some_supports():
            yield from self._refit(np.array(cols, dtype=np.int64))
        often = self.problem.loss == "squared" or self.rng.random() < 0.5
        solver = "auto" if often else str(self.rng.choice(SOLVERS))
        result = pursuit.solve(self.f, self.problem.k, solver=solver, **self.problem.sets)
        yield from self._point("solve", result.support, result.coef, result.intercept, result.value)
        yield from self._swaps(result)
        yield from self._certificate(result)
        if self.problem.loss == "squared" and self.problem.groups is None and not self.problem.standardize:
            yield from self._table()

    def _some_supports(self) -> list[tuple[int, ...]]:
        every = list(self.referee.supports())
        few = [every[i] for i in self.rng.permutation(len(every))[:2]]
        return [*few, tuple(j for j in few[0] if self.rng.random() < 0.7)]

    def _room(self, cols: Any, coef: Any, b: float, value: float) -> float:
        floor = 64 * 2.0**-52 * (self.referee.null.value - self.referee.bottom)  # below that there is nothing
        floor = max(floor, 1e-14) if self.problem.loss in ("logistic", "poisson") else floor
        return 1e-9 * self.referee.scale(value) + self.referee.rounding(cols, coef, b) + floor

    def _refit(self, cols: np.ndarray) -> Iterator[str]:
        """A minimiser to 1e-6, or a note; the value is that of the coefficients; units change nothing."""
        point = self.f.refit(cols)
        coef, b = self.f.in_units(point)
        yield from self._point(f"refit on {cols.tolist()}", cols, coef, b, point.value)
        best = self.referee.minimum(tuple(cols))
        room = self._room(cols, coef, b, best.value)
        if best.decided and point.value < best.value - best.slack - room:
            yield f"refit on {cols.tolist()}: value {point.value:.12g} below the minimum {best.value:.12g}"
        worse = point.value - best.value
        if not point.note and worse > 1e-6 * self.referee.scale(best.value) + room:
            yield f"refit on {cols.tolist()}: value {point.value:.12g}, minimum {best.value:.12g}, and no note"
        there = self.g.refit(cols)
        noise = sum(
            float(cost) for cost in re.findall(r"rounded coefficients cost ([0-9.e+-]+)", point.note + there.note)
        )
        yield from self._same(f"refit on {cols.tolist()}: value", point.value, there.value, room + noise)
        if bool(point.note) != bool(there.note):
            yield f"refit on {cols.tolist()}: note {point.note!r} becomes {there.note!r} in other units"

    def _point(self, who: str, cols: Any, coef: Any, b: float, value: float) -> Iterator[str]:
        if not (np.isfinite(value) and np.isfinite(coef).all() and np.isfinite(b)):
            yield f"{who}: not finite"
            return
        truth = self.referee.value(cols, coef, b)
        if abs(value - truth) > self._room(cols, coef, b, truth):
            yield f"{who}: value {value:.12g}, but the coefficients have {truth:.12g}"

    def _same(self, who: str, here: float, there: float, room: float = 0.0) -> Iterator[str]:
        there = there / self.factor
        if not np.isfinite(here) and here == there:
            return
        if not abs(here - there) <= SAME * self.referee.scale(here) + room:
            yield f"{who} {here:.12g} becomes {there:.12g} in other units"

    def _swaps(self, result: Any) -> Iterator[str]:
        """No single exchange helps, where that is said."""
        strong = "no single exchange helps" in result.reason
        if strong != (result.optimality == "swap_optimal"):
            yield f"optimality {result.optimality!r} beside the reason {result.reason!r}"
        if result.optimality != "swap_optimal":
            return
        units = set(result.support.tolist()) if self.problem.groups is None else None
        for cols in self.referee.supports():
            if units is not None and len(units - set(cols)) > 1:
                continue
            if units is None and self._groups_apart(result.support, cols) > 1:
                continue
            other = self.referee.minimum(cols)
            room = self._room(result.support, result.coef, result.intercept, result.value)
            if other.value < result.value - 2 * room - 1e-9 * self.referee.scale(result.value):
                here = f"{result.support.tolist()}: {result.value:.12g}"
                yield f"swap_optimal at {here}, but {cols} has {other.value:.12g}"
                return

    def _groups_apart(self, mine: Any, cols: Any) -> int:
        labels = self.problem.groups
        assert labels is not None
        return len(set(labels[np.asarray(mine, dtype=int)].tolist()) - set(labels[list(cols)].tolist()))

    def _certificate(self, result: Any) -> Iterator[str]:
        limit = self.rng.choice([0.0, np.nan, TIME])
        limit = None if np.isnan(limit) else float(limit)
        proof = pursuit.certify(self.f, self._at(self.f, result), time_limit=limit)
        best = self.referee.optimum()
        at = proof.result
        room = self._room(at.support, at.coef, at.intercept, best.value)
        yield from self._point("certify", at.support, at.coef, at.intercept, proof.upper)
        if proof.lower > best.value + room:
            yield f"certify({limit}): lower {proof.lower:.12g} above the optimum {best.value:.12g} ({proof.status})"
        if proof.status == "proved" and proof.upper > best.value + 1.01e-6 * self.referee.scale(proof.upper) + room:
            yield f"certify({limit}): proved {proof.upper:.12g}, optimum {best.value:.12g}"
        if not proof.lower <= proof.upper:
            yield f"certify({limit}): lower {proof.lower:.12g} above upper {proof.upper:.12g}"
        yield from self._other_units(result, proof, limit, room)

    def _other_units(self, result: Any, proof: Any, limit: float | None, room: float) -> Iterator[str]:
        """The same claims about the same support in other units."""
        there = pursuit.certify(self.g, self._at(self.g, result), time_limit=limit)
        if proof.status != there.status and proof.seconds < TIME and there.seconds < TIME:
            yield f"certify({limit}): {proof.status} becomes {there.status} in other units ({proof.reason})"
        if limit is not None and proof.status == "proved" == there.status:
            yield from self._same("certify: upper", proof.upper, there.upper, room)
        if proof.seconds < TIME and there.seconds < TIME and proof.status == "bounded" == there.status:
            room += self.referee.dual_rounding(result.support, result.coef, result.intercept)
            yield from self._same("certify: lower", proof.lower, there.lower, room)

    def _at(self, f: pursuit.GLM, result: Any) -> Any:
        """A result's support, refitted in f, as if ``solve`` had ended there."""
        return pursuit.solve(f, self.problem.k, solver=Stay(tuple(int(j) for j in result.support)), **self.problem.sets)

    def _table(self) -> Iterator[str]:
        problem, nbest = self.problem, int(self.rng.integers(1, 4))
        rows = pursuit.best_subsets(
            problem.X,
            problem.y if problem.offset is None else problem.y - problem.offset,
            problem.k,
            nbest,
            l2=problem.l2,
            fit_intercept=problem.intercept,
            sample_weight=problem.weight,
            include=problem.include,
            exclude=problem.exclude,
        )
        mine = [row for row in rows if row.k == problem.k]
        truth = sorted(self.referee.minimum(cols).value for cols in self.referee.supports())[:nbest]
        if problem.k > problem.X.shape[1] - len(problem.exclude):
            return
        if len(mine) != len(truth):
            yield f"best_subsets: {len(mine)} subsets of size {problem.k}, there are {len(truth)}"
        for row, value in zip(mine, truth, strict=False):
            room = 1e-9 * self.referee.scale(value) + self._room_of(row.support, value)
            if row.proved and abs(row.value - value) > room:
                yield f"best_subsets: rank {row.rank} of size {row.k} has {row.value:.12g}, truth {value:.12g}"
        if any(a.value > b.value * (1 + 1e-12) + 1e-300 for a, b in pairwise(mine)):
            yield f"best_subsets: not in order {[row.value for row in mine]}"

    def _room_of(self, cols: Any, value: float) -> float:
        point = self.f.refit(np.array(cols, dtype=np.int64))
        coef, b = self.f.in_units(point)
        return self._room(cols, coef, b, value)


class Stay(pursuit.Solver):
    """The refit on one support."""

    halted = "the support was given"

    def __init__(self, support: tuple[int, ...]) -> None:
        object.__setattr__(self, "support", support)
        object.__setattr__(self, "relax", None)

    def iterate(self, f: Any, constraint: Any, start: Any) -> Any:
        yield f.refit(np.array(self.support, dtype=np.int64))
