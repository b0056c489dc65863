"""The searching kernels: bounds are bounds, paths fall, constraints are kept, any order of the nodes will do."""

from itertools import pairwise

import numpy as np
import pytest

from graphs import reference
from graphs.instances import covariance, some_edges
from graphs.reference import correlations, every_pair, refit, value, violation
from pursuit import _core
from pursuit.kernels.graph import NO_EDGES, forbidden_mask, graph_path, open_exchanges, ranked_exchanges
from pursuit.refits.graph import codes, graph_refit, pairs


def problem(seed, p, n):
    return correlations(covariance(seed, p, n))[0]


def without(edges, out, enter=None):
    kept = [tuple(e) for e in edges.tolist() if tuple(e) != tuple(out)]
    return np.array(sorted([*kept, *([] if enter is None else [tuple(enter)])])).reshape(-1, 2)


@pytest.mark.parametrize("seed", range(3))
def test_the_four_node_bound_is_that_of_the_definition(seed):
    R, edges = problem(seed, 6, 30), some_edges(seed, 6, 6)
    fit = graph_refit(R, edges)
    (leave, enter, change), looked, whole, trouble = _core.graph_open(
        R, codes(edges, 6), fit.w, fit.d, fit.Sigma, codes(NO_EDGES, 6), forbidden_mask(None, 6), np.inf, 0, 10**6, None
    )
    assert (looked, len(leave), whole, trouble) == (6 * 9, 6 * 9, True, None)
    for out, new, bound in zip(edges[leave], pairs(enter, 6), change, strict=True):
        assert bound == pytest.approx(reference.four_node_bound(R, fit.W, out, new), abs=1e-7)
        assert bound <= refit(R, without(edges, out, new))[1] - fit.value + 1e-8


@pytest.mark.parametrize("sweeps", [0, 1, 20])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_excluded_does_not_help(seed, sweeps):
    R, edges = problem(seed, 7, 12), some_edges(seed, 7, 7)
    fit = graph_refit(R, edges)
    include, forbidden = edges[:1], np.zeros((7, 7), bool)
    forbidden[2, 5] = forbidden[5, 2] = True
    left = open_exchanges(R, fit, include, forbidden, fit.value, sweeps, 10**6)
    assert left.whole
    listed = {(tuple(edges[e]), tuple(c)) for e, c in zip(left.leave, left.enter.tolist(), strict=True)}
    better = 0
    banned = {(2, 5)} | {tuple(e) for e in edges.tolist()}
    for out in edges[1:].tolist():
        for new in every_pair(7).tolist():
            if tuple(new) in banned:
                continue
            if refit(R, without(edges, out, new))[1] < fit.value - 1e-8:
                better += 1
                assert (tuple(out), tuple(new)) in listed
    assert len(listed) >= better > 0
    assert all(out != tuple(edges[0]) and new != (2, 5) for out, new in listed)


@pytest.mark.parametrize("seed", range(4))
def test_dropping_costs_no_more_than_its_bound(seed):
    R, edges = problem(seed, 7, 20), some_edges(seed, 7, 9)
    fit = graph_refit(R, edges)
    cost = ranked_exchanges(R, fit, NO_EDGES, None, 5).cost
    for edge, bound in zip(edges.tolist(), cost, strict=True):
        truth = refit(R, without(edges, edge))[1] - fit.value
        assert truth <= bound + 1e-9
        i, j = edge
        assert truth >= -np.log1p(-(fit.W[i, j] ** 2) / (fit.W[i, i] * fit.W[j, j])) - 1e-9


@pytest.mark.parametrize(("p", "n"), [(8, 30), (20, 50), (20, 10)])
def test_paths_fall_and_every_fit_is_an_optimum(p, n):
    R = problem(0, p, n)
    sizes = [0, 1, 2, 3, 5, 8, 13, 20]
    fits = graph_path(R, sizes)
    assert [len(fit.edges) for fit in fits] == sizes
    assert fits[0].value == pytest.approx(p)
    for fit in fits:
        assert (fit.edges[:, 0] < fit.edges[:, 1]).all()
        assert np.array_equal(fit.edges, np.unique(fit.edges, axis=0))
        assert violation(R, fit.W, fit.edges) < 1e-8
        assert fit.value == pytest.approx(value(R, fit.W), rel=1e-12)
        np.testing.assert_allclose(fit.Sigma @ fit.W, np.eye(p), atol=1e-7)
    assert all(after.value < before.value for before, after in pairwise(fits))


def test_paths_keep_what_must_and_must_not_be_there():
    R, p = problem(1, 10, 20), 10
    include, forbidden = np.array([[0, 9], [3, 4]]), np.zeros((10, 10), bool)
    forbidden[:3, :3] = True
    for fit in graph_path(R, [2, 4, 9], include=include, forbidden=forbidden):
        edges = {tuple(e) for e in fit.edges.tolist()}
        assert {(0, 9), (3, 4)} <= edges
        assert not forbidden[tuple(fit.edges.T)].any()
    everything = graph_path(R, [50], include=include, forbidden=forbidden)[0]
    assert len(everything.edges) <= p * (p - 1) // 2 - 3


def test_no_further_edge_where_the_rank_is_too_small():
    """On rank 2 no triangle has an optimum: at most a forest's, a cycle's, ... edges; every fit still is one."""
    R = problem(2, 8, 3)
    fits = graph_path(R, [3, 7, 15, 28])
    assert len(fits[-1].edges) < 28
    for fit in fits:
        assert violation(R, fit.W, fit.edges) < 1e-8


def test_the_complete_graph_is_reached():
    R = problem(3, 6, 40)
    fit = graph_path(R, [15])[0]
    np.testing.assert_allclose(fit.W, np.linalg.inv(R), rtol=1e-6, atol=1e-7)


def test_the_order_of_the_nodes_changes_nothing():
    R = problem(4, 9, 30)
    turn = np.random.default_rng(4).permutation(9)
    here, there = graph_path(R, [4, 8, 12]), graph_path(np.ascontiguousarray(R[np.ix_(turn, turn)]), [4, 8, 12])
    for a, b in zip(here, there, strict=True):
        back = np.sort(turn[b.edges], axis=1)
        assert np.array_equal(back[np.lexsort((back[:, 1], back[:, 0]))], a.edges)
        assert b.value == pytest.approx(a.value, abs=1e-9)


def test_a_question_stops_a_path():
    R, calls = problem(5, 80, 60), []

    def ask():
        calls.append(1)
        return True

    assert (
        len(graph_path(R, range(10, 1500, 10), thorough=True, should_stop=ask)) < 149
    )  # called a hundred times a second
    assert len(calls) == 1


def test_paths_in_threads():
    """Folds run side by side: each as if it were alone."""
    from concurrent.futures import ThreadPoolExecutor

    several = [problem(seed, 25, 40) for seed in range(6)]
    alone = [graph_path(R, [10, 30])[-1].value for R in several]
    with ThreadPoolExecutor(3) as pool:
        together = [fits[-1].value for fits in pool.map(lambda R: graph_path(R, [10, 30]), several)]
    assert together == alone
