"""What a report says, as plain data: every number and sentence of the page, ready for JSON."""

import platform
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
import sklearn
from sklearn.base import is_classifier
from sklearn.metrics import confusion_matrix

from .._utils.text import format_number
from .._utils.types import ArrayLike, Keywords, MatrixLike, Vector
from ..certificates import certify
from ..inference import split_intervals
from ..io.files import data_fingerprint
from ..objectives.sparse_set import SparseSet
from ..paths import path
from ..reports.build import DisplayedModel, per_sd
from ..resampling import stability
from .held_out import HeldOutRows, binary_curves, held_out_rows
from .svg import MAX_MARKS
from .training import TrainingRows, chooses_k, column_names, fixed_size, plain_fit, training_rows

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

MAX_PATH_SIZE = 60  # features of the largest model on the page's path
MAX_PATH_LINES = 30  # features whose line is drawn, those with the largest coefficients
MAX_BARS = 30  # features in the picture of stability
MAX_SENTENCES = 8  # features that are described in words
MAX_SUMMARY_ROWS = 200  # features in the page's table


@dataclass(frozen=True)
class Options:
    """What the caller of a report wants."""

    title: str | None = None
    target: str = "y"
    certificate: bool = True
    stability: bool = True
    intervals: bool = True
    baseline: bool = True
    n_pairs: int = 25
    time_limit: float = 10.0
    random_state: int = 0
    command: str | None = None


@dataclass(frozen=True)
class Subject:
    """The model, its rows (None: not in memory), and its plain fit (None: no rows, or no feature)."""

    model: "BaseEstimator"
    rows: TrainingRows | None
    plain: Any
    options: Options


def build_content(
    model: "BaseEstimator",
    X: MatrixLike | None,
    y: ArrayLike | None,
    options: Options,
    on_step: Callable[[int, int], object],
    steps: Sequence["Step"] | None = None,
) -> Keywords:
    """Everything that the page shows; parts that cannot be had are named in ``left_out`` with the reason."""
    content: Keywords = {"left_out": []}
    rows = training_rows(model, X, y)
    steps = LINEAR_STEPS if steps is None else steps
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits on parts of the rows; the sections say what went wrong
        about = Subject(model, rows, plain_fit(model, rows), options)
        for i, step in enumerate(steps):
            on_step(i, len(steps))
            step(content, about)
    on_step(len(steps), len(steps))
    return content


def question(content: Keywords, about: Subject) -> None:
    """The question and the model that answers it."""
    model, rows, options = about.model, about.rows, about.options
    summary, classes = model.summary(), is_classifier(model)
    n = summary.rows if summary.rows is not None else 0 if rows is None else len(rows.y)
    name = options.target
    content["title"] = options.title or f"{name}: a model with {count_of(len(model.support_), 'feature')}"
    task = f"predict {name} ({', '.join(map(str, model.classes_))})" if classes else f"predict {name}"
    fixed, fitted = not chooses_k(model), getattr(model, "model_", model)
    how = f"at most {model.k} features" if fixed else "as few features as predict it well (cross-validation)"
    reason = str(getattr(fitted, "reason_", model.result_.reason))
    if fitted is not model:
        reason = "; ".join(part for part in reason.split("; ") if "held there by bounds" not in part)
        how += ", each with a curve of its own"
    content["question"] = {
        "task": task,
        "how": how,
        "rows": int(n),
        "columns": int(model.n_features_in_),
        "features": len(model.support_),
        "loss": str(summary.loss or model.loss),
        "target": name,
        "classes": [str(label) for label in model.classes_] if classes else None,
        "reason": reason,
        "estimator": type(model).__name__,
    }


def _features(content: Keywords, about: Subject) -> None:
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


def _path(content: Keywords, about: Subject) -> None:
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


def cross_validation(content: Keywords, about: Subject) -> None:
    """The held-out loss of every size."""
    model = getattr(about.model, "model_", about.model)
    table = getattr(model, "sizes_", None)
    if table is None or "mean_loss" not in table or not np.isfinite(table["mean_loss"]).any():
        return
    content["cv"] = {
        "k": [int(k) for k in table["k"]],
        "loss": [json_number(v) for v in table["mean_loss"]],
        "error": [json_number(v) for v in table["std_error"]],
        "chosen": int(about.model.k_),
        "one_se": None if model.k_1se_ is None else int(model.k_1se_),
        "folds": model._folds(),
    }


def held_out(content: Keywords, about: Subject) -> None:
    """Losses on rows that the models did not see."""
    model, rows, options = about.model, about.rows, about.options
    if rows is None:
        content["left_out"].append(
            "Held-out predictions need the rows in memory; they lie in parts, on disk or on workers."
        )
        return
    if not len(model.support_):
        content["left_out"].append("There is no feature, so nothing is compared on held-out rows.")
        return
    try:
        seen, notes = held_out_rows(model, rows, options.baseline, options.random_state)
    except (ValueError, FloatingPointError) as error:
        content["left_out"].append(f"Held-out rows: {error}.")
        return
    content["left_out"] += notes
    ours, null = seen.contenders[0], seen.contenders[-1]
    own = getattr(getattr(model, "model_", model), "held_out_", None)
    share = {"mean squared error": "R2", "log loss": "D2"}.get(seen.unit)
    content["held_out"] = {
        "unit": seen.unit,
        "folds": seen.folds,
        "share": share,
        "own": None if own is None else [json_number(own.score), own.name, json_number(own.error), own.folds],
        "rows": [
            {
                "name": one.name,
                "features": one.features,
                "loss": json_number(one.mean),
                "error": json_number(float(one.losses.std(ddof=1) / np.sqrt(len(one.losses)))),
                "explained": json_number(1.0 - one.mean / null.mean) if share and null.mean > 0 else None,
                "difference": None if one is ours else [json_number(v) for v in one.difference(ours)],
            }
            for one in seen.contenders
        ],
    }
    _diagnostics(content, model, seen, options.random_state)


