"""From what a user has to data, or to one sentence about what is wrong with it."""

import copy
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import DTypeLike

from .._utils.column_names import Names
from .._utils.labels import as_labels, distinct_labels, merge_labels
from .._utils.row_order import warn_row_order
from .._utils.types import Array, ArrayLike, Columns, Intercept, MatrixLike, StoredMatrix, Vector
from .._utils.validation import check_offset, check_shape, check_vector, check_weights
from ..designs import Design, Rows, as_design, spline_columns
from ..effects import AdditiveBasis
from ..engines import Map, in_turn
from ..losses import Loss
from ..losses.base import check_derivative
from ..losses.multinomial import indicators
from .parts import Parts
from .rows import Data

if TYPE_CHECKING:
    from pandas import DataFrame


class Source:
    """Rows that bring their own targets, weights and offset: what ``GLM`` and ``fit`` take in place of X, y.

    A class for rows elsewhere (on a disk, on workers) inherits this, and gives the attributes and methods.
    No question moves rows of X to the caller. ``targets`` and ``weights`` bring one number a row (8 bytes; a label: its
    own size), and are read by what deals out rows (folds, half-samples) and by ``score``, not by a plain fit.

    Attributes
    ----------
    shape, dtype, names : of X, all rows together; names are those of the columns, or None
    outputs : 0 where a row has one target, else how many
    in_memory : whether rows of X may be read one by one at no cost
    has_offset : whether scorers, which know no offset, would go wrong
    """

    shape: tuple[int, int]
    dtype: DTypeLike
    names: Names | None
    outputs: int = 0
    in_memory: bool = False
    has_offset: bool = False

    def bound(self, loss: Loss, classes: Array | None = None, factors: Vector | None = None) -> Data:
        """The data under a loss.

        ``classes`` are all labels, sorted: a target is then the place of its label (several outputs: 1 in its place).
        ``factors``, one per class, multiply the weights. Weights of all rows sum to one afterwards.
        """
        raise NotImplementedError

    def classes(self) -> tuple[Array, Vector]:
        """The labels in all parts, sorted, and the share of the weights that each has."""
        raise NotImplementedError

    def targets(self) -> Array:
        """The targets (labels) of all rows as they were given, in their order."""
        raise NotImplementedError

    def weights(self) -> Vector | None:
        """The weights of all rows as they were given, in their order; None where there are none."""
        raise NotImplementedError

    def weighted(self, weights: Vector) -> Self:
        """The same rows with other weights, one per row of all parts."""
        raise NotImplementedError

    def predictors(self, cols: Columns, coef: Vector, intercept: Intercept) -> Vector:
        """X[:, cols] coef + intercept + offset of all rows, in their order; a column per output where coef has some."""
        raise NotImplementedError

    def in_basis(self, basis: AdditiveBasis, names: Names | None = None) -> "Source":
        """The same rows with the columns of splines of these, computed when they are needed."""
        raise NotImplementedError

    def splittable(self) -> Any:
        """What a splitter gets as X: only its number of rows counts."""
        return np.empty((self.shape[0], 0))

    def subset(self, rows: Columns) -> Any:
        """What a scorer gets as X: some of the rows, which predict."""
        return RowSubset(self, rows)


class RowSubset(Source):
    """Some rows of a source, for a scorer: their predictors are taken from those of all."""

    def __init__(self, source: Source, rows: Columns) -> None:
        self.source, self.rows = source, rows
        self.shape, self.dtype, self.names = (len(rows), source.shape[1]), source.dtype, source.names

    def predictors(self, cols: Columns, coef: Vector, intercept: Intercept) -> Vector:
        return self.source.predictors(cols, coef, intercept)[self.rows]

    def in_basis(self, basis: AdditiveBasis, names: Names | None = None) -> "RowSubset":
        return RowSubset(self.source.in_basis(basis, names), self.rows)


