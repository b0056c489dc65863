"""Base classes of the estimators: validation, fit, feature selection, and prediction from k columns."""

import copy
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from .._utils.column_names import get_column_names, refuse_missing
from .._utils.docs import DocLink
from .._utils.row_order import warn_at_caller, warn_row_order
from .._utils.types import (
    Array,
    ArrayLike,
    BoundsLike,
    Columns,
    ColumnsLike,
    FilePath,
    Flags,
    GroupsLike,
    Intercept,
    MatrixLike,
    Seed,
    StoredMatrix,
)
from .._utils.validation import check_k, check_mask, check_number
from .._utils.wrong_calls import check_keywords, refuse_names_for_rows
from ..data import Arrays, Data, Source, by_partition, from_dask, is_dask
from ..data.sources import opened, predictors
from ..designs import as_design
from ..engines import threads
from ..losses import Loss, Multinomial, Squared, as_loss
from ..objectives import GLM
from ..objectives.sparse_set import SparseSet
from ..reports.build import DisplayedModel, build_summary
from ..reports.class_scores import ClassScores
from ..reports.model_summary import Summary
from ..solvers.base import Solver
from ..solving.driver import solve
from .inputs import InputChecks, ValidatedInput, check_source_columns, read_chosen, refuse_beside_source, validate
from .outputs import ModelOutputs
from .parameter_docs import describe

if TYPE_CHECKING:
    from pandas import DataFrame
    from sklearn.utils import Tags

    from ..engines.dask import Dask as Engine


def _warn_target_among_columns(X: MatrixLike, y: ArrayLike | None) -> None:
    """Warn where a data frame has the target as a column: under its name, with its values."""
    name = getattr(y, "name", None)
    if not isinstance(name, str) or not hasattr(X, "columns") or name not in list(X.columns):
        return
    frame: DataFrame = X
    if np.array_equal(np.asarray(frame[name]), np.asarray(y)):
        warn_at_caller(f"X has the column {name!r}, which is the target: leave it out, X.drop(columns={name!r})")


MAX_SUMMARY_WORK = 1e9  # multiplications up to which pickling computes the summary
WARNING_STATUSES = ("time_limit", "max_iter", "no_minimiser", "failed")  # not "interrupted": the user knows


