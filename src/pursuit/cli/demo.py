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
from pursuit.io import save_model

L2 = 1e-3  # breast cancer's training rows can be told apart without error: a little l2 keeps the coefficients finite

TRAINING = "training loss"


@dataclass(frozen=True)
class Job:
    """One data set, the estimator to fit for each k, and how held-out rows are scored."""

    data: Split
    file: str
    ks: Sequence[int]
    make: Callable[[int], Any]  # an estimator from k
    predict: str
    scores: dict[str, Callable[[Any, Any], float]]  # of predictions; the first one chooses k and is drawn
    larger_is_better: bool
    peer: Any
    folds: int  # of cross-validation, on the training rows
    note: str = ""

    def score(self, y: Any, predicted: Any) -> dict[str, float]:
        return {name: score(y, predicted) for name, score in self.scores.items()}

    def score_fit(self, fit: Any, X: Any, y: Any) -> dict[str, float]:
        return self.score(y, getattr(fit, self.predict)(X))


def run(out: Path) -> int:
    from pursuit.io._words import need

    need("matplotlib", "plot", "the demo's picture")
    out.mkdir(parents=True, exist_ok=True)
    screen, began = console(), time.perf_counter()
    for make in (_diabetes, _breast_cancer):
        _study(make(), out, screen)
    screen.print(f"Done in {time.perf_counter() - began:.0f} s.")
    return OK


def _diabetes() -> Job:
    from pursuit import SparseRegressor

    data = diabetes()
    return Job(
        data,
        "diabetes",
        ks=(1, 2, 3, 4, 6, 8, 10, 12, 15),
        make=lambda k: SparseRegressor(k=k),
        predict="predict",
        scores={"R2": _r2},
        larger_is_better=True,
        peer=Lasso(data.X, data.y),
        folds=10,
    )


def _breast_cancer() -> Job:
    from pursuit import SparseClassifier

    data = breast_cancer()
    return Job(
        data,
        "breast_cancer",
        ks=(1, 2, 3, 4, 6, 8, 10),
        make=lambda k: SparseClassifier(k=k, l2=L2),
        predict="predict_proba",
        scores={"log loss": _log_loss, "accuracy": _accuracy},
        larger_is_better=False,
        peer=L1Logistic(data.X, data.y),
        folds=3,
        note=f"Logistic loss with l2={L2:g}; a positive coefficient speaks for malignant. ",
    )


def _study(job: Job, out: Path, screen: Any) -> None:
    data = job.data
    began = time.perf_counter()
    fits = {k: job.make(k).fit(data.X, data.y) for k in job.ks}
    seconds = time.perf_counter() - began
    held_out = {k: job.score_fit(fit, data.X_test, data.y_test) for k, fit in fits.items()}
    refits = {k: _refit(job, job.peer.at(k)[1]) for k in job.ks}
    chosen = _choose(job)

    screen.print(f"[bold]{data.title}[/bold]")
    screen.print(
        f"{len(data.y)} rows to train on, {len(data.y_test)} held out; {data.X.shape[1]} columns: standardised"
        f" measurements, their squares and products.\n{job.note}{len(job.ks)} fits in {seconds:.2f} s."
    )
    screen.print(_table(job, fits, held_out, chosen, screen.width))
    _print_chosen(job, chosen, fits[chosen], held_out[chosen], refits[chosen], screen)
    model = save_model(fits[chosen], out / f"{job.file}.json", feature_names=data.names)
    picture = _draw(job, fits, held_out, refits, chosen, out / f"{job.file}.png")
    screen.print(f"  model    {model} (coefficients in the units of the columns)", soft_wrap=True)
    screen.print(f"  picture  {picture}\n", soft_wrap=True)


