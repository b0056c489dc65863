"""``pursuit fit``: read, choose the estimator, fit with a status line, write, print."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pursuit.cli import INTERRUPTED, NOT_CONVERGED, OK
from pursuit.cli.choose_k import ChoiceOptions, choice_facts, make_cv_estimator
from pursuit.cli.inputs import DataOptions, FitRequest, read_request
from pursuit.cli.progress import choose_with_progress, fit_with_progress
from pursuit.cli.show import (
    PICTURE_SUFFIXES,
    REPORT_SUFFIXES,
    check_writable,
    command_line,
    console,
    format_number,
    make_table,
    print_facts,
    print_text,
    save_picture,
)
from pursuit.io import load_model, save_model

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from pursuit.plots import CVDisplay, PathDisplay

DEFAULT_MODEL = "model.json"  # what is written without --out
MAX_PRINTED_COEFFICIENTS = 40  # coefficients that are printed; the model holds all


def run(
    options: DataOptions,
    out: Path | None,
    k: int | None,
    auto: ChoiceOptions,
    *,
    summary: bool,
    checkpoint: Path | None = None,
    picture: Path | None = None,
    report: Path | None = None,
    effects: str | None = None,
) -> int:
    """Fit at most k features, or as many as ``auto`` finds best where k is None."""
    if effects is not None:
        _check_effects(effects, checkpoint)
    out = _default_out() if out is None else out
    check_writable("--out", out)
    check_writable("--picture", picture, PICTURE_SUFFIXES)
    check_writable("--report", report, REPORT_SUFFIXES)
    if k is not None:
        auto.refuse_fixed_k(k)
    elif checkpoint is not None:
        raise ValueError("--checkpoint is for one search: give -k a number (-k auto makes many, one per fold)")
    request = read_request(options)
    if effects is not None:
        from pursuit.cli.effects import run_additive

        target = request.target or options.target or "y"
        return run_additive(
            request, out, effects, k, auto, summary=summary, picture=picture, report=report, target=target
        )
    if k is None:
        estimator, how = make_cv_estimator(request, auto)
        choose_with_progress(estimator, request)
    else:
        what = "features" if request.parameters.get("groups") is None else "columns of the table"
        estimator, how = request.estimator(k=k), f"at most {k} {what}"
        kept = {} if checkpoint is None else {"checkpoint": checkpoint}
        fit_with_progress(estimator, request.X, request.y, **kept, **request.more)
    save_model(request.saved(estimator), out, feature_names=request.feature_names, offset=request.offset)
    print_text("\n".join([f"{request.heading}, {how}", *(f"  {note}" for note in request.notes), ""]))
    _coefficients(estimator, request.names, out)
    facts = {} if k is not None else choice_facts(estimator)
    facts |= in_sample(request, estimator)
    facts |= {} if k is None else _fit_facts(estimator)
    facts["model"] = str(out)
    if picture is not None:
        save_picture(picture, _picture(estimator))
        facts["picture"] = str(picture)
    if report is not None:
        estimator.report(report, target=request.target or options.target or "y", command=command_line())
        facts["report"] = str(report)
    print_facts(facts)
    if summary:
        print_text(f"\n{estimator.summary()}")
    return {"converged": OK, "interrupted": INTERRUPTED}.get(estimator.result_.status, NOT_CONVERGED)


def _check_effects(effects: str, checkpoint: Path | None) -> None:
    """Raise where --effects is not known, or comes with what additive models have not."""
    from pursuit.cli.effects import check_effects

    check_effects(effects)
    if checkpoint is not None:
        raise ValueError("--checkpoint is for models with one coefficient a feature; leave it out with --effects")


def _default_out() -> Path:
    """model.json, which may only take the place of a model."""
    path = Path(DEFAULT_MODEL)
    if path.exists():
        try:
            load_model(path)
        except ValueError as error:
            raise ValueError(f"{path} is there and no model of pursuit; name the model to write with --out") from error
    return path


def _picture(estimator: "BaseEstimator") -> "CVDisplay | PathDisplay":
    """The held-out loss of every size where k was chosen, else the best models of sizes up to k."""
    from pursuit.plots import CVDisplay, PathDisplay

    if hasattr(estimator, "cv_results_"):
        return CVDisplay.from_estimator(estimator)
    return PathDisplay.from_estimator(estimator)


def in_sample(request: FitRequest, estimator: "BaseEstimator") -> dict[str, str]:
    from sklearn.metrics import accuracy_score, r2_score

    predicted = estimator.predict(request.X, **request.more)
    scores = estimator._class_scores()
    if scores is not None:
        facts = {name: fact for name, fact in scores.facts().items() if name != "log loss"}
        return {"accuracy on these rows": format_number(scores.accuracy)} | facts
    measure, score = ("accuracy", accuracy_score) if request.classifies else ("R2", r2_score)
    return {f"{measure} on these rows": format_number(float(score(request.targets, predicted)))}


def _coefficients(estimator: "BaseEstimator", names: Sequence[str], out: Path) -> None:
    coef, intercept = estimator._on_support()
    coef = coef if coef.ndim == 2 else coef[:, None]  # one column per output
    rows = [
        (names[j], *map(format_number, row))
        for j, row in zip(estimator.support_[:MAX_PRINTED_COEFFICIENTS], coef, strict=False)
    ]
    if len(coef) > MAX_PRINTED_COEFFICIENTS:
        rows.append((f"... {len(coef) - MAX_PRINTED_COEFFICIENTS} more in {out}", *[""] * coef.shape[1]))
    if estimator.fit_intercept:
        rows.append(("(intercept)", *map(format_number, np.ravel(intercept))))
    outputs = ["coefficient"] if coef.shape[1] == 1 else [str(label) for label in estimator.classes_]
    console().print(make_table({"feature": "left", **dict.fromkeys(outputs, "right")}, rows))


def _fit_facts(estimator: "BaseEstimator") -> dict[str, str]:
    """Facts about a fit with a fixed k."""
    result = estimator.result_
    return {
        "objective": format_number(result.value),
        **({"l2": format_number(estimator.l2_)} if estimator.l2_ else {}),
        "status": f"{result.status}: {result.reason}",
        "optimality": str(result.optimality),
        **({"next best": result.next_best} if result.next_best else {}),
        "solver": f"{result.solver}, {result.n_iter} iteration{'s' * (result.n_iter != 1)}, {result.seconds:.2g} s",
    }
