"""The squared loss on small data in one kernel call, held against NumPy: every number, every exchange, every claim."""

from itertools import combinations

import numpy as np
import pytest

from pursuit import GLM, solve
from pursuit.solvers import auto as module


def data(seed, n=40, p=9, copies=()):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.exp(rng.normal(0, 1, p)) + rng.normal(0, 2, p)
    X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
    for original, copy in copies:
        X[:, copy] = -2.0 * X[:, original]
    y = X[:, [0, 3, 5]] @ [1.0, -0.7, 0.4] + rng.standard_normal(n)
    return X, y, rng


def least_squares(X, y, support, c, l2, intercept, offset):
    """Coefficients, intercept and value from an augmented least squares problem."""
    A = np.column_stack([X[:, support], np.ones(len(y))]) if intercept else X[:, support]
    root, m = np.sqrt(c), len(support)
    ridge = np.sqrt(l2) * np.eye(A.shape[1])[:m]
    tall, target = np.vstack([root[:, None] * A, ridge]), np.append(root * (y - offset), np.zeros(m))
    z = np.linalg.lstsq(tall, target, rcond=None)[0]
    rest = y - offset - A @ z
    return z[:m], z[m] if intercept else 0.0, 0.5 * (c @ rest**2) + 0.5 * l2 * (z[:m] @ z[:m])


@pytest.mark.parametrize("seed", range(12))
def test_numbers_exchange_and_claim_are_numpy_s(seed):
    X, y, rng = data(seed)
    n, p = X.shape
    l2, intercept = (0.0, 0.05)[seed % 2], seed % 3 > 0
    weights = rng.uniform(0.2, 2, n) if seed % 4 == 0 else np.ones(n)
    offset = rng.standard_normal(n) if seed % 4 == 1 else np.zeros(n)
    include, exclude = ([2], [4]) if seed % 4 == 2 else ([], [])
    f = GLM(X, y, l2=l2, fit_intercept=intercept, sample_weight=weights, offset=offset)
    found = solve(f, 3, include=include, exclude=exclude)

    def fitted(support):
        return least_squares(X, y, np.sort(support), weights / weights.sum(), l2, intercept, offset)

    coef, b, value = fitted(found.support)
    assert found.converged
    assert found.value == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(found.coef, coef, rtol=1e-7)
    assert found.intercept == pytest.approx(b, rel=1e-7, abs=1e-7)
    changes = {
        (i, j): fitted([*np.setdiff1d(found.support, [i]), j])[2] - value
        for i in np.setdiff1d(found.support, include)
        for j in np.setdiff1d(np.arange(p), [*found.support, *exclude])
    }
    assert found.optimality == "swap_optimal"
    assert min(changes.values()) > 0
    (leave,), (enter,), change = found.exchange
    assert (leave, enter) == min(changes, key=changes.get)
    assert change == pytest.approx(changes[leave, enter], rel=1e-6)
    at = f.at(found.support, found.point.coef, found.point.free)
    assert np.abs(at.gradient[found.support]).max() < 1e-9 * np.abs(f.null.gradient).max()


@pytest.mark.parametrize("seed", range(4))
def test_no_refit_and_no_sweep_where_the_kernel_has_the_digits(seed, monkeypatch):
    X, y, _ = data(seed)

    def never(*given, **more):
        raise AssertionError("a second look was taken")

    monkeypatch.setattr(GLM, "refit", never)
    monkeypatch.setattr(module, "search", never)
    assert solve(GLM(X, y), 3).optimality == "swap_optimal"


@pytest.mark.parametrize("seed", range(4))
def test_copies_outside_are_judged_by_refits(seed):
    X, y, _ = data(seed, copies=[(0, 7), (3, 8)])
    f = GLM(X, y)
    found = solve(f, 3)
    assert {0, 7} & set(found.support.tolist())
    assert {3, 8} & set(found.support.tolist())
    assert found.optimality == "swap_optimal"
    assert found.exchange.change == pytest.approx(0.0, abs=1e-9 * f.null.value)
    assert "is a copy of" in found.next_best


def test_columns_too_far_from_zero_for_products_are_fitted_with_care():
    X, y, rng = data(0)
    X = X + 1e7 * rng.standard_normal(X.shape[1])
    found = solve(GLM(X, y), 3)
    value = least_squares(X - X.mean(axis=0), y, found.support, np.full(len(y), 1 / len(y)), 0.0, True, 0.0)[2]
    assert found.value == pytest.approx(value, rel=1e-6)


