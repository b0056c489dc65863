"""Small HTML tables for notebooks; every cell is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

MAX_ROWS = 60  # rows of a table in a notebook; the object has all


def html_table(
    caption: str, headings: Sequence[str], rows: Iterable[Sequence[object]], notes: Sequence[str] = ()
) -> str:
    """A table with a caption above and sentences below."""
    cells = [list(row) for row in rows]
    more = len(cells) - MAX_ROWS
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in cells[:MAX_ROWS]
    )
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    below = [*notes, *([f"{more} more rows"] if more > 0 else [])]
    words = "".join(f"<div>{escape(note)}</div>" for note in below if note)
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{words}"
    )