class Arrays(Source):
    """X and y in memory, validated. ``frame``: X as the user gave it, for splitters and scorers; None: X itself."""

    in_memory = True

    def __init__(
        self,
        X: StoredMatrix,
        y: Array,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        names: Names | None = None,
        frame: "DataFrame | None" = None,
    ) -> None:
        self.X, self.y, self.sample_weight, self.offset = X, y, sample_weight, offset
        self.shape, self.dtype, self.names = X.shape, X.dtype, names
        self.outputs, self.has_offset = 0 if y.ndim == 1 else y.shape[1], offset is not None
        self.frame = X if frame is None else frame

    def bound(self, loss: Loss, classes: Array | None = None, factors: Vector | None = None) -> Data:
        y, weights = self.y, self.sample_weight
        if classes is not None:
            codes = np.searchsorted(classes, y)
            y = indicators(codes, len(classes)) if loss.takes_labels else codes
            weights = weights if factors is None else check_weights(weights, len(codes)) * factors[codes]
        return as_data(as_design(self.X, self.names), y, loss, weights, self.offset)

    def classes(self) -> tuple[Array, Vector]:
        return labels_and_shares(self.y, self.sample_weight)

    def targets(self) -> Array:
        return self.y

    def weights(self) -> Vector | None:
        return self.sample_weight  # type: ignore[return-value]  # as it was given

    def weighted(self, weights: Vector) -> Self:
        twin = copy.copy(self)
        twin.sample_weight = check_vector(weights, "sample_weight", self.shape[0])
        return twin

    def predictors(self, cols: Columns, coef: Vector, intercept: Intercept) -> Vector:
        return predictors(as_design(self.X), cols, coef, intercept, self.offset)

    def splittable(self) -> Any:
        return self.frame

    def subset(self, rows: Columns) -> Any:
        from sklearn.utils import _safe_indexing  # which objectives do not load

        return _safe_indexing(self.frame, rows)


