"""Who chooses a model by itself: a chooser turns (X, y) into (coef, intercept) on the scale of X.

Everyone gets ten folds. The lasso, the relaxed lasso and the elastic net are scikit-learn's; the l1 contender of the
other losses is adelie's (a port of glmnet) or, for logistic without adelie, scikit-learn's.
"""

import importlib.util
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import xlogy
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNetCV, LassoCV, LogisticRegressionCV, lasso_path
from sklearn.model_selection import KFold

Fitted = tuple[np.ndarray, float]
Chooser = Callable[[np.ndarray, np.ndarray], Fitted]
FOLDS, MIXES = 10, (0.0, 0.5, 1.0)


def read(model: Any) -> Fitted:
    return np.ravel(model.coef_).astype(float), float(np.ravel(model.intercept_)[0])


def estimator(make: Callable[[], Any]) -> Chooser:
    return lambda X, y: read(make().fit(X, y))


def log_loss(loss: str, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """Per row; columns of eta are models."""
    if loss == "squared":
        return (y[:, None] - eta) ** 2
    if loss == "logistic":
        return np.logaddexp(0, eta) - y[:, None] * eta
    with np.errstate(over="ignore"):
        return np.exp(eta) - y[:, None] * eta


def mixtures(X: np.ndarray, y: np.ndarray, alphas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lasso fits mixed with the least squares of their supports: (p, alphas * mixes), and the intercepts."""
    middle, mean = X.mean(0), y.mean()
    _, lasso, _ = lasso_path(X - middle, y - mean, alphas=alphas)
    refits, known = np.zeros_like(lasso), {}
    for at, support in enumerate(map(np.flatnonzero, lasso.T)):
        key = support.tobytes()
        if key not in known:
            known[key] = np.linalg.lstsq(X[:, support] - middle[support], y - mean, rcond=None)[0]
        refits[support, at] = known[key]
    coefs = np.concatenate([mix * lasso + (1 - mix) * refits for mix in MIXES], axis=1)
    return coefs, mean - middle @ coefs


def relaxed_lasso(X: np.ndarray, y: np.ndarray) -> Fitted:
    """Meinshausen (2007) in the form of Hastie, Tibshirani, Tibshirani: alpha and mix by cross-validation."""
    top = np.abs((X - X.mean(0)).T @ (y - y.mean())).max() / len(y)
    alphas = top * np.geomspace(1, 1e-3, 50)
    held_out = np.zeros(len(alphas) * len(MIXES))
    for train, test in KFold(FOLDS).split(X):
        coefs, intercepts = mixtures(X[train], y[train], alphas)
        held_out += log_loss("squared", y[test], X[test] @ coefs + intercepts).sum(0)
    coefs, intercepts = mixtures(X, y, alphas)
    best = int(np.argmin(held_out))
    return coefs[:, best], float(intercepts[best])


def glmnet(loss: str, X: np.ndarray, y: np.ndarray) -> Fitted:
    """The l1 path of adelie, its lambda by ten folds; columns standardised."""
    import adelie

    kind = {"logistic": adelie.glm.binomial, "poisson": adelie.glm.poisson}[loss]
    middle, scale = X.mean(0), X.std(0)
    scale[scale == 0] = 1
    Z = np.asfortranarray((X - middle) / scale)
    settings = {"progress_bar": False, "early_exit": False, "adev_tol": 0.999}
    full = adelie.grpnet(Z, kind(y), lmda_path_size=60, **settings)
    path = np.asarray(full.lmdas)
    held_out, order = np.zeros(len(path)), np.random.default_rng(0).permutation(len(y))
    for rows in np.array_split(order, FOLDS):
        train = np.setdiff1d(order, rows)
        fold = adelie.grpnet(np.asfortranarray(Z[train]), kind(y[train]), lmda_path=path, **settings)
        eta = Z[rows] @ fold.betas.toarray().T + fold.intercepts
        short = log_loss(loss, y[rows], eta).sum(0)
        held_out[: len(short)] += short
        held_out[len(short) :] = np.inf  # the path of a fold may end early: no model there
    best = int(np.argmin(held_out))
    coef = full.betas[best].toarray().ravel() / scale
    return coef, float(full.intercepts[best] - middle @ coef)


def pursuit(loss: str, X: np.ndarray, y: np.ndarray, **settings: Any) -> Fitted:
    from pursuit import SparseClassifierCV, SparseRegressorCV

    if loss == "logistic":
        return read(SparseClassifierCV(**settings).fit(X, y))
    return read(SparseRegressorCV(loss=loss, **settings).fit(X, y))


def null(loss: str, X: np.ndarray, y: np.ndarray) -> Fitted:
    mean = y.mean()
    link = {"squared": lambda: mean, "logistic": lambda: np.log(mean / (1 - mean)), "poisson": lambda: np.log(mean)}
    return np.zeros(X.shape[1]), float(link[loss]())


def abess(loss: str, cv: int, X: np.ndarray, y: np.ndarray) -> Fitted:
    import abess as package

    name = {"squared": "LinearRegression", "logistic": "LogisticRegression", "poisson": "PoissonRegression"}[loss]
    return read(getattr(package, name)(cv=cv).fit(X, y))


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def choosers(loss: str) -> dict[str, Chooser]:
    """By name, ours first; those whose package is missing are left out."""
    from_pursuit = __import__("pursuit")
    found: dict[str, Chooser] = {}
    if hasattr(from_pursuit, "SparseRegressorCV"):
        found |= {f"pursuit {combine}": partial(pursuit, loss, combine=combine) for combine in ("project", "none")}
    if loss == "squared":
        found |= {
            "lasso": estimator(lambda: LassoCV(cv=FOLDS)),
            "relaxed lasso": relaxed_lasso,
            "elastic net": estimator(lambda: ElasticNetCV(l1_ratio=[0.1, 0.5, 0.9], alphas=40, cv=FOLDS)),
        }
    elif has("adelie"):
        found["l1"] = partial(glmnet, loss)
    elif loss == "logistic":
        found["l1"] = estimator(
            lambda: LogisticRegressionCV(
                l1_ratios=(1.0,), solver="liblinear", intercept_scaling=100, Cs=20, cv=FOLDS, scoring="neg_log_loss"
            )
        )
    if has("abess"):
        found |= {"abess": partial(abess, loss, 1), "abess cv": partial(abess, loss, FOLDS)}
    return found | {"null": partial(null, loss)}


def quiet(chooser: Chooser, X: np.ndarray, y: np.ndarray) -> Fitted:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        return chooser(X, y)


def deviance(loss: str, y: np.ndarray, eta: np.ndarray) -> float:
    """Share of the held-out deviance that a model explains next to the mean of these rows (squared: R2)."""
    mean = np.full_like(eta, y.mean())
    if loss == "squared":
        return 1 - float(np.sum((y - eta) ** 2) / np.sum((y - mean) ** 2))
    if loss == "logistic":
        ours = np.logaddexp(0, eta) - y * eta
        return 1 - float(ours.sum() / -(xlogy(y, mean) + xlogy(1 - y, 1 - mean)).sum())
    best = xlogy(y, y) - y
    return 1 - float((np.exp(eta) - y * eta + best).sum() / (mean - xlogy(y, mean) + best).sum())
