"""The demo's yardstick: l1, along its path and with the penalty that cross-validation takes."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn.linear_model import LassoCV, LogisticRegression, lars_path
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c
from sklearn.utils.fixes import parse_version

from pursuit._utils.types import Array, Columns, Vector

from .._utils.types import Intercept, MatrixLike

GRID = 40  # penalties along the path of l1 logistic regression, which has no corners to go by
TRIED = 12  # and those that cross-validation chooses from


@dataclass(frozen=True, eq=False)
class Fit:
    """A linear model on some columns."""

    columns: Columns
    coef: Vector
    intercept: float

    def eta(self, X: MatrixLike) -> Any:
        """The linear predictor."""
        return X[:, self.columns] @ self.coef + self.intercept


def lasso(X: MatrixLike, y: Array, ks: Sequence[int]) -> dict[int, Fit]:
    """Of the corners of the lasso's path, for each k the last with at most k features."""
    scale = StandardScaler().fit(X)
    corners = lars_path(scale.transform(X), y - y.mean(), method="lasso")[2].T
    return _last(((coef, y.mean()) for coef in corners), scale, ks)


def lasso_by_cv(X: MatrixLike, y: Array, folds: Any) -> Fit:
    """The lasso with the penalty of the least held-out error."""
    scale = StandardScaler().fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = LassoCV(cv=folds).fit(scale.transform(X), y)
    return _in_units(best.coef_, best.intercept_, scale)


def l1_logistic(X: MatrixLike, y: Array, ks: Sequence[int]) -> dict[int, Fit]:
    """The same for l1-penalised logistic regression over a grid of penalties."""
    scale = StandardScaler().fit(X)
    Z = scale.transform(X)
    models = (_l1(C).fit(Z, y) for C in _penalties(Z, y, GRID))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _last(((model.coef_[0], model.intercept_[0]) for model in models), scale, ks)


def l1_logistic_by_cv(X: MatrixLike, y: Array, folds: Any) -> Fit:
    """The same with the penalty of the least held-out log loss."""
    scale = StandardScaler().fit(X)
    Z = scale.transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = GridSearchCV(_l1(1.0), {"C": _penalties(Z, y, TRIED)}, scoring="neg_log_loss", cv=folds).fit(Z, y)
    return _in_units(search.best_estimator_.coef_[0], search.best_estimator_.intercept_[0], scale)


def _l1(C: float) -> Any:
    modern = parse_version(sklearn.__version__) >= parse_version("1.8")  # the penalty follows from l1_ratio
    kind = {"l1_ratio": 1.0} if modern else {"penalty": "l1"}
    return LogisticRegression(C=C, solver="liblinear", max_iter=300, random_state=0, **kind)


def _penalties(Z: Any, y: Array, count: int) -> Any:
    return l1_min_c(Z, y, loss="log") * np.geomspace(1.02, 300, count)


def _last(models: Any, scale: Any, ks: Sequence[int]) -> dict[int, Fit]:
    """For each k the last fit with at most k features; ``models`` come with ever weaker penalties."""
    last: dict[int, Fit] = {}
    for coef, intercept in models:
        size = np.count_nonzero(coef)
        if size:
            last |= {k: _in_units(coef, intercept, scale) for k in ks if size <= k}
        if size > max(ks) + 2:  # it will not come back
            break
    return last


def _in_units(coef: Any, intercept: Intercept, scale: Any) -> Fit:
    columns = np.flatnonzero(coef)
    slopes = coef[columns] / scale.scale_[columns]
    return Fit(columns, slopes, float(intercept - scale.mean_[columns] @ slopes))
