"""Every single exchange at a support of a least squares problem, by explicit least squares on orthonormal columns.

For each column i that may leave, the rest of the support (with the intercept and, as further rows, the ridge) is made
orthonormal by Gram-Schmidt, twice, in extended precision, and in 60 digits where columns are so close to dependent that
this has none to spare; what a column j has outside of that gives the value of the exchange i -> j. Columns that are
clearly of no use in float64 are not looked at again. Nothing of the library is used, neither its code nor its formula.
With several responses gains are added up over them.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fuzz.problems import Problem
from fuzz.referee import LD, Minimum, Referee, _orthonormal_digits

EPS = float(np.finfo(LD).eps)
RESOLVED = (
    1e4 * EPS
)  # length of the rest of a unit column, times that of the shortest in the basis: below it, no digits
WELL_CONDITIONED = 0.01  # shortest rest in a basis above which 60 digits would resolve nothing more
CLEAR = 1e-6  # share of the null value by which a change must exceed zero to be left at float64
CLEAR_REST = 1e-4  # length of the rest of a unit column at which float64 is good enough for that


@dataclass(frozen=True)
class Exchange:
    """The change of f by i -> j; not ``resolved``: column j is a combination of the others as far as one can see."""

    leave: int
    enter: int
    change: float
    resolved: bool


@dataclass(frozen=True)
class Basis:
    """Orthonormal columns that span some of X (ridge rows below), what they leave of y, and the shortest rest met.

    In 60 digits a basis is as good as one of orthogonal columns, and ``shortest`` is 1.
    """

    Q: np.ndarray
    rest: np.ndarray
    shortest: float

    @property
    def value(self) -> float:
        return float((self.rest**2).sum() / 2)


def unit_columns(referee: Referee) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weighted and, beside an intercept, centred columns, of unit length together with the ridge row below each.

    Returns
    -------
    columns : rows times the square roots of their weights
    tail : the ridge row of each column
    alive : False for constant columns, which change nothing; they are zero
    """
    A, root, ridge = referee.X, np.sqrt(referee.c), np.nan_to_num(referee.ridge)
    if referee.problem.intercept:
        varies = np.ptp(A, axis=0) > 0
        A = root[:, None] * (A - A[0])
        for _ in range(2):
            A = A - np.outer(root, root @ A)
    else:
        varies = np.any(A != 0, axis=0)
        A = root[:, None] * A
    length = np.sqrt((A**2).sum(axis=0) + ridge)
    alive = varies & (length > 0) & ~np.isnan(referee.ridge)
    length = np.where(alive, length, 1)
    return np.where(alive, A / length, 0), np.where(alive, np.sqrt(ridge) / length, 0), alive


