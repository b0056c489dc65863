"""What ``solve`` and ``path`` say about a problem, held against the referee of exchanges of its loss."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import pursuit
from fuzz.exchange_problems import ExchangeProblem
from fuzz.exchange_referee import Exchange, ExchangeReferee, ResponsesReferee
from fuzz.judge import loss_of
from fuzz.likelihood_referee import LikelihoodReferee
from fuzz.multinomial_referee import MultinomialExchanges, MultinomialReferee
from fuzz.referee import Referee

HELPS = 1e-9  # share of the value (at least 1e-9 of the null value) by which an exchange must lower it to count
FIT = 1e-7  # share of the value by which a result may exceed the minimum on its own support
SEPARATED = 1e-14  # room where an infimum has no minimiser, as that of separable classes
MONOTONE = 1e-9  # share of the null value by which a larger k, or ``solve`` next to ``path``, may be worse
CHANGE = 1e-5  # relative error that the change of the next best exchange may have,
CHANGE_OF_NULL = 1e-6  # and error as a share of the null value: it informs, no claim rests on it
CONFIRMED = 3  # exchanges that are computed a second time, in 60 digits if need be, before a claim is called false


class Complaint(NamedTuple):
    """Something false: which kind, by how much of the null value, and the sentence."""

    kind: str
    amount: float
    text: str


def objective(problem: ExchangeProblem) -> Any:
    """The problem as the library takes it."""
    model: Any = pursuit.MultiGLM if problem.loss == "multinomial" or problem.y.ndim > 1 else pursuit.GLM
    return model(
        problem.stored(),
        problem.y,
        loss_of(problem),
        l2=problem.l2,
        fit_intercept=problem.intercept,
        sample_weight=problem.weight,
        offset=problem.offset,
        standardize=problem.standardize,
    )


def referees_of(problem: ExchangeProblem) -> tuple[Referee, ExchangeReferee | LikelihoodReferee]:
    """The referee of minima and that of exchanges."""
    if problem.loss == "multinomial":
        classes = MultinomialReferee(problem)
        return classes, MultinomialExchanges(classes)
    referee = ResponsesReferee(problem) if problem.y.ndim > 1 else Referee(problem)
    return referee, ExchangeReferee(referee) if problem.loss == "squared" else LikelihoodReferee(referee)


def judge(problem: ExchangeProblem, result: Any) -> list[Complaint]:
    """Everything false that a result of ``solve`` says about a problem."""
    with np.errstate(all="ignore"):
        return list(ExchangeJudge(problem).claims(result))


class ExchangeJudge:
    """Everything false that is said about one problem.

    Parameters
    ----------
    problem : the problem
    options : further options of ``solve`` and ``path``, such as ``{"effort": "fast"}``
    monotone : compare with the next size and with ``path`` too

    Attributes
    ----------
    notes : figures about the last run of ``complaints``: optimality, seconds, exchanges that nobody could decide
    """

    def __init__(self, problem: ExchangeProblem, options: dict[str, Any] | None = None, monotone: bool = True) -> None:
        self.problem, self.options, self.monotone = problem, options or {}, monotone
        self.referee, self.exchanges = referees_of(problem)
        self.height = self.referee.null.value - self.referee.bottom
        self.notes: dict[str, Any] = {}

    def complaints(self) -> Iterator[Complaint]:
        problem = self.problem
        began = time.process_time()
        result = self._solve(problem.k)
        self.notes |= {"optimality": result.optimality, "seconds": time.process_time() - began}
        yield from self.claims(result)
        if self.monotone:
            yield from self._monotone(result)

    def claims(self, result: Any) -> Iterator[Complaint]:
        """Complaints about one result, of any solver."""
        yield from self._point(result)
        yield from self._exchanges(result)

    def _solve(self, k: int) -> Any:
        return pursuit.solve(objective(self.problem), k, **self.problem.sets, **self.options)

    def _share(self, amount: float) -> float:
        return amount / self.height if self.height > 0 else (0.0 if amount == 0 else np.inf)

    def _room(self, result: Any) -> float:
        """Rounding errors of computing the value of a result in float64."""
        rounding = self.referee.rounding(result.support, result.coef, result.intercept)
        floor = SEPARATED if self.problem.loss in ("logistic", "poisson", "multinomial") else 0.0
        return HELPS * self.referee.scale(result.value) + rounding + max(64 * 2.0**-52 * self.height, floor)

    def _point(self, result: Any) -> Iterator[Complaint]:
        """The sparse set is kept, and ``value`` is that of the coefficients."""
        chosen, problem = set(result.support.tolist()), self.problem
        if len(chosen) > problem.k or not set(problem.include) <= chosen or chosen & set(problem.exclude):
            yield Complaint("sparse set", np.inf, f"support {sorted(chosen)}")
        truth = self.referee.value(result.support, result.coef, result.intercept)
        wrong = abs(result.value - truth)
        if not wrong <= self._room(result):
            text = f"value {result.value:.12g}, but the coefficients have {truth:.12g}"
            yield Complaint("value", self._share(wrong), text)
        least = self.referee.minimum(tuple(sorted(chosen)))
        above = result.value - least.value
        if result.optimality == "swap_optimal" and above > FIT * self.referee.scale(result.value) + self._room(result):
            text = f"value {result.value:.12g}, but its columns reach {least.value:.12g}"
            yield Complaint("fit", self._share(above), text)

    def _exchanges(self, result: Any) -> Iterator[Complaint]:
        strong = result.optimality == "swap_optimal"
        if strong != ("no single exchange helps" in result.reason):
            yield Complaint("reason", 0.0, f"optimality {result.optimality!r} beside the reason {result.reason!r}")
        found = sorted(self.exchanges.exchanges(result.support), key=lambda e: e.change)
        self.notes["undecided"] = sum(not e.resolved for e in found)
        best = self._best(result, found)
        helps = HELPS * self.referee.scale(result.value) + self._room(result)
        self.notes["best change"] = None if best is None else self._share(best.change)
        if strong and best is not None and best.change < -helps:
            text = (
                f"swap_optimal, but {best.leave} -> {best.enter} changes f by {best.change:.6g} of {result.value:.6g}"
            )
            yield Complaint("false claim", self._share(-best.change), text)
        if strong and len(result.support) < min(self.problem.k, self.problem.X.shape[1] - len(self.problem.exclude)):
            gain = result.value - self.exchanges.value_of_addition(result.support)
            if gain > helps + 1e-9 * self.height:
                text = f"{len(result.support)} of {self.problem.k} columns, but one more gains {gain:.6g}"
                yield Complaint("too few columns", self._share(gain), text)
        if strong and result.exchange is not None:
            yield from self._next_best(result, best, helps)

    def _best(self, result: Any, found: list[Exchange]) -> Exchange | None:
        """The best exchange; one that helps is computed again, by other code and in as many digits as needed."""
        mine, least = [int(j) for j in result.support], -HELPS * self.referee.scale(result.value)
        seen = [e for e in found if e.resolved]
        here = None
        for e in [e for e in seen if e.change < least][:CONFIRMED]:
            here = min(self.referee.minimum(tuple(mine)).value, result.value) if here is None else here
            there = self.referee.minimum(tuple(sorted({*mine, e.enter} - {e.leave}))).value
            if there - here < least:
                return replace(e, change=there - here)
            self.notes["unconfirmed"] = self.notes.get("unconfirmed", 0) + 1
        return next((e for e in seen if e.change >= least), None)

    def _next_best(self, result: Any, best: Exchange | None, room: float) -> Iterator[Complaint]:
        """The reported exchange is one, changes f by what is said, and none is better."""
        (leave,), (enter,), change = result.exchange
        mine = set(result.support.tolist())
        allowed = leave in mine and leave not in self.problem.include
        if not allowed or enter in mine or enter in self.problem.exclude:
            yield Complaint("next best", np.inf, f"{leave} -> {enter} is not an exchange that is allowed")
            return
        cols = tuple(sorted({*mine, enter} - {leave}))
        truth = self.referee.minimum(cols).value - self.referee.minimum(tuple(sorted(mine))).value
        room += CHANGE * abs(truth) + CHANGE_OF_NULL * self.height
        if abs(change - truth) > room:
            text = f"next best {leave} -> {enter} changes f by {truth:.6g}, said {change:.6g}"
            yield Complaint("next best", self._share(abs(change - truth)), text)
        elif best is not None and best.change < truth - room:
            text = f"next best {leave} -> {enter} by {truth:.6g}, but {best.leave} -> {best.enter} by {best.change:.6g}"
            yield Complaint("next best", self._share(truth - best.change), text)

    def _monotone(self, result: Any) -> Iterator[Complaint]:
        """Values do not rise with k, and are no worse than the path's."""
        k, columns = self.problem.k, self.problem.X.shape[1] - len(self.problem.exclude)
        room = MONOTONE * self.height + self._room(result)
        known = {k: result.value}
        if k + 1 <= columns:
            known[k + 1] = self._solve(k + 1).value
            if known[k + 1] > known[k] + room:
                text = f"value {known[k]:.12g} at {k}, {known[k + 1]:.12g} at {k + 1}"
                yield Complaint("not monotone", self._share(known[k + 1] - known[k]), text)
        path = pursuit.path(objective(self.problem), list(known), **self.problem.sets, **self.options)
        for at in path:
            if at.k in known and known[at.k] > at.value + room:
                text = f"value {known[at.k]:.12g} at {at.k}, the path to {max(known)} has {at.value:.12g}"
                yield Complaint("above the path", self._share(known[at.k] - at.value), text)
