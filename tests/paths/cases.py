"""Objectives of every kind with f written down beside them, and constraints of every kind."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import pursuit
from problems import BINARY, KINDS, RIDGE, problem, standardised

N, P = 60, 9
GROUPS = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3])
CONSTRAINTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "include": {"include": [P - 1, 2]},
    "exclude": {"exclude": [0, 4]},
    "include and exclude": {"include": [3], "exclude": [0, 4]},
    "groups": {"groups": GROUPS},
    "groups, include, exclude": {"groups": GROUPS, "include": [2], "exclude": [5]},
    "bounds": {"bounds": (-0.4, 0.5)},
    "sum_to": {"sum_to": 0.5},
    "bounds and sum_to": {"bounds": (0.0, 0.6), "sum_to": 1.0},
}
LOSSES = ("squared", "logistic", "poisson", "huber", "smoothed_hinge", "squared_hinge", "hinge")
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "ridge": {"l2": 0.1},
    "no intercept": {"fit_intercept": False},
    "standardised": {"standardize": True},
    "standardised ridge, no intercept": {"standardize": True, "l2": 0.1, "fit_intercept": False},
}


@dataclass(frozen=True)
class Case:
    """An objective, f(x, b) at a result's numbers, and how many columns it has."""

    f: Any
    truth: Any
    p: int = P

    def value(self, result: pursuit.Result) -> float:
        return float(self.truth(result.x, result.intercept))


@cache
def glm(loss: str, setting: str = "plain", kind: str = "dense_c", parts: bool = False, weights: bool = True) -> Case:
    given = problem(loss, n=N, p=P, weights=weights, offset=weights)
    how = {"l2": max(given.l2, RIDGE if loss in BINARY else 0.0), **SETTINGS[setting]}
    if parts:
        f = pursuit.GLM(pursuit.InParts(given.parts(kind, cuts=(9, 31))), loss=loss, **how)
    else:
        f = pursuit.GLM(**given.glm(KINDS[kind](given.X), **how))
    whole = type(given)(given.X, given.y, loss, how["l2"], given.weight, given.offset)
    if not how.get("standardize"):
        return Case(f, whole.value)
    Z, m, s = standardised(given.X, given.c, how.get("fit_intercept", True))
    view = type(given)(Z, given.y, loss, how["l2"], given.weight, given.offset)
    return Case(f, lambda x, b: view.value(x * s, b + m @ x))


@cache
def several(loss: str) -> Case:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, P))
    eta = X[:, [1, 4, 7]] @ np.array([1.2, -0.9, 0.7])
    if loss == "squared":
        Y = np.column_stack([eta, -eta]) + rng.standard_normal((N, 2))
        f = pursuit.MultiGLM(X, Y, "squared", l2=0.01)
        return Case(f, lambda C, b: ((X @ C + b - Y) ** 2).sum() / (2 * N) + 0.005 * (C**2).sum())
    y = np.digitize(eta + rng.standard_normal(N), [-0.7, 0.9])

    def truth(C: Any, b: Any) -> float:
        E = X @ C + b
        return float((np.logaddexp.reduce(E, axis=1) - E[np.arange(N), y]).mean() + 0.01 * (C**2).sum())

    return Case(pursuit.MultiGLM(X, y, "multinomial", l2=0.02), truth)


@cache
def function() -> Case:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((N, P))
    y = X[:, [1, 4, 7]] @ np.array([1.2, -0.9, 0.7]) + rng.standard_normal(N)

    def value(x: Any) -> float:
        return float(np.logaddexp(X @ x - y, y - X @ x).mean() + 0.05 * (x @ x))

    def gradient(x: Any) -> Any:
        return X.T @ np.tanh(X @ x - y) / N + 0.1 * x

    return Case(pursuit.Function(value, gradient, P), lambda x, _: value(x))
