"""Do smooth effects predict on real tables: ``python benchmarks/smooth.py --half 1``, beside others.

The splits and the errors are those of benchmarks/tables.py: 100 log mean squared error (regression), 100 times log loss
(classes), so that differences are percent; a set's difference is the mean over its splits, and standard errors are over
sets. Constants are tuned on the sets of half 0; half 1 judges. "lasso on splines" is LassoCV on the same columns, and
counts the features it uses. "EBM" needs interpret-core (PyPI), which no extra of pursuit installs. Every fit is one
line of ``--out``/smooth.jsonl: a stopped run goes on.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from choosers import choosers, quiet
from resumable import Entry, Key, run
from rich.console import Console
from rich.table import Table
from tables import EXACT_FIT, HALVES, SETS, Judged, error, table

import pursuit

#: From the training rows to a function that gives the linear predictor of others, and the features that are used.
Contender = Callable[[np.ndarray, np.ndarray], tuple[Callable[[np.ndarray], np.ndarray], int]]
REFERENCE = {"squared": "lasso", "logistic": "l1"}


def additive(loss: str, X: np.ndarray, y: np.ndarray, **options: Any) -> tuple[Any, int]:
    kind = pursuit.SparseAdditiveRegressor if loss == "squared" else pursuit.SparseAdditiveClassifier
    model = kind(**options).fit(X, y)
    return model.predict if loss == "squared" else model.decision_function, len(model.support_)


def linear(chooser: Any, X: np.ndarray, y: np.ndarray) -> tuple[Any, int]:
    coef, intercept = chooser(X, y)
    return lambda Z: Z @ coef + intercept, int(np.count_nonzero(coef))


def lasso_on_splines(loss: str, X: np.ndarray, y: np.ndarray) -> tuple[Any, int]:
    effects = pursuit.SmoothEffects().fit(X)
    coef, intercept = choosers(loss)[REFERENCE[loss]](effects.transform(X), y)
    used = len(np.unique(effects.groups_[np.flatnonzero(coef)]))
    return lambda Z: effects.transform(Z) @ coef + intercept, used


def scikit(loss: str, regressor: Any, classifier: Any, X: np.ndarray, y: np.ndarray) -> tuple[Any, int]:
    if loss == "squared":
        return regressor.fit(X, y).predict, X.shape[1]
    fitted = classifier.fit(X, y)

    def log_odds(Z: np.ndarray) -> np.ndarray:
        p = np.clip(fitted.predict_proba(Z)[:, 1], 1e-9, 1 - 1e-9)
        return np.log(p / (1 - p))

    return log_odds, X.shape[1]


def boosting(loss: str, X: np.ndarray, y: np.ndarray) -> tuple[Any, int]:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    return scikit(
        loss, HistGradientBoostingRegressor(random_state=0), HistGradientBoostingClassifier(random_state=0), X, y
    )


def ebm(loss: str, X: np.ndarray, y: np.ndarray) -> tuple[Any, int]:
    """The explainable boosting machine without interactions, with fewer outer bags than its default of 14."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    options = {"interactions": 0, "outer_bags": 4, "n_jobs": 1, "random_state": 0}
    return scikit(loss, ExplainableBoostingRegressor(**options), ExplainableBoostingClassifier(**options), X, y)


def contenders(loss: str) -> dict[str, Contender]:
    """By name."""
    known = choosers(loss)
    found: dict[str, Contender] = {
        "smooth": partial(additive, loss, effects="smooth"),
        "auto": partial(additive, loss, effects="auto"),
        "smooth k<=5": partial(additive, loss, effects="smooth", ks=[0, 1, 2, 3, 4, 5]),
        "auto k<=5": partial(additive, loss, effects="auto", ks=[0, 1, 2, 3, 4, 5]),
        "smooth k=5": partial(additive, loss, effects="smooth", k=5),
        "linear": partial(additive, loss, effects="linear"),
        "pursuit": partial(linear, known["pursuit project"]),
        "lasso on splines": partial(lasso_on_splines, loss),
        "boosting": partial(boosting, loss),
        "EBM": partial(ebm, loss),
    }
    found[REFERENCE[loss]] = partial(linear, known[REFERENCE[loss]])
    return found


def measure(key: Key) -> Entry:
    """One fit, judged."""
    name, split, who = key
    loss = SETS[name]
    X, y, X_test, y_test = table(name, split)
    began = time.process_time()
    predict, used = quiet(contenders(loss)[who], X, y)
    spent = time.process_time() - began
    return {"seconds": spent, "features": used, "error": error(loss, y_test, quiet(lambda A, _: predict(A), X_test, y))}


def show(console: Console, judged: Judged, loss: str, half: str, whom: list[str]) -> None:
    other = REFERENCE[loss]
    names = [name for name in judged.names(other) if SETS[name] == loss and name != EXACT_FIT]
    if half != "all":
        names = [name for name in names if HALVES[name] == int(half)]
    if not names:
        return
    out = Table(title=f"{loss}, half {half}: {len(names)} sets; percent (standard error over sets)")
    for head in ("", f"to {other}", f"features / {other} (geometric)", "features", "processor seconds a fit"):
        out.add_column(head)
    for who in whom:
        if set(names) <= set(judged.names(who)):
            seconds = np.mean([judged.column(who, "seconds", name).mean() for name in names])
            used = np.mean([judged.column(who, "features", name).mean() for name in names])
            lost = "" if who == other else judged.over_sets(who, other, names)
            out.add_row(who, lost, judged.features(who, other, names), f"{used:.1f}", f"{seconds:.2f}")
    console.print(out)
    by_set = Table(title=f"{loss}: percent to {other}, by set")
    shown = [who for who in whom if who != other and set(names) <= set(judged.names(who))]
    for head in ("set", *shown):
        by_set.add_column(head)
    for name in names:
        by_set.add_row(name, *(f"{judged.apart(who, other, name)[0]:+.1f}" for who in shown))
    console.print(by_set)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", default="all", choices=["0", "1", "all"])
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--losses", nargs="+", default=["squared", "logistic"])
    parser.add_argument("--only", nargs="+", default=["smooth", "auto", "linear", "pursuit", "lasso on splines"])
    parser.add_argument("--sets", nargs="+", default=None)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("build"))
    given = parser.parse_args()
    console = Console(width=150)
    keys = []
    for name, loss in SETS.items():
        if loss in given.losses and given.half in ("all", str(HALVES[name])) and name in (given.sets or SETS):
            keys += [(name, s, who) for s in range(given.splits) for who in (REFERENCE[loss], *given.only)]
    judged = Judged(run(measure, keys, given.out / "smooth.jsonl", given.jobs, console))
    for loss in given.losses:
        show(console, judged, loss, given.half, [REFERENCE[loss], *given.only])


if __name__ == "__main__":
    main()
