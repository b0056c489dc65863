"""``pursuit fit``: read, choose the estimator, fit with a status line, write, print."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from pursuit._errors import among, listed
from pursuit.cli import INTERRUPTED, NOT_CONVERGED, OK
from pursuit.cli.progress import fit_with_progress
from pursuit.cli.show import console, digits, table
from pursuit.io import Table, read_column, read_table, save_model

SHOWN = 40  # coefficients that are printed; the model holds all


def run(
    data: Path,
    out: Path,
    target: str | None,
    loss: str | None,
    task: str | None,
    include: Sequence[str],
    exclude: Sequence[str],
    offset: str | None,
    parameters: dict[str, Any],
) -> int:
    if not out.absolute().parent.is_dir():
        raise ValueError(f"--out {out}: there is no folder {out.parent}")
    named = any(mark in data.name.lower() for mark in (".csv", ".tsv", ".parquet"))
    if offset is not None and offset == target:
        raise ValueError(f"--offset and --target are both {offset!r}; the offset is a column of its own")
    shift = {} if offset is None else {"offset": read_column(data, offset)}
    apart = [] if offset is None else [offset]  # no feature
    held = _read(data, target, [*exclude, *apart]) if named else read_table(data, target)
    y = held.y
    if y is None:
        columns = f"; its columns are {listed(held.feature_names)}" if held.feature_names else ""
        raise ValueError(f"{data} has no target: name it with --target{columns}")
    task, loss = _task(task, loss, y)
    names = held.feature_names or [f"x{j}" for j in range(held.X.shape[1])]
    parameters |= {"loss": loss, "include": _columns("--include", include, names) or None}
    if not named:
        parameters["exclude"] = _columns("--exclude", exclude, names) or None

    import pursuit

    kind = pursuit.SparseClassifier if task == "classification" else pursuit.SparseRegressor
    estimator = kind(**parameters)
    X = _framed(held)
    fit_with_progress(estimator, X, y, **shift)
    save_model(estimator, out, feature_names=held.feature_names, offset=offset)
    measure, score = _score(y, estimator.predict(X, **shift), task)
    n, p = X.shape
    head = f"{data}: {n} rows, {p} features; {task} with the {loss} loss, at most {estimator.k} features\n"
    console().print(head, markup=False, soft_wrap=True)
    _print(estimator, {f"{measure} on these rows": digits(score)}, names, out)
    return {"converged": OK, "interrupted": INTERRUPTED}.get(estimator.result_.status, NOT_CONVERGED)


def _read(data: Path, target: str | None, drop: Sequence[str]) -> Table:
    """Excluded columns of a named table are never read: they may hold text."""
    try:
        return read_table(data, target, drop=drop)
    except ValueError as error:
        hint = " with --exclude" if str(error).endswith(("it out", "them out", "column out", "columns out")) else ""
        raise ValueError(f"{error}{hint}") from error


def _framed(held: Table) -> Any:
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


def _score(y: Any, predicted: Any, task: str) -> tuple[str, float]:
    from sklearn.metrics import accuracy_score, r2_score

    if task == "classification":
        return "accuracy", float(accuracy_score(y, predicted))
    return "R2", float(r2_score(y, predicted))


def _columns(option: str, wanted: Sequence[str], names: Sequence[str]) -> list[int]:
    place = {name: j for j, name in enumerate(names)}
    for name in wanted:
        if name not in place:
            raise ValueError(f"{option}: there is no feature {name!r}{among(name, names)}")
    return [place[name] for name in wanted]


def _print(estimator: Any, facts: dict[str, str], names: Sequence[str], out: Path) -> None:
    screen, result = console(), estimator.result_
    coef = result.coef if result.coef.ndim == 2 else result.coef[:, None]  # one column per output
    rows = [(names[j], *map(digits, row)) for j, row in zip(result.support[:SHOWN], coef, strict=False)]
    if len(coef) > SHOWN:
        rows.append((f"... {len(coef) - SHOWN} more in {out}", *[""] * coef.shape[1]))
    if estimator.fit_intercept:
        rows.append(("(intercept)", *map(digits, np.ravel(result.intercept))))
    outputs = ["coefficient"] if coef.shape[1] == 1 else [str(label) for label in estimator.classes_]
    screen.print(table({"feature": "left", **dict.fromkeys(outputs, "right")}, rows))
    facts |= {
        "objective": digits(result.value),
        **({"l2": digits(estimator.l2_)} if estimator.l2_ else {}),
        "status": f"{result.status}: {result.reason}",
        "optimality": str(result.optimality),
        **({"next best": result.next_best} if result.next_best else {}),
        "solver": f"{result.solver}, {result.n_iter} iteration{'s' * (result.n_iter != 1)}, {result.seconds:.2g} s",
        "model": str(out),
    }
    wide = max(map(len, facts))
    for name, fact in facts.items():
        screen.print(f"{name:<{wide}}  {fact}", markup=False, soft_wrap=True)
