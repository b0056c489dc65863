"""The demo's yardstick: l1, along its path and with the penalty that cross-validation takes."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LassoCV, lars_path
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c

from pursuit._utils.l1_logistic import l1_logistic_regression
from pursuit._utils.types import Array, Columns, Folds, Matrix, Vector

PATH_PENALTIES = 40  # penalties along the path of l1 logistic regression, which has no corners to go by
CV_PENALTIES = 12  # and those that cross-validation chooses from


@dataclass(frozen=True, eq=False)
class Fit:
    """A linear model on some columns."""

    columns: Columns
    coef: Vector
    intercept: float

    def eta(self, X: Matrix) -> Vector:
        """The linear predictor."""
        return X[:, self.columns] @ self.coef + self.intercept


def lasso(X: Matrix, y: Array, ks: Sequence[int]) -> dict[int, Fit]:
    """Of the corners of the lasso's path, for each k the last with at most k features."""
    scale = StandardScaler().fit(X)
    corners = lars_path(scale.transform(X), y - y.mean(), method="lasso")[2].T
    return _last(((coef, y.mean()) for coef in corners), scale, ks)


def lasso_by_cv(X: Matrix, y: Array, folds: Folds) -> Fit:
    """The lasso with the penalty of the least held-out error."""
    scale = StandardScaler().fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = LassoCV(cv=folds).fit(scale.transform(X), y)
    return _in_units(best.coef_, best.intercept_, scale)


def l1_logistic(X: Matrix, y: Array, ks: Sequence[int]) -> dict[int, Fit]:
    """The same for l1-penalised logistic regression over a grid of penalties."""
    scale = StandardScaler().fit(X)
    Z = scale.transform(X)
    models = (l1_logistic_regression(C).fit(Z, y) for C in _penalties(Z, y, PATH_PENALTIES))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _last(((model.coef_[0], model.intercept_[0]) for model in models), scale, ks)


def l1_logistic_by_cv(X: Matrix, y: Array, folds: Folds) -> Fit:
    """The same with the penalty of the least held-out log loss."""
    scale = StandardScaler().fit(X)
    Z = scale.transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = GridSearchCV(
            l1_logistic_regression(), {"C": _penalties(Z, y, CV_PENALTIES)}, scoring="neg_log_loss", cv=folds
        ).fit(Z, y)
    return _in_units(search.best_estimator_.coef_[0], search.best_estimator_.intercept_[0], scale)


def _penalties(Z: Matrix, y: Array, count: int) -> Vector:
    return l1_min_c(Z, y, loss="log") * np.geomspace(1.02, 300, count)


def _last(models: Iterable[tuple[Vector, float]], scale: StandardScaler, ks: Sequence[int]) -> dict[int, Fit]:
    """For each k the last fit with at most k features; ``models`` come with ever weaker penalties."""
    last: dict[int, Fit] = {}
    for coef, intercept in models:
        size = np.count_nonzero(coef)
        if size:
            last |= {k: _in_units(coef, intercept, scale) for k in ks if size <= k}
        if size > max(ks) + 2:  # it will not come back
            break
    return last


def _in_units(coef: Vector, intercept: float, scale: StandardScaler) -> Fit:
    columns = np.flatnonzero(coef)
    slopes = coef[columns] / scale.scale_[columns]
    return Fit(columns, slopes, float(intercept - scale.mean_[columns] @ slopes))
