"""What selects: from some rows to the units (columns, groups, edges) of a model of every size."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.base import clone, is_classifier

from .._utils.types import Array, ArrayLike, Columns, MatrixLike, Vector
from .._utils.validation import check_count, check_sizes, check_weights
from ..constraints import AtMost, group_labels
from ..data import from_dask, is_dask
from ..data.sources import opened
from ..engines import threads
from ..estimators import SparseClassifier, SparseRegressor
from ..estimators.additive.base import SparseAdditive
from ..estimators.base import SparseModel
from ..estimators.graph.edge_selector import largest_stability_size
from ..objectives import GLM
from ..objectives.sparse_set import SparseSet
from ..paths import every_size, path

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


# bytes of a half-sample that is copied; a larger one is all rows, half of them with weight 0
MAX_COPIED_BYTES = 1 << 26
MIN_IMPROVEMENT = 1e-11  # share of f by which a size must be better to have selected something
DEFAULT_LARGEST_SIZE = 10  # sizes go up to this where the estimator says nothing


class Selector(Protocol):
    """What half-samples ask. An estimator that is no GLM gives its own: ``estimator.selector(X, ks, sample_weight)``.

    Attributes
    ----------
    rows, labels, classes : rows that may be drawn; where every class must be in both halves, the class of each as a
        number, and what the classes are called
    ks : the sizes, sorted
    units, forced : how many units there are; those that are always in
    free : how many units compete
    unit_of : the unit of each column; None where every column is one
    names : of the units, or None
    what : the units in a word, such as "features"
    """

    rows: Columns
    labels: Columns | None
    classes: Array | None
    ks: tuple[int, ...]
    unit_of: Columns | None
    names: Sequence[str] | None
    what: str

    @property
    def units(self) -> int: ...
    @property
    def forced(self) -> Columns: ...
    @property
    def free(self) -> int: ...

    def __call__(self, rows: Columns) -> list[Columns]:
        """The units selected on these rows for every size of ``ks``, and last for one size more (for ``partners``)."""
        ...


@dataclass
class EstimatorSelector:
    """The path of an estimator's model: its loss, ridge and sparse set, on some of its rows."""

    model: "BaseEstimator"
    objective: "GLM"
    ks: tuple[int, ...]
    constraint: AtMost
    rows: Columns
    labels: Columns | None
    classes: Array | None
    names: Sequence[str] | None
    unit_of: Columns | None
    weights: Vector
    what: str = "features"

    @property
    def units(self) -> int:
        return self.constraint.units

    @property
    def forced(self) -> Columns:
        return self.constraint.include

    @property
    def free(self) -> int:
        return self.units - len(self.constraint.include) - len(self.constraint.exclude)

    def __call__(self, rows: Columns) -> list[Columns]:
        model, f, sizes = self.model, self._objective(rows), (*self.ks, self.constraint.k)
        allowed = SparseSet.of(model)
        if model.solver != "auto" or allowed.is_bounded:
            found = path(
                f,
                sizes,
                solver=model.solver,
                **allowed._asdict(),
                max_iter=model.max_iter,
                tol=model.tol,
                random_state=model.random_state,
            )
            points = {k: result.point for k, result in zip(found.sizes, found, strict=True)}
        else:
            points = every_size(f, self.constraint)
        supports = _improving_supports(f, points)
        return [self.constraint.units_of(supports[k]) for k in sizes]

    def _objective(self, rows: Columns) -> GLM:
        model, whole = self.model, self.objective
        data = whole.data.raw
        scale = 1.0 / self.weights[rows].sum()
        if data.nbytes * len(rows) <= MAX_COPIED_BYTES * data.shape[0]:
            part = data.take(rows, scale)
        else:
            weights = np.zeros(data.shape[0])
            weights[rows] = scale * self.weights[rows]
            part = data.weighted(weights)
        return GLM(
            part, loss=whole.loss, l2=model.l2_, fit_intercept=model.fit_intercept, standardize=model.standardize
        )


