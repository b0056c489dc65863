"""Does the chosen subset hold the true features: ``python benchmarks/explain.py``, the cells of ``cells.py`` or Lorenz.

The 24 cells have n > p and n < p, columns with and without correlation, and six signal-to-noise ratios. F is the
harmonic mean of precision and recall of the features, exact the share of data sets whose features are all found and no
other. Differences are paired by data set, with their standard errors.

``--lorenz``: the three equations of Lorenz' system from states and noisy derivatives, among all monomials of the states
up to degree 3 (19) and 5 (55); 2, 3 and 2 of them are true. Every fit is one line of ``--out``/explain.jsonl: a stopped
run goes on where it was.
"""

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
from cells import CELLS, SHAPES, sample
from choosers import FOLDS, Chooser, Fitted, abess, has, pursuit, quiet, read
from resumable import Entry, Key, run
from rich.console import Console
from rich.table import Table
from scipy.integrate import solve_ivp
from sklearn.linear_model import Lasso, LassoCV

NOISES = (0.0, 0.01, 0.1, 0.3, 1.0)  # standard deviations of what is added to the derivatives, which are of size 30
DEGREES = (3, 5)
TRUE_TERMS = ({(0,), (1,)}, {(0,), (1,), (0, 2)}, {(0, 1), (2,)})
PAIRS, MAX_STABLE = 25, 10  # complementary pairs of half-samples, and the largest size of their paths


def lasso_1se(X: np.ndarray, y: np.ndarray) -> Fitted:
    """The largest penalty whose held-out error is within one standard error (over folds) of the least."""
    cv = LassoCV(cv=FOLDS).fit(X, y)
    mean, error = cv.mse_path_.mean(1), cv.mse_path_.std(1, ddof=1) / np.sqrt(FOLDS)
    best = int(np.argmin(mean))
    alpha = cv.alphas_[mean <= mean[best] + error[best]].max()
    return read(Lasso(alpha=alpha).fit(X, y))


def subset(X: np.ndarray, y: np.ndarray, support: np.ndarray) -> Fitted:
    """Least squares on a support."""
    coef, middle = np.zeros(X.shape[1]), X.mean(0)
    coef[support] = np.linalg.lstsq(X[:, support] - middle[support], y - y.mean(), rcond=None)[0]
    return coef, float(y.mean() - middle @ coef)


def stable(X: np.ndarray, y: np.ndarray) -> Fitted:
    """Features that 60% of the half-samples select at some size up to 10 (complementary pairs)."""
    from pursuit import SparseRegressor, stability

    found = stability(SparseRegressor(k=MAX_STABLE), X, y, n_pairs=PAIRS, random_state=0, n_jobs=1)
    return subset(X, y, found.stable)


def stable_at_k(X: np.ndarray, y: np.ndarray) -> Fitted:
    """The k features that half-samples select most often at size k, of those that half of them select.

    k and the ridge of the paths are what goal="explain" chose.
    """
    from pursuit import SparseRegressor, SparseRegressorCV, stability

    chosen = SparseRegressorCV(goal="explain").fit(X, y)
    if chosen.k_ == 0:
        return read(chosen)
    model = SparseRegressor(k=chosen.k_, l2=chosen.l2_)
    found = stability(model, X, y, n_pairs=PAIRS, ks=[chosen.k_], random_state=0, n_jobs=1)
    often = np.argsort(-found.strength, kind="stable")[: chosen.k_]
    return subset(X, y, found.columns[often[found.strength[often] >= 0.5]])


def everyone() -> dict[str, Chooser]:
    found: dict[str, Chooser] = {"explain": partial(pursuit, "squared", goal="explain")}
    for rule in ("0.5se", "min", "bic", "ebic"):
        found[rule] = partial(pursuit, "squared", goal="explain", rule=rule)
    if has("abess"):
        found["abess"] = partial(abess, "squared", 1)
    return found | {
        "lasso 1se": lasso_1se,
        "predict": partial(pursuit, "squared"),
        "complementary pairs": stable,
        "stability at k": stable_at_k,
    }


def lorenz(degree: int, level: int, seed: int) -> tuple[np.ndarray, np.ndarray, list[tuple[int, ...]]]:
    """400 states of a trajectory as monomials up to a degree, their noisy derivatives, and the monomials."""

    def slope(_: float, u: np.ndarray) -> list[float]:
        return [10 * (u[1] - u[0]), u[0] * (28 - u[2]) - u[1], u[0] * u[1] - 8 / 3 * u[2]]

    start = np.array([-8.0, 7.0, 27.0]) + np.random.default_rng([seed, 63]).standard_normal(3)
    u = solve_ivp(slope, (0, 8), start, t_eval=np.arange(400) / 50, rtol=1e-10, atol=1e-10).y.T
    terms = [term for d in range(1, degree + 1) for term in combinations_with_replacement(range(3), d)]
    noise = NOISES[level] * np.random.default_rng([seed, degree, level]).standard_normal(u.shape)
    slopes = np.array([slope(0, row) for row in u]) + noise
    return np.column_stack([u[:, term].prod(axis=1) for term in terms]), slopes, terms


