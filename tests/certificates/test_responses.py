"""Proofs for several responses with one support, against enumeration by least squares on every subset."""

import itertools

import numpy as np
import pytest

from pursuit import GLM, InParts, best_subsets, certify, path, solve
from pursuit.certificates import bounds

SETTINGS = (0.0, 1e-3, 0.1, 1.0)


def problem(seed, most=8):
    """Columns that share a factor, some that are exact copies or sums of others, responses of other sizes."""
    rng = np.random.default_rng(seed)
    n, p, q = int(rng.integers(12, 40)), int(rng.integers(3, most + 1)), int(rng.integers(2, 6))
    X = rng.standard_normal((n, p)) + rng.uniform(0, 2) * rng.standard_normal((n, 1))
    if seed % 5 == 0 and p > 3:
        X[:, p - 1] = X[:, 0] if seed % 10 else X[:, 0] + X[:, 1]
    X[:, 0] *= 10.0 ** rng.integers(-3, 4)
    k = int(rng.integers(1, min(p, 5)))
    Y = X[:, 1 : k + 1] @ rng.standard_normal((min(k, p - 1), q)) + rng.standard_normal((n, q)) * rng.uniform(0.1, 2)
    Y *= 10.0 ** rng.integers(-2, 3, q)
    settings = {"l2": SETTINGS[seed % 4], "fit_intercept": seed % 3 > 0, "standardize": seed % 7 == 0}
    if seed % 2:
        settings["sample_weight"] = rng.integers(1, 4, n).astype(float)
    options = {"include": [int(rng.integers(p))]} if seed % 6 == 1 else {}
    if seed % 6 == 2:
        options["exclude"] = [int(rng.integers(p))]
    return X, Y, k, settings, options


def enumerate_values(X, Y, k, settings, options):
    """The value of every support of k columns, by ``lstsq`` on rows: nothing of the library."""
    c = settings.get("sample_weight", np.ones(len(X)))
    c = c / c.sum()
    A, T = X.astype(np.longdouble), Y.astype(np.longdouble)
    if settings["standardize"]:
        A = A / np.sqrt(c @ (A - (c @ A if settings["fit_intercept"] else 0)) ** 2)
    if settings["fit_intercept"]:
        A, T = A - c @ A, T - c @ T
    root = np.sqrt(c)[:, None]
    A, T, values = (root * A).astype(float), (root * T).astype(float), {}
    inside, outside = options.get("include", []), options.get("exclude", [])
    size = min(k, X.shape[1] - len(outside))
    for some in itertools.combinations([j for j in range(X.shape[1]) if j not in outside], size):
        if not set(inside) <= set(some):
            continue
        B = np.vstack([A[:, some], np.sqrt(settings["l2"]) * np.eye(size)])
        scale = np.linalg.norm(B, axis=0)
        left = np.vstack([T, np.zeros((size, T.shape[1]))])
        left = left - B / scale @ np.linalg.lstsq(B / scale, left, rcond=1e-12)[0]
        values[some] = 0.5 * float((left**2).sum())
    return values


def check(seed, most):
    X, Y, k, settings, options = problem(seed, most)
    f = GLM(X, Y, **settings)
    values = enumerate_values(X, Y, k, settings, options)
    best, null = min(values.values()), f.null.value
    result = solve(f, k, solver="omp", **options)
    for time_limit in (0, None, 20.0):
        proof = certify(f, result, time_limit=time_limit)
        assert proof.lower <= best + 1e-9 * null
        if proof.status == "proved":
            assert proof.upper <= best + 2e-6 * max(best, 1e-9 * null) + 1e-12 * null
    assert proof.status == "proved", proof.reason
    if result.value > best * (1 + 1e-6):  # a better solution obeys what was fixed
        chosen = set(proof.result.support.tolist())
        assert not chosen & set(proof.never.tolist())
        assert set(proof.always.tolist()) <= chosen
    return f, values, k, options


@pytest.mark.parametrize("seed", range(40))
def test_certificates_equal_enumeration(seed):
    check(seed, 8)


@pytest.mark.parametrize("seed", [0, 1, 4, 6, 7, 9])
def test_best_subsets_equal_enumeration(seed):
    f, values, k, options = check(seed, 6)
    table = best_subsets(f, kmax=k, nbest=3, **options)
    rows = [row for row in table if row.k == k]
    assert all(row.proved for row in rows)
    np.testing.assert_allclose([row.value for row in rows], sorted(values.values())[: len(rows)], rtol=1e-8)
    for row in rows:
        assert row.value == pytest.approx(values[row.support], rel=1e-8)
        assert row.coef.shape == (k, f.outputs)


