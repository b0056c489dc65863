"""Random designs whose restricted constants are enumerated, and complaints about what pursuit says of them."""

from contextlib import contextmanager
from itertools import combinations
from math import ceil, sqrt

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import pursuit
from pursuit.sparse_eigenvalues import hessian as hessian_module
from pursuit.sparse_eigenvalues import hessian_at, inside, outside

KINDS = ("gaussian", "correlated", "scaled", "factor", "orthogonal", "rank one", "kronecker", "few rows")
ROOM = 1e-9  # relative, for what rounding may do to the referee


def draw(seed, most=14):
    """X, y, options of GLM, k, and the target that stands for x*."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    p = int(rng.integers(4, most + 1))
    n = int(rng.integers(2, p + 3)) if kind == "few rows" else int(rng.integers(p + 2, 6 * p))
    X = rng.standard_normal((n, p))
    if kind == "correlated":
        X = X @ np.linalg.cholesky(rng.uniform(0.3, 0.95) ** np.abs(np.subtract.outer(range(p), range(p)))).T
    if kind == "scaled":
        X = X * np.exp(rng.standard_normal(p))
    if kind == "factor":
        X = X + rng.uniform(0.5, 3) * rng.standard_normal((n, 1))
    if kind in ("orthogonal", "rank one"):
        X = np.linalg.qr(X)[0] * sqrt(n)
        X = X + rng.choice([0.0, 0.01, 0.05]) * rng.standard_normal((n, p))
    if kind == "rank one":
        u = rng.standard_normal(p)
        H = np.eye(p) + rng.uniform(0, 2) * np.outer(u, u) / (u @ u)
        X = X @ np.linalg.cholesky(H).T
    if kind == "kronecker":
        A, B = (np.linalg.qr(rng.standard_normal((4, 3)))[0] + 0.2 * rng.standard_normal((4, 3)) for _ in range(2))
        X = 4 * np.kron(A, B)
        n, p = X.shape
    k = int(rng.integers(1, max(2, p // 2)))
    beta = np.zeros(p)
    size = int(rng.integers(1, k + 1))
    beta[rng.choice(p, size, replace=False)] = rng.choice([-1, 1], size) * rng.uniform(0.5, 3, size)
    y = X @ beta + rng.choice([0.0, 0.01, 0.3]) * rng.standard_normal(n)
    options = {"fit_intercept": bool(rng.random() < 0.4), "l2": float(rng.choice([0.0, 0.0, 0.1, 1.0, 5.0]))}
    if rng.random() < 0.2:
        options["sample_weight"] = rng.uniform(0.2, 2.0, n)
    return X, y, options, k, beta, rng


def hessian(X, options):
    """X'CX about the weighted means, and the ridge: by NumPy."""
    n, p = X.shape
    c = (
        np.full(n, 1 / n)
        if "sample_weight" not in options
        else options["sample_weight"] / options["sample_weight"].sum()
    )
    A = X - c @ X if options["fit_intercept"] else X
    return A.T @ (c[:, None] * A) + options["l2"] * np.eye(p)


def constants(H, s):
    """The smallest and the largest s-sparse eigenvalue, by looking at every support."""
    s = min(s, len(H))
    supports = np.array(list(combinations(range(len(H)), s)))
    values = np.linalg.eigvalsh(H[supports[:, :, None], supports[:, None, :]])
    return float(values[:, 0].min()), float(values[:, -1].max())