def _diagnostics(content: Keywords, model: "BaseEstimator", seen: HeldOutRows, seed: int) -> None:
    """Residuals; or ROC curve, calibration and confusion."""
    if not is_classifier(model):
        if seen.y.ndim == 1:
            some = np.arange(len(seen.y))
            if len(some) > MAX_MARKS - 200:
                some = np.sort(np.random.default_rng(seed).choice(some, MAX_MARKS - 200, replace=False))
            content["residuals"] = {
                "predicted": [json_number(v) for v in seen.prediction[some]],
                "residual": [json_number(v) for v in (seen.y - seen.prediction)[some]],
                "of": len(seen.y),
            }
        return
    labels = model.classes_
    content["confusion"] = {
        "labels": [str(label) for label in labels],
        "counts": confusion_matrix(seen.y, seen.prediction, labels=labels).tolist(),
        "accuracy": json_number(float(np.mean(seen.y == seen.prediction))),
        "base_rate": json_number(float(max(np.mean(seen.y == label) for label in labels))),
    }
    if seen.probability is not None:
        curves = binary_curves(seen.y, labels[1], seen.probability)
        content["curves"] = {
            "false_positive": [json_number(v) for v in curves.false_positive],
            "true_positive": [json_number(v) for v in curves.true_positive],
            "area": json_number(curves.area),
            "predicted": [json_number(v) for v in curves.predicted],
            "observed": [json_number(v) for v in curves.observed],
            "counts": [int(v) for v in curves.counts],
            "positive": str(labels[1]),
        }


def half_samples(content: Keywords, about: Subject) -> None:
    """How often halves of the rows select each feature."""
    model, rows, options = about.model, about.rows, about.options
    if not options.stability or rows is None or not len(model.support_):
        return
    estimator = fixed_size(model).set_params(time_limit=options.time_limit)
    try:
        agreed = stability(
            estimator, rows.X, rows.y, n_pairs=options.n_pairs, random_state=options.random_state, **rows.fit_options
        )
    except ValueError as error:
        content["left_out"].append(f"Stability: {error}.")
        return
    if not agreed.n_done:
        content["left_out"].append(f"Stability: {agreed.reason}.")
        return
    names, chosen = column_names(model), set(model.support_.tolist())
    order = np.argsort(-agreed.strength, kind="stable")[:MAX_BARS]
    columns, shares = agreed.columns[order], agreed.strength[order]
    content["stability"] = {
        "rows": [[names[j], json_number(share), int(j) in chosen] for j, share in zip(columns, shares, strict=True)],
        "pairs": int(agreed.n_done),
        "threshold": float(agreed.threshold),
        "largest": int(agreed.ks[-1]),
        "stable": [names[j] for j in agreed.stable],
    }


def _intervals(content: Keywords, about: Subject) -> None:
    model, rows, options = about.model, about.rows, about.options
    if not options.intervals or rows is None or not len(model.support_):
        return
    weights: Keywords = {} if rows.weights is None else {"sample_weight": rows.weights}
    try:
        if rows.offset is not None:
            raise ValueError("they are not computed with an offset")
        known = split_intervals(fixed_size(model), rows.X, rows.y, random_state=options.random_state, **weights)
    except (ValueError, TypeError) as error:
        content["left_out"].append(f"Intervals: {error}.")
        return
    names = column_names(model)
    content["intervals"] = {
        "rows": [
            [
                names[j],
                json_number(a),
                json_number(b),
                json_number(c),
                None if known.p_value is None else json_number(known.p_value[i]),
            ]
            for i, (j, a, b, c) in enumerate(zip(known.columns, known.estimate, known.low, known.high, strict=True))
            if j >= 0
        ],
        "level": known.level,
        "notes": list(known.notes),
    }


def _optimality(content: Keywords, about: Subject) -> None:
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


def reproduction(content: Keywords, about: Subject) -> None:
    """How to get the same again."""
    model, options = about.model, about.options
    from .. import __version__

    content["reproduction"] = {
        "model": " ".join(repr(model).split()),
        "seed": options.random_state,
        "command": options.command,
        "versions": {
            "pursuit": __version__,
            "Python": platform.python_version(),
            "NumPy": np.__version__,
            "SciPy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "fingerprint": data_fingerprint(model.objective_) if hasattr(model, "objective_") else None,
    }


#: A step of making a page: it adds its part to the content.
Step = Callable[[Keywords, Subject], None]

LINEAR_STEPS: tuple[Step, ...] = (
    question,
    _features,
    _path,
    cross_validation,
    held_out,
    half_samples,
    _intervals,
    _optimality,
    reproduction,
)


def json_number(value: float) -> float | None:
    """A number for JSON: null where it is not finite."""
    number = float(value)
    return float(f"{number:.8g}") if np.isfinite(number) else None


def count_of(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"


def finite(values: list[float | None]) -> Vector:
    """Numbers of a content, NaN where there is none."""
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)
