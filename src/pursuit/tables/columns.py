"""How one column of a table becomes numbers: learned from training rows, done again on others, kept as JSON."""

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._utils.row_order import warn_at_caller
from .._utils.types import JSON, Array, Keywords, Vector
from .._utils.validation import format_list
from .dates import ISO, find_format
from .values import MIN_NUMBER_SHARE, Values, read_values, to_dates, to_levels, to_numbers

MAX_STORED_POOLED = 1000  # levels: with more of them in "other", new ones are not distinguished from those
MIN_COUNTED_ROWS = 10  # fewer rows number themselves 1, 2, ... by chance
_MIXED_CASE_ID = re.compile(r"[a-z](?:Id|ID)$")
_WORD_ID = re.compile(r"(?:^|[_\s.-])(?:id|key|uuid|guid)$", re.IGNORECASE)


class Rules(NamedTuple):
    """The parameters of a :class:`TablePreparer`."""

    max_levels: int
    min_share: float
    indicator_share: float
    drop_ids: bool
    drop_constants: bool


@dataclass(frozen=True)
class LeftOut:
    """A column that gives no feature, and why."""

    reason: str
    suffixes: ClassVar[tuple[str, ...]] = ()

    def transform(self, array: Array, name: str, notes: list[str]) -> list[Vector]:
        return []


@dataclass(frozen=True)
class NumberColumn:
    """Numbers; missing ones are the median, with an indicator where they are frequent.

    ``value``: whether the number is a feature (not where it is constant); ``text``: whether numbers are written as
    text, of which all others count as missing, ``ignored`` without a warning; ``missing``: of the training rows, how
    many were.
    """

    median: float
    value: bool = True
    indicator: bool = False
    text: bool = False
    missing: int = 0
    ignored: tuple[str, ...] = ()
    kind: ClassVar[str] = "number"

    @property
    def suffixes(self) -> tuple[str, ...]:
        return ("",) * self.value + ("=missing",) * self.indicator

    def transform(self, array: Array, name: str, notes: list[str]) -> list[Vector]:
        numbers, wrong = to_numbers(array)
        if wrong and not self.text:
            raise ValueError(f"column {name!r} held numbers at fit, and now {wrong[0][:30]!r}")
        self._note_unreadable(wrong, f"{name!r} has no number", notes)
        return self._fill(numbers, name, notes)

    def _note_unreadable(self, texts: list[str], what: str, notes: list[str]) -> None:
        new = [text for text in texts if text not in self.ignored]
        if new:
            notes.append(f"{what} in {_rows(len(new))}, such as {new[0][:30]!r}")

    def _fill(self, numbers: Vector, name: str, notes: list[str]) -> list[Vector]:
        if np.isinf(numbers).any():
            raise ValueError(f"X contains infinity in column {name!r}")
        missing = np.isnan(numbers)
        count = int(missing.sum())
        if count and not self.missing:
            notes.append(f"{name!r} is missing in {_rows(count)}, which have the median now")
        filled = np.where(missing, self.median, numbers) if count else numbers
        return [filled] * self.value + [missing.astype(np.float64)] * self.indicator


@dataclass(frozen=True)
class DateColumn(NumberColumn):
    """Dates as days since the first one; ``form`` is the format of dates that are text."""

    first: str = "1970-01-01"
    form: str | None = None
    kind: ClassVar[str] = "date"

    def transform(self, array: Array, name: str, notes: list[str]) -> list[Vector]:
        dates, wrong = to_dates(array, self.form or ISO)
        self._note_unreadable(wrong, f"{name!r} has no date ({self.form or ISO})", notes)
        return self._fill(days_since(dates, self.first), name, notes)


