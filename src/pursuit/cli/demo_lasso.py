"""The demo's yardstick: l1, its penalty tuned until at most k coefficients are left."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import sklearn
from sklearn.linear_model import LassoLars, LogisticRegression, lars_path
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c
from sklearn.utils.fixes import parse_version


def lasso(X: Any, y: Any, ks: Sequence[int]) -> dict[int, Any]:
    """Of the corners of the lasso's path, for each k the last with at most k features."""
    alphas = lars_path(StandardScaler().fit_transform(X), y - y.mean(), method="lasso")[0]
    return _tuned((LassoLars(alpha=alpha) for alpha in alphas), X, y, ks)


def l1_logistic(X: Any, y: Any, ks: Sequence[int]) -> dict[int, Any]:
    """The same for l1-penalised logistic regression over a grid of penalties."""
    modern = parse_version(sklearn.__version__) >= parse_version("1.8")  # the penalty follows from l1_ratio
    kind = {"l1_ratio": 1.0} if modern else {"penalty": "l1"}
    Cs = l1_min_c(StandardScaler().fit_transform(X), y, loss="log") * np.geomspace(1.02, 300, 150)
    models = (LogisticRegression(C=C, solver="liblinear", max_iter=300, random_state=0, **kind) for C in Cs)
    return _tuned(models, X, y, ks)


def _tuned(models: Iterable[Any], X: Any, y: Any, ks: Sequence[int]) -> dict[int, Any]:
    """For each k the last fit with at most k features; ``models`` come with ever weaker penalties."""
    last: dict[int, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models:
            fit = make_pipeline(StandardScaler(), model).fit(X, y)
            size = np.count_nonzero(fit[-1].coef_)
            last |= {k: fit for k in ks if size <= k}
            if size > max(ks) + 2:  # it will not come back
                break
    return last
