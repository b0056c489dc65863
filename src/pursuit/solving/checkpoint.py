"""Checkpoint files, written atomically, from which a killed run continues.

A file is an npz without pickles: a header (JSON: version, the problem it belongs to, the contents) and arrays. It is
written beside its place, flushed to the disk and renamed, so that after a kill the last complete one is there. While a
run uses a file it holds a lock, and a second run is refused.

A file belongs to one problem. Settings must be equal: the sparse set, the solver with its options, the loss, the ridge.
Data are recognised by their fingerprint (``Objective.fingerprint``), and the value of a point that is taken from a file
is computed anew before it is believed.
"""

import io
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from .._utils.files import FileLock, InUseError, atomic_write, remove_temporary_files
from .._utils.settings import settings_to_json
from .._utils.types import Array, ArrayLike, Columns, FilePath, Intercept, Keywords, Vector
from .._utils.validation import format_list
from ..constraints import AtMost, Exchange
from ..data.disk.write import synced
from ..objectives.base import Objective
from ..objectives.point import Point
from ..solvers.base import Solver

VERSION = 2
# seconds between two writes, at least; and in units of the time of the last
WRITE_INTERVAL, MIN_PAUSE_PER_WRITE = 1.0, 20
VALUE_TOLERANCE = 1e-6  # relative difference allowed between a stored value and the one computed anew
NULL_VALUE_TOLERANCE = 1e-11  # the same relative to the null model's value: a nearly exact fit has few digits left
MAX_CHECKED_POINTS = 8  # points of a path whose values are computed anew

POINT_FIELDS = {"looked_at": "n_checked", "open": "n_unchecked"}  # keys of the file that are named otherwise here
Arrays = Keywords


@dataclass(frozen=True)
class Problem:
    """What a checkpoint belongs to: settings that must be equal, numbers that must agree to within their rounding."""

    settings: Keywords
    numbers: list[tuple[float, float]]

    @classmethod
    def of(cls, f: Objective, constraint: AtMost, name: str, method: Solver, **more: object) -> "Problem":
        own = {"include": constraint.include, "exclude": constraint.exclude, "groups": constraint.unit_of}
        settings = {
            **f.problem_settings(),
            "k": constraint.k,
            **own,
            "solver": name,
            "options": vars(method),
            **more,
        }
        return cls(json.loads(json.dumps(settings_to_json(settings))), f.fingerprint())

    def difference(self, header: Keywords) -> str:
        """How the problem of a file differs from this one; "" where it does not."""
        theirs = header["problem"]
        wrong = [key for key in {**self.settings, **theirs} if self.settings.get(key) != theirs.get(key)]
        if wrong:
            return f"with another {format_list(sorted(wrong))}"
        pairs = list(zip(self.numbers, header["numbers"], strict=False))
        same = len(self.numbers) == len(header["numbers"]) and all(_agree(*mine, *other) for mine, other in pairs)
        return "" if same else "of other data"


def _agree(a: float, room: float, b: float, other: float) -> bool:
    return a == b or abs(a - b) <= max(room, other) or (np.isnan(a) and np.isnan(b))


class Checkpoint:
    """One file for one problem; ``contents`` and ``arrays`` are what it held when it was opened (None: there was none).

    It is locked until ``close``.
    """

    def __init__(self, path: FilePath, problem: Callable[[], Problem]) -> None:
        try:
            self.path = Path(path)
        except TypeError:
            raise TypeError(f"checkpoint must be a path, got {type(path).__name__}") from None
        if "\0" in str(self.path):  # Python's own words for it differ between versions, and name lstat
            raise ValueError(f"checkpoint {str(self.path)!r} cannot be written: the path contains a null character")
        if not os.path.isdir(self.path.parent):
            raise ValueError(f"checkpoint {self.path} cannot be written: there is no folder {self.path.parent}")
        if os.path.isdir(self.path):
            raise ValueError(f"checkpoint {self.path} is a folder; name a file in it")
        try:
            self.lock = FileLock(self.path)
        except InUseError:
            raise ValueError(
                f"checkpoint {self.path} is in use by another run; wait for its end, or name another file"
            ) from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise ValueError(f"checkpoint {self.path} cannot be written: {why}") from None
        self.contents: Keywords | None = None
        self.arrays: Arrays = {}
        try:
            remove_temporary_files(self.path)
            self.problem, self.next = problem(), time.monotonic() + WRITE_INTERVAL
            if self.path.exists():
                self._read()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file for other runs."""
        self.lock.release()

    def _read(self) -> None:
        try:
            file = open(self.path, "rb")  # noqa: SIM115 -- what goes wrong here is not the file's fault
        except OSError as error:
            raise ValueError(f"checkpoint {self.path} cannot be read: {error.strerror or error}") from None
        with file, self.reading():
            with np.load(file, allow_pickle=False) as held:
                arrays = {key: held[key] for key in held.files}  # each is checked against its checksum
            header = json.loads(bytes(arrays.pop("header")).decode())
            version, contents = header["version"], header["told"]
            wrong = self.problem.difference(header) if version == VERSION else ""
        if version != VERSION:
            raise ValueError(
                f"checkpoint {self.path} has version {version}, and this pursuit reads version {VERSION}; remove it"
            )
        if wrong:
            raise self._wrong_problem(wrong)
        self.contents, self.arrays = contents, arrays

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Report any exception as a damaged file: altered bytes may lead to any."""
        try:
            yield
        except Exception as error:
            self.close()
            raise ValueError(f"checkpoint {self.path} is damaged, or no checkpoint ({error}); remove it") from None

    def check_values(self, f: Objective, points: Sequence[Point]) -> None:
        """Refuse the file where f has other values at some of its points."""
        some = np.linspace(0, len(points) - 1, min(len(points), MAX_CHECKED_POINTS)).astype(int)
        for point in (points[i] for i in some):
            if not (np.isfinite(point.value) and np.isfinite(point.coef).all()):
                continue
            value = f.value_at(point)
            room = VALUE_TOLERANCE * abs(point.value) + NULL_VALUE_TOLERANCE * abs(f.null.value)
            if not abs(value - point.value) <= room:
                self.close()
                raise self._wrong_problem(f"of other data (its point has the value {value:.7g}, not {point.value:.7g})")

    def _wrong_problem(self, how: str) -> ValueError:
        return ValueError(f"checkpoint {self.path} is of another problem: {how}; remove it, or name another file")

    @property
    def due(self) -> bool:
        """Whether it is time to write again."""
        return time.monotonic() >= self.next

    def write(self, contents: Keywords, arrays: Arrays) -> None:
        """All of it, so that at any moment the file is this one or the one before."""
        began = time.monotonic()
        header = {
            "version": VERSION,
            "problem": self.problem.settings,
            "numbers": self.problem.numbers,
            "told": contents,
        }
        whole = io.BytesIO()
        np.savez(whole, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)
        with atomic_write(self.path) as file:
            file.write(whole.getbuffer())
        synced(self.path.parent)
        took = time.monotonic() - began
        self.next = began + took + max(WRITE_INTERVAL, MIN_PAUSE_PER_WRITE * took)


