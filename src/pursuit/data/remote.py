"""A source of rows whose bundles live elsewhere: each bundle is parts, called together by a server beside them."""

import hashlib
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._utils.column_names import Names
from .._utils.labels import distinct_labels, merge_labels
from .._utils.types import Array, Columns, Intercept, Vector
from .._utils.validation import check_vector
from ..effects import AdditiveBasis
from ..engines import Ask
from ..engines.remote import RemoteMap, RemoteRef
from ..losses import Loss
from .parts import Parts
from .rows import Data
from .sources import InParts, Source


class PartInfo(NamedTuple):
    """What is known of a bundle without looking at its rows again."""

    rows: int
    columns: int
    dtypes: tuple[str, ...]
    names: str  # a digest of them
    outputs: int
    weighted: bool
    version: str


class Bundle:
    """Parts (X, y, weights, offset) that are in one place; those without rows are left out."""

    travels: ClassVar[bool] = False

    def __init__(self, parts: Sequence[tuple[Any, ...]], first: int = 0) -> None:
        """``first`` is the number of its first partition, for messages."""
        used = [part for part in parts if np.shape(part[0])[0] > 0]
        try:
            self.source = InParts(used) if used else None
        except (TypeError, ValueError) as error:
            where = f"partition {first}" if len(parts) == 1 else f"partitions {first} to {first + len(parts) - 1}"
            raise type(error)(f"{where}: {error}") from None

    def __sizeof__(self) -> int:
        return 64 if self.source is None else sum(int(design.nbytes) for design, *_ in self.source.parts)

    def info(self) -> PartInfo:
        from .. import __version__

        if self.source is None:
            return PartInfo(0, 0, (), "", 0, False, __version__)
        (n, p), designs = self.source.shape, [design for design, *_ in self.source.parts]
        names = "" if self.source.names is None else hashlib.sha256("\0".join(self.source.names).encode()).hexdigest()
        dtypes = tuple(sorted({str(design.dtype) for design in designs}))
        return PartInfo(n, p, dtypes, names, self.source.outputs, self.source.weights() is not None, __version__)

    def called(self) -> Names | None:
        return None if self.source is None else self.source.names

    def mass(self, classes: Array | None, factors: Vector | None) -> float:
        """The sum of the weights as they were given, times their classes' factors."""
        assert self.source is not None
        w = self.source.weights()
        if factors is not None and classes is not None:
            own = factors[np.searchsorted(classes, self.source.targets())]
            return float(own.sum() if w is None else own @ w)
        return float(self.source.shape[0] if w is None else w.sum())

    def labels(self) -> tuple[Array, Vector]:
        """The labels there are, and the weight of each."""
        assert self.source is not None
        found, codes = distinct_labels(self.source.targets())
        return found, np.bincount(codes, self.source.weights(), len(found)).astype(np.float64)

    def targets(self) -> Array:
        assert self.source is not None
        return self.source.targets()

    def weights(self) -> Vector:
        assert self.source is not None
        w = self.source.weights()
        return np.ones(self.source.shape[0]) if w is None else w

    def bound(self, loss: Loss, classes: Array | None, factors: Vector | None, total: float) -> Data:
        """The data under a loss, with these rows' share of all weights."""
        assert self.source is not None
        own = self.mass(classes, factors)
        if not own > 0:  # no row counts here
            return self.source.weighted(np.ones(self.source.shape[0])).bound(loss, classes).scaled(0.0)
        return self.source.bound(loss, classes, factors).scaled(own / total)

    def weighted(self, weights: Vector) -> "Bundle":
        assert self.source is not None
        twin = object.__new__(Bundle)
        twin.source = self.source.weighted(weights)
        return twin

    def in_basis(self, basis: AdditiveBasis, names: Names | None) -> "Bundle":
        assert self.source is not None
        twin = object.__new__(Bundle)
        twin.source = self.source.in_basis(basis, names)
        return twin

    def predictors(self, cols: Columns, coef: Vector, intercept: Intercept) -> Vector:
        assert self.source is not None
        return self.source.predictors(cols, coef, intercept)


