"""Minima of a problem over given columns, by other means than the library's: it judges, so it imports nothing of it.

The columns (and the ridge, as further rows) are made orthonormal in extended precision, in 60 digits where that is in
doubt, and the minimum is found in that basis, where no scale, mean or near-duplicate is left. What is said is about the
data as they are stored.
"""

import itertools
from dataclasses import dataclass
from functools import cached_property

import mpmath
import numpy as np

from fuzz.problems import Problem

LD = np.longdouble
DEAD = 1e-50  # share of a column that is left, in 60 digits, of an exact combination of others
DOUBT = 1e-8  # share that is left, in extended precision, at which to look again


@dataclass(frozen=True)
class Minimum:
    """The infimum lies in [value - slack, value]; not ``decided``: nobody knows."""

    value: float
    slack: float
    decided: bool = True


class Referee:
    """Values and minima of one problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        n = len(problem.y)
        s = np.ones(n, LD) if problem.weight is None else problem.weight.astype(LD)
        self.used = s > 0
        self.c = (s / s.sum())[self.used]
        self.X = problem.X.astype(LD)[self.used]
        self.y = problem.y.astype(LD)[self.used]
        self.o = np.zeros(len(self.y), LD) if problem.offset is None else problem.offset.astype(LD)[self.used]
        self.known: dict[tuple[int, ...], Minimum] = {}

    @cached_property
    def ridge(self) -> np.ndarray:
        """One ridge per column, on coefficients in the units of X; nan for a constant column that is left out."""
        problem = self.problem
        if not problem.standardize:
            return np.full(self.X.shape[1], problem.l2, LD)
        Z = self.X - self.X[0] if problem.intercept else self.X
        centre = self.c @ Z if problem.intercept else 0.0
        largest = np.abs(Z).max(axis=0)
        spread = (self.c @ ((Z - centre) / np.where(largest > 0, largest, 1)) ** 2) * largest**2
        return np.where(spread > 0, problem.l2 * spread, np.nan)

    @property
    def null(self) -> Minimum:
        return self.minimum(())

    @property
    def bottom(self) -> float:
        """The sum of every sample's own infimum."""
        if self.problem.loss != "poisson":
            return 0.0
        y = self.y
        return float(self.c @ (y - y * np.log(np.where(y > 0, y, 1))))

    def scale(self, value: float) -> float:
        """What a gap is relative to."""
        return max(abs(value), 1e-9 * (self.null.value - self.bottom))

    def value(self, cols, coef, b: float) -> float:
        """f at given numbers (coefficients in the units of X), in extended precision."""
        coef = np.asarray(coef, LD)
        eta = self.X[:, list(cols)] @ coef + LD(b) + self.o
        ridge = np.nan_to_num(self.ridge[list(cols)])
        return float(self.c @ phi(self.problem, self.y, eta)[0] + (ridge * coef * coef).sum() / 2)

    def rounding(self, cols, coef, b: float) -> float:
        """What computing f at given numbers in double precision may be off by: 32 eps of all that is added up."""
        coef = np.asarray(coef, LD)
        A = self.X[:, list(cols)]
        size = np.abs(A) @ np.abs(coef) + abs(LD(b)) + np.abs(self.o)
        value, slope, _ = phi(self.problem, self.y, A @ coef + LD(b) + self.o)
        return float(32 * LD(2.0**-52) * (self.c @ (np.abs(value) + np.abs(slope) * size)))

    def dual_rounding(self, cols, coef, b: float) -> float:
        """What a dual value at these numbers may be off by: slopes that should vanish are divided by the ridge."""
        A = self.X[:, list(cols)]
        slope = np.abs(phi(self.problem, self.y, A @ np.asarray(coef, LD) + LD(b) + self.o)[1])
        ridge = np.nan_to_num(self.ridge[list(cols)])
        noise = 32 * LD(2.0**-52) * ((self.c * slope) @ np.abs(A))
        return float((noise[ridge > 0] ** 2 / (2 * ridge[ridge > 0])).sum())

    def supports(self):
        """Every largest set of columns that the sparse set allows."""
        problem, p = self.problem, self.X.shape[1]
        unit_of = np.arange(p) if problem.groups is None else np.unique(problem.groups, return_inverse=True)[1]
        inside = {int(unit_of[j]) for j in problem.include}
        free = sorted(set(unit_of.tolist()) - inside - {int(unit_of[j]) for j in problem.exclude})
        size = max(0, min(problem.k - len(inside), len(free)))
        for chosen in itertools.combinations(free, size):
            units = inside | set(chosen)
            yield tuple(j for j in range(p) if int(unit_of[j]) in units)

    def optimum(self) -> Minimum:
        """Over all of them."""
        every = [self.minimum(cols) for cols in self.supports()]
        best = min(every, key=lambda m: m.value)
        low = min(m.value - m.slack for m in every)
        return Minimum(best.value, best.value - low, all(m.decided for m in every))

    def minimum(self, cols: tuple[int, ...]) -> Minimum:
        """The least value on these columns."""
        cols = tuple(int(j) for j in cols)
        if cols not in self.known:
            self.known[cols] = self._minimum(cols)
        return self.known[cols]

    def _minimum(self, cols: tuple[int, ...]) -> Minimum:
        problem = self.problem
        keep = [j for j in cols if not np.isnan(self.ridge[j])]
        curve = CURVE.get(problem.loss, LD(1)) if problem.loss != "smoothed_hinge" else 1 / LD(problem.param)
        P, L = self._basis(keep, curve)
        if problem.loss == "squared":
            t = self.y - self.o
            t = np.sqrt(self.c) * (t - t[0] if problem.intercept else t)
            u = P.T @ t
            return Minimum(float(((t - P @ u) ** 2).sum() / 2 + ((L @ u) ** 2).sum() * curve / 2), 0.0)
        E = P / np.sqrt(self.c)[:, None]
        if problem.loss != "hinge":
            return _newton(problem, E, self.c, self.y, self.o, curve * (L.T @ L))[0]
        u = np.zeros(P.shape[1], LD)
        for gamma in 10.0 ** -np.arange(0, 11):
            rounded = SmoothProblem(float(gamma))
            found, u = _newton(rounded, E, self.c, self.y, self.o, curve * (L.T @ L), u)
            exact = _kinks(E, self.c, self.y, self.o, curve * (L.T @ L), u, gamma)
            if exact is not None:
                return exact
        return Minimum(found.value + 0.5 * gamma, found.slack + 0.5 * gamma, found.decided)

    def _basis(self, cols: list[int], curve) -> tuple[np.ndarray, np.ndarray]:
        """Orthonormal columns that span [1, X_S] over sqrt(c) rows and, below, sqrt(ridge / curve)."""
        A, ridge = self.X[:, cols], self.ridge[cols] / curve
        if self.problem.intercept:
            A = A - A[0]
        largest = np.abs(A).max(axis=0, initial=0.0)
        largest = np.maximum(largest, np.sqrt(ridge)) if len(cols) else largest
        powers = np.frexp(np.where(largest > 0, largest, 1))[1]  # of two: nothing is rounded
        B = np.vstack([np.ldexp(A, -powers), np.diag(np.ldexp(np.ones(len(cols), LD), -powers))])
        weight = np.append(self.c, ridge)
        if self.problem.intercept:
            B = np.column_stack([np.append(np.ones(len(self.c), LD), np.zeros(len(cols), LD)), B])
        Q = _orthonormal(B, weight)
        n = len(self.c)
        return Q[:n], Q[n:]


