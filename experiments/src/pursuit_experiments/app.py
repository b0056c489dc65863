"""Commands and their options of ``pursuit-experiments``."""

from pathlib import Path
from typing import Annotated

import typer

from pursuit.cli.outputs import READS, WRITES, App

app = App(
    name="pursuit-experiments",
    help="The experiments of the five papers, and what became of their claims.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
RESULTS, QUICK_RESULTS, PAGE = Path("experiments"), Path("experiments-quick"), Path("docs/reproduction.md")
Root = Annotated[Path, typer.Option(help="The folder with the results, of a clone: experiments."), READS]


@app.command("list")
def list_() -> None:
    """Every experiment with its title."""
    from .catalogue import catalogue

    for name, one in catalogue().items():
        needs = f"  [needs {', '.join(one.data)}]" if one.data else ""
        typer.echo(f"{name:32}{one.title}{needs}")


@app.command()
def run(
    names: Annotated[
        list[str], typer.Argument(help="grasp/table2, a paper such as grasp, or all.", show_default=False)
    ],
    quick: Annotated[bool, typer.Option(help="A small form of it, in seconds.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    replications: Annotated[int | None, typer.Option(min=1, help="Fewer or more than by default.")] = None,
    minutes: Annotated[float | None, typer.Option(min=0, help="Stop after so long and judge by what is done.")] = None,
    fresh: Annotated[
        bool, typer.Option(help="Do not go on with what an earlier run has done, and replace its table.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write: experiments, quick forms experiments-quick.", show_default=False),
        WRITES,
    ] = None,
    note: Annotated[str, typer.Option(help="Goes into the verdict, such as why replications are few.")] = "",
) -> None:
    """Run experiments; a run that was stopped goes on where it was."""
    import math

    from .catalogue import named
    from .experiment import Size
    from .folders import folder_of, pieces_of
    from .reproduce import printed, reproduce

    size = Size(quick, replications)
    root = out or (QUICK_RESULTS if quick else RESULTS)
    for one in named(names):
        if fresh:
            pieces_of(one, root).unlink(missing_ok=True)
        limit = math.inf if minutes is None else minutes
        verdict = reproduce(one, size, root, jobs=jobs, minutes=limit, note=note, replace_table=fresh)
        typer.echo(printed(verdict, one.expected["claims"]) + f"\n  -> {folder_of(one, root)}")


@app.command()
def verify(root: Root = RESULTS) -> None:
    """Judge the tables anew; exit code 1 when a claim has neither a full verdict nor an explanation."""
    from .catalogue import catalogue
    from .claims import OUTCOMES
    from .claims import verify as count

    if not root.is_dir():
        raise ValueError(f"there is no folder {root}: run this in a clone of the project, or give --root")
    account = count(catalogue().values(), root)
    typer.echo(", ".join(f"{account.outcomes[outcome]} {outcome}" for outcome in OUTCOMES))
    typer.echo(
        "beside the papers' claims: " + ", ".join(f"{account.beside[outcome]} {outcome}" for outcome in OUTCOMES)
    )
    if total := sum(account.outcomes.values()):
        typer.echo(f"of the {total} claims {account.replicated} have a standard error; the others are of single runs")
    for line in account.open:
        typer.echo(f"open: {line}", err=True)
    raise typer.Exit(1 if account.open else 0)


@app.command()
def report(root: Root = RESULTS, page: Annotated[Path, typer.Option(help="The page to write."), WRITES] = PAGE) -> None:
    """Judge the committed tables anew, and write their pages and docs/reproduction.md."""
    from .catalogue import catalogue
    from .pages import write_reproduction
    from .reproduce import judge_again

    for one in catalogue().values():
        judge_again(one, root)
    write_reproduction(catalogue().values(), root, page)
    typer.echo(f"wrote {page}")
