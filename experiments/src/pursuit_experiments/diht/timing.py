"""A solver's processor seconds until something happens."""

import time
from collections.abc import Callable
from typing import Any

from pursuit import GLM, Record, solve
from pursuit_experiments.experiment import Row

HALT = 1e-4  # relative change of the loss at which IHT stops


class Settled:
    """IHT's end in the paper: the loss changes by less than a share of itself."""

    def __init__(self) -> None:
        self.last = float("inf")

    def __call__(self, record: Record) -> bool:
        settled = abs(record.value - self.last) <= HALT * abs(record.value)
        self.last = record.value
        return settled


def timed(
    f: GLM, k: int, solver: Any, ends: Callable[[Record], bool], limit: float, max_iter: int | None = None
) -> Row:
    """Loss, iterations and processor seconds until ``ends`` says so; a run that gives up has no ``seconds``."""
    began, reached = time.process_time(), []

    def watch(record: Record) -> bool:
        if ends(record):
            reached.append(time.process_time() - began)
        return bool(reached) or time.process_time() - began > limit

    result = solve(f, k, solver=solver, callback=watch, time_limit=3 * limit, max_iter=max_iter)
    spent = time.process_time() - began
    return {
        "reached": int(bool(reached)),
        "seconds": reached[0] if reached else None,
        "spent": spent,
        "iterations": result.n_iter,
        "loss": result.value,
    }
