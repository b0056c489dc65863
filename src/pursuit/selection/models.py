"""Many models on a few columns, kept together: one gather and one product give all their predictions."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.types import Columns, Matrix, Vector
from ..data.rows import Data
from ..objectives.point import Point
from .grid import Grid
from .problem import Problem

if TYPE_CHECKING:
    from ..objectives.glm import GLM


@dataclass(frozen=True)
class Models:
    """m models of an objective f: coefficients B, m x columns x outputs, and intercepts b, m x outputs, in f's units.

    ``points``: where they come from paths, every size's best point by variant of the problem and ridge.
    """

    f: "GLM"
    cols: Columns
    B: Vector
    b: Matrix
    points: dict[tuple[int, float], dict[int, Point]] = field(default_factory=dict, repr=False)

    def losses(self, rows: Data) -> Vector:
        """Mean losses on some rows, whose columns are seen as f sees its own."""
        lost = rows.in_view(self.f.data.view).batch(self.cols, self.B).losses(self.b) / rows.weight
        rows.forget()
        return np.where(np.isfinite(lost), lost, np.finfo(float).max ** 0.5)  # what overflows is as bad as can be

    def only(self, i: int) -> "Models":
        """Model i alone."""
        return Models(self.f, self.cols, self.B[i : i + 1], self.b[i : i + 1])

    @property
    def null(self) -> Vector:
        """Intercepts of the model without features."""
        return np.atleast_1d(np.asarray(self.f.null.free))

    def mixed(self, weights: Vector) -> tuple[Matrix, Vector]:
        """The coefficients of a weighted average, columns x outputs, and its intercepts."""
        return np.tensordot(weights, self.B, 1), weights @ self.b

    def in_units(self, i: int) -> tuple[Columns, Vector, Any]:
        """Columns that model i uses, its coefficients and intercept in the units of X; one output has no axis."""
        used = self.B[i].any(axis=1)
        cols, B, b = self.cols[used], self.B[i][used], self.b[i]
        one = self.f.width == 1
        return cols, *self.f.data.in_units(cols, B[:, 0] if one else B, float(b[0]) if one else b)


def candidates(problem: Problem, f: "GLM", grid: Grid, n: float, every_size: bool = True) -> Models:
    """All candidates of a grid on the rows of f, n of them: gamma times the ridge fit, the rest the refit.

    ``f`` has the refit's ridge. Where the rows allow fewer units than a candidate has, it is the largest they allow.
    Without ``every_size`` only the grid's sizes are searched for; ``points`` between them are what was passed through.
    """
    q, most = f.width, problem.most(f, n, grid.ks[-1])[1]
    found, points = list[Point](), {}
    for number, variant in enumerate(problem.variants):
        for l2 in grid.ridges:
            wanted = () if every_size else grid.ks
            sizes = points[number, l2] = variant.points(problem.at(f, l2), min(grid.ks[-1], most), wanted)
            within = [min(k, max(sizes)) for k in grid.ks]
            found += [sizes[size if size in sizes else min(sizes)] for size in within]
    supports = {point.support.tobytes(): point.support for point in found if min(grid.gammas) < 1}
    refits = dict(zip(supports, problem.restricted(f).refits(list(supports.values())), strict=True))
    own = np.repeat([l2 == grid.refit for l2 in grid.variants * grid.ridges], len(grid.ks))
    fits = [
        (point, point if same else refits.get(point.support.tobytes(), point))
        for point, same in zip(found, own, strict=True)
    ]
    cols = np.unique(np.concatenate([point.support for point, _ in fits]) // q).astype(np.int64)
    shape = grid.variants * len(grid.ridges), len(grid.ks), len(grid.gammas)
    B, b = np.zeros((*shape, len(cols), q)), np.zeros((*shape, q))
    for i, (point, refit) in enumerate(fits):
        r, s = divmod(i, shape[1])
        place = np.searchsorted(cols, point.support[::q] // q)
        for g, gamma in enumerate(grid.gammas):
            B[r, s, g, place] = (gamma * point.coef + (1 - gamma) * refit.coef).reshape(-1, q)
            b[r, s, g] = gamma * np.asarray(point.free) + (1 - gamma) * np.asarray(refit.free)
    order = (1, 0, 2)  # sizes slowest
    many = int(np.prod(shape))
    by_size = B.transpose(*order, 3, 4).reshape(many, len(cols), q)
    return Models(f, cols, by_size, b.transpose(*order, 3).reshape(many, q), points)
