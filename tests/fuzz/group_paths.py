"""Random grouped problems of the worst kind, and a referee in plain NumPy for the light paths over them.

Groups have 1 to 5 columns; some are duplicates of others, constant, dependent within, nearly equal to a mixture of
others, or on scales far apart. There are ridges from 1e-9 to 1, weights (some of them zero), offsets, groups that must
or must not be chosen. The referee refits every set of groups that it judges by itself: the squared loss by QR of the
weighted rows with the ridge below them, other losses by damped Newton steps.
"""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.special import expit

from pursuit import GLM
from pursuit.solvers.group_path import group_path

VALUE_TOLERANCE = 1e-7  # share of the null value by which a value may differ from the referee's
EXCHANGE_TOLERANCE = 1e-6  # share of the null value that an exchange of one group may gain at a size that was searched
NEWTON_STEPS = 100


@dataclass(frozen=True)
class GroupedProblem:
    """One problem; ``sizes`` are those that exchanges are wanted at (none: every size)."""

    X: np.ndarray
    y: np.ndarray
    loss: str
    l2: float
    weight: np.ndarray | None
    offset: np.ndarray | None
    fit_intercept: bool
    standardize: bool
    labels: np.ndarray
    k: int
    include: tuple[int, ...]
    exclude: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def objective(self) -> GLM:
        return GLM(
            self.X,
            self.y,
            self.loss,
            l2=self.l2,
            sample_weight=self.weight,
            offset=self.offset,
            fit_intercept=self.fit_intercept,
            standardize=self.standardize,
        )


def draw(seed: int) -> GroupedProblem:
    """The problem of a seed."""
    g = np.random.default_rng([seed, 20])
    groups = int(g.integers(2, 9))
    widths = g.integers(1, 6, size=groups)
    n, labels = int(g.integers(12, 80)), np.repeat(np.arange(groups), widths)
    p = len(labels)
    X = g.normal(size=(n, p))
    if g.random() < 0.4:  # correlated columns
        X = X @ (np.eye(p) + 0.7 * g.normal(size=(p, p)))
    for _ in range(int(g.integers(0, 4))):
        _spoil(X, labels, g)
    if g.random() < 0.3:
        X *= 10.0 ** g.uniform(-3, 3, size=p)
    if g.random() < 0.3:
        X += g.choice([1.0, 100.0]) * g.normal(size=p)
    scaled = (X - X.mean(0)) / np.where(X.std(0) > 1e-12, X.std(0), 1.0)
    eta = scaled @ np.where(np.isin(labels, g.choice(groups, 2)), g.normal(size=p), 0.0)
    loss = str(g.choice(["squared", "squared", "logistic", "poisson"]))
    noise = 10.0 ** g.uniform(-3, 0.5)
    y = {
        "squared": eta + noise * g.normal(size=n),
        "logistic": (eta + g.logistic(size=n) > 0).astype(float),
        "poisson": g.poisson(np.exp(np.clip(0.4 * eta, -3, 3))).astype(float),
    }[loss]
    if loss == "logistic":
        y[:2] = 0, 1
    weight = None
    if g.random() < 0.4:
        weight = g.uniform(0.2, 3, size=n)
        weight[g.random(n) < 0.2] = 0.0
        weight[:2] = 1.0
    order = g.permutation(p)  # columns of a group are not side by side
    if g.random() < 0.5:
        order = np.arange(p)
    rest = g.permutation(groups)
    include = tuple(rest[: int(g.integers(0, 3))].tolist()) if g.random() < 0.4 else ()
    exclude = tuple(rest[2:3].tolist()) if g.random() < 0.4 and groups > 3 else ()
    labels, X = labels[order], X[:, order]
    first = [int(np.flatnonzero(labels == b)[0]) for b in range(groups)]
    k = int(g.integers(max(1, len(include)), groups - len(exclude) + 1))
    sizes = () if g.random() < 0.5 else tuple(sorted({int(v) for v in g.integers(1, k + 1, size=2)}))
    l2 = 10.0 ** float(g.choice([-9, -6, -4, -2, -1, 0]))
    offset = g.normal(size=n) if g.random() < 0.2 else None
    return GroupedProblem(
        X,
        y,
        loss,
        l2,
        weight,
        offset,
        bool(g.random() < 0.8),
        bool(g.random() < 0.5),
        labels,
        k,
        tuple(first[b] for b in include),
        tuple(first[b] for b in exclude),
        sizes,
    )