def _table(job: Job, fits: dict[int, Any], held_out: dict[int, dict[str, float]], chosen: int, width: int) -> Any:
    heads = {"k": "left", **{f"held-out\n{name}": "right" for name in job.scores}}
    heads |= {"how\noptimal": "left", "chosen features and their coefficients per standard deviation": "left"}
    room = width - 11 * len(heads)
    rows = []
    for k, fit in fits.items():
        scores = [f"{score:.3f}" for score in held_out[k].values()]
        mark = f"{k} *" if k == chosen else str(k)
        rows.append((mark, *scores, fit.result_.optimality, _features(fit, job.data.names, room)))
    return table(heads, rows)


def _choose(job: Job) -> int:
    """The k with the best score by cross-validation on the training rows."""
    from sklearn.model_selection import KFold

    X, y = job.data.X, job.data.y
    folds = list(KFold(job.folds, shuffle=True, random_state=SEED).split(X))
    first = next(iter(job.scores))
    means = [
        np.mean([job.score_fit(job.make(k).fit(X[train], y[train]), X[test], y[test])[first] for train, test in folds])
        for k in job.ks
    ]
    return job.ks[int(np.argmax(means) if job.larger_is_better else np.argmin(means))]


def _refit(job: Job, columns: Any) -> dict[str, float]:
    """Training loss and held-out scores of the same loss, without a penalty, on somebody else's columns."""
    data = job.data
    fit = job.make(len(columns)).fit(data.X[:, columns], data.y)
    return {TRAINING: fit.result_.value} | job.score_fit(fit, data.X_test[:, columns], data.y_test)


def _print_chosen(job: Job, k: int, fit: Any, own: dict[str, float], refit: dict[str, float], screen: Any) -> None:
    def said(scores: dict[str, float]) -> str:
        return ", ".join(f"{name} {score:.4g}" for name, score in scores.items())

    result, (predict, columns) = fit.result_, job.peer.at(k)
    shrunken = job.score(job.data.y_test, predict(job.data.X_test))
    best = next(iter(own))
    lines = (
        f"* k = {k} has the best {best} in {job.folds}-fold cross-validation on the training rows; held out:",
        f"  pursuit, {len(fit.support_)} features: {said({TRAINING: result.value} | own)}"
        f" ({result.status}: {result.reason})",
        f"  {job.peer.name} tuned to {len(columns)} features: {said(shrunken)}; refitted on them: {said(refit)}",
    )
    screen.print("\n".join(lines), markup=False, soft_wrap=True)


def _features(fit: Any, names: Sequence[str], room: int) -> str:
    """``name +coefficient``, the largest first; no line is broken between the two."""
    coef = dict(zip(fit.support_, fit.result_.point.coef, strict=True))  # per standard deviation, as in the picture
    lines = [""]
    for j in sorted(coef, key=lambda j: -abs(coef[j])):
        word = f"{names[j]} {coef[j]:+.3g}, "
        if lines[-1] and len(lines[-1]) + len(word) > room + 1:
            lines.append("")
        lines[-1] += word
    return "\n".join(line.rstrip() for line in lines).removesuffix(",")


def _draw(job: Job, fits: Any, held_out: Any, refits: Any, chosen: int, path: Path) -> Path:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from pursuit.plots import plot_coefficients, plot_scores

    figure = Figure(figsize=(12, 5.2), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    panels: Any = figure.subfigures(1, 2, width_ratios=(1, 1.3))
    top, bottom = panels[0].subplots(2, 1, sharex=True)
    drawn = next(iter(job.scores))
    lines = {"pursuit": [held_out[k][drawn] for k in job.ks]}
    lines[f"{job.peer.name}, refitted"] = [refits[k][drawn] for k in job.ks]
    plot_scores(job.ks, lines, chosen=chosen, ylabel=f"held-out {drawn}", ax=top)
    top.set_xlabel("")
    losses = {"pursuit": [fits[k].result_.value for k in job.ks], "l1": [refits[k][TRAINING] for k in job.ks]}
    plot_scores(job.ks, losses, chosen=chosen, ylabel=TRAINING, ax=bottom)
    bottom.get_legend().remove()
    ax = panels[1].subplots()
    plot_coefficients(fits[chosen], job.data.names, ax)
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