CURVE = {"squared": LD(1), "huber": LD(1), "logistic": LD(0.25), "squared_hinge": LD(2), "poisson": LD(1)}


@dataclass(frozen=True)
class SmoothProblem:
    param: float
    loss: str = "smoothed_hinge"


def phi(problem, y, eta):
    """phi, phi', phi'' of every sample, in the precision of eta."""
    real = eta.dtype.type
    loss, param = problem.loss, real(problem.param)
    if loss == "squared":
        return (eta - y) ** 2 / 2, eta - y, np.ones_like(eta)
    if loss == "huber":
        r = eta - y
        far = np.abs(r) > param
        value = np.where(far, param * (np.abs(r) - param / 2), r * r / 2)
        return value, np.clip(r, -param, param), np.where(far, real(0), real(1))
    if loss == "poisson":
        e = np.exp(np.minimum(eta, 10000))
        return e - y * eta, e - y, e
    s = np.where(y > 0, real(1), real(-1))
    m = s * eta
    if loss == "logistic":
        u = np.exp(-np.abs(m))
        value = np.log1p(u) + np.maximum(-m, 0)
        return value, -s * np.where(m > 0, u, 1) / (1 + u), u / (1 + u) ** 2
    short = np.maximum(1 - m, 0)
    if loss == "squared_hinge":
        return short**2, -2 * s * short, np.where(short > 0, real(2), real(0))
    if loss == "hinge":
        return short, np.where(short > 0, -s, 0), np.zeros_like(eta)
    linear = short > param
    value = np.where(linear, short - param / 2, short**2 / (2 * param))
    return value, -s * np.minimum(short / param, 1), np.where(linear | (short <= 0), 0, 1 / param)


