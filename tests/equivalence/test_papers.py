"""Solvers against the same algorithms written again in plain NumPy, iterate by iterate, and against scikit-learn."""

from itertools import islice, pairwise

import numpy as np
import pytest
from sklearn.linear_model import OrthogonalMatchingPursuit

import pursuit
from problems import problem
from pursuit.constraints import AtMost
from pursuit.solvers import as_solver
from registries import PRIMAL

K = 4


def design(n=60, p=40, seed=1, noise=0.3):
    """A Gaussian design whose thresholding iterations take several steps."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.7 * rng.standard_normal((n, 1))
    return X, X[:, :K] @ np.array([2.0, -1.5, 1.0, 0.6]) + noise * rng.standard_normal(n)


def largest(v, k):
    """The k largest by magnitude, ties to the lowest index."""
    return np.sort(np.lexsort((np.arange(len(v)), -np.abs(v)))[:k])


def htp(X, y, k, step):
    """Foucart's hard thresholding pursuit."""
    n, p = X.shape
    x, kept = np.zeros(p), None
    while True:
        support = largest(x + step / n * X.T @ (y - X @ x), k)
        if kept is not None and np.array_equal(support, kept):
            return
        x = np.zeros(p)
        x[support] = np.linalg.lstsq(X[:, support], y, rcond=None)[0]
        kept = support
        yield x


def iht(X, y, k, step):
    """Blumensath and Davies' iterative hard thresholding, without end."""
    n, p = X.shape
    x = np.zeros(p)
    while True:
        ahead = x + step / n * X.T @ (y - X @ x)
        x = np.zeros(p)
        support = largest(ahead, k)
        x[support] = ahead[support]
        yield x


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("step", [0.1, 0.3, 0.6])
def test_grahtp_is_htp(seed, step):
    X, y = design(seed=seed)
    f = pursuit.GLM(X, y, fit_intercept=False)
    ours = islice(pursuit.GraHTP(step=step).iterate(f, AtMost(K, 40), f.null), 25)
    theirs = list(islice(htp(X, y, K, step), 25))
    assert theirs
    for point, x in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(point.x, x, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("step", [0.05, 0.2])
def test_fgrahtp_is_iht(seed, step):
    X, y = design(seed=seed)
    f = pursuit.GLM(X, y, fit_intercept=False)
    solver = pursuit.FGraHTP(step=step, polish=False, halt=0.0)
    ours = list(islice(solver.iterate(f, AtMost(K, 40), f.null), 60))
    assert len(ours) == 60
    for point, x in zip(ours, iht(X, y, K, step), strict=False):
        np.testing.assert_allclose(point.x, x, atol=1e-9)


def test_fgrahtp_halts_by_the_papers_rule():
    X, y = design()
    f = pursuit.GLM(X, y, fit_intercept=False)
    xs = [point.x for point in pursuit.FGraHTP(step=0.2, polish=False, halt=1e-3).iterate(f, AtMost(K, 40), f.null)]
    moves = [np.linalg.norm(b - a) / np.linalg.norm(a) for a, b in pairwise(xs)]
    assert moves[-1] <= 1e-3 < min(moves[:-1])


@pytest.mark.parametrize("seed", range(6))
def test_grahtp_on_logistic_is_the_paper_line_by_line(seed):
    """(S1) gradient step, (S2) keep k, (S3) minimise over them by Newton, with an intercept."""
    given = problem("logistic", n=90, p=20, seed=seed, density=1.0)
    f, step = pursuit.GLM(**given.glm()), 2.0
    point = f.null
    x, b = np.zeros(20), point.free
    iterates = list(islice(pursuit.GraHTP(step=step).iterate(f, AtMost(3, 20), point), 10))
    assert iterates
    for ours in iterates:
        support = largest(x - step * given.gradient(x, b)[0], 3)
        x, b = newton(given, support)
        assert np.array_equal(ours.support, support)
        np.testing.assert_allclose(ours.x, x, atol=1e-8)
        assert ours.free == pytest.approx(b, abs=1e-8)


def newton(given, support):
    A = np.column_stack([given.X[:, support], np.ones(len(given.y))])
    ridge = given.l2 * np.diag([1.0] * len(support) + [0.0])
    z = np.zeros(len(support) + 1)
    for _ in range(50):
        q = 1 / (1 + np.exp(-A @ z))
        z -= np.linalg.solve(
            (A * (given.c * q * (1 - q))[:, None]).T @ A + ridge, A.T @ (given.c * (q - given.y)) + ridge @ z
        )
    x = np.zeros(given.X.shape[1])
    x[support] = z[:-1]
    return x, z[-1]


@pytest.mark.parametrize("seed", range(8))
def test_omp_is_scikit_learns(seed):
    X, y = design(seed=seed)
    X, y = X - X.mean(axis=0), y - y.mean()
    X /= np.linalg.norm(X, axis=0)
    theirs = OrthogonalMatchingPursuit(n_nonzero_coefs=6, fit_intercept=False).fit(X, y)
    for intercept in (False, True):  # on centred data the intercept is zero
        ours = pursuit.solve(pursuit.GLM(X, y, fit_intercept=intercept), 6, solver="omp")
        np.testing.assert_allclose(ours.x, theirs.coef_, atol=1e-9)
        assert ours.intercept == pytest.approx(0.0, abs=1e-12)


def test_omp_supports_are_nested():
    given = problem("logistic", p=20)
    f = pursuit.GLM(**given.glm())
    before = set()
    values = [f.null.value]
    for size, point in enumerate(pursuit.OMP().iterate(f, AtMost(6, 20), f.null), 1):
        assert len(point.support) == size
        assert before < set(point.support)
        before = set(point.support)
        values.append(point.value)
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("loss", pursuit.list_losses())
@pytest.mark.parametrize("solver", PRIMAL)
def test_groups_of_one_are_no_groups(solver, loss):
    given = problem(loss, n=40, p=9)
    f, p = pursuit.GLM(**given.glm()), given.X.shape[1]
    labels = [f"column {j}" for j in range(p)]
    plain, grouped = AtMost(3, p, [2], [5]), AtMost(3, p, [2], [5], labels)
    first = f.refit(np.array([2]))
    method = as_solver(solver)[1]
    if hasattr(method, "random_state"):
        method = type(method)(random_state=0)
    with np.errstate(all="ignore"):  # as in the driver
        pairs = list(islice(zip(method.iterate(f, plain, first), method.iterate(f, grouped, first), strict=True), 30))
    assert pairs
    for one, other in pairs:
        assert np.array_equal(one.support, other.support)
        np.testing.assert_allclose(other.coef, one.coef, rtol=1e-6, atol=1e-8)
        assert other.value == pytest.approx(one.value, rel=1e-11)


@pytest.mark.parametrize(("alias", "name"), [("htp", "grahtp"), ("iht", "fgrahtp")])
def test_an_alias_is_the_same_file(alias, name):
    X, y = design()
    one, other = (pursuit.solve(pursuit.GLM(X, y), K, solver=solver) for solver in (alias, name))
    assert np.array_equal(one.coef, other.coef)
    assert type(as_solver(alias)[1]) is type(as_solver(name)[1])