@dataclass(eq=False, repr=False)
class SparseModel(DocLink, ModelOutputs, SelectorMixin, BaseEstimator):
    """A sparse GLM, whether its number of features is fixed or chosen."""

    targets: ClassVar[tuple[str, ...]] = ()

    _: KW_ONLY
    loss: str | Loss = "squared"
    l2: float | None = None
    solver: str | Solver = "auto"
    include: ColumnsLike = None
    exclude: ColumnsLike = None
    groups: GroupsLike = None
    bounds: BoundsLike = None
    sum_to: float | None = None
    fit_intercept: bool = True
    standardize: bool = True
    max_iter: int | None = None
    tol: float | None = None
    time_limit: float | None = None
    n_jobs: int | None = None
    random_state: Seed = None

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """An instance; a parameter that there is not gets the name of the one that does what was meant."""
        check_keywords(cls, kwargs)
        return super().__new__(cls)

    def _default_l2(self, data: Data) -> float:
        """The ridge for ``l2=None``: that of the loss."""
        return self._loss().ridge

    def _validate(
        self, X: MatrixLike, y: ArrayLike | None, **checks: Unpack[InputChecks]
    ) -> tuple[StoredMatrix, Array]:
        check_mask(y, "y")
        # finiteness is not checked here: the first pass over X finds NaN and infinity at no cost
        return self._read(X, y, ensure_all_finite=False, **checks)

    def _read(
        self, X: MatrixLike, *y: ArrayLike | None, ensure_all_finite: bool = True, **checks: Unpack[InputChecks]
    ) -> Any:
        return validate(self, X, *y, accept_sparse=("csr", "csc"), ensure_all_finite=ensure_all_finite, **checks)

    def _read_fit_input(
        self,
        X: MatrixLike,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        offset: ArrayLike | None,
        engine: "Engine | None",
    ) -> ValidatedInput:
        """The validated arguments of ``fit``, with rows on the workers of an engine if there is one."""
        refuse_names_for_rows(X, y)
        _warn_target_among_columns(X, y)
        if is_dask(X):
            return self._validate_fit_input(from_dask(X, y, sample_weight, offset, engine), None, None, None)
        warn_row_order(X, y=y, sample_weight=sample_weight, offset=offset)
        inputs = self._validate_fit_input(X, y, sample_weight, offset)
        return inputs if engine is None else inputs.to_engine(engine)

    def _as_source(
        self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None, offset: ArrayLike | None
    ) -> Source:
        """The arguments of ``fit``, checked: arrays and frames are a source of rows like any other."""
        X = opened(X)
        if isinstance(X, Source):
            refuse_beside_source(y, sample_weight, offset)
            check_source_columns(self, X, reset=True)
            return X
        read, y = self._validate_arrays(X, y)
        frame = X if hasattr(X, "columns") else None  # splitters and scorers see the user's frame
        return Arrays(read, y, sample_weight, offset, getattr(self, "feature_names_in_", None), frame)

    def _scored(
        self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None, offset: ArrayLike | None
    ) -> tuple[ArrayLike | None, Array, ArrayLike | None]:
        """Targets, predictions and weights of the rows that ``score`` is given."""
        X = opened(X)
        if isinstance(X, Source):
            refuse_beside_source(y, sample_weight, offset)
            return X.targets(), self.predict(X), X.weights()
        warn_row_order(X, y=y, sample_weight=sample_weight)
        return y, self.predict(X, offset), sample_weight

    if TYPE_CHECKING:  # defined by Regression and Classification

        def _validate_fit_input(
            self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None, offset: ArrayLike | None
        ) -> ValidatedInput: ...

        def _validate_arrays(self, X: MatrixLike, y: ArrayLike | None) -> tuple[StoredMatrix, Array]: ...

        def predict(self, X: MatrixLike, offset: ArrayLike | None = None) -> Array: ...

        def _set_coefficients(self, x: Array, intercept: Intercept) -> None: ...

    def _loss(self) -> Loss:
        loss = as_loss(self.loss)
        if loss.targets not in self.targets:
            kinds = "regression" if "real" in self.targets else "classification"
            raise ValueError(f"loss {loss.name!r} is not a {kinds} loss; {type(self).__name__} needs one that is")
        return loss

    def _loss_name(self) -> str:
        """The name of the loss, also before a fit has found whether there is such a loss."""
        return self.loss.casefold() if isinstance(self.loss, str) else getattr(self.loss, "name", "")

    def _loss_of(self, multi_output: bool) -> Loss:
        """The loss, or that of several outputs which goes with it."""
        loss, known = self._loss(), {"squared": Squared, "logistic": Multinomial}
        if not multi_output:
            return loss
        if loss.name not in known:
            raise ValueError(
                f"loss {loss.name!r} takes one output only; several classes need loss='logistic', several responses "
                "loss='squared'"
            )
        return known[loss.name]()

    def _eta(self, X: MatrixLike, offset: ArrayLike | None = None) -> Array:
        """The linear predictor with an offset, reading only the chosen columns; data in parts bring their offset."""
        check_is_fitted(self)
        coef, intercept = self._on_support()
        X = opened(X)
        if isinstance(X, Source):
            refuse_beside_source(offset)
            check_source_columns(self, X, reset=False)
            return X.predictors(self.support_, coef, intercept).astype(X.dtype, copy=False)
        if is_dask(X):  # one number a row comes back
            eta = np.concatenate(by_partition(self._eta, X))
            return eta if offset is None else eta + np.asarray(offset)
        warn_row_order(X, offset=offset)
        found, places = read_chosen(self, X, self.support_)
        design = as_design(found)
        eta = predictors(design, places, coef, intercept, offset)
        if not np.isfinite(eta).all():
            self._refuse_missing(found, places)
        return eta.astype(design.dtype, copy=False)

    def _refuse_missing(self, X: StoredMatrix, places: Columns) -> None:
        """Raise where the chosen columns, at these places of X, hold NaN or infinity."""
        refuse_missing(X[:, places], getattr(self, "feature_names_in_", None), self.support_)

    def _on_support(self) -> tuple[Array, Intercept]:
        """Coefficients of the support in double precision (several outputs: a row each), and the intercept."""
        return self.result_.coef, self.result_.intercept

    @describe
    def transform(self, X: MatrixLike) -> "StoredMatrix | DataFrame":
        """Keep the chosen columns of X.

        Parameters
        ----------
        X : array, data frame or sparse matrix, shape (n, p)
            The rows.

        Returns
        -------
        array, data frame or sparse matrix, shape (n, k)
            The chosen columns.

        {diabetes_example}
        >>> SparseRegressor(k=3).fit(X, y).transform(X).shape
        (442, 3)
        """
        get_column_names(X)  # of which no two may be the same
        return super().transform(X)

    def _get_support_mask(self) -> Flags:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_] = True
        return mask

    @describe
    def summary(self) -> Summary:
        """Summarise the model on one page: coefficients, the value of every feature, scores, optimality.

        It is that of ``coef_``; where the data are large, call it before pickling, which leaves the data behind.

        Returns
        -------
        Summary
            To print, or as numbers.

        {diabetes_example}
        >>> SparseRegressor(k=3).fit(X, y).summary().names
        ('bmi', 'bp', 's5')
        """
        check_is_fitted(self)
        cached = getattr(self, "_summarised", None)
        if cached is None or cached[0] is not self.result_:
            cached = self._summarised = (self.result_, self._summary())
        return cached[1]

    def _summary(self) -> Summary:
        f, coef, result = getattr(self, "objective_", None), np.asarray(self.coef_, dtype=np.float64), self.result_
        rows = coef.reshape(-1, coef.shape[-1]).T[self.support_]
        if rows.shape[1] == 1:
            shown = DisplayedModel(self.support_, rows[:, 0], float(np.ravel(self.intercept_)[0]))
        else:
            shown = DisplayedModel(self.support_, rows, np.asarray(self.intercept_, dtype=np.float64))
        same = np.array_equal(self.support_, result.support) and np.allclose(shown.coef, result.coef, rtol=1e-5, atol=0)
        summary = build_summary(f, result, None if same else shown)
        held_out = getattr(self, "held_out_", None) or (None, "", None)  # of CV estimators
        names = self._names_of_coefficients()
        return replace(
            summary,
            outputs=self._outputs(summary.outputs),
            notes=(*self._notes(), *summary.notes),
            held_out=held_out[0],
            held_out_name=held_out[1],
            held_out_error=held_out[2],
            classes=self._class_scores(),
            held_out_classes=getattr(held_out, "classes", None),
            names=summary.names if names is None else tuple(str(names[j]) for j in self.support_),
        )

    def _names_of_coefficients(self) -> Array | None:
        """The names of the columns that have coefficients; None: those of the objective."""
        return getattr(self, "feature_names_in_", None)

    def _class_scores(self, threshold: float = 0.5) -> ClassScores | None:
        """Scores of a classifier on its training rows."""
        return None

    def _outputs(self, outputs: tuple[str, ...]) -> tuple[str, ...]:
        """The names of the outputs."""
        return outputs

    def _notes(self) -> tuple[str, ...]:
        """Notes of the summary."""
        reason = getattr(self, "reason_", "")  # of CV estimators
        return (f"{reason}.",) if reason else ()

    def __getstate__(self) -> dict[str, object]:
        state = dict(super().__getstate__())
        f = state.pop("objective_", None)  # it holds the training data
        if f is not None and "_summarised" not in state and f.work * len(self.support_) <= MAX_SUMMARY_WORK:
            state["_summarised"] = (self.result_, self._summary())
        return state

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(eq=False, repr=False)
class AtMostK(SparseModel):
    """A GLM with at most k features, selected and fitted at once."""

    k: int = 10
    _: KW_ONLY
    effort: str | None = None

    @describe
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
        callback: Callable[..., object] | None = None,
        checkpoint: FilePath | None = None,
        engine: "Engine | None" = None,
    ) -> Self:
        """Select at most k features and fit the model on them.

        Parameters
        ----------
        {fit_rows}
        callback : callable or None, default None
            Called with a Record after each iteration; a true return value stops the search.
        checkpoint : path or None, default None
            A file from which a fit that was killed goes on, see :func:`pursuit.solve`.
        {engine}

        {fitted}

        {diabetes_example}
        >>> SparseRegressor(k=3).fit(X, y).support_.tolist()
        [2, 3, 8]
        """
        self._fit(self._read_fit_input(X, y, sample_weight, offset, engine), callback, checkpoint)
        self._set_coefficients(self.result_.x, self.result_.intercept)
        return self

    fit.__qualname__ = "fit"  # the name in errors of Python, without this class

    @describe
    def objective(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
        engine: "Engine | None" = None,
    ) -> GLM:
        """Return the :class:`pursuit.GLM` that ``fit`` with the same arguments would minimise, without minimising it.

        For :func:`pursuit.solve`, :func:`pursuit.path` and :func:`pursuit.certify` on the data of an estimator.

        Parameters
        ----------
        {fit_rows}
        {engine}

        Returns
        -------
        GLM
            The objective.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> import pursuit
        >>> X, y = load_diabetes(return_X_y=True)
        >>> f = pursuit.SparseRegressor().objective(X, y)
        >>> pursuit.path(f, [1, 2, 3]).ks.tolist()
        [1, 2, 3]
        """
        twin = copy.copy(self)  # which learns the names of columns and classes
        return twin._objective(twin._read_fit_input(X, y, sample_weight, offset, engine))

    def _objective(self, inputs: ValidatedInput) -> GLM:
        loss = self._loss_of(inputs.multi_output)
        with threads(self.n_jobs):
            data = inputs.data(loss)
            self.l2_ = self._default_l2(data) if self.l2 is None else check_number(self.l2, "l2")
            return GLM(data, loss=loss, l2=self.l2_, fit_intercept=self.fit_intercept, standardize=self.standardize)

    def _fit(
        self, inputs: ValidatedInput, callback: Callable[..., object] | None = None, checkpoint: FilePath | None = None
    ) -> None:
        """Solve on validated data and store the model."""
        check_k(self.k)
        objective, allowed = self._objective(inputs), SparseSet.of(self)
        with threads(self.n_jobs):
            result = solve(
                objective,
                self.k,
                solver=self.solver,
                **allowed._asdict(),
                max_iter=self.max_iter,
                tol=self.tol,
                time_limit=self.time_limit,
                callback=callback,
                random_state=self.random_state,
                checkpoint=checkpoint,
                effort=self.effort,
            )
        self.objective_ = objective
        self.result_ = result
        self.support_ = result.support
        self.n_iter_ = result.n_iter
        # in float32 a coefficient could round past its bound
        self._dtype = np.dtype(np.float64) if allowed.is_bounded else objective.data.dtype
        if result.status in WARNING_STATUSES:
            warn_at_caller(f"{type(self).__name__}: {result.reason}", ConvergenceWarning)
