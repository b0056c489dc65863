"""How a run ended, how good its point is, and what it went through."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._utils.html import html_table
from .._utils.text import format_number
from .._utils.types import Columns, Vector
from .._utils.validation import format_list
from ..constraints import Exchange
from ..objectives.point import Point


@dataclass(frozen=True)
class Record:
    """One line of a trace: after iteration ``iteration`` the value was ``value``, the best so far ``best``.

    ``lower`` is the best lower bound so far (the dual value of a dual method), None where none is known.
    """

    iteration: int
    value: float
    best: float
    seconds: float
    size: int
    changed: int
    lower: float | None = None

    @property
    def gap(self) -> float | None:
        """Best value minus lower bound."""
        return None if self.lower is None else self.best - self.lower


@dataclass(frozen=True, eq=False)
class Result:
    """The best point that was found, in the units of the user's data.

    Attributes
    ----------
    support, coef : sorted indices (of a graph: pairs, a row each) and the coefficients on them
    intercept, value : of the same point; value is of the objective that was minimised
    status : converged, max_iter, time_limit, interrupted, no_minimiser or failed
    reason : the same in a sentence, with anything a person should know (a capped k, dependent columns)
    optimality : none, stationary, swap_stationary or swap_optimal
    names : of the columns of the support, where X was a data frame; else None
    exchange : the next best exchange (units that leave, units that enter, change of f), where one was looked for
    next_best : the same in words
    certificate : none, bounded or proved
    lower, gap : a lower bound of the objective over the sparse set, where one is known, and value minus it
    trace : a tuple of :class:`Record`
    """

    dim: int
    support: Columns
    coef: Vector
    intercept: Any
    names: tuple[str, ...] | None
    value: float
    status: str
    reason: str
    n_iter: int
    seconds: float
    trace: tuple[Record, ...] = field(repr=False)
    optimality: str
    solver: str
    k: int
    point: Point = field(repr=False)
    constraint: Any = field(default=None, repr=False)
    bounds: Any = field(default=None, repr=False)
    sum_to: float | None = field(default=None, repr=False)
    exchange: Exchange | None = None
    certificate: str = "none"
    lower: float | None = None
    next_best: str = field(default="", repr=False)

    @property
    def gap(self) -> float | None:
        """How far the value can be from the best possible one; None where no lower bound is known."""
        return None if self.lower is None else self.value - self.lower

    @property
    def x(self) -> Vector:
        """The solution as a vector of length p; of pairs: a symmetric p x p matrix, its diagonal what is free."""
        if self.support.ndim == 2:
            X = np.diag(self.intercept)
            i, j = self.support.T
            X[i, j] = X[j, i] = self.coef
            return X
        x = np.zeros((self.dim, *self.coef.shape[1:]), dtype=self.coef.dtype)
        x[self.support] = self.coef
        return x

    def _repr_html_(self) -> str:
        names = [f"x{j}" for j in np.ravel(self.support)] if self.names is None else list(self.names)
        if self.support.ndim == 2:
            nodes = [f"x{j}" for j in range(self.dim)] if self.names is None else names
            names = [f"{nodes[i]} - {nodes[j]}" for i, j in self.support] if self.names is None else names
        coef = self.coef if self.coef.ndim == 2 else self.coef[:, None]
        several = coef.shape[1] > 1
        headings = ["feature", *((f"coefficient {r}" for r in range(coef.shape[1])) if several else ("coefficient",))]
        rows = [(name, *map(format_number, row)) for name, row in zip(names, coef, strict=False)]
        known = f"{self.optimality}, certificate: {self.certificate}"
        notes = (f"intercept {format_list(map(format_number, np.ravel(self.intercept)), 4)}", known, self.reason)
        return html_table(f"k = {self.k}, value {format_number(self.value, 6)}, {self.status}", headings, rows, notes)

    @property
    def converged(self) -> bool:
        """Whether the solver ended by its own rule."""
        return self.status == "converged"
