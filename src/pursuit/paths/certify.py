"""Bounds for every size of a path: each from what the one before has left, and from what the next one says of it.

A minimum over at most k units never rises with k: so a lower bound of size k is one of every smaller size, and a
solution of size k is one of every larger. With the dual variables a of size k + 1, D(a) for size k is better still.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .._utils.text import format_number, format_paragraphs, format_table
from .._utils.validation import check_count, check_number, format_list, require_package
from ..certificates.api import OPTIMAL, certify_from
from ..certificates.certificate import Certificate
from ..certificates.tree import Progress
from ..certificates.warm_start import WarmStart
from ..objectives.glm import GLM
from ..solving.result import Result

if TYPE_CHECKING:
    from pandas import DataFrame

    from .result import Path

INTERRUPTED = "bounded only: interrupted by the user"


class Certificates(list[Certificate]):
    """One :class:`pursuit.Certificate` per size, smallest first; ``print`` shows them as a table."""

    def __init__(self, rows: Iterable[Certificate] = (), *, ks: Sequence[int] = ()) -> None:
        super().__init__(rows)
        self.ks = tuple(ks)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (list(self), self.ks)

    @property
    def proved(self) -> tuple[int, ...]:
        """The sizes whose solution is proved."""
        return tuple(k for k, row in zip(self.ks, self, strict=True) if row.status == "proved")

    def at(self, k: int) -> Certificate:
        """The certificate of size k."""
        k = check_count(k, "k")
        if k not in self.ks:
            raise KeyError(f"there is no certificate of size {k}; there are {format_list(self.ks, 12)}")
        return self[self.ks.index(k)]

    def to_frame(self) -> "DataFrame":
        """A pandas DataFrame with a row per size."""
        pd = require_package("pandas", "io", "to_frame")
        return pd.DataFrame(
            [
                {
                    "k": k,
                    "lower": row.lower,
                    "upper": row.upper,
                    "rel_gap": row.rel_gap,
                    "status": row.status,
                    "nodes": row.nodes,
                    "seconds": row.seconds,
                    "reason": row.reason,
                }
                for k, row in zip(self.ks, self, strict=True)
            ]
        )

    def __str__(self) -> str:
        if not self:
            return "no certificates"
        rows = [
            [
                str(k),
                format_number(row.lower, 7),
                format_number(row.upper, 7),
                f"{row.rel_gap:.1e}",
                row.status,
                str(row.nodes),
            ]
            for k, row in zip(self.ks, self, strict=True)
        ]
        body = format_table(["k", "lower", "upper", "rel. gap", "status", "nodes"], rows, [4])
        left = sorted({row.reason for row in self if row.status != "proved"})
        return "\n\n".join(part for part in (body, format_paragraphs(f"{s[0].upper()}{s[1:]}." for s in left)) if part)

    __repr__ = __str__


def _rebuild(rows: list[Certificate], ks: tuple[int, ...]) -> Certificates:
    return Certificates(rows, ks=ks)


def certify_path(
    path: "Path",
    objective: GLM,
    time_limit: float | None,
    gap: float,
    progress: Callable[[int, Progress], object] | None,
) -> Certificates:
    """A certificate per size, smallest first."""
    began = time.perf_counter()
    gap = check_number(gap, "gap", strict=True)
    limit = None if time_limit is None else check_number(time_limit, "time_limit")
    hand, rows = WarmStart(), Certificates(ks=path.sizes)
    stopped = False
    for turn, (k, result) in enumerate(zip(path.sizes, path, strict=True)):
        own = limit
        if limit:
            own = max(0.0, began + limit - time.perf_counter()) / (len(path) - turn)
        given = _better(result, rows[-1]) if rows else result
        try:
            row = certify_from(
                hand, objective, given, gap=gap, time_limit=0.0 if stopped else own, progress=_callback(progress, k)
            )
        except KeyboardInterrupt:  # what is proved so far is kept
            stopped = True
            row = certify_from(hand, objective, given, gap=gap, time_limit=0.0)
        if stopped and row.status != "proved":
            row = replace(row, reason=INTERRUPTED)
        if rows and result.bounds is None and result.sum_to is None:
            before = rows[-1]
            rows[-1] = _raised(before, hand.bound(objective, before.result.constraint), gap)
        rows.append(row)
        if progress is not None:
            progress(k, Progress(row.lower, row.upper, 0, row.nodes, row.seconds))
    for i in range(len(rows) - 2, -1, -1):
        rows[i] = _raised(rows[i], rows[i + 1].lower, gap)
    return rows


def _callback(progress: Callable[[int, Progress], object] | None, k: int) -> Callable[[Progress], None] | None:
    if progress is None:
        return None

    def report(now: Progress) -> None:
        progress(k, now)

    return report


def _better(result: Result, before: Certificate) -> Result:
    """A size's result, or the smaller size's where a proof has found one that is better."""
    if before.upper >= result.value:
        return result
    return replace(before.result, k=result.k, constraint=result.constraint, certificate="none")


def _raised(row: Certificate, lower: float, gap: float) -> Certificate:
    """The certificate with a higher bound, if it is one."""
    lower = min(lower, row.upper)
    if lower <= row.lower:
        return row
    row = replace(row, lower=lower)
    if row.status == "proved" or row.rel_gap > gap:
        return row
    return replace(row, status="proved", reason=OPTIMAL, result=replace(row.result, certificate="proved"))
