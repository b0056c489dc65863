"""The published algorithms in plain NumPy, for f(x) = ||Ax - y||^2 / (2n), no intercept. No library code here."""

import numpy as np


def data(n=60, p=30, k=4, rho=0.0, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, p))
    for j in range(1, p):
        A[:, j] = rho * A[:, j - 1] + np.sqrt(1 - rho**2) * A[:, j]
    x = np.zeros(p)
    x[rng.choice(p, k, replace=False)] = rng.choice([-1, 1], k) * rng.uniform(0.5, 2, k)
    return A, A @ x + noise * rng.standard_normal(n)


def value(A, y, x):
    return np.sum((A @ x - y) ** 2) / (2 * len(y))


def gradient(A, y, x):
    return A.T @ (A @ x - y) / len(y)


def largest(v, k):
    return np.sort(np.argsort(-np.abs(v), kind="stable")[:k])


def least_squares(A, y, support, ridge=None):
    """The minimiser over a support; ``ridge`` holds rho where a coordinate is regularised."""
    x = np.zeros(A.shape[1])
    S = list(support)
    H = A[:, S].T @ A[:, S] / len(y)
    if ridge is not None:
        H += np.diag(ridge[S])
    x[S] = np.linalg.solve(H, A[:, S].T @ y / len(y))
    return x


def cosamp(A, y, k, debias=False):
    x = np.zeros(A.shape[1])
    while True:
        merged = np.union1d(largest(gradient(A, y, x), 2 * k), np.flatnonzero(x))
        b = least_squares(A, y, merged)
        keep = largest(b, k)
        x = np.zeros_like(b)
        x[keep] = b[keep]
        if debias:
            x = least_squares(A, y, keep)
        yield x


def htp(A, y, k, step):
    x = np.zeros(A.shape[1])
    while True:
        x = least_squares(A, y, largest(x - step * gradient(A, y, x), k))
        yield x


def logistic_gradient(U, v, w, ridge):
    """Of mean(log(1 + exp(-2 v w.u))) + ridge/2 |w|^2, labels +-1: the GraHTP paper's loss in its own units."""
    return -2 * U.T @ (v / (1 + np.exp(2 * v * (U @ w)))) / len(v) + ridge * w


def logistic_refit(U, v, support, ridge):
    """Newton's method on some columns, halved until the loss falls."""
    A, w = U[:, support], np.zeros(len(support))

    def loss(w):
        return np.mean(np.logaddexp(0, -2 * v * (A @ w))) + ridge / 2 * w @ w

    for _ in range(100):
        g = logistic_gradient(A, v, w, ridge)
        if np.linalg.norm(g) < 1e-13:
            break
        q = 1 / (1 + np.exp(2 * v * (A @ w)))
        d = np.linalg.solve((A.T * (4 * q * (1 - q))) @ A / len(v) + ridge * np.eye(len(w)), g)
        step = next((2.0**-i for i in range(30) if loss(w - 2.0**-i * d) < loss(w)), 0.0)
        w = w - step * d
    return w


def logistic_grahtp(U, v, k, step, ridge):
    """Algorithm 1 of the GraHTP paper as printed: a constant step, and the end where the support repeats."""
    w, support = np.zeros(U.shape[1]), None
    while True:
        chosen = largest(w - step * logistic_gradient(U, v, w, ridge), k)
        if np.array_equal(chosen, support):
            return
        w, support = np.zeros(U.shape[1]), chosen
        w[chosen] = logistic_refit(U, v, chosen, ridge)
        yield w


def iht(A, y, k, step):
    x = np.zeros(A.shape[1])
    while True:
        ahead = x - step * gradient(A, y, x)
        keep = largest(ahead, k)
        x = np.zeros_like(ahead)
        x[keep] = ahead[keep]
        yield x


def omp(A, y, k):
    support, x = [], np.zeros(A.shape[1])
    for _ in range(k):
        g = gradient(A, y, x)
        g[support] = 0
        support.append(int(np.argmax(np.abs(g))))
        x = least_squares(A, y, support)
        yield x


def ompr(A, y, k):
    *_, x = omp(A, y, k)
    yield x
    while True:
        S = np.flatnonzero(x)
        g = gradient(A, y, x)
        g[S] = 0
        ahead = least_squares(A, y, np.union1d(np.setdiff1d(S, [S[np.argmin(np.abs(x[S]))]]), [np.argmax(np.abs(g))]))
        if value(A, y, ahead) >= value(A, y, x):
            return
        x = ahead
        yield x


def pht(A, y, x, r, step):
    """Partial hard thresholding from a k-sparse minimiser x."""
    k = np.count_nonzero(x)
    while True:
        S = np.flatnonzero(x)
        z = x - step * gradient(A, y, x)
        outside = z.copy()
        outside[S] = 0
        joined = np.union1d(S, largest(outside, r))
        only = np.zeros_like(z)
        only[joined] = z[joined]
        x = least_squares(A, y, largest(only, k))
        yield x


def foba(A, y, k, nu):
    """Zhang's algorithm; the cost of a removal is measured after the refit."""
    support, x, gain = [], np.zeros(A.shape[1]), {}
    while len(support) < k:
        g = gradient(A, y, x)
        g[support] = 0
        ahead = [*support, int(np.argmax(np.abs(g)))]
        after = least_squares(A, y, ahead)
        gain[len(ahead)] = value(A, y, x) - value(A, y, after)
        support, x = ahead, after
        yield x
        while len(support) in gain:
            less = [least_squares(A, y, [i for i in support if i != j]) for j in support]
            costs = [value(A, y, w) - value(A, y, x) for w in less]
            j = int(np.argmin(costs))
            if costs[j] >= nu * gain[len(support)]:
                break
            x = less[j]
            support = [i for i in support if i != support[j]]
            yield x


