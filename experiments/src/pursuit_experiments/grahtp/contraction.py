"""The contraction factors of Theorems 2 and 5 and what they ask of step and budget, for M/m = ``ratio`` and M = 1.

Steps are in units of 1/M.
"""

import numpy as np

GOLDEN = 1.62  # (1 + sqrt 5)/2 as the paper rounds it, the hard-thresholding bound of Shen and Li


def rho(step: np.ndarray | float, ratio: np.ndarray | float) -> np.ndarray:
    """sqrt(1 - 2 step m + step^2 M^2)."""
    return np.sqrt(np.maximum(1 - 2 * np.asarray(step) / ratio + np.asarray(step) ** 2, 0.0))


def best_step(ratio: np.ndarray | float) -> np.ndarray:
    """m / M^2: the step of smallest rho, which is then sqrt(1 - (m/M)^2)."""
    return 1 / np.asarray(ratio)


def steps_with_rho_below(most: float, ratio: float) -> tuple[float, float]:
    """The open interval of steps with rho < ``most`` (the paper's (3) for 1/2), NaN where there is none."""
    inside = 1 / ratio**2 - (1 - most**2)
    half = np.sqrt(inside) if inside > 0 else np.nan
    return 1 / ratio - half, 1 / ratio + half


def widest_ratio(most: float) -> float:
    """The M/m below which some step has rho < ``most``."""
    return float(1 / np.sqrt(1 - most**2))


def exact_budget(step: np.ndarray | float, ratio: np.ndarray | float) -> np.ndarray:
    """Theorem 5(a): the least k / k-bar, 2 + 4 / (step m)^2."""
    return 2 + 4 * (np.asarray(ratio) / step) ** 2


def fast_budget(step: np.ndarray | float, ratio: np.ndarray | float) -> np.ndarray:
    """Theorem 5(b): k / k-bar must exceed rho / (1 - rho)^2; NaN where rho >= 1."""
    found = rho(step, ratio)
    return np.where(found < 1, found / np.maximum(1 - found, 1e-300) ** 2, np.nan)


def exact_relaxed(step: np.ndarray | float, ratio: np.ndarray | float) -> np.ndarray:
    """Theorem 5(a): 1 - step m (1 - step M) / 2."""
    return 1 - np.asarray(step) / ratio * (1 - np.asarray(step)) / 2


def fast_relaxed(step: np.ndarray | float, ratio: np.ndarray | float, budget: np.ndarray | float) -> np.ndarray:
    """Theorem 5(b): rho gamma, at k = ``budget`` k-bar."""
    share = 1 / np.asarray(budget)
    return rho(step, ratio) * np.sqrt(1 + (share + np.sqrt((4 + share) * share)) / 2)
