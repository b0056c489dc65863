import numpy as np
import pytest
from scipy.optimize import minimize

from kernels import twins
from pursuit import _core


def problem(rng, n, m, noise=0.5):
    A = rng.normal(size=(n, m))
    y = np.where(A @ rng.normal(size=m) + 0.3 + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    c = rng.random(n)
    return A, y, c / c.sum(), 0.3 * rng.normal(size=n)


def solve(A, y, c, offset, l2, rho, centre=0.0, alpha=None, tol=1e-8, epochs=20_000, seed=0):
    alpha = np.zeros(len(y)) if alpha is None else alpha
    samples = _core.Samples(y, c, offset, *twins.LOSSES["hinge"])
    return _core.hinge_dual(np.asfortranarray(A.T), samples, l2, rho, centre, alpha, tol, epochs, seed)


@pytest.mark.parametrize("shape", [(1, 1), (40, 3), (60, 100), (300, 8), (25, 0)])
@pytest.mark.parametrize("l2", [1.0, 0.01])
@pytest.mark.parametrize(("rho", "centre"), [(1.0, 0.0), (0.1, -0.7)])
def test_optimality(shape, l2, rho, centre, rng):
    A, y, c, offset = problem(rng, *shape)
    alpha, x, b, epochs = solve(A, y, c, offset, l2, rho, centre)
    assert 1 <= epochs < 20_000
    assert ((alpha >= 0) & (alpha <= 1)).all()
    np.testing.assert_allclose(x, A.T @ (c * y * alpha) / l2, rtol=1e-10, atol=1e-12)
    assert b == pytest.approx(centre + (c * y) @ alpha / rho, rel=1e-10, abs=1e-12)
    margin = y * (A @ x + b + offset)
    assert (margin[alpha == 0] >= 1 - 1e-7).all()
    assert (margin[alpha == 1] <= 1 + 1e-7).all()
    np.testing.assert_allclose(margin[(alpha > 0) & (alpha < 1)], 1, atol=1e-7)
    primal, dual = twins.hinge_objectives(A, y, c, offset, l2, rho, centre, alpha, x, b)
    assert primal == pytest.approx(dual, abs=1e-7)


def test_against_a_general_solver(rng):
    A, y, c, offset = problem(rng, 30, 2)
    l2, rho, centre = 0.3, 0.5, 0.2

    def negative_dual(alpha):
        s, z = (c * y) @ alpha, A.T @ (c * y * alpha)
        value = (c * alpha) @ (1 - y * offset) - z @ z / (2 * l2) - s**2 / (2 * rho) - centre * s
        slope = c * (1 - y * offset) - c * y * (A @ z) / l2 - c * y * (s / rho + centre)
        return -value, -slope

    best = minimize(
        negative_dual,
        np.full(30, 0.5),
        jac=True,
        bounds=[(0, 1)] * 30,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-12, "maxiter": 5000},
    )
    alpha = solve(A, y, c, offset, l2, rho, centre)[0]
    assert negative_dual(alpha)[0] == pytest.approx(best.fun, abs=1e-9)


def test_start_seed_and_input(rng):
    A, y, c, offset = problem(rng, 80, 5)
    alpha, x, _, epochs = solve(A, y, c, offset, 0.1, 0.5)
    again = solve(A, y, c, offset, 0.1, 0.5)
    np.testing.assert_array_equal(alpha, again[0])
    other = solve(A, y, c, offset, 0.1, 0.5, seed=7)
    np.testing.assert_allclose(other[1], x, atol=1e-6)
    start = alpha.copy()
    start.flags.writeable = False
    warm = solve(A, y, c, offset, 0.1, 0.5, alpha=start, tol=1e-6)
    assert warm[3] <= 2 < epochs
    wild = solve(A, y, c, None, 0.1, 0.5, alpha=np.full(80, np.nan))
    assert ((wild[0] >= 0) & (wild[0] <= 1)).all()


def test_weightless_samples_do_nothing(rng):
    A, y, c, offset = problem(rng, 60, 4)
    c[::3] = 0.0
    kept = c > 0
    alpha, x, _, _ = solve(A, y, c, offset, 0.1, 0.5)
    few = solve(A[kept], y[kept], c[kept], offset[kept], 0.1, 0.5)
    np.testing.assert_allclose(x, few[1], atol=1e-6)
    assert (alpha[~kept] == 0).all()


def test_epochs_are_bounded_and_bad_data_is_survived(rng):
    A, y, c, offset = problem(rng, 50, 5)
    assert solve(A, y, c, offset, 1e-4, 1e-3, tol=0.0, epochs=3)[3] == 3
    A[7, 2], A[9, 1] = np.nan, np.inf
    alpha, x, b, _ = solve(A, y, c, offset, 0.1, 1.0, epochs=50)
    assert np.isfinite(alpha).all()
    assert np.isfinite(x).all()
    assert np.isfinite(b)
    with pytest.raises(ValueError):
        solve(A, y, c, offset, 0.0, 1.0)