@dataclass(frozen=True)
class CategoryColumn:
    """Levels as dummies in one group; rows of the ``reference`` have zeros.

    ``levels`` have a dummy each; so do all pooled ones together where ``other``, and missing ones where ``missing``,
    under these names. ``pooled`` are the levels behind "other", None where they are too many to keep.
    """

    reference: str
    levels: tuple[str, ...]
    other: str | None = None
    missing: str | None = None
    pooled: tuple[str, ...] | None = ()
    n_pooled: int = 0
    kind: ClassVar[str] = "category"

    @property
    def dummies(self) -> tuple[str, ...]:
        return (*self.levels, *(name for name in (self.other, self.missing) if name is not None))

    @property
    def suffixes(self) -> tuple[str, ...]:
        return tuple(f"={level}" for level in self.dummies)

    def transform(self, array: Array, name: str, notes: list[str]) -> list[Vector]:
        place = {level: j for j, level in enumerate(self.dummies)}
        known: dict[str | None, int] = {level: place[level] for level in self.levels}
        known[self.reference] = -1
        rest = -1 if self.other is None else place[self.other]
        known |= dict.fromkeys(set(self.pooled or ()) - known.keys(), rest)
        known[None] = rest if self.missing is None else place[self.missing]
        levels = to_levels(array).tolist()
        new = Counter(level for level in levels if level not in known) if self.pooled is not None else Counter()
        codes = np.array([known.get(level, rest) for level in levels], dtype=np.int64)
        if new:
            counted = (
                f"all {len(self.dummies)} dummies are 0" if self.other is None else f"they count as {self.other!r}"
            )
            shown = format_list([repr(level[:30]) for level, _ in new.most_common()], 3)
            notes.append(f"{name!r} has levels that were not there at fit in {_rows(new.total())} ({shown}): {counted}")
        return [(codes == j).astype(np.float64) for j in range(len(self.dummies))]


Column = LeftOut | NumberColumn | CategoryColumn


def fit_column(array: Array, categorical: bool, name: str, rules: Rules) -> Column:
    """How to prepare a column, learned from its training rows."""
    values = read_values(array, categorical)
    more: Keywords = {}
    if values.kind == "text" and not categorical:
        values, more = _reread(values, name)
    if rules.drop_ids and is_id(values, name):
        return LeftOut("an id")
    if values.kind == "text":
        return _fit_category(values.array, rules)
    return _fit_number(values, name, rules, more)


def is_id(values: Values, name: str) -> bool:
    """Whether a column tells rows apart and nothing else: all different, and an id by its name or a row number."""
    array = values.array
    if values.kind == "date" or (values.kind == "number" and not values.whole) or len(array) < 2:
        return False
    if values.kind == "number":
        counted = len(array) >= MIN_COUNTED_ROWS and array[0] in (0, 1)
        if counted and np.array_equal(array, np.arange(len(array)) + array[0]):
            return True
    if not (_WORD_ID.search(name) or _MIXED_CASE_ID.search(name)):
        return False
    entries = array.tolist()
    return None not in entries and len(set(entries)) == len(entries)


def days_since(dates: Array, first: str) -> Vector:
    """Days, with fractions, since a date; NaN where there is none."""
    return np.asarray((dates - np.datetime64(first, "us")) / np.timedelta64(1, "D"), dtype=np.float64)


def column_to_json(column: NumberColumn | CategoryColumn) -> JSON:
    """A column as JSON values."""
    fields = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(column).items()}
    return {"kind": column.kind, **fields}


def column_from_json(entry: object) -> NumberColumn | CategoryColumn:
    """A column from JSON values; TypeError says what they must be."""
    kinds: dict[object, Any] = {kind.kind: kind for kind in (NumberColumn, DateColumn, CategoryColumn)}
    kind = kinds.get(entry.get("kind")) if isinstance(entry, dict) else None
    if kind is None or not isinstance(entry, dict):
        raise TypeError(f"an object whose kind is {', '.join(map(str, kinds))}")
    fields = {field.name: _CHECKS[field.type] for field in dataclasses.fields(kind)}
    parameters = {name: value for name, value in entry.items() if name in fields}
    for name, value in parameters.items():
        if not fields[name](value):
            raise TypeError(f"a {kind.kind} column whose {name} is not {value!r}")
    try:
        column = kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in parameters.items()})
        if isinstance(column, DateColumn):
            np.datetime64(column.first, "us")
    except (TypeError, ValueError):
        raise TypeError(f"a {kind.kind} column with all its fields") from None
    if len(set(column.suffixes)) != len(column.suffixes):
        raise TypeError("a category whose levels are different")
    return column


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


