"""``pursuit path``: the best model of every size, as a table, a file and a picture."""

import csv
import io
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pursuit._utils.files import write_text
from pursuit._utils.progress import Progress
from pursuit.cli import INTERRUPTED, NOT_CONVERGED, OK
from pursuit.cli.choose_k import ridge_of
from pursuit.cli.inputs import DataOptions, FitRequest, read_request
from pursuit.cli.show import (
    PICTURE_SUFFIXES,
    check_writable,
    console,
    format_number,
    make_table,
    print_text,
    save_picture,
)
from pursuit.cli.sizes import DEFAULT_LARGEST_SIZE
from pursuit.engines import threads

if TYPE_CHECKING:
    from pursuit.objectives.glm import GLM
    from pursuit.paths import Path as SolvedPath

OUTPUT_SUFFIXES = (".json", ".csv")


def run(
    options: DataOptions, ks: list[int] | None, out: Path | None, picture: Path | None, checkpoint: Path | None = None
) -> int:
    check_writable("--out", out, OUTPUT_SUFFIXES)
    check_writable("--picture", picture, PICTURE_SUFFIXES)
    request = read_request(options)
    found, objective = _compute_path(request, ks, checkpoint)
    print_text(f"{request.heading}, sizes {_span(found.sizes)}\n")
    if len(found):
        rows = [
            (str(k), format_number(value), f"{share:.4f}", *words) for k, value, share, words in _rows(found, request)
        ]
        sides = {"k": "left", "value": "right", "explained": "right", "comes": "left", "goes": "left"}
        console().print(make_table(sides, rows))
    print_text(f"{found.status}: {found.reason} ({found.seconds:.2g} s)")
    if len(found) and out is not None:
        write_text(
            out, _json(found, request, ridge_of(objective)) if out.suffix.lower() == ".json" else _csv(found, request)
        )
        print_text(f"path     {out}")
    if len(found) and picture is not None:
        from pursuit.plots import PathDisplay

        save_picture(picture, PathDisplay.from_path(found, names=request.names))
        print_text(f"picture  {picture}")
    return {"converged": OK, "interrupted": INTERRUPTED}.get(found.status, NOT_CONVERGED)


def _compute_path(request: FitRequest, ks: list[int] | None, checkpoint: Path | None) -> tuple["SolvedPath", "GLM"]:
    """The path and its objective."""
    import pursuit

    given = request.parameters
    include, exclude = given["include"] or (), given.get("exclude") or ()
    first = max(1, len(include))
    objective = request.estimator(k=first).objective(request.X, request.y, **request.more)
    sizes = range(first, max(first, DEFAULT_LARGEST_SIZE) + 1) if ks is None else ks
    with Progress("sizes", max(sizes)) as bar, threads(given["n_jobs"]):
        found = pursuit.path(
            objective,
            sizes,
            solver=given["solver"],
            include=include,
            exclude=exclude,
            groups=given.get("groups"),
            time_limit=given["time_limit"],
            callback=bar,
            checkpoint=checkpoint,
            effort=given.get("effort"),
        )
    return found, objective


def _rows(found: "SolvedPath", request: FitRequest) -> Iterator[tuple[int, float, float, tuple[str, str]]]:
    """Size, value, share explained, and the names that come and go."""
    supports = [frozenset[int](), *(frozenset(result.support.tolist()) for result in found)]
    for k, value, share, (before, now) in zip(
        found.sizes, found.values, found.explained, pairwise(supports), strict=True
    ):
        yield k, value, share, (_column_names(request, now - before), _column_names(request, before - now))


def _column_names(request: FitRequest, columns: frozenset[int]) -> str:
    return ", ".join(request.labels(columns))


def _json(found: "SolvedPath", request: FitRequest, l2: float) -> str:
    sizes = [
        {
            "k": k,
            "value": result.value,
            "explained": share,
            "optimality": result.optimality,
            "intercept": np.asarray(result.intercept).tolist(),
            "coef": dict(
                zip([request.names[j] for j in result.support], np.asarray(result.coef).tolist(), strict=True)
            ),
        }
        for k, result, share in zip(found.sizes, found, found.explained.tolist(), strict=True)
    ]
    classes = np.unique(request.targets).tolist() if request.classifies else None
    held = {"loss": request.loss, "l2": l2, "classes": classes, "status": found.status, "reason": found.reason}
    return json.dumps({**held, "sizes": sizes}, indent=1) + "\n"


def _csv(found: "SolvedPath", request: FitRequest) -> str:
    """A row per size, a column per feature that some size has (and per class, of three or more)."""
    outputs = np.size(found[0].intercept)
    marks = [""] if outputs == 1 else [f",{label}" for label in np.unique(request.targets)]
    heads = [f"coef[{request.names[j]}{mark}]" for j in found.columns for mark in marks]
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
