"""SparsePrecisionCV: it chooses what the rule chooses, whatever the units, the order of grids and the threads."""

import numpy as np
import pytest
from sklearn.covariance import log_likelihood
from sklearn.model_selection import KFold

from pursuit import SparsePrecision, SparsePrecisionCV
from pursuit.selection.graphs import Parted, choose_graph

EDGES, SHRINKAGES, L1S = [0, 3, 6, 9, 14, 20], [0.0, 0.2], [0.0, 0.05, 0.1]


def rows(n):
    """Eight columns in a chain, on scales of their own."""
    rng = np.random.default_rng(5)
    W = np.eye(8) + 0.4 * (np.eye(8, k=1) + np.eye(8, k=-1))
    return rng.standard_normal((n, 8)) @ np.linalg.cholesky(np.linalg.inv(W)).T * 10.0 ** np.arange(-4, 4) + 3.0


@pytest.fixture(scope="module")
def X():
    return rows(70)


@pytest.fixture(scope="module")
def pairs(X):
    return list(KFold(4, shuffle=True, random_state=1).split(X))


@pytest.fixture(scope="module")
def fitted(X, pairs):
    return SparsePrecisionCV(EDGES, SHRINKAGES, L1S, cv=pairs).fit(X)


def chosen(model):
    return model.n_edges_, model.shrinkage_, model.l1_


def test_it_chooses_by_the_rule_and_fits_all_rows(X, pairs, fitted):
    folds = []
    for train, test in pairs:
        apart = X[test] - X[train].mean(axis=0)
        folds.append(Parted(np.cov(X[train].T, bias=True), 8, apart.T @ apart / len(test), len(test)))
    want = choose_graph(folds, sizes=EDGES, shrinkages=SHRINKAGES, l1s=L1S)
    assert chosen(fitted) == (want.k, want.shrinkage, want.l1)
    alone = SparsePrecision(want.k, shrinkage=want.shrinkage, l1=want.l1).fit(X)
    assert np.allclose(fitted.precision_, alone.precision_, rtol=1e-6, atol=0)
    assert fitted.adjacency_.sum() == 2 * want.k


def test_the_table_has_likelihoods_of_held_out_rows_in_the_units_of_x(X, pairs, fitted):
    table = fitted.cv_results_
    assert {len(column) for column in table.values()} == {len(table["n_edges"])}
    assert all(np.isfinite(column).all() for column in table.values())
    row = np.flatnonzero((table["n_edges"] == 6) & (table["shrinkage"] == 0) & (table["l1"] == 0.05))[0]
    for v, (train, test) in enumerate(pairs):
        alone = SparsePrecision(6, l1=0.05).fit(X[train])
        assert table[f"split{v}_test_score"][row] == pytest.approx(alone.score(X[test]), abs=2e-3)
        apart = X[test] - X[train].mean(axis=0)
        direct = log_likelihood(apart.T @ apart / len(test), alone.precision_)
        assert table[f"split{v}_test_score"][row] == pytest.approx(direct, abs=2e-3)


def test_units_do_not_matter(X, pairs, fitted):
    scales = np.geomspace(1e-3, 1e3, 8)
    again = SparsePrecisionCV(EDGES, SHRINKAGES, L1S, cv=pairs).fit(X * scales - 7.0)
    assert chosen(again) == chosen(fitted)
    assert np.allclose(again.precision_ * np.outer(scales, scales), fitted.precision_, rtol=1e-5, atol=0)


def test_order_of_grids_and_threads_do_not_matter(X, pairs, fitted):
    again = SparsePrecisionCV(EDGES[::-1], SHRINKAGES[::-1], L1S[::-1], cv=pairs, n_jobs=2).fit(X)
    assert chosen(again) == chosen(fitted)
    assert np.array_equal(again.precision_, fitted.precision_)


@pytest.mark.parametrize("fixed", [{"n_edges": 5}, {"shrinkage": 0.15}, {"l1": 0.03}, {"l1": 0}])
def test_a_number_fixes_one(X, fixed):
    model = SparsePrecisionCV(**{"n_edges": [4, 8], "shrinkage": [0, 0.1], "l1": [0, 0.05], **fixed}, cv=3).fit(X)
    ((name, value),) = fixed.items()
    assert set(model.cv_results_[name]) == {value}
    assert getattr(model, f"{name}_") == value


