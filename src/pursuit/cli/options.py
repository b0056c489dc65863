"""Options that several commands share, declared once: ``shared_options`` adds them to a command."""

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pursuit.cli.outputs import READS, WRITES

if TYPE_CHECKING:
    from pursuit.cli.inputs import DataOptions

Data = Annotated[
    Path,
    typer.Argument(
        help="CSV, TSV, Parquet, Feather, Excel, npy, LIBSVM or npz file, a folder of `pursuit convert`, or - for CSV"
        " on standard input.",
        metavar="DATA",
        show_default=False,
    ),
    READS,
]
Target = Annotated[
    str | None, typer.Option("--target", "-t", help="Target column, y or target by default (npz: array; LIBSVM: none).")
]
Loss = Annotated[str | None, typer.Option(help="See `pursuit losses`; by default squared or logistic.")]
L2 = Annotated[
    float | None,
    typer.Option(
        help="Adds l2/2 times the squared norm (standardised units); by default 0.001 of the null model's curvature"
        " for the logistic loss, 0.001 for hinges, else 0."
    ),
]
Solver = Annotated[str, typer.Option(help="See `pursuit solvers`.")]
Effort = Annotated[
    str | None, typer.Option(help="--solver auto: fast, default or thorough, how long it searches for better features.")
]
Task = Annotated[
    str | None,
    typer.Option(help="regression or classification; by default what the loss, or else the target, says."),
]
Include = Annotated[list[str] | None, typer.Option(help="Features that must be in: a,b,c; may be repeated.")]
Exclude = Annotated[list[str] | None, typer.Option(help="Columns to leave out: a,b,c; may be repeated.")]
Offset = Annotated[
    str | None,
    typer.Option(help="Column (npz: array) that is added to the linear predictor: for counts, log exposure."),
]
Intercept = Annotated[bool, typer.Option("--intercept/--no-intercept", help="Fit an intercept.")]
Standardize = Annotated[bool, typer.Option(help="Select on columns of equal scale.")]
TimeLimit = Annotated[float | None, typer.Option(help="Stop after so many seconds.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads; by default all cores.")]
Checkpoint = Annotated[
    Path | None,
    typer.Option(help="A file in which the search is kept, about every second and at its end; see --resume."),
    WRITES,
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on from --checkpoint, where it is there; without this it must not be.")
]
Memory = Annotated[
    str,
    typer.Option(
        help="What may be taken for a data set of `convert`, or a Parquet file that would take more than half."
    ),
]
Prepare = Annotated[
    bool,
    typer.Option(
        "--prepare/--no-prepare",
        help="Categories as groups of dummies, dates as days, medians for missing numbers; ids and constants left out."
        " Without it every feature must be a number.",
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(help="A JSON model of `pursuit fit`.", metavar="MODEL", show_default=False), READS
]
Sizes = Annotated[str | None, typer.Option(help="Sizes, such as 1-15 or 1,2,5-8; 1-10 by default.")]
Picture = Annotated[Path | None, typer.Option(help="A picture to write: png, pdf or svg."), WRITES]


def check_resume(checkpoint: Path | None, resume: bool) -> Path | None:
    """The checkpoint, if what is there may be gone on from."""
    if checkpoint is None and resume:
        raise ValueError("--resume needs --checkpoint FILE, the file to go on from")
    if checkpoint is not None and not resume and checkpoint.exists():
        raise ValueError(f"--checkpoint {checkpoint} is there already: add --resume to go on from it, or remove it")
    return checkpoint


def split_names(texts: list[str] | None) -> list[str]:
    """The names in options that may be repeated."""
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]


def check_effort(effort: str, solver: str) -> None:
    """Raise where --effort is not known, or not for this solver."""
    from pursuit.solvers.auto import EFFORTS

    if effort not in EFFORTS:
        raise ValueError(f"--effort {effort} is not known; it is {', '.join(EFFORTS[:-1])} or {EFFORTS[-1]}")
    if solver.casefold() != "auto":
        raise ValueError(f"--effort is for --solver auto, and --solver is {solver}: leave --effort out")


#: Parameter, annotation and default of the options of every command that reads data with a target.
DATA_OPTIONS = {
    "data": (Data, inspect.Parameter.empty),
    "target": (Target, None),
    "loss": (Loss, None),
    "l2": (L2, None),
    "task": (Task, None),
    "include": (Include, None),
    "exclude": (Exclude, None),
    "offset": (Offset, None),
    "intercept": (Intercept, True),
    "standardize": (Standardize, True),
    "time_limit": (TimeLimit, None),
    "threads": (Threads, None),
    "memory": (Memory, "1GB"),
    "prepare": (Prepare, True),
}
#: The same of commands that make one search.
SEARCH_OPTIONS = {
    "solver": (Solver, "auto"),
    "effort": (Effort, None),
    "checkpoint": (Checkpoint, None),
    "resume": (Resume, False),
}


def shared_options(*, search: bool) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """A decorator that declares the shared options of a command and calls it with ``options``, a ``DataOptions``.

    With ``search`` the options of a search are declared too, and the command gets the path of its ``checkpoint``.
    """
    declared = {**DATA_OPTIONS, **(SEARCH_OPTIONS if search else {})}

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        given = {"options", "checkpoint"}
        own = [p for p in inspect.signature(function).parameters.values() if p.name not in given]
        kind = inspect.Parameter.KEYWORD_ONLY
        shared = [
            inspect.Parameter(name, kind, default=default, annotation=hint)
            for name, (hint, default) in declared.items()
        ]
        parameters = [*shared[:1], *(p.replace(kind=kind) for p in own), *shared[1:]]

        @wraps(function)
        def command(**values: Any) -> int:
            chosen = {name: values.pop(name) for name in declared}
            if search:
                values["checkpoint"] = check_resume(chosen.pop("checkpoint"), chosen.pop("resume"))
            return function(options=_data_options(**chosen), **values)

        command.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
        command.__annotations__ = {**{p.name: p.annotation for p in parameters}, "return": int}
        return command

    return decorate


def _data_options(
    *,
    l2: float | None,
    intercept: bool,
    standardize: bool,
    time_limit: float | None,
    threads: int | None,
    include: list[str] | None,
    exclude: list[str] | None,
    solver: str = "auto",
    effort: str | None = None,
    **data: Any,
) -> "DataOptions":
    """The ``DataOptions`` of these values; some are parameters of the estimator."""
    from pursuit.cli.inputs import DataOptions

    if effort is not None:
        check_effort(effort, solver)
    parameters = {
        "l2": l2,
        "solver": solver,
        "fit_intercept": intercept,
        "standardize": standardize,
        "time_limit": time_limit,
        "n_jobs": threads,
        **({} if effort is None else {"effort": effort}),
    }
    return DataOptions(**data, include=split_names(include), exclude=split_names(exclude), parameters=parameters)