class InParts(Source):
    """Data whose rows lie in several pieces, for ``GLM(InParts([(X1, y1), (X2, y2)]), loss=...)`` and for ``fit``.

    Parameters
    ----------
    parts : sequence of tuple
        Tuples (X, y), (X, y, sample_weight) or (X, y, sample_weight, offset), all with the same columns.
    each : callable, default pursuit.engines.in_turn
        What calls the parts: ``pursuit.engines.in_turn`` or ``pursuit.engines.in_threads``.

    See Also
    --------
    open_data : Parts on a disk.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> parts = pursuit.InParts([(X[:40], y[:40]), (X[40:], y[40:])])
    >>> pursuit.SparseRegressor(k=2).fit(parts).support_.tolist()
    [3, 7]
    """

    def __init__(self, parts: Sequence[Sequence[Any]], each: Map = in_turn) -> None:
        if not isinstance(parts, list | tuple) or not all(isinstance(part, list | tuple) for part in parts):
            raise TypeError("parts must be a list of tuples (X, y), (X, y, weights) or (X, y, weights, offset)")
        if not callable(each):
            raise TypeError(f"each must be a function like pursuit.engines.in_turn, got {type(each).__name__}")
        pieces = [tuple(part) for part in parts]
        if not pieces:
            raise ValueError("parts must hold at least one part (X, y)")
        self.each = each
        self.parts: list[tuple[Any, Any, Any, Any]] = []
        for i, piece in enumerate(pieces):
            if not 2 <= len(piece) <= 4:
                raise ValueError(f"part {i} must be (X, y), (X, y, weights) or (X, y, weights, offset)")
            X, y, weight, offset = (*piece, None, None)[:4]
            warn_row_order(X, y=y, sample_weight=weight, offset=offset)
            self.parts.append((_said(i, as_design, X), y, weight, offset))
        self.width = self.parts[0][0].shape[1]
        for i, (design, *_) in enumerate(self.parts):
            if design.shape[1] != self.width:
                raise ValueError(f"part {i} has {design.shape[1]} columns, and part 0 has {self.width}")
            if design.names != self.parts[0][0].names:
                raise ValueError(f"part {i} has other column names than part 0")
            if design.products_only and len(self.parts) > 1:
                raise TypeError(f"part {i} is a LinearOperator, and an operator must be one part: it knows no rows")
        designs = [design for design, *_ in self.parts]
        self.sizes = [design.shape[0] for design in designs]
        self.shape, self.dtype, self.names = (sum(self.sizes), self.width), designs[0].dtype, designs[0].names
        shapes = {_said(i, check_shape, y, "y")[1:]: i for i, (_, y, *_) in reversed([*enumerate(self.parts)])}
        if len(shapes) > 1:
            by_part = sorted(shapes.items(), key=lambda shape: shape[1])
            counts = [f"part {i} has {shape[0] if shape else 1}" for shape, i in by_part]
            raise ValueError(f"y must have the same number of targets per row in every part: {', '.join(counts[:3])}")
        self.outputs = 0 if () in shapes else next(iter(shapes))[0]

    def bound(self, loss: Loss, classes: Array | None = None, factors: Vector | None = None) -> Data:
        designs, ys, weights, offsets = zip(*self.parts, strict=True)
        sizes = self.sizes
        raw = [_said(i, _raw, *given) for i, given in enumerate(zip(weights, sizes, strict=True))]
        if classes is not None:
            codes = [_said(i, place_of, y, classes) for i, y in enumerate(ys)]
            ys = tuple(indicators(own, len(classes)) if loss.takes_labels else own for own in codes)
            raw = raw if factors is None else [w * factors[own] for w, own in zip(raw, codes, strict=True)]
        shares = np.split(check_weights(np.concatenate(raw), sum(sizes)), np.cumsum(sizes)[:-1])
        given = enumerate(zip(_encoded(loss, ys), shares, offsets, strict=True))
        rows = [_said(i, _rows, loss, *own) for i, own in given]
        parts = [Data(design, own, loss) for design, own in zip(designs, rows, strict=True)]
        return parts[0] if len(parts) == 1 else Parts(parts, self.each)

    def classes(self) -> tuple[Array, Vector]:
        labels = self.targets()
        if labels.ndim != 1:
            raise ValueError(f"y must have one label per row of X, got {labels.shape[1]} columns")
        return labels_and_shares(labels, self.weights())

    def targets(self) -> Array:
        ys = [np.asarray(y) if hasattr(y, "dtype") else as_labels(y) for _, y, *_ in self.parts]
        for i, (y, n) in enumerate(zip(ys, self.sizes, strict=True)):
            if y.ndim == 0 or len(y) != n:
                raise ValueError(f"part {i}: y must have one entry per row of X, shape ({n},), got shape {y.shape}")
            if (y.dtype.kind in "OUS") != (ys[0].dtype.kind in "OUS"):
                raise ValueError(f"part {i} has targets of dtype {y.dtype}, and part 0 of dtype {ys[0].dtype}")
        return np.concatenate(ys)

    def weights(self) -> Vector | None:
        given = [weight for _, _, weight, _ in self.parts]
        if all(weight is None for weight in given):
            return None
        return np.concatenate([_said(i, _raw, *own) for i, own in enumerate(zip(given, self.sizes, strict=True))])

    def weighted(self, weights: Vector) -> Self:
        own = np.split(check_vector(weights, "sample_weight", self.shape[0]), np.cumsum(self.sizes)[:-1])
        twin = copy.copy(self)
        twin.parts = [(X, y, w, o) for (X, y, _, o), w in zip(self.parts, own, strict=True)]
        return twin

    def without_targets(self) -> Self:
        """The same rows with targets of zero, and no offset: for what looks at X only."""
        twin = copy.copy(self)
        twin.parts = [(X, np.zeros(n), w, None) for (X, _, w, _), n in zip(self.parts, self.sizes, strict=True)]
        twin.outputs = 0
        return twin

    def in_basis(self, basis: AdditiveBasis, names: Names | None = None) -> Self:
        twin = copy.copy(self)
        twin.parts = [(spline_columns(X, basis, names, False), *beside) for X, *beside in self.parts]
        twin.width, twin.names, twin.dtype = basis.width, names, np.dtype(np.float64)
        twin.shape = self.shape[0], basis.width
        return twin

    def predictors(self, cols: Columns, coef: Vector, intercept: Intercept) -> Vector:
        return np.concatenate([predictors(X, cols, coef, intercept, offset) for X, _, _, offset in self.parts])


def labels_and_shares(labels: Array, weights: ArrayLike | None) -> tuple[Array, Vector]:
    """The distinct labels, sorted, and the share of the weights that each has."""
    found, codes = distinct_labels(labels)
    return found, np.bincount(codes, check_weights(weights, len(labels)), len(found)).astype(np.float64)


def opened(X: MatrixLike) -> Any:
    """Data on a disk where X is the path to them, else X."""
    if not isinstance(X, str | os.PathLike):
        return X
    from .disk import open_data  # which makes data in parts

    return open_data(X)


