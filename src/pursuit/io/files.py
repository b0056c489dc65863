"""The JSON model: written from a fitted estimator, checked field by field when read. It holds no code."""

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, NoReturn, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from pursuit._utils.files import write_text
from pursuit._utils.types import JSON, Array, JSONValue, Matrix
from pursuit._utils.validation import check_path
from pursuit.effects import column_from_json
from pursuit.io._checks import list_of, number_or, optional, read_flag, read_integer, read_number, read_string
from pursuit.io.model import Model
from pursuit.losses import Loss, as_loss, list_losses
from pursuit.tables.preparation import Preparation, preparation_of, read_preparation

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from pursuit.estimators.graph.lda import SparseLDA
    from pursuit.objectives.glm import GLM
    from pursuit.tables.preparer import TablePreparer

T = TypeVar("T")

FORMAT = "pursuit-model"
VERSION = 4  # from 2 on there may be an offset, from 3 on a preparation of raw columns, from 4 on effects

MAX_SUMMARY_WORK = 1e9  # multiplications up to which a model file says what each feature is worth


def save_model(
    estimator: "BaseEstimator",
    path: str | Path,
    *,
    feature_names: Sequence[str] | None = None,
    offset: str | None = None,
) -> Path:
    """Write a fitted estimator as JSON: what predicts, and no code.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator of pursuit. Of an additive model the knots and matrices of every curve are written. A
        pipeline of :func:`pursuit.table_pipeline` is saved with its preparation of columns, so that the model
        predicts raw rows. Of another pipeline its last step is saved, ``save_model(pipeline[-1], path)``; the steps
        before it hold code, so the model is given what they make:
        ``load_model(path).predict(pipeline[:-1].transform(X))``.
    path : str or Path
        The file.
    feature_names : sequence of str or None, default None
        Names of the columns, where it was fitted without names.
    offset : str or None, default None
        What the column is called that holds the offset; ``pursuit predict`` then reads it from the data.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        Where the estimator is not fitted, or its loss is not registered.
    TypeError
        Where the estimator is of a kind that model files do not hold.

    See Also
    --------
    load_model : Reads it.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((50, 6))
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> _ = pursuit.save_model(pursuit.SparseRegressor(k=1).fit(X, X[:, 4]), file)
    >>> bool(np.allclose(pursuit.load_model(file).predict(X), X[:, 4]))
    True
    """
    fields = _describe(estimator, feature_names, offset)
    _model(fields)  # what cannot be read back is not written
    path = Path(path)
    lines = [f"  {json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in fields.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    write_text(path, text)
    return path


def as_model(estimator: "BaseEstimator") -> Model:
    """The model of a fitted estimator, as ``load_model`` would read it from its file."""
    return _model(_describe(estimator, None, None, card=False))


def _describe(
    estimator: "BaseEstimator", feature_names: Sequence[str] | None, offset: str | None, card: bool = True
) -> JSON:
    """What a model file holds of a fitted estimator."""
    preparer = None
    if _is_table_pipeline(estimator):
        (_, preparer), (_, estimator) = estimator.steps
    _check_kind(estimator)
    if not any(hasattr(estimator, name) for name in ("result_", "graph_", "effects_")):
        raise ValueError("estimator must be fitted before it is saved")
    if hasattr(estimator, "graph_"):
        estimator = _as_logistic(estimator)
    effects, whole = None, estimator
    if hasattr(estimator, "effects_"):
        effects, estimator = list(estimator.effects_.values()), estimator.model_
    names = feature_names if feature_names is not None else getattr(estimator, "feature_names_in_", None)
    p = int(estimator.n_features_in_)
    if names is not None and len(names) != p:
        raise ValueError(f"feature_names has {len(names)} names, but the estimator has {p} features")
    support = np.asarray(estimator.support_, dtype=np.int64)
    result, (coef, intercept) = estimator.result_, estimator._on_support()
    if effects is not None:
        support = np.array([effect.column for effect in effects], dtype=np.int64)
        coef = np.concatenate([effect.coef for effect in effects]) if effects else coef[:0]
    classes = getattr(estimator, "classes_", None)
    name, parameters = _loss(estimator)
    fields = {
        "format": FORMAT,
        # a reader that knows no offset, no preparation or no effects would predict without
        "version": 4 if effects is not None else 3 if preparer is not None else 1 if offset is None else 2,
        "kind": "regressor" if classes is None else "classifier",
        "loss": {"name": name, "parameters": parameters},
        "k": int(estimator.k if hasattr(estimator, "k") else estimator.k_),
        "l2": float(estimator.l2_),
        "standardize": bool(estimator.standardize),
        "n_features": p,
        "feature_names": None if names is None else [str(name) for name in names],
        "support": support.tolist(),
        "coef": np.asarray(coef, dtype=np.float64).tolist(),
        "intercept": np.asarray(intercept, dtype=np.float64).tolist(),
        "classes": None if classes is None else np.asarray(classes).tolist(),
        "value": float(result.value),
        "status": str(result.status),
        "reason": str(getattr(estimator, "reason_", result.reason)),
        "optimality": None if result.optimality is None else str(result.optimality),
        "solver": str(result.solver),
    }
    if offset is not None:
        fields["offset"] = str(offset)
    if effects is not None:
        fields["effects"] = [effect.basis.to_json() for effect in effects]
    if preparer is not None:
        if names is None:
            names = preparer.get_feature_names_out()
            fields["feature_names"] = [str(name) for name in names]
        selected = {str(names[j]) for j in support.tolist()}
        fields["preparation"] = preparation_of(preparer, _input_names(preparer), selected).to_json()
    if card:
        fields["card"] = _card(estimator, whole)
    return fields


def _is_table_pipeline(estimator: "BaseEstimator") -> bool:
    """Whether an estimator is a pipeline of a TablePreparer and a model, and nothing between them."""
    steps: tuple[tuple[str, BaseEstimator], ...] = getattr(estimator, "steps", ())
    if len(steps) != 2:
        return False
    from pursuit.tables.preparer import TablePreparer

    return isinstance(steps[0][1], TablePreparer)


def _input_names(preparer: "TablePreparer") -> tuple[str, ...]:
    names = getattr(preparer, "feature_names_in_", None)
    return tuple(f"x{j}" for j in range(preparer.n_features_in_)) if names is None else tuple(map(str, names))


def _card(estimator: "BaseEstimator", whole: "BaseEstimator") -> JSON:
    """Where a model comes from: library version, day, rows, scores and a fingerprint of its training data.

    ``whole`` is the additive model that ``estimator`` is part of, or the estimator itself.
    """
    from pursuit import __version__

    card: JSON = {"pursuit": __version__, "date": datetime.now(UTC).date().isoformat()}
    objective, held_out = getattr(estimator, "objective_", None), getattr(estimator, "held_out_", None)
    if objective is not None:
        card["rows"] = int(objective.data.counted)
        if objective.data.whole:  # elsewhere it is another pass over all rows
            card["fingerprint"] = data_fingerprint(objective)
    if objective is not None and hasattr(estimator, "summary"):
        card |= _feature_card(whole, objective)
    if held_out is not None and np.isfinite(held_out.score):
        card["held_out"] = {"name": str(held_out.name), "score": float(held_out.score), "folds": int(held_out.folds)}
    return card


def _feature_card(estimator: "BaseEstimator", objective: "GLM") -> JSON:
    """What each feature is worth, for ``pursuit explain``; nothing where that takes more than a moment."""
    if getattr(objective, "work", np.inf) * max(1, len(estimator.support_)) > MAX_SUMMARY_WORK:
        return {}
    summary = estimator.summary()
    drop, cost = summary.drop, summary.rival_cost
    return {
        "unit": summary.unit,
        "optimality": summary.found if isinstance(summary.found, str) else summary.optimality,
        "features": [
            {
                "drop": None if drop is None or not np.isfinite(drop[i]) else float(drop[i]),
                "rival": summary.rivals[i] or None,
                "rival_cost": None if cost is None or not np.isfinite(cost[i]) else float(cost[i]),
            }
            for i in range(len(summary.names))
        ],
    }


def data_fingerprint(objective: "GLM") -> str | None:
    """A short hash of an objective's data; None where they are in parts, on disk or on workers."""
    return _fingerprint(objective.data.raw.sketch()) if objective.data.whole else None


def _fingerprint(sketch: Matrix) -> str:
    """A short hash of sums over the rows (and not of their rounding), by which other data are recognised."""
    digits = ",".join(f"{number:.6g}" for number in sketch[:, 0])
    return hashlib.sha256(digits.encode()).hexdigest()[:16]


def _check_kind(estimator: "BaseEstimator") -> None:
    from pursuit.estimators import SparseLDA  # reading a model needs no scikit-learn
    from pursuit.estimators.additive.base import SparseAdditive
    from pursuit.estimators.base import SparseModel
    from pursuit.estimators.graph.base import GraphModel

    if isinstance(estimator, SparseModel | SparseLDA | SparseAdditive):
        return
    inner = ""  # where scikit-learn's wrappers keep what can be saved
    if isinstance(estimator, GraphModel):
        inner = ", which predicts nothing: pickle keeps it, and edges_ is a table"
    elif hasattr(estimator, "steps"):
        inner = ": hand over its last step, pipeline[-1]"
    elif hasattr(estimator, "best_estimator_"):
        inner = ": hand over its best_estimator_"
    kind = type(estimator).__name__
    raise TypeError(f"estimator must be a SparseRegressor, a SparseClassifier or a SparseLDA, got {kind}{inner}")


def _as_logistic(lda: "SparseLDA") -> SimpleNamespace:
    """The logistic model that predicts as a discriminant analysis does; its graph stays behind."""
    coef, intercept = lda.coef_.T, lda.intercept_
    if len(lda.classes_) == 2:
        coef, intercept = coef[:, 0], intercept[0]
    p = lda.n_features_in_
    return SimpleNamespace(
        loss="logistic",
        k=p,
        l2_=0.0,
        standardize=lda.standardize,
        n_features_in_=p,
        support_=np.arange(p),
        feature_names_in_=getattr(lda, "feature_names_in_", None),
        classes_=lda.classes_,
        result_=lda.graph_.result_,
        reason_=lda.reason_,
        _on_support=lambda: (coef, intercept),
    )


def load_model(path: str | Path) -> Model:
    """Read a model that ``save_model`` wrote.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Model
        It has ``predict`` (a classifier also ``predict_proba`` and ``decision_function``), coefficients and names.

    Raises
    ------
    ValueError
        Where the file is no model; the message says what is wrong.

    See Also
    --------
    save_model : Writes it.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((50, 6))
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> _ = pursuit.save_model(pursuit.SparseRegressor(k=1).fit(X, X[:, 4]), file)
    >>> pursuit.load_model(file).predict(X).shape
    (50,)
    """
    path = check_path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a pursuit model")
    try:
        fields = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a pursuit model: it is not text") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not complete JSON (line {error.lineno}: {error.msg})") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a pursuit model: {error}") from error
    try:
        return _model(fields)
    except ValueError as error:
        raise ValueError(f"{path} is not a pursuit model that can be used: {error}") from error


