"""The references agree with each other and with closed forms: several ways to one truth."""

import numpy as np
import pytest

from graphs import reference
from graphs.instances import GRAPHS, clique, covariance, some_edges
from graphs.reference import correlations, every_pair, four_node_bound, graphs_of, refit, refits, value, violation


@pytest.mark.parametrize("name", GRAPHS)
def test_the_generic_refit_meets_the_conditions_and_the_twin(name):
    S, edges = covariance(0, 8, 30, scales=True), GRAPHS[name](8)
    W, least = refit(S, edges)
    assert violation(S, W, edges) < 1e-9
    assert least == pytest.approx(value(S, W), rel=1e-12)
    R, d = correlations(S)
    twin, Sigma = reference.dual_refit(R, edges)
    np.testing.assert_allclose(twin / d / d[:, None], W, rtol=1e-7, atol=1e-8 * np.abs(W).max())
    np.testing.assert_allclose(Sigma @ twin, np.eye(8), atol=1e-8)
    if name == "complete":
        np.testing.assert_allclose(W, np.linalg.inv(S), rtol=1e-8)


def test_a_tree_has_a_closed_form():
    """log det of the completion along a tree is the sum of log(1 - r^2) over its edges."""
    S, edges = covariance(1, 7, 20), GRAPHS["chain"](7)
    R, d = correlations(S)
    r = R[edges[:, 0], edges[:, 1]]
    assert refit(S, edges)[1] == pytest.approx(7 + np.log1p(-(r**2)).sum() + 2 * np.log(d).sum(), rel=1e-12)


def test_cliques_above_the_rank_have_no_optimum():
    S = covariance(2, 5, 4)  # rank 3
    exists = refits(S, graphs_of(5, 6)).exists
    bad = [edges for edges, there in zip(graphs_of(5, 6).tolist(), exists, strict=True) if not there]
    assert bad == [clique([i for i in range(5) if i != out]).tolist() for out in (4, 3, 2, 1, 0)]
    assert refits(S, graphs_of(5, 5)).exists.all()
    assert reference.best_graph(S, 10)[2] == 1


def test_all_graphs_and_all_exchanges_are_counted():
    assert graphs_of(5, 4).shape == (210, 4, 2)
    assert graphs_of(5, 4, include=[(1, 0)], exclude=[(2, 3), (3, 4)]).shape == (35, 4, 2)
    assert reference.exchanged(5, [(0, 1), (2, 3)]).shape == (16, 2, 2)
    assert reference.exchanged(5, [(0, 1), (2, 3)], include=[(0, 1)], exclude=[(3, 4)]).shape == (7, 2, 2)


def test_l1_meets_its_conditions():
    R = correlations(covariance(3, 7, 15))[0]
    for l1 in (0.01, 0.1, 0.5):
        W, least = reference.l1_refit(R, edges := some_edges(3, 7, 12), l1)
        assert violation(R, W, edges, l1) < 1e-10
        assert least == pytest.approx(value(R, W, l1), rel=1e-12)
    assert np.count_nonzero(reference.l1_refit(R, edges, 1.0)[0]) == 7


def test_bounds_that_do_not_bind_change_nothing():
    S, edges = covariance(4, 5, 30), some_edges(4, 5, 5)
    W, least = refit(S, edges)
    levels = np.linalg.eigvalsh(W)
    V, there = reference.bounded_refit(S, edges, 0.5 * levels[0], 2 * levels[-1])
    assert there == pytest.approx(least, abs=1e-9)
    np.testing.assert_allclose(V, W, atol=1e-4 * np.abs(W).max())


def test_the_four_node_bound_is_one():
    """Below what every exchange does; near it for most."""
    R, shares = correlations(covariance(5, 6, 40))[0], []
    edges = some_edges(5, 6, 6)
    W, here = refit(R, edges)
    others = [e for e in every_pair(6).tolist() if e not in edges.tolist()]
    for leave in edges.tolist():
        for enter in others:
            truth = refit(R, sorted([*(e for e in edges.tolist() if e != leave), enter]))[1] - here
            bound = four_node_bound(R, W, leave, enter)
            assert bound <= truth + 1e-9
            shares.append(truth - bound)
    assert np.median(shares) < 0.5