def is_dask(X: MatrixLike) -> bool:
    """Whether X is a Dask collection."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def as_data(
    X: MatrixLike, y: ArrayLike | None, loss: Loss, sample_weight: ArrayLike | None, offset: ArrayLike | None
) -> Data:
    """X, y and what belongs to them as data; parts bring their own y, weights and offset."""
    if is_dask(X):
        from .dask import from_dask  # which is built on this

        return from_dask(X, y, sample_weight, offset).bound(loss)
    X = opened(X)
    if isinstance(X, Source | Data):
        if not (y is None and sample_weight is None and offset is None):
            raise TypeError("data in parts bring their own: leave y, sample_weight and offset out")
        return X.bound(loss)
    warn_row_order(X, y=y, sample_weight=sample_weight, offset=offset)
    design = as_design(X)
    design.expect_many_passes()
    rows = _rows(loss, y, check_weights(sample_weight, design.shape[0]), offset)
    return Data(design, rows, loss)


def _encoded(loss: Loss, ys: Sequence[Any]) -> Sequence[Any]:
    """The targets of all parts; labels of classes must be distinguishable from those of all of them."""
    if loss.takes_labels and all(np.ndim(y) == 1 for y in ys):
        labels = [_said(i, as_labels, y) for i, y in enumerate(ys)]
        classes = loss.check_classes(merge_labels([distinct_labels(own)[0] for own in labels]))
        return [indicators(np.searchsorted(classes, own), len(classes)) for own in labels]
    if loss.targets == "binary":
        try:
            loss.encode(np.concatenate([np.unique(y) for y in ys]))
        except ValueError as error:
            raise ValueError(f"the parts have different classes: {error}") from None
    return ys


def predictors(design: Design, cols: Columns, coef: Vector, intercept: Intercept, offset: ArrayLike | None) -> Vector:
    """X[:, cols] coef + intercept + offset; a column per output where coef has some."""
    several = coef.ndim == 2
    eta = design.matmat(cols, coef if several else coef[:, None])
    eta = (eta if several else eta[:, 0]) + intercept
    shift = check_offset(offset, len(eta), coef.shape[1] if several else 0)
    return eta if shift is None else eta + shift


def place_of(y: ArrayLike | None, classes: Array) -> Columns:
    """The places of labels among all of them."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must have one label per row, got shape {labels.shape}")
    at = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    unknown = np.flatnonzero(classes[at] != labels)
    if len(unknown):
        raise ValueError(f"y holds {labels[unknown[0]]!r}, which is none of the classes")
    return at


def _raw(weights: Vector | None, n: int) -> Any:
    """Weights of a part, as they are given."""
    if weights is None:
        return np.ones(n)
    given = check_vector(np.broadcast_to(weights, n) if np.ndim(weights) == 0 else weights, "sample_weight", n)
    if given.min() < 0:
        raise ValueError(f"sample_weight must be non-negative, got {given.min():g}")
    return given


def _rows(loss: Loss, y: ArrayLike | None, c: Vector, offset: ArrayLike | None) -> Rows:
    n, shape = len(c), check_shape(y, "y")
    if loss.several and len(shape) == 2:
        if shape[0] != n or shape[1] == 0:
            raise ValueError(f"y must have one row per row of X, shape ({n}, q), got shape {shape}")
    elif len(shape) != 1 or shape[0] != n:
        more = f"; loss {loss.name!r} takes one target per row" if len(shape) == 2 and shape[1] > 1 else ""
        noun = "label" if loss.takes_labels else "entry"
        raise ValueError(f"y must have one {noun} per row of X, shape ({n},), got shape {shape}{more}")
    targets = loss.encode(np.asarray(y) if y is None else y)
    shift = check_offset(offset, n, 0 if targets.ndim == 1 else targets.shape[1])
    if shift is not None and targets.ndim == 2:
        shift = np.broadcast_to(shift, targets.shape).copy()
    rows = Rows(targets, c, shift)
    if loss.code is None and loss.separable and targets.ndim == 1:
        with np.errstate(all="ignore"):
            check_derivative(loss, targets)
    return rows


def _said(i: int, make: Any, *given: Any) -> Any:
    """What ``make`` makes of a part; what it has to say names the part."""
    try:
        return make(*given)
    except ValueError as error:
        raise ValueError(f"part {i}: {error}") from None
