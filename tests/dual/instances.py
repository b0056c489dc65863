"""Small seeded instances with their optimum by enumeration."""

import functools
from itertools import combinations, product

import numpy as np

import pursuit
from pursuit.constraints import AtMost

LOSSES = ("squared", "logistic", "huber", "smoothed_hinge", "hinge", "squared_hinge", "poisson")
P, K = 7, 2
CONSTRAINTS = {
    "plain": {},
    "forced": {"include": [1], "exclude": [0, 4]},
    "groups": {"groups": ["a", "a", "b", "c", "b", "d", "d"], "include": [3]},
}
CELLS = list(product(LOSSES, (False, True), CONSTRAINTS))


def data(loss, seed=0, n=24):
    """X, y, weights (some zero) and an offset."""
    rng = np.random.default_rng([seed, LOSSES.index(loss)])
    X = rng.standard_normal((n, P))
    eta = X[:, :2] @ [1.0, -0.8] + 0.3
    if loss == "poisson":
        y = rng.poisson(np.exp(0.5 * eta)).astype(float)
    elif loss in ("squared", "huber"):
        y = eta + 0.5 * rng.standard_normal(n)
    else:
        y = (eta + rng.logistic(size=n) > 0).astype(float)
    weight = rng.integers(0, 3, n) + (np.arange(n) < 2).astype(float)
    return X, y, weight, 0.3 * rng.standard_normal(n)


def glm(loss, intercept, seed=0, l2=None, make=np.asarray, **settings):
    X, y, weight, offset = data(loss, seed)
    l2 = 10.0 ** np.random.default_rng(seed).uniform(-2, 0.5) if l2 is None else l2
    own = {"sample_weight": weight, "offset": offset, "fit_intercept": intercept, "l2": l2, **settings}
    return pursuit.GLM(make(X), y, loss, **own)


def best(f, constraint):
    """The minimum over every support, and where it is."""
    free = np.setdiff1d(constraint.allowed, constraint.include)
    more = constraint.k - len(constraint.include)
    return min(
        (f.refit(constraint.columns_of(np.union1d(constraint.include, rest))) for rest in combinations(free, more)),
        key=lambda point: point.value,
    )


@functools.cache
def solved(loss, intercept, kind, seed=0, l2=None, standardize=False):
    f = glm(loss, intercept, seed, l2, standardize=standardize)
    constraint = AtMost(K, P, **CONSTRAINTS[kind])
    return f, constraint, best(f, constraint)
