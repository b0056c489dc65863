"""Commands and their options; the work is in the module named in each body."""

from pathlib import Path
from typing import Annotated

import typer

EPILOG = (
    "Exit codes: 0 done; 1 unexpected error; 2 wrong usage or bad input; 3 a model was written, but the solver stopped"
    " before it converged; 130 interrupted (fit still writes the best model so far)."
)

app = typer.Typer(
    name="pursuit",
    help="The best model with at most k features.",
    epilog=EPILOG,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from pursuit import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Version, and exit.")
    ] = False,
) -> None: ...


@app.command(epilog=EPILOG)
def fit(
    data: Annotated[
        Path, typer.Argument(help="CSV, TSV, Parquet, LIBSVM or npz file.", metavar="DATA", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The JSON model to write.", show_default=False)],
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="Target column (npz: array, y by default; LIBSVM: none).")
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="At most so many features.")] = 10,
    loss: Annotated[str | None, typer.Option(help="See `pursuit losses`; by default squared or logistic.")] = None,
    l2: Annotated[
        float | None,
        typer.Option(
            help="Adds l2/2 times the squared norm (standardised units); by default 0.001 of the null model's curvature"
            " for the logistic loss, 0.001 for hinges, else 0."
        ),
    ] = None,
    solver: Annotated[str, typer.Option(help="See `pursuit solvers`.")] = "auto",
    task: Annotated[
        str | None,
        typer.Option(help="regression or classification; by default what the loss, or else the target, says."),
    ] = None,
    include: Annotated[list[str] | None, typer.Option(help="Features that must be in: a,b,c; may be repeated.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Columns to leave out: a,b,c; may be repeated.")] = None,
    offset: Annotated[
        str | None,
        typer.Option(help="Column (npz: array) that is added to the linear predictor: for counts, log exposure."),
    ] = None,
    intercept: Annotated[bool, typer.Option(help="Fit an intercept.")] = True,
    standardize: Annotated[bool, typer.Option(help="Select on columns of equal scale.")] = True,
    time_limit: Annotated[float | None, typer.Option(help="Stop after so many seconds.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads; by default all cores.")] = None,
) -> int:
    """Fit a model on at most k features of DATA.

    Prints the coefficients and how the search ended, and writes the model as JSON. Features of files without column
    names (npz, LIBSVM) are called x0, x1, ...
    """
    from pursuit.cli.fit import run

    parameters = {"k": k, "l2": l2, "solver": solver, "fit_intercept": intercept, "standardize": standardize}
    parameters |= {"time_limit": time_limit, "n_jobs": threads}
    return run(data, out, target, loss, task, _names(include), _names(exclude), offset, parameters)


@app.command(epilog=EPILOG)
def predict(
    model: Annotated[Path, typer.Argument(help="A JSON model of `pursuit fit`.", metavar="MODEL", show_default=False)],
    data: Annotated[Path, typer.Argument(help="Rows to predict; only the model's features are read.", metavar="DATA")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="CSV to write; by default standard output.")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Probabilities of the classes as well.")] = False,
) -> int:
    """Predict the rows of DATA with a model; one that was fitted with --offset reads that column from DATA too."""
    from pursuit.cli.predict import run

    return run(model, data, out=out, proba=proba)


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Where models and pictures go.")] = Path("demo"),
) -> int:
    """Do the main job on two real data sets."""
    from pursuit.cli.demo import run

    return run(out)


@app.command()
def solvers() -> None:
    """List the solvers."""
    from pursuit import list_solvers
    from pursuit.cli.show import print_names

    print_names(list_solvers())


@app.command()
def losses() -> None:
    """List the losses."""
    from pursuit import list_losses
    from pursuit.cli.show import print_names

    print_names(list_losses())


def _names(texts: list[str] | None) -> list[str]:
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]
