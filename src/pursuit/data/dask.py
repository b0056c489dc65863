"""Rows for the workers of a Dask cluster: from Dask arrays and data frames, or from rows that are here.

A bundle's partitions are computed where it lives, by one task that holds their graph: no rows move, and a bundle that
is lost is computed again. Partitions that are persisted already stay where they are, and bundles are those of a worker.
Rows that are here are sent once, and again to the worker that takes over from a lost one.
"""

import uuid
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from .._utils.types import Array, ArrayLike, MatrixLike, StoredMatrix
from .._utils.validation import require_package
from ..engines.dask import Dask, as_engine
from ..engines.remote import RemoteMap
from .parts import Parts
from .remote import Bundle, RemoteSource
from .rows import Data
from .sources import is_dask

if TYPE_CHECKING:
    from dask.array import Array as DaskArray
    from dask.base import DaskMethodsMixin as DaskCollection
    from dask.delayed import Delayed
    from distributed import Client, Future
    from pandas import Series

    from ..engines.dask import Dask as Engine


T = TypeVar("T")


def from_dask(
    X: MatrixLike,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    engine: "Engine | None" = None,
) -> RemoteSource:
    """The rows of Dask collections, on the workers of ``engine`` (None: of the active client)."""
    engine = as_engine(_active() if engine is None else engine)
    if y is None:
        raise TypeError("y must be given: a Dask collection with the partitions of X, or one number per row")
    return RemoteSource(_collection(engine, X, {"y": y, "sample_weight": sample_weight, "offset": offset}))


def by_partition(function: Callable[[MatrixLike], T], X: "DaskCollection") -> list[T]:
    """What a function gives for each partition, computed where Dask computes."""
    import dask

    there = _pickled(function)
    return list(dask.compute(*(dask.delayed(there)(block) for block in _blocks(X, "X"))))


def _pickled(function: Callable[[MatrixLike], T]) -> Callable[[MatrixLike], T]:
    """A copy as workers will have it.

    Pickling an estimator requests its summary from the workers. While a client pickles, it holds a lock that its
    responses need, so the estimator is pickled before.
    """
    cloudpickle = import_module("cloudpickle")

    copied: Callable[[MatrixLike], T] = cloudpickle.loads(cloudpickle.dumps(function))
    return copied


def transform_by_block(function: Callable[[MatrixLike], Any], X: "DaskCollection", width: int) -> "DaskArray":
    """A Dask array of what a function gives for each partition: as many rows, ``width`` columns."""
    import dask
    import dask.array as da

    sizes = X.chunks[0] if hasattr(X, "chunks") else (np.nan,) * X.npartitions
    there = _pickled(function)
    blocks = [
        da.from_delayed(dask.delayed(there)(block), (size, width), np.float64)
        for block, size in zip(_blocks(X, "X"), sizes, strict=True)
    ]
    return da.concatenate(blocks)


def placed(data: Data, engine: "Engine") -> Data:
    """The same rows on the workers of ``engine``."""
    if not data.near:
        return data
    engine = as_engine(engine)
    pieces = data.pieces(len(engine.workers()))

    def make(i: int) -> "Future":
        there = engine.client.scatter([_Box(pieces[i]())], hash=False)[0]
        return engine.client.submit(_opened, there, key=_key(i), pure=False)

    each = engine.placed(make, len(pieces))
    return Parts(each.rows, each)  # type: ignore[arg-type]


class _Box(Generic[T]):
    """Something that Dask shall not look into."""

    def __init__(self, it: T) -> None:
        self.it = it


def _opened(box: _Box[T]) -> T:
    return box.it


def _active() -> "Client":
    distributed = require_package("dask.distributed", "dask", "a Dask collection", "dask.distributed")
    try:
        return distributed.get_client()
    except ValueError:
        raise ValueError(
            "a Dask collection needs an active client: make one with dask.distributed.Client(), or give "
            "fit(..., engine=client)"
        ) from None


def _slice(given: "Array | Series", low: int, high: int) -> "Array | Series":
    return given.iloc[low:high] if hasattr(given, "iloc") else given[low:high]


