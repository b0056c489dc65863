import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from pursuit import GLM, Loss, best_subsets, certify, solve
from pursuit.certificates import bounds
from pursuit.certificates.bounds import search_between
from pursuit.certificates.glm_node import GLMNode
from pursuit.certificates.tree import Tree
from pursuit.constraints import AtMost
from pursuit.data import Data
from pursuit.losses import Logistic


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8)) + 0.5 * rng.standard_normal((60, 1))
    y = X[:, :3] @ [1.0, -1.0, 0.5] + rng.standard_normal(60)
    return X, y


def test_coefficients_from_elsewhere(data):
    X, y = data
    objective = GLM(X, y, l2=0.01)
    x = np.zeros(8)
    x[[0, 1, 5]] = 1.0, -1.0, 0.1
    proof = certify(objective, x, k=3, time_limit=10.0)
    assert proof.status == "proved"
    assert proof.result.value == pytest.approx(solve(objective, 3).value)
    assert set(proof.result.support) == {0, 1, 2}


def test_progress_is_shown_and_bounds_close():
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((80, 1))
    X = rng.standard_normal((80, 20)) + 2 * Z
    y = X @ rng.standard_normal(20) + 3 * rng.standard_normal(80)
    objective, seen = GLM(X, y), []
    proof = certify(objective, solve(objective, 6, solver="omp"), time_limit=30.0, progress=seen.append)
    assert proof.status == "proved"
    assert proof.nodes > 1
    assert seen
    lowers = [s.lower for s in seen]
    assert all(s.lower <= s.upper + 1e-9 for s in seen)
    assert max(lowers) >= lowers[0]


def test_errors(data):
    X, y = data
    objective = GLM(X, y, l2=0.1)
    result = solve(objective, 2)
    with pytest.raises(TypeError, match="k is needed"):
        certify(objective, np.zeros(8))
    with pytest.raises(ValueError, match="certify with the objective that was solved"):
        certify(GLM(X, 2 * y, l2=0.1), result)
    with pytest.raises(ValueError, match="8 columns, but the objective has 7 columns"):
        certify(GLM(X[:, :7], y, l2=0.1), result)
    with pytest.raises(ValueError, match="must keep to k=1"):
        certify(objective, result.x, k=1)
    with pytest.raises(ValueError, match="gap"):
        certify(objective, result, gap=0.0)
    with pytest.raises(TypeError, match="needs a GLM"):
        certify(object(), result)


def test_a_loss_without_a_conjugate_gets_no_bound(data):
    X, y = data

    class Quartic(Loss):
        name = "quartic"

        def value(self, y, eta):
            return (eta - y) ** 4

        def d1(self, y, eta):
            return 4 * (eta - y) ** 3

        def d2(self, y, eta):
            return 12 * (eta - y) ** 2

    objective = GLM(X, y, Quartic(), l2=0.1)
    proof = certify(objective, solve(objective, 2))
    assert proof.lower == -np.inf
    assert proof.status == "bounded"
    assert "conjugate" in proof.reason


def test_more_columns_than_rows_without_a_ridge_is_said_to_be_weak():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((10, 15)), rng.standard_normal(10)
    objective = GLM(X, y)
    proof = certify(objective, solve(objective, 2))
    assert proof.status == "bounded"
    assert "ridge" in proof.reason
    assert proof.lower >= -1e-9


def test_best_subsets_equal_enumeration(data):
    import itertools

    X, y = data
    Xc, yc = X - X.mean(0), y - y.mean()
    table = best_subsets(X, y, 5, nbest=3)
    for k in range(1, 6):
        rss = {}
        for s in itertools.combinations(range(8), k):
            A = Xc[:, s]
            rss[s] = float(((yc - A @ np.linalg.lstsq(A, yc, rcond=None)[0]) ** 2).sum())
        expected = sorted(rss, key=rss.get)[:3]
        rows = [row for row in table if row.k == k]
        assert [row.support for row in rows] == expected
        assert [row.rank for row in rows] == [1, 2, 3]
        np.testing.assert_allclose([row.rss for row in rows], [rss[s] for s in expected], rtol=1e-8)
        assert all(row.proved for row in rows)
    assert table.best("rss").k == 5
    assert list(table.to_frame()["k"]) == [row.k for row in table]


def test_criteria_are_the_textbooks(data):
    X, y = data
    n = len(y)
    row = best_subsets(X, y, 2)[1]
    total = float(((y - y.mean()) ** 2).sum())
    full = np.column_stack([np.ones(n), X])
    noise = float(((y - full @ np.linalg.lstsq(full, y, rcond=None)[0]) ** 2).sum()) / (n - 9)
    assert row.r2 == pytest.approx(1 - row.rss / total)
    assert row.adjusted_r2 == pytest.approx(1 - (row.rss / (n - 3)) / (total / (n - 1)))
    assert row.cp == pytest.approx(row.rss / noise - n + 6)
    assert row.aic == pytest.approx(n * np.log(row.rss / n) + 6)
    assert row.bic == pytest.approx(n * np.log(row.rss / n) + 3 * np.log(n))


