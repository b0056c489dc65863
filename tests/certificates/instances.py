"""Seeded random instances small enough to enumerate, over losses, intercepts, weights, offsets and sparse sets."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from pursuit import GLM
from pursuit.constraints import AtMost

LOSSES = ("squared", "logistic", "smoothed_hinge", "hinge", "poisson")


@dataclass
class Instance:
    objective: GLM
    k: int
    options: dict[str, Any]
    constraint: AtMost

    def optimum(self) -> float:
        """The best value over all supports, by refitting every one of them."""
        c = self.constraint
        free = np.setdiff1d(c.allowed, c.include)
        choices = itertools.combinations(free, min(len(free), c.k - len(c.include)))
        sets = (np.union1d(c.include, np.array(s, dtype=np.int64)) for s in choices)
        return min(self.objective.refit(c.columns_of(units)).value for units in sets)


def instance(seed: int, most: int = 9) -> Instance:
    """The seed chooses everything; at most ``most`` columns."""
    rng = np.random.default_rng(seed)
    loss = LOSSES[seed % len(LOSSES)]
    n, p = int(rng.integers(15, 40)), int(rng.integers(3, most + 1))
    k = int(rng.integers(1, min(p, 5)))
    X = rng.standard_normal((n, p)) + rng.uniform(0, 1.5) * rng.standard_normal((n, 1))
    eta = X[:, :k] @ rng.standard_normal(k)
    if loss == "squared":
        y = eta + rng.standard_normal(n)
    elif loss == "poisson":
        y = rng.poisson(np.exp(np.clip(0.4 * eta, -3, 3))).astype(float)
    else:
        y = (eta + rng.standard_normal(n) > 0).astype(float)
        y[:2] = 0, 1
    l2 = float(rng.choice([0.0, 1e-3, 0.05, 0.5] if loss == "squared" else [0.02, 0.1, 0.5]))
    settings: dict[str, Any] = {"l2": l2, "fit_intercept": seed % 2 == 0, "standardize": seed % 3 == 0}
    if rng.random() < 0.3:
        weight = rng.integers(0, 3, n).astype(float)
        weight[:2] = 1
        settings["sample_weight"] = weight
    if rng.random() < 0.2:
        settings["offset"] = 0.3 * rng.standard_normal(n)
    options: dict[str, Any] = {}
    if rng.random() < 0.25:
        options["include"] = [int(rng.integers(p))]
    if rng.random() < 0.25:
        options["exclude"] = [(options.get("include", [0])[0] + 1) % p]
    if rng.random() < 0.2 and not options:
        options["groups"] = rng.integers(0, max(2, p // 2), p)
    return Instance(GLM(X, y, loss, **settings), k, options, AtMost(k, p, **options))
