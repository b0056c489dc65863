"""Covariance matrices and graphs that the tests of this folder share."""

import numpy as np

from graphs.reference import every_pair


def covariance(seed, p, n, mixing=0.5, scales=False):
    """Of n rows about their mean, with correlated columns; ``scales`` spreads their units over eight decades."""
    rng = np.random.default_rng([seed, p, n])
    X = rng.standard_normal((n, p)) @ (np.eye(p) + mixing * rng.standard_normal((p, p)))
    if scales:
        X = X * 10.0 ** rng.uniform(-4, 4, p)
    return np.cov(X.T, bias=True)


def some_edges(seed, p, k):
    """k random edges."""
    pairs = every_pair(p)
    return pairs[np.sort(np.random.default_rng([seed, 1]).permutation(len(pairs))[:k])]


def clique(nodes):
    nodes = np.sort(nodes)
    return np.array([(i, j) for q, i in enumerate(nodes) for j in nodes[q + 1 :]], dtype=np.int64).reshape(-1, 2)


GRAPHS = {  # some have no edge where p is small
    "empty": lambda p: np.zeros((0, 2), dtype=np.int64),
    "chain": lambda p: np.array([(i, i + 1) for i in range(p - 1)]),
    "cycle": lambda p: np.unique([*((i, i + 1) for i in range(p - 1)), (0, p - 1)], axis=0),
    "star": lambda p: np.array([(i, p - 1) for i in range(p - 1)]),
    "clique": lambda p: clique(np.arange(1, p // 2 + 1)),
    "two parts": lambda p: np.array(
        [*clique(np.arange(p // 2)), *((i, i + 1) for i in range(p // 2, p - 1))], dtype=np.int64
    ),
    "random": lambda p: some_edges(p, p, 2 * p),
    "complete": every_pair,
}
