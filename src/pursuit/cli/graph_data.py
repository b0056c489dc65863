"""The columns of ``pursuit graph``: which of a file's are nodes, and what they are called."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pursuit._utils.types import Array, StoredMatrix, Vector
from pursuit._utils.validation import suggestion_clause
from pursuit.cli.inputs import has_names, read_named_table, to_data_frame
from pursuit.io import Table, read_labels, read_table

MAX_NODES = 5000  # nodes; their covariance matrix alone has 200 MB


@dataclass(frozen=True, eq=False)
class Nodes:
    """Rows, a column per node, and their names (x0, x1, .. where the file has none)."""

    data: Path
    X: StoredMatrix
    names: Sequence[str]
    kept: str  # which columns these are, in words, where some are left out

    @property
    def heading(self) -> str:
        return f"{self.data}: {self.X.shape[0]} rows, {self.X.shape[1]} columns{self.kept}"

    def pairs(self, option: str, texts: Sequence[str]) -> list[tuple[int, int]]:
        """Edges as they are typed, ``a,b``, as pairs of indices."""
        place = {name: j for j, name in enumerate(self.names)}
        found = []
        for text in texts:
            ends = [name.strip() for name in text.split(",")]
            if len(ends) != 2 or not all(ends) or ends[0] == ends[1]:
                raise ValueError(
                    f"{option} is an edge, two columns such as a,b, and got {text!r}; --drop leaves a column out"
                )
            for name in ends:
                if name not in place:
                    raise ValueError(
                        f"{option} {text}: there is no column {name!r}{suggestion_clause(name, self.names)}"
                    )
            found.append((place[ends[0]], place[ends[1]]))
        return found


def read_nodes(data: Path, drop: Sequence[str], label: str | None, most: int | None, names: str | None) -> Nodes:
    """Every column of the file but the label's and those dropped, or the ``most`` that tell most."""
    labels = None if label is None else read_labels(data, label, "--label")
    if has_names(data):
        table = read_named_table(data, None, [*drop, *([] if label is None else [label])], "--drop", names=names)
    else:
        table = read_table(data, names=names, drop=drop)
    X = table.X if isinstance(table.X, np.ndarray) else table.X.tocsc()
    called = table.feature_names or tuple(f"x{j}" for j in range(X.shape[1]))
    kept = ""
    if labels is not None:
        _check_labels(labels, X.shape[0], label)
    if most is not None and most < X.shape[1]:
        strength = _variances(X) if labels is None else _class_differences(X, labels)
        columns = np.sort(np.argsort(-strength, kind="stable")[:most])
        how = "vary most" if labels is None else f"differ most between the values of {label}"
        kept = f" (of {X.shape[1]}, those that {how})"
        X, called = X[:, columns], tuple(called[j] for j in columns)
    if X.shape[1] > MAX_NODES:
        raise ValueError(
            f"{data} has {X.shape[1]} columns, and a graph has at most {MAX_NODES} here; --most keeps some"
        )
    X = X if isinstance(X, np.ndarray) else X.toarray()
    return Nodes(data, to_data_frame(Table(X, None, called)), called, kept)


def _check_labels(labels: Array, n: int, label: str | None) -> None:
    if labels.shape != (n,):
        raise ValueError(f"--label {label} has shape {labels.shape}, but there are {n} rows")
    values = len(np.unique(labels))
    if not 2 <= values <= n / 2:
        raise ValueError(f"--label {label} has {values} different values in {n} rows, and it must tell classes apart")


def _class_differences(X: StoredMatrix, labels: Array) -> Vector:
    """What an F test ranks columns by, and for two classes Student's t test: variation between classes over within."""
    _, which, counts = np.unique(labels, return_inverse=True, return_counts=True)
    member = (which[:, None] == np.arange(len(counts))).astype(np.float64)
    X, squares = _centred(X)
    sums = np.asarray((X.T @ member).T)
    between = (sums**2 / counts[:, None]).sum(axis=0)
    total = np.asarray(X.sum(axis=0)).ravel() ** 2 / len(labels)
    within = np.maximum(squares - between, 1e-12 * squares)
    return np.divide(between - total, within, out=np.full(len(within), -1.0), where=within > 0)


def _variances(X: StoredMatrix) -> Vector:
    """Variances of the columns."""
    X, squares = _centred(X)
    return np.asarray(squares / X.shape[0] - (np.asarray(X.sum(axis=0)).ravel() / X.shape[0]) ** 2)


def _centred(X: StoredMatrix) -> tuple[StoredMatrix, Vector]:
    """Columns about their means where that does not fill them, and the sums of their squares."""
    if isinstance(X, np.ndarray):
        X = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
        return X, np.einsum("ij,ij->j", X, X)
    return X, np.asarray(X.multiply(X).sum(axis=0)).ravel()
