"""Random problems that numerical methods get wrong: bad scales, large means, near-duplicates, tiny and huge targets.

A seed chooses everything. Nothing here imports the library.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

LOSSES = ("squared", "logistic", "huber", "smoothed_hinge", "hinge", "squared_hinge", "poisson")
BINARY = ("logistic", "smoothed_hinge", "hinge", "squared_hinge")


@dataclass(frozen=True, eq=False)
class Problem:
    """Data as they are stored, the objective, the sparse set."""

    seed: int
    X: np.ndarray
    y: np.ndarray
    loss: str
    param: float
    l2: float
    weight: np.ndarray | None
    offset: np.ndarray | None
    intercept: bool
    standardize: bool
    k: int
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    groups: np.ndarray | None = None
    traits: tuple[str, ...] = field(default=())

    @property
    def sets(self) -> dict[str, Any]:
        """The sparse set, as ``solve`` takes it."""
        return {"include": self.include, "exclude": self.exclude, "groups": self.groups}

    def rescaled(self, rng: np.random.Generator, reach: int) -> "Problem":
        """The same problem in other units: columns (and y, where its loss has units) times powers of two.

        Where the ridge is on raw columns one factor serves all of them, and the ridge follows.
        """
        p = self.X.shape[1]
        powers = rng.integers(-reach, reach + 1, p)
        if self.l2 > 0 and not self.standardize:
            powers[:] = rng.integers(-min(reach, 100), min(reach, 100) + 1)
        times = self.loss in ("squared", "huber")
        up = int(rng.integers(-40, 41)) if times else 0
        l2 = self.l2 if self.standardize else self.l2 * 4.0 ** int(powers[0])
        return replace(
            self,
            X=np.ldexp(self.X, powers),
            y=np.ldexp(self.y, up),
            offset=None if self.offset is None else np.ldexp(self.offset, up),
            param=self.param * 2.0**up if self.loss == "huber" else self.param,
            l2=l2,
        )


def draw(seed: int, most: int = 7) -> Problem:
    """The problem of a seed, with at most ``most`` columns."""
    rng = np.random.default_rng([seed, most])
    traits: list[str] = []
    n, p = int(rng.integers(12, 41)), int(rng.integers(2, most + 1))
    k = int(rng.integers(1, min(p, 4) + 1)) if most <= 7 else int(rng.integers(1, 4))
    X, truth = _columns(rng, n, p, traits)
    loss = LOSSES[int(rng.integers(len(LOSSES)))] if rng.random() < 0.75 else "squared"
    offset = 0.3 * rng.standard_normal(n) if rng.random() < 0.2 else None
    y, param, unit = targets(rng, loss, truth, traits)
    if offset is not None:
        offset = offset * unit
    weight = None
    if rng.random() < 0.3:
        weight = rng.integers(0, 4, n).astype(float) if rng.random() < 0.5 else rng.uniform(0.1, 3, n)
        weight[:3] = 1.0
        traits.append("weights")
    standardize = bool(rng.random() < 0.4)
    l2 = 0.0
    if rng.random() < 0.5 or loss == "hinge":
        l2 = float(10.0 ** rng.uniform(-6, 0)) * _curvature(X, standardize, rng)
        traits.append("ridge")
    include, exclude, groups = _sets(rng, p, k)
    return Problem(
        seed,
        X,
        y,
        loss,
        param,
        l2,
        weight,
        offset,
        bool(rng.random() < 0.7),
        standardize,
        k,
        include,
        exclude,
        groups,
        tuple(traits),
    )


def _columns(rng: np.random.Generator, n: int, p: int, traits: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """X, and a linear predictor of unit size that depends on a few of its columns before they were spoilt."""
    Z = rng.standard_normal((n, p)) + rng.uniform(0, 2) * rng.standard_normal((n, 1))
    if rng.random() < 0.15:
        Z = np.round(2 * Z)
        traits.append("integers")
    truth = Z[:, rng.permutation(p)[:3]] @ rng.standard_normal(min(p, 3))
    if p > 1 and rng.random() < 0.15:
        i, j = rng.permutation(p)[:2]
        Z[:, j] = Z[:, i] * rng.choice([1.0, -2.0, 0.5])
        traits.append("duplicates")
    if p > 1 and rng.random() < 0.3:
        i, j = rng.permutation(p)[:2]
        noise = rng.standard_normal(n)
        Z[:, j] = Z[:, i] + 10.0 ** -rng.uniform(5, 9) * noise
        if rng.random() < 0.7:
            truth = 0.5 * truth + noise
        traits.append("near-duplicates")
    if rng.random() < 0.1:
        Z[:, rng.integers(p)] = rng.choice([0.0, 1.0, 3.7])
        traits.append("constant")
    if rng.random() < 0.35:
        few = rng.random(p) < 0.5
        Z[:, few] += 10.0 ** rng.uniform(1, 7, int(few.sum())) * rng.choice([-1.0, 1.0], int(few.sum()))
        traits.append("means")
    if rng.random() < 0.5:
        Z = Z * 10.0 ** rng.uniform(-7, 7, p)
        traits.append("scales")
    return Z, truth / max(float(truth.std()), 1e-3)


def targets(
    rng: np.random.Generator, loss: str, truth: np.ndarray, traits: list[str]
) -> tuple[np.ndarray, float, float]:
    """y, the loss's constant, and the unit of the linear predictor."""
    n = len(truth)
    if loss in BINARY:
        y = (truth * rng.uniform(0.3, 3) + rng.logistic(size=n) > rng.normal() * 0.5).astype(float)
        y[:2] = 0, 1
        return y, float(10.0 ** rng.uniform(-1.5, 0.5)) if loss == "smoothed_hinge" else 0.0, 1.0
    if loss == "poisson":
        return rng.poisson(np.exp(np.clip(0.7 * truth + rng.normal(), -3, 4))).astype(float), 0.0, 1.0
    y = truth + 10.0 ** rng.uniform(-4, 0.3) * rng.standard_normal(n)
    if rng.random() < 0.2:
        y = y + 10.0 ** rng.uniform(1, 5)
        traits.append("y with a mean")
    unit = 10.0 ** rng.uniform(-12, 12) if rng.random() < 0.4 else 1.0
    if unit != 1.0:
        traits.append("y with a unit")
    return unit * y, float(unit * 10.0 ** rng.uniform(-1, 0.5)) if loss == "huber" else 0.0, unit


def _curvature(X: np.ndarray, standardize: bool, rng: np.random.Generator) -> float:
    """A unit for a ridge: the variance of a column, unless columns are standardised."""
    return 1.0 if standardize else float(np.var(X, axis=0)[rng.integers(X.shape[1])]) or 1.0


def _sets(rng: np.random.Generator, p: int, k: int) -> tuple[tuple[int, ...], tuple[int, ...], np.ndarray | None]:
    if rng.random() < 0.15 and p > 2:
        return (), (), rng.integers(0, max(2, p // 2), p)
    order = rng.permutation(p)
    include = (int(order[0]),) if rng.random() < 0.2 else ()
    exclude = (int(order[1]),) if rng.random() < 0.2 and p > 2 else ()
    return include, exclude, None
