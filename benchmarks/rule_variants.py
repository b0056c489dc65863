"""Variants of the rule that chooses k, on tables or simulated cells: ``python benchmarks/rule_variants.py logistic``.

The candidates of all rows and of the folds are fitted once per data set; every (tau, least ridge of the metric, slope
errors) then costs a few projections, and every share of a standard error, guard and smoothing costs nothing. One file
per data set in ``--out``: held-out losses by fold and test errors of every size, from which ``choose`` takes a size.
"""

import argparse
import pickle
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from cells import CELLS, sample
from choosers import quiet
from tables import HALVES, SETS, error, table

from pursuit import SparseClassifierCV, SparseRegressorCV
from pursuit.selection import averaging
from pursuit.selection import choose as choosing
from pursuit.selection.averaging import smoothed

VARIANTS = (*product((0.15, 1 / 3, 0.7), (1e-3, 0.1, 1.0), (0.0,)), (0.15, 1e-3, 1.0), (2.0, 1e-3, 0.0))
Piece = dict[str, Any]


def trial_of(loss: str, X: np.ndarray, y: np.ndarray) -> Any:
    """The candidates of the default estimator, on all rows and on folds."""
    taken, take = [], choosing._take
    choosing._take = lambda trial, *rest: taken.append(trial) or take(trial, *rest)
    try:
        model = SparseClassifierCV() if loss == "logistic" else SparseRegressorCV(loss=loss)
        quiet(lambda X, y: model.fit(X, y), X, y)
    finally:
        choosing._take = take
    return taken[0], model


def tested(models: Any, judge: Any, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Test errors and numbers of features of all models."""
    found = []
    for i in range(len(models.B)):
        cols, coef, intercept = models.in_units(i)
        x = np.zeros(width)
        x[cols] = coef
        found.append((judge(x, intercept), np.count_nonzero(coef)))
    errors, features = np.array(found).T
    return errors, features


def pieces(loss: str, X: np.ndarray, y: np.ndarray, judge: Any, variants: Any) -> Piece:
    """What a choice needs: candidates by (k, ridge, gamma), projections by variant."""
    trial, model = trial_of(loss, X, y)
    k = trial.grid.columns[0]
    p = X.shape[1]
    errors, features = tested(trial.whole, judge, p)
    single = {"each": trial.seen.each, "k": k, "error": errors, "features": features}
    out: Piece = {
        "n": len(y),
        "residual": loss in ("squared", "huber"),
        "share": trial.seen.share,
        "onto": trial.grid.onto,
        "single": single,
        "projected": {},
    }
    out["default"] = judge(np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])), int(model.k_)
    before = averaging.LEARNING_RATE, averaging.MIN_METRIC_RIDGE, averaging.SLOPE_ERRORS
    try:
        for tau, ridge, slope in variants:
            averaging.LEARNING_RATE = tau
            averaging.MIN_METRIC_RIDGE = {True: ridge, False: ridge}
            averaging.SLOPE_ERRORS = {True: slope, False: slope}
            found = averaging.projected(trial.problem, trial.grid, trial.whole, trial.seen)
            errors, features = tested(found.models, judge, p)
            own = found.models.losses(trial.problem.data)
            out["projected"][tau, ridge, slope] = {
                "each": found.held.each,
                "error": errors,
                "features": features,
                "own": own,
                "slopes": found.slopes,
            }
    finally:
        averaging.LEARNING_RATE, averaging.MIN_METRIC_RIDGE, averaging.SLOPE_ERRORS = before
    return out


def first_within(goal: np.ndarray, each: np.ndarray, share: float, least: float) -> int:
    best = int(np.argmin(goal))
    apart = each - each[best]
    room = np.maximum(share * apart.std(axis=1, ddof=1) / np.sqrt(each.shape[1]), least)
    return int(np.argmax(goal <= goal[best] + room))


def choose(
    piece: Piece, variant: Any, share: float = 0.5, guard: float = 2.0, smooth: bool = True, nats: float = 0.5
) -> tuple[float, int]:
    """Test error and number of features of what a variant takes; a guard of inf never acts.

    ``nats``: a size may always lose so much more than the best, in the sum over all rows.
    """
    found, single, w = piece["projected"][variant], piece["single"], piece["share"]
    held = found["each"] @ w
    least = nats / piece["n"] * (2 * held.min() if piece["residual"] else 1.0)
    at = first_within(smoothed(held, piece["onto"]) if smooth else held, found["each"], share, least)
    goal = single["each"] @ w
    of_size = [int(np.flatnonzero(single["k"] == k)[np.argmin(goal[single["k"] == k])]) for k in np.unique(single["k"])]
    c = of_size[first_within(goal[of_size], single["each"][of_size], share, 0.0)]
    if np.isfinite(guard):
        apart, root = found["each"][at] - single["each"][c], np.sqrt(len(w))
        beaten = held[at] - goal[c] > guard * apart.std(ddof=1) / root
        if beaten or found["own"][at] > goal[c] + guard * single["each"][c].std(ddof=1) / root:
            return single["error"][c], int(single["features"][c])
    return found["error"][at], int(found["features"][at])


def data_sets(loss: str, seed: int | None, turns: int, half: int | None) -> Iterator[tuple[str, Any]]:
    """Names of files, and functions that make (X, y, judge)."""

    def of_table(name: str, split: int) -> Any:
        X, y, X_test, y_test = table(name, split)
        return X, y, lambda coef, intercept: error(loss, y_test, X_test @ coef + intercept)

    def of_cell(cell: int, turn: int) -> Any:
        data = sample(loss, cell, int(seed or 0), turn)
        return data.X, data.y, data.error

    for turn in range(turns):
        if seed is None:
            for name in SETS:
                if SETS[name] == loss and half in (None, HALVES[name]):
                    yield f"{name}-{turn}", lambda name=name, turn=turn: of_table(name, turn)
        else:
            for cell in range(len(CELLS)):
                yield f"{loss}-{seed}-{cell}-{turn}", lambda cell=cell, turn=turn: of_cell(cell, turn)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("loss", choices=("squared", "logistic", "poisson"))
    parser.add_argument("--seed", type=int, help="simulated cells with this seed, not tables")
    parser.add_argument("--turns", type=int, default=4, help="splits of a table, or data sets of a cell")
    parser.add_argument("--half", type=int, choices=(0, 1), help="tables of this half only (0: tuning, 1: judging)")
    parser.add_argument("--variant", nargs=3, type=float, action="append", metavar=("TAU", "RIDGE", "SLOPE"))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "variants")
    given = parser.parse_args()
    variants = [tuple(v) for v in given.variant] if given.variant else list(VARIANTS)
    given.out.mkdir(parents=True, exist_ok=True)
    for name, make in data_sets(given.loss, given.seed, given.turns, given.half):
        path = given.out / f"{name}.pickle"
        if not path.exists():
            part = path.with_suffix(".part")
            part.write_bytes(pickle.dumps(pieces(given.loss, *make(), variants)))
            part.rename(path)


if __name__ == "__main__":
    main()
