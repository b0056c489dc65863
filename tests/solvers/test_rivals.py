"""The cost of dropping a unit and its closest rival, against refits of every set."""

import numpy as np
import pytest

from pursuit import GLM, Function, MultiGLM, solve
from pursuit.solvers.exchanges import removals
from pursuit.solvers.rivals import rivals


def by_hand(f, constraint, point):
    """Per unit: cost of dropping, the nearest unit outside, its cost; by refits."""
    units = constraint.units_of(point.support)
    outside = np.setdiff1d(constraint.allowed, units)
    for unit in units:
        rest = np.setdiff1d(units, [unit])
        value = {None: f.refit(constraint.columns_of(rest)).value}
        value |= {int(j): f.refit(constraint.columns_of(np.union1d(rest, [j]))).value for j in outside}
        nearest = min((j for j in value if j is not None), key=value.get)
        yield value[None] - point.value, nearest, value[nearest] - point.value


def data(seed, p=9, n=60, outputs=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + rng.standard_normal((n, 1))
    beta = np.zeros((p, outputs))
    beta[:3] = rng.standard_normal((3, outputs)) + 1
    Y = X @ beta + rng.standard_normal((n, outputs))
    return X, Y[:, 0] if outputs == 1 else Y, rng


def compare(f, result, constraint=None):
    constraint = constraint or result.constraint
    point = f.refit(result.point.support)
    known = rivals(f, constraint, point)
    for i, (drop, nearest, change) in enumerate(by_hand(f, constraint, point)):
        if np.isin(known.units[i], constraint.include):
            assert (known.drop[i], known.rival[i], known.change[i]) == (np.inf, -1, np.inf)
            continue
        assert known.drop[i] == pytest.approx(drop, rel=1e-8, abs=1e-11)
        assert known.change[i] == pytest.approx(change, rel=1e-7, abs=1e-11)
        assert known.rival[i] == nearest
    return known


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("settings", [{}, {"l2": 0.3}, {"fit_intercept": False}, {"standardize": True}], ids=str)
def test_the_squared_loss_is_exact(seed, settings):
    X, y, rng = data(seed)
    f = GLM(X * 10.0 ** rng.integers(-4, 5, 9), y, sample_weight=rng.random(60) + 0.1, **settings)
    assert compare(f, solve(f, 3)).how == "exact"


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_units_change_nothing(size):
    X, y, rng = data(1)
    plain, other = GLM(X, y), GLM(X * size ** rng.choice([-1, 0, 1], 9), y)
    one, two = (rivals(f, f.sparse_set(3), f.refit(np.array([0, 1, 2]))) for f in (plain, other))
    assert np.array_equal(one.rival, two.rival)
    np.testing.assert_allclose(one.drop, two.drop, rtol=1e-9)
    np.testing.assert_allclose(one.change, two.change, rtol=1e-9)


def test_a_solution_that_is_not_the_best_has_a_rival_that_helps():
    X, y, _ = data(0)
    f = GLM(X, y)
    constraint = f.sparse_set(3)
    known = rivals(f, constraint, f.refit(np.array([4, 6, 8])))
    assert known.change.min() < 0


def test_forced_in_and_forbidden_columns():
    X, y, _ = data(1)
    f = GLM(X, y)
    known = compare(f, solve(f, 3, include=[8], exclude=[0, 5]))
    assert not set(known.rival.tolist()) & {0, 5}


@pytest.mark.parametrize("seed", range(3))
def test_groups(seed):
    X, y, _ = data(seed, p=12)
    f = GLM(X, y, l2=0.01)
    known = compare(f, solve(f, 2, groups=[0, 0, 1, 2, 2, 2, 3, 3, 4, 4, 1, 5], include=[3]))
    assert known.how == "exact"
    assert 2 not in known.rival.tolist()  # the group that is forced in


def test_several_outputs():
    X, Y, _ = data(2, outputs=3)
    f = MultiGLM(X, Y, "squared", l2=0.05)
    assert compare(f, solve(f, 2)).how == "exact"


@pytest.mark.parametrize("loss", ["logistic", "poisson", "huber"])
def test_other_losses_are_refitted(loss, monkeypatch):
    X, y, _ = data(3)
    y = {"logistic": y > 0, "poisson": np.round(np.exp(np.clip(y, -2, 2))), "huber": y}[loss]
    f = GLM(X, y, loss, l2=0.01)
    result = solve(f, 3)
    point = f.refit(result.point.support)
    known = rivals(f, result.constraint, point)
    assert known.how == "refitted"
    for i, (drop, _, change) in enumerate(by_hand(f, result.constraint, point)):
        assert known.drop[i] == pytest.approx(drop, rel=1e-6)
        assert known.change[i] >= change - 1e-9
        assert known.change[i] <= drop + 1e-9
    monkeypatch.setattr("pursuit.solvers.rivals.MAX_REFIT_WORK", 0)
    model = rivals(f, result.constraint, point)
    assert model.how == "model"
    np.testing.assert_allclose(model.drop, removals(f, result.constraint, point)[1])


def test_without_units_outside_there_is_no_rival():
    X, y, _ = data(4)
    f = GLM(X, y)
    known = rivals(f, f.sparse_set(9), f.refit(np.arange(9)))
    assert (known.rival == -1).all()
    assert np.isfinite(known.drop).all()


def test_a_duplicate_is_a_rival_at_no_cost():
    X, y, _ = data(5)
    X[:, 7] = -2 * X[:, 0]
    f = GLM(X, y)
    known = rivals(f, f.sparse_set(2, exclude=[7]).with_budget(2), f.refit(np.array([0, 1])))
    assert known.change[0] > 0
    known = rivals(f, f.sparse_set(2), f.refit(np.array([0, 1])))
    assert known.rival[0] == 7
    assert known.change[0] == pytest.approx(0, abs=1e-10)


def test_a_function():
    A = np.random.default_rng(0).standard_normal((6, 6))
    H = A @ A.T + np.eye(6)
    f = Function(lambda x: 0.5 * x @ H @ x - x.sum(), lambda x: H @ x - 1, dim=6)
    result = solve(f, 2)
    known = rivals(f, result.constraint, f.refit(result.point.support))
    for i, (drop, _, change) in enumerate(by_hand(f, result.constraint, f.refit(result.point.support))):
        assert known.drop[i] == pytest.approx(drop, rel=1e-4)
        assert known.change[i] == pytest.approx(change, rel=1e-4, abs=1e-7)
