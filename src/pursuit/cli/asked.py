"""What the commands that read data have in common: from options to rows, names, a task and parameters."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from pursuit._errors import among, listed, need
from pursuit.io import Table, read_column, read_labels, read_table

LOADED = 0.5  # share of the memory up to which a Parquet file is loaded


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Options, as they were given."""

    data: Path
    target: str | None
    loss: str | None
    task: str | None
    include: Sequence[str]
    exclude: Sequence[str]
    offset: str | None
    parameters: dict[str, Any]  # of the estimator
    cv_groups: str | None = None
    memory: str = "1GB"


@dataclass(frozen=True, eq=False)
class Question:
    """Data and the parameters of an estimator; ``more`` is for its ``fit``, ``groups`` are those of the rows.

    Data on a disk bring their own y, which ``fit`` is then not given; ``told`` is the target in any case.
    """

    data: Path
    X: Any
    y: Any
    told: Any
    feature_names: tuple[str, ...] | None
    names: Sequence[str]  # x0, x1, .. where the file has none
    task: str
    loss: str
    parameters: dict[str, Any] = field(repr=False)
    more: dict[str, Any] = field(repr=False)
    groups: Any = None
    offset: str | None = None  # the name of its column

    @property
    def classifies(self) -> bool:
        return self.task == "classification"

    @property
    def heading(self) -> str:
        n, p = self.X.shape
        return f"{self.data}: {n} rows, {p} features; {self.task} with the {self.loss} loss"

    def estimator(self, **parameters: Any) -> Any:
        """The estimator whose number of features is given."""
        import pursuit

        kind = pursuit.SparseClassifier if self.classifies else pursuit.SparseRegressor
        return kind(**self.parameters, **parameters)


def question(asked: Asked) -> Question:
    """Read the data, and find out what is to be done with them."""
    data = asked.data
    _check_roles(asked)
    if data.is_dir() or _streamed(data, asked.memory):
        return _on_disk(asked)
    named = has_names(data)
    apart = {"--offset": asked.offset, "--cv-groups": asked.cv_groups}  # no features
    for option, column in apart.items():
        if column is not None and column == asked.target:
            raise ValueError(f"{option} and --target are both {column!r}; {option} is a column of its own")
    more = {} if asked.offset is None else {"offset": read_column(data, asked.offset)}
    groups = None if asked.cv_groups is None else read_labels(data, asked.cv_groups, "--cv-groups")
    left_out = [*asked.exclude, *(column for column in apart.values() if column is not None)]
    held = read_named(data, asked.target, left_out) if named else read_table(data, asked.target)
    if held.y is None:
        columns = f"; its columns are {listed(held.feature_names)}" if held.feature_names else ""
        raise ValueError(f"{data} has no target: name it with --target{columns}")
    if groups is not None and groups.shape != held.y.shape:
        raise ValueError(f"--cv-groups {asked.cv_groups} has shape {groups.shape}, but there are {len(held.y)} rows")
    task, loss = _task(asked.task, asked.loss, held.y)
    names = held.feature_names or [f"x{j}" for j in range(held.X.shape[1])]
    parameters = {**asked.parameters, "loss": loss, "include": _columns("--include", asked.include, names) or None}
    if not named:
        parameters["exclude"] = _columns("--exclude", asked.exclude, names) or None
    return Question(
        data, framed(held), held.y, held.y, held.feature_names, names, task, loss, parameters, more, groups,
        asked.offset,
    )  # fmt: skip


def _check_roles(asked: Asked) -> None:
    """Raise where --include names a column that has another role."""
    roles = {"--target": asked.target, "--offset": asked.offset, "--cv-groups": asked.cv_groups}
    taken = {column: option for option, column in roles.items()} | dict.fromkeys(asked.exclude, "--exclude")
    for name in asked.include:
        if name in taken:
            raise ValueError(f"--include and {taken[name]} both name {name!r}; a column is only one of them")


