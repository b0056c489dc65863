"""Names of types that many packages share: arrays by what they hold, arguments of users before they are checked."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "JSON",
    "Array",
    "ArrayLike",
    "BoundsLike",
    "Callback",
    "Columns",
    "ColumnsLike",
    "FilePath",
    "Flags",
    "GroupsLike",
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

#: A number; with several outputs one for each. Which it is follows from the objective, so that no union is checked.
Intercept: TypeAlias = Any
Ridge: TypeAlias = float | Vector  # one number, or one for each column
Seed: TypeAlias = int | np.random.Generator | np.random.RandomState | None  # scikit-learn's random_state

#: Columns of X by index, by name, or by a mask.
ColumnsLike: TypeAlias = ArrayLike | Iterable[int | str] | None
#: Groups of columns: one label each, or the columns of every group, by name or in a list; "prefix" reads names.
GroupsLike: TypeAlias = str | Mapping[Any, ColumnsLike] | Sequence[ColumnsLike] | ArrayLike | None
#: Bounds of coefficients: (low, high), numbers or one each, or a pair for every column, in a list or by name.
BoundsLike: TypeAlias = Mapping[Any, Sequence[float | None]] | Sequence[Any] | Array | None
FilePath: TypeAlias = str | os.PathLike[str]
#: A ``callback`` argument: a function of (done, total), True for a bar, None for nothing.
Callback: TypeAlias = Callable[..., object] | bool | None
#: A user's X: an array, nested lists, a data frame, a sparse matrix, a LinearOperator, a Design, a Source.
#: No type says all that, and the classes of optional packages are unknown here: ``as_design`` and ``as_data`` check it.
MatrixLike: TypeAlias = Any
#: Arguments of a call, or attributes of an object, by name.
Keywords: TypeAlias = dict[str, Any]
#: What a JSON file holds.
JSONValue: TypeAlias = bool | int | float | str | Sequence["JSONValue"] | Mapping[str, "JSONValue"] | None
JSON: TypeAlias = dict[str, Any]
