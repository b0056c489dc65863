"""An attribute that is computed on first use, and cached.

``functools.cached_property`` holds one lock for all instances before Python 3.12, so that threads would wait for each
other's passes over X, and a child forked meanwhile would wait for ever. Here two threads may compute the same twice.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801
    """A method turned into an attribute."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute, self.name, self.__doc__ = compute, compute.__name__, compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> "lazy[T]": ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> "T | lazy[T]":
        if instance is None:
            return self
        value = self.compute(instance)
        return instance.__dict__.setdefault(self.name, value)
