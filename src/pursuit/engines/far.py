"""Rows that live elsewhere: questions go to a keeper beside them, and what is no plain answer stays with it.

    Keeper   lives where the rows are: answers, and keeps what was made there (views, gathered columns, curvatures)
    Far      here, in place of what is kept: which step made it, a few facts about it
    Step     a question whose answer stayed: asked of what, with which arguments

A keeper may be lost with its process at any time. Its successor has the same rows and nothing else, says so when it is
asked about something it does not have, and gets the steps that made it. They are functions of the rows and of what was
sent, so the answer has the same bits.
"""

import contextlib
import copy
import itertools
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .questions import Ask
from .threads import threads

ROWS = 0  # the token of the rows themselves
_tokens = itertools.count(1)


class Kept(NamedTuple):
    """In a message or an answer: something the keeper has, as a token and the way to it inside that answer."""

    token: int
    way: tuple[int, ...]
    facts: dict[str, Any] | None = None


class Lost(NamedTuple):
    """The answer of a keeper that does not have what it was asked about."""

    token: int


class Raised(NamedTuple):
    """The answer is an exception."""

    error: Exception


@dataclass(frozen=True)
class Message:
    """A question, of what, with which own arguments; ``token``: of what stays of its answer."""

    ask: Callable[..., Any]
    of: Kept
    own: tuple[Any, ...]
    token: int


class Keeper:
    """Answers for some rows, where they are; on as many threads as the plan says, wherever that is."""

    def __init__(self, rows: Any, count: int = 1) -> None:
        self.kept: dict[int, Any] = {ROWS: rows}
        self.count = count

    def present(self) -> bool:
        return True

    def ask(self, message: Message, before: Sequence[Message] = (), forget: Sequence[int] = ()) -> Any:
        """The answer; ``before``: how to make again what may be missing; ``forget``: what nobody needs any more."""
        for token in forget:
            self.kept.pop(token, None)
        with threads(self.count), np.errstate(all="ignore"):
            try:
                for step in before:
                    if step.token not in self.kept:
                        self.kept[step.token] = self._run(step)
                answer = self._run(message)
            except _MissingError as missing:
                return Lost(missing.token)
            except Exception as error:
                return Raised(_portable(error))  # not to be taken for one of the way here
        plain = _sent(answer, message.token, ())
        if _stays(plain):
            self.kept[message.token] = answer
        return plain

    def _run(self, message: Message) -> Any:
        return message.ask(self._find(message.of), *(self._find(own) for own in message.own))

    def _find(self, it: Any) -> Any:
        if isinstance(it, Kept):
            if it.token not in self.kept:
                raise _MissingError(it.token)
            found = self.kept[it.token]
            for i in it.way:
                found = found[i]
            return found
        if type(it) in (list, tuple):
            return type(it)(self._find(each) for each in it)
        return it


def _portable(error: Exception) -> Exception:
    """The error, or one that says the same where it cannot be made anew from its arguments elsewhere."""
    try:
        copy.deepcopy(error)
        return error
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")


class _MissingError(Exception):
    def __init__(self, token: int) -> None:
        self.token = token


_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.ndarray, np.generic, np.dtype)


def _sent(answer: Any, token: int, way: tuple[int, ...]) -> Any:
    """An answer as it is sent: numbers and arrays as they are, all else by the way to it."""
    if isinstance(answer, _PLAIN):
        return answer
    if isinstance(answer, tuple | list):
        parts = [_sent(part, token, (*way, i)) for i, part in enumerate(answer)]
        return type(answer)(*parts) if hasattr(answer, "_fields") else type(answer)(parts)
    if getattr(type(answer), "travels", False):
        return answer
    return Kept(token, way, {name: getattr(answer, name) for name in getattr(type(answer), "facts", ())})


def _stays(answer: Any) -> bool:
    if isinstance(answer, Kept):
        return True
    return isinstance(answer, tuple | list) and any(_stays(part) for part in answer)


