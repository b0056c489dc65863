"""All single exchanges of a least squares problem from an orthonormal basis of the chosen columns.

The formula on the Gram matrix (``exchanges``) squares the condition number: it has no digits where the chosen columns
are close to dependent. Here Q is an orthonormal basis of the columns themselves (length 1, the ridge as further rows),
A_S = Q R, T = R^-1, u_i = T_i / |T_i| the direction of Q that column i alone adds, V = Q'A, E = A - Q V (projected
twice), r the residual, g = E'r, d_j = |E_j|^2, a_i = u_i'Q'y, w_ij = u_i'V_j. Exchanging i for j changes f by

    a_i^2 / 2 - (g_j + w_ij a_i)^2 / (2 (d_j + w_ij^2))  =  (a_i^2 d_j - g_j^2 - 2 g_j w_ij a_i) / (2 (d_j + w_ij^2)),

and the second form does not cancel where j is close to a combination of the chosen columns. Of several responses a_i
and g_j have a number for each: squares are those of norms, products are inner ones.

Rounding perturbs columns of length 1 by e = ``SUM_ROUNDING``. To first order that changes E_j by e (1 + |T V_j|_1), u_i
by e sum_l |T_l|, and g, d, w and a accordingly: ``noise`` bounds what it does to the change of every pair.

Cost: 4 n k m flops for m columns, and a dense copy of X.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from .._utils.rounding import SUM_ROUNDING
from .._utils.types import Columns, Flags, Matrix, Vector
from ..kernels.unit_columns import UnitColumns

MIN_PIVOT_LENGTH = 1e-11  # part of a chosen column outside of the earlier ones, below which the basis has no digits
MIN_NEWCOMER_LENGTH = 1e-14  # length of the part of a newcomer outside of the basis that is rounding
ENTRIES_AT_A_TIME = 4e6  # numbers of columns that are projected at once
MAX_REPORTED_NOISE = 1e-3  # of the null value: noise (a bound, mostly far too large) up to which a change is reported


class PairSweep(NamedTuple):
    """Per column outside: the best exchange with it and its noise; per pair of a free column and one outside: unsure.

    ``who`` is a position in the support, ``reported`` the pair of positions of least change among those whose change
    has digits, and that change.
    """

    change: Vector
    who: Columns
    noise: Vector
    unsure: Flags
    reported: tuple[int, int, float] | None


def sweep(problem: UnitColumns, support: Columns, others: Columns, free: Flags, helps: float) -> PairSweep | None:
    """Judge every exchange of a free column of the support for one of the others.

    Parameters
    ----------
    problem : the columns, the target and the ridge
    support, others : the columns inside and outside
    free : which of the support may leave
    helps : by how much an exchange must lower f to count

    Returns
    -------
    PairSweep or None
        None where the support is too close to dependent for a basis in double precision.
    """
    if problem.square[support].min(initial=np.inf) <= 0:
        return None
    k, Y = len(support), problem.target.T
    alive, ridged = problem.square > 0, bool(problem.ridge.any())
    total = np.where(alive, problem.square + problem.ridge, 1.0)
    ridge, shrink = problem.ridge / total, np.sqrt(problem.square / total)  # squared ridge rows; length of the others
    A = problem.columns[:, support]
    if ridged:
        A = np.vstack([A * shrink[support], np.diag(np.sqrt(ridge[support]))])
        Y = np.vstack([Y, np.zeros((k, Y.shape[1]))])
    Q, R = np.linalg.qr(A)
    if not (len(R) == k and np.abs(R.diagonal()).min() > MIN_PIVOT_LENGTH):
        return None
    T = np.triu(lapack.dtrtri(R)[0])
    sizes = np.linalg.norm(T, axis=1)
    z = Q.T @ Y
    rest = Y - Q @ z
    again = Q.T @ rest
    rest, z = rest - Q @ again, z + again
    state = _State(Q, T, T[free] / sizes[free, None], T @ z, z, rest, float(sizes.sum()), float(np.linalg.norm(Y)))
    room, pieces = max(1, int(ENTRIES_AT_A_TIME / len(Y))), list[PairSweep]()
    for first in range(0, len(others), room):
        cols = others[first : first + room]
        outside = problem.columns[:, cols]
        if ridged:
            outside = np.vstack([outside * shrink[cols], np.zeros((k, len(cols)))])
        pieces.append(_judge(state, outside, np.where(alive, ridge, 0.0)[cols], alive[cols], helps, first))
    change, who, noise, unsure = (
        np.concatenate(some, axis=-1) for some in zip(*(at[:4] for at in pieces), strict=True)
    )
    known = [piece.reported for piece in pieces if piece.reported is not None]
    where = np.flatnonzero(free)
    best = min(known, key=lambda pair: pair[2], default=None)
    return PairSweep(
        change, where[who], noise, unsure, None if best is None else (int(where[best[0]]), best[1], best[2])
    )


class _State(NamedTuple):
    """The basis, its triangular inverse, the directions that free columns alone add, coefficients, Q'y, the residual.

    Coefficients, Q'y and the residual have a column for each response. ``spread`` is the sum of the lengths of the rows
    of T, ``size`` the length of y.
    """

    Q: Matrix
    T: Matrix
    own: Matrix
    coef: Matrix
    z: Matrix
    rest: Matrix
    spread: float
    size: float


def _judge(state: _State, outside: Matrix, tail: Vector, alive: Flags, helps: float, first: int) -> PairSweep:
    """Judge some columns outside; ``tail`` is the squared ridge row of each, ``first`` the position of the first."""
    Q = state.Q
    V = Q.T @ outside
    E = outside - Q @ V
    again = Q.T @ E
    E -= Q @ again
    V += again
    d, G = np.einsum("ij,ij->j", E, E) + tail, state.rest.T @ E
    own, W = state.own @ state.z, state.own @ V
    g, a = np.linalg.norm(G, axis=0), np.linalg.norm(own, axis=1)[:, None]
    curve = d + W**2
    change = a**2 * d - g**2 - 2 * W * (own @ G)
    real = curve > MIN_NEWCOMER_LENGTH**2
    change = np.where(real, 0.5 * change / np.where(real, curve, 1.0), 0.5 * a**2)
    noise = np.where(real, _noise(state, V, d, g, W, a, curve, change), np.where(alive, np.inf, 0.0))
    at, here = np.argmin(change, axis=0), np.arange(len(d))
    shown = np.where((noise <= MAX_REPORTED_NOISE * 0.5 * state.size**2) & alive, change, np.inf)
    leave, enter = np.unravel_index(int(np.argmin(shown)), shown.shape)
    least = float(shown[leave, enter])
    reported = (int(leave), first + int(enter), least) if np.isfinite(least) else None
    return PairSweep(change[at, here], at, noise[at, here], change < noise - helps, reported)


def _noise(
    state: _State, V: Matrix, d: Vector, g: Vector, W: Matrix, a: Matrix, curve: Matrix, change: Matrix
) -> Matrix:
    """What rounding may add to the change of every pair; g and a are norms over the responses."""
    moved = SUM_ROUNDING * (1 + np.abs(state.T @ V).sum(axis=0))  # of E_j
    turned = SUM_ROUNDING * state.spread  # of u_i
    of_g = moved * np.linalg.norm(state.rest)
    of_g += np.sqrt(d) * SUM_ROUNDING * np.linalg.norm(np.abs(state.coef).sum(axis=0))
    of_d, of_a = (2 * np.sqrt(d) + moved) * moved, turned * state.size
    above = (
        (2 * a + of_a) * of_a * d
        + a**2 * of_d
        + (2 * g + of_g + 2 * np.abs(W) * a) * of_g
        + 2 * g * (a * turned + np.abs(W) * of_a)
    )
    below = of_d + (2 * np.abs(W) + turned) * turned
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(below < 0.5 * curve, (above + 2 * np.abs(change) * below) / curve, np.inf)
