"""Options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    Path, typer.Argument(help="CSV, TSV, Parquet, LIBSVM or npz file.", metavar="DATA", show_default=False)
]
Target = Annotated[
    str | None, typer.Option("--target", "-t", help="Target column (npz: array, y by default; LIBSVM: none).")
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
Picture = Annotated[Path | None, typer.Option(help="A picture to write: png, pdf or svg.")]


def names(texts: list[str] | None) -> list[str]:
    """The names in options that may be repeated."""
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]
