"""``pursuit demo``: two real data sets, each from the data to a comparison, a model file and a picture.

Read it as an example. ``_study`` is what a user does: let an estimator choose k, score it on held-out rows, fit all
rows, save and draw. The baseline is l1, whose penalty is chosen by cross-validation too.
"""

import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import d2_log_loss_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold

from pursuit import (
    SparseClassifier,
    SparseClassifierCV,
    SparsePrecision,
    SparseRegressor,
    SparseRegressorCV,
    certify,
    save_model,
)
from pursuit._utils.text import format_table
from pursuit._utils.types import ArrayLike, Vector
from pursuit._utils.validation import require_package
from pursuit.demo.comparison import OURS, Contenders, by_size, compare_on_split, summarise_splits
from pursuit.demo.data import Dataset, all_rows, breast_cancer, diabetes, splits
from pursuit.demo.l1_models import l1_logistic, l1_logistic_by_cv, lasso, lasso_by_cv
from pursuit.demo.picture import draw

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

FOLDS = 5
EXACT_SIZE = 4  # features of the set that is proved
GRAPH_EDGES = 12
LINE_WIDTH = 100
NOTE = "\nD2 is the share of the deviance that is explained; pursuit chooses among k = 0..15."
HARD = "\N{NO-BREAK SPACE}"


def run(out: Path) -> None:
    """Compare, fit, save and draw both data sets; models and pictures go to the folder ``out``."""
    require_package("matplotlib", "plot", "the demo's picture")
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out} is a file; name a folder")
    out.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    sizes = (1, 2, 3, 4, 6, 8, 10, 12, 15)
    numbers = Contenders(
        SparseRegressorCV(cv=FOLDS),
        SparseRegressor(),
        "lasso",
        lasso,
        lasso_by_cv,
        KFold(FOLDS, shuffle=True, random_state=0),
        r2_score,
        sizes,
    )
    classes = Contenders(
        SparseClassifierCV(range(0, 16), cv=FOLDS),
        SparseClassifier(),
        "l1 logistic",
        l1_logistic,
        l1_logistic_by_cv,
        StratifiedKFold(FOLDS, shuffle=True, random_state=0),
        _d2,
        sizes,
    )
    _study(out / "diabetes", diabetes(), numbers, "R2", 10)
    _study(out / "breast_cancer", breast_cancer(), classes, "D2", 5, NOTE)
    _graph(diabetes(), out / "diabetes_graph.html")
    print(f"Done in {time.perf_counter() - began:.0f} s. Open {out / 'diabetes.html'} in a browser.")


def _study(out: Path, data: Dataset, contenders: Contenders, what: str, n_splits: int, note: str = "") -> None:
    # repeated splits: every choice is made on training rows only
    split_scores = [compare_on_split(contenders, split) for split in splits(data, n_splits)]
    scores, lines = summarise_splits(split_scores), by_size(split_scores)

    # the model to keep: all rows
    rows = all_rows(data)
    frame = require_package("pandas", "io", "the demo").DataFrame(rows.X, columns=rows.names)
    model = clone(contenders.cv_estimator).fit(frame, rows.y)
    model_file = save_model(model, out.with_suffix(".json"))
    picture = out.with_suffix(".png")
    title = f"{data.title} ({len(rows.names)} columns)"
    draw(picture, title, contenders.ks, lines, scores, what, n_splits, model, rows.names)

    print(
        f"{data.title}\n"
        f"{len(data.y)} rows, {len(rows.names)} columns: standardised measurements, their squares and products.\n"
        f"{n_splits} random splits: choose and fit on 70% of the rows, score on the others ({what}).{note}\n"
    )
    print(_by_size(contenders.ks, lines, what), end="\n\n")
    heads = ["", "features", f"held-out {what}", "less pursuit's, standard error"]
    cells = [
        (who, f"{t.features:.1f}", f"{t.score:.4f}", "" if who == OURS else f"{t.more:+.4f}, {t.error:.4f}")
        for who, t in scores.items()
    ]
    print(format_table(heads, cells), end="\n\n")
    words = [
        f"On all rows: {model.reason_}; {_held_out(model)}.",
        f"k = {model.k_}, coefficients per standard deviation: {features(model, rows.names)}",
        *_best_set(clone(contenders.fixed_k).set_params(k=EXACT_SIZE), data),
    ]
    print("\n".join(map(_wrapped, words)).replace(HARD, " "))
    report = model.report(out.with_suffix(".html"), title=title, target=data.target, n_pairs=10, time_limit=2.0)
    print(f"  model    {model_file}\n  picture  {picture}\n  report   {report}\n")


