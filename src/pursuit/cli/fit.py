"""``pursuit fit``: read, choose the estimator, fit with a status line, write, print."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pursuit.cli import INTERRUPTED, NOT_CONVERGED, OK
from pursuit.cli.asked import Asked, Question, question
from pursuit.cli.auto import Auto, chooser
from pursuit.cli.auto import facts as facts_of_choice
from pursuit.cli.progress import choose_with_progress, fit_with_progress
from pursuit.cli.show import console, digits, print_facts, say, table, writable
from pursuit.io import save_model

SHOWN = 40  # coefficients that are printed; the model holds all


def run(asked: Asked, out: Path, k: int | None, auto: Auto, *, summary: bool, checkpoint: Path | None = None) -> int:
    """Fit at most k features, or as many as ``auto`` finds best where k is None."""
    writable("--out", out)
    if k is not None:
        auto.refuse(k)
    elif checkpoint is not None:
        raise ValueError("--checkpoint is for one search: give -k a number (-k auto makes many, one per fold)")
    asks = question(asked)
    if k is None:
        estimator, how = chooser(asks, auto)
        choose_with_progress(estimator, asks)
    else:
        estimator, how = asks.estimator(k=k), f"at most {k} features"
        kept = {} if checkpoint is None else {"checkpoint": checkpoint}
        fit_with_progress(estimator, asks.X, asks.y, **kept, **asks.more)
    save_model(estimator, out, feature_names=asks.feature_names, offset=asks.offset)
    say(f"{asks.heading}, {how}\n")
    _coefficients(estimator, asks.names, out)
    told = {} if k is not None else facts_of_choice(estimator)
    told |= _in_sample(asks, estimator)
    told |= {} if k is None else _facts(estimator)
    print_facts({**told, "model": str(out)})
    if summary:
        say(f"\n{estimator.summary()}")
    return {"converged": OK, "interrupted": INTERRUPTED}.get(estimator.result_.status, NOT_CONVERGED)


def _in_sample(asks: Question, estimator: Any) -> dict[str, str]:
    from sklearn.metrics import accuracy_score, r2_score

    predicted = estimator.predict(asks.X, **asks.more)
    measure, score = ("accuracy", accuracy_score) if asks.classifies else ("R2", r2_score)
    return {f"{measure} on these rows": digits(float(score(asks.told, predicted)))}


def _coefficients(estimator: Any, names: Sequence[str], out: Path) -> None:
    coef, intercept = estimator._on_support()
    coef = coef if coef.ndim == 2 else coef[:, None]  # one column per output
    rows = [(names[j], *map(digits, row)) for j, row in zip(estimator.support_[:SHOWN], coef, strict=False)]
    if len(coef) > SHOWN:
        rows.append((f"... {len(coef) - SHOWN} more in {out}", *[""] * coef.shape[1]))
    if estimator.fit_intercept:
        rows.append(("(intercept)", *map(digits, np.ravel(intercept))))
    outputs = ["coefficient"] if coef.shape[1] == 1 else [str(label) for label in estimator.classes_]
    console().print(table({"feature": "left", **dict.fromkeys(outputs, "right")}, rows))


def _facts(estimator: Any) -> dict[str, str]:
    """What is known of a fit whose k was given."""
    result = estimator.result_
    return {
        "objective": digits(result.value),
        **({"l2": digits(estimator.l2_)} if estimator.l2_ else {}),
        "status": f"{result.status}: {result.reason}",
        "optimality": str(result.optimality),
        **({"next best": result.next_best} if result.next_best else {}),
        "solver": f"{result.solver}, {result.n_iter} iteration{'s' * (result.n_iter != 1)}, {result.seconds:.2g} s",
    }
