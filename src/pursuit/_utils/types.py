"""Names of types that many packages share: arrays by what they hold, arguments of users before they are checked."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "JSON",
    "Array",
    "ArrayLike",
    "Callback",
    "Columns",
    "ColumnsLike",
    "Flags",
    "Intercept",
    "JSONValue",
    "Keywords",
    "Matrix",
    "MatrixLike",
    "Ridge",
    "Seed",
    "Vector",
]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Columns = NDArray[np.int64]  # indices, sorted where they are a support
Flags = NDArray[np.bool_]
Array = NDArray[Any]

Intercept: TypeAlias = float | Vector  # one number, or one for each output
Ridge: TypeAlias = float | Vector  # one number, or one for each column
Seed: TypeAlias = int | np.random.Generator | np.random.RandomState | None  # scikit-learn's random_state

#: A ``callback`` argument: a function of (done, total), True for a bar, None for nothing.
Callback: TypeAlias = Callable[..., object] | bool | None
#: Columns of X by index, by name, or by a mask.
ColumnsLike: TypeAlias = ArrayLike | Sequence[int | str] | None
#: A user's X: an array, nested lists, a data frame, a sparse matrix, a LinearOperator, a Design, a Source.
#: No type says all that, and the classes of optional packages are unknown here: ``as_design`` and ``as_data`` check it.
MatrixLike: TypeAlias = Any
#: Arguments of a call, or parameters of an object, by name.
Keywords: TypeAlias = dict[str, Any]
#: What a JSON file holds.
JSONValue: TypeAlias = bool | int | float | str | Sequence["JSONValue"] | Mapping[str, "JSONValue"] | None
JSON: TypeAlias = dict[str, Any]
