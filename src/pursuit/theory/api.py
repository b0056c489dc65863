"""``theorems``: every result of the five papers, judged on one problem."""

from .._utils.types import ArrayLike
from .._utils.validation import check_k
from ..objectives.base import Objective
from ..solving.result import Result
from . import arht, diht, grahtp, grasp
from .problem import Problem
from .restricted_curvature import Curvature, Levels
from .statements import Statement, Theorems

PAPERS = (grahtp, grasp, diht, arht)

__all__ = ["Statement", "Theorems", "theorems"]


def theorems(
    objective: Objective, k: int, *, target: Result | ArrayLike | None = None, curvature: Curvature | None = None
) -> Theorems:
    """What the papers' theorems say about a problem: whether each condition holds, and the numbers that follow.

    Parameters
    ----------
    objective : Objective
        What is minimised.
    k : int
        The size that solvers are given.
    target : Result, array of shape (p,) or None
        What stands for the papers' unknown x*: a Result of the objective, or true coefficients in the units of X.
        Without it the largest size of a target for which each condition can hold is reported.
    curvature : Curvature or None
        One of the same objective, whose searches are not repeated; with a target it must have been looked at there.

    Returns
    -------
    Theorems
        A table with a :class:`pursuit.Statement` for each result.

    Raises
    ------
    ValueError
        Where ``curvature`` is of another objective or another point.

    See Also
    --------
    curvature : The restricted constants that the conditions need.

    Notes
    -----
    A condition is certified from bounds over all x and refuted by values that are attained (:func:`pursuit.curvature`);
    what lies between is open. The papers' conditions are strong: on most data they are refuted, and their methods work
    nevertheless.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 30)))[0] * np.sqrt(60)
    >>> f = pursuit.GLM(X, X[:, :3].sum(axis=1), fit_intercept=False)
    >>> table = pursuit.theorems(f, 3, target=pursuit.solve(f, 3))
    >>> table["GraHTP Theorem 2(a)"].verdict
    'certified'
    """
    k = check_k(k)
    if curvature is None:
        levels = Levels(objective, target)
    elif not isinstance(curvature, Curvature):
        raise TypeError(f"curvature must be what pursuit.curvature returns, got {type(curvature).__name__}")
    else:
        levels = curvature.levels
        if levels.f is not objective:
            raise ValueError(
                "curvature is of another objective: leave it out, or pass the one that it was computed for"
            )
        if target is not None:
            at = Levels(objective, target).point
            if (
                at.support.tolist() != levels.point.support.tolist()
                or abs(at.coef - levels.point.coef).max(initial=0) > 0
            ):
                raise ValueError("curvature was looked at elsewhere: compute it with at=target, or leave it out")
    size = None if target is None else len(levels.point.support)
    problem = Problem(levels, k, size)
    return Theorems(tuple(s for paper in PAPERS for s in paper.statements(problem)), k, size, levels)