def _collection(engine: Dask, X: "DaskCollection", beside: "dict[str, DaskCollection | None]") -> RemoteMap:
    blocks = [_blocks(X, "X"), *(_aligned(given, X, name) for name, given in beside.items())]
    parts = list(zip(*blocks, strict=True))
    from dask.distributed import futures_of

    if futures_of((X, *beside.values())):
        return _persisted(engine, parts)
    groups = np.array_split(np.arange(len(parts)), min(len(parts), len(engine.workers())))

    def make(i: int) -> "Future":
        recipe = _Box([[_graph(block) if _is_delayed(block) else block for block in parts[j]] for j in groups[i]])
        return engine.client.submit(_computed, recipe, int(groups[i][0]), key=_key(i), pure=False)

    return engine.placed(make, len(groups))


def _computed(recipe: "_Box[list[list[partial[StoredMatrix] | Array | None]]]", first: int) -> Bundle:
    """A bundle from the graphs of its partitions, in one task."""
    return Bundle(
        [tuple(block() if isinstance(block, partial) else block for block in part) for part in recipe.it], first
    )


def _graph(block: "Delayed") -> "partial[StoredMatrix]":
    """What it takes to compute one partition."""
    return partial(_compute, block.key, dict(block.__dask_graph__().cull({block.key})))


def _compute(key: Any, tasks: dict[Any, Any]) -> StoredMatrix:
    from dask.local import get_sync

    return get_sync(tasks, key)


def _persisted(engine: Dask, parts: "Sequence[tuple[Delayed, ...]]") -> RemoteMap:
    """Bundles of what each worker has, so that nothing moves; in the order of their first partitions."""
    from dask.distributed import wait

    client = engine.client
    there = [[client.compute(block) if _is_delayed(block) else block for block in part] for part in parts]
    wait([block for part in there for block in part if hasattr(block, "key")])
    homes: dict[str, list[int]] = {}
    for j, (X, *_) in enumerate(there):
        if X.status == "error":
            X.result()
        homes.setdefault(min(client.who_has([X])[X.key]), []).append(j)
    groups = sorted(homes.values())

    def make(i: int) -> "Future":
        return client.submit(_gathered, [there[j] for j in groups[i]], groups[i][0], key=_key(i), pure=False)

    return engine.placed(make, len(groups))


def _gathered(parts: Sequence[Sequence[StoredMatrix | None]], first: int) -> Bundle:
    return Bundle([tuple(part) for part in parts], first)


def _is_delayed(block: object) -> bool:
    return hasattr(block, "__dask_graph__")


def _key(i: int) -> str:
    return f"pursuit-rows-{uuid.uuid4().hex[:12]}-{i}"


def _blocks(X: "DaskCollection", name: str) -> "list[Delayed]":
    """A delayed block per partition of the rows."""
    if hasattr(X, "npartitions") and hasattr(X, "map_partitions") and not hasattr(X, "chunks"):
        return list(X.to_delayed())  # a data frame or a series
    if name == "X" and X.ndim != 2:
        raise ValueError(f"X must have two dimensions, got shape {X.shape}")
    if X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return list(X.to_delayed().ravel())


def _aligned(given: "DaskCollection | None", X: "DaskCollection", name: str) -> "list[Delayed | Array | None]":
    """What belongs to the rows, partition by partition as X has them."""
    sizes: tuple[int, ...] = getattr(X, "chunks", ((),))[0]  # a data frame has none
    known = _known(sizes)
    count = len(sizes) or X.npartitions
    if given is None or np.ndim(given) == 0:
        return [given] * count
    if not is_dask(given):
        if not known:
            raise TypeError(f"{name} must be a Dask collection like X, whose chunk sizes are not known")
        if len(given) != sum(sizes):
            raise ValueError(f"{name} must have one entry per row of X, {sum(sizes)}, got {len(given)}")
        cuts = np.cumsum([0, *sizes])
        return [_slice(given, low, high) for low, high in pairwise(cuts)]
    own: tuple[int, ...] = getattr(given, "chunks", ((),))[0]
    if known and _known(own) and own != sizes:
        if sum(own) != sum(sizes):
            raise ValueError(f"{name} must have one entry per row of X, {sum(sizes)}, got {sum(own)}")
        given = given.rechunk({0: sizes})
    blocks = _blocks(given, name)
    if len(blocks) != count:
        raise ValueError(f"{name} must have the partitions of X, {count}, got {len(blocks)}")
    return blocks


def _known(sizes: tuple[int, ...]) -> bool:
    return bool(sizes) and not np.isnan(sizes).any()
