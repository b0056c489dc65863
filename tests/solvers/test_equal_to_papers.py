"""Each solver on the squared loss equals its paper's algorithm, written independently, iterate by iterate."""

import itertools

import numpy as np
import pytest

import pursuit
from pursuit.constraints import AtMost
from solvers import references as ref

SEEDS = range(4)


def problem(k=4, rho=0.6, seed=0, n=60, p=30, noise=0.5):
    A, y = ref.data(n, p, k, rho, noise, seed)
    f = pursuit.GLM(A, y, fit_intercept=False)
    return A, y, f, AtMost(k, p)


def agree(points, xs, most):
    """Zip the two, at least ``most`` iterates or until the solver halts; returns how many were compared."""
    count = 0
    for point, x in zip(points, xs, strict=False):
        np.testing.assert_allclose(point.x, x, rtol=1e-8, atol=1e-10)
        count += 1
        if count == most:
            break
    assert count
    return count


def step_of(A, k):
    return 0.5 * len(A) / np.linalg.norm(A, 2) ** 2 * 2


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("variant", ["plain", "debias", "newton"])
def test_grasp_is_cosamp(variant, seed):
    A, y, f, constraint = problem(seed=seed)
    solver = pursuit.GraSP(variant, halt=0.0, patience=1000, polish=False)
    assert agree(solver.iterate(f, constraint, f.null), ref.cosamp(A, y, 4, variant == "debias"), 15) >= 1


@pytest.mark.parametrize("seed", SEEDS)
def test_grasps_gradient_variant_is_iht(seed):
    A, y, f, constraint = problem(seed=seed)
    step = step_of(A, 4)
    grasp = pursuit.GraSP("gradient", step=step, halt=0.0, patience=1000, polish=False)
    assert agree(grasp.iterate(f, constraint, f.null), ref.iht(A, y, 4, step), 30) == 30
    fast = pursuit.FGraHTP(step=step, halt=0.0, polish=False)
    assert agree(fast.iterate(f, constraint, f.null), ref.iht(A, y, 4, step), 30) == 30


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("refit", ["exact", "newton"])
def test_grahtp_is_htp(refit, seed):
    A, y, f, constraint = problem(seed=seed)
    solver = pursuit.GraHTP(step=3 * step_of(A, 4), refit=refit)
    assert agree(solver.iterate(f, constraint, f.null), ref.htp(A, y, 4, 3 * step_of(A, 4)), 15) >= 1