def test_a_start_keeps_its_claim():
    """Values of one minimiser that are computed in two ways may differ in their last digit."""
    X, y, _ = data(1)
    f = GLM(X, y)
    first = solve(f, 3)
    for begin in (first, first.x, f.refit(first.support)):
        again = solve(f, 3, start=begin)
        assert again.optimality == "swap_optimal"
        assert again.value == pytest.approx(first.value, rel=1e-12)


@pytest.mark.parametrize("k", range(1, 8))
def test_all_sizes_fall_and_none_is_beaten_by_any_support(k):
    X, y, _ = data(5)
    f = GLM(X, y)
    best = min(least_squares(X, y, list(S), np.full(40, 1 / 40), 0.0, True, 0.0)[2] for S in combinations(range(9), k))
    assert solve(f, k).value == pytest.approx(best, rel=1e-9)


def test_the_null_model_is_the_weighted_mean():
    X, y, rng = data(2)
    weights, offset = rng.uniform(0, 1, len(y)), rng.standard_normal(len(y))
    for far in (0.0, 1e9):
        null = GLM(X, y + far, sample_weight=weights, offset=offset).null
        mean = np.average(y - offset, weights=weights)
        assert null.free == pytest.approx(mean + far, rel=1e-14)
        value = 0.5 * np.average((y - offset - mean) ** 2, weights=weights)
        assert null.value == pytest.approx(value, rel=1e-12 if far == 0 else 1e-6)
    bare = GLM(X, y, fit_intercept=False).null
    assert bare.free == 0.0
    assert bare.value == pytest.approx(0.5 * np.mean(y**2), rel=1e-13)


@pytest.mark.parametrize("effort", ["default", "fast"])
@pytest.mark.parametrize("seed", range(12))
def test_one_call_from_the_rows_gives_what_the_loop_gives(seed, effort, monkeypatch):
    X, y, rng = data(seed, copies=[(0, 8)] if seed % 3 == 0 else ())
    n, p = X.shape
    X = np.asfortranarray(X) if seed % 4 == 1 else X.astype(np.float32) if seed % 4 == 2 else X
    options = {
        "standardize": seed % 2 == 0,
        "fit_intercept": seed % 5 != 0,
        "l2": [0.0, 0.1, rng.uniform(0, 1, p)][seed % 3],
        "sample_weight": rng.uniform(0, 2, n) if seed % 4 == 3 else None,
        "offset": rng.standard_normal(n) if seed % 4 == 2 else None,
    }
    f = GLM(X, y, **options)
    sides = {"include": [2], "exclude": [4, 6]} if seed % 2 else {}
    assert module.Auto(effort=effort).at_once(f, f.sparse_set(3, **sides)) is not None
    one = solve(GLM(X, y, **options), 3, effort=effort, **sides)
    monkeypatch.setattr(module.Auto, "at_once", module.Solver.at_once)
    other = solve(GLM(X, y, **options), 3, effort=effort, **sides)
    assert one.support.tolist() == other.support.tolist()
    assert one.value == pytest.approx(other.value, rel=1e-11)
    np.testing.assert_allclose(np.append(one.coef, one.intercept), np.append(other.coef, other.intercept), rtol=1e-7)
    for field in ("status", "reason", "optimality", "next_best", "k", "solver"):
        assert getattr(one, field) == getattr(other, field)
    assert len(one.trace) == one.n_iter == 1
    assert f.null.value == pytest.approx(GLM(X, y, **options).null.value, rel=1e-12)
    np.testing.assert_allclose(f.null.gradient, GLM(X, y, **options).null.gradient, rtol=1e-9, atol=1e-12)


def test_one_call_leaves_what_needs_care_to_the_loop():
    X, y, _ = data(3)
    at_once = module.Auto().at_once
    constant, holes, huge = X.copy(), X.copy(), X.copy()
    constant[:, 2], holes[3, 4] = 5.0, np.nan
    huge[:, 2] *= 1e160
    for A, target in ((constant, y), (holes, y), (huge, y), (X, np.ones_like(y)), (X, 3 * X[:, 0] - X[:, 5])):
        f = GLM(A, target)
        assert at_once(f, f.sparse_set(2)) is None
    f = GLM(X, y)
    assert at_once(f, f.sparse_set(2, groups=[0, 0, 1, 1, 2, 2, 3, 3, 4])) is None
    assert at_once(f, f.sparse_set(2).with_budget(0)) is None
    assert module.Auto(restarts=3).at_once(f, f.sparse_set(2)) is None
    with pytest.raises(ValueError, match="NaN or infinity"):
        solve(GLM(holes, y), 2)


def test_a_callback_and_a_limit_see_the_iterations():
    X, y, _ = data(4)
    records = []
    assert solve(GLM(X, y), 3, callback=records.append).n_iter == len(records) >= 1
    assert solve(GLM(X, y), 3, max_iter=1).n_iter == 1
