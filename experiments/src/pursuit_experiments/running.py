"""The loop over the pieces of an experiment: in processes of one thread each, written down as they end, resumed."""

import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from pursuit._utils.progress import Progress

from .experiment import Cell, Experiment, Size

if TYPE_CHECKING:
    from pandas import DataFrame

Piece = dict[str, Any]  # a cell, its rows, its processor seconds


def rows_of(
    experiment: Experiment, size: Size, written: Path, *, jobs: int = 1, minutes: float = np.inf
) -> tuple["DataFrame", float]:
    """The rows of every piece, done now or found in the file, with the processor's seconds.

    With ``minutes`` those that were done by then.
    """
    import pandas as pd

    written.parent.mkdir(parents=True, exist_ok=True)
    cells = experiment.cells(size)
    done = _read(written)
    left = [cell for cell in cells if _key(cell) not in done]
    ends = time.monotonic() + 60 * minutes
    with Progress(experiment.name, len(cells)) as bar, written.open("a", encoding="utf-8") as file:
        bar(len(cells) - len(left))
        for piece in _worked(experiment, left, jobs):
            line = json.dumps(piece, default=_plain)
            file.write(f"\n{line}\n")  # a line of its own, even after one that a killed run left unfinished
            file.flush()
            done[_key(piece["cell"])] = json.loads(line)
            bar(bar.done + 1)
            if time.monotonic() > ends:
                break
    pieces = [done[_key(cell)] for cell in cells if _key(cell) in done]
    found = [{**piece["cell"], **row} for piece in pieces for row in piece["rows"]]
    if not found:
        raise ValueError(f"{experiment.name}: no piece was done in {minutes:g} minutes; give it more")
    return pd.DataFrame(found), sum(piece["seconds"] for piece in pieces)


def _worked(experiment: Experiment, cells: list[Cell], jobs: int) -> Iterator[Piece]:
    if jobs == 1 or len(cells) < 2:
        yield from (_work(experiment, cell) for cell in cells)
        return
    pool = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    yield from pool(delayed(_work)(experiment, cell) for cell in cells)


def _work(experiment: Experiment, cell: Cell) -> Piece:
    """One piece; a warning of a solver or a baseline is not news here: what came out is judged."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.process_time()
        rows = experiment.run(cell)
        return {"cell": cell, "rows": rows, "seconds": time.process_time() - began}


def _read(path: Path) -> dict[str, Piece]:
    if not path.exists():
        return {}
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            piece = json.loads(line)
        except json.JSONDecodeError:  # empty, or the line at which a run was ended
            continue
        if isinstance(piece, dict) and {"cell", "rows", "seconds"} <= piece.keys():
            found[_key(piece["cell"])] = piece
    return found


def _key(cell: Cell) -> str:
    return json.dumps(cell, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"an experiment gave a {type(value).__name__}, and its pieces are written as JSON")
