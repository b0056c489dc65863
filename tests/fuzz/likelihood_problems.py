"""Random problems of the losses that have no closed form: separable classes, rare features, counts, near-duplicates.

A seed chooses everything. Nothing here imports the library.
"""

import numpy as np

from fuzz.exchange_problems import (
    LAYOUTS,
    ExchangeProblem,
    column_family,
    forced_and_forbidden,
    sample_weights,
    spoil_columns,
)
from fuzz.problems import BINARY, targets

LOSSES = ("logistic", "poisson", "huber", "squared_hinge", "smoothed_hinge")


def draw(seed: int, loss: str | None = None) -> ExchangeProblem:
    """The problem of a seed: up to 100 x 30 and k = 5; the losses take turns unless ``loss`` is given.

    "multinomial" has three or four classes, up to 60 x 14 and k = 3: its refits are slow.
    """
    rng = np.random.default_rng([seed, 17])
    loss, traits = loss or LOSSES[seed % len(LOSSES)], list[str]()
    most_rows, most_columns, most_k = (60, 14, 3) if loss == "multinomial" else (100, 30, 5)
    n, p = int(rng.integers(15, most_rows + 1)), int(rng.integers(4, most_columns + 1))
    k = int(rng.integers(1, min(most_k, p - 1) + 1))
    single = bool(rng.random() < 0.15)
    Z = column_family(rng, n, p, traits)
    size = int(rng.integers(1, k + 2))
    signal = Z[:, rng.permutation(p)[:size]] @ rng.standard_normal(min(size, p))
    signal = spoil_columns(rng, Z, signal, traits)
    _rare_columns(rng, Z, traits)
    X = Z.astype(np.float32).astype(float) if single else Z
    signal = signal * rng.choice([0.5, 1.0, 3.0])
    y, param, unit = (_labels(rng, signal), 0.0, 1.0) if loss == "multinomial" else targets(rng, loss, signal, traits)
    y = _extreme_targets(rng, loss, X, y, traits)
    weight = sample_weights(rng, n, traits)
    standardize = bool(rng.random() < 0.3)
    l2 = 0.0
    if rng.random() < 0.35:
        variance = 1.0 if standardize else float(np.median(X.var(axis=0))) or 1.0
        l2 = float(10.0 ** rng.uniform(-6, 0)) * variance
        traits.append("ridge")
    offset = None
    if rng.random() < 0.2 and loss != "multinomial":
        offset = 0.5 * unit * rng.standard_normal(n)
        traits.append("offset")
    include, exclude = forced_and_forbidden(rng, p, k, traits)
    layout = str(rng.choice(LAYOUTS))
    intercept = bool(rng.random() < 0.8)
    return ExchangeProblem(
        seed,
        X,
        y,
        loss,
        param,
        l2,
        weight,
        offset,
        intercept,
        standardize,
        k,
        include,
        exclude,
        None,
        (loss, *traits),
        layout,
        single,
    )


def _labels(rng: np.random.Generator, signal: np.ndarray) -> np.ndarray:
    """Three or four classes; the first samples, which always have a weight, are of three of them."""
    classes = int(rng.integers(3, 5))
    score = np.outer(signal, rng.standard_normal(classes)) + rng.gumbel(size=(len(signal), classes))
    labels = score.argmax(axis=1)
    labels[:3] = 0, 1, 2
    return np.unique(labels, return_inverse=True)[1]


def _rare_columns(rng: np.random.Generator, Z: np.ndarray, traits: list[str]) -> None:
    """Entries set to zero, columns with one non-zero, columns of zeros, in place."""
    n, p = Z.shape
    if rng.random() < 0.2:
        Z *= rng.random((n, p)) < rng.uniform(0.05, 0.4)
        traits.append("zeros")
    if rng.random() < 0.2:
        for j in rng.permutation(p)[: max(1, p // 4)]:
            Z[:, j] = 0.0
            Z[rng.integers(n), j] = rng.choice([1.0, -3.0])
        traits.append("one non-zero")
    if rng.random() < 0.15:
        Z[:, rng.permutation(p)[: max(1, p // 5)]] = 0.0
        traits.append("zero columns")


def _extreme_targets(
    rng: np.random.Generator, loss: str, X: np.ndarray, y: np.ndarray, traits: list[str]
) -> np.ndarray:
    """Classes that a column (or two) separates, a class of one sample, huge counts; most often y as it is."""
    chance = rng.random()
    if loss == "poisson" and chance < 0.1:
        traits.append("huge counts")
        return 1000.0 * y
    if loss not in BINARY or chance > 0.25:
        return y
    if chance < 0.05:
        traits.append("a class of one")
        return (np.arange(len(y)) == 1).astype(float)
    score = X[:, rng.permutation(X.shape[1])[: int(rng.integers(1, 3))]]
    score = (score / np.maximum(np.abs(score).max(axis=0), 1e-300)).sum(axis=1)
    separated = (score > np.median(score)).astype(float)
    if len(set(separated[:3])) < 2:  # the first three samples have a weight: both classes stay
        return y
    traits.append("separable")
    return separated