class ExchangeReferee:
    """Values of exchanges for one problem (a ``fuzz.problems.Problem`` with the squared loss)."""

    def __init__(self, referee: Referee) -> None:
        self.referee = referee
        root = np.sqrt(referee.c)
        t = (referee.y - referee.o).reshape(len(root), -1)  # a column for each response
        if referee.problem.intercept:
            t = root[:, None] * (t - t[0])
            for _ in range(2):
                t = t - np.outer(root, root @ t)
        else:
            t = root[:, None] * t
        self.A, self.tail, self.alive = unit_columns(referee)
        self.t = t
        self.A64 = self.A.astype(float)
        self.null = referee.null.value

    def basis(self, cols: list[int], digits: bool = False) -> Basis:
        """The basis of some columns, in 60 digits on demand or if one of the columns has no digits of its own."""
        cols = [j for j in cols if self.alive[j]]
        if digits:
            return self._with_digits(cols)
        n, size = len(self.t), len(cols)
        Q, shortest = np.zeros((n + size, size), LD), 1.0
        for place, j in enumerate(cols):
            v = np.zeros(n + size, LD)
            v[:n], v[n + place] = self.A[:, j], self.tail[j]
            for _ in range(2):
                v = v - Q[:, :place] @ (Q[:, :place].T @ v)
            left = float(np.sqrt((v**2).sum()))
            if left * shortest < RESOLVED:
                return self._with_digits(cols)
            shortest = min(shortest, left)
            Q[:, place] = v / np.sqrt((v**2).sum())
        return Basis(Q, self._rest(Q), shortest)

    def _with_digits(self, cols: list[int]) -> Basis:
        """From the numbers as they are stored, scaled by powers of two: exact combinations stay exact."""
        n, problem, referee = len(self.t), self.referee.problem, self.referee
        A = referee.X[:, cols]
        A = A - A[0] if problem.intercept else A
        scale = np.frexp(np.maximum(np.abs(A).max(axis=0, initial=0), np.sqrt(referee.ridge[cols])))[1]
        B = np.vstack([np.ldexp(A, -scale), np.diag(np.ldexp(np.ones(len(cols), LD), -scale))])
        if problem.intercept:
            B = np.column_stack([np.append(np.ones(n, LD), np.zeros(len(cols), LD)), B])
        Q = _orthonormal_digits(B, np.append(referee.c, referee.ridge[cols]))
        return Basis(Q, self._rest(Q), 1.0)

    def _rest(self, Q: np.ndarray) -> np.ndarray:
        rest = np.concatenate([self.t, np.zeros((len(Q) - len(self.t), self.t.shape[1]), LD)])
        for _ in range(2):
            rest = rest - Q @ (Q.T @ rest)
        return rest

    def exchanges(self, support: np.ndarray) -> list[Exchange]:
        """For each column that may leave, every exchange that might help, and the best one."""
        problem, found = self.referee.problem, list[Exchange]()
        mine = [int(j) for j in support]
        here = self.basis(mine).value
        others = np.setdiff1d(np.arange(self.A.shape[1]), [*mine, *problem.exclude])
        for i in mine:
            if i in problem.include or not len(others):
                continue
            rest_of_mine = [j for j in mine if j != i]
            basis = self.basis(rest_of_mine)
            rough, rest = self._rough(basis, others)
            change = basis.value - rough - here
            doubtful = (rest < max(CLEAR_REST, 1e-9 / basis.shortest)) | (change < CLEAR * self.null)
            doubtful[np.argmin(change)] = True
            gain, resolved = self._gains(basis, others[doubtful])
            if not resolved.all() and basis.shortest < WELL_CONDITIONED:
                basis = self.basis(rest_of_mine, digits=True)
                gain, resolved = self._gains(basis, others[doubtful])
            found += [
                Exchange(i, int(j), basis.value - float(g) - here, bool(r))
                for j, g, r in zip(others[doubtful], gain, resolved, strict=True)
            ]
        return found

    def value_of_addition(self, support: np.ndarray) -> float:
        """The least value with one more column."""
        basis = self.basis([int(j) for j in support])
        others = np.setdiff1d(np.arange(self.A.shape[1]), [*support, *self.referee.problem.exclude])
        gain, resolved = self._gains(basis, others)
        return basis.value - float(gain[resolved].max(initial=0.0))

    def _rough(self, basis: Basis, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gains and lengths of rests, in float64."""
        n, Q = len(self.t), basis.Q.astype(float)
        V = np.zeros((len(Q), len(others)))
        V[:n] = self.A64[:, others]
        for _ in range(2):
            V -= Q @ (Q.T @ V)
        length = (V**2).sum(axis=0) + self.tail[others].astype(float) ** 2
        slope = basis.rest.astype(float).T @ V
        return (slope**2).sum(axis=0) / np.maximum(2 * length, 1e-300), np.sqrt(length)

    def _gains(self, basis: Basis, cols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gains in extended precision, and where a column has digits outside of the basis."""
        n = len(self.t)
        V = np.zeros((len(basis.Q), len(cols)), LD)
        V[:n] = self.A[:, cols]
        for _ in range(2):
            V = V - basis.Q @ (basis.Q.T @ V)
        length = (V**2).sum(axis=0) + self.tail[cols] ** 2
        resolved = (np.sqrt(length) * basis.shortest > RESOLVED) | ~self.alive[
            cols
        ]  # constants are known to add nothing
        gain = ((basis.rest.T @ V) ** 2).sum(axis=0) / (2 * np.where(length > 0, length, 1))
        return np.where(resolved, gain, 0), resolved


class ResponsesReferee(Referee):
    """Values and minima of several responses (a column of y and of the offset each): sums over problems of one."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.o = np.zeros(self.y.shape, LD) if problem.offset is None else self.o
        self.parts = [
            Referee(replace(problem, y=y, offset=o)) for y, o in zip(problem.y.T, self._offsets(problem), strict=True)
        ]

    @staticmethod
    def _offsets(problem: Problem) -> list[Any]:
        return [None] * problem.y.shape[1] if problem.offset is None else list(problem.offset.T)

    def value(self, cols: Any, coef: Any, b: Any) -> float:
        coef, b = np.reshape(coef, (len(cols), len(self.parts))), np.broadcast_to(b, len(self.parts))
        return sum(part.value(cols, coef[:, r], b[r]) for r, part in enumerate(self.parts))

    def rounding(self, cols: Any, coef: Any, b: Any) -> float:
        coef, b = np.reshape(coef, (len(cols), len(self.parts))), np.broadcast_to(b, len(self.parts))
        return sum(part.rounding(cols, coef[:, r], b[r]) for r, part in enumerate(self.parts))

    def _minimum(self, cols: tuple[int, ...]) -> Minimum:
        return Minimum(sum(part.minimum(cols).value for part in self.parts), 0.0)
