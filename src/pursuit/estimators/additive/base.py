"""The base of additive models: at most k features, each with an effect of its own, as a scikit-learn estimator."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ..._utils.column_names import get_column_names
from ..._utils.docs import DocLink
from ..._utils.types import (
    Array,
    ArrayLike,
    ColumnsLike,
    Flags,
    Folds,
    GroupsLike,
    MatrixLike,
    Seed,
    StoredMatrix,
)
from ..._utils.validation import check_k
from ...certificates import Certificate, certify
from ...data import Source, is_dask
from ...data.sources import opened
from ...effects import Effect
from ...losses.base import LossLike
from ...objectives import GLM
from ...reports.explanation import Explanation, explain_contributions
from ...solvers.base import Solver
from ...solving.result import Result
from ..base import AtMostK
from ..base_cv import SparseModelCV
from ..outputs import ModelReport, one_row
from .summary import AdditiveSummary, build_additive_summary

if TYPE_CHECKING:
    from pandas import DataFrame
    from sklearn.utils import Tags


CV_ONLY = ("ks", "gamma", "goal", "rule", "combine", "scoring")
PARAMETERS = """k : int or "cv", default "cv"
        At most this many features. "cv": the number is chosen by cross-validation so that the model predicts.
    effects : "smooth", "linear", "auto" or dict, default "smooth"
        "smooth": a curve (natural cubic spline) for every feature with more than eight distinct values, a line for the
        others. "linear": lines only. "auto" (where k is a number the same as "smooth"): models with lines only are
        candidates too, and curves bend as far as that predicts better; below 200 rows "smooth" does so as well. Or a
        dict from columns (names or indices) to "smooth", "linear", "increasing" or "decreasing"; features that it does
        not name are "smooth".
    n_knots : int or None, default None
        Knots of a curve, from 3 to 7. None: 5, and 3 below 200 rows. They lie at quantiles of the training rows; in a
        cross-validation, of the training rows of each fold.
    loss : str or Loss
        See ``pursuit.list_losses()``.
    l2 : float or None, default None
        Ridge, half of it times the squared norm is added to the mean loss. Columns of a curve are the smaller the
        rougher they are, so that it is a smoothing penalty. None: 0.02 times the loss's curvature at the model without
        features where k is a number; where k is "cv", several are tried.
    include, exclude : array of columns (indices, names, or a mask), default None
        Features that must, must not be chosen; those included count in k.
    groups : array with one label per feature, default None
        Features with the same label (the dummies of a category) enter together and count once in k.
    ks, gamma : default None
        For k="cv" only, see :class:`pursuit.SparseRegressorCV`.
    cv : int, splitter or pairs of rows, default 5
        For k="cv" only: the folds.
    goal, rule, combine, scoring : default None
        For k="cv" only, see :class:`pursuit.SparseRegressorCV`.
    solver : str or Solver, default "auto"
        See ``pursuit.list_solvers()``.
    fit_intercept : bool, default True
        Whether there is an intercept, which is never penalised.
    time_limit : float or None, default None
        Seconds for the fit.
    n_jobs : int or None, default None
        Threads; None: all that OMP_NUM_THREADS and the machine allow.
    random_state : int, RandomState or None, default None
        Seed of the folds, and of solvers that draw random numbers.
    """
ATTRIBUTES = """support_ : ndarray of int
        Sorted indices of the chosen features.
    k_ : int
        How many features (groups) were chosen.
    effects_ : dict of str to Effect
        The curve of every chosen feature, by its name: call it with values of the feature. Means over the training rows
        are zero.
    intercept_ : float or ndarray
        The linear predictor where all effects are zero.
    model_ : estimator
        The sparse model on the columns of the curves, with its ``result_``, ``objective_`` and, for k="cv", ``path_``,
        ``cv_results_`` and ``reason_``. There is no ``coef_``: a curve has several coefficients, which mean nothing
        without its knots.
    n_features_in_, feature_names_in_ : of X at ``fit``
    """


@dataclass(eq=False, repr=False)
class SparseAdditive(DocLink, ModelReport, SelectorMixin, BaseEstimator):
    """At most k features, each with an effect of its own."""

    chosen_model: ClassVar[type[SparseModelCV]]
    fixed_model: ClassVar[type[AtMostK]]

    k: int | str = "cv"
    _: KW_ONLY
    effects: str | Mapping[str | int, str] = "smooth"
    n_knots: int | None = None
    loss: LossLike = "squared"
    l2: float | None = None
    include: ColumnsLike = None
    exclude: ColumnsLike = None
    groups: GroupsLike = None
    ks: Iterable[int] | int | None = None
    gamma: float | None = None
    cv: Folds = 5
    goal: str | None = None
    rule: str | None = None
    combine: str | None = None
    scoring: str | Callable[..., float] | None = None
    solver: str | Solver = "auto"
    fit_intercept: bool = True
    time_limit: float | None = None
    n_jobs: int | None = None
    random_state: Seed = None

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
        cv_groups: ArrayLike | None = None,
        callback: Callable[..., object] | None = None,
    ) -> Self:
        """Select the features and fit their effects.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features), Dask collection, InParts or OnDisk, or a path
            The training rows. Data in parts and on a disk bring their targets, weights and offset. Of rows that are
            not in memory, or in parts, knots come from at most 65,536 drawn at random, means and scales from all.
        y : array of shape (n_samples,)
            Targets; for a regressor with the squared loss also (n_samples, n_responses).
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts twice; a row of weight zero has no effect.
        offset : array of shape (n_samples,), optional
            It is added to the linear predictor.
        cv_groups : array of shape (n_samples,), optional
            Groups of rows that a cross-validation keeps together.
        callback : callable, optional
            For k="cv" called with (folds done, folds), else with each iteration's Record.

        Returns
        -------
        estimator
            Itself.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseAdditiveRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> SparseAdditiveRegressor(k=2).fit(X, y).k_
        2
        """
        model = self._make_model(cv_groups)
        more = {"cv_groups": cv_groups} if self._chooses else {}
        model.fit(X, y, sample_weight, offset=offset, callback=callback, **more)
        model._release_sample()
        self.model_ = model
        self.__dict__.pop("certificate_", None)
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
            else:
                self.__dict__.pop(name, None)
        self._set_effects()
        return self

    fit.__qualname__ = "fit"  # the name in errors of Python, without this class

    @property
    def _chooses(self) -> bool:
        return isinstance(self.k, str) and self.k == "cv"

    def _make_model(self, cv_groups: ArrayLike | None) -> Any:
        """The sparse model on spline columns that these parameters ask for."""
        common = {
            name: getattr(self, name)
            for name in (
                "loss",
                "l2",
                "include",
                "exclude",
                "solver",
                "fit_intercept",
                "time_limit",
                "n_jobs",
                "random_state",
                *self._own_parameters,
            )
        }
        if self._chooses:
            own = {name: getattr(self, name) for name in CV_ONLY if name != "goal"}
            goal = "predict" if self.goal is None else self.goal
            model = self.chosen_model(**common, **own, goal=goal, cv=self.cv, standardize=False)
        else:
            if isinstance(self.k, str):
                raise ValueError(f"k must be a number of features or 'cv', got {self.k!r}")
            for name in CV_ONLY:
                if getattr(self, name) is not None:
                    raise ValueError(f"{name} is for k='cv', which chooses k, and k is {self.k!r}: leave it out")
            if cv_groups is not None:
                raise ValueError(f"cv_groups is for k='cv', which chooses k, and k is {self.k!r}: leave it out")
            model = self.fixed_model(**common, k=check_k(self.k), standardize=False)
        auto = isinstance(self.effects, str) and self.effects == "auto"
        model.effects, model.n_knots, model.feature_groups = self.effects, self.n_knots, self.groups
        if auto:
            model.effects, model.with_linear = "smooth", True
        return model

    _own_parameters: ClassVar[tuple[str, ...]] = ()

    def _set_effects(self) -> None:
        """Support, effects and intercept, from the model on spline columns."""
        model, basis = self.model_, self.model_.basis_
        coef, self.intercept_ = model._on_support()
        cols = model.support_
        owner = basis.feature_of[cols]
        self.support_ = np.unique(owner).astype(np.int64)
        names = self._names()
        self.effects_ = {}
        for j in self.support_.tolist():
            own = np.zeros((basis.columns[j].width, *coef.shape[1:]))
            own[cols[owner == j] - basis.starts[j]] = coef[owner == j]
            self.effects_[names[j]] = Effect(names[j], j, basis.columns[j].kind, own, basis.columns[j])
        self.k_ = len(np.unique(model.groups[cols]))

    @property
    def result_(self) -> Result:
        """The :class:`pursuit.Result` of the model on spline columns."""
        return self._fitted_model("result_").result_

    @property
    def objective_(self) -> GLM:
        """The :class:`pursuit.GLM` on spline columns; it refers to the training data and is not pickled."""
        return self._fitted_model("objective_").objective_

    def _fitted_model(self, name: str) -> Any:
        if "model_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} is not fitted, so it has no {name}")
        return self.model_

    def certify(self, time_limit: float = 10.0) -> Certificate:
        """Bound or prove how good the chosen features are; what is proved is printed by ``summary`` from then on.

        Parameters
        ----------
        time_limit : float, default 10
            Seconds.

        Returns
        -------
        Certificate
            Its ``status`` is "proved" where no other set of so many features has a better additive model, with these
            knots and this ridge. ``always`` and ``never`` are features; ``result`` is on spline columns.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseAdditiveRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = SparseAdditiveRegressor(k=2).fit(X, y)
        >>> model.certify(time_limit=10).status
        'proved'
        """
        check_is_fitted(self)
        self.certificate_ = certify(self, time_limit=time_limit)
        return self.certificate_

    def _in_features(self, certificate: Certificate) -> Certificate:
        """A certificate on spline columns, with features in place of columns."""
        owner = self.model_.basis_.feature_of
        always, never = (np.unique(owner[cols]).astype(np.int64) for cols in (certificate.always, certificate.never))
        return replace(certificate, always=always, never=never)

    def _model_of_size(self, k: int) -> Any:
        """The sparse model with k features and the same parameters, not fitted."""
        nothing = dict.fromkeys(CV_ONLY)
        return clone(self).set_params(k=k, **nothing)._make_model(None)

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(name) for name in names]

    def __getattr__(self, name: str) -> NoReturn:
        if name == "coef_":
            raise AttributeError(
                f"{type(self).__name__} has no coef_: an effect is a curve with several coefficients, which mean "
                "nothing without its knots; effects_ holds the curves, and contributions(X) what each adds to a "
                "prediction"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def contributions(self, X: MatrixLike) -> Array:
        """What each chosen feature adds to the linear predictor of each row.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Any rows.

        Returns
        -------
        ndarray of shape (n_samples, n_chosen) or (n_samples, n_chosen, n_outputs)
            With ``intercept_`` the rows add up to the linear predictor (of a regression with the squared loss: the
            prediction).

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseAdditiveRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = SparseAdditiveRegressor(k=2).fit(X, y)
        >>> model.contributions(X).shape
        (442, 2)
        """
        check_is_fitted(self)
        if is_dask(X) or isinstance(opened(X), Source):
            raise TypeError("contributions takes arrays and data frames, whose rows are in memory; give it some rows")
        rows: Array = self.model_._read_rows(X)
        parts = [effect(rows[:, effect.column]) for effect in self.effects_.values()]
        tail = () if np.ndim(self.intercept_) == 0 else np.shape(self.intercept_)
        return np.stack(parts, axis=1) if parts else np.zeros((len(rows), 0, *tail))

    def score(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
    ) -> float:
        """Score the predictions: R2 of a regressor, the share of rows whose class is predicted of a classifier.

        Parameters
        ----------
        X : array, data frame, Dask collection, data in parts or a path to data on a disk
            Any rows.
        y : array of shape (n_samples,), optional
            Their targets; data in parts and on a disk bring their own.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows.
        offset : array of shape (n_samples,), optional
            It is added to the linear predictor.

        Returns
        -------
        float
            The score.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseAdditiveRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> bool(SparseAdditiveRegressor(k=2).fit(X, y).score(X, y) > 0.4)
        True
        """
        check_is_fitted(self)
        return self.model_.score(X, y, sample_weight, offset=offset)

    def explain(self, row: MatrixLike) -> Explanation:
        """Split one prediction into the contributions of the features.

        Parameters
        ----------
        row : array-like of shape (n_features,) or (1, n_features), or a data frame of one row
            The row to explain.

        Returns
        -------
        Explanation
            What each curve adds; with the intercept, the linear predictor of the row.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseAdditiveRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = SparseAdditiveRegressor(k=2).fit(X, y)
        >>> model.explain(X.iloc[:1]).names
        ('bmi', 's5')
        """
        check_is_fitted(self)
        X = one_row(row)
        prediction: Array = np.ravel(self.predict(X))
        values = np.asarray(self.model_._read_rows(X)[0, self.support_], dtype=np.float64)
        return explain_contributions(
            tuple(self.effects_),
            values,
            self.contributions(X)[0],
            self.intercept_,
            None if len(prediction) > 1 else prediction[0],
            self.model_._outputs(()),
        )

    def transform(self, X: MatrixLike) -> "StoredMatrix | DataFrame":
        """X with the chosen features only.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Any rows.

        Returns
        -------
        array or data frame of shape (n_samples, n_chosen)
            The features themselves, not their curves.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseAdditiveRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = SparseAdditiveRegressor(k=2).fit(X, y)
        >>> model.transform(X).shape
        (442, 2)
        """
        get_column_names(X)  # of which no two may be the same
        return super().transform(X)

    def _get_support_mask(self) -> Flags:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_] = True
        return mask

    def summary(self) -> AdditiveSummary:
        """The model on one page: the range of every effect, where it rises and falls, what it explains.

        Returns
        -------
        AdditiveSummary
            Print it, or take the numbers.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseAdditiveRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = SparseAdditiveRegressor(k=2).fit(X, y)
        >>> model.summary().names
        ('bmi', 's5')
        """
        check_is_fitted(self)
        return build_additive_summary(self)

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