class Referee:
    """The truth about one quadratic problem, by enumeration."""

    def __init__(self, H, k, size, l2):
        self.H, self.k, self.size, self.l2, self.p = H, k, size, l2, len(H)
        self.known = {}

    def kappa(self, s):
        m, M = self[s]
        return M / m if m > 1e-11 * M else np.inf

    def __getitem__(self, s):
        s = min(s, self.p)
        if s not in self.known:
            self.known[s] = constants(self.H, s)
        return self.known[s]

    def loads(self):
        """How much of each size condition is used, by the papers' formulas."""
        k, size = self.k, self.size
        two, three, both = self.kappa(2 * k), self.kappa(3 * k), self.kappa(k + size)
        pairs = self[2][1] / self[k + size][0] if self[k + size][0] > 1e-11 else np.inf
        rho = sqrt(1 - 1 / self.kappa(2 * k + size) ** 2)
        delta = (both - 1) / (both + 1) if np.isfinite(both) else 1.0
        limit = (2 * sqrt(k / size) - 1) / (2 * sqrt(k / size) + 1)
        fits = 2 * k + size < self.p
        return {
            "GraHTP Theorem 2(a)": three / (2 / sqrt(3)),
            "GraHTP Theorem 2(b)": three / 1.26,
            "GraHTP Theorem 5(a)": (2 + 4 * two**2) * size / k if fits else np.inf,
            "GraHTP Theorem 5(b)": rho * size / ((1 - rho) ** 2 * k) if fits and rho < 1 else np.inf,
            "GraSP Theorem 1": self.kappa(4 * k) / ((1 + sqrt(3)) / 2),
            "ARHT Theorem 3.3": max(4 * pairs + 7, 12 * pairs + 6) * size / k,
            "ARHT Theorem 3.7 (1)": pairs * sqrt(size / k),
            "ARHT Theorem 3.7 (2)": pairs * sqrt(size / k) / 2,
            "ARHT Corollary 3.9": delta / limit,
        }


def minimisers(H, pull, k):
    """The minimiser of x'Hx/2 - pull'x on each support of k columns, with its value."""
    for support in combinations(range(len(H)), k):
        S = list(support)
        x = np.zeros(len(H))
        x[S] = np.linalg.lstsq(H[np.ix_(S, S)], pull[S], rcond=None)[0]
        yield x, -0.5 * float(pull[S] @ x[S])


def best_value(H, pull, k):
    """The least x'Hx/2 - pull'x over k-sparse x."""
    return min(value for _, value in minimisers(H, pull, k))


def pull_of(X, y, options):
    """X'Cy about the weighted means: by NumPy."""
    n = len(X)
    c = (
        np.full(n, 1 / n)
        if "sample_weight" not in options
        else options["sample_weight"] / options["sample_weight"].sum()
    )
    A, t = (X - c @ X, y - c @ y) if options["fit_intercept"] else (X, y)
    return A.T @ (c * t)


def _conclusions(table, H, pull, k, beta):
    """Where a result about all k-sparse points is certified, what it concludes must hold on every support."""
    names = ("GraHTP Theorem 10(1)", "GraHTP Theorem 10(2)", "ARHT Corollary 3.5", "ARHT Corollary 3.6")
    sure = {name: table[name].numbers for name in names if table[name].verdict == "certified"}
    if not sure:
        return []
    complaints, true = [], set(np.flatnonzero(beta).tolist())
    value = 0.5 * beta @ H @ beta - pull @ beta
    room = 1e-9 * (abs(value) + np.trace(H) * (beta @ beta))
    every = list(minimisers(H, pull, k))
    best = min(found for _, found in every)
    for x, found in every:
        if found <= best and set(np.argsort(-np.abs(x))[: len(true)].tolist()) != true:
            other = sorted(set(sure) & set(names[:2]))
            complaints += [f"{name} is certified, but the best point has other largest entries" for name in other]
        numbers = sure.get("ARHT Corollary 3.5", {})
        near = found <= value + numbers.get("epsilon", -np.inf) - room
        if near and np.linalg.norm(x - beta) > numbers["error"] * (1 + 1e-6) + 1e-6:
            complaints.append(f"ARHT Corollary 3.5 is certified, but {x} is further off than {numbers['error']}")
        below = sure.get("ARHT Corollary 3.6", {}).get("epsilon below", -np.inf)
        if found < value + below - room and not true <= set(np.flatnonzero(x).tolist()):
            complaints.append(f"ARHT Corollary 3.6 is certified, but a support without the target's is below {below}")
    return complaints


def wrapped(X, rng):
    """X as it is, sparse, or an operator."""
    return [X, sp.csr_matrix(X), aslinearoperator(X)][int(rng.choice(3, p=[0.8, 0.1, 0.1]))]


@contextmanager
def limits(seed):
    """Two of three problems without enumeration, and one of five as if p were large: no whole Hessian."""
    before = outside.MAX_ENUMERATED, hessian_module.MAX_DENSE_COLUMNS
    outside.MAX_ENUMERATED = before[0] if seed % 3 == 0 else 0
    hessian_module.MAX_DENSE_COLUMNS = 3 if seed % 5 == 0 else before[1]
    try:
        yield
    finally:
        outside.MAX_ENUMERATED, hessian_module.MAX_DENSE_COLUMNS = before


