"""Remote objects with replay: method calls go to a server beside the rows, and large results stay with it.

    RowServer     lives where the rows are: runs requests, holds results that stay (views, gathered columns, curvatures)
    RemoteRef     the local stand-in of such a result: which recorded call made it, and some attributes of it
    RecordedCall  a call whose result stayed: its target and its arguments, so that it can be replayed

A server may be lost with its process at any time. Its successor has the same rows and nothing else. It answers
``Evicted`` to a request about an object that it does not have, and receives the recorded calls that made the object.
These depend on the rows and on their arguments only, so the replayed result has the same bits.
"""

import contextlib
import copy
import itertools
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from .._utils.types import Keywords
from .threads import threads

ROOT_TOKEN = 0  # the token of the rows themselves
#: What may be read from a remote object; any other name is an AttributeError here, and not a remote call.
REMOTE_ATTRIBUTES = frozenset(
    ("dtype", "full", "products_only", "loss", "names", "nbytes", "outputs", "room", "shape", "weight")
)
_tokens = itertools.count(1)

T = TypeVar("T")


class Ask:
    """A method call by name; arguments that differ from part to part (``own``) come before the common ones."""

    __slots__ = ("args", "name")

    def __init__(self, name: str, *args: object) -> None:
        self.name, self.args = name, args

    def __call__(self, part: object, *own: object) -> Any:
        return getattr(part, self.name)(*own, *self.args)


class Handle(NamedTuple):
    """An object of the server in a request or a response: the token of a result, and the indices into it."""

    token: int
    path: tuple[int, ...]
    attributes: Keywords | None = None


class Evicted(NamedTuple):
    """The response of a server that does not have the object of this token."""

    token: int


class RemoteFailure(NamedTuple):
    """The response of a server whose call raised."""

    error: Exception


@dataclass(frozen=True)
class Request:
    """A call on ``target`` with the arguments ``own``; a result that stays is held under ``token``."""

    call: Callable[..., object]
    target: Handle
    own: tuple[object, ...]
    token: int


class RowServer:
    """Runs requests beside some rows, on ``count`` threads."""

    def __init__(self, rows: object, count: int = 1) -> None:
        self.objects: dict[int, object] = {ROOT_TOKEN: rows}
        self.count = count

    def present(self) -> bool:
        return True

    def handle(self, request: Request, replay: Sequence[Request] = (), release: Sequence[int] = ()) -> object:
        """The response; ``replay``: calls that make objects which may be missing; ``release``: tokens to drop."""
        for token in release:
            self.objects.pop(token, None)
        with threads(self.count), np.errstate(all="ignore"):
            try:
                for earlier in replay:
                    if earlier.token not in self.objects:
                        self.objects[earlier.token] = self._run(earlier)
                result = self._run(request)
            except _MissingError as missing:
                return Evicted(missing.token)
            except Exception as error:
                return RemoteFailure(_portable(error))  # not an error of the transport
        response = _serialise(result, request.token, ())
        if _holds_handle(response):
            self.objects[request.token] = result
        return response

    def _run(self, request: Request) -> object:
        return request.call(self._resolve(request.target), *(self._resolve(own) for own in request.own))

    def _resolve(self, argument: object) -> Any:
        if isinstance(argument, Handle):
            if argument.token not in self.objects:
                raise _MissingError(argument.token)
            found: Any = self.objects[argument.token]
            for i in argument.path:
                found = found[i]
            return found
        if isinstance(argument, list | tuple) and type(argument) in (list, tuple):
            return type(argument)(self._resolve(each) for each in argument)
        return argument


def _portable(error: Exception) -> Exception:
    """The error, or a RuntimeError with its message where it cannot be copied."""
    try:
        copy.deepcopy(error)
        return error
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")


class _MissingError(Exception):
    def __init__(self, token: int) -> None:
        self.token = token


_SERIALIZABLE = (type(None), bool, int, float, complex, str, bytes, np.ndarray, np.generic, np.dtype)


def _serialise(result: object, token: int, path: tuple[int, ...]) -> object:
    """A result as it is sent: numbers and arrays by value, all other objects as handles."""
    if isinstance(result, _SERIALIZABLE):
        return result
    if isinstance(result, tuple | list):
        return _rebuild(result, [_serialise(part, token, (*path, i)) for i, part in enumerate(result)])
    if getattr(type(result), "travels", False):
        return result
    return Handle(token, path, {name: getattr(result, name) for name in getattr(type(result), "facts", ())})


def _rebuild(kind: tuple[object, ...] | list[object], parts: list[object]) -> object:
    """The same kind of list, tuple or named tuple, with other entries."""
    make: Callable[..., object] = type(kind)
    return make(*parts) if hasattr(kind, "_fields") else make(parts)


def _holds_handle(response: object) -> bool:
    if isinstance(response, Handle):
        return True
    return isinstance(response, tuple | list) and any(_holds_handle(part) for part in response)