@pytest.mark.parametrize("step", [0.2, 8.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_grahtp_on_logistic_regression_in_the_papers_units(seed, step):
    """The paper's margin is 2 w.u, its penalty ridge/2 |w|^2: our x is 2w, l2 ridge/4, the step four times as long."""
    A, signal = ref.data(n=80, k=4, noise=0.0, seed=seed)
    v, ridge = np.where(signal + np.random.default_rng(seed).logistic(size=80) / 2 > 0, 1.0, -1.0), 1e-3
    f = pursuit.GLM(A, v > 0, "logistic", l2=ridge / 4, fit_intercept=False)
    points = list(itertools.islice(pursuit.GraHTP(step=4 * step).iterate(f, AtMost(4, 30), f.null), 10))
    iterates = list(itertools.islice(ref.logistic_grahtp(A, v, 4, step, ridge), 10))
    assert len(points) == len(iterates)
    for point, w in zip(points, iterates, strict=True):
        np.testing.assert_allclose(point.x / 2, w, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_ompr(seed):
    A, y, f, constraint = problem(k=6, rho=0.8, seed=seed)
    points = list(pursuit.OMPR().iterate(f, constraint, f.null))
    *_, last = ref.omp(A, y, 6)
    np.testing.assert_allclose(points[5].x, last, rtol=1e-8, atol=1e-10)
    xs = list(ref.ompr(A, y, 6))
    assert len(points) - 5 == len(xs)
    agree(points[5:], xs, len(xs))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("r", [1, 2, 6])
def test_pht(r, seed):
    A, y, f, constraint = problem(k=6, rho=0.8, seed=seed)
    solver = pursuit.PHT(r, step=0.8)
    points = []
    for point, _ in zip(solver.iterate(f, constraint, f.null), range(8), strict=False):
        points.append(point)
    agree(points[1:] or points[:1], ref.pht(A, y, points[0].x, r, 0.8) if points[1:] else [points[0].x], 8)
    assert all(len(np.setdiff1d(b.support, a.support)) <= r for a, b in itertools.pairwise(points))


@pytest.mark.parametrize("seed", SEEDS)
def test_pht_of_one_is_ompr_and_of_k_is_grahtp(seed):
    _, _, f, constraint = problem(k=6, rho=0.8, seed=seed)
    start = f.refit(constraint.top(f.null.gradient))
    ompr = list(pursuit.OMPR().iterate(f, constraint, start))
    for a, b in zip(pursuit.PHT(1, step=1e9).iterate(f, constraint, start), ompr, strict=False):
        assert np.array_equal(a.support, b.support)
    grahtp = pursuit.GraHTP(step=0.5).iterate(f, constraint, start)
    for a, b, _ in zip(pursuit.PHT(6, step=0.5).iterate(f, constraint, start), grahtp, range(10), strict=False):
        assert np.array_equal(a.support, b.support)


@pytest.mark.parametrize("nu", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("seed", SEEDS)
def test_foba(seed, nu):
    A, y, f, constraint = problem(k=6, rho=0.9, seed=seed, noise=1.0)
    points = list(pursuit.FoBa(nu).iterate(f, constraint, f.null))
    xs = list(ref.foba(A, y, 6, nu))
    assert len(points) == len(xs)
    agree(points, xs, len(xs))


def test_foba_takes_back_what_forward_got_wrong():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((200, 8))
    A[:, 7] = A[:, 0] + A[:, 1] + A[:, 2] + 0.3 * rng.standard_normal(200)  # the best single column, and a wrong one
    y = A[:, 0] + A[:, 1] + A[:, 2]
    f, constraint = pursuit.GLM(A, y, fit_intercept=False), AtMost(3, 8)
    first, *_, last = pursuit.FoBa(0.9).iterate(f, constraint, f.null)
    assert first.support.tolist() == [7]
    *_, omp = pursuit.OMP().iterate(f, constraint, f.null)
    assert 7 in omp.support
    assert last.value <= omp.value


@pytest.mark.parametrize("seed", SEEDS)
def test_fbs_over_coordinates_is_omp(seed):
    A, y, f, constraint = problem(k=6, rho=0.8, seed=seed)
    points = list(pursuit.FBS("coordinates").iterate(f, constraint, f.null))
    assert agree(points, ref.omp(A, y, 6), 6) == 6


@pytest.mark.parametrize("seed", SEEDS)
def test_fbs_over_unit_atoms_takes_the_best_single_step(seed):
    A, y = ref.data(60, 30, 4, 0.5, 0.5, seed)
    A *= np.geomspace(0.1, 10, 30)
    f, constraint, x = pursuit.GLM(A, y, fit_intercept=False), AtMost(5, 30), np.zeros(30)
    for point in pursuit.FBS().iterate(f, constraint, f.null):
        g = ref.gradient(A, y, x)
        gain = g**2 / (A**2).mean(axis=0)
        gain[np.flatnonzero(x)] = 0
        x = ref.least_squares(A, y, np.union1d(np.flatnonzero(x), [np.argmax(gain)]))
        np.testing.assert_allclose(point.x, x, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_arht_core(seed):
    A, y, f, constraint = problem(k=5, rho=0.8, seed=seed, noise=1.0)
    *_, start = pursuit.OMP().iterate(f, constraint, f.null)
    rho, lower, eps, opt = 1.7, 0.0, 1e-3, 0.9 * start.value
    solver = pursuit.ARHT("paper", smoothness=rho)
    points = list(solver._core(f, constraint, start, opt, eps, lower, np.random.default_rng(seed)))
    xs = list(ref.arht_core(A, y, start.x, opt, eps, lower, rho, np.random.default_rng(seed)))
    assert len(xs) - 1 <= len(points) <= len(xs)  # the answer of line 27 is returned, not yielded
    assert agree(points, xs, len(points)) > 3


@pytest.mark.parametrize("seed", SEEDS)
def test_arht_as_printed(seed):
    A, y, f, constraint = problem(k=4, rho=0.8, seed=seed, noise=1.0)
    *_, start = pursuit.OMP().iterate(f, constraint, f.null)
    eps = 0.05 * f.null.value
    solver = pursuit.ARHT("paper", eps=0.05, smoothness=2.0, lower=0.0, repeats=2)
    runs = solver._paper(f, constraint, start, 0.0, eps)
    seen = []

    def drain():
        seen.append((yield from runs))

    assert len(list(drain())) > 5
    x = ref.arht(A, y, start.x, eps, 0.0, 2.0, np.random.default_rng(0), 2)
    np.testing.assert_allclose(seen[0].x, x, rtol=1e-8, atol=1e-10)
