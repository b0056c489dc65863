"""``open_data``: rows on a disk as data in parts, read block by block under a budget of memory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from ..._utils.column_names import Names
from ..._utils.types import Array, FilePath, Vector
from ..._utils.validation import check_path
from ...designs.paged import Paged, Place
from ...effects import AdditiveBasis
from ...losses import Loss
from ..answers import Moments
from ..rows import Data
from ..sources import InParts
from .files import load
from .folder import FolderBlock
from .manifest import read_manifest
from .memory import Budget, as_bytes
from .parquet import ParquetFile, blocks


def open_data(
    path: FilePath,
    memory: Any = "1GB",
    *,
    target: str | None = None,
    weights: str | None = None,
    offset: str | None = None,
    drop: Sequence[str] = (),
) -> "OnDisk":
    """Open data on a disk for ``GLM(data)`` and ``fit(data)``: a folder of ``pursuit convert``, or a Parquet file.

    Parameters
    ----------
    path : str or Path
        The folder, which knows its target; or a Parquet file, of which every pass decodes the rows anew.
    memory : str or int, default "1GB"
        What the process may take: mapped pages, which are let go after use, do not count.
    target : str or None, default None
        The target's column of a Parquet file.
    weights : str or None, default None
        The column of a Parquet file that holds the weights of the rows.
    offset : str or None, default None
        The column of a Parquet file that is added to the linear predictor.
    drop : sequence of str, default ()
        Columns of a Parquet file that are no features.

    Returns
    -------
    OnDisk
        Data that are read block by block.

    Raises
    ------
    FileNotFoundError
        Where the folder, or a file that belongs to it, is missing.
    ValueError
        Where the path is neither such a folder nor a Parquet file, where a file was truncated, or where a Parquet file
        has no such target.

    See Also
    --------
    convert : Writes such a folder.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, pursuit
    >>> folder, X = pathlib.Path(tempfile.mkdtemp()), np.random.default_rng(0).standard_normal((50, 6))
    >>> np.savez(folder / "data.npz", X=X, y=X[:, 4])
    >>> data = pursuit.open_data(pursuit.convert(folder / "data.npz", folder / "data.pursuit"))
    >>> pursuit.SparseRegressor(k=1).fit(data).support_.tolist()
    [4]
    """
    path, bytes_ = check_path(path), as_bytes(memory)
    if path.suffix.lower() == ".parquet":
        return _parquet(path, bytes_, target, weights, offset, drop)
    if path.is_file():
        raise ValueError(f"{path} is neither a data set nor a Parquet file; make a data set with `pursuit convert`")
    if not (target is None and weights is None and offset is None and not drop):
        raise ValueError(f"{path} knows its target, weights and offset; leave them, and what is to be dropped, out")
    return _folder(path, bytes_)


class DatasetInfo(NamedTuple):
    """What is known of the rows beside their numbers.

    ``labels`` are those of a target that has text or truth values: y then is their places; ``counted``: it was whole.
    """

    names: Names | None
    target: str | None
    offset: str | None
    labels: tuple[Any, ...] | None
    counted: bool
    moments: Moments | None = None


class OnDisk(InParts):
    """Data on a disk, in blocks that are read when they are needed and let go after it.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns of X.
    dtype : dtype
        Of X.
    names : tuple of str or None
        Of the columns.
    target, offset : str or None
        What their columns were called.
    labels : array or None
        The target's labels where it has text or truth values, sorted; y then holds their indices.

    See Also
    --------
    open_data : Returns it.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, pursuit
    >>> folder, X = pathlib.Path(tempfile.mkdtemp()), np.random.default_rng(0).standard_normal((50, 6))
    >>> np.savez(folder / "data.npz", X=X, y=X[:, 4])
    >>> pursuit.open_data(pursuit.convert(folder / "data.npz", folder / "data.pursuit")).shape
    (50, 6)
    """

    def __init__(
        self,
        path: Path,
        memory: int,
        sources: Sequence[Place],
        rows: tuple[Array, Array | None, Array | None],
        info: DatasetInfo,
    ) -> None:
        self.path, self.budget = path, Budget(memory, len(rows[0]))
        self.names, self.target, self.offset, self.labels, self.counted, self.moments = info
        designs = [Paged(source, info.names, self.budget.room) for source in sources]
        ends = np.cumsum([design.shape[0] for design in designs])[:-1]
        y, weights, offset = (
            [None] * len(designs) if values is None else np.split(values, ends)
            for values in (self._placed(rows[0]), *rows[1:])
        )
        super().__init__(list(zip(designs, y, weights, offset, strict=True)))
        self.shape, self.dtype = (len(rows[0]), designs[0].shape[1]), designs[0].dtype

    def _placed(self, y: Array) -> Array:
        """Places among the labels in their order."""
        if self.labels is None:
            return y
        order = np.argsort(np.array(self.labels), kind="stable")
        if not ((y >= 0) & (y < len(order)) & (y == np.floor(y))).all():
            raise ValueError(f"the target of {self.path} counts classes that it does not name")
        self.labels = tuple(self.labels[i] for i in order)
        return np.argsort(order)[y.astype(np.intp)].astype(np.float64)

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

    def bound(self, loss: Loss, classes: Array | None = None, factors: Vector | None = None) -> Data:
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

    def in_basis(self, basis: AdditiveBasis, names: Names | None = None) -> Self:
        twin = super().in_basis(basis, names)
        twin.moments = None  # which are those of other columns
        return twin

    def __repr__(self) -> str:
        n, p = self.shape
        return f"OnDisk({str(self.path)!r}, {n} rows, {p} columns, {len(self.parts)} blocks)"


def _folder(path: Path, memory: int) -> OnDisk:
    manifest = read_manifest(path)
    Budget(memory, manifest.shape[0])  # before anything long is read
    mean, square = load(path, manifest.columns)
    sources = [FolderBlock(path, manifest, block) for block in manifest.blocks]

    def rows(key: str) -> Any:
        if key not in manifest.blocks[0].files:
            return None
        return np.concatenate([load(path, block.files[key]) for block in manifest.blocks])

    info = DatasetInfo(
        manifest.names,
        manifest.target,
        manifest.offset,
        manifest.classes,
        manifest.target_dtype == "int64",
        Moments(1.0, mean, square),
    )
    return OnDisk(path, memory, sources, (rows("y"), rows("weights"), rows("offset")), info)


def _parquet(
    path: Path, memory: int, target: str | None, weights: str | None, offset: str | None, drop: Sequence[str]
) -> OnDisk:
    if target is None:
        raise ValueError(f"{path} has no target: name its column")
    apart = [name for name in (target, weights, offset) if name is not None]
    if len(set(apart)) < len(apart):
        raise ValueError(f"target, weights and offset must be different columns, got {', '.join(apart)}")
    file = ParquetFile(path, [*apart, *drop])
    sources = blocks(file, Budget(memory, sum(file.groups)).block)
    y, labels, counted = file.targets(target)
    w = None if weights is None else file.numbers(weights, "weights")
    o = None if offset is None else file.numbers(offset, "offset")
    return OnDisk(path, memory, sources, (y, w, o), DatasetInfo(file.features, target, offset, labels, counted))
