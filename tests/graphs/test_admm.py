"""The paper's ADMM on a graph: against generic solvers, in any units, with bounds that bind and bounds that do not."""

import numpy as np
import pytest

from graphs.instances import GRAPHS, clique, covariance, some_edges
from graphs.reference import bounded_refit, correlations, every_pair, l1_refit, refit, value, violation
from pursuit.engines import TimeUpError, until
from pursuit.refits.graph_admm import eigenvalue_bounds, graph_admm


def sound(fit, S, edges, alpha=0.0, beta=np.inf):
    """What is promised whatever happens: symmetric, on the graph, positive definite, between the bounds."""
    W = fit.Omega
    assert np.array_equal(W, W.T)
    off = np.ones_like(W, dtype=bool)
    np.fill_diagonal(off, False)
    off[edges[:, 0], edges[:, 1]] = off[edges[:, 1], edges[:, 0]] = False
    assert not W[off].any()
    levels = np.linalg.eigvalsh(W)
    assert levels[0] > 0 or np.ptp(np.log(S.diagonal())) > 20  # eigvalsh has no digits where units differ that much
    np.linalg.cholesky(W)
    room = 1e-13 * levels[-1]
    assert alpha - room <= levels[0]
    assert levels[-1] <= beta + room
    assert fit.value == pytest.approx(value(S, W), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("scales", [False, True])
def test_without_bounds_it_is_the_generic_solution(name, scales):
    S, edges = covariance(0, 8, 30, scales=scales), GRAPHS[name](8)
    fit = graph_admm(S, edges)
    assert fit.converged
    sound(fit, S, edges)
    W, least = refit(S, edges)
    assert fit.value == pytest.approx(least, abs=1e-10)
    d = np.sqrt(S.diagonal())
    np.testing.assert_allclose(
        fit.Omega * d * d[:, None], W * d * d[:, None], atol=1e-6 * np.abs(W * d * d[:, None]).max()
    )
    assert violation(S, fit.Omega, edges) < 1e-7


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [0.02, 0.3, 0.45])
def test_bounds_that_bind_against_a_barrier_method(seed, share):
    S, edges = 3.0 * covariance(seed, 6, 15), some_edges(seed, 6, 3 + 2 * seed)
    levels = np.linalg.eigvalsh(refit(S, edges)[0])
    alpha, beta = np.quantile(levels, [share, 1 - share])
    fit = graph_admm(S, edges, alpha, beta)
    assert fit.converged
    sound(fit, S, edges, alpha, beta)
    W, least = bounded_refit(S, edges, alpha, beta)
    assert fit.value == pytest.approx(least, abs=1e-8)
    np.testing.assert_allclose(fit.Omega, W, atol=2e-4 * np.abs(W).max())


def test_bounds_on_one_side():
    S, edges = covariance(7, 6, 12), some_edges(7, 6, 8)
    levels = np.linalg.eigvalsh(refit(S, edges)[0])
    low = graph_admm(S, edges, alpha=1.5 * levels[0])
    sound(low, S, edges, alpha=1.5 * levels[0])
    assert low.value == pytest.approx(bounded_refit(S, edges, 1.5 * levels[0], 30 * levels[-1])[1], abs=1e-8)
    high = graph_admm(S, edges, beta=0.5 * levels[-1])
    sound(high, S, edges, beta=0.5 * levels[-1])
    assert high.value == pytest.approx(bounded_refit(S, edges, 1e-6 * levels[0], 0.5 * levels[-1])[1], abs=1e-8)


def test_equal_bounds_leave_one_matrix():
    S, edges = covariance(8, 5, 20), some_edges(8, 5, 4)
    fit = graph_admm(S, edges, 0.7, 0.7)
    assert fit.converged
    np.testing.assert_allclose(fit.Omega, 0.7 * np.eye(5), atol=1e-15)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_units_change_nothing_else(unit):
    S, edges = covariance(9, 6, 12), some_edges(9, 6, 7)
    here, there = graph_admm(S, edges, 0.3, 2.0), graph_admm(unit * S, edges, 0.3 / unit, 2.0 / unit)
    assert there.converged
    np.testing.assert_allclose(unit * there.Omega, here.Omega, rtol=1e-7, atol=1e-9)


