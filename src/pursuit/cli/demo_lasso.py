"""The demo's yardstick: l1 tuned to the same number of features, as it is and refitted on what it chose."""

import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression, lasso_path
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c


class Lasso:
    """The lasso path, cut where at most k coefficients are non-zero."""

    name = "lasso"

    def __init__(self, X: Any, y: Any) -> None:
        self.X, self.y, self.scale = X, y, StandardScaler().fit(X)
        Z, centred = self.scale.transform(X), y - y.mean()
        alphas = np.abs(Z.T @ centred).max() / len(y) * np.geomspace(1, 1e-3, 400)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _, coefs, _ = lasso_path(Z, centred, alphas=alphas)
        self.coefs, self.sizes = coefs, (coefs != 0).sum(axis=0)

    def at(self, k: int) -> tuple[Any, Any]:
        """Predictors with at most k features: shrunken, and refitted without a penalty."""
        coef = self.coefs[:, np.flatnonzero(self.sizes <= k)[-1]]
        chosen = np.flatnonzero(coef)
        refit = LinearRegression().fit(self.X[:, chosen], self.y)
        mean = self.y.mean()
        return (lambda X: self.scale.transform(X) @ coef + mean), (lambda X: refit.predict(X[:, chosen]))


class L1Logistic:
    """l1-penalised logistic regression over a grid of penalties, refitted with the same l2 as pursuit's."""

    name = "l1 logistic regression"

    def __init__(self, X: Any, y: Any, l2: float) -> None:
        self.X, self.y, self.scale = X, y, StandardScaler().fit(X)
        self.C = 1 / (l2 * len(y))
        Z = self.scale.transform(X)
        kind = {"l1_ratio": 1.0} if _modern() else {"penalty": "l1"}
        self.fits = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for C in l1_min_c(Z, y, loss="log") * np.geomspace(1.05, 300, 40):
                fit = LogisticRegression(C=C, solver="liblinear", max_iter=300, random_state=0, **kind).fit(Z, y)
                self.fits.append((np.count_nonzero(fit.coef_), fit))

    def at(self, k: int) -> tuple[Any, Any]:
        """Probabilities with at most k features: shrunken, and refitted."""
        fit = [fit for size, fit in self.fits if size <= k][-1]
        chosen = np.flatnonzero(fit.coef_)
        refit = LogisticRegression(C=self.C, max_iter=5000).fit(self.scale.transform(self.X)[:, chosen], self.y)
        return (
            lambda X: fit.predict_proba(self.scale.transform(X)),
            lambda X: refit.predict_proba(self.scale.transform(X)[:, chosen]),
        )


def _modern() -> bool:
    """From scikit-learn 1.8 the penalty follows from l1_ratio."""
    import sklearn

    return tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 8)