def _loss(estimator: "BaseEstimator") -> tuple[str, dict[str, float]]:
    """Name and parameters of a loss that the registry can build again."""
    loss = as_loss(estimator.loss)
    known = loss.name in list_losses() and type(as_loss(loss.name)) is type(loss)
    if not known:
        raise ValueError(
            f"loss {type(loss).__name__} is not registered, so a model with it cannot be saved; "
            "pursuit.losses.register gives it a name (docs/extending.md)"
        )
    names: list[str] = [field.name for field in dataclasses.fields(loss)] if dataclasses.is_dataclass(loss) else []
    return loss.name, {name: float(getattr(loss, name)) for name in names}


def _model(fields: JSONValue) -> Model:
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise ValueError(f"its format is not {FORMAT!r}")
    version = _field(fields, "version", read_integer)
    if version > VERSION:
        raise ValueError(f"its version is {version}, and this pursuit reads up to {VERSION}; a newer pursuit can")
    kind = _field(fields, "kind", read_string)
    if kind not in ("regressor", "classifier"):
        raise ValueError(f"kind is {kind!r}, not regressor or classifier")
    loss = _field(fields, "loss", _loss_entry)
    if (kind == "classifier") != (loss.targets == "binary"):
        raise ValueError(f"the {loss.name} loss is not one of a {kind}")
    p = _field(fields, "n_features", read_integer)
    support = _field(fields, "support", list_of(read_integer))
    if any(a >= b for a, b in pairwise(support)) or (support and support[-1] >= p):
        raise ValueError(f"support is not a rising list of columns below {p}")
    intercept = _field(fields, "intercept", number_or(list_of(read_number)))
    if intercept == []:
        raise ValueError("intercept must be a number, or a list with one number per output")
    outputs = len(intercept) if isinstance(intercept, list) else 0  # 0: one output, without an axis of its own
    entry: Callable[[object], list[float] | float] = list_of(read_number) if outputs else read_number
    coef = _field(fields, "coef", list_of(entry))
    effects = _field(fields, "effects", list_of(column_from_json)) if "effects" in fields else None
    if effects is not None and len(effects) != len(support):
        raise ValueError(f"effects has {len(effects)} entries for {len(support)} features")
    columns = len(support) if effects is None else sum(effect.width for effect in effects)
    if len(coef) != columns:
        raise ValueError(f"coef has {len(coef)} entries for {columns} columns")
    if any(isinstance(row, list) and len(row) != outputs for row in coef):
        raise ValueError(f"coef must have {outputs} numbers per column, as intercept has")
    names = _field(fields, "feature_names", optional(list_of(read_string)))
    if names is not None and (len(names) != p or len(set(names)) != p):
        raise ValueError(f"feature_names must be {p} different names")
    return Model(
        kind=kind,
        loss=loss,
        k=_field(fields, "k", read_integer),
        l2=_field(fields, "l2", read_number),
        standardize=_field(fields, "standardize", read_flag),
        n_features=p,
        feature_names=None if names is None else tuple(names),
        support=_frozen(support, np.int64),
        coef=_frozen(coef, np.float64).reshape(columns, *([outputs] if outputs else [])),
        intercept=_frozen(intercept, np.float64) if isinstance(intercept, list) else intercept,
        classes=_classes(kind, fields.get("classes"), outputs),
        value=_field(fields, "value", read_number),
        status=_field(fields, "status", read_string),
        reason=_field(fields, "reason", read_string),
        optimality=_field(fields, "optimality", optional(read_string)),
        solver=_field(fields, "solver", read_string),
        offset=_field(fields, "offset", read_string) if "offset" in fields else None,
        effects=None if effects is None else tuple(effects),
        preparation=_read_preparation(fields, names, support),
        card=_read_card(fields.get("card")),
    )


