"""SparsePrecision: what it promises of the matrix, of units, names and weights, and what it says of bad input."""

import pickle
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance
from sklearn.exceptions import NotFittedError

from pursuit import LogDet, SparsePrecision, save_model, solve, stability
from pursuit.estimators.graph import edges as edges_module
from pursuit.refits.graph import graph_refit

P = 8
NAMES = list("abcdefgh")
CHAIN = 2 * np.eye(P) - 0.8 * (np.eye(P, k=1) + np.eye(P, k=-1))
X = np.random.default_rng(0).multivariate_normal(np.arange(P), np.linalg.inv(CHAIN), size=200)
FRAME = pd.DataFrame(X, columns=NAMES)
S = np.cov(X.T, bias=True)
SCALES = np.sqrt(S.diagonal())


def off(matrix):
    return matrix[np.triu_indices(len(matrix), 1)]


@pytest.mark.parametrize("given", [{}, {"shrinkage": 0.3}, {"l1": 0.02}, {"shrinkage": 0.2, "l1": 0.05}])
def test_the_matrix_is_positive_definite_and_zero_exactly_off_the_edges(given):
    model = SparsePrecision(9, **given).fit(X)
    assert np.linalg.eigvalsh(model.precision_)[0] > 0
    assert np.array_equal(model.precision_, model.precision_.T)
    assert np.array_equal(off(model.precision_) != 0, off(model.adjacency_))
    assert model.adjacency_.sum() == 2 * model.n_edges_ == 2 * len(model.edges_) == 18
    assert np.allclose(model.precision_ @ model.covariance_, np.eye(P), atol=1e-9)
    assert np.allclose(model.location_, X.mean(axis=0))
    assert model.get_precision() is model.precision_


@pytest.mark.parametrize("t", [0.0, 0.25])
def test_the_inverse_is_the_covariance_on_edges(t):
    model = SparsePrecision(9, shrinkage=t).fit(X)
    apart = (np.linalg.inv(model.precision_) - (1 - t) * S) / np.outer(SCALES, SCALES)
    assert np.abs(apart[model.adjacency_]).max() < 1e-8
    assert np.abs(apart.diagonal() - t).max() < 1e-8


