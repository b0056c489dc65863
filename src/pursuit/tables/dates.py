"""Dates written as text: which format a column has, and its values."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from itertools import product

import numpy as np

from .._utils.types import Array

ISO = "YYYY-MM-DD"
DAYS = ("%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%b %d %Y")
HOURS = ("", " %H:%M", " %H:%M:%S")
#: The month comes first where both orders fit every value, as in pandas.
FORMATS = (ISO, *(day + hour for hour, day in product(HOURS, DAYS)))
LETTERS = {"%Y": "YYYY", "%m": "MM", "%d": "DD", "%b": "Mon", "%H": "hh", "%M": "mm", "%S": "ss"}
MIN_DATE_SHARE = 0.9  # of the values that are there: a column with fewer dates is a category
N_TRIED = 50  # values that decide whether a column may hold dates, before all are parsed


def parse_date(text: str, form: str) -> np.datetime64 | None:
    """The date that a text says in a format; None where it says none."""
    try:
        if form != ISO:
            return np.datetime64(datetime.strptime(text, form), "us")
        return as_datetime64(datetime.fromisoformat(text)) if re.match(r"\d{4}-\d\d-\d\d", text) else None
    except ValueError:
        return None


def as_datetime64(value: date) -> np.datetime64:
    """A date or a time of Python (or of pandas) in microseconds, in UTC where it has a time zone."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def parse_dates(texts: Iterable[str | None], form: str) -> tuple[Array, list[str]]:
    """The dates of texts (NaT where there is none), and the texts that are no dates in this format."""
    known: dict[str | None, np.datetime64 | None] = {None: np.datetime64("NaT", "us")}
    wrong, found = [], []
    for text in texts:
        if text not in known:
            known[text] = parse_date(str(text), form)
        value = known[text]
        if value is None:
            wrong.append(str(text))
            value = known[None]
        found.append(value)
    return np.array(found, dtype="datetime64[us]"), wrong


def find_format(texts: list[str], column: str) -> str | None:
    """The format of a column of dates; None where it holds something else.

    Raises
    ------
    ValueError
        Where some values are dates in one format and others in another one.
    """
    if not texts or not any(_may_be_date(text) for text in texts[:N_TRIED]):
        return None
    distinct = list(dict.fromkeys(texts))
    tried = distinct[:N_TRIED]
    likely = [form for form in FORMATS if any(parse_date(text, form) is not None for text in tried)]
    if sum(any(parse_date(text, form) is not None for form in likely) for text in tried) < MIN_DATE_SHARE * len(tried):
        return None
    readable = {form: {text for text in distinct if parse_date(text, form) is not None} for form in FORMATS}
    dates = set().union(*readable.values())
    if sum(text in dates for text in texts) < MIN_DATE_SHARE * len(texts):
        return None
    best = max(FORMATS, key=lambda form: len(readable[form]))
    others = [text for text in distinct if text in dates - readable[best]]
    if others:
        example = next(text for text in distinct if text in readable[best])
        raise ValueError(
            f"column {column!r} has dates in two formats, such as {example!r} and {others[0]!r}; write all of them as "
            f"{ISO}, or leave the column out"
        )
    return best


def _may_be_date(text: str) -> bool:
    return 6 <= len(text) <= 40 and any(map(str.isdigit, text)) and any(mark in text for mark in "-/. ")


def readable_format(form: str) -> str:
    """A format in letters that people know: DD/MM/YYYY."""
    for code, letters in LETTERS.items():
        form = form.replace(code, letters)
    return form