def judge(seed, most=14):
    """Complaints about one random problem, and whether power, both searches came within 1% of the optimum."""
    with limits(seed):
        return _judge(seed, most)


def _judge(seed, most):
    X, y, options, k, beta, rng = draw(seed, most)
    f = pursuit.GLM(wrapped(X, rng), y, **options)
    H, p, size = hessian(X, options), X.shape[1], int(np.count_nonzero(beta))
    s = int(rng.integers(1, p + 1))
    found, complaints = pursuit.curvature(f, s, at=beta), []
    (m, M), room = constants(H, s), ROOM * float(np.trace(H))
    if not found.smoothness.inside <= M + room or not found.smoothness.certified >= M - room:
        complaints.append(f"M_{s} = {M} is not in {found.smoothness}")
    if not found.convexity.inside >= m - room or not found.convexity.certified <= m + room:
        complaints.append(f"m_{s} = {m} is not in {found.convexity}")
    none = np.empty(0, np.int64)
    supports = inside.truncated_power(hessian_at(f, f.null), s, np.random.default_rng(0), 8, none) if s < p else []
    power = max((float(np.linalg.eigvalsh(H[np.ix_(S, S)])[-1]) for S in supports), default=M)
    hits = power >= 0.99 * M, found.smoothness.inside >= 0.99 * M, found.convexity.inside <= 1.01 * m + room
    referee = Referee(H, k, size, options["l2"])
    table = pursuit.theorems(f, k, target=beta)
    for name, load in referee.loads().items():
        verdict = table[name].verdict
        if (verdict == "certified" and load > 1 + 1e-6) or (verdict == "refuted" and load < 1 - 1e-6):
            complaints.append(f"{name} is {verdict}, but uses {load} of its condition")
    if seed % 4 == 0:
        empty = {s.citation for s in pursuit.theorems(f, k, target=np.zeros(p)) if s.verdict == "certified"}
        more = empty - {s.citation for s in table if s.verdict == "certified"}
        complaints += [f"{name} is certified for a target without columns" for name in sorted(more)]
    complaints += _conclusions(table, H, pull_of(X, y, options), k, beta)
    complaints += _optimality(X, y, options, f, H, k, rng)
    complaints += _recovery(f, table, k, beta)
    return complaints, hits


def _optimality(X, y, options, f, H, k, rng):
    """Lemma 21 and DIHT's Theorem 1 at a refit of a random support, against the best of all supports."""
    p = X.shape[1]
    pull, scale = pull_of(X, y, options), float(np.mean(y**2))
    result = pursuit.solve(f, k, solver="omp") if rng.random() < 0.5 else None
    if result is None:
        S = np.sort(rng.choice(p, k, replace=False))
        x = np.zeros(p)
        x[S] = np.linalg.lstsq(H[np.ix_(S, S)], pull[S], rcond=None)[0]
    else:
        x = result.x
    if np.count_nonzero(x) == 0:
        return []
    value, best = 0.5 * x @ H @ x - pull @ x, best_value(H, pull, k)
    room = 1e-9 * max(abs(best), scale)
    table = pursuit.theorems(f, k, target=x)
    complaints = []
    if table["GraHTP Lemma 21"].verdict == "refuted" and value <= best + 1e-3 * room:
        complaints.append("Lemma 21 refutes an optimal point")
    if table["DIHT Theorem 1"].verdict == "certified" and value > best + room:
        complaints.append(f"DIHT Theorem 1 certifies {value}, the best is {best}")
    return complaints


def _recovery(f, table, k, beta):
    """Where a corollary is certified, the method as printed must find the target's support in that many steps."""
    complaints, true = [], np.flatnonzero(beta).tolist()
    for name, solver in (("GraHTP Corollary 3(a)", pursuit.GraHTP), ("GraHTP Corollary 3(b)", pursuit.FGraHTP)):
        statement = table[name]
        if statement.verdict != "certified" or len(true) < k:
            continue
        more = {"polish": False, "halt": 0.0} if solver is pursuit.FGraHTP else {}
        steps = max(1, ceil(statement.numbers["iterations"]))
        point = None
        constraint = f.sparse_set(k)
        for _, point in zip(
            range(steps), solver(step=statement.numbers["step"], **more).iterate(f, constraint, f.null)
        ):
            pass
        if point is None or point.support.tolist() != true:
            complaints.append(f"{name} is certified, but {steps} steps do not find the target")
    return complaints
