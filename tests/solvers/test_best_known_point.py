"""No part of the library knows a better point than ``auto`` gives: paths, other sizes, rivals, single columns."""

import os
import pathlib

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit

from pursuit import GLM, SparseClassifier, path, solve, summary

LOSSES = ("squared", "logistic", "poisson", "huber", "squared_hinge", "smoothed_hinge")
DATA = pathlib.Path(os.environ.get("PURSUIT_DATA", pathlib.Path(__file__).parents[3] / "shared" / "data"))


def draw(seed):
    """A random problem: correlated columns (neighbours, or common factors) of different sizes, and a largest k."""
    rng = np.random.default_rng([77, seed])
    n, p, rho = int(rng.integers(20, 80)), int(rng.integers(6, 30)), [0.0, 0.5, 0.9, 0.98][seed % 4]
    X = rng.standard_normal((n, p))
    if rng.random() < 0.4:
        X += 2 * rho * rng.standard_normal((n, 2)) @ rng.standard_normal((2, p))
    else:
        for j in range(1, p):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    some = rng.permutation(p)[: rng.integers(1, 7)]
    eta = X[:, some] @ rng.standard_normal(len(some))
    X = X * np.exp(rng.normal(0, 1, p)) + rng.normal(0, 1, p)
    loss = LOSSES[seed % 6]
    if loss in ("squared", "huber"):
        y = eta + rng.choice([0.3, 1.0, 3.0]) * rng.standard_t(3, n)
    elif loss == "poisson":
        y = rng.poisson(np.exp(np.clip(eta, -4, 3))).astype(float)
    else:
        y = (rng.random(n) < expit(eta)).astype(float)
        y[:2] = 0, 1
    options = {"l2": rng.choice([0.0, 1e-3, 1e-1]), "standardize": bool(rng.integers(2))}
    return GLM(X, y, loss, fit_intercept=bool(rng.random() < 0.8), **options), int(min(p - 1, rng.integers(4, 8)))


def complaints(f, most):
    """What is wrong with the results of ``auto`` for the sizes up to ``most``."""
    whole, before = path(f, range(most + 1)), np.inf
    for k in range(1, most + 1):
        result = solve(f, k)
        enough = max(f.floor, result.value - 1e-8 * f.scale(result.value))
        others = {
            "path": path(f, [k]).at(k).value,
            "longer path": whole.at(k).value,
            "one size less": before,
            "local_search": solve(f, k, solver="local_search").value,
        }
        yield from (f"k={k}: {name} {value} < {result.value}" for name, value in others.items() if value < enough)
        if result.exchange is not None and result.exchange.change < 0:
            yield f"k={k}: {result.next_best}"
        shown = summary(f, result)
        if shown.has_better_rival and result.value > f.floor:
            yield f"k={k}: a rival of the summary is better by {shown.rival_cost.min()}"
        before = result.value


@pytest.mark.parametrize("seed", range(36))
def test_no_better_point_is_known(seed):
    f, most = draw(seed)
    assert list(complaints(f, most)) == []


def table(name):
    file = DATA / "tables.npz"
    if not file.exists():
        pytest.skip(f"needs {file.name} of the shared data")
    with np.load(file) as held:
        return held[f"{name}/X"], held[f"{name}/y"]


@pytest.mark.parametrize(("name", "sizes"), [("tissue_gene", (3, 9, 10, 11)), ("permeability", (8, 9, 10))])
def test_a_solve_is_no_worse_than_a_path(name, sizes):
    """tissue_gene at k = 10 was 0.015103 after 0.014208 at 9, where the path had 0.013290."""
    X, y = table(name)
    f = GLM(X, y, standardize=True)
    known = path(f, range(max(sizes) + 1))
    values = [solve(f, k).value for k in sizes]
    assert all(value <= known.at(k).value * (1 + 1e-9) for k, value in zip(sizes, values, strict=True))
    assert values == sorted(values, reverse=True)


def chowdary():
    file = DATA / "chowdary.npz"
    if not file.exists():
        pytest.skip(f"needs {file.name} of the shared data")
    with np.load(file) as held:
        return held["X"].astype(float), (held["y"] == np.unique(held["y"])[1]).astype(float)


def test_a_summary_knows_no_better_rival():
    """It said "g992 instead of g4736 would be better" and "no exchange was found to help"."""
    model = SparseClassifier(5).fit(*chowdary())
    before, words = model.coef_.copy(), str(model.summary())
    assert "would be better" not in words
    assert "would lower" not in model.result_.next_best
    assert np.array_equal(model.coef_, before)


def test_a_summary_does_not_contradict_itself():
    """Of a point that is no local optimum it says what is better, and claims nothing."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 6))
    f = GLM(X, rng.random(80) < expit(2 * X[:, 0]), "logistic")
    poor = solve(f, 1, exclude=[0])
    words = str(summary(f, poor.__class__(**{**vars(poor), "constraint": f.sparse_set(1)})))
    assert "x0 instead of" in words
    assert "would be better" in words
    assert "No exchange" not in words


def test_the_best_gene_of_all():
    """Column 2196 (0.2153) was the answer for k = 1; every column by an independent Newton's method."""
    X, y = chowdary()
    result = solve(GLM(X, y, "logistic"), 1)
    assert result.optimality == "swap_optimal"
    Z = (X - X.mean(0)) / X.std(0)
    v, b = np.zeros(X.shape[1]), np.full(X.shape[1], np.log(y.mean() / (1 - y.mean())))
    for _ in range(30):
        mu = expit(Z * v + b)
        r, w = mu - y[:, None], mu * (1 - mu)
        g0, g1, h00, h01, h11 = r.mean(0), (r * Z).mean(0), w.mean(0), (w * Z).mean(0), (w * Z**2).mean(0)
        det = h00 * h11 - h01**2 + 1e-12
        b, v = b - (h11 * g0 - h01 * g1) / det, v - (h00 * g1 - h01 * g0) / det
    every = np.logaddexp(0, Z * v + b).mean(0) - (y[:, None] * (Z * v + b)).mean(0)
    assert result.support[0] == np.nanargmin(every)
    assert result.value == pytest.approx(np.nanmin(every), rel=1e-9)


