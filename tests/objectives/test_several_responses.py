"""Several responses with one support: what the kernels find and claim, held against refits of every exchange."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy import sparse

from pursuit import path, solve
from pursuit.objectives.least_squares import problem_of
from pursuit.objectives.multi import MultiGLM


def problem(seed, n=60, p=14, q=3, noise=1.0):
    rng = np.random.default_rng([seed, 35])
    X = rng.standard_normal((n, p)) + 0.8 * rng.standard_normal((n, 1))
    C = np.zeros((p, q))
    C[rng.choice(p, 4, replace=False)] = rng.standard_normal((4, q))
    return X, X @ C + noise * rng.standard_normal((n, q)) + 1.0


def value(X, Y, S, c=None, offset=0.0, l2=0.0, intercept=True):
    """The least squares value on columns S by an orthogonal factorisation, one response after the other."""
    n = len(X)
    c = np.full(n, 1 / n) if c is None else c / c.sum()
    A, R = X[:, list(S)], Y - offset
    if intercept:
        A, R = A - c @ A, R - c @ R
    A = np.vstack([np.sqrt(c)[:, None] * A, np.sqrt(l2) * np.eye(len(S))])
    R = np.vstack([np.sqrt(c)[:, None] * R, np.zeros((len(S), Y.shape[1]))])
    return 0.5 * float(((R - A @ np.linalg.lstsq(A, R, rcond=None)[0]) ** 2).sum())


def exchanged_values(X, Y, S, **how):
    """The value after every single exchange."""
    outside = set(range(X.shape[1])) - set(S)
    return {(i, j): value(X, Y, sorted({*S, j} - {i}), **how) for i in S for j in outside}


def features(result):
    return result.support.tolist()


SETTINGS = {
    "plain": {},
    "ridge": {"l2": 0.3},
    "no intercept": {"intercept": False},
    "weights": {"c": np.linspace(0.1, 3, 60)},
    "offset": {"offset": np.linspace(-2, 2, 180).reshape(60, 3)},
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("seed", range(4))
def test_no_exchange_of_the_result_is_better(seed, setting):
    how = SETTINGS[setting]
    X, Y = problem(seed)
    f = MultiGLM(
        X,
        Y,
        "squared",
        l2=how.get("l2", 0.0),
        fit_intercept=how.get("intercept", True),
        sample_weight=how.get("c"),
        offset=how.get("offset"),
    )
    result = solve(f, 4)
    S = features(result)
    assert result.value == pytest.approx(value(X, Y, S, **how), rel=1e-9)
    known = exchanged_values(X, Y, S, **how)
    assert result.optimality == "swap_optimal"
    assert min(known.values()) >= result.value * (1 - 1e-9)
    pair = (result.exchange.leave[0], result.exchange.enter[0])
    assert result.value + result.exchange.change == pytest.approx(known[pair], rel=1e-8)
    assert known[pair] == pytest.approx(min(known.values()), rel=1e-8)


@pytest.mark.parametrize("form", ["dense", "column-major", "float32", "csr", "csc"])
def test_a_working_set_finds_what_brute_force_finds(form):
    """500 columns are beyond one Gram matrix: the kernel has a working set, and tests all columns."""
    X, Y = problem(0, n=400, p=520, noise=0.3)
    if form in ("csr", "csc"):
        X = np.where(np.abs(X) > 1.2, X, 0.0)
    if form == "float32":
        X = X.astype(np.float32)
    given = {"csr": sparse.csr_array, "csc": sparse.csc_array, "column-major": np.asfortranarray}.get(form, np.asarray)(
        X
    )
    result = solve(MultiGLM(given, Y, "squared"), 5)
    S = features(result)
    X = X.astype(float)
    assert result.optimality == "swap_optimal"
    assert result.value == pytest.approx(value(X, Y, S), rel=1e-9)
    start = result.value * (1 - 1e-9)
    some = np.random.default_rng(0).choice(520, 40, replace=False)
    assert all(value(X, Y, sorted({*S, j} - {i})) >= start for i in S for j in some.tolist() if j not in S)


def test_forced_columns_stay_and_excluded_ones_stay_out():
    X, Y = problem(1)
    free = features(solve(MultiGLM(X, Y, "squared"), 3))
    forced = next(j for j in range(14) if j not in free)
    result = solve(MultiGLM(X, Y, "squared"), 3, include=[forced], exclude=[free[0]])
    S = features(result)
    assert forced in S
    assert free[0] not in S
    others = [j for j in range(14) if j not in (forced, free[0])]
    assert result.value == pytest.approx(
        min(value(X, Y, [forced, *pair]) for pair in combinations(others, 2)), rel=1e-9
    )


@pytest.mark.parametrize("seed", range(3))
def test_path_falls_and_meets_the_best_of_small_sizes(seed):
    X, Y = problem(seed, p=10)
    points = path(MultiGLM(X, Y, "squared"), range(1, 5))
    values = [at.value for at in points]
    assert all(a > b for a, b in pairwise(values))
    for k in (1, 2, 3):
        best = min(value(X, Y, S) for S in combinations(range(10), k))
        assert values[k - 1] == pytest.approx(best, rel=1e-9)
        assert solve(MultiGLM(X, Y, "squared"), k).value <= values[k - 1] * (1 + 1e-12)


def test_one_response_is_that_of_one_output():
    from pursuit import GLM

    X, Y = problem(2, q=1)
    one, many = solve(GLM(X, Y[:, 0]), 4), solve(MultiGLM(X, Y, "squared"), 4)
    assert one.support.tolist() == many.support.tolist()
    assert one.value == pytest.approx(many.value, rel=1e-12)


def test_a_copied_column_and_a_constant_one():
    X, Y = problem(3)
    X[:, 5], X[:, 6] = X[:, 4], 2.0
    result = solve(MultiGLM(X, Y, "squared"), 4)
    S = features(result)
    assert result.value == pytest.approx(value(X, Y, S), rel=1e-9)
    assert min(exchanged_values(X, Y, S).values()) >= result.value * (1 - 1e-9)


def test_columns_far_from_zero_take_the_kernel_too():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 520))  # more than have a search at every size
    Y = X[:, [3, 70, 411]] @ rng.standard_normal((3, 3)) + rng.standard_normal((120, 3))
    near, far = MultiGLM(X, Y, "squared"), MultiGLM(X + 1e5, Y, "squared")
    assert problem_of(far) is not None
    one, other = solve(near, 3), solve(far, 3)
    assert np.array_equal(one.support, other.support)
    assert other.value == pytest.approx(one.value, rel=1e-9)
    assert other.optimality == "swap_optimal"
    for here, there in zip(path(near, range(1, 5)), path(far, range(1, 5)), strict=True):
        assert there.value == pytest.approx(here.value, rel=1e-9)
