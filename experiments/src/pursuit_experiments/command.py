"""The command ``pursuit-experiments``; errors and exit codes as of ``pursuit``."""

from collections.abc import Sequence

from pursuit.cli import command


def main(args: Sequence[str] | None = None) -> int:
    return command("pursuit-experiments", "pursuit_experiments.app", "cli", args)
