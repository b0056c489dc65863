"""Checkpoints: what a run has come to, in a file that is whole at every moment, so that a killed run can go on.

A file is an npz without pickles: a header (JSON: version, the problem it belongs to, what is told) and arrays. It is
written beside its place, flushed to the disk and renamed, so that after a kill the last complete one is there.

A file belongs to one problem: the sparse set, the solver with its options, the objective's own marks and the null model
(its value, and its gradient by two numbers), which tells other data apart.
"""

import io
import json
import os
import time
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ._errors import listed
from ._types import Vector
from .constraints import AtMost, Exchange
from .data.disk.write import synced
from .objectives.base import Objective
from .objectives.point import Point
from .solvers.base import Solver

VERSION = 1
EVERY, PATIENT = 1.0, 20  # seconds between two writings, and how many times what one takes they are apart at least
AGREES = 1e-7  # share by which numbers of the same null model may differ: other threads, other blocks

Arrays = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """What a checkpoint belongs to: words that must be equal, numbers that must agree."""

    words: dict[str, Any]
    numbers: list[float]

    @classmethod
    def of(cls, f: Objective, constraint: AtMost, name: str, method: Solver, **more: Any) -> "Problem":
        null = f.null
        g = null.gradient
        own = {"include": constraint.include, "exclude": constraint.exclude, "groups": constraint.unit_of}
        words = {
            **f.marks(), "k": constraint.k, **{key: digest(value) for key, value in own.items()}, "solver": name,
            "options": {key: str(value) for key, value in vars(method).items()}, **more,
        }  # fmt: skip
        numbers = [float(null.value), float(np.linalg.norm(g)), float(g @ np.cos(1.7 * np.arange(len(g))))]
        return cls(json.loads(json.dumps(words)), numbers)

    def differs(self, header: dict[str, Any]) -> str:
        """In what a file's problem is another one; "" where it is this."""
        theirs = header["problem"]
        wrong = [key for key in {**self.words, **theirs} if self.words.get(key) != theirs.get(key)]
        if wrong:
            return f"with another {listed(sorted(wrong))}"
        room = AGREES * max(abs(self.numbers[0]), abs(self.numbers[1]), 1e-300)
        same = len(header["numbers"]) == 3 and np.allclose(header["numbers"], self.numbers, rtol=AGREES, atol=room)
        return "" if same else "of other data"


class Checkpoint:
    """One file for one problem; ``told`` and ``arrays`` are what it held when it was opened (None: there was none)."""

    def __init__(self, path: Any, problem: Problem) -> None:
        try:
            self.path = Path(path)
        except TypeError:
            raise TypeError(f"checkpoint must be a path, got {type(path).__name__}") from None
        if not self.path.parent.is_dir():
            raise ValueError(f"checkpoint {self.path} cannot be written: there is no folder {self.path.parent}")
        self.problem, self.next = problem, time.monotonic() + EVERY
        self.told: dict[str, Any] | None = None
        self.arrays: Arrays = {}
        if self.path.exists():
            self._read()

    def _read(self) -> None:
        try:
            with open(self.path, "rb") as file, np.load(file, allow_pickle=False) as held:
                arrays = {key: held[key] for key in held.files}  # each is checked against its checksum
            header = json.loads(bytes(arrays.pop("header")).decode())
            version, told = header["version"], header["told"]
        except OSError as error:
            raise ValueError(f"checkpoint {self.path} cannot be read: {error.strerror or error}") from None
        except (ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(f"checkpoint {self.path} is damaged, or no checkpoint ({error}); remove it") from None
        if version != VERSION:
            raise ValueError(f"checkpoint {self.path} has version {version}, and this pursuit reads version {VERSION}")
        wrong = self.problem.differs(header)
        if wrong:
            raise ValueError(f"checkpoint {self.path} is of another problem: {wrong}; remove it, or name another file")
        self.told, self.arrays = told, arrays

    @property
    def due(self) -> bool:
        """Whether it is time to write again."""
        return time.monotonic() >= self.next

    def write(self, told: dict[str, Any], arrays: Arrays) -> None:
        """All of it, so that at any moment the file is this one or the one before."""
        began = time.monotonic()
        header = {"version": VERSION, "problem": self.problem.words, "numbers": self.problem.numbers, "told": told}
        whole = io.BytesIO()
        np.savez(whole, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)
        half = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        try:
            with open(half, "wb") as file:
                file.write(whole.getbuffer())
                file.flush()
                os.fsync(file.fileno())
            os.replace(half, self.path)
            synced(self.path.parent)
        finally:
            half.unlink(missing_ok=True)
        took = time.monotonic() - began
        self.next = began + took + max(EVERY, PATIENT * took)


def digest(values: Any) -> Any:
    """A few numbers as they are, many by their checksum."""
    if values is None:
        return None
    array = np.ascontiguousarray(values)
    return array.tolist() if array.size <= 20 else f"{array.size} of them, {zlib.crc32(array.tobytes()):08x}"


def packed(points: Sequence[Point]) -> tuple[list[dict[str, Any]], Arrays]:
    """Points as words and arrays; their gradients are not kept."""
    words = [
        {"dim": point.dim, "refitted": bool(point.refitted), "note": point.note, "minimiser": bool(point.minimiser),
         "optimality": point.optimality, "exchange": None if point.exchange is None else list(point.exchange),
         "looked_at": int(point.looked_at), "open": int(point.open), "free": np.shape(point.free)}
        for point in points
    ]  # fmt: skip
    known = [[point.value, _number(point.lower), _number(point.least)] for point in points]
    arrays = {
        "sizes": np.array([len(point.support) for point in points], np.int64),
        "supports": joined([point.support for point in points], np.int64),
        "coefs": joined([point.coef for point in points], np.float64),
        "free": joined([np.ravel(point.free) for point in points], np.float64),
        "known": np.array(known, np.float64).reshape(-1, 3),
    }
    return words, arrays


def unpacked(f: Objective, words: list[dict[str, Any]], arrays: Arrays) -> list[Point]:
    """The points again; a gradient is computed where it is asked for."""
    points, ends = [], np.cumsum(arrays["sizes"])
    at = 0
    for i, told in enumerate(words):
        own = slice(ends[i] - arrays["sizes"][i], ends[i])
        many = int(np.prod(told["free"], dtype=int))
        free = arrays["free"][at : at + many].reshape(told["free"])
        at += many
        value, lower, least = (None if np.isnan(x) else float(x) for x in arrays["known"][i])
        told = {**told, "free": free if told["free"] else float(free)}
        move = told["exchange"]
        exchange = None if move is None else Exchange(tuple(move[0]), tuple(move[1]), move[2])
        points.append(
            restored(f, arrays["supports"][own], arrays["coefs"][own], value=value, lower=lower, least=least,
                     **{**told, "exchange": exchange})
        )  # fmt: skip
    return points


def restored(f: Objective, support: Any, coef: Any, free: Any, gradient: Vector | None = None, **known: Any) -> Point:
    """A point of f that was kept without its way to the data."""

    def slope() -> Vector:
        if gradient is not None:
            return gradient.copy()
        g = f.at(support, coef, free).gradient.copy()
        if known["refitted"]:
            g[support] = 0.0
        return g

    return Point(support=support, coef=coef, free=free, slope=slope, **known).owned(f)


def joined(pieces: list[Any], dtype: Any) -> Any:
    """Arrays after arrays."""
    return np.concatenate([np.empty(0, dtype), *pieces]).astype(dtype)


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)
