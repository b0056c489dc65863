"""``Quadratic``: the squared loss from sums is that on the rows, and what sums cannot tell is not claimed."""

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import pursuit
from problems import problem

P, K = 12, 3
GROUPS = np.repeat(["wine", "bread", "salt", "oil", "figs"], [3, 2, 3, 2, 2])


def sums(X, y, weight=None, intercept=True, shift=None, yshift=0.0):
    """What somebody adds up over two blocks, about zero or about a shift."""
    s = np.ones(len(y)) if weight is None else weight
    total = None
    for rows in (slice(0, 9), slice(9, None)):
        A, b, c = X[rows] - (0 if shift is None else shift), y[rows] - yshift, s[rows]
        block = [(A.T * c) @ A, (A.T * c) @ b, float(c @ b**2), c.sum(), c @ A, float(c @ b)]
        total = block if total is None else [mine + new for mine, new in zip(total, block, strict=True)]
    gram, xy, yy, n, mean, ymean = total
    means = {"mean": mean / n, "ymean": ymean / n} if intercept else {}
    return (gram, xy, yy, n), means | ({} if shift is None else {"shift": shift, "yshift": yshift})


def pair(intercept=True, weights=True, l2=0.0, p=P):
    given = problem("squared", p=p, weights=weights)
    args, means = sums(given.X, given.y, given.weight, intercept)
    glm = pursuit.GLM(given.X, given.y, l2=l2, fit_intercept=intercept, sample_weight=given.weight)
    return pursuit.Quadratic(*args, l2=l2, **means), glm


