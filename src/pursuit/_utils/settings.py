"""Settings as JSON, equal for equal settings: arrays by their checksum, objects by their attributes."""

import zlib
from typing import Any

import numpy as np

from .types import Array, JSONValue

MAX_INLINE_ENTRIES = 20  # numbers of an array that are written out
MAX_DEPTH = 8  # levels of attributes of attributes that are followed: they may lead back


def settings_to_json(value: object, depth: int = 0) -> JSONValue:
    """A description of a setting: equal for equal settings, also of another process."""
    if depth > MAX_DEPTH:
        return type(value).__qualname__
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return settings_to_json(value.item(), depth + 1)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufcSU":
        return _array(value)
    if isinstance(value, list | tuple | range):
        return [settings_to_json(entry, depth + 1) for entry in value]
    if isinstance(value, dict):
        return {str(key): settings_to_json(entry, depth + 1) for key, entry in value.items()}
    if isinstance(value, np.random.RandomState):
        return settings_to_json(value.get_state(legacy=False), depth + 1)
    if isinstance(value, np.random.Generator):
        return settings_to_json(value.bit_generator.state, depth + 1)
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if hasattr(value, "__code__"):  # a function: what it does, and what it was made with
        function: Any = value
        made_with = [settings_to_json(cell.cell_contents, depth + 1) for cell in function.__closure__ or ()]
        return [f"{function.__module__}.{function.__qualname__}", zlib.crc32(function.__code__.co_code), made_with]
    if hasattr(value, "__dict__"):
        return [kind, settings_to_json(vars(value), depth + 1)]
    return [kind, repr(value)]


def _array(values: Array) -> JSONValue:
    if values.size <= MAX_INLINE_ENTRIES and values.dtype.kind in "biufU":
        return values.tolist()
    return f"{values.dtype} {values.shape} {zlib.crc32(np.ascontiguousarray(values).tobytes()):08x}"
