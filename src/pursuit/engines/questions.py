"""Questions to parts: a method's name and its arguments, so that they can be sent to where the rows are."""

from typing import Any


class Ask:
    """A call of a method; what differs from part to part (``own``) comes before the common arguments."""

    __slots__ = ("args", "name")

    def __init__(self, name: str, *args: Any) -> None:
        self.name, self.args = name, args

    def __call__(self, part: Any, *own: Any) -> Any:
        return getattr(part, self.name)(*own, *self.args)
