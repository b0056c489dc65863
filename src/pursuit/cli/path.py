"""``pursuit path``: the best model of every size, as a table, a file and a picture."""

import csv
import io
import json
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pursuit._files import write_text
from pursuit.cli import INTERRUPTED, NOT_CONVERGED, OK
from pursuit.cli.asked import Asked, Question, question
from pursuit.cli.show import PICTURES, console, digits, draw, say, table, writable
from pursuit.engines import threads
from pursuit.progress import Progress

LARGEST = 10  # size, where none are asked for
FILES = (".json", ".csv")


def run(
    asked: Asked, ks: list[int] | None, out: Path | None, picture: Path | None, checkpoint: Path | None = None
) -> int:
    writable("--out", out, FILES)
    writable("--picture", picture, PICTURES)
    asks = question(asked)
    found, model = _follow(asks, ks, checkpoint)
    say(f"{asks.heading}, sizes {_span(found.sizes)}\n")
    if len(found):
        rows = [(str(k), digits(value), f"{share:.4f}", *words) for k, value, share, words in _rows(found, asks)]
        sides = {"k": "left", "value": "right", "explained": "right", "comes": "left", "goes": "left"}
        console().print(table(sides, rows))
    say(f"{found.status}: {found.reason} ({found.seconds:.2g} s)")
    if len(found) and out is not None:
        write_text(out, _json(found, asks, model) if out.suffix.lower() == ".json" else _csv(found, asks, model))
        say(f"path     {out}")
    if len(found) and picture is not None:
        from pursuit.plots import PathDisplay

        draw(picture, PathDisplay.from_path(found, names=asks.names))
        say(f"picture  {picture}")
    return {"converged": OK, "interrupted": INTERRUPTED}.get(found.status, NOT_CONVERGED)


def _follow(asks: Question, ks: list[int] | None, checkpoint: Path | None) -> tuple[Any, Any]:
    """The path, and a fitted estimator that has its objective and, of classes, their labels."""
    import pursuit

    given = asks.parameters
    include, exclude = given["include"] or (), given.get("exclude") or ()
    first = max(1, len(include))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of a fit that nobody asked for
        model = asks.estimator(k=first).set_params(solver="omp", time_limit=None, effort=None)
        model.fit(asks.X, asks.y, **asks.more)
    sizes = range(first, max(first, LARGEST) + 1) if ks is None else ks
    with Progress("sizes", max(sizes)) as bar, threads(given["n_jobs"]):
        found = pursuit.path(
            model.objective_, sizes, solver=given["solver"], include=include, exclude=exclude,
            time_limit=given["time_limit"], callback=bar, checkpoint=checkpoint, effort=given.get("effort"),
        )  # fmt: skip
    return found, model


def _rows(found: Any, asks: Question) -> Iterator[tuple[int, float, float, tuple[str, str]]]:
    """Size, value, share explained, and the names that come and go."""
    supports = [frozenset[int](), *(frozenset(result.support.tolist()) for result in found)]
    for k, value, share, (before, now) in zip(
        found.sizes, found.values, found.explained, pairwise(supports), strict=True
    ):
        yield k, value, share, (_listed(asks, now - before), _listed(asks, before - now))


def _listed(asks: Question, columns: frozenset[int]) -> str:
    return ", ".join(asks.names[j] for j in sorted(columns))


def _json(found: Any, asks: Question, model: Any) -> str:
    sizes = [
        {"k": k, "value": result.value, "explained": share, "optimality": result.optimality,
         "intercept": np.asarray(result.intercept).tolist(),
         "coef": dict(zip([asks.names[j] for j in result.support], np.asarray(result.coef).tolist(), strict=True))}
        for k, result, share in zip(found.sizes, found, found.explained.tolist(), strict=True)
    ]  # fmt: skip
    classes = np.asarray(model.classes_).tolist() if asks.classifies else None
    held = {"loss": asks.loss, "l2": model.l2_, "classes": classes, "status": found.status, "reason": found.reason}
    return json.dumps({**held, "sizes": sizes}, indent=1) + "\n"


def _csv(found: Any, asks: Question, model: Any) -> str:
    """A row per size, a column per feature that some size has (and per class, of three or more)."""
    outputs = np.size(found[0].intercept)
    marks = [""] if outputs == 1 else [f",{label}" for label in model.classes_]
    heads = [f"coef[{asks.names[j]}{mark}]" for j in found.columns for mark in marks]
    heads = ["k", "value", "explained", "optimality", *(f"intercept{f'[{m[1:]}]' if m else ''}" for m in marks), *heads]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(heads)
    for k, result, share in zip(found.sizes, found, found.explained.tolist(), strict=True):
        coef = np.zeros((len(found.columns), outputs))
        coef[np.searchsorted(found.columns, result.support)] = np.reshape(result.coef, (-1, outputs))
        own = np.ravel(result.intercept).tolist()
        writer.writerow([k, result.value, share, result.optimality, *own, *coef.ravel().tolist()])
    return stream.getvalue()


def _span(sizes: tuple[int, ...]) -> str:
    return f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0]) if sizes else "none"
