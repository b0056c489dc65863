"""Data and methods of section 5.1 of the DIHT paper: sparse ridge regression where N is about k."""

from typing import Any

import numpy as np

from pursuit import DIHT, GLM, FGraHTP, GraHTP, solve
from pursuit_experiments.experiment import Row

RELEVANT = 100  # of them the coefficients are 1, and k is the same
SHARED = 0.25  # covariance of two relevant features
LAMBDAS = tuple(10.0**power for power in range(-6, 3))
EPOCHS = 200  # of DIHT sample by sample
ASCENTS = 300  # of DIHT's supergradient steps
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


PAPERS, SAMPLES, RAW = "DIHT", "DIHT, sample by sample", "DIHT, sample by sample, not refitted"
IHT, HTP, CONSTANT = "IHT", "HTP", "HTP, constant step"


def ascending() -> dict[str, tuple[Any, int]]:
    """The paper's projected supergradient ascent; Polyak's rule is the length of its steps, in place of a tuned one."""
    return {PAPERS: (DIHT(step="polyak", halt=0.0, patience=0), ASCENTS)}


def others(X: np.ndarray, l2: float) -> dict[str, tuple[Any, int]]:
    """Solvers with the most iterations that they may take."""
    safe = 1.0 / float(np.linalg.norm(X, 2) ** 2 / len(X) + l2)  # Foucart's step 1 for columns not scaled
    return {
        SAMPLES: (DIHT(step="coordinate", halt=0.0, patience=0, random_state=0), EPOCHS),
        RAW: (DIHT(step="coordinate", refit=False, halt=0.0, patience=0, random_state=0), EPOCHS),
        IHT: (FGraHTP(polish=False), STEPS),
        HTP: (GraHTP(), STEPS),
        CONSTANT: (GraHTP(step=safe), STEPS),
    }


def solved(N: int, d: int, relevant: int, copy: int, lambdas: tuple[float, ...], *, ascent: bool) -> list[Row]:
    """DIHT by the paper's ascent, or all the others, at every lambda on the same draw."""
    X, y, w = drawn(N, d, relevant, copy)
    rows: list[Row] = []
    for lam in lambdas:
        f = GLM(X, y, "squared", l2=lam / 2, fit_intercept=False)
        for method, (solver, limit) in (ascending() if ascent else others(X, lam / 2)).items():
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
