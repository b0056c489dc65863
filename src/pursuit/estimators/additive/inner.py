"""The sparse models on spline columns that additive models are made of.

They read the user's X, fit the columns of every feature to it, and are otherwise the estimators of ``pursuit`` with
groups. Inside a cross-validation the columns of every fold are fitted to its own training rows; coefficients of a
fold's columns are taken to those of all rows before they are averaged.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._utils.column_names import column_label, refuse_missing, resolve_columns
from ..._utils.row_order import warn_row_order
from ..._utils.types import Array, ArrayLike, BoundsLike, Columns, ColumnsLike, GroupsLike, Matrix, MatrixLike, Vector
from ..._utils.validation import check_offset, check_weights
from ...constraints import _units
from ...data import Data, Source, by_partition, is_dask
from ...data.sources import opened
from ...effects import FEW_ROWS, AdditiveBasis, column_kinds, knots_for
from ...selection import Fold, Models, Problem, rows_that_count
from ...selection.problem import MAX_UNITS_PER_ROW
from ...selection.ridge_scale import RIDGE_FRACTION, default_ridge
from ...selection.splits import fold_weights
from ..base import AtMostK
from ..base_cv import SparseModelCV
from ..classifier import Classification
from ..inputs import InputChecks, ValidatedInput, check_source_columns, read_chosen, refuse_beside_source, validate
from ..regressor import Regression
from ..scoring import FoldScorer
from .training import TrainingColumns

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ...engines.dask import Dask as Engine
    from ...objectives.glm import GLM

MIN_FAR_RANGES = 1.0  # times the training rows' range that a value must be outside of it to be far
REFIT_RIDGE = 0.01  # of refits of a likelihood where k is chosen, in the same units
MAX_LIKELIHOOD_SHARE = 0.2  # of the rows: columns of a model of a likelihood, which may separate classes beyond it
SMOOTHING_RIDGE = 0.02  # of a fit with a fixed k, in units of the loss's curvature: the columns have variance 1 or less


@dataclass(frozen=True)
class AdditiveProblem(Problem):
    """The selection problem on spline columns, whose scales are a penalty and not units.

    ``linear``: the same problem without the columns that bend, whose models are candidates too.
    """

    linear: Problem | None = None

    @property
    def variants(self) -> tuple[Problem, ...]:
        return (self,) if self.linear is None else (self, self.linear)

    def refit_ridge(self, h: float) -> float:
        """Curves of a likelihood without a ridge that counts would follow single rows to infinity."""
        return super().refit_ridge(h) if self.loss.quadratic else max(super().refit_ridge(h), REFIT_RIDGE * h)

    def unit(self, f: "GLM") -> float:
        return 1.0

    def most(self, f: "GLM", n: float, wanted: int) -> tuple[int, int]:
        """No more columns than 0.8 times the rows; for a likelihood 0.2 times."""
        first, end = super().most(f, n, wanted)
        labels = np.asarray(self.allowed.groups)
        units = len(np.unique(labels))
        share = MAX_UNITS_PER_ROW if self.loss.quadratic else MAX_LIKELIHOOD_SHARE
        return first, max(first, min(end, int(share * n * units / len(labels))), 1)


class AdditiveModel:
    """What both kinds of models, k fixed and k chosen, have in common: reading X, its columns, and the predictor."""

    effects: str | Mapping[str | int, str] = "smooth"
    n_knots: int | None = None
    feature_groups: GroupsLike = None
    groups: GroupsLike
    bounds: BoundsLike
    with_linear: bool = False
    _warned_far = False
    basis_: AdditiveBasis
    _training: TrainingColumns

    def _read(
        self, X: MatrixLike, *y: ArrayLike | None, ensure_all_finite: bool = True, **checks: Unpack[InputChecks]
    ) -> Any:
        return validate(self, X, *y, ensure_all_finite=ensure_all_finite, **checks)

    def _read_fit_input(
        self,
        X: MatrixLike,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        offset: ArrayLike | None,
        engine: "Engine | None",
    ) -> ValidatedInput:
        inputs = super()._read_fit_input(X, y, sample_weight, offset, engine)  # type: ignore[misc]
        return replace(inputs, convert=lambda data: self._spline_data(data, inputs.weights()))

    def _spline_data(self, data: Data, sample_weight: ArrayLike | None) -> Data:
        """The data on the spline columns, which are fitted to all rows; sparse sets are in terms of these columns."""
        names = getattr(self, "feature_names_in_", None)
        names = None if names is None else tuple(map(str, names))
        self._several_outputs = data.outputs > 1
        n_rows, p = data.shape
        weights = None if sample_weight is None else check_weights(sample_weight, n_rows)
        self._training = training = TrainingColumns(data, weights, names)
        n = float(n_rows if weights is None else rows_that_count(sample_weight, weights).sum())
        self._knots = knots_for(self.n_knots, n)
        kinds = column_kinds(self.effects, training.count_values, p, names)
        self.basis_ = training.fit(weights, kinds, self._knots)
        self.groups = self._groups_of_features(p, names)[self.basis_.feature_of]
        self.bounds = self._monotone_bounds(kinds)
        self._refuse_effects_of_excluded(p, names)
        for side in ("include", "exclude"):
            setattr(self, side, self._first_columns(getattr(self, side), side, names))
        labels = names or [f"x{j}" for j in range(p)]
        return training.on_basis(self.basis_, tuple(self.basis_.names(labels)))

    def _refuse_effects_of_excluded(self, p: int, names: Sequence[str] | None) -> None:
        """Raise where effects describes a feature that exclude leaves out."""
        if not isinstance(self.effects, dict):
            return
        left_out = set(np.asarray(resolve_columns(self.exclude, "exclude", p, names)).tolist())  # type: ignore[attr-defined]
        for column in self.effects:
            if int(np.asarray(resolve_columns([column], "effects", p, names))[0]) in left_out:
                raise ValueError(
                    f"effects describes column {column!r}, which exclude leaves out; drop it from one of them"
                )

    def _groups_of_features(self, p: int, names: Sequence[str] | None) -> Columns:
        """A number for every feature: its own, or that of its group (the dummies of a category)."""
        if self.feature_groups is None:
            return np.arange(p)
        units, _ = _units(self.feature_groups, p, names)
        return np.arange(p) if units is None else units

    def _monotone_bounds(self, kinds: list[str]) -> tuple[Vector, Vector] | None:
        """Coefficients of monotone columns are non-negative; None where there are no such columns."""
        monotone = np.isin(kinds, ("increasing", "decreasing"))
        if not monotone.any():
            return None
        loss = self._loss()  # type: ignore[attr-defined]
        if not loss.smooth or self._several_outputs:
            raise ValueError(
                "increasing and decreasing effects need one output and a smooth loss; leave them 'smooth', or 'linear'"
            )
        if self.feature_groups is not None:
            raise ValueError("increasing and decreasing effects cannot be combined with groups; leave one of them out")
        return np.where(monotone[self.basis_.feature_of], 0.0, -np.inf), np.full(self.basis_.width, np.inf)

    def __getstate__(self) -> dict[str, object]:
        state: dict[str, object] = dict(super().__getstate__())  # type: ignore[call-overload]
        state.pop("_training", None)  # X of the fit, which reports read
        return state

    def _release_sample(self) -> None:
        """Let go of the rows that knots were taken from, unless they are the user's own X."""
        if not self._training.in_memory:
            del self._training

    def _first_columns(self, columns: ColumnsLike, argument: str, names: Sequence[str] | None) -> Columns:
        """The first column of each of these features: any member names its group."""
        p = len(self.basis_.columns)
        found = resolve_columns(columns, argument, p, names)
        values = np.asarray(list(found) if len(found) else np.empty(0, np.int64))
        if values.dtype.kind not in "iu":
            raise TypeError(
                f"{argument} must hold column indices (from 0 to {p - 1}) or names, or be a mask; got {found!r}"
            )
        if len(values) and not (values.min() >= 0 and values.max() < p):
            wrong = values[(values < 0) | (values >= p)][0]
            raise ValueError(f"{argument} must hold column indices from 0 to {p - 1}, got {wrong}")
        return self.basis_.starts[:-1][values.astype(np.int64)]

    def _names_of_coefficients(self) -> None:
        return None

    def _read_rows(self, X: MatrixLike) -> Array:
        """Rows to predict, checked: an array of all columns, of which those that are not chosen may be zero."""
        features = np.unique(self.basis_.feature_of[self.support_])  # type: ignore[attr-defined]
        found, places = read_chosen(self, X, features)
        refuse_missing(found[:, places], getattr(self, "feature_names_in_", None), features)
        if found.shape[1] == len(self.basis_.columns):
            return np.asarray(found)
        rows = np.zeros((found.shape[0], len(self.basis_.columns)), dtype=found.dtype)
        rows[:, features] = found[:, places]
        return rows

    def _eta(self, X: MatrixLike, offset: ArrayLike | None = None) -> Array:
        """The linear predictor with an offset, reading only the chosen features."""
        check_is_fitted(self)
        coef, intercept = self._on_support()  # type: ignore[attr-defined]
        support: Columns = self.support_  # type: ignore[attr-defined]
        X = opened(X)
        if isinstance(X, Source):
            refuse_beside_source(offset)
            check_source_columns(self, X, reset=False)
            return X.in_basis(self.basis_).predictors(support, coef, intercept).astype(X.dtype, copy=False)
        if is_dask(X):  # one number a row comes back
            eta = np.concatenate(by_partition(self._eta, X))
            return eta if offset is None else eta + np.asarray(offset)
        warn_row_order(X, offset=offset)
        X = self._read_rows(X)
        self._warn_far(X, support)
        Z = self.basis_.evaluate(lambda j: X[:, j], len(X), support)
        eta = Z @ coef + intercept
        shift = check_offset(offset, len(eta), 0 if eta.ndim == 1 else eta.shape[1])
        return np.asarray(eta if shift is None else eta + shift).astype(X.dtype, copy=False)

    def _warn_far(self, X: Array, support: Columns) -> None:
        """Say once where values are far beyond those of the training rows: curves are lines there."""
        if self._warned_far or not len(X):
            return
        for j in np.unique(self.basis_.feature_of[support]).tolist():
            column = self.basis_.columns[j]
            room = MIN_FAR_RANGES * (column.high - column.low)
            low, high = float(X[:, j].min()), float(X[:, j].max())
            if room > 0 and (low < column.low - room or high > column.high + room):
                self._warned_far = True
                name = column_label([j], getattr(self, "feature_names_in_", None))
                value = low if low < column.low - room else high
                warnings.warn(
                    f"{name} has {value:.6g}, far beyond the training rows' {column.low:.6g} to {column.high:.6g}: "
                    "effects go on as straight lines there (said once)",
                    UserWarning,
                    stacklevel=4,
                )
                return