def test_a_number_of_folds_shuffles_by_the_seed(X):
    first, same, other = (SparsePrecisionCV([2, 7], 0.1, 0, cv=3, random_state=seed).fit(X) for seed in (0, None, 1))
    assert np.array_equal(first.cv_results_["mean_test_score"], same.cv_results_["mean_test_score"])
    assert not np.array_equal(first.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])


def test_whole_weights_are_rows_repeated(X):
    weights = np.arange(len(X)) % 3
    repeated = np.repeat(X, weights, axis=0)
    weighed = SparsePrecisionCV(EDGES, 0, 0, rule="ebic").fit(X, sample_weight=weights)
    again = SparsePrecisionCV(EDGES, 0, 0, rule="ebic").fit(repeated)
    assert np.allclose(weighed.cv_results_["ebic"], again.cv_results_["ebic"])
    assert np.allclose(weighed.precision_, again.precision_, rtol=1e-5)


def test_rules_are_ordered_on_a_clear_chain():
    X, kinds = rows(400), ("ebic", "1se", "min")
    few, near, best = (SparsePrecisionCV(range(29), 0, 0, cv=5, rule=rule).fit(X) for rule in kinds)
    assert near.n_edges_ <= best.n_edges_
    assert few.n_edges_ == 7
    assert (np.triu(few.adjacency_, 1).sum(axis=1)[:-1] == 1).all()
    assert "EBIC" in few.reason_
    assert "one standard error" in near.reason_
    assert "held-out" in best.reason_


def test_the_end_of_a_grid_is_said_and_a_default_goes_on(X):
    assert "n_edges=3 is the largest that was tried" in SparsePrecisionCV([1, 3], 0, 0, cv=3).fit(X).reason_
    assert "largest" not in SparsePrecisionCV(cv=3, shrinkage=0, l1=0).fit(X).reason_


def test_include_and_exclude_by_name_hold(X):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = SparsePrecisionCV([0, 4, 7], [0.1], [0.0], cv=3, include=[("a", "h")], exclude=[("c", "d")]).fit(frame)
    assert model.adjacency_[0, 7]
    assert not model.adjacency_[2, 3]
    assert model.cv_results_["n_edges"].min() == 1  # what is included is always there


def test_fewer_rows_than_columns():
    X = np.random.default_rng(0).standard_normal((12, 20))
    model = SparsePrecisionCV(cv=3).fit(X)
    assert np.linalg.eigvalsh(model.precision_)[0] > 0
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n_edges": -1}, "n_edges"),
        ({"n_edges": []}, "n_edges is empty"),
        ({"n_edges": "many"}, "n_edges must be"),
        ({"shrinkage": 1.5}, "shrinkage"),
        ({"l1": [-0.1]}, "l1"),
        ({"cv": 1}, "cv must be"),
        ({"rule": "best"}, "rule"),
        ({"gamma": -1.0}, "gamma"),
        ({"include": [(0, 1)], "exclude": [(1, 0)]}, "overlap"),
    ],
)
def test_errors_name_the_argument(X, given, words):
    with pytest.raises((TypeError, ValueError), match=words):
        SparsePrecisionCV(**given).fit(X)


def test_a_column_that_is_constant_in_a_fold_is_named(X):
    flat = X.copy()
    flat[:-1, 4] = 1.0
    with pytest.raises(ValueError, match="column 4 is constant in the rows that fold"):
        SparsePrecisionCV(cv=[(np.arange(60), np.arange(60, 70))]).fit(flat)


def test_l1_is_not_lowered_to_what_no_fold_has_tried():
    rng = np.random.default_rng(9)
    X = rng.standard_normal((26, 20)) @ (np.eye(20) + 0.5 * rng.standard_normal((20, 20)))
    model = SparsePrecisionCV(72, 0.6, [0.0, 0.17], cv=4).fit(X)  # folds have fewer rows than columns, all rows do not
    assert chosen(model) == (71, 0.6, 0.17)
    assert "l1=0.17 sets 1 of the 72 edges to zero" in model.reason_


def test_more_edges_than_there_can_be_are_capped_and_said(X):
    model = SparsePrecisionCV([3, 99], 0.1, 0.0, cv=3).fit(X)
    assert "n_edges=99 was capped at the 28 edges there can be" in model.reason_
    assert model.cv_results_["n_edges"].max() == 28


def test_copies_of_columns_are_said(X):
    copied = np.column_stack([X, -2.0 * X[:, 1]])
    for shrinkage in (0.0, 0.3):
        assert (
            "the same but for their units (1 and 8)" in SparsePrecisionCV([3], shrinkage, 0, cv=3).fit(copied).reason_
        )