def test_a_complete_graph_is_the_empirical_covariance():
    model, plain = SparsePrecision(P * (P - 1) // 2).fit(X), EmpiricalCovariance().fit(X)
    assert np.allclose(model.precision_, plain.precision_, rtol=1e-7, atol=1e-8)
    assert model.score(X) == pytest.approx(plain.score(X))
    assert np.allclose(model.mahalanobis(X), plain.mahalanobis(X))
    assert model.error_norm(plain.covariance_) < 1e-12
    far = model.error_norm(pd.DataFrame(S + np.eye(P)), norm="spectral", scaling=False, squared=False)
    assert far == pytest.approx(1)


def test_it_finds_the_chain():
    assert off(SparsePrecision(P - 1).fit(X).adjacency_).tolist() == off(CHAIN != 0).tolist()


def test_columns_in_another_order_or_unit_change_nothing_else():
    model = SparsePrecision(10, l1=0.03, shrinkage=0.1).fit(X)
    order = np.random.default_rng(1).permutation(P)
    shuffled = SparsePrecision(10, l1=0.03, shrinkage=0.1).fit(X[:, order])
    assert np.allclose(shuffled.precision_, model.precision_[np.ix_(order, order)], atol=1e-7)
    units = 10.0 ** np.arange(-4, P - 4)
    scaled = SparsePrecision(10, l1=0.03, shrinkage=0.1).fit(X * units + 3)
    assert np.array_equal(scaled.adjacency_, model.adjacency_)
    assert np.allclose(scaled.precision_ * np.outer(units, units), model.precision_, atol=1e-7)
    assert np.allclose(scaled.edges_["gain"], model.edges_["gain"], atol=1e-8)


def test_samples_and_their_covariance_give_the_same():
    model = SparsePrecision(9).fit(FRAME)
    other = SparsePrecision(9).from_covariance(FRAME.cov(ddof=0), n_samples=len(X))
    assert np.allclose(other.precision_, model.precision_, rtol=1e-7, atol=1e-9)
    assert list(other.feature_names_in_) == NAMES
    assert not other.location_.any()
    assert SparsePrecision(2).from_covariance(S, names=NAMES).edges_["source"][0] in NAMES


def test_l1_comes_after_the_search():
    plain = SparsePrecision(9, shrinkage=0.2).fit(X)
    model = SparsePrecision(9, shrinkage=0.2, l1=0.05).fit(X)
    assert np.array_equal(model.result_.support, plain.result_.support)
    fit = graph_refit(S / np.outer(SCALES, SCALES), model.result_.support, l1=0.05)
    assert np.allclose(model.precision_ * np.outer(SCALES, SCALES), fit.W)
    strong = SparsePrecision(9, l1=0.35).fit(X)
    assert strong.n_edges_ < 9
    assert f"l1=0.35 sets {9 - strong.n_edges_} of the 9 edges to zero" in strong.reason_


@pytest.mark.parametrize("given", [{}, {"l1": 0.05}, {"eigenvalues": (0.5, 2.5)}])
def test_gain_is_what_dropping_an_edge_costs(given, monkeypatch):
    model = SparsePrecision(6, **given).fit(FRAME)
    table, bounds = model.edges_, {name: given[name] for name in given if name != "l1"}
    assert model.gains_are_exact_
    assert (np.diff(table["gain"]) <= 0).all()
    f = LogDet(FRAME.cov(ddof=0), **bounds)
    for row in table.itertuples():
        kept = [pair for pair in model.result_.support.tolist() if pair != sorted(map(NAMES.index, row[1:3]))]
        if "l1" in given:
            without = graph_refit(f.R, kept, l1=0.05).value - graph_refit(f.R, model.result_.support, l1=0.05).value
        else:
            without = solve(f, 5, include=kept).value - model.result_.value
        assert row.gain == pytest.approx(without, abs=1e-6)
        i, j = NAMES.index(row.source), NAMES.index(row.target)
        W = model.precision_
        assert row.precision == W[i, j]
        assert row.partial_correlation == pytest.approx(-W[i, j] / np.sqrt(W[i, i] * W[j, j]))
    monkeypatch.setattr(edges_module, "MAX_EXACT_WORK", 0)
    bound = SparsePrecision(6, **given).fit(FRAME)
    assert not bound.edges_.empty
    assert not bound.gains_are_exact_
    if not given:
        both = bound.edges_.merge(table, on=["source", "target"])
        assert len(both) == 6
        assert (both["gain_x"] >= both["gain_y"] - 1e-9).all()
        least = -np.log(1 - both["partial_correlation_x"] ** 2)
        assert (both["gain_y"] >= least - 1e-9).all()


def test_the_table_needs_no_pandas(monkeypatch):
    model = SparsePrecision(3).fit(X)
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = model.edges_
    assert list(table) == ["source", "target", "precision", "partial_correlation", "gain"]
    assert all(len(column) == 3 for column in table.values())
    assert table["source"].dtype.kind == "i"


def test_networkx():
    pytest.importorskip("networkx")
    model = SparsePrecision(7).fit(FRAME)
    graph = model.to_networkx()
    assert list(graph) == NAMES
    assert graph.number_of_edges() == 7
    for row in model.edges_.itertuples():
        held = graph.edges[row.source, row.target]
        assert held == {"weight": row.partial_correlation, "sign": 1, "precision": row.precision}
    assert list(SparsePrecision(1).fit(X).to_networkx()) == list(range(P))


def test_without_networkx_it_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r'to_networkx needs networkx: pip install "pursuit\[graph\]"'):
        SparsePrecision(1).fit(X).to_networkx()


def test_edges_that_must_and_must_not_be_there():
    model = SparsePrecision(7, include=[("a", "h")], exclude=[("b", "a"), (2, 3)]).fit(FRAME)
    assert model.adjacency_[0, 7]
    assert not model.adjacency_[0, 1]
    assert not model.adjacency_[2, 3]
    assert model.n_edges_ == 7
    mask = np.abs(np.subtract.outer(np.arange(P), np.arange(P))) != 1
    assert np.array_equal(SparsePrecision(7, exclude=mask).fit(X).adjacency_, CHAIN - 2 * np.eye(P) != 0)