class AdditiveChosen(AdditiveModel):
    """k is chosen."""

    def _make_problem(self, f: "GLM", n: float) -> Problem:
        made = super()._make_problem(f, n)  # type: ignore[misc]
        with_linear = self.with_linear or (isinstance(self.effects, str) and n < FEW_ROWS)
        bends = len(self.basis_.bent()) > 0
        return AdditiveProblem(**vars(made), linear=self._linear_problem(made) if with_linear and bends else None)

    def _linear_problem(self, problem: Problem) -> Problem:
        """Without the columns that bend: each is a unit of its own, and excluded."""
        bent = self.basis_.bent()
        allowed = problem.allowed
        groups = np.asarray(allowed.groups).copy()
        groups[bent] = groups.max() + 1 + np.arange(len(bent))
        excluded = np.union1d(np.asarray(allowed.exclude), bent).astype(np.int64)
        return replace(problem, allowed=allowed._replace(exclude=excluded, groups=groups))

    def _make_folds(
        self, problem: Problem, pairs: Sequence[tuple[Columns, Columns]], weights: Vector, counts: Vector
    ) -> list[Fold]:
        """Every fold has knots of its own."""
        n, training = problem.data.shape[0], self._training
        found = []
        self._fold_bases = []
        for number, (train, test) in enumerate(pairs):
            c, count, held = fold_weights(n, train, test, weights, counts)
            kinds = [column.kind for column in self.basis_.columns]
            basis = training.fit(c, kinds, self._knots, self.basis_)
            self._fold_bases.append(basis)
            data = training.on_basis(basis)
            changes = training.changes(basis, self.basis_, weights)
            found.append(Fold(data.weighted(c), count, data.weighted(held), number, _change(self.basis_, changes)))
        return found

    def _make_scorer(
        self,
        inputs: ValidatedInput,
        y: Array,
        weights: Vector | None,
        pairs: Sequence[tuple[Columns, Columns]],
    ) -> FoldScorer:
        return AdditiveFoldScorer(self, inputs, y, weights, pairs)

    def _score_classes(self, *args: object) -> None:
        """None: the models of folds are on columns of their own."""

    def _choose(self, *args: object) -> None:
        super()._choose(*args)  # type: ignore[misc]
        self._fold_bases = None  # type: ignore[assignment]


