"""What an objective is asked beyond values and derivatives, and the answer of one that declares nothing."""

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from .._names import Names, called
from ..constraints import AtMost
from .base import Columns, Objective, Point, Vector
from .model import Model
from .on_support import OnSupport

if TYPE_CHECKING:
    from .dual import Dual
    from .searched import Plan, Searched

NEEDS = {
    "dual": "a dual method needs a GLM with one output, without sum_to",
    "minibatch": "a stochastic method needs an objective that is a sum over samples",
}


class Presented(NamedTuple):
    """A point in the user's terms.

    ``support`` says which of ``dim`` columns are used and ``coef`` has one entry (or row) for each of them; where a
    coordinate is a pair of columns, ``support`` has a row for each pair. ``intercept`` is what is free.
    """

    dim: int
    support: Columns
    coef: Vector
    intercept: Any
    names: tuple[str, ...] | None


class Asked:
    """Coordinates are the user's columns, or ``width`` of them side by side are one.

    ``offers`` is what solvers may need (:attr:`pursuit.Solver.needs`) and this objective has.
    """

    dim: int
    width: int = 1
    names: Names | None = None
    offers: ClassVar[tuple[str, ...]] = ("minibatch",)

    def sparse_set(self, k: Any, include: Any = (), exclude: Any = (), groups: Any = None) -> AtMost:
        """The sparse set over the coordinates, from what a user says of columns."""
        columns = AtMost(k, self.dim // self.width, include, exclude, groups, self.names)
        return columns if self.width == 1 else columns.spread(self.width)

    def in_units(self, point: Point) -> tuple[Vector, Any]:
        return point.coef, point.free

    def present(self, point: Point) -> Presented:
        support, (coef, free) = point.support, self.in_units(point)
        if self.width > 1:
            support, coef = np.unique(support // self.width), coef.reshape(-1, self.width)
        names = None if self.names is None else tuple(self.names[j] for j in support)
        return Presented(self.dim // self.width, support, coef, free, names)

    def called(self, cols: Columns) -> str:
        return called(np.unique(cols // self.width), self.names)

    def require(self, need: str) -> None:
        if need not in self.offers:
            raise TypeError(f"{NEEDS.get(need, f'the solver needs {need!r}')}, got {type(self).__name__}")

    def dual(self) -> "Dual":
        self.require("dual")
        raise NotImplementedError(f"{type(self).__name__} offers a dual and must define dual()")

    def feasible(self, point: Point, constraint: AtMost) -> Point:
        return point

    def few(self: Any, support: Columns, gathered: bool = False) -> Any:
        return OnSupport(self, support)

    def exchange_model(self: Any, point: Point, cols: Columns, others: Columns | None = None) -> Model:
        return Model(self, point, cols, others)

    def rough_rows(self, point: Point, cols: Columns) -> tuple[Any, Vector] | None:
        return None

    def quick_search(self, constraint: AtMost, start: Columns, plan: "Plan") -> "Searched | None":
        return None


WANTED = [name for name in (*Objective.__annotations__, *vars(Objective)) if not name.startswith("_")]


def missing(f: Any) -> list[str]:
    """What something lacks to be an objective, by name; nothing is evaluated."""
    own = getattr(f, "__dict__", ())
    return [name for name in WANTED if not hasattr(type(f), name) and name not in own]
