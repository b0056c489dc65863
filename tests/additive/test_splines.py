"""Spline columns against SciPy's natural splines, integrals of hats, repeated rows."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from pursuit.effects import fit_column
from pursuit.effects.splines import _roughness, change_of_basis, weighted_quantiles


@pytest.fixture
def x():
    return np.random.default_rng(0).gamma(2.0, size=300)


@pytest.mark.parametrize("n_knots", [3, 4, 5, 6, 7])
def test_columns_span_all_natural_splines_on_their_knots(x, n_knots):
    column = fit_column(x, None, "smooth", n_knots)
    assert column.width == n_knots - 1
    curve = CubicSpline(column.knots, np.random.default_rng(1).normal(size=n_knots), bc_type="natural")
    inside = np.linspace(column.knots[0], column.knots[-1], 100)
    A = np.column_stack([np.ones(100), column.evaluate(inside)])
    b = np.linalg.lstsq(A, curve(inside), rcond=None)[0]
    assert np.abs(A @ b - curve(inside)).max() < 1e-9
    beyond = np.array([-50.0, 1e6])
    ends = column.knots[[0, -1]]
    line = curve(ends) + curve(ends, 1) * (beyond - ends)
    assert np.allclose(np.column_stack([np.ones(2), column.evaluate(beyond)]) @ b, line, rtol=1e-7)


def test_columns_are_orthogonal_and_fall_with_roughness(x):
    Z = fit_column(x, None, "smooth", 5).evaluate(x)
    G = Z.T @ Z / len(x)
    assert np.allclose(G, np.diag([1.0, 0.49, 0.25, 0.1225]), atol=1e-6)
    assert np.abs(Z.mean(axis=0)).max() < 1e-10
    assert np.allclose(Z[:, 0], (x - x.mean()) / x.std())


def test_roughness_is_the_integral_of_the_squared_second_derivative(x):
    column = fit_column(x, None, "smooth", 5)
    grid = np.linspace(column.knots[0], column.knots[-1], 40001)
    Z = column.evaluate(grid)[:, 1:]
    bend = np.diff(Z, 2, axis=0) / (grid[1] - grid[0]) ** 2
    numeric = bend.T @ bend * (grid[1] - grid[0])
    span = column.knots[-1] - column.knots[0]
    exact = column.rotation.T @ _roughness(column.knots) @ column.rotation / span**3
    assert np.allclose(numeric, exact, rtol=1e-3, atol=1e-6 * np.abs(exact).max())
    penalised = np.diag(exact) / np.array([0.7, 0.5, 0.35]) ** 2
    assert (np.diff(penalised) > 0).all()


@pytest.mark.parametrize("kind", ["smooth", "increasing", "decreasing", "linear"])
def test_a_weight_of_two_is_a_row_twice_and_a_weight_of_zero_is_no_row(x, kind):
    times = np.random.default_rng(2).integers(0, 4, len(x))
    weighted = fit_column(x, times / times.sum(), kind, 5)
    repeated = fit_column(np.repeat(x, times), None, kind, 5)
    assert np.allclose(weighted.knots, repeated.knots, rtol=1e-12)
    assert np.allclose(weighted.evaluate(x), repeated.evaluate(x), atol=1e-6)


def test_weighted_quantiles_are_those_of_numpy(x):
    levels = [0.05, 0.275, 0.5, 0.95]
    ours = weighted_quantiles(x, np.full(len(x), 1 / len(x)), levels)
    assert np.allclose(ours, np.quantile(x, levels, method="averaged_inverted_cdf"), rtol=0, atol=0)


@pytest.mark.parametrize(("kind", "sign"), [("increasing", 1), ("decreasing", -1)])
def test_nonnegative_coefficients_of_a_monotone_column_are_monotone_everywhere(x, kind, sign):
    column = fit_column(x, None, kind, 5)
    grid = np.linspace(-20, 40, 2000)
    rng = np.random.default_rng(3)
    for _ in range(20):
        b = np.abs(rng.normal(size=column.width)) * rng.integers(0, 2, column.width)
        assert (sign * np.diff(column.evaluate(grid) @ b) >= -1e-12).all()
    A = np.column_stack([np.ones(len(grid)), column.evaluate(grid)])  # slopes are coefficients: lines are among them
    line = np.linalg.lstsq(A, sign * grid, rcond=None)
    assert np.abs(A @ line[0] - sign * grid).max() < 1e-9
    assert (line[0][1:] > 0).all()
    lacking = np.array([1.0, -0.1, 1.0, 1.0, 1.0])  # and a negative slope at a knot is seen
    assert (sign * np.diff(column.evaluate(grid) @ lacking) < 0).any()


def test_coefficients_move_to_other_knots(x):
    old, new = fit_column(x[:250], None, "smooth", 5), fit_column(x, None, "smooth", 5)
    c = np.full(len(x), 1 / len(x))
    b = np.array([1.0, -0.5, 0.8, 0.3])
    before, after = old.evaluate(x) @ b, new.evaluate(x) @ (change_of_basis(old, new, x, c) @ b)
    off = (before - before.mean()) - after
    assert off.std() < 0.02 * before.std()
    assert np.allclose(change_of_basis(new, new, x, c), np.eye(4), atol=1e-6)


def test_constants_heavy_tails_and_repeated_values():
    constant = fit_column(np.full(20, 3.0), None, "smooth", 5, 4)
    assert (constant.evaluate(np.array([3.0, 7.0])) == 0).all()
    assert constant.width == 4
    zeros = np.concatenate([np.zeros(950), np.arange(1.0, 51.0)])  # most quantiles are the same number
    column = fit_column(zeros, None, "smooth", 5)
    assert column.width >= 2
    assert np.isfinite(column.evaluate(zeros)).all()
    tails = np.random.default_rng(0).standard_cauchy(500) ** 3
    Z = fit_column(tails, None, "smooth", 5).evaluate(tails)
    assert np.isfinite(Z).all()
    assert np.abs(Z.mean(axis=0)).max() < 1e-6