class AdditiveFoldScorer(FoldScorer):
    """Models of a fold predict with the columns of that fold."""

    def __init__(
        self,
        estimator: "BaseEstimator",
        inputs: ValidatedInput,
        y: Array,
        weights: Vector | None,
        pairs: Sequence[tuple[Columns, Columns]],
    ) -> None:
        super().__init__(estimator, inputs, y, weights, pairs)
        self.columns, self.estimator = estimator.basis_.width, estimator
        self.twin._warned_far = True  # held-out rows are no news to the user

    def __call__(self, v: int, models: Models) -> Array:
        self.twin.basis_ = self.estimator._fold_bases[v]
        return super().__call__(v, models)


def _change(basis: AdditiveBasis, changes: list[Matrix]) -> Callable[[Matrix], Matrix]:
    """The function that takes coefficients of a fold's columns to those of all rows."""

    def to_whole(b: Matrix) -> Matrix:
        out = np.zeros_like(b)
        for j in np.unique(basis.feature_of[b.any(axis=1)]).tolist():
            own = slice(basis.starts[j], basis.starts[j + 1])
            out[own] = changes[j] @ b[own]
        return out

    return to_whole


class AdditiveFixed(AdditiveModel):
    """k is fixed."""

    def _default_l2(self, data: Data) -> float:
        if self._loss().name == "logistic":  # type: ignore[attr-defined]
            return SMOOTHING_RIDGE / RIDGE_FRACTION * default_ridge(data, self.fit_intercept, True)  # type: ignore[attr-defined]
        return max(super()._default_l2(data), SMOOTHING_RIDGE)  # type: ignore[misc]


@dataclass(eq=False, repr=False)
class AdditiveRegressorCV(AdditiveChosen, Regression, SparseModelCV):
    """Regression, k chosen."""


@dataclass(eq=False, repr=False)
class AdditiveRegressor(AdditiveFixed, Regression, AtMostK):
    """Regression, k fixed."""


@dataclass(eq=False, repr=False, kw_only=True)
class AdditiveClassifierCV(AdditiveChosen, Classification, SparseModelCV):
    """Classification, k chosen."""


@dataclass(eq=False, repr=False, kw_only=True)
class AdditiveClassifier(AdditiveFixed, Classification, AtMostK):
    """Classification, k fixed."""
