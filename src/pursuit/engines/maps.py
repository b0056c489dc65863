"""Ways to ask several parts the same question, and the sum of their answers: in the order of the parts, always."""

import contextvars
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

import numpy as np

from .. import _core

T = TypeVar("T")


class Map(Protocol):
    """``each(ask, parts, *own)``: one answer per part, in their order; each of ``own`` has one entry per part."""

    def __call__(self, ask: Callable[..., T], parts: Sequence[object], /, *own: Sequence[object]) -> list[T]: ...


def in_turn(ask: Callable[..., T], parts: Sequence[object], /, *own: Sequence[object]) -> list[T]:
    """One part after the other: each has all of the kernels' threads."""
    return [ask(*given) for given in zip(parts, *own, strict=True)]


def in_threads(ask: Callable[..., T], parts: Sequence[object], /, *own: Sequence[object]) -> list[T]:
    """As many parts at once as the kernels have threads, each with its share of them."""
    return list(streamed(ask, parts, *own))


def streamed(ask: Callable[..., T], parts: Sequence[object], /, *own: Sequence[object]) -> Generator[T, None, None]:
    """The answers of ``in_threads``, each when it and those before it are there; who closes it early stops it."""
    workers = min(len(parts), _core.get_threads())
    if workers <= 1:
        for given in zip(parts, *own, strict=True):
            yield ask(*given)
        return
    share = max(1, _core.get_threads() // workers)
    contexts = [contextvars.copy_context() for _ in parts]  # the deadline is in it

    def answer(context: contextvars.Context, *given: object) -> T:
        _core.set_threads(share)
        with np.errstate(all="ignore"):
            return context.run(ask, *given)

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(answer, contexts, parts, *own)


def summed(each: Map, ask: Callable[..., T], parts: Sequence[object], /, *own: Sequence[object]) -> T:
    """The sum of the results; a serial map adds each as it comes, so that no two are in memory."""
    if each is in_turn:
        return total(ask(*given) for given in zip(parts, *own, strict=True))
    return total(each(ask, parts, *own))


def total(answers: Iterable[T]) -> T:
    """The sum of answers, which are numbers, arrays, None, or tuples of these; the first one's arrays are added to."""
    answers = iter(answers)
    whole = next(answers)
    for answer in answers:
        whole = _plus(whole, answer)
    return whole


def _plus(a: Any, b: Any) -> Any:
    if isinstance(a, tuple):
        parts = [_plus(u, v) for u, v in zip(a, b, strict=True)]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, np.ndarray):
        a += b
        return a
    return None if a is None else a + b
