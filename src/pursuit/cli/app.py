"""Commands and their options; the work is in the module named in each body."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pursuit.cli import options as opt
from pursuit.cli.options import split_names
from pursuit.cli.outputs import READS, WRITES, App

if TYPE_CHECKING:
    from pursuit.cli.inputs import DataOptions

EPILOG = (
    "Exit codes: 0 done; 1 unexpected error; 2 wrong usage or bad input; 3 something was written, but a limit stopped"
    " the search before its end; 130 interrupted (what was found so far is still written; while k is being chosen,"
    " that is nothing)."
)

app = App(
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
@opt.shared_options(search=True)
def fit(
    options: "DataOptions",
    checkpoint: Path | None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The JSON model to write; model.json by default."), WRITES
    ] = None,
    k: Annotated[
        str, typer.Option("-k", help="At most so many features; auto chooses the number by held-out rows.")
    ] = "auto",
    ks: Annotated[str | None, typer.Option(help="-k auto: sizes to choose from, such as 1-20 or 1,2,5-8.")] = None,
    cv: Annotated[int | None, typer.Option(min=2, help="-k auto: folds; 10 by default.")] = None,
    cv_groups: Annotated[
        str | None, typer.Option(help="-k auto: column (npz: array) whose equal values stay in one fold; no feature.")
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(
            help="-k auto: predict (default), or explain: one subset, refitted, chosen to find the true features."
        ),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            help="-k auto: 0.5se (predict), 1se (explain), min; or aic, bic, ebic, gic, hq, cp without folds."
        ),
    ] = None,
    combine: Annotated[
        str | None,
        typer.Option(
            help="-k auto: project (predict: an average of models, projected), none (explain: one model), average."
        ),
    ] = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="Also what each feature is worth, and its closest rival.")
    ] = False,
    picture: opt.Picture = None,
    report: Annotated[
        Path | None, typer.Option(help="HTML page to write: the model, how well it predicts, how sure it is."), WRITES
    ] = None,
    effects: Annotated[
        str | None,
        typer.Option(help="smooth: a curve for every chosen feature; auto: as far as it bends; linear: lines."),
    ] = None,
) -> int:
    """Fit a model on at most k features of DATA, and choose k unless it is given.

    Example: pursuit fit customers.csv --target churned

    Categories become groups of dummies, dates days, missing numbers the median; ids and constants are left out. The
    model does the same to the rows that it predicts. Prints what was done, the coefficients, why this k or how the
    search ended, and writes the model as JSON. -k auto tries several ridges unless --l2 gives one. Features of files
    without column names (npy, npz, LIBSVM) are called x0, x1, ...
    """
    from pursuit.cli.choose_k import ChoiceOptions
    from pursuit.cli.fit import run
    from pursuit.cli.sizes import parse_k, parse_sizes

    auto = ChoiceOptions(
        ks=None if ks is None else parse_sizes(ks), cv=cv, cv_groups=cv_groups, goal=goal, rule=rule, combine=combine
    )
    options = replace(options, cv_groups=cv_groups)
    return run(
        options,
        out,
        parse_k(k),
        auto,
        summary=summary,
        checkpoint=checkpoint,
        picture=picture,
        report=report,
        effects=None if effects is None else effects.casefold(),
    )


@app.command(epilog=EPILOG)
@opt.shared_options(search=True)
def path(
    options: "DataOptions",
    checkpoint: Path | None,
    ks: opt.Sizes = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="JSON or CSV to write: every size with its coefficients."), WRITES
    ] = None,
    picture: opt.Picture = None,
) -> int:
    """The best model of every size: what it explains, and which columns come and go.

    Example: pursuit path customers.csv --target churned --picture path.png
    """
    from pursuit.cli.path import run
    from pursuit.cli.sizes import parse_sizes

    return run(options, None if ks is None else parse_sizes(ks), out, picture, checkpoint)


@app.command(epilog=EPILOG)
@opt.shared_options(search=False)
def stability(
    options: "DataOptions",
    ks: opt.Sizes = None,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of half-samples.")] = 50,
    threshold: Annotated[
        float, typer.Option(help="How often a stable feature is selected: above 0.5, at most 1.")
    ] = 0.6,
    seed: Annotated[int, typer.Option(min=0, help="Of the half-samples.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV to write: how often each feature is selected."), WRITES
    ] = None,
    picture: opt.Picture = None,
) -> int:
    """Which features random halves of the rows agree on, and how many of those may be wrong.

    Example: pursuit stability customers.csv --target churned
    """
    from pursuit.cli.sizes import parse_sizes
    from pursuit.cli.stability import run

    return run(options, None if ks is None else parse_sizes(ks), pairs, threshold, seed, out, picture)


@app.command(epilog=EPILOG)
@opt.shared_options(search=False)
def theory(
    options: "DataOptions",
    k: Annotated[int, typer.Option("-k", min=1, help="The size that a solver is given.")],
    solve: Annotated[
        bool,
        typer.Option(
            "--solve/--no-solve", help="Take the best model found as the unknown x*; else the largest size of an x*."
        ),
    ] = True,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="CSV to write: a row per result."), WRITES] = None,
    picture: opt.Picture = None,
) -> int:
    """What the papers' theorems say about DATA: which conditions are certified, refuted or open, and what follows.

    Example: pursuit theory customers.csv --target churned -k 5

    Steps, contraction factors, sizes, iterations and error bounds; behind ~ they are the best that can be hoped for.
    """
    from pursuit.cli.theory import run

    return run(options, k, solve, out, picture)


@app.command(epilog=EPILOG)
def graph(
    data: opt.Data,
    edges: Annotated[
        str, typer.Option(help="At most so many edges; auto chooses the number by held-out rows.")
    ] = "auto",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="JSON to write: nodes, edges, and how they were chosen."), WRITES
    ] = None,
    picture: opt.Picture = None,
    report: Annotated[Path | None, typer.Option(help="HTML page to write: the graph and its edges."), WRITES] = None,
    shrinkage: Annotated[
        str | None,
        typer.Option(help="0 to 1, correlations are shrunk by so much; by default 0, and auto where the edges are."),
    ] = None,
    l1: Annotated[
        str | None,
        typer.Option(help="Shrinks the chosen graph's entries, not the search; by default 0, and auto with the edges."),
    ] = None,
    cv: Annotated[int | None, typer.Option(min=2, help="auto: folds; 5 by default.")] = None,
    rule: Annotated[str | None, typer.Option(help="auto: min (default), 1se; or ebic without folds.")] = None,
    include: Annotated[list[str] | None, typer.Option(help="An edge a,b that must be there; may be repeated.")] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="An edge a,b that must not be there; may be repeated.")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Columns to leave out: a,b,c; may be repeated.")] = None,
    label: Annotated[
        str | None, typer.Option(help="Column (npz: array) of classes; no node of the graph, see --most.")
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Keep so many columns: those that differ most between the classes of --label (t test, F test of three"
            " or more), else those of largest variance.",
        ),
    ] = None,
    names_in: Annotated[
        str | None, typer.Option("--names", help="npz: array with the columns' names; feature_names by default.")
    ] = None,
    time_limit: opt.TimeLimit = None,
    threads: opt.Threads = None,
) -> int:
    """Which columns of DATA are joined, given all others: the graph of a precision matrix with at most so many edges.

    Example: pursuit graph genes.csv --picture graph.png

    Prints the strongest edges with their partial correlations, and why so many. A gain is how far -2 log-likelihood per
    row rises when the edge goes. Every number that is auto is chosen by the likelihood of held-out rows.
    """
    from pursuit.cli.graph import GraphOptions, run
    from pursuit.cli.sizes import parse_edges, parse_number

    wanted = parse_edges(edges)
    usual = "auto" if wanted is None else "0"
    options = GraphOptions(
        n_edges=wanted,
        shrinkage=parse_number("--shrinkage", shrinkage or usual),
        l1=parse_number("--l1", l1 or usual),
        cv=cv,
        rule=rule,
        include=include or (),
        exclude=exclude or (),
        time_limit=time_limit,
        threads=threads,
    )
    return run(data, options, out, picture, report, drop=split_names(drop), label=label, most=most, names=names_in)


@app.command(epilog=EPILOG)
def predict(
    model: opt.ModelFile,
    data: Annotated[
        Path, typer.Argument(help="Rows to predict; only the model's features are read.", metavar="DATA"), READS
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV to write; by default standard output."), WRITES
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Probabilities of the classes as well.")] = False,
    keep: Annotated[
        list[str] | None, typer.Option(help="Columns of DATA to write beside predictions: id,name; may be repeated.")
    ] = None,
) -> int:
    """Predict the rows of DATA with a model; one that was fitted with --offset reads that column from DATA too.

    Example: pursuit predict model.json new.csv --keep customer_id --out predictions.csv

    DATA has the columns of the table that the model was fitted to, as they were: categories, dates, missing values.
    Those that the model does not use may be missing, the target too.
    """
    from pursuit.cli.predict import run

    return run(model, data, out=out, proba=proba, keep=split_names(keep))


@app.command(epilog=EPILOG)
def explain(
    model: opt.ModelFile,
    data: Annotated[
        Path | None,
        typer.Argument(help="Rows, of which one is explained.", metavar="[DATA]", show_default=False),
        READS,
    ] = None,
    row: Annotated[int, typer.Option(min=1, help="Which row of DATA, counted from 1.")] = 1,
) -> int:
    """Say which features a model uses, why these, and how sure that is; of a row, what each feature contributes.

    Example: pursuit explain model.json new.csv --row 3

    Contributions and the intercept add up to the prediction (of a classifier: the log-odds; of counts: the logarithm).
    """
    from pursuit.cli.explain import run

    return run(model, data, row)


@app.command(epilog=EPILOG)
def convert(
    data: opt.Data,
    out: Annotated[Path, typer.Argument(help="The folder to write, such as big.pursuit.", metavar="OUT"), WRITES],
    target: opt.Target = None,
    weights: Annotated[str | None, typer.Option(help="Column (npz: array) of weights.")] = None,
    offset: opt.Offset = None,
    exclude: opt.Exclude = None,
    dtype: Annotated[
        str | None, typer.Option(help="float32 or float64; by default float32 where all features are.")
    ] = None,
) -> int:
    """Turn DATA into a folder of mapped row blocks, in bounded memory, for data that do not fit into it.

    Example: pursuit convert big.csv big.pursuit --target y

    `fit` and `path` take the folder as DATA, and it knows its target. The folder is complete or not there: a full
    disk or Ctrl-C leaves nothing under its name.
    """
    from pursuit.cli.convert import run

    return run(data, out, target, weights, offset, split_names(exclude), dtype)


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Where models and pictures go."), WRITES] = Path("demo"),
) -> int:
    """Do the main job on two real data sets.

    Example: pursuit demo --out demo
    """
    from pursuit.demo.study import run

    run(out)
    return 0


@app.command()
def doctor() -> int:
    """Check the installation: versions, threads, BLAS, and a self-test of a second.

    Example: pursuit doctor
    """
    from pursuit.cli.doctor import run

    return run()


@app.command()
def solvers() -> None:
    """List the solvers.

    Example: pursuit solvers
    """
    from pursuit import list_solvers
    from pursuit.cli.show import print_names

    print_names(list_solvers())


@app.command()
def losses() -> None:
    """List the losses.

    Example: pursuit losses
    """
    from pursuit import list_losses
    from pursuit.cli.show import print_names

    print_names(list_losses())
