"""The folder of an experiment's results, and reading its table back."""

from pathlib import Path
from typing import TYPE_CHECKING

from pursuit.io._frames import exact_floats

from .experiment import Experiment

if TYPE_CHECKING:
    from pandas import DataFrame

PIECES = "pieces.jsonl"  # what is done; committed, so that another clone goes on with it
VERDICT, TABLE, PICTURE, EXPECTED, README = "verdict.json", "table.csv", "figure.png", "expected.json", "README.md"


def folder_of(experiment: Experiment, root: Path) -> Path:
    return root / experiment.name


def pieces_of(experiment: Experiment, root: Path) -> Path:
    """The file of finished pieces, in the folder of the experiment of which this one is a view."""
    return root / (experiment.view_of or experiment.name) / PIECES


def read_table(path: Path) -> "DataFrame":
    import pandas as pd

    return pd.read_csv(path, keep_default_na=False, na_values=[""], **exact_floats(pd))