def close(mine, theirs):
    assert np.array_equal(mine.support, theirs.support)
    np.testing.assert_allclose(mine.coef, theirs.coef, rtol=1e-9, atol=1e-11)
    assert mine.value == pytest.approx(theirs.value, rel=1e-10)
    assert mine.intercept == pytest.approx(theirs.intercept, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize(
    "how",
    [{}, {"include": [P - 1], "exclude": [0, 6]}, {"groups": GROUPS}, {"bounds": (-0.5, 0.8)}, {"sum_to": 0.5}],
    ids=lambda how: " ".join(how) or "plain",
)
def test_solutions_are_those_of_the_rows(intercept, l2, how):
    f, g = pair(intercept, l2=l2)
    mine, theirs = pursuit.solve(f, K, **how), pursuit.solve(g, K, **how)
    close(mine, theirs)
    assert mine.optimality == theirs.optimality
    certificate, other = (pursuit.certify(h, r, time_limit=5) for h, r in ((f, mine), (g, theirs)))
    assert certificate.lower <= mine.value * (1 + 1e-12)
    if "groups" in how:  # the perspective bound is one of rows
        assert certificate.status == "bounded"
        assert "the rows lie in parts or are gone" in certificate.reason
    elif "bounds" not in how:
        assert certificate.status == other.status


@pytest.mark.parametrize("solver", sorted(set(pursuit.list_solvers()) - {"svrght", "diht", "sdiht"}))
def test_every_solver_that_needs_no_rows(solver):
    f, g = pair()
    close(pursuit.solve(f, K, solver=solver), pursuit.solve(g, K, solver=solver))


@pytest.mark.parametrize("solver", ["svrght", "diht", "sdiht"])
def test_solvers_that_look_at_rows_are_refused(solver):
    with pytest.raises(TypeError, match="looks at rows one by one, and a Quadratic has only their sums"):
        pursuit.solve(pair(l2=0.1)[0], K, solver=solver)


@pytest.mark.parametrize("p", [P, 120])
def test_paths_are_those_of_the_rows(p):
    f, g = pair(p=p)
    mine, theirs = pursuit.path(f, range(9)), pursuit.path(g, range(9))
    for one, other in zip(mine, theirs, strict=True):
        close(one, other)
    if p == P:
        assert mine.certify(f, time_limit=10).proved == theirs.certify(g, time_limit=10).proved


def test_best_subsets_takes_an_objective():
    f, g = pair(weights=False)
    given = problem("squared", p=P)
    mine, theirs = pursuit.best_subsets(f, kmax=4, nbest=2), pursuit.best_subsets(given.X, given.y, 4, 2)
    assert [row.support for row in mine] == [row.support for row in theirs]
    assert all(row.proved for row in mine)
    np.testing.assert_allclose([row.bic for row in mine], [row.bic for row in theirs])
    assert str(mine) == str(theirs) == str(pursuit.best_subsets(g, kmax=4, nbest=2))
    with pytest.raises(TypeError, match="kmax is missing"):
        pursuit.best_subsets(f)
    with pytest.raises(TypeError, match="an objective brings its own"):
        pursuit.best_subsets(f, given.y, 3)


@pytest.mark.parametrize("far", [1e3, 1e8])
def test_sums_about_a_common_shift_keep_their_digits(far):
    """Means of a hundred million spreads: about any row the sums are as good as about the means."""
    given = problem("squared", p=P)
    X, y = given.X + far, given.y - 3 * far
    args, means = sums(X, y, shift=X[5], yshift=y[5])
    mine, theirs = pursuit.solve(pursuit.Quadratic(*args, **means), K), pursuit.solve(pursuit.GLM(X, y), K)
    assert np.array_equal(mine.support, theirs.support)
    assert mine.optimality == "swap_optimal"
    np.testing.assert_allclose(mine.coef, theirs.coef, rtol=1e-9)
    assert mine.intercept == pytest.approx(theirs.intercept, rel=1e-9)
    args, means = sums(X, y)
    if far == 1e8:
        with pytest.raises(ValueError, match="common shift"):
            pursuit.Quadratic(*args, **means)
    else:  # about zero they lose a few, and the proof of exchanges with them, but not the solution
        near = pursuit.solve(pursuit.Quadratic(*args, **means), K)
        np.testing.assert_allclose(near.x, theirs.x, rtol=1e-6, atol=1e-6)


def best_of_rows(X, y, support):
    A = np.column_stack([np.ones(len(y)), X[:, list(support)]])
    Q = np.linalg.qr(A)[0]
    return float(np.sum((y - Q @ (Q.T @ y)) ** 2)) / (2 * len(y))


def swaps(X, y, support):
    out = [j for j in range(X.shape[1]) if j not in support]
    return min(best_of_rows(X, y, [*(set(support) - {i}), j]) for i in support for j in out)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("step", [1e-3, 1e-5, 1e-7, 1e-9])
def test_no_claim_that_the_rows_refute(seed, step):
    """A column that differs from another by a little of what is wanted: the Gram matrix hardly sees it."""
    rng = np.random.default_rng([seed, 5])
    X = rng.standard_normal((60, 6))
    y = X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(60)
    residual = y - X[:, :2] @ np.linalg.lstsq(X[:, :2], y, rcond=None)[0]
    X[:, 2] = X[:, 0] + step * residual / residual.std()
    args, means = sums(X, y)
    f = pursuit.Quadratic(*args, **means)
    for k in (1, 2, 3):
        result = pursuit.solve(f, k)
        certificate = pursuit.certify(f, result, time_limit=2)
        best = min(best_of_rows(X, y, S) for S in combinations(range(6), k))
        value = best_of_rows(X, y, result.support)
        room = 1e-6 * value + 1e-13
        if result.optimality == "swap_optimal":
            assert swaps(X, y, result.support) >= value - room
        assert certificate.lower <= best + room
        if certificate.status == "proved":
            assert best_of_rows(X, y, certificate.result.support) <= best + room
    for result in pursuit.path(f, range(1, 4)):
        if result.optimality == "swap_optimal":
            value = best_of_rows(X, y, result.support)
            assert swaps(X, y, result.support) >= value - 1e-6 * value - 1e-13


@pytest.mark.parametrize("far", [10.0, 1e3, 3e4])
@pytest.mark.parametrize("seed", range(3))
def test_no_claim_that_digits_lost_about_zero_refute(seed, far):
    rng = np.random.default_rng([seed, 6])
    X = rng.standard_normal((50, 8)) + far * rng.standard_normal(8)
    X[:, 3] = X[:, 0] + 1e-4 * rng.standard_normal(50)
    y = X[:, 0] + X[:, 1] + 1e-3 * rng.standard_normal(50)
    args, means = sums(X, y)
    f = pursuit.Quadratic(*args, **means)
    shifted = X - X[0]
    for result in [pursuit.solve(f, 2), *pursuit.path(f, [1, 2, 3])]:
        value = best_of_rows(shifted, y, result.support)
        if result.optimality == "swap_optimal":
            assert swaps(shifted, y, result.support) >= value * (1 - 1e-9)
        certificate = pursuit.certify(f, result, time_limit=1)
        best = min(best_of_rows(shifted, y, S) for S in combinations(range(8), len(result.support)))
        if certificate.status == "proved":
            assert value <= best * (1 + 1e-5)


def test_a_proof_knows_what_sums_about_zero_have_lost():
    """Two columns 77000 spreads from zero that differ by a thousandth: what their difference explains is not seen."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((13, 5))
    y = X[:, 1] + rng.standard_normal(13)
    residual = y - y.mean()
    X[:, 3] = X[:, 0] + 1e-3 * residual
    X[:, [0, 3]] += 7.7e4
    args, means = sums(X, y)
    for row in pursuit.best_subsets(pursuit.Quadratic(*args, **means), kmax=3):
        best = min(best_of_rows(X - X[0], y, S) for S in combinations(range(5), row.k))
        assert not row.proved or best_of_rows(X - X[0], y, row.support) <= best * (1 + 1e-6)


def test_copies_and_exact_fits():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 6))
    X[:, 4] = X[:, 1]
    y = X[:, :3] @ [1.0, 2.0, 3.0] + 1.0
    args, means = sums(X, y)
    result = pursuit.solve(pursuit.Quadratic(*args, **means), 5)
    assert result.value < 1e-12
    np.testing.assert_allclose(X @ result.x + result.intercept, y, atol=1e-6)
    two = pursuit.solve(pursuit.Quadratic(*args, **means), 2, include=[1, 4])
    assert "do not tell the chosen columns apart" in two.reason
    assert two.optimality != "swap_optimal"


def test_names_units_and_pickles():
    given = problem("squared", p=P)
    names = [f"x{j}" for j in range(P)]
    (gram, *rest), means = sums(given.X, given.y)
    by_frame = pursuit.Quadratic(pd.DataFrame(gram, index=names, columns=names), *rest, **means)
    f = pursuit.Quadratic(gram, *rest, **means, names=names)
    one = pursuit.solve(f, K, include=["x2"])
    assert one.names == pursuit.solve(by_frame, K, include=["x2"]).names
    assert "x2" in one.names
    assert f"{len(given.y)} rows" in str(pursuit.summary(f, one))
    again = pickle.loads(pickle.dumps(f))
    close(pursuit.solve(again, K, include=["x2"]), one)
    start = pursuit.solve(f, K, include=["x2"], start=one.x, solver="grahtp")
    assert start.value <= one.value * (1 + 1e-12)
    weighted = f.at(one.point.support, one.point.coef, one.point.free + 1.0).value  # the intercept is one's own
    assert weighted == pytest.approx(one.value + 0.5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gram": np.ones((2, 3))}, "gram must be a square matrix"),
        ({"gram": np.array([[1.0, 0.5], [0.2, 1.0]])}, "gram must be symmetric"),
        ({"gram": np.array([[1.0, np.nan], [np.nan, 1.0]])}, "gram contains NaN"),
        ({"gram": np.array([[1.0, 2.0], [2.0, 1.0]])}, "positive semidefinite"),
        ({"gram": -np.eye(2)}, "negative number on its diagonal"),
        ({"xy": np.ones(3)}, "xy must have one entry per column"),
        ({"xy": np.array([3.0, 0.0])}, "yy is too small for xy"),
        ({"yy": 0.1}, "yy is too small for xy"),
        ({"yy": -1.0}, "yy must be a finite number at least 0"),
        ({"n": 0}, "n must be a finite number greater than 0"),
        ({"n": "many"}, "n must be a number"),
        ({"names": ["a"]}, "names must name the 2 columns"),
        ({"mean": np.zeros(2)}, "mean and ymean go together"),
        ({"mean": np.ones(3), "ymean": 0.0}, "mean must have one entry per column"),
        ({"mean": np.array([9.0, 0.0]), "ymean": 0.0}, "mean is too large for gram and n in column 0"),
        ({"mean": np.zeros(2), "ymean": 9.0}, "ymean is too large for yy"),
        ({"mean": np.array([np.sqrt(0.5), 0.0]), "ymean": 0.0}, "constant columns are to be left out"),
        ({"shift": np.ones(2)}, "shift and yshift need an intercept"),
        ({"l2": -1.0}, "l2 must be"),
    ],
)
def test_what_is_wrong_is_said(change, words):
    given = {"gram": np.eye(2), "xy": np.array([0.5, 0.0]), "yy": 1.0, "n": 2, **change}
    with pytest.raises((ValueError, TypeError), match=words):
        pursuit.Quadratic(given.pop("gram"), given.pop("xy"), given.pop("yy"), given.pop("n"), **given)


def test_rows_that_are_gone_are_not_given():
    f = pair()[0]
    for ask in (
        lambda: f.data.take(np.arange(3), 1.0),
        lambda: f.data.folds(np.zeros(3)),
        lambda: f.data.scaled(2.0),
    ):
        with pytest.raises(TypeError, match="sums hold no rows"):
            ask()
