"""The end of a dual ascent: the perspective relaxation, whose dual variables come near the maximum of D.

max_a D(a) is the value of  min sum_i c_i phi + l2 K(x),  K half the squared k-support norm, which accelerated proximal
gradient steps solve on a working set of columns (:mod:`pursuit.relaxations`). Every round gives feasible dual variables
a, and so a bound; the support top(z(a)) is refitted as after any other epoch. Yields at most ``MAX_ROUNDS`` points.
"""

from collections.abc import Iterator

from ..constraints import AtMost
from ..engines import check_time
from ..objectives.base import Objective, Point
from ..objectives.dual import Dual
from ..relaxations.working_columns import Round, working_set

MAX_ROUNDS = 2  # a second one after a better point was found: its value is the new target


class _Goal:
    """Up to the best value: a bound that reaches it is a proof."""

    def __init__(self, upper: float) -> None:
        self.upper = self.target = upper

    def late(self) -> bool:
        """Time limits are the loop's, which an exception tells."""
        check_time()
        return False


def relaxed_ascent(f: Objective, dual: Dual, constraint: AtMost, best: Point, lower: float) -> Iterator[Point]:
    """Points with bounds from the relaxation, beginning at the best point that the ascent has met."""
    hand = Round()
    for _ in range(MAX_ROUNDS):
        if lower >= best.value:
            return
        lower = max(lower, working_set(dual.f, constraint, best, _Goal(best.value), lower, hand))
        support, _ = dual.primal(hand.dual[1], constraint)
        point = f.refit(support, start=best)
        yield point.bounded(lower)
        if not point.value < best.value:
            return
        best = point
