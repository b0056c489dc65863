"""The real data of the experiments: ``$PURSUIT_DATA``, else ``../shared/data`` beside a clone."""

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp


class NoDataError(ValueError):
    """A data set is not on this machine."""


def folder() -> Path:
    clone = Path(__file__).resolve().parents[3]
    return Path(os.environ.get("PURSUIT_DATA") or clone.parent / "shared" / "data")


def present(name: str) -> bool:
    return (folder() / f"{name}.npz").is_file()


def arrays(name: str) -> dict[str, Any]:
    """Every array of a data set, by name."""
    if not present(name):
        raise NoDataError(f"{name}.npz is not in $PURSUIT_DATA or ../shared/data: this experiment needs it")
    return _read(folder() / f"{name}.npz")


@lru_cache(maxsize=2)
def _read(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


def load(name: str) -> tuple[Any, np.ndarray]:
    """X (dense, or CSR in double precision) and y as they lie there."""
    held = arrays(name)
    if "X" in held:
        return np.asarray(held["X"], dtype=np.float64), held["y"]
    return sparse(held), held["y"]


def sparse(held: dict[str, Any], prefix: str = "") -> sp.csr_array:
    data, indices, indptr = (held[f"{prefix}{part}"] for part in ("data", "indices", "indptr"))
    shape = held.get(f"{prefix}shape", held["shape"])
    parts = (data.astype(np.float64), indices.astype(np.int32), indptr.astype(np.int32))
    return sp.csr_array(parts, shape=(len(indptr) - 1, int(shape[1])))


def diagonal(values: np.ndarray) -> sp.dia_array:
    """A diagonal matrix (``sp.diags_array``, which SciPy 1.11 lacks)."""
    return sp.dia_array((values[np.newaxis], [0]), shape=(values.size, values.size))


def tfidf(X: sp.csr_array, rows: np.ndarray | None = None) -> sp.csr_array:
    """Counts weighted by the rarity of their columns (in ``rows``, else in all), rows of length one."""
    from sklearn.feature_extraction.text import TfidfTransformer

    weigh = TfidfTransformer().fit(X if rows is None else X[rows])
    return sp.csr_array(weigh.transform(X))
