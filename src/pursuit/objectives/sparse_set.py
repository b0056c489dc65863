"""The sparse set as a user describes it: the arguments that ``solve``, ``path``, ``certify`` and estimators share."""

from typing import TYPE_CHECKING, NamedTuple

from .._utils.types import BoundsLike, ColumnsLike, GroupsLike
from ..constraints import AtMost
from .base import Objective
from .bounded import Bounded

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


class SparseSet(NamedTuple):
    """Which columns and coefficients are allowed, beside the budget k (see ``pursuit.solve`` for the arguments)."""

    include: ColumnsLike = ()
    exclude: ColumnsLike = ()
    groups: GroupsLike = None
    bounds: BoundsLike = None
    sum_to: float | None = None

    @classmethod
    def of(cls, estimator: "BaseEstimator") -> "SparseSet":
        """That of an estimator's parameters, or of anything else that has them as attributes."""
        return cls(*(getattr(estimator, name) for name in cls._fields))

    @property
    def is_bounded(self) -> bool:
        """Whether coefficients have bounds or a given sum."""
        return self.bounds is not None or self.sum_to is not None

    def with_budget(self, f: Objective, k: int) -> AtMost:
        """At most k units of an objective's columns."""
        return f.sparse_set(k, self.include, self.exclude, self.groups)

    def restrict(self, f: Objective) -> Objective:
        """The objective over coefficients within the bounds and with the given sum."""
        return Bounded(f, self.bounds, self.sum_to) if self.is_bounded else f


UNRESTRICTED = SparseSet()


def check_feasible(f: Objective, constraint: AtMost) -> None:
    """Raise where no support has coefficients within the bounds and with the given sum."""
    if reason := f.infeasibility(constraint):
        raise ValueError(reason)


def first_feasible_size(f: Objective, constraint: AtMost) -> int:
    """The smallest size that has coefficients within the bounds and with the given sum, or the budget."""
    sizes = range(len(constraint.include), constraint.k)
    return next((k for k in sizes if not f.infeasibility(constraint.with_budget(k))), constraint.k)
