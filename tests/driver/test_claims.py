"""What a result says of itself: words that go with the claim, budgets that hold, units that are needed."""

import numpy as np
import pytest

import pursuit
from pursuit import GLM, SparseClassifier, SparseRegressor, solve

STRONG = "no single exchange helps"


def data(seed=0, n=60, p=8, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + rng.standard_normal((n, 1))
    return X, X[:, 0] - X[:, 3] + noise * rng.standard_normal(n)


@pytest.mark.parametrize("solver", pursuit.list_solvers())
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_strong_sentence_goes_with_swap_optimal_and_nothing_else(solver, loss):
    X, y = data()
    f = GLM(X, y if loss == "squared" else y > 0, loss, l2=0.05)
    for k in (2, 8):
        result = solve(f, k, solver=solver, random_state=0)
        assert (STRONG in result.reason) == (result.optimality == "swap_optimal")
        assert ("best-ranked" in result.reason) == (result.optimality == "swap_stationary")
        if result.optimality == "stationary":
            assert result.reason
    assert solve(f, 8, solver="grahtp").optimality == "swap_optimal"  # there is nothing to exchange


def test_the_weak_sentence_counts():
    X, y = data(1)
    result = solve(GLM(X, y > 0, "logistic"), 2, solver="local_search")
    assert result.optimality == "swap_stationary"
    assert result.point.n_checked > 0
    many = result.point.n_checked
    assert (f"none of the {many} best-ranked exchanges helps" if many > 1 else "does not help") in result.reason


def test_an_exact_fit_cannot_be_bettered():
    X, _ = data(2)
    result = solve(GLM(X, 2 * X[:, 1]), 3, solver="omp")
    assert result.optimality == "swap_optimal"
    assert STRONG in result.reason


def test_iris_says_what_it_knows():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    result = SparseClassifier(k=2).fit(X, y).result_
    assert (result.optimality == "swap_optimal") == (STRONG in result.reason)


def test_near_duplicates_are_judged_by_refits():
    """Where a candidate is close to a combination of the support's columns the formula is rounding."""
    rng = np.random.default_rng(3)
    a, b, e = rng.standard_normal((3, 50))
    X = np.c_[a, b, a + 1e-8 * e]
    y = a + b + 0.5 * e + 0.1 * rng.standard_normal(50)
    f = GLM(X, y)
    result = solve(f, 2, solver="local_search")
    values = [f.refit(np.array(s)).value for s in ([0, 1], [0, 2], [1, 2])]
    assert result.value == pytest.approx(min(values), rel=1e-9)
    assert result.optimality == "swap_optimal"


# a solver's word is not taken


class Rogue(pursuit.Solver):
    """Gives a good point, then one that it may not give."""

    def __init__(self, bad):
        object.__setattr__(self, "bad", bad)
        object.__setattr__(self, "relax", None)

    def iterate(self, f, constraint, start):
        yield f.refit(np.union1d(constraint.forced, np.array([1], dtype=np.int64)))
        yield self.bad(f)


ROGUES = {
    "too many": (lambda f: f.refit(np.arange(5)), "a point with 5 units, more than k=2 allows", {}),
    "forbidden": (lambda f: f.refit(np.array([0, 3])), "a point that uses what exclude forbids", {"exclude": [0]}),
    "missing": (lambda f: f.refit(np.array([0, 3])), "a point without include", {"include": [4]}),
    "unsorted": (lambda f: f.at(np.array([3, 0]), np.ones(2)), "not a sorted set of columns", {}),
    "no point": (lambda f: "x", "a str, not a point", {}),
}


@pytest.mark.parametrize("name", ROGUES)
def test_a_solver_is_held_to_the_sparse_set(name):
    bad, words, options = ROGUES[name]
    X, y = data(4)
    f = GLM(X, y)
    result = solve(f, 2, solver=Rogue(bad), **options)
    assert result.status == "failed"
    assert "solver 'Rogue' gave" in result.reason
    assert words in result.reason
    assert len(result.support) <= 2
    assert not set(options.get("exclude", ())) & set(result.support.tolist())
    assert set(options.get("include", ())) <= set(result.support.tolist())


# units that are not needed go


def test_an_exact_fit_keeps_only_what_it_needs():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((50, 20))
    assert SparseRegressor(5).fit(X, X[:, 3]).support_.tolist() == [3]
    assert solve(GLM(X, X[:, 3] - X[:, 7]), 6, solver="grahtp").support.tolist() == [3, 7]
    forced = solve(GLM(X, X[:, 3]), 4, include=[0], solver="grahtp")
    assert forced.support.tolist() == [0, 3]


# a user's loss


class Wrong(pursuit.Loss):
    """Its derivative is twice what it should be."""

    name = "wrong"

    def value(self, y, eta):
        return (eta - y) ** 2 / 2

    def d1(self, y, eta):
        return 2 * (eta - y)


class Kinked(pursuit.Loss):
    """Absolute deviations: no derivative at zero, and that is no mistake."""

    name = "kinked"

    def value(self, y, eta):
        return np.abs(eta - y)

    def d1(self, y, eta):
        return np.sign(eta - y)


def test_a_derivative_that_does_not_match_is_found_out():
    X, y = data(6)
    with pytest.raises(ValueError, match=r"loss 'wrong': d1 disagrees with value at y=.*: d1 gives .*, differences"):
        GLM(X, y, Wrong())
    GLM(X, y, Kinked())
    GLM(X, np.round(y), Kinked())