def test_a_start_is_gone_on_from():
    S, edges = covariance(10, 8, 20), some_edges(10, 8, 12)
    W, least = refit(S, edges)
    assert graph_admm(S, edges, start=W, max_iter=3).value == pytest.approx(least, abs=1e-8)
    elsewhere = graph_admm(S, edges, start=np.linalg.inv(S))  # not on the graph
    assert elsewhere.converged
    assert elsewhere.value == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("most", [1, 2, 5, 20])
def test_an_early_end_is_sound_and_told(most):
    S, edges = covariance(11, 10, 8), some_edges(11, 10, 20)
    for alpha, beta in ((0.0, np.inf), (0.4, np.inf), (0.0, 1.5), (0.9, 1.1)):
        fit = graph_admm(S, edges, alpha, beta, max_iter=most)
        sound(fit, S, edges, alpha, beta)
        assert not fit.converged
        assert fit.residual >= 1e-9


def test_no_optimum_is_no_convergence_and_bounds_give_one():
    S, edges = covariance(12, 6, 4), clique(np.arange(5))  # rank 3
    assert refit(S, edges) is None
    fit = graph_admm(S, edges, max_iter=300)
    assert not fit.converged
    sound(fit, S, edges)
    beta = eigenvalue_bounds(S)[1]
    held = graph_admm(S, edges, beta=beta)
    assert np.linalg.eigvalsh(held.Omega)[-1] == pytest.approx(beta, rel=1e-6)
    sound(held, S, edges, beta=beta)


@pytest.mark.parametrize("l1", [0.02, 0.3])
def test_an_l1_term_on_the_correlation_scale(l1):
    S, edges = covariance(14, 7, 12, scales=True), some_edges(14, 7, 12)
    R, d = correlations(S)
    W, least = l1_refit(R, edges, l1)
    fit = graph_admm(S, edges, l1=l1)
    assert fit.converged
    assert fit.value == pytest.approx(least + 2 * np.log(d).sum(), abs=1e-9)
    np.testing.assert_allclose(fit.Omega * d * d[:, None], W, atol=1e-6 * np.abs(W).max())
    barren = graph_admm(covariance(15, 6, 3), every_pair(6), l1=0.1)  # without the term there is no optimum
    assert barren.converged


def test_an_l1_term_and_bounds():
    """Larger bounds and a smaller term lower the value; the bounds hold."""
    S, edges = covariance(16, 6, 15), some_edges(16, 6, 9)
    values = []
    for l1, beta in ((0.2, 1.0), (0.1, 1.0), (0.1, 2.0), (0.0, 2.0), (0.0, np.inf)):
        fit = graph_admm(S, edges, 0.0, beta, l1=l1)
        assert fit.converged
        assert np.linalg.eigvalsh(fit.Omega)[-1] <= beta * (1 + 1e-12)
        values.append(fit.value)
    assert values == sorted(values, reverse=True)


def test_time_is_asked_for():
    S, edges = covariance(13, 6, 20), some_edges(13, 6, 6)
    with until(0.0), pytest.raises(TimeUpError):
        graph_admm(S, edges)


def test_the_papers_bounds_and_their_slip():
    S = np.array([[1, 0.7, 0], [0.7, 1, 0.7], [0, 0.7, 1]])
    alpha, beta = eigenvalue_bounds(S)
    assert alpha == pytest.approx(1 / (1 + 0.7 * np.sqrt(2) + 3 * 0.01))
    assert beta == pytest.approx((3 - 3 * alpha) / 0.01)
    chain = np.array([[0, 1], [1, 2]])
    smallest = np.linalg.eigvalsh(graph_admm(S, chain).Omega)[0]
    assert smallest == pytest.approx(0.4415, abs=1e-4)
    assert smallest < alpha  # the rule of the l1-penalised problem cuts off the optimum
    assert smallest > 1 / np.trace(S)
    held = graph_admm(S, chain, alpha, beta)
    assert np.linalg.eigvalsh(held.Omega)[0] == pytest.approx(alpha, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_safe_lower_bound_never_binds(seed):
    S, edges = covariance(seed, 7, 9, mixing=2.0), some_edges(seed, 7, 10)
    assert np.linalg.eigvalsh(refit(S, edges)[0])[0] >= 1 / np.trace(S)
