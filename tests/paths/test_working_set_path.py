"""Paths of losses other than the squared one on a working set of columns that goes along from size to size."""

from itertools import combinations, pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from problems import KINDS
from pursuit import GLM, solve
from pursuit.kernels.path import PathPlan
from pursuit.objectives.glm_path import _on_columns, _on_working_set, glm_path
from pursuit.paths import every_size, path

LOSSES = ("logistic", "poisson", "huber", "smoothed_hinge", "squared_hinge")


def data(loss, n=90, p=9, seed=0, true=(1, 4, 6)):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, p)) + 0.7 * rng.standard_normal((n, 1)), 2)
    eta = X[:, list(true)] @ np.resize([1.0, -0.8, 0.6], len(true))
    if loss == "poisson":
        return X, rng.poisson(np.exp(0.5 * eta)).astype(float)
    if loss == "huber":
        return X, eta + rng.standard_t(2, n)
    return X, (eta + rng.logistic(size=n) > 0).astype(float)


def _all_columns(f, constraint, plan):
    return _on_columns(f, constraint, plan, None)


def light(reached=None):
    return PathPlan(False, 0, lambda: False, reached)


@pytest.mark.parametrize("settings", [{"l2": 0.02}, {"l2": 0.02, "fit_intercept": False, "standardize": True}])
@pytest.mark.parametrize("loss", LOSSES)
def test_small_sizes_are_near_the_best_of_all(loss, settings):
    X, y = data(loss)
    rng = np.random.default_rng(1)
    weight, offset = rng.uniform(0.2, 2, len(y)), 0.2 * rng.standard_normal(len(y))
    f = GLM(X, y, loss, sample_weight=weight, offset=offset, **settings)
    found = glm_path(f, f.sparse_set(4), light()).by_size()
    assert sorted(found) == list(range(5))
    for k in (1, 2, 3):
        best = min(f.refit(np.array(S)).value for S in combinations(range(9), k))
        assert best * (1 - 1e-7) <= found[k].value <= best * (1 + 1e-3)
        at = found[k]
        assert f.at(at.support, at.coef, at.free).value == pytest.approx(at.value, rel=1e-9)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "operator"])