def _read_preparation(fields: JSON, names: Sequence[str] | None, support: list[int]) -> Preparation | None:
    if "preparation" not in fields:
        return None
    found = _field(fields, "preparation", read_preparation)
    given = {feature for features in found.features for feature in features}
    absent = [j for j in support if names is None or names[j] not in given]
    if absent:
        raise ValueError(f"preparation gives no feature {absent[0] if names is None else names[absent[0]]!r}")
    return found


def _read_card(fields: JSONValue) -> JSON:
    return fields if isinstance(fields, dict) else {}


def _frozen(values: Sequence[list[float] | float], dtype: DTypeLike) -> Array:
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


def _classes(kind: str, labels: JSONValue, outputs: int) -> Array | None:
    if kind == "regressor":
        if labels is not None:
            raise ValueError("classes must be null for a regressor")
        return None
    many = outputs or 2  # two classes share one output
    if not isinstance(labels, list) or len(labels) != many:
        raise ValueError(f"classes must be a list of {many} labels")
    if len({type(label) for label in labels}) > 1 or not isinstance(labels[0], str | bool | int | float):
        raise ValueError("classes must be all strings, all numbers or all booleans")
    if isinstance(labels[0], float) and not all(map(math.isfinite, labels)):
        raise ValueError("classes must be finite")
    if len(set(labels)) != many:
        raise ValueError("classes must be different")
    return np.array(labels)


def _field(fields: JSON, name: str, read: Callable[[object], T]) -> T:
    if name not in fields:
        raise ValueError(f"{name} is missing")
    try:
        return read(fields[name])
    except TypeError as error:
        raise ValueError(f"{name} must be {error}") from None


def _loss_entry(value: object) -> Loss:
    if not isinstance(value, dict) or not isinstance(value.get("parameters"), dict):
        raise TypeError("an object with a name and parameters")
    kind = type(as_loss(read_string(value.get("name"))))
    parameters = {name: read_number(number) for name, number in value["parameters"].items()}
    try:
        return kind(**parameters)
    except TypeError:
        raise TypeError(f"an object whose parameters fit the {kind.name} loss") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}, which is not a number")
