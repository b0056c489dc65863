"""Extreme s-sparse eigenvalues from inside: every value is that of a support that was found.

``largest`` is the truncated power method (X.-T. Yuan, T. Zhang, "Truncated Power Method for Sparse Eigenvalue
Problems", JMLR 14 (2013)), all starts at once: v <- top_s(H v) / ||.||, which never lowers v'Hv where H is positive
semidefinite. No such method is known for the smallest. ``smallest`` builds supports by adding the column that lowers
the eigenvalue most, and by dropping the columns with the smallest entries of the eigenvector. Both end with
exchanges: one column of the support is replaced by the best one outside, as long as that helps.

For a support T with smallest eigenpair (l, u) and a column j outside, the span of u and e_j gives

    smallest eigenvalue on T + j  <=  (l + H_jj)/2 - sqrt((l - H_jj)^2/4 + (u'H_Tj)^2),

which ranks the columns; the first of them are judged exactly.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from .._utils.types import Columns, Matrix, Vector
from .hessian import SparseHessian

MAX_STARTS = 8  # of the truncated power method, and at most so many supports that exchanges begin from
MAX_POWER_STEPS = 200
MAX_EXCHANGES = 200
MAX_SMALL_SUPPORT = 16  # size up to which every column of the support may leave; else those with the smallest entries
MAX_LEAVING = 6  # how many these are
MAX_EXACT_WORK = 2e6  # multiplications up to which every column outside is judged exactly
MAX_JUDGED = 12  # columns outside that are judged exactly where there are more
MIN_IMPROVEMENT = 1e-11  # share of an eigenvalue by which an exchange must help
MAX_DROPPING_COLUMNS = 400  # columns up to which supports are also found by dropping columns from all
SAMPLED_ROWS = 128  # of H that are looked at for nearly equal columns where p is large
MAX_EXCHANGE_WORK = 4e8  # multiplications that exchanges may take where p is large


class SparseEigenvalue(NamedTuple):
    """An eigenvalue of H on a support, with its unit eigenvector there."""

    value: float
    support: Columns
    vector: Vector


def largest(
    H: SparseHessian, s: int, rng: np.random.Generator, starts: int = MAX_STARTS, forced: Columns | None = None
) -> SparseEigenvalue:
    """The largest s-sparse eigenvalue that a search finds: at most the true one.

    Parameters
    ----------
    H : SparseHessian
    s : int
        Size of the supports.
    rng : numpy.random.Generator
    starts : int, default 8
        Starts of the truncated power method.
    forced : array of int or None
        Columns that every support must contain.
    """
    forced = np.empty(0, np.int64) if forced is None else forced
    s = min(s, H.dim)
    if s == H.dim:
        return _on(H, np.arange(H.dim), -1)
    supports = truncated_power(H, s, rng, starts, forced)
    return _best_exchanged(H, supports, -1, forced)


def smallest(
    H: SparseHessian, s: int, rng: np.random.Generator, starts: int = MAX_STARTS, forced: Columns | None = None
) -> SparseEigenvalue:
    """The smallest s-sparse eigenvalue that a search finds: at least the true one.

    Parameters
    ----------
    H : SparseHessian
    s : int
        Size of the supports.
    rng : numpy.random.Generator
    starts : int, default 8
        Supports that exchanges begin from; one where p is large.
    forced : array of int or None
        Columns that every support must contain.
    """
    forced = np.empty(0, np.int64) if forced is None else forced
    s = min(s, H.dim)
    if s == H.dim:
        return _on(H, np.arange(H.dim), 1)
    if s > H.rank and len(forced) == 0:  # more columns than rows: some combination of them is zero
        return _on(H, np.arange(s), 1)
    return _best_exchanged(H, list(_low_supports(H, s, rng, starts, forced)), 1, forced)


def truncated_power(H: SparseHessian, s: int, rng: np.random.Generator, starts: int, forced: Columns) -> list[Columns]:
    """The supports at which the truncated power method ends, one per start."""
    V = _power_starts(H, rng, starts if H.full is not None else max(2, starts // 2))
    before: list[Columns] = []
    for _ in range(MAX_POWER_STEPS):
        supports = [_keep(v, s, forced) for v in V.T]
        if len(before) and all(np.array_equal(a, b) for a, b in zip(before, supports, strict=True)):
            break
        before, cut = supports, np.zeros_like(V)
        for i, support in enumerate(supports):
            cut[support, i] = V[support, i]
        norms = np.linalg.norm(cut, axis=0)
        cut /= np.where(norms > 0, norms, 1.0)
        cols = np.flatnonzero(cut.any(axis=1))
        V = H.times(cols, cut[cols])
    found = {support.tobytes(): support for support in before}
    return list(found.values())


def _power_starts(H: SparseHessian, rng: np.random.Generator, starts: int) -> Matrix:
    """H times: the columns of largest diagonal, random signs on all columns, random directions."""
    p = H.dim
    V = rng.standard_normal((p, max(starts, 2)))
    V[:, 0] = 1.0
    if H.full is not None and p <= MAX_DROPPING_COLUMNS:
        V[:, 1] = np.linalg.eigh(H.full)[1][:, -1]
    for i, j in enumerate(np.argsort(-H.diagonal)[: max(0, V.shape[1] // 2 - 1)]):
        V[:, 2 + i] = 0.0
        V[j, 2 + i] = 1.0
    cols = np.arange(p)
    return H.times(cols, V)


def _keep(v: Vector, s: int, forced: Columns) -> Columns:
    """The s largest entries, the forced ones first; sorted."""
    size = np.abs(v)
    size[forced] = np.inf
    return np.sort(np.argpartition(-size, s - 1)[:s])


def _low_supports(
    H: SparseHessian, s: int, rng: np.random.Generator, starts: int, forced: Columns
) -> Iterator[Columns]:
    """Supports whose smallest eigenvalue is small: grown from single columns, cut from all, and random ones."""
    p, order = H.dim, np.argsort(H.diagonal)
    if p <= MAX_DROPPING_COLUMNS:
        yield _cut_from_all(H, s, forced)
    cols = np.arange(p) if H.full is not None else np.sort(rng.choice(p, min(p, SAMPLED_ROWS), replace=False))
    R = np.abs(H.rows(cols)) / np.sqrt(np.maximum(np.outer(H.diagonal[cols], H.diagonal), 1e-300))
    R[np.arange(len(cols)), cols] = -1.0
    first = [int(cols[R.max(axis=1).argmax()])]  # of two columns that are nearly the same
    first += [int(j) for j in order[: max(1, starts // 2)] if j not in first]
    grown = first[: max(1, starts // 2) if H.full is not None else 2]
    for j in grown:
        yield _grown(H, s, np.union1d(forced, [j]).astype(np.int64))
    others = np.setdiff1d(np.arange(p), forced)
    for _ in range(starts - len(grown) if H.full is not None else 0):
        yield np.sort(np.concatenate([forced, rng.choice(others, s - len(forced), replace=False)]))


def _cut_from_all(H: SparseHessian, s: int, forced: Columns) -> Columns:
    """Columns with the smallest entries of the eigenvector are dropped, a tenth at a time and in the end one by one."""
    support = np.arange(H.dim)
    while len(support) > s:
        u = np.abs(_on(H, support, 1).vector)
        u[np.isin(support, forced)] = np.inf
        drop = min(len(support) - s, max(1, len(support) // 10 if len(support) > 40 else 1))
        support = np.sort(np.delete(support, np.argsort(u)[:drop]))
    return support


def _grown(H: SparseHessian, s: int, support: Columns) -> Columns:
    """The column that lowers the smallest eigenvalue most is added until there are s."""
    support = support[:s]
    R = H.rows(support)
    while len(support) < s:
        value, u = _lowest(R[:, support])
        bound = _bordered(value, H.diagonal, u @ R)
        bound[support] = np.inf
        j = int(bound.argmin())
        support, R = np.append(support, j), np.concatenate([R, H.rows(np.array([j]))])
    return np.sort(support)


def _best_exchanged(H: SparseHessian, supports: list[Columns], sign: int, forced: Columns) -> SparseEigenvalue:
    """The best end of exchanges from some supports; where p is large only the best of them is gone on with."""
    ends = sorted((_on(H, support, sign) for support in supports), key=lambda end: sign * end.value)
    few = ends if H.full is not None else ends[:1]
    return min((_exchanged(H, end, sign, forced) for end in few), key=lambda end: sign * end.value)


def _exchanged(H: SparseHessian, end: SparseEigenvalue, sign: int, forced: Columns) -> SparseEigenvalue:
    """Single exchanges as long as they help; ``sign`` 1 lowers the smallest eigenvalue, -1 raises the largest."""
    S, R = end.support, sign * H.rows(end.support)
    diagonal, s, work = sign * H.diagonal, len(end.support), 0.0
    scale = float(np.abs(H.diagonal).max(initial=0.0))
    value, u = _lowest(R[:, S])
    for _ in range(MAX_EXCHANGES):
        if sign > 0 and value <= H.ridge + MIN_IMPROVEMENT * scale:
            break
        better = None
        for i in _leaving(u, S, forced):
            T, rest = np.delete(S, i), np.delete(R, i, axis=0)
            trial = _entering(rest, T, S, diagonal)
            work += s * H.dim + min(H.dim, MAX_JUDGED) * s**3
            if trial[1] < value - MIN_IMPROVEMENT * scale and (better is None or trial[1] < better[1]):
                better = (*trial, T, rest)
            if better is not None and s > MAX_SMALL_SUPPORT:
                break
        if better is None or (H.full is None and work > MAX_EXCHANGE_WORK):
            break
        j, _, T, rest = better
        S, R = np.append(T, j), np.concatenate([rest, sign * H.rows(np.array([j]))])
        value, u = _lowest(R[:, S])
    order = np.argsort(S)
    return SparseEigenvalue(sign * value, S[order], u[order])


def _leaving(u: Vector, S: Columns, forced: Columns) -> list[int]:
    """Places in the support that may leave, those with the smallest entries of the eigenvector first."""
    order = [int(i) for i in np.argsort(np.abs(u)) if S[i] not in forced]
    return order if len(S) <= MAX_SMALL_SUPPORT else order[:MAX_LEAVING]


def _entering(R: Matrix, T: Columns, S: Columns, diagonal: Vector) -> tuple[int, float]:
    """The column that makes the smallest eigenvalue on T smallest, and that eigenvalue."""
    small = R[:, T]
    if len(T):
        value, u = _lowest(small)
        bound = _bordered(value, diagonal, u @ R)
    else:
        bound = diagonal.copy()
    bound[S] = np.inf
    m, others = len(T) + 1, len(diagonal) - len(S)
    count = others if others * m**3 <= MAX_EXACT_WORK else min(MAX_JUDGED, others)
    few = np.argpartition(bound, count - 1)[:count] if count < len(bound) else np.flatnonzero(np.isfinite(bound))
    blocks = np.empty((len(few), m, m))
    blocks[:, :-1, :-1] = small
    blocks[:, -1, :-1] = blocks[:, :-1, -1] = R[:, few].T
    blocks[:, -1, -1] = diagonal[few]
    lowest = np.linalg.eigvalsh(blocks)[:, 0]
    best = int(lowest.argmin())
    return int(few[best]), float(lowest[best])


def _bordered(value: float, diagonal: Vector, edge: Vector) -> Vector:
    """An upper bound of the smallest eigenvalue with one column more, for every column."""
    return np.asarray(0.5 * (value + diagonal) - np.sqrt(0.25 * (value - diagonal) ** 2 + edge**2))


def _lowest(A: Matrix) -> tuple[float, Vector]:
    """The smallest eigenvalue and its vector."""
    if len(A) <= 40:
        values, vectors = np.linalg.eigh(A)
        return float(values[0]), vectors[:, 0]
    values, vectors = eigh(A, subset_by_index=[0, 0], check_finite=False)
    return float(values[0]), vectors[:, 0]


def _on(H: SparseHessian, support: Columns, sign: int) -> SparseEigenvalue:
    """The smallest (``sign`` 1) or largest (-1) eigenvalue on a support."""
    value, u = _lowest(sign * H.rows(support)[:, support])
    return SparseEigenvalue(sign * value, support, u)
