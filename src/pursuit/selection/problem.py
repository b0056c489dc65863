"""What is chosen from: data, an objective at any ridge, and the sparse set; the same on all rows and on a fold."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._utils.types import Array, ArrayLike, Keywords, Vector
from ..constraints import AtMost
from ..data.rows import Data
from ..objectives import GLM
from ..objectives.base import Objective
from ..objectives.bounded import INFEASIBLE
from ..objectives.point import Point
from ..objectives.sparse_set import UNRESTRICTED, SparseSet, first_feasible_size
from ..paths import every_size, path
from ..solvers.base import Solver
from .ridge_scale import mean_column_square, ridge_scale

MAX_UNITS_PER_ROW = 0.8  # no model has more units than this share of the rows
MAX_COUNT = 2.0**53  # of repeated rows: beyond it every double is a whole number
REFIT_RIDGE = 1e-3  # ridge of a refit, in h, where no ridge may mean no minimiser


@dataclass(frozen=True)
class Problem:
    """All rows, and what was said of columns and coefficients."""

    data: Data
    n: float  # rows that count
    fit_intercept: bool = True
    standardize: bool = True
    solver: str | Solver = "auto"
    allowed: SparseSet = UNRESTRICTED
    limits: Keywords = field(default_factory=dict)  # of the runs of a solver other than "auto"

    @property
    def loss(self) -> Any:
        return self.data.loss

    @property
    def variants(self) -> "tuple[Problem, ...]":
        """Itself, and problems on the same columns with other sparse sets, whose models are candidates too."""
        return (self,)

    def objective(self, data: Data, l2: float) -> GLM:
        """The objective on some of the rows."""
        return GLM(data, loss=self.loss, l2=l2, fit_intercept=self.fit_intercept, standardize=self.standardize)

    def at(self, f: GLM, l2: float) -> GLM:
        """The same objective with another ridge; what is known of its columns is shared."""
        f.null  # noqa: B018  # which twins then have
        twin = f.ridged(np.zeros(()))
        twin.ridge = l2  # a sum would be rounded
        return twin

    def restricted(self, f: "GLM") -> Objective:
        """The objective over what bounds and a sum leave."""
        return self.allowed.restrict(f)

    def sparse_set(self, f: "GLM", k: int) -> AtMost:
        """At most k units, or as many as there are."""
        return self.allowed.with_budget(f, max(k, 1)).with_budget(k)

    def most(self, f: "GLM", n: float, wanted: int) -> tuple[int, int]:
        """The least and the largest size of a model on n rows: what is forced in, and 0.8 n or all there is.

        Rows that are alike count once: more features than different rows fit these exactly, and nothing but rounding
        tells such models apart. Different rows are counted as far as sizes up to ``wanted`` need it.
        """
        whole = self.allowed.with_budget(f, f.dim // f.width)
        limit = int(np.ceil((min(wanted, whole.k) + 1) / MAX_UNITS_PER_ROW))
        rows = f.data.raw.distinct_rows(limit)
        n = n if rows == limit else min(n, rows)
        return len(whole.include), max(len(whole.include), min(whole.k, int(MAX_UNITS_PER_ROW * n)), 1)

    def points(self, f: "GLM", k: int, sizes: Sequence[int] = ()) -> dict[int, Point]:
        """The best points of every size up to k that can be had; with ``sizes`` only these are searched for."""
        g, constraint = self.restricted(f), self.sparse_set(f, k)
        if self.solver == "auto" and not self.allowed.is_bounded:
            return every_size(g, constraint, sizes)
        first = first_feasible_size(g, constraint)
        found = path(f, range(first, k + 1), solver=self.solver, **self.allowed._asdict(), **self.limits)
        return {size: result.point for size, result in zip(found.sizes, found, strict=True) if _met(result.point)}

    def h(self, f: "GLM") -> float:
        """The unit of ridges."""
        return ridge_scale(f.data, f.null.free, self.unit(f))

    def unit(self, f: "GLM") -> float:
        """The mean square of a column as f sees it: 1 where columns are standardised."""
        return mean_column_square(f.data, self.fit_intercept, self.standardize)

    def refit_ridge(self, h: float) -> float:
        """0 where a refit needs no ridge (squared, Huber), else 0.001 h."""
        return 0.0 if self.loss.targets == "real" and self.loss.attained else REFIT_RIDGE * h


def rows_that_count(sample_weight: ArrayLike | None, c: Vector) -> Array:
    """How often each row counts in n: once if it has a weight; where all weights are whole numbers, so often.

    Numbers so large that a double holds no fractions beside them are no counts.
    """
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weights is not None and weights.ndim == 1 and (weights == np.floor(weights)).all():
        with np.errstate(over="ignore"):
            if weights.sum() <= MAX_COUNT:
                return weights
    return c > 0


def _met(point: Point) -> bool:
    return point.value < INFEASIBLE
