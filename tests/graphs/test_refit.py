"""The refit kernel on a graph against its twin, the paper's ADMM and a generic solver."""

import numpy as np
import pytest

from graphs import reference
from graphs.instances import GRAPHS, clique, covariance, some_edges
from graphs.reference import correlations, refit, value, violation
from pursuit.refits.graph import graph_refit
from pursuit.refits.graph_admm import graph_admm


def problem(seed, p, n, mixing=0.5):
    return correlations(covariance(seed, p, n, mixing))[0]


def sound(fit, R, edges, l1=0.0):
    """Symmetric, on the graph, positive definite; Sigma is its inverse, the value is its own."""
    assert np.array_equal(fit.edges, edges)
    W = fit.W
    assert np.array_equal(W, W.T)
    assert np.array_equal(W[edges[:, 0], edges[:, 1]], fit.w)
    assert np.array_equal(W.diagonal(), fit.d)
    assert np.count_nonzero(np.triu(W, 1)) == np.count_nonzero(fit.w)
    assert fit.value == pytest.approx(value(R, W, l1), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(fit.Sigma @ W, np.eye(len(R)), atol=1e-7)
    np.testing.assert_allclose(fit.Sigma, fit.Sigma.T, atol=1e-14)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(("p", "n"), [(2, 10), (3, 10), (8, 30), (12, 14)])
def test_four_ways_to_one_matrix(name, p, n):
    R, edges = problem(0, p, n), np.asarray(GRAPHS[name](p)).reshape(-1, 2)
    fit = graph_refit(R, edges)
    sound(fit, R, edges)
    assert violation(R, fit.W, edges) < 1e-8
    generic, least = refit(R, edges)
    near = {"rtol": 1e-6, "atol": 1e-7 * np.abs(generic).max()}
    np.testing.assert_allclose(fit.W, generic, **near)
    assert fit.value == pytest.approx(least, abs=1e-10)
    np.testing.assert_allclose(reference.dual_refit(R, edges)[0], generic, **near)
    paper = graph_admm(R, edges, max_iter=20_000)
    assert paper.value == pytest.approx(least, abs=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_fewer_rows_than_columns(seed):
    """The optimum exists as long as no clique is above the rank, though R is singular."""
    R = problem(seed, 12, 6)  # rank 5
    edges = some_edges(seed, 12, 14)  # 15 = 5 * 6 / 2 edges are too few for a core of six
    fit = graph_refit(R, edges)
    sound(fit, R, edges)
    assert violation(R, fit.W, edges) < 1e-8
    assert fit.value == pytest.approx(refit(R, edges)[1], abs=1e-9)


@pytest.mark.parametrize("p", [40, 90])
def test_larger_graphs_meet_the_conditions_that_are_enough(p):
    R, edges = problem(1, p, p // 2), some_edges(1, p, 3 * p)
    fit = graph_refit(R, edges)
    sound(fit, R, edges)
    assert violation(R, fit.W, edges) < 1e-8


@pytest.mark.parametrize("seed", range(4))
def test_any_start_leads_to_the_same_end(seed):
    R, edges = problem(seed, 9, 25), some_edges(seed, 9, 12)
    cold = graph_refit(R, edges)
    rng = np.random.default_rng(seed)
    strange = correlations(np.cov(rng.standard_normal((20, 9)).T))[0]
    starts = [graph_refit(R, some_edges(seed + 9, 9, 15)).Sigma, np.eye(9), R, strange, -0.9 * np.ones((9, 9))]
    for start in starts:
        kept = start.copy()
        fit = graph_refit(R, edges, start=start)
        assert np.array_equal(start, kept)
        np.testing.assert_allclose(fit.W, cold.W, atol=1e-7 * np.abs(cold.W).max())
        assert fit.value == pytest.approx(cold.value, abs=1e-10)


def test_a_rough_refit_is_a_bound_from_above():
    R, edges = problem(3, 15, 20), some_edges(3, 15, 30)
    exact = graph_refit(R, edges)
    for tol in (1e-1, 1e-2, 1e-4, 1e-6):
        rough = graph_refit(R, edges, tol=tol)
        assert rough.value >= exact.value - 1e-10
        assert rough.value == pytest.approx(value(R, rough.W), rel=1e-12)


@pytest.mark.parametrize(
    ("rank", "size", "exists"), [(3, 3, True), (3, 4, False), (3, 6, False), (5, 5, True), (5, 6, False)]
)
def test_cliques_above_the_rank_have_no_optimum(rank, size, exists):
    R = problem(rank, 8, rank + 1)
    edges = np.array(sorted([*map(tuple, clique(np.arange(size))), (0, 7)]))
    fit = graph_refit(R, edges)
    assert (fit is not None) == exists
    assert (refit(R, edges) is not None) == exists
    shrunk = 0.9 * R + 0.1 * np.eye(8)
    there = graph_refit(shrunk, edges)
    sound(there, shrunk, edges)
    assert violation(shrunk, there.W, edges) < 1e-8


@pytest.mark.parametrize("k", [6, 8, 11])
def test_existence_is_decided_as_by_the_reference(k):
    """All graphs of five nodes on rank 3 (six edges may be a clique of four), some of six nodes on rank 3."""
    R = problem(7, 5, 4) if k < 10 else problem(7, 6, 4)
    graphs = reference.graphs_of(len(R), k)[:: 1 if k < 10 else 7]
    truth = reference.refits(R, graphs)
    assert truth.exists.sum() > 0 or k == 11
    for edges, there, least in zip(graphs, truth.exists, truth.value, strict=True):
        fit = graph_refit(R, edges)
        assert (fit is not None) == there, edges.tolist()
        if there:
            assert fit.value == pytest.approx(least, abs=1e-7)


def test_duplicated_columns():
    """An edge between copies has no optimum; without it there is one."""
    S = covariance(4, 5, 20)
    S = S[np.ix_([0, 1, 2, 3, 4, 0], [0, 1, 2, 3, 4, 0])]
    R = correlations(S)[0]
    assert graph_refit(R, np.array([[0, 5], [1, 2]])) is None
    edges = np.array([[0, 1], [1, 5], [2, 3]])
    fit = graph_refit(R, edges)
    assert violation(R, fit.W, edges) < 1e-8
    held = graph_refit(R, np.array([[0, 5], [1, 2]]), l1=0.05)
    assert violation(R, held.W, [[0, 5], [1, 2]], 0.05) < 1e-7


# with an l1 term


@pytest.mark.parametrize("l1", [0.02, 0.1, 0.6])
@pytest.mark.parametrize("name", GRAPHS)
def test_l1_against_proximal_newton(name, l1):
    R, edges = problem(5, 8, 12), np.asarray(GRAPHS[name](8)).reshape(-1, 2)
    fit = graph_refit(R, edges, l1=l1)
    sound(fit, R, edges, l1)
    W, least = reference.l1_refit(R, edges, l1)
    assert fit.value == pytest.approx(least, abs=1e-9)
    assert violation(R, fit.W, edges, l1) < 1e-7
    np.testing.assert_allclose(fit.W, W, atol=1e-6 * np.abs(W).max())


def test_l1_where_there_is_no_optimum_without_it():
    R = problem(6, 10, 4)
    edges = reference.every_pair(10)
    assert graph_refit(R, edges) is None
    for l1 in (0.01, 0.1):
        fit = graph_refit(R, edges, l1=l1)
        sound(fit, R, edges, l1)
        assert violation(R, fit.W, edges, l1) < 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_a_small_l1_where_R_is_nearly_singular(seed):
    """Never None, whatever the rank; the conditions hold as far as it says."""
    R = problem(seed, 8, 4, mixing=1.0)
    edges = some_edges(seed, 8, 20)
    for l1 in (1e-5, 1e-3, 1e-2):
        fit = graph_refit(R, edges, l1=l1)
        assert fit is not None
        assert fit.value == pytest.approx(value(R, fit.W, l1), rel=1e-9)
        assert violation(R, fit.W, edges, l1) < 1e-6 or fit.gap > 1e-8


def test_l1_beyond_every_correlation_leaves_nothing():
    R, edges = problem(7, 6, 20), some_edges(7, 6, 9)
    fit = graph_refit(R, edges, l1=float(np.abs(R - np.eye(6)).max()) + 1e-9)
    assert not fit.w.any()
    np.testing.assert_allclose(fit.d, 1.0)
    assert fit.value == pytest.approx(6.0)


def test_l1_matches_the_graphical_lasso_on_the_complete_graph():
    from sklearn.covariance import graphical_lasso

    R, edges = problem(8, 6, 40), reference.every_pair(6)
    fit = graph_refit(R, edges, l1=0.15)
    theirs = graphical_lasso(R, 0.15, tol=1e-8, max_iter=300, enet_tol=1e-8)[1]
    np.testing.assert_allclose(fit.W, theirs, atol=1e-5)


# order and layout


@pytest.mark.parametrize("l1", [0.0, 0.1])
def test_nodes_in_another_order(l1):
    R, edges = problem(9, 10, 15), some_edges(9, 10, 14)
    turn = np.random.default_rng(9).permutation(10)
    moved = np.sort(np.argsort(turn)[edges], axis=1)
    moved = moved[np.lexsort((moved[:, 1], moved[:, 0]))]
    here, there = graph_refit(R, edges, l1=l1), graph_refit(R[np.ix_(turn, turn)], moved, l1=l1)
    np.testing.assert_allclose(there.W, here.W[np.ix_(turn, turn)], atol=1e-7 * np.abs(here.W).max())
    assert there.value == pytest.approx(here.value, abs=1e-10)


def test_layouts_of_R():
    R, edges = problem(10, 7, 20), some_edges(10, 7, 8)
    fit = graph_refit(R, edges)
    wide = np.zeros((14, 21))
    wide[::2, ::3] = R
    frozen = R.copy()
    frozen.setflags(write=False)
    for other in (np.asfortranarray(R), wide[::2, ::3], frozen):
        assert np.array_equal(graph_refit(other, edges).W, fit.W)
    assert np.array_equal(frozen, R)


def test_nearly_singular_matrices():
    """Columns that differ by a hundredth, a thousandth of their size."""
    rng = np.random.default_rng(11)
    for far in (1e-2, 1e-3):
        X = rng.standard_normal((40, 6))
        X[:, 1] = X[:, 0] + far * X[:, 1]
        R = correlations(np.cov(X.T))[0]
        edges = np.array([[0, 1], [0, 2], [1, 2], [3, 4]])
        fit = graph_refit(R, edges)
        assert violation(R, fit.W, edges) < 1e-8
        assert fit.value == pytest.approx(refit(R, edges)[1], abs=1e-6)