class Step:
    """A question whose answer stayed with bundle ``place``; what it was asked with is held, so that it can be again."""

    def __init__(self, place: int, token: int, ask: Any, of: "Far | None", own: tuple[Any, ...]) -> None:
        self.place, self.token, self.ask, self.of, self.own = place, token, ask, of, own

    def message(self) -> Message:
        return Message(self.ask, ROOT if self.of is None else self.of.kept, _kept(self.own), self.token)

    def lineage(self, seen: dict[int, Message]) -> dict[int, Message]:
        """How to make it again, the first steps first."""
        if self.token not in seen:
            for far in _fars((self.of, *self.own)):
                if far.step is not None:
                    far.step.lineage(seen)
            seen[self.token] = self.message()
        return seen


ROOT = Kept(ROWS, ())


class Far:
    """Something that stays with the rows; facts about it came along, what else it has is asked for."""

    near = False

    def __init__(self, each: "FarMap", place: int, step: Step | None, way: tuple[int, ...], facts: Any) -> None:
        self.each, self.place, self.step, self.way = each, place, step, way
        self.__dict__.update(facts or {})

    @property
    def kept(self) -> Kept:
        return ROOT if self.step is None else Kept(self.step.token, self.way)

    def __reduce__(self) -> Any:
        raise TypeError("rows that live elsewhere stay there: what refers to them cannot be pickled")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.__dict__[name] = self.each(Ask("__getattribute__", name), [self])[0]
        return self.__dict__[name]


def _fars(given: Any) -> Iterator[Far]:
    if isinstance(given, Far):
        yield given
    elif type(given) in (list, tuple):
        for each in given:
            yield from _fars(each)


def _kept(given: Any) -> Any:
    """Arguments as they are sent."""
    if isinstance(given, Far):
        return given.kept
    return type(given)(_kept(each) for each in given) if type(given) in (list, tuple) else given


#: Delivers messages to bundles, all at once, and gives their answers in that order: place, message, before, forget.
Post = Callable[[Sequence[tuple[int, tuple[Message, Sequence[Message], Sequence[int]]]]], list[Any]]


class FarMap:
    """Asks bundles of rows that are elsewhere; a ``Map``, whose parts are ``Far``."""

    def __init__(self, post: Post, places: int) -> None:
        self.post = post
        self.dead: list[list[int]] = [[] for _ in range(places)]
        self.rows = [Far(self, place, None, (), None) for place in range(places)]

    def __call__(self, ask: Callable[..., Any], parts: Sequence[Far], /, *own: Sequence[Any]) -> list[Any]:
        steps = [
            Step(part.place, next(_tokens), ask, part, given)
            for part, *given_ in zip(parts, *own, strict=True)
            for given in [tuple(given_)]
        ]
        letters = [(step.place, (step.message(), (), self._forget(step.place))) for step in steps]
        answers = self.post(letters)
        lost = [i for i, answer in enumerate(answers) if isinstance(answer, Lost)]
        if lost:
            again = [(steps[i].place, (steps[i].message(), self._before(steps[i]), ())) for i in lost]
            for i, answer in zip(lost, self.post(again), strict=True):
                answers[i] = answer
        for answer in answers:
            if isinstance(answer, Raised):
                raise answer.error
        return [self._made(answer, step) for answer, step in zip(answers, steps, strict=True)]

    def _before(self, step: Step) -> list[Message]:
        return [message for token, message in step.lineage({}).items() if token != step.token]

    def _forget(self, place: int) -> list[int]:
        dead, self.dead[place] = self.dead[place], []
        return dead

    def _made(self, answer: Any, step: Step) -> Any:
        """The answer with ``Far`` for what stayed behind; when nobody holds one of those any more, it is forgotten."""
        if not _stays(answer):
            return answer
        weakref.finalize(step, _bury, weakref.ref(self), step.place, step.token)
        return self._filled(answer, step)

    def _filled(self, answer: Any, step: Step) -> Any:
        if isinstance(answer, Kept):
            return Far(self, step.place, step, answer.way, answer.facts)
        if isinstance(answer, tuple | list):
            parts = [self._filled(part, step) for part in answer]
            return type(answer)(*parts) if hasattr(answer, "_fields") else type(answer)(parts)
        return answer


def _bury(each: Any, place: int, token: int) -> None:
    alive = each()
    if alive is not None:
        with contextlib.suppress(IndexError):
            alive.dead[place].append(token)
