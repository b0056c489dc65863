"""The lasso at every sparsity: scikit-learn's path, and skglm's for the logistic loss."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..baselines import Point, logistic_path
from .problems import Problem

POINTS, LEAST = 300, 1e-4  # of a path, from the weight at which all is zero down to this share of it
QUICK_WEIGHTS = 8


def lasso(task: Problem, sizes: list[int], quick: bool) -> Iterator[dict[str, Any]]:
    """For every size the lowest loss on the path with at most so many columns: raw, and refitted on its support."""
    points = _squared(task) if task.f.quadratic else _quick_logistic(task) if quick else _logistic(task, max(sizes))
    raw, refitted = dict.fromkeys(sizes, np.inf), dict.fromkeys(sizes, np.inf)
    seen: dict[bytes, float] = {}
    for point in points:
        support = point.support
        if len(support) > max(sizes):
            continue
        key = support.tobytes()
        if key not in seen:
            seen[key] = task.f.refit(support).value
        here = task.f.at(support, point.coef[support]).value
        for k in sizes:
            if len(support) <= k:
                raw[k], refitted[k] = min(raw[k], here), min(refitted[k], seen[key])
    for k in sizes:
        yield {"k": k, "method": "lasso", "loss": raw[k]}
        yield {"k": k, "method": "lasso, refitted", "loss": refitted[k]}


def _squared(task: Problem) -> Iterator[Point]:
    from sklearn.linear_model import lasso_path

    weights, coefs, _ = lasso_path(task.Z, task.y - task.y.mean(), n_alphas=POINTS, eps=LEAST, max_iter=5000)
    for weight, coef in zip(weights, coefs.T, strict=True):
        yield Point(float(weight), coef, float(task.y.mean()))


def _logistic(task: Problem, most: int) -> Iterator[Point]:
    for point in logistic_path(task.Z, task.y, points=POINTS, least=LEAST):
        yield point
        if len(point.support) > most + 5:
            return


def _quick_logistic(task: Problem) -> Iterator[Point]:
    """A few points of liblinear (the quick form does without skglm's compiler); its intercept is almost free."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import l1_min_c

    first = l1_min_c(task.Z, task.y, loss="log")
    for C in first * np.geomspace(1.2, 30, QUICK_WEIGHTS):
        model = LogisticRegression(
            C=C, l1_ratio=1.0, solver="liblinear", intercept_scaling=100.0, tol=1e-4, random_state=0
        )
        model.fit(task.Z, task.y)
        yield Point(float(C), model.coef_[0], float(model.intercept_[0]))
