"""``pursuit demo``: the main job on two real data sets, from data to table, model and picture."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pursuit.cli import OK
from pursuit.cli.demo_data import SEED, Split, breast_cancer, diabetes
from pursuit.cli.demo_lasso import L1Logistic, Lasso
from pursuit.cli.show import console, table
from pursuit.io import load_model, save_model

L2 = 1e-3  # breast cancer's training rows can be told apart without error: a little l2 keeps the coefficients finite


@dataclass(frozen=True)
class Job:
    """One data set, the estimator to fit for each k, and how held-out rows are scored."""

    data: Split
    file: str
    ks: Sequence[int]
    make: Callable[[int], Any]
    scoring: str  # for cross-validation
    peer: Any
    scores: dict[str, Callable[[Any, Any], float]]  # of predictions on held-out rows; the first is drawn
    predict: str = "predict"
    note: str = ""


def run(out: Path) -> int:
    from pursuit.io._words import need

    need("matplotlib", "plot", "the demo's picture")
    out.mkdir(parents=True, exist_ok=True)
    screen, began = console(), time.perf_counter()
    for job in (_diabetes(), _breast_cancer()):
        _study(job, out, screen)
    screen.print(f"Done in {time.perf_counter() - began:.0f} s.")
    return OK


def _diabetes() -> Job:
    from pursuit import SparseRegressor

    data = diabetes()
    return Job(
        data,
        "diabetes",
        ks=(1, 2, 3, 4, 5, 6, 8, 10, 12, 15),
        make=lambda k: SparseRegressor(k=k),
        scoring="r2",
        peer=Lasso(data.X, data.y),
        scores={"R2": _r2},
    )


def _breast_cancer() -> Job:
    from pursuit import SparseClassifier

    data = breast_cancer()
    return Job(
        data,
        "breast_cancer",
        ks=(1, 2, 3, 4, 5, 6, 8, 10),
        make=lambda k: SparseClassifier(k=k, l2=L2),
        scoring="neg_log_loss",
        peer=L1Logistic(data.X, data.y, L2),
        scores={"log loss": _log_loss, "accuracy": _accuracy},
        predict="predict_proba",
        note=f", l2={L2:g}; a positive coefficient speaks for malignant",
    )


def _study(job: Job, out: Path, screen: Any) -> None:
    data = job.data
    n, p = data.X.shape
    began = time.perf_counter()
    fits = {k: job.make(k).fit(data.X, data.y) for k in job.ks}
    seconds = time.perf_counter() - began
    held_out = {k: job_scores(job, getattr(fit, job.predict)(data.X_test)) for k, fit in fits.items()}
    peers = {k: [job_scores(job, predict(data.X_test)) for predict in job.peer.at(k)] for k in job.ks}
    chosen = _choose(job)

    rows = [
        (
            str(k) + (" *" if k == chosen else ""),
            _features(fit, data.names),
            *[f"{score:.3f}" for score in held_out[k].values()],
            fit.result_.optimality,
        )
        for k, fit in fits.items()
    ]
    heads = {"k": "left", "chosen features and their coefficients": "left"}
    heads |= {f"{name}, held out": "right" for name in job.scores} | {"how optimal": "left"}
    screen.print(f"[bold]{data.title}[/bold]")
    screen.print(
        f"{n} rows to train on, {len(data.y_test)} held out; {p} columns: standardised measurements, their squares and"
        f" products{job.note}.\n{len(job.ks)} fits in {seconds:.2f} s."
    )
    screen.print(table(heads, rows))
    _print_chosen(job, chosen, fits[chosen], held_out[chosen], peers[chosen], screen)

    model = save_model(fits[chosen], out / f"{job.file}.json", feature_names=data.names)
    again = load_model(model).predict(data.X_test)
    assert np.array_equal(again, fits[chosen].predict(data.X_test)) or np.allclose(
        again, fits[chosen].predict(data.X_test)
    )
    picture = _draw(job, fits, held_out, peers, chosen, out / f"{job.file}.png")
    screen.print(f"  model    {model}\n  picture  {picture}\n")


def job_scores(job: Job, predicted: Any) -> dict[str, float]:
    return {name: score(job.data.y_test, predicted) for name, score in job.scores.items()}


def _choose(job: Job) -> int:
    """The smallest k within one standard error of the best, by five-fold cross-validation on the training rows."""
    from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

    kind = KFold if job.scoring == "r2" else StratifiedKFold
    folds = kind(5, shuffle=True, random_state=SEED)
    scores = np.array(
        [cross_val_score(job.make(k), job.data.X, job.data.y, cv=folds, scoring=job.scoring) for k in job.ks]
    )
    mean, error = scores.mean(axis=1), scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
    best = mean.argmax()
    return int(job.ks[int(np.flatnonzero(mean >= mean[best] - error[best])[0])])


def _print_chosen(job: Job, k: int, fit: Any, own: dict[str, float], peers: Any, screen: Any) -> None:
    def said(scores: dict[str, float]) -> str:
        return ", ".join(f"{name} {score:.3f}" for name, score in scores.items())

    result = fit.result_
    shrunken, refitted = peers
    screen.print(f"* k = {k}: the smallest within one standard error of the best, by five-fold cross-validation.")
    screen.print(f"  pursuit, {len(fit.support_)} features: {said(own)} ({result.status}: {result.reason})")
    screen.print(f"  {job.peer.name}, tuned to {k} features: {said(shrunken)}; refitted on them: {said(refitted)}")


def _features(fit: Any, names: Sequence[str]) -> str:
    coef = np.ravel(fit.coef_)
    order = sorted(fit.support_, key=lambda j: -abs(coef[j]))
    return ", ".join(f"{names[j]}\N{NO-BREAK SPACE}{coef[j]:+.3g}".replace(" ", "\N{NO-BREAK SPACE}") for j in order)


def _draw(job: Job, fits: Any, held_out: Any, peers: Any, chosen: int, path: Path) -> Path:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from pursuit.plots import plot_coefficients, plot_scores

    figure = Figure(figsize=(11, 5.2), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    left, right = figure.subfigures(1, 2, width_ratios=(1, 1.15))
    top, bottom = left.subplots(2, 1, sharex=True)
    drawn = next(iter(job.scores))
    lines = {"pursuit": [held_out[k][drawn] for k in job.ks]}
    lines[f"{job.peer.name}, refitted"] = [peers[k][1][drawn] for k in job.ks]
    plot_scores(job.ks, lines, chosen=chosen, ylabel=f"held-out {drawn}", ax=top)
    top.set_xlabel("")
    plot_scores(job.ks, {"": [fits[k].result_.value for k in job.ks]}, chosen=chosen, ylabel="training loss", ax=bottom)
    ax = right.subplots()
    plot_coefficients(fits[chosen], job.data.names, ax, scale=job.data.X.std(axis=0))
    ax.set_title(f"The model with k = {chosen}", fontsize=10, loc="left")
    figure.suptitle(f"{job.data.title} ({job.data.X.shape[1]} columns)", fontsize=12, x=0.01, ha="left")
    figure.savefig(path)
    return path


def _r2(y: Any, predicted: Any) -> float:
    from sklearn.metrics import r2_score

    return float(r2_score(y, predicted))


def _log_loss(y: Any, proba: Any) -> float:
    from sklearn.metrics import log_loss

    return float(log_loss(y, proba))


def _accuracy(y: Any, proba: Any) -> float:
    return float(np.mean(np.unique(y)[proba.argmax(axis=1)] == y))
