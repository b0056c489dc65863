from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self, cast

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.metrics import r2_score

from .._utils.row_order import warn_at_caller
from .._utils.types import Array, ArrayLike, FilePath, Intercept, MatrixLike, StoredMatrix
from .._utils.validation import check_array, check_flag, check_offset, check_shape
from ..data import Arrays, is_dask
from .base import WARNING_STATUSES, AtMostK, SparseModel
from .inputs import ValidatedInput
from .parameter_docs import ATTRIBUTES, PARAMETERS, describe

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from ..engines.dask import Dask as Engine

OPTIMALITIES = ("none", "stationary", "swap_stationary", "swap_optimal")  # from the weakest to the strongest


class Regression(RegressorMixin, SparseModel):
    """Targets are numbers."""

    targets: ClassVar[tuple[str, ...]] = ("real", "nonnegative")

    def _validate_fit_input(
        self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None, offset: ArrayLike | None
    ) -> ValidatedInput:
        source = self._as_source(X, y, sample_weight, offset)
        return ValidatedInput(source, source.outputs > 0)

    def _validate_arrays(self, X: MatrixLike, y: ArrayLike | None) -> tuple[StoredMatrix, Array]:
        if y is not None and check_shape(y, "y") and np.asarray(y).dtype.kind == "O":
            y = check_array(y, "y")  # scikit-learn would turn text into numbers
        found, targets = self._validate(X, y, y_numeric=True, multi_output=self._takes_several_responses())
        self._warn_two_classes(targets)
        return found, targets

    def _set_coefficients(self, x: Array, intercept: Intercept) -> None:
        """``coef_`` and ``intercept_`` from coefficients of all columns."""
        self.coef_ = x.T.astype(self._dtype, copy=False)
        self.intercept_ = np.asarray(intercept, self._dtype)[()]  # a number, or one per response

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._takes_several_responses()
        return tags

    def _warn_two_classes(self, y: np.ndarray) -> None:
        """Warn where the target is 0 or 1 in every row, and the loss is one of residuals."""
        counts = self._loss_name() == "poisson"
        if y.ndim != 1 or counts or not len(y) or not ((y == 0) | (y == 1)).all() or y.min() == y.max():
            return
        name = type(self).__name__.replace("Regressor", "Classifier")
        classifier = "SparseAdditiveClassifier" if name.startswith("Additive") else name
        warn_at_caller(f"y holds only 0 and 1, which look like two classes: {classifier} predicts their probabilities")

    def _takes_several_responses(self) -> bool:
        """Whether the loss takes several responses."""
        return self._loss_name() == "squared"

    @describe
    def predict(self, X: MatrixLike, offset: ArrayLike | None = None) -> np.ndarray:
        """Predict the mean response (for Poisson, exp of the linear predictor).

        Parameters
        ----------
        {chosen_rows}
        offset : array of shape (n,) or None, default None
            Added to the linear predictor as at ``fit``; without it nothing is, so that a Poisson model with the
            logarithm of an exposure as offset predicts the rate of one unit of exposure. Data in parts bring their own
            offset.

        Returns
        -------
        array of shape (n,) or (n, q)
            The predictions.

        {diabetes_example}
        >>> SparseRegressor(k=3).fit(X, y).predict(X).shape
        (442,)
        """
        return self._loss().predict(self._eta(X, offset))

    @describe
    def score(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
    ) -> float:
        """Score the predictions of X by R2.

        Parameters
        ----------
        {scored_rows}
        y : array of shape (n,) or (n, q), or None, default None
            The responses.
        {score_weights}

        Returns
        -------
        float
            R2 of ``predict(X)``.

        {diabetes_example}
        >>> bool(SparseRegressor(k=3).fit(X, y).score(X, y) > 0.45)
        True
        """
        targets, predictions, weights = self._scored(X, y, sample_weight, offset)
        return float(r2_score(targets, predictions, sample_weight=weights))


