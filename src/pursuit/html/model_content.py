"""What a report says of the model on its own rows: features, every size, optimality."""

from typing import TYPE_CHECKING

import numpy as np

from .._utils.text import format_number
from .._utils.types import Keywords
from ..certificates import certify
from ..objectives.sparse_set import SparseSet
from ..paths import path
from ..reports.build import DisplayedModel, per_sd
from .content import Subject, count_of, json_number
from .training import column_names

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

MAX_PATH_SIZE = 60  # features of the largest model on the page's path
MAX_SENTENCES = 8  # features that are described in words
MAX_SUMMARY_ROWS = 200  # features in the page's table


def features(content: Keywords, about: Subject) -> None:
    model = about.model
    summary = model.summary()
    several, costs = summary.coef.ndim == 2, summary.rival_cost
    per_unit = np.linalg.norm(summary.coef, axis=1) if several else summary.coef
    spread = summary.per_sd if summary.per_sd is None or not several else np.linalg.norm(summary.per_sd, axis=1)
    table = [
        {
            "name": name,
            "coef": json_number(per_unit[i]),
            "per_sd": None if spread is None else json_number(spread[i]),
            "drop": None if summary.drop is None else json_number(summary.drop[i]),
            "rival": summary.rivals[i],
            "rival_cost": None if costs is None or not summary.rivals[i] else json_number(costs[i]),
        }
        for i, name in enumerate(summary.names)
    ]
    order = sorted(range(len(table)), key=lambda i: -abs(table[i]["per_sd"] or table[i]["coef"] or 0.0))
    content["features"] = [table[i] for i in order[:MAX_SUMMARY_ROWS]]
    content["unit"], content["norms"], content["costs"] = summary.unit, several, summary.how
    content["intercept"] = [json_number(v) for v in np.ravel(summary.intercept)]
    content["in_sample"] = None if summary.score is None else [summary.unit, json_number(summary.score)]
    content["words"] = [] if several else [_effect(content, row, model) for row in content["features"][:MAX_SENTENCES]]
    content["rivals"] = rival_sentences(content["features"], summary.unit)
    reason = content["question"]["reason"]
    content["notes"] = [note for note in summary.notes if note.rstrip(".") != reason]
    content["sets"] = str(summary.sets) if summary.sets < 10**7 else f"about 10^{len(str(summary.sets)) - 1}"
    if len(table) > MAX_SUMMARY_ROWS:
        content["left_out"].append(f"The table shows the {MAX_SUMMARY_ROWS} features with the largest effects.")


def _effect(content: Keywords, row: Keywords, model: "BaseEstimator") -> str:
    """One feature in words: direction, size per unit and per standard deviation."""
    coef, target = row["coef"] or 0.0, content["question"]["target"]
    up = "higher" if coef > 0 else "lower"
    sd = "" if row["per_sd"] is None else format_number(abs(row["per_sd"]))
    loss = content["question"]["loss"]
    if loss == "logistic" and row["per_sd"] is not None:
        label, odds = content["question"]["classes"][1], np.exp(np.clip(row["per_sd"], -700, 700))
        more = f"multiplies the odds of {target} = {label} by {format_number(odds, 3)}"
        return (
            f"One standard deviation more of {row['name']} {more} (one unit: {np.exp(np.clip(coef, -700, 700)):.4g})."
        )
    if loss == "poisson" and row["per_sd"] is not None:
        rate = format_number(np.exp(np.clip(row["per_sd"], -700, 700)), 3)
        return f"One standard deviation more of {row['name']} multiplies the expected {target} by {rate}."
    if loss in ("squared", "huber"):
        per = f" ({sd} per standard deviation)" if sd else ""
        return f"One unit more of {row['name']} goes with {format_number(abs(coef))} {up} {target}{per}."
    return f"More of {row['name']} speaks {'for' if coef > 0 else 'against'} {target} = {model.classes_[1]}."