def test_every_layout_has_the_same_path(kind):
    X, y = data("logistic", 80, 120)
    X[np.abs(X) < 1.5] = 0.0
    X = X.astype(np.float32).astype(float)
    f, g = (GLM(layout, y, "logistic", l2=0.01) for layout in (X, KINDS[kind](X)))
    one, other = (glm_path(h, h.sparse_set(12), light()).points for h in (f, g))
    assert len(one) == len(other) == 13
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.support, b.support)
        np.testing.assert_allclose(a.coef, b.coef, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_column_that_only_others_bring_out_joins(sparse):
    """Its gradient at the null model is next to nothing: only a later pass over X can find it."""
    rng = np.random.default_rng(1)
    n, p = 400, 800
    X = rng.standard_normal((n, p))
    X[:, 1] = X[:, 0] + 0.5 * X[:, 1]
    y = (3 * X[:, 0] - 2.4 * X[:, 1] + 0.3 * rng.logistic(size=n) > 0).astype(float)
    f = GLM(sp.csr_array(X) if sparse else X, y, "logistic")
    place = np.argsort(-np.abs(f.null.gradient)).tolist().index(1)
    assert place > 60  # beyond every working set of the null model
    found = glm_path(f, f.sparse_set(3), light()).by_size()
    assert set(found[2].support) == {0, 1}


@pytest.mark.parametrize("loss", LOSSES)
def test_wide_paths_are_no_worse_than_with_all_columns_in_view(loss):
    X, y = data(loss, 70, 500, seed=3, true=range(8))
    f = GLM(X, y, loss, l2=0.05)
    few, everything = (kernel(f, f.sparse_set(8), light()).points for kernel in (_on_working_set, _all_columns))
    for one, other in zip(few, everything, strict=True):
        assert one.value <= other.value + 1e-7 * f.height


def test_forced_and_excluded_columns():
    X, y = data("logistic", 70, 300)
    f = GLM(X, y, "logistic", l2=0.01)
    found = every_size(f, f.sparse_set(6, include=[17, 200], exclude=[1, 4]))
    assert sorted(found) == list(range(2, 7))
    for point in found.values():
        assert {17, 200} <= set(point.support)
        assert not {1, 4} & set(point.support)


def test_a_path_stops_where_a_callback_says_so():
    X, y = data("poisson", 70, 300)
    f, seen = GLM(X, y, "poisson", l2=0.01), []

    def reached(k, value):
        seen.append((k, value))
        return k == 3

    found = glm_path(f, f.sparse_set(8), light(reached))
    assert found.stopped
    assert [k for k, _ in seen] == list(range(4))
    assert [at.value for at in found.points] == [value for _, value in seen]


def test_what_a_callback_raises_ends_the_path():
    X, y = data("logistic", 70, 300)
    f = GLM(X, y, "logistic", l2=0.01)

    def reached(k, value):
        raise KeyboardInterrupt

    found = glm_path(f, f.sparse_set(8), light(reached))
    assert found.stopped
    assert isinstance(found.trouble, KeyboardInterrupt)


def test_separable_classes_end_the_kernel_and_not_the_path():
    X, y = data("logistic", 40, 60)
    f = GLM(X, y, "logistic")
    found = every_size(f, f.sparse_set(25))
    values = np.array([found[k].value for k in range(26)])
    assert (np.diff(values) <= 0).all()
    assert values[-1] <= 1e-6
    assert len(found[25].support) <= 25


def test_columns_without_use_are_left_alone():
    X, y = data("logistic", 60, 200)
    X[:, 0], X[:, 2], X[:, 3] = 0.0, 1.0, X[:, 4]
    X[:, 5] = 0.0
    X[7, 5] = 1.0  # of one non-zero
    f = GLM(X, y, "logistic", l2=0.01)
    found = every_size(f, f.sparse_set(10))
    used = set(found[10].support)
    assert not {0, 2} & used
    assert not {3, 4} <= used


def test_huge_counts():
    X, y = data("poisson", 60, 100)
    f = GLM(X, 1e9 * (y + 1), "poisson", l2=0.01)
    values = [point.value for point in every_size(f, f.sparse_set(5)).values()]
    assert np.isfinite(values).all()
    assert values == sorted(values, reverse=True)


def test_public_paths_of_large_data_use_it(monkeypatch):
    monkeypatch.setattr("pursuit.kernels.search.MAX_SMALL_ENTRIES", 1000)
    X, y = data("logistic", 70, 300, seed=2)
    f = GLM(X, y, "logistic", l2=0.01)
    found = path(f, range(7))
    assert found.status == "converged"
    light_values = [at.value for at in glm_path(f, f.sparse_set(6), light()).points]
    for k in range(7):
        assert found.at(k).value <= light_values[k] * (1 + 1e-9)


@pytest.mark.parametrize("seed", [2, 6])
def test_it_is_no_worse_than_matching_pursuit(seed):
    """Few rows and many columns: models on a working set miss what the largest gradient finds."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((70, 500))
    y = (X[:, :6].sum(axis=1) + rng.logistic(size=70) > 0).astype(float)
    f = GLM(X, y, "logistic", l2=1e-3)
    sizes = range(1, 9)
    found = path(f, sizes, effort="fast")
    for k, at in zip(sizes, found, strict=True):
        assert at.value <= solve(f, k, solver="omp").value * (1 + 1e-9)


def test_columns_whose_rows_are_all_separated_do_not_end_a_path():
    """Words of one class only: their coefficients have no end, and the curvature along them is rounding."""
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.5).astype(float)
    shares = np.where(y[:, None] == 1, rng.uniform(0, 0.03, 400), rng.uniform(0, 0.03, 400))
    shares[:, :200] *= y[:, None]
    f = GLM(sp.csr_array((rng.random((2000, 400)) < shares).astype(float)), y, "logistic")
    found = glm_path(f, f.sparse_set(12), light()).by_size()
    assert list(found) == list(range(13))
    values = [at.value for at in found.values()]
    assert all(more < less for less, more in pairwise(values))
