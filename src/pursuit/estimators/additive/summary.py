"""An additive model on one page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..._utils.text import format_fraction, format_number, format_paragraphs, format_table, truncate
from ..._utils.types import Keywords, Vector
from ..._utils.validation import format_list, require_package
from ...certificates import Certificate

if TYPE_CHECKING:
    from pandas import DataFrame
    from sklearn.base import BaseEstimator


@dataclass(frozen=True, eq=False, repr=False)
class AdditiveSummary:
    """What ``SparseAdditiveRegressor.summary()`` returns; ``print`` it, or take the numbers.

    Attributes
    ----------
    names : of the chosen features
    kinds : of their effects
    ranges : the largest effect less the least one, over the values of the training rows
    shapes : where each curve rises and falls, in words
    drop : what ``unit`` loses when a feature is dropped and the others are refitted; None where the data are gone
    rivals : the feature that replaces each at the least cost, empty where there is none
    rival_cost : what ``unit`` loses with it; None where the data are gone
    unit : R2, D2 (the share of the deviance), or the objective
    score, held_out, held_out_error : in sample and, for k="cv", held out with its standard error over folds
    found : what is known of the choice, in sentences
    optimality : the sentence among them on whether another set is better, empty where there is none
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    ranges: Vector
    shapes: tuple[str, ...]
    drop: Vector | None
    unit: str
    score: float | None
    held_out: float | None
    held_out_name: str
    held_out_error: float | None
    rows: int | None
    n_features: int
    k: int
    loss: str
    found: tuple[str, ...]
    optimality: str = ""
    rivals: tuple[str, ...] = ()
    rival_cost: Vector | None = None

    def to_frame(self) -> "DataFrame":
        """A pandas DataFrame with a row per feature."""
        pd = require_package("pandas", "io", "to_frame")
        held: Keywords = {
            "feature": list(self.names),
            "effect": list(self.kinds),
            "range": self.ranges,
            "shape": list(self.shapes),
        }
        if self.drop is not None:
            held |= {"drop": self.drop}
        if self.rival_cost is not None:
            held |= {"rival": list(self.rivals), "rival_cost": self.rival_cost}
        return pd.DataFrame(held)

    def __str__(self) -> str:
        return "\n\n".join(part for part in (self._heading(), self._table(), format_paragraphs(self.found)) if part)

    __repr__ = __str__

    def _heading(self) -> str:
        rows = "" if self.rows is None else f", {self.rows} rows"
        words = [f"{len(self.names)} of {self.n_features} features, one effect each{rows}, {self.loss} loss"]
        words += [] if self.score is None else [f"{self.unit} {self.score:.4f} in sample"]
        if self.held_out is not None:
            error = "" if self.held_out_error is None else f" (standard error {self.held_out_error:.4f})"
            words.append(f"{self.held_out_name} {self.held_out:.4f} held out{error}")
        return "; ".join(words)

    def _table(self) -> str:
        if not self.names:
            return "(no features: the null model)"
        short = self.unit if self.unit in ("R2", "D2") else "value"
        headings = ["feature", "effect", "range", "shape"]
        cells = [
            [truncate(name) for name in self.names],
            list(self.kinds),
            [format_number(r) for r in self.ranges],
            list(self.shapes),
        ]
        if self.drop is not None:
            headings.insert(3, f"{short} {'lost' if short != 'value' else 'gained'} if dropped")
            cells.insert(3, [format_fraction(d) if np.isfinite(d) else "must stay" for d in self.drop])
        if self.rival_cost is not None and any(self.rivals):
            headings[4:4] = ["closest rival", f"{'lost' if short != 'value' else 'gained'} with it"]
            costs = zip(self.rivals, self.rival_cost, strict=True)
            cells[4:4] = [
                [truncate(rival) for rival in self.rivals],
                [format_fraction(cost) if rival and np.isfinite(cost) else "" for rival, cost in costs],
            ]
        left = [j for j, heading in enumerate(headings) if heading in ("feature", "effect", "shape", "closest rival")]
        return format_table(headings, zip(*cells, strict=True), left)


def build_additive_summary(estimator: "BaseEstimator") -> AdditiveSummary:
    """The summary of a fitted additive model, from that of its sparse model."""
    inner, model = estimator.model_.summary(), estimator.model_
    effects = list(estimator.effects_.values())
    owner = model.basis_.feature_of[inner.columns]
    drop = rival_cost = None
    rivals: tuple[str, ...] = ("",) * len(effects)
    if inner.drop is not None and len(effects):
        first = [int(np.flatnonzero(owner == effect.column)[0]) for effect in effects]
        drop, rival_cost = inner.drop[first], None if inner.rival_cost is None else inner.rival_cost[first]
        if inner.rival_columns:
            rivals = tuple(_feature_names(estimator, inner.rival_columns[i]) for i in first)
    proof = getattr(estimator, "certificate_", None)
    known = (
        inner.found.replace("exchange of one group", "exchange of one feature")
        if estimator.groups is None
        else inner.found
    )
    if proof is not None and proof.status == "proved":
        known = proof_sentence(estimator, proof)
    notes = [_of_curves(note) for note in inner.notes]
    found = tuple(sentence for sentence in (known, *notes) if sentence)
    return AdditiveSummary(
        tuple(effect.name for effect in effects),
        tuple(effect.kind for effect in effects),
        np.array([effect.range for effect in effects]),
        tuple(effect.describe() for effect in effects),
        drop,
        inner.unit,
        inner.score,
        inner.held_out,
        inner.held_out_name,
        inner.held_out_error,
        inner.rows,
        estimator.n_features_in_,
        estimator.k_,
        inner.loss,
        found,
        known,
        rivals,
        rival_cost,
    )


def proof_sentence(estimator: "BaseEstimator", proof: Certificate) -> str:
    """What a proved certificate says of an additive model, or of the plain fit behind it."""
    model, k = estimator.model_, estimator.model_.result_.k
    what = (
        f"the best additive model with at most {k} {'feature' if estimator.groups is None else 'group'}{'s' * (k != 1)}"
    )
    best = np.unique(model.basis_.feature_of[proof.result.support])
    if isinstance(estimator.k, str) or not np.array_equal(best, estimator.support_):
        names = estimator._names()
        chosen = format_list([names[j] for j in best.tolist()], len(best))
        return f"Proved: without averaging, {what} has {chosen}, for these knots and this ridge."
    return f"Proved: this is {what}, for these knots and this ridge."


def _of_curves(note: str) -> str:
    """A note on coefficients, as one on curves."""
    note = note.replace("Positive coefficients speak", "Positive effects speak")
    note = note.replace("Coefficients are shrunk by a ridge", "Curves are smoothed by a ridge")
    return note.replace("whose coefficients are not the ones above", "whose curves are not the ones above")


def _feature_names(estimator: "BaseEstimator", columns: Sequence[int]) -> str:
    """The features that some spline columns belong to, by name."""
    names = estimator._names()
    own = np.unique(estimator.model_.basis_.feature_of[list(columns)])
    return format_list([names[j] for j in own], 2) if len(own) else ""
