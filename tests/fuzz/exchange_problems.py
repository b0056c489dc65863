"""Random least squares problems on which a search for single exchanges goes wrong: wide, correlated, badly scaled.

A seed chooses everything. Nothing here imports the library. Columns are scaled by powers of two, so that duplicates
stay exact; the referee judges the numbers as they are stored (after rounding to float32, where X is float32).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.signal import lfilter

from fuzz.problems import Problem

LAYOUTS = ("C", "C", "C", "F", "csr", "csc", "strided")
FAMILIES = ("normal", "ar", "factor", "blocks", "heavy tails", "binary", "rare", "integers")


@dataclass(frozen=True, eq=False)
class ExchangeProblem(Problem):
    """A problem, and how X is stored for the library."""

    layout: str = "C"
    single: bool = False

    def stored(self) -> Any:
        """X in the layout and precision of the problem; ``self.X`` has the same numbers, dense float64 row-major."""
        X = self.X.astype(np.float32 if self.single else np.float64)
        if self.layout == "strided":
            wide = np.zeros((X.shape[0], 2 * X.shape[1]), X.dtype)
            wide[:, ::2] = X
            return wide[:, ::2]
        kinds: dict[str, Any] = {"F": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array}
        return kinds.get(self.layout, np.ascontiguousarray)(X)


def draw(seed: int, large: bool = False) -> ExchangeProblem:
    """The problem of a seed: up to 150 x 300 and k = 15; ``large``: up to 700 x 1500, past one block of any screen."""
    rng = np.random.default_rng([seed, 13, large])
    traits: list[str] = []
    most_rows, most_columns = (700, 1500) if large else (150, 300)
    n = int(rng.integers(300, most_rows + 1) if large else 6 + (most_rows - 6) * rng.random() ** 0.7)
    p = int(rng.integers(400, most_columns + 1) if large else 3 * (most_columns / 3) ** rng.random())
    k = int(rng.integers(1, min(15, p - 1) + 1))
    single = bool(rng.random() < 0.2)
    Z = column_family(rng, n, p, traits)
    truth = Z[:, rng.permutation(p)[: int(rng.integers(1, 2 * k + 1))]]
    signal = truth @ (rng.uniform(0.3, 2, truth.shape[1]) * rng.choice([-1.0, 1.0], truth.shape[1]))
    signal = spoil_columns(rng, Z, signal, traits)
    X = Z.astype(np.float32).astype(float) if single else Z
    y, unit = _target(rng, signal, traits)
    weight = sample_weights(rng, n, traits)
    standardize = bool(rng.random() < 0.3)
    l2 = 0.0
    if rng.random() < 0.3:
        variance = 1.0 if standardize else float(np.median(X.var(axis=0))) or 1.0
        l2 = float(10.0 ** rng.uniform(-7, 0)) * variance
        traits.append("ridge")
    offset = unit * rng.standard_normal(n) if rng.random() < 0.15 else None
    include, exclude = forced_and_forbidden(rng, p, k, traits)
    layout = str(rng.choice(LAYOUTS))
    intercept = bool(rng.random() < 0.75)
    if n < p:
        traits.append("n < p")
    return ExchangeProblem(
        seed,
        X,
        y,
        "squared",
        0.0,
        l2,
        weight,
        offset,
        intercept,
        standardize,
        k,
        include,
        exclude,
        None,
        tuple(traits),
        layout,
        single,
    )


def draw_responses(seed: int) -> ExchangeProblem:
    """The problem of a seed with two to five responses: one of its own, others with noise or another column in them."""
    problem, rng = draw(seed), np.random.default_rng([seed, 35])
    y, q = problem.y, int(rng.integers(2, 6))
    size, Y = float(y.std()) or 1.0, [y]
    for _ in range(q - 1):
        column = problem.X[:, int(rng.integers(problem.X.shape[1]))]
        other = (column - column.mean()) / (float(column.std()) or 1.0)
        shares = 10.0 ** rng.uniform(-3, 0.5, 3) * rng.choice([-1.0, 0.0, 1.0], 3)
        Y.append(shares[0] * y + size * (shares[1] * other + shares[2] * rng.standard_normal(len(y))))
    offset = None if problem.offset is None else np.outer(problem.offset, rng.standard_normal(q))
    return replace(problem, y=np.column_stack(Y), offset=offset, traits=(*problem.traits, f"{q} responses"))


def column_family(rng: np.random.Generator, n: int, p: int, traits: list[str]) -> np.ndarray:
    """Columns before they are spoilt."""
    family = str(rng.choice(FAMILIES))
    traits.append(family)
    Z = rng.standard_normal((n, p))
    if family == "ar":
        rho = float(rng.choice([0.5, 0.9, 0.99]))
        Z[:, 1:] *= np.sqrt(1 - rho**2)
        return lfilter([1.0], [1.0, -rho], Z, axis=1)
    if family == "factor":
        return Z + rng.uniform(0.5, 20) * rng.standard_normal((n, 2)) @ rng.standard_normal((2, p))
    if family == "blocks":
        return Z + rng.uniform(1, 10) * np.repeat(rng.standard_normal((n, -(-p // 5))), 5, axis=1)[:, :p]
    if family == "heavy tails":
        return rng.standard_t(2, (n, p))
    if family in ("binary", "rare"):
        common = rng.uniform(0.05, 0.6, p) if family == "binary" else rng.uniform(0.5, 4, p) / n
        return (rng.random((n, p)) < common).astype(float)
    return np.round(2 * Z + rng.standard_normal((n, 1))) if family == "integers" else Z


def spoil_columns(rng: np.random.Generator, Z: np.ndarray, signal: np.ndarray, traits: list[str]) -> np.ndarray:
    """Near-duplicates, duplicates, constants, sums, means and scales, in place; the signal, perhaps with a difference.

    A signal along the difference of near-duplicates makes both of them worth having.
    """
    n, p = Z.shape
    signal = signal / max(float(signal.std()), 1e-3)
    if rng.random() < 0.4:
        count = int(rng.integers(1, max(2, p // 2)))
        noise = rng.standard_normal((n, count))
        near = 10.0 ** -(rng.uniform(0.3, 4, count) if rng.random() < 0.6 else rng.uniform(3, 9, count))
        Z[:, rng.permutation(p)[:count]] = Z[:, rng.integers(0, p, count)] + near * noise
        if rng.random() < 0.4:
            signal = 0.5 * signal + noise[:, 0]
        traits.append("near-duplicates")
    if rng.random() < 0.2:
        count = int(rng.integers(1, max(2, p // 3)))
        copies = Z[:, rng.integers(0, p, count)] * rng.choice([1.0, -2.0, 0.5], count)
        Z[:, rng.permutation(p)[:count]] = copies
        traits.append("duplicates")
    if p > 3 and rng.random() < 0.1:
        a, b, c = rng.permutation(p)[:3]
        Z[:, c] = Z[:, a] + Z[:, b]
        traits.append("sums")
    if rng.random() < 0.15:
        Z[:, rng.random(p) < 0.1] = rng.choice([0.0, 1.0, 3.7])
        traits.append("constants")
    if rng.random() < 0.3:
        Z += 50.0 if rng.random() < 0.6 else 10.0 ** rng.uniform(0, 6, p) * rng.choice([-1.0, 0.0, 1.0], p)
        traits.append("means")
    if rng.random() < 0.35:
        Z *= 2.0 ** rng.integers(-27, 28, p)
        traits.append("scales")
    elif rng.random() < 0.1:
        Z *= 10.0 ** rng.uniform(-8, 8)
        traits.append("one scale")
    return signal


def _target(rng: np.random.Generator, signal: np.ndarray, traits: list[str]) -> tuple[np.ndarray, float]:
    """y and its unit."""
    chance = rng.random()
    if chance < 0.05:
        y = signal.copy()
        traits.append("no noise")
    elif chance < 0.06:
        y = np.full(len(signal), 2.0)
        traits.append("constant y")
    else:
        y = signal + 10.0 ** rng.uniform(-3, 0.7) * rng.standard_normal(len(signal))
    if rng.random() < 0.2:
        y = y + 10.0 ** rng.uniform(1, 5)
        traits.append("y with a mean")
    unit = float(10.0 ** rng.uniform(-8, 8)) if rng.random() < 0.25 else 1.0
    if unit != 1.0:
        traits.append("y with a unit")
    return unit * y, unit


def forced_and_forbidden(
    rng: np.random.Generator, p: int, k: int, traits: list[str]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Columns that are always, and never, in the support; at least one exchange is left."""
    order = rng.permutation(p)
    forced = int(rng.integers(1, min(k, 3) + 1)) if rng.random() < 0.15 else 0
    barred = int(rng.integers(1, max(2, p // 3))) if rng.random() < 0.15 and p - forced > k + 1 else 0
    barred = min(barred, p - k - 1)
    traits += ["include"] * (forced > 0) + ["exclude"] * (barred > 0)
    return tuple(int(j) for j in order[:forced]), tuple(int(j) for j in order[forced : forced + barred])


def sample_weights(rng: np.random.Generator, n: int, traits: list[str]) -> np.ndarray | None:
    chance = rng.random()
    if chance > 0.25:
        return None
    traits.append("weights")
    if chance < 0.08:
        weight = rng.integers(0, 4, n).astype(float)
        weight[:3] = 1.0
        return weight
    return 10.0 ** rng.uniform(-6, 0, n) if chance < 0.13 else rng.uniform(0.1, 3, n)
