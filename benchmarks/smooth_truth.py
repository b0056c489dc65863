"""Do smooth effects find the true features and curves: ``python benchmarks/smooth_truth.py``, three additive truths.

"friedman" has the additive effects of Friedman 1 (Friedman 1991; those of its product 10 sin(pi x1 x2) are means over
the other feature), "waves" has four shapes that no line follows, "mixed" has lines and curves. Features are uniform,
dependent by a Gaussian copula of correlation 0.3; n = 200, p = 20. "On the true basis" is linear selection on a column
per feature, its own true curve (of a noise feature: the feature itself): what smooth selection would do if it
knew the shapes. Both get k, the number of true features; "ridge chosen" is ``ks=[k]``, whose ridge comes from a
cross-validation. The last column is the share of grid points, between the 5 and
95 percent quantiles of a true and chosen feature, where the true curve lies inside the bootstrap band of
:class:`pursuit.plots.EffectDisplay`.
"""

import argparse
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import norm

import pursuit
from pursuit.plots.effects import bootstrap_bands

Curve = Callable[[np.ndarray], np.ndarray]
N, P, CORRELATION = 200, 20, 0.3


def _sine_of_product(x: np.ndarray) -> np.ndarray:
    """E[10 sin(pi x u)] for u uniform: the effect of one feature of Friedman's product."""
    return 10 * (1 - np.cos(np.pi * x)) / (np.pi * np.maximum(x, 1e-9))


TRUTHS: dict[str, tuple[Curve, ...]] = {
    "friedman": (
        _sine_of_product,
        _sine_of_product,
        lambda x: 20 * (x - 0.5) ** 2,
        lambda x: 10 * x,
        lambda x: 5 * x,
    ),
    "waves": (
        lambda x: np.sin(2 * np.pi * x),
        lambda x: np.cos(2 * np.pi * x),
        lambda x: 4 * (x - 0.5) ** 2,
        lambda x: np.abs(2 * x - 1),
    ),
    "mixed": (lambda x: 2 * x, lambda x: -2 * x, np.sqrt, lambda x: np.exp(2 * x) / 4),
}


def draw(truth: str, seed: int, noise: float, n: int = N, p: int = P) -> tuple[np.ndarray, np.ndarray]:
    """Rows and targets; the noise has ``noise`` times the variance of all effects together."""
    g = np.random.default_rng([seed, list(TRUTHS).index(truth)])
    common = g.normal(size=(n, 1))
    X = norm.cdf(np.sqrt(1 - CORRELATION) * g.normal(size=(n, p)) + np.sqrt(CORRELATION) * common)
    parts = [curve(X[:, j]) for j, curve in enumerate(TRUTHS[truth])]
    eta = sum((part - part.mean()) / part.std() for part in parts)
    return X, np.asarray(eta + np.sqrt(noise * eta.var()) * g.normal(size=n))


def true_basis(truth: str, X: np.ndarray) -> np.ndarray:
    curves = TRUTHS[truth]
    return np.column_stack([curves[j](X[:, j]) if j < len(curves) else X[:, j] for j in range(X.shape[1])])


def covered(truth: str, model: pursuit.SparseAdditiveRegressor, X: np.ndarray, y: np.ndarray, samples: int) -> float:
    """The share of grid points at which true curves lie within the bootstrap band."""
    chosen = {name: e for name, e in model.effects_.items() if e.column < len(TRUTHS[truth])}
    grids = {name: np.quantile(X[:, e.column], np.linspace(0.05, 0.95, 40)) for name, e in chosen.items()}
    every = {name: grids.get(name, e.grid(3)) for name, e in model.effects_.items()}
    bands = bootstrap_bands(model, X, y, every, samples, 0, None)
    inside = []
    for name, effect in chosen.items():
        part = TRUTHS[truth][effect.column](X[:, effect.column])
        curve = (TRUTHS[truth][effect.column](grids[name]) - part.mean()) / part.std()
        low, high = bands[name]
        inside.append((low <= curve) & (curve <= high))
    return float(np.mean(inside)) if inside else np.nan


def measure(truth: str, seed: int, noise: float, samples: int) -> tuple[float, float, float, float]:
    """True features found by smooth selection, with its ridge chosen, and on the true basis; and the coverage."""
    X, y = draw(truth, seed, noise)
    k = len(TRUTHS[truth])
    smooth = pursuit.SparseAdditiveRegressor(k=k).fit(X, y)
    known = pursuit.SparseRegressor(k=k).fit(true_basis(truth, X), y)
    chosen = pursuit.SparseAdditiveRegressor(ks=[k], random_state=0).fit(X, y)
    ours, tuned, theirs = (float(np.sum(model.support_ < k)) / k for model in (smooth, chosen, known))
    return ours, tuned, theirs, covered(truth, smooth, X, y, samples) if samples else np.nan


def _mean(values: np.ndarray) -> str:
    return "-" if len(values) < 2 else f"{values.mean():.3f} ({values.std(ddof=1) / np.sqrt(len(values)):.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--noise", type=float, default=0.5, help="its variance, in that of all effects together")
    parser.add_argument("--bootstrap", type=int, default=40)
    given = parser.parse_args()
    out = Table(title=f"{given.seeds} data sets each, noise {given.noise:g}: shares (standard errors over data sets)")
    heads = (
        "truth",
        "true features, smooth",
        "ridge chosen",
        "on the true basis",
        "difference",
        "true curve in the band",
    )
    for head in heads:
        out.add_column(head)
    for truth in TRUTHS:
        found = np.array([measure(truth, seed, given.noise, given.bootstrap) for seed in range(given.seeds)])
        columns = (found[:, 0], found[:, 1], found[:, 2], found[:, 0] - found[:, 2], found[:, 3])
        out.add_row(truth, *(_mean(column[np.isfinite(column)]) for column in columns))
    Console(width=140).print(out)


if __name__ == "__main__":
    main()