@dataclass(eq=False, repr=False)  # for an __init__ that errors call by this class
class SparseRegressor(Regression, AtMostK):
    __doc__ = f"""Regression on at most k features; several responses share the features, or have k each.

    Parameters
    ----------
    {PARAMETERS}
    shared : bool, default True
        Whether several responses share their features (squared loss only). False fits a model to each response, with at
        most k features of its own; every regression loss then takes several responses.

    Attributes
    ----------
    {ATTRIBUTES}
    results_ : tuple of pursuit.Result
        With ``shared=False`` and several responses: the result of each. ``result_`` is then of all coefficients
        together, ``support_`` the columns that some response uses, and there is no ``objective_``.

    See Also
    --------
    SparseRegressorCV : Chooses k.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pursuit import SparseRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> SparseRegressor(k=3).fit(X, y).get_feature_names_out().tolist()
    ['bmi', 'bp', 's5']
    """
    _: KW_ONLY
    shared: bool = True

    def _takes_several_responses(self) -> bool:
        return not self.shared or super()._takes_several_responses()

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
        self.__dict__.pop("results_", None)
        one = self.shared is True or y is None or isinstance(y, str) or len(check_shape(y, "y")) < 2
        if check_flag(self.shared, "shared") or one:
            return super().fit(
                X, y, sample_weight, offset=offset, callback=callback, checkpoint=checkpoint, engine=engine
            )
        if checkpoint is not None or engine is not None or is_dask(X):
            raise TypeError("shared=False fits a model to each response, from arrays: leave checkpoint and engine out")
        source = cast(Arrays, self._read_fit_input(X, y, sample_weight, offset, None).source)
        Y = np.asarray(source.targets())
        shift = check_offset(offset, len(Y), Y.shape[1])
        shifts = [None] * Y.shape[1] if shift is None else np.broadcast_to(shift, Y.shape).T
        models = []
        for response, own in zip(Y.T, shifts, strict=True):
            model = clone(self).set_params(shared=True)
            models.append(model.fit(source.X, response, sample_weight, offset=own, callback=callback))
        self._join(models)
        return self

    fit.__doc__ = AtMostK.fit.__doc__
    fit.__qualname__ = "fit"  # the name in errors of Python, without this class

    def _fit(
        self, inputs: ValidatedInput, callback: Callable[..., object] | None = None, checkpoint: FilePath | None = None
    ) -> None:
        if inputs.multi_output and not self.shared:
            raise ValueError("shared=False needs y as an array: data in parts with several responses share features")
        super()._fit(inputs, callback, checkpoint)

    def _join(self, models: Sequence["SparseRegressor"]) -> None:
        """Store the models of single responses as one."""
        self.results_ = results = tuple(model.result_ for model in models)
        self.support_ = support = np.unique(np.concatenate([result.support for result in results]))
        status = next((s for s in WARNING_STATUSES if any(result.status == s for result in results)), "converged")
        sizes = ", ".join(str(len(result.support)) for result in results)
        first = results[0]
        self.result_ = replace(
            first,
            support=support,
            coef=np.stack([result.x[support] for result in results], axis=1),
            intercept=np.array([result.intercept for result in results]),
            value=sum(r.value for r in results),
            status=status,
            reason=f"each response has features of its own ({sizes}), see results_",
            n_iter=sum(r.n_iter for r in results),
            seconds=sum(r.seconds for r in results),
            trace=(),
            optimality=min((r.optimality for r in results), key=OPTIMALITIES.index),
            exchange=None,
            constraint=first.constraint.with_budget(max(1, first.constraint.count(support))),
            certificate="none",
            lower=None,
            next_best="",
        )
        self.__dict__.pop("objective_", None)
        self._dtype, self.l2_, self.n_iter_ = models[0]._dtype, models[0].l2_, max(model.n_iter_ for model in models)
        self._set_coefficients(self.result_.x, self.result_.intercept)