def arht_core(A, y, x0, opt, eps, lower, rho, rng):
    """Algorithm 1, with the mended lines 15, 22, 27; yields the refit of f at every t, the last one is the answer."""
    p, s = A.shape[1], np.count_nonzero(x0)
    S, R = np.flatnonzero(x0), np.ones(p)

    def g(x):
        return value(A, y, x) + rho / 2 * np.sum(R * x**2)

    x = least_squares(A, y, S, rho * R)
    for _ in range(int(np.ceil(2 * s * np.log((g(x) - lower) / eps)))):
        here = least_squares(A, y, S)
        yield here
        if value(A, y, here) <= opt:
            return
        slope = gradient(A, y, x) + rho * R * x
        slope[S] = 0
        i, j = np.argmax(np.abs(slope)), S[np.argmin(np.abs(x[S]))]
        T = np.union1d(np.setdiff1d(S, [j]), [i])
        ahead = least_squares(A, y, T, rho * R)
        if g(x) - g(ahead) < (g(x) - opt) / s:
            mass = R[S] * x[S] ** 2
            if mass.sum() == 0:
                return
            R[rng.choice(S, 1, p=mass / mass.sum())] = 0
            ahead, T = least_squares(A, y, S, rho * R), S
        x, S = ahead, T
    yield least_squares(A, y, S)


def arht(A, y, x0, eps, lower, rho, rng, repeats):
    """Algorithm 2 with a given number of repetitions."""
    low, b = lower, np.zeros(A.shape[1])
    while value(A, y, b) - low > eps:
        m = (low + value(A, y, b)) / 2
        best = np.zeros(A.shape[1])
        for _ in range(repeats):
            *_, x = arht_core(A, y, x0, m, eps / 3, lower, rho, rng)
            best = x if value(A, y, x) < value(A, y, best) else best
        if value(A, y, best) > m + eps / 3:
            low = m
        else:
            b = best
    return b


# Sparse recovery, as textbooks have it: y = A x, A is n x p with unit columns on average, f = ||Ax - y||^2 / 2.


def shortest(A, y, support):
    """Least squares over a support, of the least norm where there are many."""
    x = np.zeros(A.shape[1])
    x[support] = np.linalg.lstsq(A[:, support], y, rcond=None)[0]
    return x


def niht(A, y, k, steps=1000):
    """Normalised IHT (Blumensath, Davies 2010) in its plainest form: the step from the current support alone."""
    x, support = np.zeros(A.shape[1]), largest(A.T @ y, k)
    for _ in range(steps):
        g = A.T @ (y - A @ x)
        Ag = A[:, support] @ g[support]
        ahead = x + (g[support] @ g[support]) / max(Ag @ Ag, 1e-300) * g
        support = largest(ahead, k)
        new = np.zeros_like(x)
        new[support] = ahead[support]
        if np.linalg.norm(new - x) <= 1e-7 * max(np.linalg.norm(x), 1e-12):
            return new
        x = new
    return x


def plain_htp(A, y, k, steps=100):
    """HTP (Foucart 2011) with step 1."""
    x, support = np.zeros(A.shape[1]), None
    for _ in range(steps):
        ahead = largest(x + A.T @ (y - A @ x), k)
        if support is not None and np.array_equal(ahead, support):
            break
        x, support = shortest(A, y, ahead), ahead
    return x


def least_norm_cosamp(A, y, k, steps=100):
    """CoSaMP (Needell, Tropp 2009) with minimum-norm least squares, the best of its iterates."""
    x = best = np.zeros(A.shape[1])
    least = np.inf
    for _ in range(steps):
        b = shortest(A, y, np.union1d(largest(A.T @ (y - A @ x), 2 * k), np.flatnonzero(x)))
        support = largest(b, k)
        new = np.zeros_like(x)
        new[support] = b[support]
        left = np.linalg.norm(y - A @ new)
        best, least = (new, left) if left < least else (best, least)
        if left < 1e-10 * np.linalg.norm(y) or np.linalg.norm(new - x) < 1e-10 * np.linalg.norm(x):
            break
        x = new
    return best


def last(iterates):
    """Where an iteration ends."""
    *_, x = iterates
    return x


TEXTBOOKS = {
    "fgrahtp": niht,
    "grahtp": plain_htp,
    "grasp": least_norm_cosamp,
    "omp": lambda A, y, k: last(omp(A, y, k)),
    "ompr": lambda A, y, k: last(ompr(A, y, k)),
    "pht": plain_htp,
}


def recovery(kind, k, trial, n=200, p=400):
    """A Gaussian matrix and a k-sparse signal: flat, Gaussian or decaying."""
    rng = np.random.default_rng([trial, k])
    A = rng.standard_normal((n, p)) / np.sqrt(n)
    x = np.zeros(p)
    support = rng.choice(p, k, replace=False)
    signs = rng.choice([-1.0, 1.0], k)
    x[support] = {"flat": signs, "gaussian": rng.standard_normal(k), "decaying": signs * 0.9 ** np.arange(k)}[kind]
    return A, x
