"""``pursuit demo``: two real data sets, each from the data to a comparison, a model file and a picture.

Read it as an example. ``_study`` is what a user does: let an estimator choose k, ask on rows that it never saw whether
that was worth it, fit all rows, look, save and draw. The yardstick is l1, whose penalty is chosen just as carefully.
"""

import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import d2_log_loss_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold

from pursuit import SparseClassifier, SparseClassifierCV, SparseRegressor, SparseRegressorCV, save_model
from pursuit._errors import need
from pursuit.cli import OK
from pursuit.cli.demo_data import Measured, all_rows, breast_cancer, diabetes, splits
from pursuit.cli.demo_lasso import l1_logistic, l1_logistic_by_cv, lasso, lasso_by_cv
from pursuit.cli.demo_picture import draw
from pursuit.cli.demo_race import OURS, Entered, by_size, compared, race
from pursuit.cli.show import console, table

FOLDS = 5
WIDE = 100  # columns of what is printed
NOTE = "\nD2 is the share of the deviance that is explained; pursuit chooses among k = 0..15."
HARD = "\N{NO-BREAK SPACE}"


def run(out: Path) -> int:
    need("matplotlib", "plot", "the demo's picture")
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out} is a file; name a folder")
    out.mkdir(parents=True, exist_ok=True)
    screen, began = console(), time.perf_counter()
    sizes = (1, 2, 3, 4, 6, 8, 10, 12, 15)
    numbers = Entered(
        SparseRegressorCV(cv=FOLDS), SparseRegressor(), "lasso", lasso, lasso_by_cv,
        KFold(FOLDS, shuffle=True, random_state=0), r2_score, sizes,
    )  # fmt: skip
    classes = Entered(
        SparseClassifierCV(range(0, 16), cv=FOLDS), SparseClassifier(), "l1 logistic", l1_logistic, l1_logistic_by_cv,
        StratifiedKFold(FOLDS, shuffle=True, random_state=0), _d2, sizes,
    )  # fmt: skip
    _study(screen, out / "diabetes", diabetes(), numbers, "R2", 10)
    _study(screen, out / "breast_cancer", breast_cancer(), classes, "D2", 5, NOTE)
    screen.print(f"Done in {time.perf_counter() - began:.0f} s.")
    return OK


def _study(screen: Any, out: Path, data: Measured, enter: Entered, what: str, many: int, note: str = "") -> None:
    # on rows that no choice has seen, again and again
    seen = [race(enter, split) for split in splits(data, many)]
    told, lines = compared(seen), by_size(seen)

    # the model to keep: all rows
    rows = all_rows(data)
    model = clone(enter.chooses).fit(rows.X, rows.y)
    model_file = save_model(model, out.with_suffix(".json"), feature_names=rows.names)
    picture = out.with_suffix(".png")
    title = f"{data.title} ({len(rows.names)} columns)"
    draw(picture, title, enter.ks, lines, told, what, many, model, rows.names)

    screen.print(f"[bold]{data.title}[/bold]")
    screen.print(
        f"{len(data.y)} rows, {len(rows.names)} columns: standardised measurements, their squares and products.\n"
        f"{many} random splits: choose and fit on 70% of the rows, score on the others ({what}).{note}"
    )
    heads = {"": "left", "features": "right", f"held-out\n{what}": "right", "less pursuit's,\nstandard error": "right"}
    cells = [
        (who, f"{t.features:.1f}", f"{t.score:.4f}", "" if who == OURS else f"{t.more:+.4f}, {t.error:.4f}")
        for who, t in told.items()
    ]
    screen.print(table(heads, cells))
    _by_size(screen, enter.ks, lines, what)
    words = [
        f"On all rows: {model.reason_}; {_held_out(model)}.",
        f"k = {model.k_}, coefficients per standard deviation: {features(model, rows.names)}",
    ]
    screen.print("\n".join(map(_wrapped, words)).replace(HARD, " "), markup=False, soft_wrap=True)
    screen.print(f"  model    {model_file}\n  picture  {picture}\n", markup=False, soft_wrap=True)


def _d2(y: Any, eta: Any) -> float:
    return float(d2_log_loss_score(y, np.column_stack([expit(-eta), expit(eta)])))


def _by_size(screen: Any, ks: Sequence[int], lines: dict[str, list[float]], what: str) -> None:
    """What a given number of features is worth: refits lose where there is much noise, whoever selects."""
    heads = {f"{what} with at most": "left", **dict.fromkeys(map(str, ks), "right")}
    screen.print(table(heads, [(who, *(f"{score:.3f}" for score in scores)) for who, scores in lines.items()]))


def _held_out(model: Any) -> str:
    seen = model.held_out_
    return f"{seen.name} {seen.score:.3f} on the rows that its folds left out, standard error {seen.error:.3f}"


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, WIDE, break_long_words=False, break_on_hyphens=False, subsequent_indent="  "))


def features(model: Any, names: Sequence[str]) -> str:
    """``name +coefficient``, the largest first; no line is broken between the two."""
    coef = model.summary().per_sd
    words = [f"{names[model.support_[i]]} {coef[i]:+.3g}".replace(" ", HARD) for i in np.argsort(-np.abs(coef))]
    return ", ".join(words)
