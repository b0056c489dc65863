"""Golden master: supports, coefficients and values of a few fixed problems, to 1e-8.

A difference means that an answer changed. If that is meant (a better support, another default), look at each change
and then rewrite the files with

    python -m pytest tests/golden --rewrite-golden

and commit them together with the reason. Every case is one file, tests/golden/<case>.json.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import PolynomialFeatures

import pursuit

HERE = Path(__file__).parent


def diabetes():
    """All 65 squares and interactions, less the square of a two-valued column: what the demo uses."""
    X, y = load_diabetes(return_X_y=True)
    X = PolynomialFeatures(2, include_bias=False).fit_transform(X)
    return np.delete(X, 20, axis=1), y


def cancer():
    return load_breast_cancer(return_X_y=True)


def random(loss):
    rng = np.random.default_rng(11)
    X = rng.standard_normal((200, 50)) + 0.5 * rng.standard_normal((200, 1))
    eta = X[:, ::10] @ np.array([1.0, -0.8, 0.6, -0.4, 0.3]) / 2
    if loss == "poisson":
        return X, rng.poisson(np.exp(eta)).astype(float)
    if loss == "squared":
        return sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0)), eta + 0.3 * rng.standard_normal(200)
    return X, eta + 0.3 * rng.standard_normal(200) + 5.0 * (rng.random(200) < 0.1)


CASES = {
    "diabetes_grahtp": lambda: (*diabetes(), "squared", {"standardize": True}, 8, {"solver": "grahtp"}),
    "diabetes_omp": lambda: (*diabetes(), "squared", {"standardize": True, "l2": 0.01}, 6, {"solver": "omp"}),
    "cancer_grahtp": lambda: (*cancer(), "logistic", {"standardize": True, "l2": 1e-3}, 5, {"solver": "grahtp"}),
    "cancer_fgrahtp": lambda: (*cancer(), "squared_hinge", {"standardize": True, "l2": 0.01}, 4, {"solver": "fgrahtp"}),
    "sparse_omp": lambda: (*random("squared"), "squared", {}, 5, {"solver": "omp", "exclude": [0]}),
    "poisson_groups": lambda: (
        *random("poisson"),
        "poisson",
        {},
        3,
        {"solver": "grahtp", "groups": np.arange(50) // 2, "include": [30]},
    ),
    "huber_auto": lambda: (*random("huber"), "huber", {}, 5, {"solver": "auto", "random_state": 0}),
}


def answer(case):
    X, y, loss, settings, k, options = CASES[case]()
    result = pursuit.solve(pursuit.GLM(X, y, loss, **settings), k, **options)
    return {
        "support": result.support.tolist(),
        "coef": result.coef.tolist(),
        "intercept": result.intercept,
        "value": result.value,
        "status": result.status,
    }


@pytest.mark.parametrize("case", CASES)
def test_answers_have_not_changed(case, request):
    file = HERE / f"{case}.json"
    now = answer(case)
    if request.config.getoption("--rewrite-golden"):
        file.write_text(json.dumps(now, indent=1) + "\n")
    then = json.loads(file.read_text())
    assert now["support"] == then["support"]
    assert now["status"] == then["status"]
    assert now["value"] == pytest.approx(then["value"], rel=1e-8)
    np.testing.assert_allclose(now["coef"], then["coef"], rtol=1e-8, atol=1e-8)
    assert now["intercept"] == pytest.approx(then["intercept"], rel=1e-8, abs=1e-8)


def test_every_file_belongs_to_a_case():
    assert {file.stem for file in HERE.glob("*.json")} == set(CASES)
