"""``pursuit fit --effects``: an additive model, its curves as a table."""

from pathlib import Path
from typing import TYPE_CHECKING

from pursuit._utils.types import Keywords
from pursuit.cli import INTERRUPTED, NOT_CONVERGED, OK
from pursuit.cli.choose_k import ChoiceOptions, choice_facts
from pursuit.cli.inputs import FitRequest
from pursuit.cli.progress import choose_with_progress, fit_with_progress
from pursuit.cli.show import command_line, console, format_number, make_table, print_facts, print_text, save_picture
from pursuit.io import save_model

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from pursuit.estimators.additive.base import SparseAdditive

FOLDS = 5
KINDS = ("smooth", "linear", "auto")


def check_effects(effects: str) -> None:
    """Raise where --effects is no kind of effects."""
    if effects not in KINDS:
        raise ValueError(f"--effects {effects} is not known; it is smooth, linear or auto")


def make_additive(
    request: FitRequest, effects: str, k: int | None, auto: ChoiceOptions
) -> tuple["SparseAdditive", str]:
    """The estimator, and how it chooses, in words."""
    import pursuit

    kind = pursuit.SparseAdditiveClassifier if request.classifies else pursuit.SparseAdditiveRegressor
    given = dict(request.parameters)
    if not given.pop("standardize", True):
        raise ValueError("--no-standardize has no use with --effects: the columns of a curve have scales of their own")
    effort = given.pop("effort", None)
    if effort is not None:
        given["solver"] = pursuit.Auto(effort=effort)
    if k is not None:
        return kind(k=k, effects=effects, **given), f"at most {k} features with {effects} effects"
    folds = FOLDS if auto.cv is None else auto.cv
    words: Keywords = {
        name: None if value is None else value.casefold()
        for name, value in (("goal", auto.goal), ("rule", auto.rule), ("combine", auto.combine))
    }
    return (
        kind(effects=effects, ks=auto.ks, cv=folds, **words, **given),
        f"{effects} effects, k chosen by {folds}-fold cross-validation",
    )


def run_additive(
    request: FitRequest,
    out: Path,
    effects: str,
    k: int | None,
    auto: ChoiceOptions,
    *,
    summary: bool,
    picture: Path | None = None,
    report: Path | None = None,
    target: str = "y",
) -> int:
    """Fit, write and print."""
    estimator, how = make_additive(request, effects, k, auto)
    if k is None:
        choose_with_progress(estimator, request)
    else:
        fit_with_progress(estimator, request.X, request.y, **request.more)
    save_model(request.saved(estimator), out, feature_names=request.feature_names, offset=request.offset)
    print_text("\n".join([f"{request.heading}, {how}", *(f"  {note}" for note in request.notes), ""]))
    rows = [
        (request.names[effect.column], effect.kind, format_number(effect.range), effect.describe())
        for effect in estimator.effects_.values()
    ]
    console().print(make_table({"feature": "left", "effect": "left", "range": "right", "shape": "left"}, rows))
    model = estimator.model_
    facts = {} if k is not None else choice_facts(model)
    facts |= _in_sample(request, estimator)
    if k is not None:
        facts |= {"status": f"{model.result_.status}: {model.result_.reason}", "l2": format_number(model.l2_)}
    facts["model"] = str(out)
    if picture is not None and estimator.effects_:
        from pursuit.plots import EffectDisplay

        save_picture(picture, EffectDisplay.from_estimator(estimator, request.X))
        facts["picture"] = str(picture)
    if report is not None:
        estimator.report(report, target=target, command=command_line())
        facts["report"] = str(report)
    print_facts(facts)
    if summary:
        print_text(f"\n{estimator.summary()}")
    return {"converged": OK, "interrupted": INTERRUPTED}.get(model.result_.status, NOT_CONVERGED)


def _in_sample(request: FitRequest, estimator: "BaseEstimator") -> dict[str, str]:
    from sklearn.metrics import accuracy_score, r2_score

    predicted = estimator.predict(request.X, **request.more)
    measure, score = ("accuracy", accuracy_score) if request.classifies else ("R2", r2_score)
    return {f"{measure} on these rows": format_number(float(score(request.targets, predicted)))}