def pack_points(points: Sequence[Point]) -> tuple[list[Keywords], Arrays]:
    """Points as JSON entries and arrays, without their gradients."""
    words = [
        {
            "dim": point.dim,
            "refitted": bool(point.refitted),
            "note": point.note,
            "minimiser": bool(point.minimiser),
            "optimality": point.optimality,
            "exchange": None if point.exchange is None else list(point.exchange),
            "looked_at": int(point.n_checked),
            "open": int(point.n_unchecked),
            "free": np.shape(point.free),
        }
        for point in points
    ]
    known = [[point.value, _number(point.lower), _number(point.support_bound)] for point in points]
    arrays = {
        "sizes": np.array([len(point.support) for point in points], np.int64),
        "supports": concatenate([point.support for point in points], np.int64),
        "coefs": concatenate([point.coef for point in points], np.float64),
        "free": concatenate([np.ravel(point.free) for point in points], np.float64),
        "known": np.array(known, np.float64).reshape(-1, 3),
    }
    return words, arrays


def unpack_points(f: Objective, words: list[Keywords], arrays: Arrays) -> list[Point]:
    """The inverse of ``pack_points``; gradients are computed on first use."""
    points, ends = [], np.cumsum(arrays["sizes"])
    if len({int(arrays["sizes"].sum()), len(arrays["supports"]), len(arrays["coefs"])}) > 1:
        raise ValueError("its points and their coefficients differ in number")
    at = 0
    for i, contents in enumerate(words):
        own = slice(ends[i] - arrays["sizes"][i], ends[i])
        support, many = arrays["supports"][own], int(np.prod(contents["free"], dtype=int))
        if contents["dim"] != f.dim or (len(support) and (support[0] < 0 or support[-1] >= f.dim)):
            raise ValueError("a point has other columns than the data")
        free = arrays["free"][at : at + many].reshape(contents["free"])
        at += many
        value, lower, bound = (None if np.isnan(x) else float(x) for x in arrays["known"][i])
        move = contents["exchange"]
        fields = {POINT_FIELDS.get(key, key): entry for key, entry in contents.items()}
        fields["free"] = free if contents["free"] else float(free)
        fields["exchange"] = None if move is None else Exchange(tuple(move[0]), tuple(move[1]), move[2])
        coef = arrays["coefs"][own]
        points.append(restore_point(f, support, coef, value=value, lower=lower, support_bound=bound, **fields))
    return points


def restore_point(
    f: Objective, support: Columns, coef: Vector, free: Intercept, gradient: Vector | None = None, **known: Any
) -> Point:
    """A point of f from stored numbers, bound to its data again."""

    def slope() -> Vector:
        if gradient is not None:
            return gradient.copy()
        g = f.at(support, coef, free).gradient.copy()
        if known["refitted"]:
            g[support] = 0.0
        return g

    return Point(support=support, coef=coef, free=free, slope=slope, **known).bind(f)


def concatenate(pieces: Sequence[ArrayLike], dtype: DTypeLike) -> Array:
    """Arrays after arrays."""
    return np.concatenate([np.empty(0, dtype), *pieces]).astype(dtype)


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)
