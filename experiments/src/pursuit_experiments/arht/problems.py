"""The data of figures 1 and 2: standardised columns, an intercept in every model."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from pursuit import GLM

from ..sources import diagonal, load


class Problem(NamedTuple):
    """An objective on standardised columns, and these columns (sparse ones not centred: there is an intercept)."""

    f: GLM
    Z: Any
    y: np.ndarray


@lru_cache(maxsize=1)
def problem(data: str, rows: int | None, columns: int | None) -> Problem:
    """A data set, or ``rows`` of its rows (drawn with a fixed seed) and its first ``columns`` columns."""
    X, y = load(data)
    if rows is not None and rows < X.shape[0]:
        few = np.sort(np.random.default_rng(2020).permutation(X.shape[0])[:rows])
        X, y = X[few], y[few]
    X = X if columns is None else X[:, :columns]
    if set(np.unique(y[:1000]).tolist()) <= {-1, 1}:
        f, y = GLM(X, y > 0, "logistic", standardize=True), (y > 0).astype(np.float64)
    else:
        f = GLM(X, y, standardize=True)
    return Problem(f, _standardised(X), np.asarray(y, dtype=np.float64))


def _standardised(X: Any) -> Any:
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray((X * X).mean(axis=0)).ravel()
    spread = np.sqrt(np.maximum(square - mean**2, 0.0)) if sp.issparse(X) else X.std(axis=0)
    even = np.where(spread > 1e-9 * np.sqrt(square), 1 / np.where(spread > 0, spread, 1.0), 0.0)
    return sp.csc_array(X @ diagonal(even)) if sp.issparse(X) else np.asfortranarray((X - mean) * even)