@pytest.mark.parametrize("groups", [None, np.array([0, 1, 2, 0, 1, 2, 3, 3, 4, 4])])
def test_a_node_is_searched_between_its_sets(groups):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 10))
    f = GLM(X, X[:, 6:].sum(axis=1) + 0.1 * rng.standard_normal(60), l2=0.1)
    constraint = AtMost(2, 10, groups=groups)
    tree = Tree(1e-6, abs, searched=0.0)
    tree.search = partial(search_between, f, constraint)
    root = GLMNode.root(f, constraint, np.zeros(10))
    inside, outside = root.children(np.where(np.arange(len(root.units)) == 3, 0.7, 0.0))
    tree._search_near(outside)
    (found,) = tree.found
    assert 3 not in found
    assert tree.searched > 0
    again = Tree(1e-6, abs, searched=0.0)
    again.search = partial(search_between, f, constraint)
    again._search_near(inside)
    (found,) = again.found
    assert 3 in found
    assert again.upper == pytest.approx(f.refit(constraint.columns_of(np.array(found))).value)


def test_columns_of_other_scales_get_no_false_proof():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 5))
    X[:, -1] *= 1e5
    f = GLM(X, 10 * (X[:, :4] @ [1.0, -1.0, 0.5, 1.0] + rng.standard_t(2, size=30)), "huber")
    proof = certify(f, solve(f, 3, solver="omp"), time_limit=20)
    optimum = min(f.refit(np.array(s)).value for s in itertools.combinations(range(5), 3))
    assert proof.lower <= optimum + 1e-9
    assert proof.status == "proved"


@pytest.mark.parametrize("shift", [1e3, 1e5])
def test_large_means_get_no_wrong_bound(shift):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((30, 5))
        y = X @ [1.0, -1.0, 1.0, 0.0, 0.0] + rng.standard_normal(30)
        exact = GLM(X, y)
        optimum = min(exact.refit(np.array(s)).value for s in itertools.combinations(range(5), 2))
        f = GLM(X + shift, y)
        proof = certify(f, solve(f, 2), time_limit=10)
        assert proof.lower <= optimum * (1 + 1e-6)


def test_a_refit_that_is_not_exact_is_no_bound(monkeypatch):
    rng = np.random.default_rng(0)
    f = GLM(rng.standard_normal((40, 6)), (rng.standard_normal(40) > 0).astype(float), "logistic", l2=0.1)
    result = solve(f, 2)
    refit = GLM.refit
    monkeypatch.setattr(GLM, "refit", lambda self, s, start=None: replace(refit(self, s, start), note="stopped early"))
    proof = certify(f, result, time_limit=5)
    assert proof.lower <= proof.upper
    assert "time_limit" not in proof.reason


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_one_class_and_a_loss_without_a_kernel(label):
    class Slow(Logistic):
        code = None

    f = GLM(np.random.default_rng(0).standard_normal((20, 6)), np.full(20, label), Slow(), l2=0.1)
    assert certify(f, solve(f, 1), time_limit=5).status == "proved"


def test_an_interrupted_search_interrupts_the_proof(monkeypatch):
    rng = np.random.default_rng(5)
    f = GLM(rng.standard_normal((30, 6)), rng.standard_normal(30), l2=0.1)
    stopped = replace(solve(f, 2), status="interrupted")
    monkeypatch.setattr(bounds, "solve", lambda *args, **options: stopped)
    with pytest.raises(KeyboardInterrupt):
        search_between(f, AtMost(2, 6), Tree(1e-6, abs), [], range(6))


def test_a_search_ends_with_the_time_limit():
    rng = np.random.default_rng(5)
    f = GLM(rng.standard_normal((30, 6)), rng.standard_normal(30), l2=0.1)
    tree = Tree(1e-6, abs, deadline=0.0)
    search_between(f, AtMost(2, 6), tree, [], range(6))
    assert len(tree.found) == 1


def test_one_gram_matrix_serves_every_size(data, monkeypatch):
    calls = []
    form = Data.form
    monkeypatch.setattr(Data, "form", lambda *given: calls.append(1) or form(*given))
    X, y = data
    best_subsets(X, y, 5)
    assert len(calls) == 1
    f = GLM(X, y)
    for k in (2, 3, 4):
        assert certify(f, solve(f, k), time_limit=5).status == "proved"
    assert len(calls) == 2


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_ridge_per_column_is_a_ridge(data, loss):
    X, y = data
    y, ridge = y if loss == "squared" else (y > 0).astype(float), np.linspace(0.1, 2.0, 8)
    f = GLM(X, y, loss, l2=ridge)
    best = min(f.refit_on_data(np.array(s)).value for s in itertools.combinations(range(8), 3))
    proof = certify(f, solve(f, 3), time_limit=20)
    assert proof.status == "proved"
    assert proof.upper == pytest.approx(best, rel=1e-9)
    x = np.zeros(8)
    point = f.refit(np.array([1, 4]))
    x[[1, 4]] = point.coef
    plain = GLM(X, y, loss)
    assert point.value == pytest.approx(plain.value(point.support, point.coef, point.free) + 0.5 * x @ (ridge * x))
    with pytest.raises(ValueError, match=r"l2 must be a number, or one per column \(shape \(8,\)\)"):
        GLM(X, y, loss, l2=ridge[:3])