class RecordedCall:
    """A call whose result stayed with bundle ``place``; its arguments are held, so that it can be replayed."""

    def __init__(
        self, place: int, token: int, call: Callable[..., object], target: "RemoteRef | None", own: tuple[object, ...]
    ) -> None:
        self.place, self.token, self.call, self.target, self.own = place, token, call, target, own

    def request(self) -> Request:
        return Request(
            self.call, ROOT if self.target is None else self.target.handle, _to_handles(self.own), self.token
        )

    def lineage(self, seen: dict[int, Request]) -> dict[int, Request]:
        """The requests that make its result again, the earliest first."""
        if self.token not in seen:
            for ref in _remote_refs((self.target, *self.own)):
                if ref.made_by is not None:
                    ref.made_by.lineage(seen)
            seen[self.token] = self.request()
        return seen


ROOT = Handle(ROOT_TOKEN, ())


class RemoteRef:
    """An object that stays with the rows; ``REMOTE_ATTRIBUTES`` that did not come along are fetched once."""

    near = False

    def __init__(
        self,
        each: "RemoteMap",
        place: int,
        made_by: RecordedCall | None,
        path: tuple[int, ...],
        attributes: Keywords | None,
    ) -> None:
        self.each, self.place, self.made_by, self.path = each, place, made_by, path
        self.__dict__.update(attributes or {})

    @property
    def handle(self) -> Handle:
        return ROOT if self.made_by is None else Handle(self.made_by.token, self.path)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("rows that live elsewhere stay there: what refers to them cannot be pickled")

    def __getattr__(self, name: str) -> Any:
        if name not in REMOTE_ATTRIBUTES:
            raise AttributeError(f"a remote object has no attribute {name!r}")
        self.__dict__[name] = self.each(Ask("__getattribute__", name), [self])[0]
        return self.__dict__[name]


def _remote_refs(arguments: object) -> Iterator[RemoteRef]:
    if isinstance(arguments, RemoteRef):
        yield arguments
    elif isinstance(arguments, list | tuple) and type(arguments) in (list, tuple):
        for each in arguments:
            yield from _remote_refs(each)


def _to_handles(arguments: Any) -> Any:
    """Arguments as they are sent."""
    if isinstance(arguments, RemoteRef):
        return arguments.handle
    return type(arguments)(_to_handles(each) for each in arguments) if type(arguments) in (list, tuple) else arguments


#: Delivers requests to bundles, all at once, and returns the responses in that order: place, request, replay, release.
Delivery: TypeAlias = tuple[int, tuple[Request, Sequence[Request], Sequence[int]]]
Transport = Callable[[Sequence[Delivery]], list[object]]


class RemoteMap:
    """Calls bundles of rows in other processes; a ``Map`` whose parts are ``RemoteRef``."""

    def __init__(self, transport: Transport, places: int) -> None:
        self.transport = transport
        self.released: list[list[int]] = [[] for _ in range(places)]
        self.rows = [RemoteRef(self, place, None, (), None) for place in range(places)]

    def __call__(self, ask: Callable[..., T], parts: Sequence[Any], /, *own: Sequence[object]) -> list[T]:
        calls = [
            RecordedCall(part.place, next(_tokens), ask, part, tuple(arguments))
            for part, *arguments in zip(parts, *own, strict=True)
        ]
        requests = [(call.place, (call.request(), (), self._take_released(call.place))) for call in calls]
        responses = self.transport(requests)
        evicted = [i for i, response in enumerate(responses) if isinstance(response, Evicted)]
        if evicted:
            again = [(calls[i].place, (calls[i].request(), self._replay_of(calls[i]), ())) for i in evicted]
            for i, response in zip(evicted, self.transport(again), strict=True):
                responses[i] = response
        for response in responses:
            if isinstance(response, RemoteFailure):
                raise response.error
        return [self._wrap(response, call) for response, call in zip(responses, calls, strict=True)]

    def _replay_of(self, call: RecordedCall) -> list[Request]:
        return [request for token, request in call.lineage({}).items() if token != call.token]

    def _take_released(self, place: int) -> list[int]:
        released, self.released[place] = self.released[place], []
        return released

    def _wrap(self, response: object, call: RecordedCall) -> Any:
        """The response with a ``RemoteRef`` for each handle; the server drops the result with the last of them."""
        if not _holds_handle(response):
            return response
        weakref.finalize(call, _release, weakref.ref(self), call.place, call.token)
        return self._fill(response, call)

    def _fill(self, response: object, call: RecordedCall) -> object:
        if isinstance(response, Handle):
            return RemoteRef(self, call.place, call, response.path, response.attributes)
        if isinstance(response, tuple | list):
            return _rebuild(response, [self._fill(part, call) for part in response])
        return response


def _release(each: "weakref.ref[RemoteMap]", place: int, token: int) -> None:
    alive = each()
    if alive is not None:
        with contextlib.suppress(IndexError):
            alive.released[place].append(token)
