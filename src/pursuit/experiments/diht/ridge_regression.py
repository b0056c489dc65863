"""Data and methods of section 5.1 of the DIHT paper: sparse ridge regression where N is about k."""

from typing import Any

import numpy as np

from pursuit import DIHT, GLM, FGraHTP, GraHTP, solve
from pursuit.experiments.experiment import Row

RELEVANT = 100  # of them the coefficients are 1, and k is the same
SHARED = 0.25  # covariance of two relevant features
LAMBDAS = tuple(10.0**power for power in range(-6, 3))
EPOCHS = 200  # of DIHT
STEPS = 500  # of IHT at most
TAG = 51


def drawn(N: int, d: int, relevant: int, copy: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and the true w: features have means of their own, N(0, 1), and the relevant ones a factor in common."""
    rng = np.random.default_rng([TAG, d, N, copy])
    mean, X = rng.standard_normal(d), rng.standard_normal((N, d))
    X[:, :relevant] = np.sqrt(1 - SHARED) * X[:, :relevant] + np.sqrt(SHARED) * rng.standard_normal((N, 1))
    X += mean
    w = (np.arange(d) < relevant).astype(float)
    return X, X @ w + rng.standard_normal(N), w


def methods(X: np.ndarray, l2: float) -> dict[str, tuple[Any, int]]:
    """Solvers with the most iterations that they may take."""
    safe = 1.0 / float(np.linalg.norm(X, 2) ** 2 / len(X) + l2)  # Foucart's step 1 for columns not scaled
    return {
        "DIHT": (DIHT(halt=0.0, random_state=0), EPOCHS),
        "DIHT, not refitted": (DIHT(refit=False, halt=0.0, random_state=0), EPOCHS),
        "IHT": (FGraHTP(polish=False), STEPS),
        "HTP": (GraHTP(), STEPS),
        "HTP, constant step": (GraHTP(step=safe), STEPS),
    }


def solved(N: int, d: int, relevant: int, copy: int, lambdas: tuple[float, ...]) -> list[Row]:
    """Every method at every lambda on the same draw."""
    X, y, w = drawn(N, d, relevant, copy)
    rows: list[Row] = []
    for lam in lambdas:
        f = GLM(X, y, "squared", l2=lam / 2, fit_intercept=False)
        for method, (solver, limit) in methods(X, lam / 2).items():
            result = solve(f, relevant, solver=solver, max_iter=limit)
            rows.append(
                {
                    "method": method,
                    "lambda": lam,
                    "error": float(np.linalg.norm(result.x - w) / np.linalg.norm(w)),
                    "recovered": float(np.array_equal(result.support, np.arange(relevant))),
                    "gap": result.gap,
                    "value": result.value,
                }
            )
    return rows
