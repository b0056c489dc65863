"""``pursuit fit -k auto``: the options of the choice, the estimator that makes it, and what there is to say of it."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from pursuit.cli.asked import Question
from pursuit.cli.show import digits

FOLDS = 10
PREDICTS = {
    "project": "an average of models, projected onto the chosen features: shrunk, and no refit",
    "average": "the average of all models",
}


@dataclass(frozen=True, kw_only=True)
class Auto:
    """Options, as they were given; the column of the row groups is with the data."""

    ks: list[int] | None
    cv: int | None
    cv_groups: str | None
    goal: str | None
    rule: str | None
    combine: str | None

    def refuse(self, k: int) -> None:
        """Raise where k leaves nothing to choose."""
        for field in fields(self):
            if getattr(self, field.name) is not None:
                option = f"--{field.name.replace('_', '-')}"
                raise ValueError(f"{option} is for -k auto, which chooses k, and -k is {k}")


def chooser(asks: Question, auto: Auto) -> tuple[Any, str]:
    """The estimator, and how it chooses, in words."""
    import pursuit
    from pursuit.selection import CRITERIA

    goal = (auto.goal or "predict").casefold()
    rule, combine = (None if word is None else word.casefold() for word in (auto.rule, auto.combine))
    kind: Any = pursuit.SparseClassifierCV if asks.classifies else pursuit.SparseRegressorCV
    given = {**asks.parameters, "ks": auto.ks, "goal": goal, "rule": rule, "combine": combine}
    effort = given.pop("effort", None)  # which an estimator that makes many searches takes with its solver
    if effort is not None:
        given["solver"] = pursuit.Auto(effort=effort)
    if rule is not None and rule in CRITERIA:
        for option, value in (("--cv", auto.cv), ("--cv-groups", auto.cv_groups), ("--combine", auto.combine)):
            if value is not None:
                raise ValueError(f"{option} is for held-out folds, and --rule {rule} has none")
        return kind(**given), f"k chosen by {rule.upper()}"
    folds = FOLDS if auto.cv is None else auto.cv
    words = f"k chosen by {folds}-fold cross-validation"
    if asks.groups is None:
        return kind(**given, cv=folds), words
    splitter = _splitter(asks, folds, auto.cv_groups)
    words = (
        f"k chosen by {splitter.get_n_splits()}-fold cross-validation that keeps rows of one {auto.cv_groups} together"
    )
    return kind(**given, cv=splitter), words


def _splitter(asks: Question, folds: int, column: str | None) -> Any:
    """Folds that keep groups together and, for classes, their shares as well as that allows."""
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    groups = len(np.unique(asks.groups))
    if groups < 2:
        raise ValueError(f"--cv-groups {column} has one value in all rows; folds need at least two")
    if not asks.classifies:
        return GroupKFold(min(folds, groups), shuffle=True, random_state=0)
    rarest = int(np.unique(asks.told, return_counts=True)[1].min())
    return StratifiedGroupKFold(max(2, min(folds, groups, rarest)), shuffle=True, random_state=0)


def _refit(estimator: Any) -> str:
    """With which ridges one subset was selected and fitted."""
    f = estimator.objective_
    fitted = float(np.max(getattr(f, "ridge", getattr(f, "l2", 0.0))))
    selected = "" if fitted == estimator.l2_ else f" with l2 {digits(estimator.l2_)}"
    ridge = f"with l2 {digits(fitted)}" if fitted else "without a ridge"
    return f"one subset, selected{selected} and refitted {ridge}"


def facts(estimator: Any) -> dict[str, str]:
    """What was chosen, why, and how it did on rows that its folds did not see."""
    told = {"chosen": estimator.reason_}
    seen = estimator.held_out_
    if seen is not None:
        error = f"standard error {seen.error:.2g} over {seen.folds} folds"
        told["held out"] = f"{seen.name} {seen.score:.4g}, {error}; k was chosen by it, so it flatters a little"
    if estimator.combine_ in PREDICTS and estimator.k_:
        told["predicts by"] = PREDICTS[estimator.combine_]
    elif estimator.combine_ == "none" and estimator.gamma_ == 0 and estimator.k_:
        told["predicts by"] = _refit(estimator)
    else:
        told["l2"] = digits(estimator.l2_)
    told["seconds"] = f"{estimator.path_.seconds:.2g}"
    return told