def phi(loss, param, y, eta):
    if loss == "logistic":
        return np.logaddexp(0, eta) - y * eta
    if loss == "poisson":
        return np.exp(np.minimum(eta, 500)) - y * eta
    if loss == "huber":
        r = np.abs(eta - y)
        return np.where(r > param, param * (r - param / 2), r**2 / 2)
    z = 1 - (2 * y - 1) * eta
    if loss == "squared_hinge":
        return np.maximum(z, 0) ** 2
    return np.where(z <= 0, 0, np.where(z >= param, z - param / 2, z**2 / (2 * param)))


@pytest.mark.parametrize("seed", range(30))
def test_one_column_is_exact(seed):
    """Dense and sparse, weights (some 0), offset, ridge, no intercept, constant columns: against Nelder and Mead."""
    rng = np.random.default_rng([5, seed])
    n, p, loss = int(rng.integers(8, 40)), int(rng.integers(2, 6)), LOSSES[1 + seed % 5]
    X = rng.standard_normal((n, p)) * np.exp(rng.normal(0, 1, p)) + rng.normal(0, 2, p)
    sparse = rng.random() < 0.5
    if sparse:
        X *= rng.random((n, p)) < 0.3
        X[0], X[1] = 1.0, -0.5
    if seed % 7 == 0:
        X[:, 0] = 3.0
    eta = rng.choice([0.3, 1.0, 5.0]) * X[:, -1]
    if loss == "huber":
        y = eta + rng.standard_t(2, n)
    elif loss == "poisson":
        y = rng.poisson(np.exp(np.clip(eta, -3, 3))).astype(float)
    else:
        y = (rng.random(n) < expit(eta)).astype(float)
        y[:2] = 0, 1
    weight = rng.random(n) * (rng.random(n) < 0.9) if seed % 2 else np.ones(n)
    weight[:2] = 1.0
    offset = 0.5 * rng.standard_normal(n) if seed % 3 == 0 else np.zeros(n)
    l2, intercept, standardize = rng.choice([0.0, 1e-2, 1.0]), bool(rng.random() < 0.7), bool(rng.integers(2))
    kind = rng.choice([sp.csr_array, sp.csc_array]) if sparse else rng.choice([np.asfortranarray, np.ascontiguousarray])
    f = GLM(
        kind(X),
        y,
        loss,
        l2=l2,
        fit_intercept=intercept,
        standardize=standardize,
        sample_weight=weight,
        offset=offset if offset.any() else None,
    )
    param, c, best = getattr(f.loss, "delta", getattr(f.loss, "gamma", None)), weight / weight.sum(), np.inf
    for x in X.T:
        mean = c @ x if intercept else 0.0
        sd = np.sqrt(c @ (x - mean) ** 2)
        if sd < 1e-12:
            continue
        z, ridge = (x - mean) / sd, l2 if standardize else l2 / sd**2

        def value(t, z=z, ridge=ridge):
            return c @ phi(loss, param, y, z * t[0] + t[1] * intercept + offset) + ridge * t[0] ** 2 / 2

        options = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 2000, "maxfev": 2000}
        best = min(best, *(minimize(value, (v, 0.0), method="Nelder-Mead", options=options).fun for v in (1.0, -1.0)))
    result = solve(f, 1)
    assert result.value <= max(best * (1 + 1e-6), 1e-6)
    assert result.value >= min(best * (1 - 1e-6), best - 1e-4)
    # a Poisson loss near 0 is a difference of larger numbers, whose refit claims fewer digits
    assert result.optimality == "swap_optimal" or loss == "poisson"


def test_a_copy_is_called_a_copy():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    X[:, 7] = X[:, 1]
    eta = 2 * X[:, 1] + X[:, 2]
    for loss, y in (("squared", eta + rng.standard_normal(60)), ("logistic", rng.random(60) < expit(eta))):
        for solver in ("auto", "local_search"):
            words = solve(GLM(X, y, loss), 2, solver=solver).next_best
            assert words in (
                "column 7 is a copy of column 1 and equally good",
                "column 1 is a copy of column 7 and equally good",
            )


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_constant_column_that_is_forced_in_is_called_constant(loss):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    X[:, 3] = 1.0
    eta = 2 * X[:, 1] + X[:, 2]
    y = eta + rng.standard_normal(60) if loss == "squared" else (rng.random(60) < expit(eta)).astype(float)
    result = solve(GLM(X, y, loss), 3, include=[3])
    assert "1 of the 3 chosen columns is constant: beside the intercept it takes up a place" in result.reason
    assert "have rank" not in result.reason


@pytest.mark.parametrize("solver", ["auto", "local_search"])
def test_a_constant_column_is_no_rival(solver):
    """The formula for exchanges divided rounding by rounding."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    X[:, 3] = 1.0
    f = GLM(X, 2 * X[:, 1] + X[:, 2] + rng.standard_normal(60))
    result = solve(f, 2, solver=solver)
    assert result.exchange.enter != (3,)
    assert result.exchange.change > 1e-3
    assert "x3" not in summary(f, result).rivals
