"""From the options of a command to its data: rows, column names, the task, parameters of the estimator."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from pursuit._utils.validation import format_list, require_package, suggestion_clause
from pursuit.io import Table, read_column, read_labels, read_table

MAX_LOADED_SHARE = 0.5  # of the memory: a larger Parquet file is streamed


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """The options of commands that read data with a target."""

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
class FitRequest:
    """Data and the parameters of an estimator; ``more`` is for its ``fit``, ``groups`` are those of the rows.

    Data on a disk have their own y, and ``y`` is None; ``targets`` are the targets in any case.
    """

    data: Path
    X: Any
    y: Any
    targets: Any
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
        """The estimator with a fixed number of features."""
        import pursuit

        kind = pursuit.SparseClassifier if self.classifies else pursuit.SparseRegressor
        return kind(**self.parameters, **parameters)


def read_request(options: DataOptions) -> FitRequest:
    """Read the data, and infer the task."""
    data = options.data
    _check_roles(options)
    if data.is_dir() or _streamed(data, options.memory):
        return _open_on_disk(options)
    named = has_names(data)
    apart = {"--offset": options.offset, "--cv-groups": options.cv_groups}  # no features
    for option, column in apart.items():
        if column is not None and column == options.target:
            raise ValueError(f"{option} and --target are both {column!r}; {option} is a column of its own")
    more = {} if options.offset is None else {"offset": read_column(data, options.offset)}
    groups = None if options.cv_groups is None else read_labels(data, options.cv_groups, "--cv-groups")
    left_out = [*options.exclude, *(column for column in apart.values() if column is not None)]
    held = read_named_table(data, options.target, left_out) if named else read_table(data, options.target)
    if held.y is None:
        columns = f"; its columns are {format_list(held.feature_names)}" if held.feature_names else ""
        raise ValueError(f"{data} has no target: name it with --target{columns}")
    if groups is not None and groups.shape != held.y.shape:
        raise ValueError(f"--cv-groups {options.cv_groups} has shape {groups.shape}, but there are {len(held.y)} rows")
    task, loss = _task(options.task, options.loss, held.y)
    names = held.feature_names or [f"x{j}" for j in range(held.X.shape[1])]
    parameters = {**options.parameters, "loss": loss, "include": _columns("--include", options.include, names) or None}
    if not named:
        parameters["exclude"] = _columns("--exclude", options.exclude, names) or None
    return FitRequest(
        data, to_data_frame(held), held.y, held.y, held.feature_names, names, task, loss, parameters, more, groups,
        options.offset,
    )  # fmt: skip


def _check_roles(options: DataOptions) -> None:
    """Raise where --include names a column that has another role."""
    roles = {"--target": options.target, "--offset": options.offset, "--cv-groups": options.cv_groups}
    taken = {column: option for option, column in roles.items()} | dict.fromkeys(options.exclude, "--exclude")
    for name in options.include:
        if name in taken:
            raise ValueError(f"--include and {taken[name]} both name {name!r}; a column is only one of them")


def _streamed(data: Path, memory: str) -> bool:
    """Whether a Parquet file is so large that it is read some rows at a time."""
    if not data.name.lower().endswith(".parquet") or not data.is_file():
        return False
    from pursuit.data.disk.memory import as_bytes

    pyarrow = require_package("pyarrow", "io", f"reading {data}")
    parquet = require_package("pyarrow.parquet", "io", f"reading {data}")
    try:
        held = parquet.read_metadata(data)
    except (pyarrow.ArrowException, OSError):  # the reader raises the error
        return False
    return bool(8 * held.num_rows * held.num_columns > MAX_LOADED_SHARE * as_bytes(memory))


def _open_on_disk(options: DataOptions) -> FitRequest:
    """A data set, or a Parquet file that is not loaded."""
    from pursuit import open_data

    data, groups = options.data, None
    if data.is_dir():
        if options.cv_groups is not None:
            raise ValueError(f"{data} is a data set, which has no column for --cv-groups: its folds are of rows")
        held = open_data(data, options.memory)
        for option, name, own in (("--target", options.target, held.target), ("--offset", options.offset, held.offset)):
            if name is not None and name != own:
                raise ValueError(f"{option} {name}: {data} was converted with {own or 'none'}, and knows it")
    else:
        drop = [*options.exclude, *([] if options.cv_groups is None else [options.cv_groups])]
        held = _with_option_hint(
            open_data, data, options.memory, target=options.target, offset=options.offset, drop=drop
        )
        groups = None if options.cv_groups is None else read_labels(data, options.cv_groups, "--cv-groups")
    targets = held.targets()
    task, loss = _task(options.task, options.loss, targets)
    names = held.names or [f"x{j}" for j in range(held.shape[1])]
    parameters = {**options.parameters, "loss": loss, "include": _columns("--include", options.include, names) or None}
    if data.is_dir():
        parameters["exclude"] = _columns("--exclude", options.exclude, names) or None
    return FitRequest(data, held, None, targets, held.names, names, task, loss, parameters, {}, groups, held.offset)


def has_names(data: Path) -> bool:
    """Whether files of this kind name their columns."""
    return any(mark in data.name.lower() for mark in (".csv", ".tsv", ".parquet"))


def read_named_table(
    data: Path, target: str | None, drop: Sequence[str], option: str = "--exclude", **more: Any
) -> Table:
    """Columns that an option leaves out of a named table are never read: they may hold text."""
    return _with_option_hint(read_table, data, target, option=option, drop=drop, **more)


def _with_option_hint(read: Any, *given: Any, option: str = "--exclude", **more: Any) -> Any:
    """Read; an error that advises to leave columns out names the option for that."""
    try:
        return read(*given, **more)
    except ValueError as error:
        hint = f" with {option}" if str(error).endswith(("it out", "them out", "column out", "columns out")) else ""
        raise ValueError(f"{error}{hint}") from error


def to_data_frame(held: Table) -> Any:
    """X as a data frame where it has names and pandas is there, so that messages name columns."""
    if held.feature_names is None or not isinstance(held.X, np.ndarray) or find_spec("pandas") is None:
        return held.X
    import pandas

    return pandas.DataFrame(held.X, columns=list(held.feature_names), copy=False)


def _task(task: str | None, loss: str | None, y: Any) -> tuple[str, str]:
    """The task: --task, else that of the loss, else inferred from the target."""
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
            raise ValueError(f"{option}: there is no feature {name!r}{suggestion_clause(name, names)}")
    return [place[name] for name in wanted]
