"""The demo's yardstick: l1 tuned to the same number of features."""

import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, lars_path
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c


class Lasso:
    """The lasso path, cut where at most k coefficients are non-zero."""

    name = "lasso"

    def __init__(self, X: Any, y: Any) -> None:
        self.scale, self.mean = StandardScaler().fit(X), y.mean()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            *_, coefs = lars_path(self.scale.transform(X), y - self.mean, method="lasso")  # every corner of the path
        self.coefs, self.sizes = coefs, (coefs != 0).sum(axis=0)

    def at(self, k: int) -> tuple[Any, Any]:
        """Return a predictor with at most k features, and their columns."""
        coef = self.coefs[:, np.flatnonzero(self.sizes <= k)[-1]]
        return (lambda X: self.scale.transform(X) @ coef + self.mean), np.flatnonzero(coef)


class L1Logistic:
    """l1-penalised logistic regression over a grid of penalties."""

    name = "l1 logistic regression"

    def __init__(self, X: Any, y: Any) -> None:
        self.scale = StandardScaler().fit(X)
        Z = self.scale.transform(X)
        kind = {"l1_ratio": 1.0} if _modern() else {"penalty": "l1"}
        self.fits = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for C in l1_min_c(Z, y, loss="log") * np.geomspace(1.02, 300, 150):
                fit = LogisticRegression(C=C, solver="liblinear", max_iter=300, random_state=0, **kind).fit(Z, y)
                self.fits.append((np.count_nonzero(fit.coef_), fit))
                if self.fits[-1][0] > 12:  # more than the demo asks for
                    break

    def at(self, k: int) -> tuple[Any, Any]:
        """Return a predictor of probabilities with at most k features, and their columns."""
        fit = [fit for size, fit in self.fits if size <= k][-1]
        return (lambda X: fit.predict_proba(self.scale.transform(X))), np.flatnonzero(fit.coef_)


def _modern() -> bool:
    """From scikit-learn 1.8 the penalty follows from l1_ratio."""
    import sklearn

    return tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 8)
