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
    """Objects that answer for disjoint rows, as one object: every method adds up their answers."""

    def __init__(self, parts: Sequence[Any], each: Map) -> None:
        self.parts, self.each = parts, each

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return over_parts(name).__get__(self)
