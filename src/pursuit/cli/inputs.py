"""From the options of a command to its data: rows, column names, the task, parameters of the estimator."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from pursuit._utils.parquet import open_parquet
from pursuit._utils.types import Array, Keywords, StoredMatrix
from pursuit._utils.validation import format_list, suggestion_clause
from pursuit.io import Table, read_column, read_labels, read_table
from pursuit.io._columns import RequestedColumns
from pursuit.io._frames import LOADERS, choose_columns, load_frame, read_target, split_frame
from pursuit.io.tables import check_finite, check_target

if TYPE_CHECKING:
    from pandas import DataFrame
    from sklearn.base import BaseEstimator

    from pursuit.tables.preparer import TablePreparer

P = ParamSpec("P")
T = TypeVar("T")

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
    parameters: Keywords  # of the estimator
    cv_groups: str | None = None
    memory: str = "1GB"
    prepare: bool = True


@dataclass(frozen=True, eq=False)
class FitRequest:
    """Data and the parameters of an estimator; ``more`` is for its ``fit``, ``groups`` are those of the rows.

    Data on a disk have their own y, and ``y`` is None; ``targets`` are the targets in any case. ``preparer`` has made X
    from a table with categories, dates or missing values.
    """

    data: Path
    X: StoredMatrix
    y: Array | None
    targets: Array
    feature_names: tuple[str, ...] | None
    names: Sequence[str]  # x0, x1, .. where the file has none
    task: str
    loss: str
    parameters: Keywords = field(repr=False)
    more: Keywords = field(repr=False)
    groups: Array | None = None
    offset: str | None = None  # the name of its column
    preparer: "TablePreparer | None" = None
    target: str | None = None

    @property
    def classifies(self) -> bool:
        return self.task == "classification"

    @property
    def heading(self) -> str:
        n, p = self.X.shape
        return f"{self.data}: {n} rows, {self._count(p)}; {self.task} with the {self.loss} loss"

    def _count(self, p: int) -> str:
        groups = self.parameters.get("groups")
        return f"{p} features" if groups is None else f"{len(set(groups))} columns as {p} features"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the table, a sentence each."""
        return () if self.preparer is None else self.preparer.notes_

    def labels(self, columns: Iterable[int]) -> list[str]:
        """Names of features; the columns of one category by the name of the category."""
        groups = self.parameters.get("groups")
        return list(dict.fromkeys(self.names[j] if groups is None else groups[j] for j in sorted(columns)))

    def saved(self, estimator: "BaseEstimator") -> "BaseEstimator":
        """What ``save_model`` writes: the estimator, with the preparation of its table."""
        if self.preparer is None:
            return estimator
        from pursuit.tables.pipeline import TablePipeline

        return TablePipeline([("prepare", self.preparer), ("model", estimator)])

    def estimator(self, **parameters: Any) -> "BaseEstimator":
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
    if has_names(data):
        return _read_named(options)
    apart = {"--offset": options.offset, "--cv-groups": options.cv_groups}  # no features
    _check_apart(apart, options.target)
    more = {} if options.offset is None else {"offset": read_column(data, options.offset)}
    groups = None if options.cv_groups is None else read_labels(data, options.cv_groups, "--cv-groups")
    table = read_table(data, options.target)
    if table.y is None:
        raise ValueError(f"{data} has no target: name it with --target")
    if groups is not None and groups.shape != table.y.shape:
        raise ValueError(f"--cv-groups {options.cv_groups} has shape {groups.shape}, but there are {len(table.y)} rows")
    task, loss = _task(options.task, options.loss, table.y)
    names = table.feature_names or [f"x{j}" for j in range(table.X.shape[1])]
    parameters = {**options.parameters, "loss": loss, "include": _columns("--include", options.include, names) or None}
    parameters["exclude"] = _columns("--exclude", options.exclude, names) or None
    return FitRequest(
        data,
        to_data_frame(table),
        table.y,
        table.y,
        table.feature_names,
        names,
        task,
        loss,
        parameters,
        more,
        groups,
        options.offset,
    )


