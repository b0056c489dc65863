"""``open_data``: rows on a disk as data in parts, asked one block after the other under a budget of memory."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..._errors import check_weights
from ..._names import Names
from ..._types import Array, Vector
from ...designs.paged import Paged, Source
from ..answers import Spread
from ..make import InParts
from ..rows import Data
from .files import load
from .folder import FolderBlock
from .manifest import Manifest, read_manifest
from .memory import Budget, as_bytes
from .parquet import ParquetFile, blocks


def open_data(
    path: Any,
    memory: Any = "1GB",
    *,
    target: str | None = None,
    weights: str | None = None,
    offset: str | None = None,
    drop: Sequence[str] = (),
) -> "OnDisk":
    """Data on a disk, for ``GLM(data)`` and ``fit(data)``: a folder of ``pursuit convert``, or a Parquet file.

    Parameters
    ----------
    path
        The folder, which knows its target; or a Parquet file, of which every pass decodes the rows anew.
    memory
        What the process may take, "1GB" by default: mapped pages, which are let go after use, do not count.
    target, weights, offset, drop
        Columns of a Parquet file: the target, what belongs to the rows, what is no feature.

    """
    path, bytes_ = Path(path), as_bytes(memory)
    if path.suffix.lower() == ".parquet":
        return _parquet(path, bytes_, target, weights, offset, drop)
    if path.is_file():
        raise ValueError(f"{path} is neither a data set nor a Parquet file; make a data set with `pursuit convert`")
    if not (target is None and weights is None and offset is None and not drop):
        raise ValueError(f"{path} knows its target, weights and offset; leave them, and what is to be dropped, out")
    return _folder(path, bytes_)


class OnDisk(InParts):
    """Data on a disk, in blocks that are read when they are asked and let go after it.

    Attributes
    ----------
    shape, dtype, names : of X
    labels : the target's labels where it has text or truth values, sorted; y then is their places
    moments : means of the columns and sums of squares about them, where these are known
    """

    def __init__(
        self, path: Path, memory: int, sources: Sequence[Source], rows: Sequence[tuple[Any, Any, Any]],
        names: Names | None, labels: tuple[Any, ...] | None, counted: bool, moments: Spread | None,
    ) -> None:  # fmt: skip
        self.path, self.names, self.labels, self.counted, self.moments = path, names, labels, counted, moments
        n = sum(source.shape[0] for source in sources)
        self.budget = Budget(memory, n)
        designs = [Paged(source, names, self.budget.room) for source in sources]
        super().__init__([(design, *own) for design, own in zip(designs, rows, strict=True)])
        self.shape, self.dtype = (n, designs[0].shape[1]), designs[0].dtype

    @property
    def designs(self) -> list[Paged]:
        """The blocks of X."""
        return [part[0] for part in self.parts]

    def targets(self) -> Array:
        """The target of all rows as it was: labels, whole numbers, or numbers."""
        y = np.concatenate([part[1] for part in self.parts])
        if self.labels is not None:
            return np.array(self.labels)[y.astype(np.intp)]
        return y.astype(np.int64) if self.counted else y

    def bound(self, loss: Any, classes: Array | None = None, factors: Vector | None = None) -> Data:
        if classes is not None and self.labels is not None:  # y counts them
            classes = np.searchsorted(np.array(self.labels), classes)
        data = super().bound(loss, classes, factors)
        if self.moments is not None and factors is None:
            data.know(self.moments)
        return data

    def weighted(self, weights: Vector) -> Self:
        twin = super().weighted(weights)
        twin.moments = None  # which were those of other weights
        return twin

    def __repr__(self) -> str:
        n, p = self.shape
        return f"OnDisk({str(self.path)!r}, {n} rows, {p} columns, {len(self.parts)} blocks)"


def _folder(path: Path, memory: int) -> OnDisk:
    manifest = read_manifest(path)
    mean, square = load(path, manifest.columns)
    sources = [FolderBlock(path, manifest, block) for block in manifest.blocks]
    Budget(memory, manifest.shape[0])  # before anything long is read
    rows = []
    for block in manifest.blocks:
        y, weights, offset = (load(path, block.files[key]) if key in block.files else None
                              for key in ("y", "weights", "offset"))  # fmt: skip
        rows.append((y, weights, offset))
    classes = _sorted(manifest, rows)
    whole = manifest.target_dtype == "int64"
    return OnDisk(path, memory, sources, rows, manifest.names, classes, whole, Spread(1.0, mean, square))


def _sorted(manifest: Manifest, rows: list[tuple[Any, Any, Any]]) -> tuple[Any, ...] | None:
    """The classes in their order; y is counted anew."""
    if manifest.classes is None:
        return None
    order = np.argsort(np.array(manifest.classes), kind="stable")
    place = np.argsort(order).astype(np.float64)
    for i, (y, *rest) in enumerate(rows):
        if not ((y >= 0) & (y < len(order)) & (y == np.floor(y))).all():
            raise ValueError(f"{manifest.blocks[i].files['y'].name} counts classes that the manifest does not have")
        rows[i] = (place[y.astype(np.intp)], *rest)  # type: ignore[assignment]
    return tuple(manifest.classes[i] for i in order)


def _parquet(
    path: Path, memory: int, target: str | None, weights: str | None, offset: str | None, drop: Sequence[str]
) -> OnDisk:
    if target is None:
        raise ValueError(f"{path} has no target: name its column, open_data(path, target=...)")
    apart = [name for name in (target, weights, offset) if name is not None]
    if len(set(apart)) < len(apart):
        raise ValueError(f"target, weights and offset must be different columns, got {', '.join(apart)}")
    file = ParquetFile(path, [*apart, *drop])
    y, labels, whole = file.targets(target)
    w = None if weights is None else file.numbers(weights, "weights")
    o = None if offset is None else file.numbers(offset, "offset")
    if w is not None:
        check_weights(w, len(w))
    if labels is not None:
        order = np.argsort(np.array(labels), kind="stable")
        y, labels = np.argsort(order)[y.astype(np.intp)].astype(np.float64), tuple(labels[i] for i in order)
    sources = blocks(file, Budget(memory, len(y)).block)
    ends = np.cumsum([0, *(source.shape[0] for source in sources)])
    rows = [tuple(None if v is None else v[low:high] for v in (y, w, o)) for low, high in pairwise(ends)]
    return OnDisk(path, memory, sources, rows, file.features, labels, whole, None)  # type: ignore[arg-type]
