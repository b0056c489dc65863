"""``pursuit demo``: two real data sets, each from the data to a table, a model file and a picture.

Read it as an example. ``_study`` is what a user does: fit an estimator for each k, let scikit-learn's GridSearchCV
choose one, look at ``result_``, save the model, draw it. The yardstick is l1 with the same number of features.
"""

import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold

from pursuit import SparseClassifier, SparseRegressor, save_model
from pursuit._errors import need
from pursuit.cli import OK
from pursuit.cli.demo_data import SEED, Split, breast_cancer, diabetes
from pursuit.cli.demo_lasso import l1_logistic, lasso
from pursuit.cli.show import console, table

L2 = 1e-3  # breast cancer's training rows can be told apart without error: a little l2 keeps the coefficients finite
TRAINING = "training loss"
HARD = "\N{NO-BREAK SPACE}"


def run(out: Path) -> int:
    need("matplotlib", "plot", "the demo's picture")
    out.mkdir(parents=True, exist_ok=True)
    screen, began = console(), time.perf_counter()
    _study(
        screen, out / "diabetes", diabetes(), SparseRegressor(), ks=(1, 2, 3, 4, 6, 8, 10, 12, 15), folds=10,
        scores={"R2": "r2"}, peer="lasso", path=lasso,
    )  # fmt: skip
    _study(
        screen, out / "breast_cancer", breast_cancer(), SparseClassifier(l2=L2), ks=(1, 2, 3, 4, 6, 8, 10), folds=3,
        scores={"log loss": "neg_log_loss", "accuracy": "accuracy"}, peer="l1 logistic regression", path=l1_logistic,
        note=f"Logistic loss with l2={L2:g}; a positive coefficient speaks for malignant. ",
    )  # fmt: skip
    screen.print(f"Done in {time.perf_counter() - began:.0f} s.")
    return OK


def _study(
    screen: Any,
    out: Path,
    data: Split,
    model: Any,
    *,
    ks: Sequence[int],
    folds: int,
    scores: dict[str, str],  # what a score is called, here and in scikit-learn; the first chooses k and is drawn
    peer: str,
    path: Callable[..., dict[int, Any]],
    note: str = "",
) -> None:
    def fitted(k: int, X: Any) -> Any:
        return clone(model).set_params(k=k).fit(X, data.y)

    def held_out(fit: Any, X: Any) -> dict[str, float]:
        sign = {name: -1 if scorer.startswith("neg_") else 1 for name, scorer in scores.items()}
        return {name: sign[name] * get_scorer(scorer)(fit, X, data.y_test) for name, scorer in scores.items()}

    def reached(fit: Any, X: Any) -> dict[str, float]:
        return {TRAINING: fit.result_.value} | held_out(fit, X)

    # a model for each k
    began = time.perf_counter()
    fits = {k: fitted(k, data.X) for k in ks}
    seconds = time.perf_counter() - began
    own = {k: reached(fit, data.X_test) for k, fit in fits.items()}

    # k by cross-validation on the training rows
    first, splits = next(iter(scores)), KFold(folds, shuffle=True, random_state=SEED)
    search = GridSearchCV(model, {"k": ks}, scoring=scores[first], cv=splits, refit=False).fit(data.X, data.y)
    chosen = search.best_params_["k"]

    # the yardstick with as many features, and their refit by the same model
    peers = path(data.X, data.y, ks)
    columns = {k: np.flatnonzero(fit[-1].coef_) for k, fit in peers.items()}
    refits = {k: reached(fitted(len(S), data.X[:, S]), data.X_test[:, S]) for k, S in columns.items()}

    screen.print(f"[bold]{data.title}[/bold]")
    screen.print(
        f"{len(data.y)} rows to train on, {len(data.y_test)} held out; {data.X.shape[1]} columns: standardised"
        f" measurements, their squares and products.\n{note}{len(ks)} fits in {seconds:.2f} s."
    )
    heads = {"k": "left", **{f"held-out\n{name}": "right" for name in scores}}
    heads |= {"how\noptimal": "left", "chosen features and their coefficients per standard deviation": "left"}
    rows = []
    for k, fit in fits.items():
        told = [f"{own[k][name]:.3f}" for name in scores]
        words = features(fit, data.names, screen.width - 11 * len(heads))
        rows.append((f"{k} *" if k == chosen else str(k), *told, fit.result_.optimality, words))
    screen.print(table(heads, rows))

    # the chosen one: its file, its picture, and how good it is known to be
    best, result = fits[chosen], fits[chosen].result_
    model_file = save_model(best, out.with_suffix(".json"), feature_names=data.names)
    picture = out.with_suffix(".png")
    _draw(picture, data, best, {"pursuit": own, f"{peer}, refitted": refits}, chosen, first)
    lines = (
        f"* k = {chosen} has the best {first} in {folds}-fold cross-validation on the training rows; held out:",
        f"  pursuit, {len(best.support_)} features: {_said(own[chosen])} ({result.status}: {result.reason})",
        f"  {peer} tuned to {len(columns[chosen])} features: {_said(held_out(peers[chosen], data.X_test))};"
        f" refitted on them: {_said(refits[chosen])}",
        f"  model    {model_file} (coefficients in the units of the columns)",
        f"  picture  {picture}\n",
    )
    screen.print("\n".join(lines), markup=False, soft_wrap=True)


def _said(scores: dict[str, float]) -> str:
    return ", ".join(f"{name} {score:.4g}" for name, score in scores.items())


def features(fit: Any, names: Sequence[str], room: int) -> str:
    """``name +coefficient``, the largest first; no line is broken between the two."""
    coef = fit.result_.point.coef  # per standard deviation, as in the picture
    words = [f"{names[fit.support_[i]]} {coef[i]:+.3g}".replace(" ", HARD) for i in np.argsort(-np.abs(coef))]
    lines = textwrap.wrap(", ".join(words), room, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace(HARD, " ")


def _draw(path: Path, data: Split, best: Any, scores: dict[str, dict[int, Any]], chosen: int, first: str) -> None:
    from matplotlib.figure import Figure

    from pursuit.plots import plot_coefficients, plot_scores

    figure = Figure(figsize=(12, 5.2), layout="constrained", dpi=150)
    panels: Any = figure.subfigures(1, 2, width_ratios=(1, 1.3))
    top, bottom = panels[0].subplots(2, 1, sharex=True)
    for ax, name, label in ((top, first, f"held-out {first}"), (bottom, TRAINING, TRAINING)):
        lines = {who: [reached[name] for reached in by_k.values()] for who, by_k in scores.items()}
        plot_scores(list(scores["pursuit"]), lines, chosen=chosen, ylabel=label, ax=ax)
    top.set_xlabel("")
    bottom.get_legend().remove()
    ax = plot_coefficients(best, data.names, panels[1].subplots())
    ax.set_title(f"The model with k = {chosen}", fontsize=10, loc="left")
    figure.suptitle(f"{data.title} ({data.X.shape[1]} columns)", fontsize=12, x=0.01, ha="left")
    figure.savefig(path)
