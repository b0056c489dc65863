"""What every command of an application shares: no output is an input, and Ctrl-C is an exit code."""

import inspect
import os
from collections.abc import Callable
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_args, get_type_hints

import typer

from pursuit.cli import INTERRUPTED

P = ParamSpec("P")
T = TypeVar("T")


class Role(Enum):
    """What a command does with a path; it stands in the annotation, ``Annotated[Path, typer.Option(...), WRITES]``."""

    READS = "reads"
    WRITES = "writes"


READS, WRITES = Role.READS, Role.WRITES


class App(typer.Typer):
    """A typer application that runs no command whose output is one of its inputs, or another output.

    A command that Ctrl-C interrupts returns ``INTERRUPTED``: some versions of typer print an empty line for a
    ``KeyboardInterrupt`` that reaches them.
    """

    def command(self, *args: Any, **options: Any) -> Callable[..., Any]:
        register = super().command(*args, **options)
        return lambda function: register(_check_before(function))


def _check_before(function: Callable[P, T]) -> Callable[P, T | int]:
    paths = {name: _path(name, hint) for name, hint in get_type_hints(function, include_extras=True).items()}
    known = {name: facts for name, facts in paths.items() if facts is not None}

    @wraps(function)
    def guarded(*args: P.args, **options: P.kwargs) -> T | int:
        given = inspect.signature(function).bind(*args, **options).arguments
        check_outputs([(*facts, given[name]) for name, facts in known.items() if given.get(name) is not None])
        try:
            return function(*args, **options)
        except KeyboardInterrupt:
            return INTERRUPTED

    return guarded


def _path(name: str, hint: object) -> tuple[str, Role] | None:
    """What a parameter that is a path is called on the command line, and its role; None for others."""
    kind, *notes = get_args(hint) if hasattr(hint, "__metadata__") else (hint,)
    if kind is not Path and Path not in get_args(kind):
        return None
    roles = [note for note in notes if isinstance(note, Role)]
    if len(roles) != 1:
        raise TypeError(f"parameter {name} is a path: say in its annotation whether the command READS or WRITES it")
    info = next((note for note in notes if hasattr(note, "param_decls")), None)
    declared = [getattr(info, "default", None), *(getattr(info, "param_decls", None) or ())]  # typer's first is apart
    spelt = [spelling for spelling in declared if isinstance(spelling, str) and spelling.startswith("--")]
    usual = getattr(info, "metavar", None) or f"--{name.replace('_', '-')}"
    return (spelt[0] if spelt else usual), roles[0]


def check_outputs(paths: list[tuple[str, Role, Path]]) -> None:
    """Raise where a path that is written is another one of these, or lies in a folder that is read."""
    for i, (option, role, path) in enumerate(paths):
        if role is not WRITES:
            continue
        for other, other_role, there in [*paths[:i], *paths[i + 1 :]]:
            if _same_file(path, there):
                raise ValueError(f"{option} {path} and {other} {there} are the same file; give {option} another name")
            if other_role is READS and there.is_dir() and any(_same_file(up, there) for up in _resolve(path).parents):
                raise ValueError(f"{option} {path} lies in {other} {there}, which is read; give {option} another place")


def _same_file(a: Path, b: Path) -> bool:
    """Whether two paths lead to one file, by device and inode where they are there."""
    try:
        return os.path.samefile(a, b)
    except OSError:  # one is not there yet
        return os.path.normcase(_resolve(a)) == os.path.normcase(_resolve(b))


def _resolve(path: Path) -> Path:
    return Path(os.path.realpath(path))
