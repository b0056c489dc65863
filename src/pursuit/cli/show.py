"""Output of the commands: tables that also read well in a pipe or a log, pictures, checks of output paths."""

import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from pursuit._utils.files import atomic_write
from pursuit._utils.validation import format_list, require_package

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console
    from rich.table import Table

PICTURE_SUFFIXES = (".png", ".pdf", ".svg")
REPORT_SUFFIXES = (".html", ".htm")


class HasFigure(Protocol):
    """A display that was drawn."""

    @property
    def figure_(self) -> object: ...


def console(stderr: bool = False) -> "Console":
    """A rich console that neither colours numbers nor cuts names in a pipe."""
    require_package("rich", "cli", "the command line")
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 120
    return Console(file=stream, highlight=False, width=width, soft_wrap=False)


def make_table(columns: Mapping[str, str], rows: Sequence[Sequence[str]], title: str | None = None) -> "Table":
    """A rich table; ``columns`` maps each heading to ``left`` or ``right``."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, side in columns.items():
        table.add_column(heading, justify=side, overflow="fold")
    for row in rows:
        table.add_row(*[str(cell).replace("[", r"\[") for cell in row])
    return table


def command_line() -> str:
    """The command that is running, as it can be typed again."""
    return shlex.join(["pursuit", *sys.argv[1:]])


def print_text(text: str) -> None:
    """Print it as it is: no markup, and no line broken."""
    console().print(text, markup=False, soft_wrap=True)


def check_writable(option: str, path: Path | None, suffixes: Sequence[str] = ()) -> None:
    """Refuse a place that cannot be written to, before the work and not after it."""
    if path is None:
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise ValueError(f"{option} {path} must end in {format_list(suffixes)}")
    if path.is_dir():
        raise ValueError(f"{option} {path} is a folder; name a file in it")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{option} {path}: there is no folder {path.parent}")
    if not os.access(path.absolute().parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise ValueError(f"{option} {path}: no permission to write there")
    if suffixes is PICTURE_SUFFIXES:
        require_package("matplotlib", "plot", option)


def save_picture(path: Path, picture: HasFigure) -> None:
    """A Display, as a file: the whole of it, or what was there before."""
    with atomic_write(path) as file:
        cast("Figure", picture.figure_).savefig(file, dpi=150, format=path.suffix[1:].lower())


def print_names(described: Mapping[str, str]) -> None:
    """Print one name per line with its description."""
    wide = max(map(len, described), default=0)
    room = max(40, shutil.get_terminal_size((120, 24)).columns - wide - 2)
    for name, line in described.items():
        lines = textwrap.wrap(line.replace("``", ""), room) or [""]
        print(f"{name:<{wide}}  " + f"\n{' ' * (wide + 2)}".join(lines))


def print_facts(facts: Mapping[str, str]) -> None:
    """One line each, the names in a column."""
    wide = max(map(len, facts))
    for name, fact in facts.items():
        print_text(f"{name:<{wide}}  {fact}")


def format_number(value: float) -> str:
    """Five digits: enough to read, never the last word (that is the model's)."""
    return f"{value:.5g}"
