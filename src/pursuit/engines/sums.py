"""Methods whose answers add up over disjoint rows, as methods of the whole."""

from collections.abc import Sequence
from typing import Any

from .maps import Map, summed
from .remote import Ask


def over_parts(name: str) -> Any:
    """A method of this name that adds up what ``self.parts`` answer, ``self.each`` asking them."""

    def method(self: Any, *args: object) -> Any:
        return summed(self.each, Ask(name, *args), self.parts)

    method.__name__ = name
    return method


class SumOfParts:
    """Objects that answer for disjoint rows, as one object with some of their methods, which add up the answers."""

    def __init__(self, parts: Sequence[Any], each: Map, methods: Sequence[str]) -> None:
        self.parts, self.each, self._methods = parts, each, methods

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._methods:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return over_parts(name).__get__(self)