Check = Callable[[Any], bool]  # of a value that a field may have


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


_CHECKS: dict[object, Check] = {
    float: lambda value: isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value),
    int: lambda value: isinstance(value, int) and not isinstance(value, bool),
    bool: lambda value: isinstance(value, bool),
    str: _is_text,
    str | None: _optional(_is_text),
    tuple[str, ...]: _texts,
    tuple[str, ...] | None: _optional(_texts),
}


def _reread(values: Values, name: str) -> tuple[Values, Keywords]:
    """Texts that are dates or numbers as such, with how to read them; else as they are."""
    texts = values.array
    present = [text for text in texts.tolist() if text is not None]
    form = find_format(present, name)
    if form is not None:
        dates, wrong = to_dates(texts, form)
        return Values("date", dates), {"text": True, "form": form, "ignored": _distinct(wrong)}
    numbers, wrong = to_numbers(texts)
    if not present or len(wrong) > (1 - MIN_NUMBER_SHARE) * len(present):
        return values, {}
    whole = not wrong and bool(np.all(numbers % 1 == 0))
    return Values("number", numbers, whole), {"text": True, "ignored": _distinct(wrong)}


def _distinct(texts: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))[:MAX_STORED_POOLED]


def _fit_number(values: Values, name: str, rules: Rules, more: Keywords) -> Column:
    numbers, kind = values.array, NumberColumn
    if values.kind == "date":
        kind, first = DateColumn, "1970-01-01" if np.isnat(numbers).all() else str(np.nanmin(numbers))
        numbers, more = days_since(numbers, first), {**more, "first": first}
    if np.isinf(numbers).any():
        raise ValueError(f"X contains infinity in column {name!r}")
    missing = np.isnan(numbers)
    count = int(missing.sum())
    if count == len(numbers):
        return LeftOut("all values are missing") if rules.drop_constants else kind(0.0, missing=count, **more)
    present = numbers[~missing] if count else numbers
    constant = rules.drop_constants and bool(present.min() == present.max())
    indicator = count > rules.indicator_share * len(numbers)
    if constant and not indicator:
        return LeftOut("constant")
    return kind(float(np.median(present)), value=not constant, indicator=indicator, missing=count, **more)


def _fit_category(texts: Array, rules: Rules) -> Column:
    counts = Counter(texts.tolist())
    rows, missing = len(texts), counts.pop(None, 0)
    if not counts:
        return LeftOut("all values are missing")
    ranked = sorted(counts, key=lambda level: (-counts[level], level))
    levels = [level for level in ranked[: rules.max_levels] if counts[level] >= rules.min_share * rows]
    pooled = ranked[len(levels) :]
    own_missing = missing >= max(rules.min_share * rows, 1)
    if missing and not own_missing and not pooled and len(levels) == 1:
        return LeftOut("constant")
    has_other = bool(pooled) or (missing > 0 and not own_missing)
    if len(levels) + has_other + own_missing == 1:
        return LeftOut("constant" if levels else f"no level is in {rules.min_share:.0%} of the rows")
    other, absent = _free_name("other", counts), _free_name("missing", counts)
    reference = levels.pop(0) if levels else other
    return CategoryColumn(
        reference,
        tuple(sorted(levels)),
        other if has_other and reference != other else None,
        absent if own_missing else None,
        tuple(pooled) if len(pooled) <= MAX_STORED_POOLED else None,
        len(pooled),
    )


def _free_name(name: str, taken: Container[str]) -> str:
    while name in taken:
        name += "_"
    return name


def warn_notes(notes: list[str]) -> None:
    """Warn once of what other rows hold than the training rows, at the user's line."""
    if notes:
        warn_at_caller(f"the table differs from the one at fit: {'; '.join(notes)}")


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
