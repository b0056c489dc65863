"""What pictures of a path are drawn from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pursuit._utils.types import ArrayLike, Columns, Matrix

if TYPE_CHECKING:
    from pursuit.paths.result import Path


@dataclass
class Along:
    """Coefficients: one row per size, one column per feature that some size has."""

    ks: Columns
    columns: Columns
    coefs: Matrix
    names: list[str]
    unit: str
    what: str = "coefficient"
    units: str = "features"

    @property
    def sizes(self) -> str:
        """What the axis of the sizes is called."""
        return f"k, at most so many {self.units}"


def along(path: "Path", names: Sequence[str] | None, scale: ArrayLike | None) -> Along:
    """Of a path, as it was minimised over (standardised where the objective standardises), or times ``scale``."""
    if not hasattr(path, "sizes") or not len(path):
        raise ValueError("path must be a pursuit.Path with at least one size")
    if of_graphs(path):
        return _of_edges(path, names)
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


def _called(path: "Path", columns: Columns, names: Sequence[str] | None) -> list[str]:
    if names is not None:
        if len(columns) and len(names) <= columns[-1]:
            raise ValueError(f"names has {len(names)} entries, but the path uses column {columns[-1]}")
        return [str(names[j]) for j in columns]
    own = {int(j): str(name) for result in path for j, name in zip(result.support, result.names or (), strict=False)}
    return [own.get(int(j), f"x{j}") for j in columns]


def of_graphs(path: "Path") -> bool:
    """Whether what a path has are edges."""
    return hasattr(path, "sizes") and len(path) > 0 and np.ndim(path[0].support) == 2


def _of_edges(path: "Path", names: Sequence[str] | None) -> Along:
    """Partial correlations: one row per size, one column per edge that some size has."""
    p = np.size(path[0].intercept)
    if names is not None and len(names) != p:
        raise ValueError(f"names has {len(names)} entries, but the graphs have {p} nodes")
    numbers = [result.support[:, 0] * p + result.support[:, 1] for result in path]
    edges = np.unique(np.concatenate(numbers))
    partial, called = np.zeros((len(path), len(edges))), [""] * len(edges)
    for row, own, result in zip(partial, numbers, path, strict=True):
        (i, j), d = result.support.T, np.sqrt(result.intercept)
        at = edges.searchsorted(own)
        row[at] = -result.coef / d[i] / d[j]
        nodes = names if names is not None else [f"x{a}" for a in range(p)]
        words = None if names is not None else result.names
        for n, place in enumerate(at):
            called[place] = f"{nodes[i[n]]} - {nodes[j[n]]}" if words is None else str(words[n])
    return Along(path.ks, edges, partial, called, "", "partial correlation", "edges")