def test_kinds_of_input():
    model = SparsePrecision(5).fit(FRAME)
    polars = SparsePrecision(5).fit(pl.DataFrame({name: FRAME[name].to_numpy() for name in NAMES}))
    assert np.array_equal(polars.precision_, model.precision_)
    assert list(polars.feature_names_in_) == NAMES
    single = SparsePrecision(5).fit(X.astype(np.float32))
    assert np.allclose(single.precision_, model.precision_, rtol=1e-4)
    assert single.score(X.astype(np.float32)) == pytest.approx(model.score(FRAME), rel=1e-5)
    zero = SparsePrecision(5, assume_centered=True).fit(X)
    assert not zero.location_.any()
    assert np.allclose(zero.covariance_.diagonal(), (X**2).mean(axis=0))


def test_weights_are_repetitions():
    weights = np.random.default_rng(2).integers(0, 4, len(X))
    weighted = SparsePrecision(5).fit(X, sample_weight=weights)
    assert np.allclose(weighted.precision_, SparsePrecision(5).fit(X.repeat(weights, axis=0)).precision_)


def test_copies_clones_and_second_fits():
    model = SparsePrecision(5).fit(FRAME)
    again = pickle.loads(pickle.dumps(model))
    assert again.edges_.equals(model.edges_)
    assert again.score(FRAME) == model.score(FRAME)
    assert len(clone(model).set_params(n_edges=2).fit(FRAME).edges_) == 2
    assert len(model.set_params(n_edges=3).fit(X).edges_) == 3
    assert not hasattr(model, "feature_names_in_")
    for ask in ("score", "mahalanobis", "error_norm"):
        with pytest.raises(NotFittedError):
            getattr(clone(model), ask)(X)
    with pytest.raises(NotFittedError):
        clone(model).edges_


@pytest.mark.parametrize("solver", ["grahtp", "omp", "foba"])
def test_other_solvers(solver):
    model = SparsePrecision(7, solver=solver).fit(X)
    assert off(model.adjacency_).tolist() == off(CHAIN != 0).tolist()


def changed(**columns):
    return FRAME.assign(**columns)


@pytest.mark.parametrize(
    ("frame", "given", "says"),
    [
        (changed(c=3.1, e=0.1), {}, "columns 'c', 'e' are constant; leave them out"),
        (changed(c=[np.nan, *X[1:, 2]]), {}, "NaN or infinity in column 'c'"),
        (changed(g="word"), {}, "X must be numeric: column 'g' is not"),
        (FRAME * 1e-200, {}, "too large or too small to square; rescale"),
        (FRAME[:1], {}, r"1 sample\(s\)"),
        (FRAME[["a"]], {}, r"1 feature\(s\)"),
        (FRAME, {"n_edges": -1}, "n_edges must be a whole number at least 0, got -1"),
        (FRAME, {"include": [("a", "b")], "exclude": [(1, 0)]}, "include and exclude overlap: edge a - b"),
        (FRAME, {"include": [(0, 1), (0, 2)], "n_edges": 1}, "include names 2 edges, more than n_edges=1"),
        (FRAME, {"include": [("a", "bee")]}, "include names 'bee'"),
        (FRAME, {"shrinkage": 1.5}, "shrinkage must be a number from 0 to 1"),
        (FRAME, {"l1": -1.0}, "l1 must be a finite number at least 0"),
        (FRAME, {"l1": 0.1, "eigenvalues": (0.1, 5)}, "l1 and eigenvalues"),
        (FRAME[:3], {"include": [(0, 1), (0, 2), (1, 2)]}, "with shrinkage above 0 every graph has one"),
    ],
)
def test_bad_input_is_named(frame, given, says):
    with pytest.raises(ValueError, match=says):
        SparsePrecision(**{"n_edges": 5, **given}).fit(frame)


