"""Names of types that many packages share: arrays by what they hold, arguments of users before they are checked."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

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
    "Folds",
    "GroupsLike",
    "HasShape",
    "Intercept",
    "JSONValue",
    "Keywords",
    "Matrix",
    "MatrixLike",
    "Ridge",
    "Seed",
    "Splitter",
    "StoredMatrix",
    "Vector",
]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Columns = NDArray[np.int64]  # indices, sorted where they are a support
Flags = NDArray[np.bool_]
Array = NDArray[Any]

#: A number; with several outputs one for each. Which it is follows from the objective, so that no union is checked.
Intercept: TypeAlias = float | Vector
Ridge: TypeAlias = float | Vector  # one number, or one for each column
Seed: TypeAlias = int | np.random.Generator | np.random.RandomState | None  # scikit-learn's random_state

#: Columns of X by index, by name, or by a mask.
ColumnsLike: TypeAlias = ArrayLike | Iterable[int | str] | None
#: Groups of columns: one label each, or the columns of every group, by name or in a list; "prefix" reads names.
GroupsLike: TypeAlias = (
    str | Mapping[str, ColumnsLike] | Mapping[int, ColumnsLike] | Sequence[ColumnsLike] | ArrayLike | None
)
#: Bounds of coefficients: (low, high), numbers or one each, or a pair for every column, in a list or by name.
BoundsLike: TypeAlias = (
    Mapping[str, Sequence[float | None]]
    | Mapping[int, Sequence[float | None]]
    | Sequence[ArrayLike | Sequence[float | None] | None]
    | Array
    | None
)


class Splitter(Protocol):
    """A cross-validation splitter of scikit-learn."""

    def split(
        self, X: "MatrixLike", y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[Array, Array]]: ...


#: A ``cv`` argument: the number of folds, a splitter, or pairs of training and held-out rows.
Folds: TypeAlias = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]] | None
FilePath: TypeAlias = str | os.PathLike[str]
#: A ``callback`` argument: a function of (done, total), True for a bar, None for nothing.
Callback: TypeAlias = Callable[..., object] | bool | None


class HasShape(Protocol):
    """What has rows and columns: a data frame, a sparse matrix, a LinearOperator, a Design, a Source."""

    @property
    def shape(self) -> tuple[int, ...]: ...


#: A user's X: an array, nested lists, or what has a shape; ``as_design`` and ``as_data`` check the rest.
MatrixLike: TypeAlias = ArrayLike | HasShape
#: X as it was read or checked: dense, or sparse.
StoredMatrix: TypeAlias = Union[Array, "csr_array"]
#: Arguments of a call, or attributes of an object, by name.
Keywords: TypeAlias = dict[str, Any]
#: What a JSON file holds.
JSONValue: TypeAlias = bool | int | float | str | Sequence["JSONValue"] | Mapping[str, "JSONValue"] | None
JSON: TypeAlias = dict[str, JSONValue]
