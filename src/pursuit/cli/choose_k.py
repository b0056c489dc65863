"""``pursuit fit -k auto``: options, the CV estimator, and the facts that are printed."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from pursuit.cli.inputs import FitRequest
from pursuit.cli.show import format_number

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.model_selection import BaseCrossValidator

    from pursuit.estimators.base_cv import SparseModelCV
    from pursuit.objectives.glm import GLM

DEFAULT_FOLDS = 10
PREDICTION_WORDS = {
    "project": "an average of models, projected onto the chosen features: shrunk, and no refit",
    "average": "the average of all models",
}


@dataclass(frozen=True, kw_only=True)
class ChoiceOptions:
    """The options of ``-k auto``; the column of the row groups is with the data."""

    ks: list[int] | None
    cv: int | None
    cv_groups: str | None
    goal: str | None
    rule: str | None
    combine: str | None

    def refuse_fixed_k(self, k: int) -> None:
        """Raise where an option of ``-k auto`` comes with a fixed k."""
        for field in fields(self):
            if getattr(self, field.name) is not None:
                option = f"--{field.name.replace('_', '-')}"
                raise ValueError(f"{option} is for -k auto, which chooses k, and -k is {k}")


def make_cv_estimator(request: FitRequest, auto: ChoiceOptions) -> tuple["SparseModelCV", str]:
    """The estimator, and how it chooses, in words."""
    import pursuit
    from pursuit.selection import CRITERIA

    goal = (auto.goal or "predict").casefold()
    rule, combine = (None if word is None else word.casefold() for word in (auto.rule, auto.combine))
    kind = pursuit.SparseClassifierCV if request.classifies else pursuit.SparseRegressorCV
    given = {**request.parameters, "ks": auto.ks, "goal": goal, "rule": rule, "combine": combine}
    effort = given.pop("effort", None)  # which an estimator that makes many searches takes with its solver
    if effort is not None:
        given["solver"] = pursuit.Auto(effort=effort)
    if rule is not None and rule in CRITERIA:
        for option, value in (("--cv", auto.cv), ("--cv-groups", auto.cv_groups), ("--combine", auto.combine)):
            if value is not None:
                raise ValueError(f"{option} is for held-out folds, and --rule {rule} has none")
        return kind(**given), f"k chosen by {rule.upper()}"
    folds = DEFAULT_FOLDS if auto.cv is None else auto.cv
    words = f"k chosen by {folds}-fold cross-validation"
    if request.groups is None:
        return kind(**given, cv=folds), words
    splitter = _splitter(request, folds, auto.cv_groups)
    words = (
        f"k chosen by {splitter.get_n_splits()}-fold cross-validation that keeps rows of one {auto.cv_groups} together"
    )
    return kind(**given, cv=splitter), words


def _splitter(request: FitRequest, folds: int, column: str | None) -> "BaseCrossValidator":
    """Folds that keep groups together and, for classes, their shares as well as that allows."""
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    groups = len(np.unique(np.asarray(request.groups)))
    if groups < 2:
        raise ValueError(f"--cv-groups {column} has one value in all rows; folds need at least two")
    if not request.classifies:
        return GroupKFold(min(folds, groups), shuffle=True, random_state=0)
    rarest = int(np.unique(request.targets, return_counts=True)[1].min())
    return StratifiedGroupKFold(max(2, min(folds, groups, rarest)), shuffle=True, random_state=0)


def _describe_refit(estimator: "BaseEstimator") -> str:
    """The ridges of the selection and of the refit."""
    fitted = ridge_of(estimator.objective_)
    selected = "" if fitted == estimator.l2_ else f" with l2 {format_number(estimator.l2_)}"
    ridge = f"with l2 {format_number(fitted)}" if fitted else "without a ridge"
    return f"one subset, selected{selected} and refitted {ridge}"


def ridge_of(objective: "GLM") -> float:
    """The ridge of a GLM, or of one with several outputs."""
    return float(np.max(getattr(objective, "ridge", getattr(objective, "l2", 0.0))))


def choice_facts(estimator: "BaseEstimator") -> dict[str, str]:
    """The choice, its reason, and its held-out score."""
    facts = {"chosen": estimator.reason_}
    held_out = estimator.held_out_
    if held_out is not None:
        error = f"standard error {held_out.error:.2g} over {held_out.folds} folds"
        facts["held out"] = (
            f"{held_out.name} {held_out.score:.4g}, {error}; k was chosen by it, so it flatters a little"
        )
        if held_out.classes is not None:
            facts |= {f"held out, {name}": fact for name, fact in held_out.classes.facts().items()}
    if estimator.combine_ in PREDICTION_WORDS and estimator.k_:
        facts["predicts by"] = PREDICTION_WORDS[estimator.combine_]
    elif estimator.combine_ == "none" and estimator.gamma_ == 0 and estimator.k_:
        facts["predicts by"] = _describe_refit(estimator)
    else:
        facts["l2"] = format_number(estimator.l2_)
    facts["seconds"] = f"{estimator.path_.seconds:.2g}"
    return facts
