"""Rows for the workers of a Dask cluster: from Dask arrays and data frames, or from rows that are here.

A bundle's partitions are computed where it lives, by one task that holds their graph: no rows move, and a bundle that
is lost is computed again. Partitions that are persisted already stay where they are, and bundles are those of a worker.
Rows that are here are sent once, and again to whoever takes over from a worker that is lost.
"""

import uuid
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.types import ArrayLike, Keywords, MatrixLike
from .._utils.validation import require_package
from ..engines.dask import Dask, as_engine
from .parts import Parts
from .remote import Bundle, RemoteSource
from .rows import Data
from .sources import is_dask

if TYPE_CHECKING:
    from ..engines.dask import Dask as Engine


def from_dask(
    X: MatrixLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    engine: "Engine | None" = None,
) -> RemoteSource:
    """The rows of Dask collections, on the workers of ``engine`` (None: of the active client)."""
    engine = as_engine(_active() if engine is None else engine)
    if y is None:
        raise TypeError("y must be given: a Dask collection with the partitions of X, or one number per row")
    return RemoteSource(_collection(engine, X, {"y": y, "sample_weight": sample_weight, "offset": offset}))


def by_partition(function: Callable[[Any], Any], X: MatrixLike) -> list[Any]:
    """What a function gives for each partition, computed where Dask computes."""
    import dask

    return list(dask.compute(*(dask.delayed(function)(block) for block in _blocks(X, "X"))))


def placed(data: Data, engine: "Engine") -> Data:
    """The same rows on the workers of ``engine``."""
    if not data.near:
        return data
    engine = as_engine(engine)
    pieces = data.pieces(len(engine.workers()))

    def make(i: int) -> Any:
        there = engine.client.scatter([_Box(pieces[i]())], hash=False)[0]
        return engine.client.submit(_opened, there, key=_key(i), pure=False)

    each = engine.placed(make, len(pieces))
    return Parts(each.rows, each)  # type: ignore[arg-type]


class _Box:
    """Something that Dask shall not look into."""

    def __init__(self, it: Any) -> None:
        self.it = it


def _opened(box: _Box) -> Any:
    return box.it


def _active() -> Any:
    distributed = require_package("dask.distributed", "dask", "a Dask collection", "dask.distributed")
    try:
        return distributed.get_client()
    except ValueError:
        raise ValueError(
            "a Dask collection needs an active client: make one with dask.distributed.Client(), or give "
            "fit(..., engine=client)"
        ) from None


def _slice(given: Any, low: int, high: int) -> Any:
    return given.iloc[low:high] if hasattr(given, "iloc") else given[low:high]


def _collection(engine: Dask, X: MatrixLike, beside: Keywords) -> Any:
    blocks = [_blocks(X, "X"), *(_aligned(given, X, name) for name, given in beside.items())]
    parts = list(zip(*blocks, strict=True))
    from dask.distributed import futures_of

    if futures_of((X, *beside.values())):
        return _persisted(engine, parts)
    groups = np.array_split(np.arange(len(parts)), min(len(parts), len(engine.workers())))

    def make(i: int) -> Any:
        recipe = _Box([[_Graph(block) if _is_delayed(block) else block for block in parts[j]] for j in groups[i]])
        return engine.client.submit(_computed, recipe, int(groups[i][0]), key=_key(i), pure=False)

    return engine.placed(make, len(groups))


def _computed(recipe: _Box, first: int) -> Bundle:
    """A bundle from the graphs of its partitions, in one task."""
    return Bundle(
        [tuple(block() if isinstance(block, _Graph) else block for block in part) for part in recipe.it], first
    )


class _Graph:
    """What it takes to compute one partition."""

    def __init__(self, block: Any) -> None:
        self.key, self.tasks = block.key, dict(block.__dask_graph__().cull({block.key}))

    def __call__(self) -> Any:
        from dask.local import get_sync

        return get_sync(self.tasks, self.key)


def _persisted(engine: Dask, parts: Sequence[tuple[Any, ...]]) -> Any:
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

    def make(i: int) -> Any:
        return client.submit(_gathered, [there[j] for j in groups[i]], groups[i][0], key=_key(i), pure=False)

    return engine.placed(make, len(groups))


def _gathered(parts: list[list[Any]], first: int) -> Bundle:
    return Bundle([tuple(part) for part in parts], first)


def _is_delayed(block: Any) -> bool:
    return hasattr(block, "__dask_graph__")


def _key(i: int) -> str:
    return f"pursuit-rows-{uuid.uuid4().hex[:12]}-{i}"


def _blocks(X: MatrixLike, name: str) -> list[Any]:
    """A delayed block per partition of the rows."""
    if hasattr(X, "npartitions") and hasattr(X, "map_partitions") and not hasattr(X, "chunks"):
        return list(X.to_delayed())  # a data frame or a series
    if name == "X" and X.ndim != 2:
        raise ValueError(f"X must have two dimensions, got shape {X.shape}")
    if X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return list(X.to_delayed().ravel())


def _aligned(given: Any, X: MatrixLike, name: str) -> list[Any]:
    """What belongs to the rows, partition by partition as X has them."""
    sizes: Any = getattr(X, "chunks", (None,))[0]  # a data frame has none
    known = _known(sizes)
    count = len(sizes) if sizes is not None else X.npartitions
    if given is None or np.ndim(given) == 0:
        return [given] * count
    if not is_dask(given):
        if not known:
            raise TypeError(f"{name} must be a Dask collection like X, whose chunk sizes are not known")
        if len(given) != sum(sizes):
            raise ValueError(f"{name} must have one entry per row of X, {sum(sizes)}, got {len(given)}")
        cuts = np.cumsum([0, *sizes])
        return [_slice(given, low, high) for low, high in pairwise(cuts)]
    own: Any = getattr(given, "chunks", (None,))[0]
    if known and _known(own) and own != sizes:
        if sum(own) != sum(sizes):
            raise ValueError(f"{name} must have one entry per row of X, {sum(sizes)}, got {sum(own)}")
        given = given.rechunk({0: sizes})
    blocks = _blocks(given, name)
    if len(blocks) != count:
        raise ValueError(f"{name} must have the partitions of X, {count}, got {len(blocks)}")
    return blocks


def _known(sizes: Any) -> bool:
    return sizes is not None and not np.isnan(sizes).any()
