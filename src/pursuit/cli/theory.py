"""``pursuit theory``: what the papers' theorems say about a data set, as a table, a file and a picture."""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

from pursuit._utils.files import write_text
from pursuit._utils.text import format_number
from pursuit.cli import OK
from pursuit.cli.inputs import DataOptions, read_request
from pursuit.cli.show import (
    PICTURE_SUFFIXES,
    check_writable,
    console,
    make_table,
    print_text,
    save_picture,
)
from pursuit.engines import threads

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pursuit.theory.api import Theorems
    from pursuit.theory.statements import Statement

COLUMNS = {
    "result": "left",
    "method": "left",
    "condition": "left",
    "verdict": "left",
    "condition used": "right",
    "yields": "left",
}

DIGITS = 3


def run(options: DataOptions, k: int, solve: bool, out: Path | None, picture: Path | None) -> int:
    """Print the table; write the CSV and the picture."""
    import pursuit

    check_writable("--out", out, (".csv",))
    check_writable("--picture", picture, PICTURE_SUFFIXES)
    request = read_request(options)
    given = request.parameters
    objective = request.estimator(k=k).objective(request.X, request.y, **request.more)
    with threads(given["n_jobs"]):
        result = None
        if solve:
            result = pursuit.solve(
                objective,
                k,
                include=given["include"] or (),
                exclude=given.get("exclude") or (),
                time_limit=given["time_limit"],
            )
        table = pursuit.theorems(objective, k, target=result)
    print_text(f"{request.heading}; k = {k}")
    words = (
        "largest target k* reported" if result is None else f"target: the solution with {len(result.support)} features"
    )
    print_text(f"{words}; columns in the units that the fit uses\n")
    rows = [
        (s.citation, s.solver, s.condition, s.verdict, _load(s.load), _yields(s))
        for s in table
        if s.verdict != "not applicable"
    ]
    console().print(make_table(COLUMNS, rows))
    skipped = [s.citation for s in table if s.verdict == "not applicable"]
    if skipped:
        print_text(f"not applicable: {', '.join(skipped)}")
    print_text(
        "condition used: from a value that is attained to a certified bound; a condition holds below 1. Numbers behind"
        " ~ rest on attained values: the best that can be hoped for\n"
    )
    for sentence in table.summary:
        print_text(sentence)
    if out is not None:
        write_text(out, _csv(table))
        print_text(f"table    {out}")
    if picture is not None:
        save_picture(picture, _Figure(table.plot()))
        print_text(f"picture  {picture}")
    return OK


class _Figure:
    """What ``save_picture`` wants."""

    def __init__(self, ax: "Axes") -> None:
        self.figure_: Figure = ax.figure  # type: ignore[assignment]
        self.figure_.set_size_inches(8, 6)


def _load(load: tuple[float, float] | None) -> str:
    if load is None:
        return ""
    low, high = (format_number(x, DIGITS) for x in load)
    return low if low == high else f"{low} to {high}"


def _yields(s: "Statement") -> str:
    mark = "" if s.verdict == "certified" else "~"
    words = [f"{name} {mark}{format_number(value, DIGITS)}" for name, value in s.numbers.items()]
    if s.possible_size is not None:
        words.insert(0, f"k* at most {s.certified_size} (certified), {s.possible_size} (possible)")
    return ", ".join(words)


def _csv(table: "Theorems") -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    headings = (
        "citation",
        "solver",
        "condition",
        "verdict",
        "load_inside",
        "load_certified",
        "certified_size",
        "possible_size",
        "numbers",
        "note",
    )
    writer.writerow(headings)
    for s in table:
        loads = ("", "") if s.load is None else tuple(f"{x:.6g}" for x in s.load)
        sizes = ("" if v is None else v for v in (s.certified_size, s.possible_size))
        numbers = "; ".join(f"{name}={value:.6g}" for name, value in s.numbers.items())
        writer.writerow((s.citation, s.solver, s.condition, s.verdict, *loads, *sizes, numbers, s.note))
    return text.getvalue()