def _check_apart(apart: dict[str, str | None], target: str | None) -> None:
    for option, column in apart.items():
        if column is not None and column == target:
            raise ValueError(f"{option} and --target are both {column!r}; {option} is a column of its own")


def _read_named(options: DataOptions) -> FitRequest:
    """A table with named columns, made numeric unless the user wants it as it is."""
    data = options.data
    frame = load_frame(data)
    header = list(frame.columns)
    if options.prepare:
        frame = _without_row_numbers(frame)
    target = options.target if options.target is not None else _default_target(data, frame)
    apart = {"--offset": options.offset, "--cv-groups": options.cv_groups}  # no features
    _check_apart(apart, target)
    for option, column in apart.items():
        if column is not None and column not in header:
            what = f"{option} column" if option != "--offset" else "column"
            raise ValueError(f"{data} has no {what} {column!r}{suggestion_clause(column, header)}")
    left_out = [*options.exclude, *(column for column in apart.values() if column is not None)]
    requested = RequestedColumns(target, None, left_out, None)
    features = choose_columns(data, list(frame.columns), requested)
    if len(frame) == 0:
        raise ValueError(f"{data} has no rows")
    if not features:
        raise ValueError(f"{data} has no feature columns")
    y = read_target(data, frame[target], requested)
    check_target(data, frame, y)
    task, loss = _task(options.task, options.loss, y)
    more, groups = {}, None
    if options.offset is not None:
        more["offset"] = split_frame(data, frame, [options.offset], RequestedColumns(None, None, (), None))[0][:, 0]
        check_finite(data, more["offset"][:, None], [options.offset])
    if options.cv_groups is not None:
        role = RequestedColumns(options.cv_groups, (), (), None, "--cv-groups")
        groups = read_target(data, frame[options.cv_groups], role)
    parameters = {**options.parameters, "loss": loss}
    if options.prepare:
        X, names, preparer = _prepare(data, frame[features], parameters)
    else:
        values = _with_option_hint("--exclude", split_frame, data, frame, features, requested)[0]
        _with_option_hint("--exclude", check_finite, data, values, features)
        X, names, preparer = to_data_frame(Table(values, None, tuple(features))), tuple(features), None
    parameters["include"] = _include(options.include, names, preparer) or None
    return FitRequest(
        data,
        X,
        y,
        y,
        names,
        names,
        task,
        loss,
        parameters,
        more,
        groups,
        options.offset,
        preparer,
        target,
    )


def _prepare(
    data: Path, table: "DataFrame", parameters: Keywords
) -> "tuple[StoredMatrix, tuple[str, ...], TablePreparer | None]":
    """The numeric table, its names, and what made it; ``parameters`` get its groups."""
    from pursuit.tables.preparer import TablePreparer

    preparer = TablePreparer().set_output(transform="pandas")
    try:
        X = preparer.fit(table).transform(table)
    except ValueError as error:
        hint = " with --exclude" if str(error).endswith("column out") else ""
        raise ValueError(f"{data}: {error}{hint}") from error
    if X.shape[1] == 0:
        raise ValueError(f"{data} has no column that tells rows apart; {'; '.join(preparer.notes_)}")
    if len(set(preparer.groups_)) < X.shape[1]:
        parameters["groups"] = list(preparer.groups_)
    return X, tuple(X.columns), preparer


def _without_row_numbers(frame: "DataFrame") -> "DataFrame":
    """The table without a first column that has no name and counts the rows, as pandas writes it."""
    first = str(frame.columns[0])
    if (first.strip() and not first.startswith("Unnamed: ")) or frame.shape[1] < 2:
        return frame
    numbers = frame.iloc[:, 0].to_numpy()
    counts = numbers.dtype.kind in "iu" and len(numbers) and numbers[0] in (0, 1)
    return frame.iloc[:, 1:] if counts and (np.diff(numbers) == 1).all() else frame


def _default_target(data: Path, frame: "DataFrame") -> str:
    """The column named y or target; an error with candidates where there is none."""
    found = [name for name in frame.columns if name.casefold() in ("y", "target")]
    if len(found) == 1:
        return str(found[0])
    two = [name for name in frame.columns if frame[name].nunique() == 2]
    words = [f"columns with two values are {format_list(map(repr, two))}"] if two else []
    words.append(f"its columns are {format_list(frame.columns)}, the last one {frame.columns[-1]}")
    which = "several" if found else "none"
    raise ValueError(f"{data} has {which} of the columns y and target: name it with --target; {'; '.join(words)}")


