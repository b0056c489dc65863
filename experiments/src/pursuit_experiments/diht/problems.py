"""Data of section 5.2 of the DIHT paper: two classes, -1 and 1, and rows of length one, as its section 4.2 assumes."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from pursuit import GLM, SmoothedHinge
from pursuit_experiments import sources
from pursuit_experiments.experiment import Cell, Size

if TYPE_CHECKING:
    from pandas import DataFrame

RIDGES = (0.002, 0.0002)
HUBER, HINGE = "smoothed hinge", "hinge"
GAMMA = 0.25
SYNTHETIC = "synthetic text"  # of the quick forms: the real ones take seconds to read
SHAPE = (300, 800)
FEWER = 5  # of the census every so many-th row: still N >> d
NAMES = {"rcv1_binary": "RCV1", "newsgroups_bigrams": "newsgroups", "census": "census", SYNTHETIC: SYNTHETIC}


@lru_cache(maxsize=1)
def rows_of(name: str) -> tuple[sp.csr_array, np.ndarray]:
    """X with rows of length one, and y."""
    if name == SYNTHETIC:
        return _synthetic()
    X, y = sources.load(name)
    if name == "newsgroups_bigrams":
        X = sources.tfidf(X)
    if name == "census":  # ages and money beside marks of 0 and 1: each column to a largest entry of 1
        X, y = X[::FEWER], y[::FEWER]
        largest = np.maximum(abs(X).max(axis=0).toarray().ravel(), 1e-300)
        X = _unit(sp.csr_array(X @ sources.diagonal(1 / largest)))
    return X, y.astype(float)


def cells(size: Size, budgets: Mapping[str, tuple[int, ...]], **settings: Any) -> list[Cell]:
    """Every data set (the synthetic one in the quick form) at its budgets k and both ridges."""
    quick: Mapping[str, tuple[int, ...]] = {SYNTHETIC: (20,)}
    return [
        {"copy": copy, "data": name, "lambda": l2, "k": k, **settings}
        for copy in size.copies(1)
        for name, several in size.pick(budgets, quick).items()
        for l2 in RIDGES
        for k in several
    ]


def rows_by_claim(table: "DataFrame", claims: Mapping[str, Any]) -> "Iterator[tuple[str, str, str, DataFrame]]":
    """Of each claim ``method_data``: itself, the method, the data and their rows (all rows in the quick form)."""
    for claim in claims:
        method, _, data = claim.partition("_")
        yield claim, method.upper(), data, table[table["data"] == data] if data in set(table["data"]) else table


def problem(name: str, loss: str, l2: float) -> GLM:
    X, y = rows_of(name)
    return GLM(X, y, SmoothedHinge(GAMMA) if loss == HUBER else "hinge", l2=l2, fit_intercept=False)


def safe_step(name: str, smoothness: float, l2: float) -> float:
    """1 / (largest curvature of f): the constant step with which IHT and HTP are published."""
    return 1.0 / (smoothness * _largest_eigenvalue(name) + l2)


@lru_cache(maxsize=1)
def _largest_eigenvalue(name: str) -> float:
    """Of X'X/N."""
    from scipy.sparse.linalg import svds

    X, _ = rows_of(name)
    return float(svds(X, k=1, return_singular_vectors=False, random_state=0)[0]) ** 2 / X.shape[0]


def _unit(X: sp.csr_array) -> sp.csr_array:
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_array(sources.diagonal(1 / np.maximum(lengths, 1e-300)) @ X)


def _synthetic() -> tuple[sp.csr_array, np.ndarray]:
    """Words as frequent as 1/rank, and classes by the words."""
    rng = np.random.default_rng(52)
    N, d = SHAPE
    share = 1 / np.arange(1, d + 1)
    words: Any = rng.choice(d, size=(N, 40), p=share / share.sum())
    X = sp.csr_array((np.ones(words.size), (np.repeat(np.arange(N), 40), words.ravel())), shape=SHAPE)
    X = _unit(X)
    leaning = X @ rng.standard_normal(d)
    return X, np.where(leaning > np.median(leaning), 1.0, -1.0)
