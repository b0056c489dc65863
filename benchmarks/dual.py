"""DIHT and SDIHT against IHT, HTP and SVR-GHT on text: ``python benchmarks/dual.py``.

As in section 5.2 of the DIHT paper: IHT runs until its value falls by less than 1e-4 of itself; the others until they
reach IHT's value, or give up after ``--limit`` times its time. Seconds are those of ``solve`` (wall), with the
processor's seconds beside them, since a busy machine stretches the first; the ratio is IHT's processor seconds over the
method's. No intercept, no standardisation.

Data: rcv1_binary and newsgroups_bigrams (tf-idf, unit rows) from $PURSUIT_DATA, else ../shared/data beside the project.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table

import pursuit
from pursuit import DIHT, GLM, SDIHT, SVRGHT, FGraHTP, GraHTP, SmoothedHinge

DATA = Path(os.environ.get("PURSUIT_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
K = {"rcv1_binary": 600, "newsgroups_bigrams": 60_000}  # the paper's figures 5.3 and 5.5
LOSSES = (SmoothedHinge(0.25), "hinge")
RIDGES = (0.002, 0.0002)
MEMORY = 2e9  # bytes that a dense refit may take


def load(name: str) -> tuple[sp.csr_array, np.ndarray]:
    held = np.load(DATA / f"{name}.npz", allow_pickle=False)
    data, indices = held["data"].astype(np.float64), held["indices"].astype(np.int32)
    X = sp.csr_array((data, indices, held["indptr"].astype(np.int32)), shape=tuple(held["shape"]))
    if name == "newsgroups_bigrams":
        seen = np.bincount(X.indices, minlength=X.shape[1])
        X.data *= (np.log((1 + X.shape[0]) / (1 + seen)) + 1)[X.indices]
        lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        X.data /= np.repeat(np.maximum(lengths, 1e-300), np.diff(X.indptr))
    return X, held["y"].astype(np.float64)


def contenders(f: GLM, k: int) -> dict[str, pursuit.Solver | str]:
    """The methods, or why one is left out: a refit on many columns is dense; with kinks SVR-GHT is refitted too."""
    dense = 8.0 * f.data.shape[0] * k
    out = f"left out: its refit may take {dense / 1e9:.0f} GB" if dense > MEMORY else ""
    return {
        "HTP": out or GraHTP(),
        "SVR-GHT": (out if not f.smooth else "") or SVRGHT(share=0.1, inner=10, polish=False, random_state=0),
        "DIHT": DIHT(refit=False, halt=0.0),
        "SDIHT, 10 blocks": SDIHT(refit=False, halt=0.0, block=f.data.shape[0] // 10),
        "SDIHT": SDIHT(refit=False, halt=0.0),
        "SDIHT, refitted": out or SDIHT(halt=0.0),
    }


def run(f: GLM, k: int, solver: pursuit.Solver, **limits: object) -> tuple[pursuit.Result, float]:
    before = time.process_time()
    result = pursuit.solve(f, k, solver=solver, **limits)
    return result, time.process_time() - before


def compare(name: str, X: sp.csr_array, y: np.ndarray, loss: object, l2: float, limit: float) -> Table:
    k = K[name]
    f = GLM(X, y, loss, l2=l2, fit_intercept=False)
    start = f.null.value  # also the first pass over X, so that nobody pays for it
    label = getattr(loss, "name", loss)
    table = Table(title=f"{name} {X.shape[0]} x {X.shape[1]}, {label}, l2={l2:g}, k={k}; null model {start:.4f}")
    for column in ("method", "value", "lower bound", "iterations", "seconds", "processor", "IHT / method"):
        table.add_column(column, justify="left" if column == "method" else "right")
    iht, spent = run(f, k, FGraHTP(polish=False, halt=0.0), tol=1e-4, max_iter=1000, time_limit=300.0)
    table.add_row("IHT", f"{iht.value:.5f}", "", str(iht.n_iter), f"{iht.seconds:.2f}", f"{spent:.2f}", "1")
    for method, solver in contenders(f, k).items():
        if isinstance(solver, str):
            table.add_row(method, solver)
            continue
        give_up = max(5.0, limit * iht.seconds)
        result, own = run(f, k, solver, time_limit=give_up, callback=lambda record: record.best <= iht.value)
        reached = result.value <= iht.value
        ratio = f"{spent / max(own, 1e-9):.1f}" if reached else "not reached"
        lower = "" if result.lower is None else f"{result.lower:.5f}"
        table.add_row(
            method, f"{result.value:.5f}", lower, str(result.n_iter), f"{result.seconds:.2f}", f"{own:.2f}", ratio
        )
    return table


def draw(name: str, X: sp.csr_array, y: np.ndarray, epochs: int, folder: Path) -> Path:
    """The paper's figures 5.3 and 5.5: gaps of DIHT and SDIHT (10 blocks) against epochs, one panel per loss and l2."""
    from matplotlib.figure import Figure

    from pursuit.plots import plot_trace

    panels = Figure(figsize=(9, 6.5), layout="constrained")
    for ax, (loss, l2) in zip(panels.subplots(2, 2).flat, ((a, b) for a in LOSSES for b in RIDGES), strict=True):
        f = GLM(X, y, loss, l2=l2, fit_intercept=False)
        blocks = {"DIHT": DIHT(refit=False, halt=0.0), "SDIHT": SDIHT(refit=False, halt=0.0, block=X.shape[0] // 10)}
        runs = {label: pursuit.solve(f, K[name], solver=solver, max_iter=epochs) for label, solver in blocks.items()}
        plot_trace(runs, what="gap", ax=ax)
        ax.set_title(f"{name}, {getattr(loss, 'name', loss)}, l2={l2:g}, k={K[name]}", fontsize=9)
        ax.set_xlabel("epochs")
    path = folder / f"gaps-{name}.png"
    panels.savefig(path, dpi=130)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(K), help="one data set")
    parser.add_argument("--limit", type=float, default=10.0, help="give up after so many times IHT's time (default 10)")
    parser.add_argument("--draw", type=Path, metavar="FOLDER", help="only draw the gaps (figures 5.3 and 5.5) there")
    parser.add_argument("--epochs", type=int, default=50, help="epochs to draw (default 50)")
    given = parser.parse_args()
    console = Console(width=120)
    for name in [given.only] if given.only else K:
        if not (DATA / f"{name}.npz").exists():
            console.print(f"{name}: skipped, {DATA / name}.npz is not there (set PURSUIT_DATA)")
            continue
        X, y = load(name)
        if given.draw is not None:
            given.draw.mkdir(parents=True, exist_ok=True)
            console.print(f"wrote {draw(name, X, y, given.epochs, given.draw)}")
            continue
        for loss in LOSSES:
            for l2 in RIDGES:
                console.print(compare(name, X, y, loss, l2, given.limit))


if __name__ == "__main__":
    main()