def _spoil(X: np.ndarray, labels: np.ndarray, g: np.random.Generator) -> None:
    """Make one group hard, in place."""
    groups = labels.max() + 1
    a, b = g.choice(groups, 2, replace=groups < 2)
    mine, others = np.flatnonzero(labels == a), np.flatnonzero(labels == b)
    kind = g.integers(6)
    if kind == 0:  # a duplicate, as far as its columns go
        m = min(len(mine), len(others))
        X[:, mine[:m]] = X[:, others[:m]]
    elif kind == 1:
        X[:, mine[0]] = g.choice([0.0, 1.0, 7.3])
    elif kind == 2:  # dependent within
        X[:, mine[-1]] = X[:, mine[:-1]] @ g.normal(size=len(mine) - 1)
    elif kind == 3:  # nearly a mixture of another group
        spread = 10.0 ** g.uniform(-9, -2)
        X[:, mine[0]] = X[:, others] @ g.normal(size=len(others)) + spread * g.normal(size=len(X))
    elif kind == 4:  # the same number but in a few rows
        X[:, mine[0]] = 0.0
        X[:3, mine[0]] = g.normal(size=3)
    else:  # the sum of a group is a constant, like dummies
        X[:, mine[-1]] = 1.0 - X[:, mine[:-1]].sum(axis=1)


class GroupReferee:
    """The least value on any set of groups, by refits of its own."""

    def __init__(self, problem: GroupedProblem) -> None:
        self.problem = problem
        n = len(problem.y)
        c = np.ones(n) if problem.weight is None else problem.weight
        self.c = c / c.sum()
        X = problem.X.astype(float)
        if problem.standardize:
            mean = self.c @ X if problem.fit_intercept else np.zeros(X.shape[1])
            spread = np.sqrt(self.c @ (X - self.c @ X) ** 2) if problem.fit_intercept else np.sqrt(self.c @ X**2)
            size = np.abs(X).max(axis=0)
            known = spread > 1e-13 * size
            X = np.where(known, (X - mean) / np.where(known, spread, 1.0), 0.0)
        self.Z = X
        self.offset = np.zeros(n) if problem.offset is None else problem.offset
        self.cache: dict[tuple[int, ...], float] = {}

    def value(self, groups) -> float:
        key = tuple(sorted(groups))
        if key not in self.cache:
            self.cache[key] = self._refit(np.flatnonzero(np.isin(self.problem.labels, key)))
        return self.cache[key]

    def _refit(self, cols: np.ndarray) -> float:
        problem, c = self.problem, self.c
        A = self.Z[:, cols]
        if problem.fit_intercept:  # the intercept takes up the centres, which then cost no digits
            A = A - c @ A
            A = np.column_stack([A, np.ones(len(A))])
        ridge = np.full(A.shape[1], problem.l2)
        if problem.fit_intercept:
            ridge[-1] = 0.0
        if problem.loss == "squared":
            rows = np.vstack([np.sqrt(c)[:, None] * A, np.diag(np.sqrt(ridge))])
            t = np.concatenate([np.sqrt(c) * (problem.y - self.offset), np.zeros(len(ridge))])
            return 0.5 * float(np.sum((t - rows @ np.linalg.lstsq(rows, t, rcond=1e-15)[0]) ** 2))
        return self._newton(A, ridge)

    def _newton(self, A: np.ndarray, ridge: np.ndarray) -> float:
        y, c, x = self.problem.y, self.c, np.zeros(A.shape[1])

        def at(x):
            eta = A @ x + self.offset
            lost = np.logaddexp(0, eta) - y * eta if self.problem.loss == "logistic" else np.exp(eta) - y * eta
            return float(c @ lost + 0.5 * ridge @ x**2)

        now = at(x)
        for _ in range(NEWTON_STEPS):
            eta = A @ x + self.offset
            mean = expit(eta) if self.problem.loss == "logistic" else np.exp(eta)
            w = mean * (1 - mean) if self.problem.loss == "logistic" else mean
            gradient = A.T @ (c * (mean - y)) + ridge * x
            H = A.T @ ((c * w)[:, None] * A) + np.diag(ridge)
            step = -np.linalg.lstsq(H + 1e-14 * np.trace(H) * np.eye(len(H)), gradient, rcond=None)[0]
            t = 1.0
            while t > 1e-10 and not at(x + t * step) <= now + 1e-4 * t * (gradient @ step):
                t *= 0.5
            if t <= 1e-10:
                break
            x = x + t * step
            before, now = now, at(x)
            if before - now <= 1e-15 * abs(now):
                break
        return now