def _best_set(estimator: "BaseEstimator", data: Dataset) -> list[str]:
    """Whether the set that is found is the best of its size, and what the next best exchange would cost."""
    frame = require_package("pandas", "io", "the demo").DataFrame(data.X, columns=data.names)
    model = estimator.fit(frame, data.y)
    began = time.perf_counter()
    proof = certify(model.objective_, model.result_, time_limit=5.0)
    seconds = time.perf_counter() - began
    names = ", ".join(model.get_feature_names_out()).replace(" ", HARD).replace(f",{HARD}", ", ")
    how = "no other set of this size fits better: proved"
    if proof.status != "proved":
        how = f"the best set fits at most {100 * proof.rel_gap:.2g}% better: a proved bound"
    first = f"The best {model.k} of the {len(data.names)} measurements: {names}; {how}, in {seconds:.1f} s."
    return [first, f"The next best exchange: {model.result_.next_best}."] if model.result_.next_best else [first]


def _graph(data: Dataset, out: Path) -> None:
    """Which measurements go together, given all others."""
    frame = require_package("pandas", "io", "the demo").DataFrame(data.X, columns=data.names)
    model = SparsePrecision(n_edges=GRAPH_EDGES).fit(frame)
    report = model.report(out, title=f"{data.title.split(':')[0]}: which measurements go together")
    edges = sorted(
        zip(*(model.edges_[column] for column in ("source", "target", "partial_correlation")), strict=True),
        key=lambda edge: -abs(edge[2]),
    )
    strongest = ", ".join(f"{a}{HARD}-{HARD}{b} {r:+.2f}" for a, b, r in edges[:4])
    words = f"A graph of the {len(data.names)} measurements with {len(edges)} edges, given all others: {strongest}."
    print(_wrapped(words).replace(HARD, " "))
    print(f"  report   {report}\n")


def _d2(y: ArrayLike, eta: Vector) -> float:
    return float(d2_log_loss_score(y, np.column_stack([expit(-eta), expit(eta)])))


def _by_size(ks: Sequence[int], lines: dict[str, list[float]], what: str) -> str:
    """The scores by number of features: refits lose where there is much noise, whatever selects."""
    heads = [f"{what} with at most", *map(str, ks)]
    return format_table(heads, [(who, *(f"{score:.3f}" for score in scores)) for who, scores in lines.items()])


def _held_out(model: "BaseEstimator") -> str:
    held_out = model.held_out_
    score = f"{held_out.name} {held_out.score:.3f}"
    return f"{score} on the rows that its folds left out, standard error {held_out.error:.3f}"


def _wrapped(text: str) -> str:
    return "\n".join(
        textwrap.wrap(text, LINE_WIDTH, break_long_words=False, break_on_hyphens=False, subsequent_indent="  ")
    )


def features(model: "BaseEstimator", names: Sequence[str]) -> str:
    """``name +coefficient``, the largest first; no line is broken between the two."""
    coef = model.summary().per_sd
    words = [f"{names[model.support_[i]]} {coef[i]:+.3g}".replace(" ", HARD) for i in np.argsort(-np.abs(coef))]
    return ", ".join(words)
