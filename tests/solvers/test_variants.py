"""Variants of the papers that an option chooses."""

import numpy as np
import pytest

import pursuit
from pursuit.constraints import AtMost
from pursuit.refits import eigenvalue_bounds, graph_admm
from pursuit.sparse_eigenvalues import Outer, hessian_bound


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 12))
    y = X[:, :3] @ np.array([2.0, -1.5, 1.0]) + 0.2 * rng.standard_normal(120)
    return X, y, pursuit.GLM(X, y, fit_intercept=False)


@pytest.mark.parametrize("kind", [pursuit.GraHTP, pursuit.FGraHTP])
def test_the_papers_step_is_half_of_the_inverse_restricted_smoothness(problem, kind):
    X, y, f = problem
    M = Outer(hessian_bound(f)).exact(6)[1]  # 924 supports
    first = next(iter(kind(step="paper").iterate(f, AtMost(3, 12), f.null)))
    by_hand = next(iter(kind(step=1 / (2 * M)).iterate(f, AtMost(3, 12), f.null)))
    np.testing.assert_allclose(first.x, by_hand.x, rtol=1e-9)
    g = pursuit.GLM(X, y > 0, "logistic", l2=0.1, fit_intercept=False)
    assert pursuit.solve(g, 3, solver=kind(step="paper")).status == "converged"


def test_grahtp_halts_by_the_change_of_x(problem):
    f = problem[2]
    steps = list(pursuit.GraHTP(step=1e-3).iterate(f, AtMost(6, 12), f.null))
    rest = [
        np.linalg.norm(b.x - a.x) / np.linalg.norm(a.coef)
        for a, b in zip([f.null, *steps][1:], steps[1:], strict=False)
    ]
    widest = max(rest, default=0.0)
    halted = list(pursuit.GraHTP(step=1e-3, halt=widest).iterate(f, AtMost(6, 12), f.null))
    assert len(halted) <= 2
    assert len(list(pursuit.GraHTP(step=1e-3, halt=0.0).iterate(f, AtMost(6, 12), f.null))) == len(steps)
    with pytest.raises(ValueError, match="halt"):
        pursuit.GraHTP(halt=-1.0)
    with pytest.raises(ValueError, match="step"):
        pursuit.GraHTP(step="newton")


@pytest.mark.parametrize("variant", ["newton", "gradient"])
def test_grasp_takes_kappa_and_debias_together(problem, variant):
    X, y, f = problem
    kappa = 0.5
    point = next(iter(pursuit.GraSP(variant, step=kappa, debias=True).iterate(f, AtMost(3, 12), f.null)))
    g = -X.T @ y / 120
    T = np.sort(np.argsort(-np.abs(g))[:6])
    H = X[:, T].T @ X[:, T] / 120
    b = -kappa * (np.linalg.solve(H, g[T]) if variant == "newton" else g[T])
    S = np.sort(T[np.argsort(-np.abs(b))[:3]])
    assert point.support.tolist() == S.tolist()
    np.testing.assert_allclose(point.coef, np.linalg.lstsq(X[:, S], y, rcond=None)[0], atol=1e-8)
    raw = next(iter(pursuit.GraSP(variant, step=kappa).iterate(f, AtMost(3, 12), f.null)))
    np.testing.assert_allclose(np.sort(np.abs(raw.coef)), np.sort(np.abs(b))[-3:], atol=1e-10)
    with pytest.raises(ValueError, match="debias"):
        pursuit.GraSP("plain", debias=True)


def test_the_last_point_is_given_where_it_is_wanted():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 60))
    f = pursuit.GLM(X, X[:, :8].sum(axis=1) + rng.standard_normal(40), fit_intercept=False)
    best = pursuit.solve(f, 8, solver=pursuit.GraSP("plain", polish=False))
    last = pursuit.solve(f, 8, solver=pursuit.GraSP("plain", polish=False, last=True))
    assert last.value == last.trace[-1].value
    assert best.value == min(record.value for record in best.trace)
    assert best.value < last.value


def test_arht_takes_an_absolute_error(problem):
    f = problem[2]
    share = pursuit.ARHT(mode="paper", eps=1e-3, repeats=2, random_state=0)
    span = f.null.value - f.lower
    same = pursuit.ARHT(mode="paper", absolute_eps=1e-3 * span, repeats=2, random_state=0)
    assert pursuit.solve(f, 3, solver=share).n_iter == pursuit.solve(f, 3, solver=same).n_iter
    with pytest.raises(ValueError, match="absolute_eps"):
        pursuit.ARHT(absolute_eps=0.0)


def test_the_papers_eigenvalue_bounds_are_asked_for_by_name():
    rng = np.random.default_rng(0)
    S = np.cov(rng.standard_normal((50, 5)), rowvar=False)
    alpha, beta = eigenvalue_bounds(S)
    assert alpha == pytest.approx(1 / (np.linalg.eigvalsh(S)[-1] + 5 * 0.01))
    assert pursuit.LogDet(S, eigenvalues="paper").eigenvalues == pytest.approx((alpha, beta))
    with pytest.raises(ValueError, match="or 'paper'"):
        pursuit.LogDet(S, eigenvalues="lu")
    fit = graph_admm(S, np.array([[0, 1], [2, 3]]), alpha, beta)
    assert fit.converged
    assert np.linalg.eigvalsh(fit.Omega)[0] >= alpha * (1 - 1e-6)


@pytest.mark.parametrize("kind", [pursuit.DIHT, pursuit.SDIHT])
def test_a_stalled_dual_goes_on_with_the_relaxation(kind):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 60))
    y = np.sign(X[:, :6].sum(axis=1) + rng.standard_normal(80))
    f = pursuit.GLM(X, y, pursuit.SmoothedHinge(0.25), l2=0.02)
    alone = pursuit.solve(f, 6, solver=kind(relaxation=False, random_state=0))
    handed = pursuit.solve(f, 6, solver=kind(random_state=0))
    assert handed.lower >= alone.lower
    assert handed.value <= alone.value
    assert handed.lower >= pursuit.certify(f, handed).lower - 2e-3 * handed.value  # solved, as the relaxation counts