def _newton(problem, E, c, y, o, ridge, u=None) -> tuple[Minimum, np.ndarray]:
    """Damped Newton in extended precision; the steps themselves are solved in double."""
    u = np.zeros(E.shape[1], LD) if u is None else u

    def at(u):
        value, d1, d2 = phi(problem, y, E @ u + o)
        return c @ value + u @ ridge @ u / 2, E.T @ (c * d1) + ridge @ u, d2

    value, g, d2 = at(u)
    start, damp, dec, size = value, 0.0, LD(0), len(u)
    for _ in range(500):
        H = np.asarray((E * (c * d2)[:, None]).T @ E + ridge, float)
        d = _step(H, np.asarray(g, float), damp)
        dec = -(g @ d)
        if dec <= 1e-17 * max(abs(value), abs(start - value), 1e-30) and damp <= 1e-6:
            break
        t = LD(1)
        while t > 1e-12:
            ahead = at(u + t * d)
            if ahead[0] <= value - LD(1e-4) * t * dec:
                break
            t = t / 2
        else:
            if damp > 1e6 or size == 0:
                break
            damp = max(10 * damp, 1e-9)
            continue
        while t >= 1:  # further while that helps: separated data
            far = at(u + 2 * t * d)
            if not far[0] < ahead[0]:
                break
            t, ahead = 2 * t, far
        damp = max(10 * damp, 1e-9) if t < 0.1 else 0.1 * damp if damp > 1e-9 else 0.0
        u, (value, g, d2) = u + t * d, ahead
        if value <= 1e-13 and problem.loss == "logistic":
            return Minimum(float(value), float(value)), u
    H = np.asarray((E * (c * d2)[:, None]).T @ E + ridge, float)
    flat = size > 0 and np.linalg.eigvalsh(H)[0] < 1e-9
    slack = 4 * float(dec) + 1e-16 * abs(float(value))
    if flat:  # then the decrement says little: the slope, over any distance that coordinates of unit size may have
        slack += 1e3 * float(np.sqrt(g @ g)) * max(1.0, float(np.sqrt(u @ u)))
    settled = slack <= 1e-10 * max(abs(float(value)), 1e-9 * float(start - value))
    return Minimum(float(value), max(slack, 0.0), settled), u


def _kinks(E, c, y, o, ridge, u, gamma) -> Minimum | None:
    """The hinge's minimum, if the samples at the kink are those that the rounded one has on its curve: KKT decides."""
    s = np.where(y > 0, 1.0, -1.0)
    short = 1 - s * (E @ u + o)
    at, above = (short > 0) & (short < gamma), short >= gamma
    E, c, o = np.asarray(E, float), np.asarray(c, float), np.asarray(o, float)
    R, K, m = np.asarray(ridge, float), int(at.sum()), len(u)
    system = np.zeros((m + K, m + K))
    system[:m, :m], system[m:, :m] = R, s[at, None] * E[at]
    system[:m, m:] = -system[m:, :m].T
    right = np.append((c * s)[above] @ E[above], 1 - s[at] * o[at])
    found = np.linalg.lstsq(system, right, rcond=1e-14)[0]
    u, alpha = found[:m], above.astype(float)
    alpha[at] = found[m:] / c[at]
    if alpha.min() < 0 or alpha.max() > 1 or not np.abs(R @ u - (c * s * alpha) @ E).max(initial=0.0) < 1e-13:
        return None
    half = float(u @ R @ u) / 2
    value = float(c @ np.maximum(0, 1 - s * (E @ u + o))) + half
    gap = value - (float(c @ (alpha * (1 - s * o))) - half)
    return Minimum(value, abs(gap)) if abs(gap) <= 1e-12 * max(value, 1e-6) else None


def _step(H, g, damp):
    if len(g) == 0:
        return g
    H = H + damp * np.eye(len(g))
    values, vectors = np.linalg.eigh(H)
    return -(vectors @ ((vectors.T @ g) / np.maximum(values, 1e-14)))


def _orthonormal(B: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Gram-Schmidt on sqrt(weight) B; a column that is an exact combination of earlier ones is left out."""
    done: list[np.ndarray] = []
    for j in range(B.shape[1]):
        v = np.sqrt(weight) * B[:, j]
        size = np.sqrt((v**2).sum())
        if size == 0:
            continue
        v = v / size
        for _ in range(2):
            for q in done:
                v = v - q * (q @ v)
        left = np.sqrt((v**2).sum())
        if left < DOUBT:
            return _orthonormal_digits(B, weight)
        done.append(v / left)
    return np.array(done).T.reshape(B.shape[0], len(done)) if done else np.zeros((B.shape[0], 0), LD)


def _orthonormal_digits(B: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The same in 60 digits; weights go into the products, so that exact combinations stay exact."""
    with mpmath.workdps(60):
        w = [_digits(x) for x in weight]
        done: list[tuple[list, list]] = []  # orthonormal columns, and those times their weights
        for j in range(B.shape[1]):
            v = [_digits(x) for x in B[:, j]]
            size = mpmath.sqrt(mpmath.fdot([a * b for a, b in zip(v, w, strict=True)], v))
            if size == 0:
                continue
            v = [x / size for x in v]
            for _ in range(2):
                for q, weighted in done:
                    t = mpmath.fdot(weighted, v)
                    v = [a - t * b for a, b in zip(v, q, strict=True)]
            left = mpmath.sqrt(mpmath.fdot([a * b for a, b in zip(v, w, strict=True)], v))
            if left > DEAD:
                v = [x / left for x in v]
                done.append((v, [a * b for a, b in zip(v, w, strict=True)]))
        if not done:
            return np.zeros((B.shape[0], 0), LD)
        Q = np.array([[LD(mpmath.nstr(x, 25)) for x in q] for q, _ in done]).T
        return np.sqrt(weight)[:, None] * Q


def _digits(x):
    """A long double without loss: its head and its tail."""
    head = float(x)
    return mpmath.mpf(head) + mpmath.mpf(float(x - LD(head)))