def _streamed(data: Path, memory: str) -> bool:
    """Whether a Parquet file is so large that it is read some rows at a time."""
    if not data.name.lower().endswith(".parquet") or not data.is_file():
        return False
    from pursuit.data.disk.memory import as_bytes

    pyarrow = need("pyarrow", "io", f"reading {data}")
    parquet = need("pyarrow.parquet", "io", f"reading {data}")
    try:
        held = parquet.read_metadata(data)
    except (pyarrow.ArrowException, OSError):  # whoever reads it will say so
        return False
    return bool(8 * held.num_rows * held.num_columns > LOADED * as_bytes(memory))


def _on_disk(asked: Asked) -> Question:
    """A data set, or a Parquet file that is not loaded."""
    from pursuit import open_data

    data, groups = asked.data, None
    if data.is_dir():
        if asked.cv_groups is not None:
            raise ValueError(f"{data} is a data set, which has no column for --cv-groups: its folds are of rows")
        held = open_data(data, asked.memory)
        for option, name, own in (("--target", asked.target, held.target), ("--offset", asked.offset, held.offset)):
            if name is not None and name != own:
                raise ValueError(f"{option} {name}: {data} was converted with {own or 'none'}, and knows it")
    else:
        drop = [*asked.exclude, *([] if asked.cv_groups is None else [asked.cv_groups])]
        held = _hinted(open_data, data, asked.memory, target=asked.target, offset=asked.offset, drop=drop)
        groups = None if asked.cv_groups is None else read_labels(data, asked.cv_groups, "--cv-groups")
    told = held.targets()
    task, loss = _task(asked.task, asked.loss, told)
    names = held.names or [f"x{j}" for j in range(held.shape[1])]
    parameters = {**asked.parameters, "loss": loss, "include": _columns("--include", asked.include, names) or None}
    if data.is_dir():
        parameters["exclude"] = _columns("--exclude", asked.exclude, names) or None
    return Question(data, held, None, told, held.names, names, task, loss, parameters, {}, groups, held.offset)


def has_names(data: Path) -> bool:
    """Whether files of this kind name their columns."""
    return any(mark in data.name.lower() for mark in (".csv", ".tsv", ".parquet"))


def read_named(data: Path, target: str | None, drop: Sequence[str], option: str = "--exclude", **more: Any) -> Table:
    """Columns that an option leaves out of a named table are never read: they may hold text."""
    return _hinted(read_table, data, target, option=option, drop=drop, **more)


def _hinted(read: Any, *given: Any, option: str = "--exclude", **more: Any) -> Any:
    """What is read; where columns should be left out, with the option that does it."""
    try:
        return read(*given, **more)
    except ValueError as error:
        hint = f" with {option}" if str(error).endswith(("it out", "them out", "column out", "columns out")) else ""
        raise ValueError(f"{error}{hint}") from error


def framed(held: Table) -> Any:
    """X with its names where that can be, so that messages call columns by them."""
    if held.feature_names is None or not isinstance(held.X, np.ndarray) or find_spec("pandas") is None:
        return held.X
    import pandas

    return pandas.DataFrame(held.X, columns=list(held.feature_names), copy=False)


def _task(task: str | None, loss: str | None, y: Any) -> tuple[str, str]:
    """What --task says, else what the loss is for, else what the target looks like."""
    from pursuit.losses import as_loss

    tasks = ("regression", "classification")
    if task is not None and task not in tasks:
        raise ValueError(f"--task {task} is not known; it is regression or classification")
    if loss is None:
        two = y.dtype.kind in "Ub" or len(np.unique(y)) == 2
        task = task or tasks[two]
        return task, "logistic" if task == "classification" else "squared"
    of_loss = tasks[as_loss(loss).targets == "binary"]
    if task is not None and task != of_loss:
        raise ValueError(f"--loss {loss} is for {of_loss}, not for --task {task}")
    return of_loss, as_loss(loss).name


def _columns(option: str, wanted: Sequence[str], names: Sequence[str]) -> list[int]:
    place = {name: j for j, name in enumerate(names)}
    for name in wanted:
        if name not in place:
            raise ValueError(f"{option}: there is no feature {name!r}{among(name, names)}")
    return [place[name] for name in wanted]
