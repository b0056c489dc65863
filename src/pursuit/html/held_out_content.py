"""What a report says by other rows than those of the fit: folds, held-out rows, half-samples, split intervals."""

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import confusion_matrix

from .._utils.types import Keywords
from ..inference import split_intervals
from ..resampling import stability
from .content import Subject, json_number
from .held_out import HeldOutRows, binary_curves, held_out_rows
from .svg import MAX_MARKS
from .training import column_names, fixed_size

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

MAX_BARS = 30  # features in the picture of stability


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


def intervals(content: Keywords, about: Subject) -> None:
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
