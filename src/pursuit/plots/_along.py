"""What pictures of a path are drawn from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pursuit._types import Columns, Matrix


@dataclass
class Along:
    """Coefficients: one row per size, one column per feature that some size has."""

    ks: Columns
    columns: Columns
    coefs: Matrix
    names: list[str]
    unit: str


def along(path: Any, names: Sequence[str] | None, scale: Any) -> Along:
    """Of a path, as it was minimised over (standardised where the objective standardises), or times ``scale``."""
    if not hasattr(path, "sizes") or not len(path):
        raise ValueError("path must be a pursuit.Path with at least one size")
    columns = path.columns
    coefs, same = np.zeros((len(path), len(columns))), True
    for row, result in zip(coefs, path, strict=True):
        coef = own = np.asarray(result.coef)
        if scale is not None:
            coef = (own.T * np.asarray(scale, dtype=np.float64)[result.support]).T
        elif np.size(result.point.coef) == own.size:
            coef = np.reshape(result.point.coef, own.shape)
            same = same and bool(np.allclose(coef, own))
        row[columns.searchsorted(result.support)] = coef if coef.ndim == 1 else np.linalg.norm(coef, axis=1)
    unit = "in the units of X" if scale is None and same else "per standard deviation"
    return Along(path.ks, columns, coefs, _called(path, columns, names), unit)


def _called(path: Any, columns: Columns, names: Sequence[str] | None) -> list[str]:
    if names is not None:
        if len(columns) and len(names) <= columns[-1]:
            raise ValueError(f"names has {len(names)} entries, but the path uses column {columns[-1]}")
        return [str(names[j]) for j in columns]
    own = {int(j): str(name) for result in path for j, name in zip(result.support, result.names or (), strict=False)}
    return [own.get(int(j), f"x{j}") for j in columns]
