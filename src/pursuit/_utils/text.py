"""Tables, numbers and paragraphs of reports as plain text, and small tables in HTML for notebooks."""

import textwrap
from collections.abc import Iterable, Sequence
from html import escape

WIDTH = 100  # of sentences, and of a table's widest column of words
ZERO_TOLERANCE = 1e-7  # shares below it are printed as zero
MAX_HTML_ROWS = 60  # rows of a table in a notebook; the object has all
MAX_NAME_WIDTH = 40  # characters of a name that are shown


def format_number(value: float | None, places: int = 4) -> str:
    """A number to ``places`` significant digits (whole ones up to ten million); nothing where there is none."""
    if value is None or value == 0:
        return "" if value is None else "0"
    text = f"{value:#.{places}g}"
    return f"{value:.0f}" if "e" in text and 1 <= abs(value) < 1e7 else text.rstrip(".")


def format_fraction(value: float | None) -> str:
    """A share of one: four places, more digits where these would all be zero and it is no rounding."""
    if value is None:
        return ""
    return f"{value:.2g}" if ZERO_TOLERANCE < abs(value) < 5e-4 else f"{value:.4f}".replace("-0.0000", "0.0000")


def truncate(name: object, most: int = MAX_NAME_WIDTH) -> str:
    """A name, or its beginning."""
    text = str(name)
    return text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def format_table(headings: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Columns of text below their headings, numbers to the right; ``left`` are the places of words."""
    body = [list(headings), *(list(row) for row in rows)]
    widths = [max(len(row[j]) for row in body) for j in range(len(headings))]
    sides = [str.ljust if j in left else str.rjust for j in range(len(headings))]
    lines = ["  ".join(side(cell, w) for side, cell, w in zip(sides, row, widths, strict=True)) for row in body]
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(line.rstrip() for line in lines)


def format_paragraphs(sentences: Iterable[str]) -> str:
    """One paragraph each, wrapped."""
    return "\n".join(textwrap.fill(sentence, WIDTH, subsequent_indent="  ") for sentence in sentences if sentence)


def html_table(
    caption: str, headings: Sequence[str], rows: Iterable[Sequence[object]], notes: Sequence[str] = ()
) -> str:
    """A table for a notebook with a caption above and sentences below; every cell is escaped."""
    cells = [list(row) for row in rows]
    more = len(cells) - MAX_HTML_ROWS
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in cells[:MAX_HTML_ROWS]
    )
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    below = [*notes, *([f"{more} more rows"] if more > 0 else [])]
    words = "".join(f"<div>{escape(note)}</div>" for note in below if note)
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{words}"
    )
