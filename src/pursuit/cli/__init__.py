"""The command ``pursuit``. This file imports nothing heavy, so that ``--help`` answers at once."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typer import Typer

OK, UNEXPECTED, BAD_INPUT, NOT_CONVERGED, INTERRUPTED = 0, 1, 2, 3, 130


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; every error is one line on stderr."""
    return command("pursuit", "pursuit.cli.app", "cli", args)


def command(name: str, module: str, extra: str, args: Sequence[str] | None = None) -> int:
    """Run the typer application of a module as ``name``; ``extra`` is what installs it."""
    try:
        app = import_module(module).app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        return _say(name, f'the command line needs {error.name}: pip install "pursuit[{extra}]"', BAD_INPUT)
    args = list(sys.argv[1:] if args is None else args)
    try:
        if _print_help(app, name, args):
            return OK
        code = app(args or ["--help"], prog_name=name, standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _say(name, "interrupted", INTERRUPTED)
    except (BrokenPipeError, SystemExit):  # the reader of our output went away, as `head` does; typer makes it an exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return OK
    except Exception as error:
        if os.environ.get("PURSUIT_TRACEBACK"):
            raise
        return _report(name, error)
    if code == INTERRUPTED:
        return _say(name, "interrupted", INTERRUPTED)
    return int(code or OK)


def _print_help(app: "Typer", name: str, args: list[str]) -> bool:
    """Print the help of a command where that is all its arguments want; whether it was printed.

    typer would convert the flag --help to a bool first, and recent versions import pydantic for that: 0.2 s.
    """
    if len(args) != 2 or args[1] != "--help":
        return False
    from typer.main import get_command

    group: Any = get_command(app)
    found = getattr(group, "commands", {}).get(args[0])
    if found is None:
        return False
    context = group.context_class(group, info_name=name)
    print(found.get_help(found.context_class(found, info_name=args[0], parent=context)))
    return True


def _report(name: str, error: Exception) -> int:
    if hasattr(error, "format_message"):  # a usage error of typer, whichever click it carries
        return _say(name, f"{error.format_message()} (see {name} --help)", BAD_INPUT)
    if type(error).__name__ == "Abort":
        return _say(name, "interrupted", INTERRUPTED)
    if isinstance(error, OSError) and error.strerror and error.filename:
        return _say(name, f"{error.filename}: {error.strerror}", BAD_INPUT)
    if isinstance(error, ValueError | OSError | ImportError):
        return _say(name, str(error), BAD_INPUT)
    return _say(name, f"unexpected {type(error).__name__}: {error} (PURSUIT_TRACEBACK=1 shows where)", UNEXPECTED)


def _say(name: str, message: str, code: int) -> int:
    line = " ".join(message.split())
    print(f"{name}: {line}", file=sys.stderr)
    return code
