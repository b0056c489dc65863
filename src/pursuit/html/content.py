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

from .._utils.types import ArrayLike, Keywords, MatrixLike
from ..io.files import data_fingerprint
from .training import TrainingRows, chooses_k, plain_fit, training_rows

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


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


#: A step of making a page: it adds its part to the content.
Step = Callable[[Keywords, Subject], None]


def build_content(
    model: "BaseEstimator",
    X: MatrixLike | None,
    y: ArrayLike | None,
    options: Options,
    on_step: Callable[[int, int], object],
    steps: "Sequence[Step]",
) -> Keywords:
    """Everything that the page shows; parts that cannot be had are named in ``left_out`` with the reason."""
    content: Keywords = {"left_out": []}
    rows = training_rows(model, X, y)
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


def json_number(value: float) -> float | None:
    """A number for JSON: null where it is not finite."""
    number = float(value)
    return float(f"{number:.8g}") if np.isfinite(number) else None


def count_of(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"