def measure(key: Key) -> Entry:
    """One fit, judged."""
    where, at, seed, turn, name = key
    error = np.nan
    if where == "lorenz":
        degree, level, equation = map(int, at.split("/"))
        X, slopes, terms = lorenz(degree, level, seed)
        y, true = slopes[:, equation], np.array([i for i, t in enumerate(terms) if t in TRUE_TERMS[equation]])
    else:
        data = sample("squared", at, seed, turn)
        X, y, true = data.X, data.y, data.planted
    began = time.process_time()
    coef, intercept = quiet(everyone()[name], X, y)
    spent = time.process_time() - began
    found = np.flatnonzero(coef)
    hits = len(np.intersect1d(found, true))
    if where != "lorenz":
        error = data.error(coef, intercept)
    return {
        "seconds": spent,
        "features": len(found),
        "hits": hits,
        "f": 2 * hits / max(len(found) + len(true), 1),
        "exact": float(hits == len(found) == len(true)),
        "error": error,
    }


def column(entries: dict[Key, Entry], name: str, field: str, some: Callable[[Key], bool]) -> dict[Key, float]:
    return {key[:-1]: entry[field] for key, entry in entries.items() if key[-1] == name and some(key)}


def apart(ours: dict[Key, float], theirs: dict[Key, float]) -> str:
    """The mean difference and its standard error, over the data sets that both have."""
    d = np.array([value - theirs[at] for at, value in ours.items() if at in theirs])
    return f"{d.mean():+.3f} ({d.std(ddof=1) / np.sqrt(len(d)):.3f})" if len(d) > 1 else "-"


def shape(key: Key) -> tuple[tuple[int, int, int], float, float]:
    """The design (n, p, s), the signal-to-noise ratio and the correlation of a data set of the cells."""
    design, snr = CELLS[key[1]]
    return design, snr, SHAPES[(key[3] + key[1] + 5 * key[2]) % len(SHAPES)][1]


GROUPS: dict[str, Callable[[Key], bool]] = {
    "all": lambda key: True,
    "n > p": lambda key: shape(key)[0][0] > shape(key)[0][1],
    "n < p": lambda key: shape(key)[0][0] < shape(key)[0][1],
    "rho = 0": lambda key: shape(key)[2] == 0,
    "rho > 0": lambda key: shape(key)[2] > 0,
    "SNR < 1": lambda key: shape(key)[1] < 1,
    "SNR > 1": lambda key: shape(key)[1] > 1,
}


def show(
    console: Console, entries: dict[Key, Entry], names: list[str], groups: dict[str, Callable[[Key], bool]]
) -> None:
    for title, some in groups.items():
        ours = {field: column(entries, names[0], field, some) for field in ("f", "exact")}
        out = Table(title=f"{title}: {len(ours['f'])} data sets; differences are those of {names[0]} (standard error)")
        for head in ("", "F", "difference", "exact", "difference", "features", "test error", "processor s", "sets"):
            out.add_column(head)
        for name in names:
            own = {f: column(entries, name, f, some) for f in ("f", "exact", "features", "hits", "error", "seconds")}
            if not own["f"]:
                continue
            mean = {field: float(np.mean(list(values.values()))) for field, values in own.items()}
            out.add_row(
                name,
                f"{mean['f']:.3f}",
                apart(ours["f"], own["f"]),
                f"{mean['exact']:.3f}",
                apart(ours["exact"], own["exact"]),
                f"{mean['features']:.1f}, {mean['hits']:.1f} true",
                f"{mean['error']:.1f}",
                f"{mean['seconds']:.2f}",
                str(len(own["f"])),
            )
        console.print(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lorenz", action="store_true", help="sparse dynamics instead of the cells")
    parser.add_argument("--sets", type=int, default=6, help="data sets per cell, or trajectories (default 6)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", action="append", metavar="NAME", help="these choosers only, the first is 'ours'")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    console = Console(width=None if Console().is_terminal else 160, highlight=False)
    names = given.only or list(everyone())
    if given.lorenz:
        places = [f"{d}/{level}/{e}" for d in DEGREES for level in range(len(NOISES)) for e in range(3)]
        keys = [("lorenz", at, given.seed + t, 0, name) for t in range(given.sets) for at in places for name in names]
        groups = {f"degree {d}": lambda key, d=d: key[1].startswith(f"{d}/") for d in DEGREES}
        groups |= {
            f"noise {noise:g}": lambda key, i=i: key[1].split("/")[1] == str(i) for i, noise in enumerate(NOISES)
        }
    else:
        turns, cells = range(given.sets), range(len(CELLS))
        keys = [("cells", cell, given.seed, turn, name) for turn in turns for cell in cells for name in names]
        groups = GROUPS
    entries = run(measure, keys, given.out / "explain.jsonl", given.jobs, console)
    show(console, entries, names, groups)


if __name__ == "__main__":
    main()
