"""The same rows in other units, and as folds."""

from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from .._utils.column_names import Names
from .._utils.types import Array, Columns, Flags, Intercept, Matrix, Vector
from ..designs import Design, Standardized, spline_columns
from ..designs.spline import read_feature
from ..designs.standardized import MAX_MEAN_TO_SCALE
from ..effects import AdditiveBasis, basis_sums, column_ranges
from ..losses import Loss
from .folds import FoldCache
from .moments import ColumnMoments
from .row_store import View

if TYPE_CHECKING:
    from .rows import Data

MAX_FOLD_GRAM_BYTES = 1 << 27  # bytes that Gram columns of all folds may have together; more where X has more


class ColumnViews(ColumnMoments):
    """Views of the columns, which never copy X, and what leads back to the user's units."""

    def prepare(self, cols: Columns) -> None:
        """Gram columns that several folds will need: where folds share rows, computed for all of them together."""
        if self.shared is not None:
            cache, room = self.shared.cache, self.room.gram
            room = max(MAX_FOLD_GRAM_BYTES, self.nbytes) if room is None else room
            cache.columns(cols[: int(room // (8 * cache.count * self.shape[1]))])

    def standardised(self, m: Vector, s: Vector, constant: NDArray[np.bool_], far: bool) -> "Data":
        """The same rows with columns (X - m) / s, those that are ``constant`` zero."""
        view = self._like(Standardized(self.design, m, s, constant, far), self.rows)
        view._raw = self.raw
        if self._moments is not None:  # which need not be looked for again
            view._moments = self._moments.standardised(m, s, constant)
        if self.shared is not None:
            view.shared = self.shared.standardised(m, s, constant)
        return view

    def in_basis(self, basis: AdditiveBasis, names: Names | None, stored: bool) -> "Data":
        """The same rows with the columns of splines of the user's columns."""
        raw = self.raw
        return raw._like(spline_columns(raw.design, basis, names, stored), raw.rows)

    def column_ranges(self) -> Matrix:
        """The ends and a few distinct values of every column (``effects.column_ranges``), on the rows that count."""
        return self.design.scan(ranges_of, self.rows.c > 0)

    def sampled(self, rows: Columns) -> Matrix:
        """Some rows of X, dense."""
        return self.design.take(rows).block(np.arange(self.shape[1])).dense()

    def basis_sums(self, basis: AdditiveBasis) -> Array:
        """Sums of products of the splines of every feature (``effects.basis_sums``)."""
        return self.design.scan(sums_of, basis, self.rows.c)

    def folds(self, labels: Columns) -> FoldCache:
        """Folds of these rows by a label each (-1: none), with ``train`` and ``held_out``; never a copy of X."""
        return FoldCache(self.raw, labels)

    def bound(self, loss: Loss) -> "Data":
        """The data for an objective, which takes its own view of them; they are made for one loss."""
        if type(loss) is not type(self.loss) or vars(loss) != vars(self.loss):
            raise ValueError(f"these data were made for loss {self.loss.name!r}, not for {loss.name!r}")
        return self.raw

    def shifted(self) -> "Data":
        """X less its ``origin`` where columns have one: an intercept takes up what is taken off."""
        origin = self.origin()
        if origin is None:
            return cast("Data", self)
        return self.in_view((origin, np.ones(len(origin)), np.zeros(len(origin), bool), True))

    def standardized(self, centre: bool) -> "Data":
        """Columns of mean 0 and variance 1; not ``centre``: of mean square 1."""
        m, s, constant = self.scales(centre)
        return self.in_view((m, s, constant, bool((np.abs(m) > MAX_MEAN_TO_SCALE * s).any())))

    def in_view(self, view: View | None) -> "Data":
        """The same rows in a view of columns, such as that of other rows (``view``); None: as they are."""
        if view is None:
            return cast("Data", self)
        twin = self.standardised(*view)
        twin.view = view
        return twin

    @property
    def scale(self) -> Vector:
        """What a column of the user's X is multiplied with in this view; 0 where it is constant."""
        if self.view is None:
            return np.ones(self.shape[1])
        _, s, constant, _ = self.view
        return np.where(constant, 0.0, 1.0 / s)

    def in_units(self, cols: Columns, coef: Vector, b: Intercept) -> tuple[Vector, Intercept]:
        """Coefficients and intercept in the units of the user's X; ``from_units`` is the reverse."""
        return self.design.in_units(cols, coef, b)

    def from_units(self, cols: Columns, coef: Vector, b: Intercept) -> tuple[Vector, Intercept]:
        return self.design.from_units(cols, coef, b)


def ranges_of(design: Design, counted: Flags) -> Matrix:
    """``column_ranges`` of the rows of a design that count, column by column."""
    found = [column_ranges(read_feature(design, j)[counted, None]) for j in range(design.shape[1])]
    return np.concatenate(found)


def sums_of(design: Design, basis: AdditiveBasis, c: Vector) -> Array:
    """``basis_sums`` of the rows of a design."""
    return basis_sums(basis, lambda j: read_feature(design, j), c)
