import numpy as np
import pandas as pd
import pytest

from pursuit import SparseAdditiveClassifier, SparseAdditiveRegressor, SparseClassifier, SparseRegressorCV

HOSTILE = "</script><img src=x onerror=alert(1)>"


def problem(n=90, p=8, seed=0):
    rng = np.random.default_rng(seed)
    names = [HOSTILE, "größe", "<b>", "a&b", *(f"v{j}" for j in range(p - 4))]
    X = pd.DataFrame(rng.standard_normal((n, p)), columns=names)
    eta = 2 * X.iloc[:, 0] - 1.5 * X["größe"] + X["a&b"]
    return X, np.asarray(eta + 0.5 * rng.standard_normal(n)), np.asarray(eta)


@pytest.fixture(scope="session")
def regression():
    X, y, _ = problem()
    return SparseRegressorCV(cv=3).fit(X, y), X, y


@pytest.fixture(scope="session")
def classification():
    X, _, eta = problem(n=120, seed=1)
    y = np.where(eta + np.random.default_rng(2).logistic(size=len(eta)) > 0, "yes", "no & <no>")
    return SparseClassifier(k=3).fit(X, y), X, y


@pytest.fixture(scope="session")
def page(regression, tmp_path_factory):
    return regression[0].report(tmp_path_factory.mktemp("report") / "model.html", n_pairs=3)


@pytest.fixture(scope="session")
def class_page(classification, tmp_path_factory):
    return classification[0].report(tmp_path_factory.mktemp("report") / "classes.html", n_pairs=3, target="answer")


@pytest.fixture(scope="session")
def additive():
    X, y, _ = problem(n=220)
    X["few"] = np.arange(220) % 3
    return SparseAdditiveRegressor(cv=3, include=["few"]).fit(X, y + np.sin(3 * X["v0"]) + 0.3 * X["few"]), X


@pytest.fixture(scope="session")
def additive_page(additive, tmp_path_factory):
    return additive[0].report(tmp_path_factory.mktemp("report") / "curves.html", n_pairs=3)


@pytest.fixture(scope="session")
def additive_class_page(classification, tmp_path_factory):
    _, X, y = classification
    model = SparseAdditiveClassifier(k=3).fit(X, y)
    return model.report(tmp_path_factory.mktemp("report") / "odds.html", n_pairs=3, target="answer")