def judge(problem: GroupedProblem, path=group_path) -> tuple[list[str], list[tuple[float, float]]]:
    """Complaints about the path of a problem, and pairs (excess over the best set, null value) of its sizes."""
    f = problem.objective
    constraint = f.sparse_set(problem.k, problem.include, problem.exclude, problem.labels)
    found = path(f, constraint, problem.sizes)
    if found is None:
        return ["the kernel does not apply"], []
    referee, groups = GroupReferee(problem), int(problem.labels.max()) + 1
    forced = {int(problem.labels[j]) for j in problem.include}
    allowed = set(range(groups)) - {int(problem.labels[j]) for j in problem.exclude}
    null = max(abs(referee.value(())), 1e-300)
    complaints, excess = [], []
    needed = set(problem.sizes) - set(range(len(forced))) | {problem.k}
    needed = needed if problem.sizes else set(range(len(forced), problem.k + 1))
    if not needed <= set(found):
        complaints.append(f"sizes {sorted(needed - set(found))} are missing")
    last = np.inf
    for size in sorted(found):
        point = found[size]
        chosen = {int(b) for b in problem.labels[point.support]}
        whole = np.flatnonzero(np.isin(problem.labels, list(chosen)))
        if not np.array_equal(np.sort(point.support), whole):
            complaints.append(f"size {size}: the support is no union of groups")
        if not forced <= chosen or not chosen <= allowed or len(chosen) > size:
            complaints.append(f"size {size}: groups {sorted(chosen)} break the constraint")
            continue
        value = referee.value(chosen)
        if abs(point.value - value) > VALUE_TOLERANCE * null:
            complaints.append(f"size {size}: value {point.value!r}, the referee's {value!r}")
        if point.value > last + VALUE_TOLERANCE * null:
            complaints.append(f"size {size}: worse than the size below")
        last = point.value
        free = sorted(allowed - forced)
        best = min(
            referee.value((*forced, *some)) for m in range(size - len(forced) + 1) for some in combinations(free, m)
        )
        excess.append(((value - best) / null, null))
        if value < best - VALUE_TOLERANCE * null:
            complaints.append(f"size {size}: the referee missed a set")
        if problem.loss == "squared" and size in needed and len(chosen) == size:
            gains = [value - referee.value(chosen - {i} | {j}) for i in chosen - forced for j in allowed - chosen]
            if gains and max(gains) > EXCHANGE_TOLERANCE * null:
                complaints.append(f"size {size}: an exchange gains {max(gains) / null:.2g} of the null value")
    return complaints, excess


def simplest(problem: GroupedProblem) -> list[GroupedProblem]:
    """The problem without weights, offset, or sizes, one at a time: to find what a complaint is about."""
    return [replace(problem, weight=None), replace(problem, offset=None), replace(problem, sizes=())]