def _include(wanted: Sequence[str], names: Sequence[str], preparer: "TablePreparer | None") -> list[int]:
    """Indices of the features that must be in; a column of the table by any of its features."""
    if preparer is None:
        return _columns("--include", wanted, names)
    from pursuit.tables.columns import LeftOut

    first: dict[str, str] = {}
    for group, name in zip(preparer.groups_, names, strict=True):
        first.setdefault(group, name)
    for column, name in zip(preparer.columns_, preparer.feature_names_in_, strict=True):
        if name in wanted and isinstance(column, LeftOut):
            raise ValueError(f"--include: {name!r} gives no feature ({column.reason})")
    known = [*names, *(name for name in first if name not in names)]
    for name in wanted:
        if name not in known:
            raise ValueError(f"--include: there is no feature {name!r}{suggestion_clause(name, known)}")
    return _columns("--include", [first.get(name, name) for name in wanted], names)


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

    metadata = open_parquet(data)[0].metadata
    return bool(8 * metadata.num_rows * metadata.num_columns > MAX_LOADED_SHARE * as_bytes(memory))


def _open_on_disk(options: DataOptions) -> FitRequest:
    """A data set, or a Parquet file that is not loaded."""
    from pursuit import open_data

    data, groups = options.data, None
    if data.is_dir():
        if options.cv_groups is not None:
            raise ValueError(f"{data} is a data set, which has no column for --cv-groups: its folds are of rows")
        source = open_data(data, options.memory)
        for option, name, own in (
            ("--target", options.target, source.target),
            ("--offset", options.offset, source.offset),
        ):
            if name is not None and name != own:
                raise ValueError(f"{option} {name}: {data} was converted with {own or 'none'}, and knows it")
    else:
        drop = [*options.exclude, *([] if options.cv_groups is None else [options.cv_groups])]
        source = _with_option_hint(
            "--exclude", open_data, data, options.memory, target=options.target, offset=options.offset, drop=drop
        )
        groups = None if options.cv_groups is None else read_labels(data, options.cv_groups, "--cv-groups")
    targets = source.targets()
    task, loss = _task(options.task, options.loss, targets)
    names = source.names or [f"x{j}" for j in range(source.shape[1])]
    parameters = {**options.parameters, "loss": loss, "include": _columns("--include", options.include, names) or None}
    if data.is_dir():
        parameters["exclude"] = _columns("--exclude", options.exclude, names) or None
    return FitRequest(
        data, source, None, targets, source.names, names, task, loss, parameters, {}, groups, source.offset
    )


def has_names(data: Path) -> bool:
    """Whether files of this kind name their columns."""
    name = data.name.lower()
    return name == "-" or any(name.endswith(suffix) for suffix in LOADERS)


def read_named_table(
    data: Path, target: str | None, drop: Sequence[str], option: str = "--exclude", **more: Any
) -> Table:
    """Columns that an option leaves out of a named table are never read: they may hold text."""
    return _with_option_hint(option, read_table, data, target, drop=drop, **more)


def _with_option_hint(option: str, read: Callable[P, T], *given: P.args, **more: P.kwargs) -> T:
    """Read; an error that advises to leave columns out names the option for that."""
    try:
        return read(*given, **more)
    except ValueError as error:
        hint = f" with {option}" if str(error).endswith(("it out", "them out", "column out", "columns out")) else ""
        raise ValueError(f"{error}{hint}") from error


def to_data_frame(table: Table) -> "DataFrame | StoredMatrix":
    """X as a data frame where it has names and pandas is there, so that messages name columns."""
    if table.feature_names is None or not isinstance(table.X, np.ndarray) or find_spec("pandas") is None:
        return table.X
    import pandas

    return pandas.DataFrame(table.X, columns=list(table.feature_names), copy=False)


def _task(task: str | None, loss: str | None, y: Array) -> tuple[str, str]:
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