def rival_sentences(features: list[Keywords], unit: str) -> list[str]:
    known = [row for row in features if row["rival"] and row["rival_cost"] is not None and row["drop"]]
    known.sort(key=lambda row: row["rival_cost"])
    measure = f"of {unit}" if unit in ("R2", "D2") else "of the objective"
    return [
        f"{row['name']} could be replaced by {row['rival']} at a cost of {_percent(row['rival_cost'], unit)} {measure}"
        f" (dropping it costs {_percent(row['drop'], unit)})."
        if row["rival_cost"] >= 0
        else f"{row['rival']} in place of {row['name']} would fit these rows better, by"
        f" {_percent(-row['rival_cost'], unit)} {measure}."
        for row in known[:4]
    ]


def _percent(cost: float, unit: str) -> str:
    return f"{100 * cost:.2g} percentage points" if unit in ("R2", "D2") else format_number(cost)


def path_of_sizes(content: Keywords, about: Subject) -> None:
    """Every size: what it explains, and its features with their coefficients per standard deviation."""
    model, options = about.model, about.options
    plain = about.plain
    f = getattr(plain, "objective_", None)
    if f is None or not hasattr(f, "data"):
        if len(model.support_):
            content["left_out"].append("The path over sizes needs the data of the fit.")
        return
    largest = int(min(MAX_PATH_SIZE, f.dim // f.width, max(2 * plain.k, plain.k + 5)))
    allowed = SparseSet.of(plain)
    first = 0 if allowed.include is None else 1
    known = path(f, range(first, largest + 1), time_limit=options.time_limit, effort="fast", **allowed._asdict())
    names = column_names(model)
    sizes = []
    for k, result, share in zip(known.sizes, known.results, known.explained, strict=True):
        coef = per_sd(f, DisplayedModel(result.support, result.coef, result.intercept))
        coef = np.linalg.norm(coef, axis=1) if coef.ndim == 2 else coef
        order = np.argsort(-np.abs(coef), kind="stable")
        sizes.append(
            {
                "k": int(k),
                "explained": json_number(share),
                "features": [[names[result.support[i]], json_number(coef[i])] for i in order],
            }
        )
    if sizes:
        content["path"] = {
            "sizes": sizes,
            "chosen": int(getattr(model, "k_", getattr(model, "k", 0))),
            "unit": content["unit"],
        }


def optimality(content: Keywords, about: Subject) -> None:
    model, options = about.model, about.options
    plain = about.plain
    result, f = (model if plain is None else plain).result_, getattr(plain, "objective_", None)
    size = count_of(
        result.constraint.count(result.point.support), "group" if result.constraint.unit_of is not None else "feature"
    )
    names = column_names(model)
    same = np.array_equal(result.support, model.support_)
    said = [
        {
            "swap_optimal": "No exchange of one feature for another improves the fit.",
            "swap_stationary": "No exchange of one feature for another was found to improve the fit.",
        }.get(result.optimality, "Exchanges of features were not examined.")
    ]
    proof = None
    if options.certificate and f is not None and "proof" in getattr(f, "offers", ()) and len(result.support):
        try:
            proof = certify(f, result, time_limit=options.time_limit)
        except ValueError as error:
            content["left_out"].append(f"Certificate: {error}.")
    if proof is not None:
        same = same and np.array_equal(proof.result.support, result.support)
        if proof.status == "proved":
            said = [f"Proved: no other set of {size} fits these rows better."]
        else:
            said.append(f"No set of {size} fits more than {100 * proof.rel_gap:.3g}% better (a proved bound).")
        status = proof.status if same else "other set"
        content["certificate"] = {"status": status, "rel_gap": json_number(proof.rel_gap), "nodes": int(proof.nodes)}
    if not same:
        best = ", ".join(names[j] for j in (result if proof is None else proof.result).support)
        said = [f"The set of {size} that fits these rows best without averaging is {best}.", *said]
    if result.next_best and same:
        said.append(f"Next best exchange: {result.next_best}.")
    content["optimality"] = said
