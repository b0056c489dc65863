"""The kernels again, in plain NumPy and float64, as the definition to test against."""

import numpy as np

LOSSES = {
    "squared": (0, 0.0),
    "logistic": (1, 0.0),
    "huber": (2, 0.7),
    "smoothed_hinge": (3, 0.5),
    "hinge": (4, 0.0),
    "squared_hinge": (5, 0.0),
    "poisson": (6, 0.0),
}


def labels(name, rng, n):
    """Targets a loss accepts."""
    if name == "logistic":
        return (rng.random(n) < 0.5).astype(float)
    if "hinge" in name:
        return np.where(rng.random(n) < 0.5, 1.0, -1.0)
    if name == "poisson":
        return rng.poisson(2.0, n).astype(float)
    return rng.normal(size=n)


def phi(name, param, y, eta):
    """Value, first and second derivative in eta of one sample's loss."""
    r, m = eta - y, y * eta
    zero, one = np.zeros_like(eta), np.ones_like(eta)
    if name == "squared":
        return r**2 / 2, r, one
    if name == "logistic":
        s = np.where(eta >= 0, 1 / (1 + np.exp(-np.abs(eta))), np.exp(-np.abs(eta)) / (1 + np.exp(-np.abs(eta))))
        return np.logaddexp(0, eta) - y * eta, s - y, s * (1 - s)
    if name == "huber":
        far = np.abs(r) > param
        return (
            np.where(far, param * np.abs(r) - param**2 / 2, r**2 / 2),
            np.clip(r, -param, param),
            np.where(far, zero, one),
        )
    if name == "smoothed_hinge":
        inside = (m > 1 - param) & (m < 1)
        value = np.where(m >= 1, 0, np.where(m < 1 - param, 1 - m - param / 2, (1 - m) ** 2 / (2 * param)))
        return value, -y * np.clip((1 - m) / param, 0, 1), np.where(inside, 1 / param, zero)
    if name == "hinge":
        return np.maximum(0, 1 - m), np.where(m < 1, -y, 0), zero
    if name == "squared_hinge":
        return np.maximum(0, 1 - m) ** 2, -2 * y * np.maximum(0, 1 - m), np.where(m < 1, 2 * one, zero)
    e = np.exp(np.minimum(eta, 700))
    return e * (1 + np.clip(eta - 700, 0.0, 9300.0)) - y * eta, e - y, e


def eta_of(X, cols, coef, b, offset):
    return X[:, cols].astype(float) @ coef + b + (0 if offset is None else offset)


def value_gradient(X, y, c, offset, name, param, cols, coef, b):
    v, d, _ = phi(name, param, y, eta_of(X, cols, coef, b, offset))
    return c @ v, X.astype(float).T @ (c * d), c @ d


def newton(A, y, c, offset, name, param, coef, b):
    A1 = np.column_stack([A, np.ones(len(y))])
    v, d, h = phi(name, param, y, eta_of(A, np.arange(A.shape[1]), coef, b, offset))
    return c @ v, A1.T @ (c * d), A1.T @ ((c * h)[:, None] * A1)


def stats(X, c):
    X = X.astype(float)
    mean = c @ X / c.sum()
    return mean, c @ (X - mean) ** 2 / c.sum()


def row_hashes(X, first):
    """By Python's whole numbers."""

    def splitmix(x):
        x = (x + 0x9E3779B97F4A7C15) % 2**64
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
        return x ^ x >> 31

    keys = [splitmix(first + j) | 1 for j in range(X.shape[1])]
    bits = (X.astype(float) + 0.0).view(np.uint64).tolist() if X.size else [[]] * len(X)
    return [sum((b ^ b >> 32) * key for b, key in zip(row, keys, strict=True)) % 2**64 for row in bits]


def top_k(v, k):
    size = np.where(np.isnan(v), -1.0, np.abs(v))
    return np.sort(np.lexsort((np.arange(len(v)), -size))[:k])


def hinge_objectives(A, y, c, offset, l2, rho, centre, alpha, x, b):
    """Primal and dual value of the hinge problem; the dual at (alpha), the primal at (x, b)."""
    eta = A @ x + b + offset
    primal = c @ np.maximum(0, 1 - y * eta) + l2 / 2 * x @ x + rho / 2 * (b - centre) ** 2
    z, s = A.T @ (c * y * alpha) / l2, (c * y) @ alpha
    dual = (c * alpha) @ (1 - y * (offset + centre)) - l2 / 2 * z @ z - s**2 / (2 * rho)
    return primal, dual