@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_branch_and_bound_without_leaps(l2, monkeypatch):
    """Correlated columns: the tree is searched."""
    monkeypatch.setattr(bounds, "_leaps_bound", lambda *_: None)
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 14)) + 2 * rng.standard_normal((60, 1))
    Y = X @ rng.standard_normal((14, 3)) + 4 * rng.standard_normal((60, 3))
    f = GLM(X, Y, l2=l2)
    proof = certify(f, solve(f, 5, solver="omp"), time_limit=30.0)
    values = enumerate_values(X, Y, 5, {"l2": l2, "fit_intercept": True, "standardize": False}, {})
    assert proof.status == "proved"
    assert proof.nodes > 1
    assert proof.upper == pytest.approx(min(values.values()), rel=1e-9)
    assert tuple(proof.result.support) == min(values, key=values.get)


def test_one_response_twice_is_one_response():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 9)), rng.standard_normal(50)
    one, two = best_subsets(X, y, 4, 2), best_subsets(X, np.column_stack([y, y]), 4, 2)
    assert [row.support for row in one] == [row.support for row in two]
    np.testing.assert_allclose([row.value for row in two], [2 * row.value for row in one], rtol=1e-10)


def test_a_path_in_parts_is_proved():
    X, Y, *_ = problem(11)
    f = GLM(InParts([(X[:7], Y[:7]), (X[7:], Y[7:])]), l2=0.01)
    proofs = path(f, range(1, 4)).certify(f, time_limit=20.0)
    assert proofs.proved == (1, 2, 3)
    whole = GLM(X, Y, l2=0.01)
    for k, row in zip(proofs.ks, proofs, strict=True):
        assert row.upper == pytest.approx(best_subsets(whole, kmax=k)[-1].value, rel=1e-9)


def test_coefficients_from_elsewhere_and_bounds():
    X, Y, *_ = problem(13)
    f = GLM(X, Y, l2=0.1)
    coef = np.zeros((X.shape[1], Y.shape[1]))
    coef[[0, 2]] = 1.0
    assert certify(f, coef, k=2, time_limit=10.0).status == "proved"
    with pytest.raises(ValueError, match=r"matrix of shape|one row per column of X, shape"):
        certify(f, coef[:, :1], k=2)
    result = solve(f, 2, bounds=(0, None))
    proof = certify(f, result)
    assert proof.lower <= result.value
    assert proof.status in ("bounded", "proved")


def test_a_large_ridge_is_proved_at_the_solution():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 12))
    Y = X[:, :3] @ (3 + rng.random((3, 4))) + 0.1 * rng.standard_normal((200, 4))
    f = GLM(X, Y, l2=1.0)
    proof = certify(f, solve(f, 3), time_limit=0)
    assert proof.margin > 0
    assert proof.status == "proved"
    assert proof.nodes == 0


@pytest.mark.parametrize("seed", range(6))
def test_classes_are_bounded(seed):
    """The multinomial loss has the bound of the solution's dual variables, never above the optimum."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 6))
    y = (X[:, :2] @ rng.standard_normal((2, 3)) + rng.standard_normal((60, 3))).argmax(axis=1)
    f = GLM(X, y, "multinomial", l2=(0.05, 0.5, 3.0)[seed % 3])
    best = min(f.refit(f.coordinates(np.array(s))).value for s in itertools.combinations(range(6), 2))
    proof = certify(f, solve(f, 2), time_limit=5.0)
    assert 0 < proof.lower <= best + 1e-9
    assert proof.status == "proved" or "has no relaxation" in proof.reason


def test_what_is_not_supported_is_said(monkeypatch):
    X, Y, *_ = problem(13)
    f = GLM(X, Y, l2=0.1)
    groups = np.arange(X.shape[1]) // 2
    assert "single columns, not for groups" in certify(f, solve(f, 1, groups=groups), time_limit=5.0).reason
    plain = GLM(X, Y)
    assert "the loss's infimum (set l2 > 0)" in certify(plain, solve(plain, 1, groups=groups), time_limit=5.0).reason
    monkeypatch.setattr(bounds, "MAX_GRAM_COLUMNS", 2)
    proof = certify(f, solve(f, 2), time_limit=5.0)
    assert "a Gram matrix, for up to 2 columns" in proof.reason
    assert proof.status == "bounded"
