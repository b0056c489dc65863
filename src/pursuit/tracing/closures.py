"""A function whose NumPy arrays JAX has not seen before.

JAX remembers a NumPy array that a function closes over in the precision of its first use, for as long as the array
lives. A trace in float64 would so break the user's own calls in float32 (and one in float32 before would cost ours its
digits). What is traced here is therefore the same code over *views* of the same arrays: other objects, the same
numbers, no copy. Looked into are closures, globals, defaults, ``functools.partial``, bound methods, plain containers
and, in turn, the user's own functions among these.
"""

import copy
import functools
import sys
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

MAX_CALL_DEPTH = 8  # functions that call functions


def renewed(fun: Any) -> Any:
    """The same function over views of its arrays."""
    return _Renewal().of(fun, 0)


class _Renewal:
    """One round of renewing; what was met before is met again as the same object."""

    def __init__(self) -> None:
        self.known: dict[int, Any] = {}
        self.kept: list[Any] = []  # so that no id is used twice

    def of(self, value: Any, depth: int) -> Any:
        if depth > MAX_CALL_DEPTH:
            return value
        if id(value) not in self.known:
            self.kept.append(value)
            self.known[id(value)] = value  # a function that calls itself finds its old self
            self.known[id(value)] = self._new(value, depth + 1)
        return self.known[id(value)]

    def _new(self, value: Any, depth: int) -> Any:
        if type(value) is np.ndarray:
            return value.view()
        if type(value) in (list, tuple):  # the same one where nothing in it is new: the user may write on it
            new = [self.of(item, depth) for item in value]
            return value if all(a is b for a, b in zip(new, value, strict=True)) else type(value)(new)
        if type(value) is dict:
            changed = {key: self.of(item, depth) for key, item in value.items()}
            return value if all(changed[key] is item for key, item in value.items()) else changed
        if isinstance(value, functools.partial):
            keywords = {key: self.of(item, depth) for key, item in value.keywords.items()}
            return functools.partial(self.of(value.func, depth), *self.of(value.args, depth), **keywords)
        if isinstance(value, MethodType):
            return MethodType(self.of(value.__func__, depth), self._with_views(value.__self__))
        if isinstance(value, FunctionType):
            return self._function(value, depth) if _users(value.__code__) else value
        inner = getattr(value, "__wrapped__", None)  # jitted: what is traced here need not be
        if type(value).__name__ == "PjitFunction" and isinstance(inner, FunctionType) and _users(inner.__code__):
            return self.of(inner, depth)
        return value

    def _function(self, fun: FunctionType, depth: int) -> FunctionType:
        scope = dict(fun.__globals__)
        scope |= {name: self.of(scope[name], depth) for name in _names(fun.__code__) if name in scope}
        cells = tuple(self._cell(cell, depth) for cell in fun.__closure__ or ())
        twin = FunctionType(fun.__code__, scope, fun.__name__, self.of(fun.__defaults__, depth), cells)
        twin.__kwdefaults__ = self.of(fun.__kwdefaults__, depth)
        return twin

    def _cell(self, cell: CellType, depth: int) -> CellType:
        try:
            return CellType(self.of(cell.cell_contents, depth))
        except ValueError:  # empty: not assigned yet
            return cell

    def _with_views(self, owner: Any) -> Any:
        held = getattr(owner, "__dict__", {})
        views = {name: item.view() for name, item in held.items() if type(item) is np.ndarray}
        if not views:
            return owner
        twin = copy.copy(owner)
        twin.__dict__.update(views)
        return twin


def _names(code: CodeType) -> set[str]:
    """The globals that a function and those defined inside it may look up."""
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*(_names(const) for const in inner))


def _users(code: CodeType) -> bool:
    """Whether code is the user's, not an installed library's."""
    return "site-packages" not in code.co_filename and not code.co_filename.startswith(sys.base_prefix)