def make_selector(
    estimator: "BaseEstimator",
    X: MatrixLike,
    y: ArrayLike | None,
    ks: Iterable[int] | None,
    sample_weight: ArrayLike | None,
    offset: ArrayLike | None,
) -> Selector:
    """Of a SparseRegressor, a SparseClassifier or one that has their parameters, or what another estimator gives."""
    if isinstance(estimator, type):
        raise TypeError(f"estimator must be an instance, got the class {estimator.__name__}: {estimator.__name__}()")
    if hasattr(estimator, "selector"):
        return estimator.selector(X, ks, sample_weight)
    if not isinstance(estimator, SparseModel | SparseAdditive):
        raise TypeError(f"estimator must be a SparseRegressor or a SparseClassifier, got {type(estimator).__name__}")
    if is_dask(X):
        X, y, sample_weight, offset = from_dask(X, y, sample_weight, offset), None, None, None
    X, sizes = opened(X), check_sizes(range(1, _largest_size(estimator) + 1) if ks is None else ks, 1)
    model = _fixed_k_estimator(estimator, sizes[-1])
    inputs = model._read_fit_input(X, y, sample_weight, offset, None)
    f = model._objective(inputs)
    with threads(model.n_jobs), np.errstate(all="ignore"):
        f.null  # noqa: B018 -- the first pass over X, which raises where it is not finite
    allowed = SparseSet.of(model)
    constraint, restricted = allowed.with_budget(f, sizes[-1] + 1), allowed.restrict(f)
    first = len(constraint.include)
    if ks is None:
        end = largest_stability_size(first, constraint.units - first - len(constraint.exclude))
        reached = [k for k in sizes if k >= first and not restricted.infeasibility(constraint.with_budget(k))]
        sizes = [k for k in reached if k <= end] or reached[:1] or [max(first, sizes[-1])]
    elif sizes[0] < first:
        raise ValueError(f"ks holds {sizes[0]}, but include names {first} columns")
    targets = inputs.y()
    weights = check_weights(inputs.weights(), len(targets))
    rows = np.flatnonzero(weights > 0)
    classes, labels = np.unique(np.ravel(targets), return_inverse=True) if is_classifier(estimator) else (None, None)
    most = constraint.units - len(constraint.exclude)
    names, unit_of = f.names, None
    if isinstance(estimator, SparseAdditive):
        features = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
        first_of = np.unique(model.groups, return_index=True)[1]  # the first column of every unit
        names = [str(features[model.basis_.feature_of[column]]) for column in first_of]
    elif model.groups is not None and constraint.unit_of is not None:
        unit_of = constraint.unit_of[:: f.width]
        labels_of = group_labels(model.groups, len(unit_of), f.names)
        names = [_group_name(labels_of[j]) for j in np.unique(unit_of, return_index=True)[1]]
    return EstimatorSelector(
        model,
        f,
        tuple(dict.fromkeys(min(k, most) for k in sizes)),
        constraint,
        rows,
        None if labels is None else labels[rows],
        classes,
        names,
        unit_of,
        weights,
    )


def _improving_supports(f: "GLM", points: dict[int, Any]) -> dict[int, Columns]:
    """Supports by size; a size that is no better than the one below has selected nothing more."""
    supports: dict[int, Columns] = {}
    last = None
    for k in sorted(points):
        if last is None or last.value - points[k].value > MIN_IMPROVEMENT * f.scale(last.value):
            last = points[k]
        supports[k] = last.support
    return supports


def _largest_size(estimator: "BaseEstimator") -> int:
    """How far an estimator's own path goes: to its k, to the largest it may choose from, or to the one it chose."""
    ks = getattr(estimator, "ks", None)
    if ks is not None:
        return max(check_sizes(ks, 1))
    chosen = isinstance(estimator, SparseAdditive) and estimator.k == "cv"
    return (
        check_count(estimator.k, "k", 1)
        if hasattr(estimator, "k") and not chosen
        else max(1, getattr(estimator, "k_", DEFAULT_LARGEST_SIZE))
    )


def _fixed_k_estimator(estimator: "BaseEstimator", k: int) -> Any:
    """The estimator of k features with the same parameters: only its objective is used."""
    if isinstance(estimator, SparseAdditive):
        return estimator._model_of_size(k)
    if hasattr(estimator, "k"):
        return clone(estimator).set_params(k=k)
    kind = SparseClassifier if is_classifier(estimator) else SparseRegressor
    own = kind().get_params()
    return kind(**{name: value for name, value in estimator.get_params(deep=False).items() if name in own}, k=k)


def _group_name(label: Any) -> str:
    """What a group is called; a column without a group and a name by its number."""
    return f"x{label[1]}" if isinstance(label, tuple) else str(label)