class RemoteSource(Source):
    """Bundles of rows that live elsewhere; their rows come bundle after bundle."""

    def __init__(
        self, each: RemoteMap, bundles: Sequence[RemoteRef] | None = None, info: Sequence[PartInfo] | None = None
    ) -> None:
        self.each = each
        info = each(Ask("info"), each.rows) if info is None else info
        bundles = each.rows if bundles is None else bundles
        pairs = [(bundle, own) for bundle, own in zip(bundles, info, strict=True) if own.rows > 0]
        if not pairs:
            raise ValueError("the partitions hold no rows")
        self.bundles, self.info = [bundle for bundle, _ in pairs], [own for _, own in pairs]
        first = self.info[0]
        _check_alike(self.info)
        self.sizes = [own.rows for own in self.info]
        self.shape, self.dtype = (sum(self.sizes), first.columns), np.dtype(first.dtypes[0])
        self.outputs = first.outputs
        self.names = each(Ask("called"), self.bundles[:1])[0] if first.names else None

    def _ask(self, name: str, *args: object) -> list[Any]:
        return self.each(Ask(name, *args), self.bundles)

    def bound(self, loss: Loss, classes: Array | None = None, factors: Vector | None = None) -> Data:
        if classes is None and self.outputs == 0 and (loss.takes_labels or loss.targets == "binary"):
            classes = self._classes(loss)
        total = sum(self._ask("mass", classes, factors))
        if not (np.isfinite(total) and total > 0):
            raise ValueError("sample_weight must have at least one positive entry, and a finite sum")
        parts = self._ask("bound", loss, classes, factors, total)
        return Parts(parts, self.each)

    def _classes(self, loss: Loss) -> Array | None:
        """All labels, where there are several; what a loss has to say about them it says here."""
        labels = self.classes()[0]
        if loss.takes_labels:
            return loss.check_classes(labels)
        loss.encode(labels)
        return labels if len(labels) > 1 else None

    def classes(self) -> tuple[Array, Vector]:
        answers = self._ask("labels")
        labels = merge_labels([found for found, _ in answers])
        share = np.zeros(len(labels))
        for found, weight in answers:
            share[np.searchsorted(labels, found)] += weight
        return labels, share / share.sum()

    def targets(self) -> Array:
        return np.concatenate(self._ask("targets"))

    def weights(self) -> Vector | None:
        return np.concatenate(self._ask("weights")) if any(own.weighted for own in self.info) else None

    def weighted(self, weights: Vector) -> "RemoteSource":
        own = np.split(check_vector(weights, "sample_weight", self.shape[0]), np.cumsum(self.sizes)[:-1])
        twins = self.each(Ask("weighted"), self.bundles, own)
        return RemoteSource(self.each, twins, [info._replace(weighted=True) for info in self.info])

    def in_basis(self, basis: AdditiveBasis, names: Names | None = None) -> "RemoteSource":
        known = "" if names is None else "of a basis"
        info = [own._replace(columns=basis.width, dtypes=("float64",), names=known) for own in self.info]
        return RemoteSource(self.each, self._ask("in_basis", basis, names), info)

    def predictors(self, cols: Columns, coef: Vector, intercept: Intercept) -> Vector:
        return np.concatenate(self._ask("predictors", cols, coef, intercept))


def _check_alike(info: Sequence[PartInfo]) -> None:
    """Raise where bundles do not fit together."""
    from .. import __version__

    first = info[0]
    for i, own in enumerate(info):
        if own.version != __version__:
            raise RuntimeError(
                f"a worker has pursuit {own.version}, and this is {__version__}: install the same on all"
            )
        if own.columns != first.columns:
            raise ValueError(
                f"bundle {i} of the partitions has {own.columns} columns, and bundle 0 has {first.columns}"
            )
        if own.names != first.names:
            raise ValueError(f"bundle {i} of the partitions has other column names than bundle 0")
        if own.outputs != first.outputs:
            raise ValueError(
                f"bundle {i} of the partitions has {own.outputs or 1} targets per row, and bundle 0 has "
                f"{first.outputs or 1}"
            )
    kinds = sorted({dtype for own in info for dtype in own.dtypes})
    if len(kinds) > 1:
        raise TypeError(
            f"some partitions of X hold {kinds[0]} and others {kinds[1]}: give all the same, X.astype({kinds[1]!r})"
        )