def test_bad_covariances():
    for S_, says in [
        (np.triu(S), "symmetric"),
        (S - 0.9 * np.diag(S.diagonal()), "positive semidefinite"),
        (X, "square matrix"),
        (S * np.nan, "NaN"),
    ]:
        with pytest.raises(ValueError, match=says):
            SparsePrecision(2).from_covariance(S_)
    with pytest.raises(ValueError, match="names"):
        SparsePrecision(2).from_covariance(S, names=["a"])


def test_what_a_person_should_know_is_said():
    assert "n_edges=99 was capped at the 28 edges" in SparsePrecision(99).fit(X).reason_
    assert "capped at the 27" in SparsePrecision(99, exclude=[(0, 1)]).fit(X).reason_
    nothing = SparsePrecision(2, exclude=~np.eye(X.shape[1], dtype=bool)).fit(X)
    assert nothing.reason_.startswith("n_edges=2 was capped at 0, as there can be no edge; k=0")
    assert nothing.n_edges_ == 0
    few = SparsePrecision(20).fit(X[:5])
    assert "some graphs have no optimum" in few.reason_
    assert np.linalg.eigvalsh(few.precision_)[0] > 0
    twice = SparsePrecision(7).fit(changed(h=1 - 2 * FRAME["a"]))
    assert "(a and h)" in twice.reason_
    assert not twice.adjacency_[0, 7]
    shrunk = SparsePrecision(7, shrinkage=0.1).fit(changed(h=1 - 2 * FRAME["a"]))
    assert shrunk.adjacency_[0, 7]
    none = SparsePrecision(0).fit(X)
    assert none.n_edges_ == len(none.edges_) == 0
    assert np.allclose(none.precision_, np.diag(1 / S.diagonal()))


def test_a_model_file_is_for_predictors(tmp_path):
    with pytest.raises(TypeError, match="got SparsePrecision, which predicts nothing"):
        save_model(SparsePrecision(2).fit(X), tmp_path / "model.json")


def test_stability_counts_edges():
    found = stability(SparsePrecision(P - 1), FRAME, n_pairs=10, random_state=0)
    chain = [f"{a} - {b}" for a, b in pairwise(NAMES)]
    table = found.to_frame().set_index("name")
    assert table.loc[chain, "strength"].min() >= 0.8
    assert table.drop(chain)["strength"].max() < 0.6
    assert {found.names[unit] for unit in found.stable} == set(chain)
    assert found.frequencies.shape == (P - 1, P * (P - 1) // 2)
    assert np.allclose(found.frequencies.sum(axis=1), np.arange(1, P))
    assert found.bounds.p == 28
    assert "28 edges" in repr(found)


def test_stability_keeps_to_the_set_of_edges():
    model = SparsePrecision(3, include=[("a", "h")], exclude=[("a", "b")])
    found = stability(model, FRAME, n_pairs=3, random_state=0)
    names = list(found.names)
    assert names[:2] == ["a - b", "a - c"]
    assert (found.frequencies[:, names.index("a - h")] == 1).all()
    assert not found.frequencies[:, 0].any()
    assert found.bounds.p == 26
    assert not hasattr(model, "precision_")


def test_stability_of_few_rows_many_edges_and_rare_values():
    rare = changed(c=np.eye(len(X))[0])  # constant in one half of every pair
    found = stability(SparsePrecision(28), rare, n_pairs=2, random_state=0)
    assert found.ks[-1] == 14  # half of the edges that there are
    found = stability(SparsePrecision(28), rare, ks=[1, 9, 28], n_pairs=2, random_state=0)
    assert found.frequencies[-1].max() == 1
    tiny = stability(SparsePrecision(3), FRAME[:5], n_pairs=3, random_state=0)  # two rows know no edge
    assert not tiny.frequencies.any()
    twice = FRAME[:12].assign(b=[*FRAME["a"][:9], 0.0, 0.0, 0.0])  # copies in some halves
    assert stability(SparsePrecision(27), twice, n_pairs=5, random_state=0).n_done == 5
    weights = np.r_[np.zeros(100), np.ones(100)]
    weighted = stability(SparsePrecision(3), FRAME, sample_weight=weights, n_pairs=3, random_state=0)
    plain = stability(SparsePrecision(3), FRAME[100:], n_pairs=3, random_state=0)
    assert np.array_equal(weighted.frequencies, plain.frequencies)
