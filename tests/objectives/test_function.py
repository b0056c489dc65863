"""Functions that the user brings as NumPy callables."""

import functools

import numpy as np
import pytest
from scipy.special import expit

import pursuit
from problems import problem
from pursuit.refits import NotFiniteError, SmoothProblem, State, minimise
from registries import PRIMAL

P, K = 12, 3
GIVEN = problem("squared", n=60, p=P)
X, Y, N = GIVEN.X, GIVEN.y, 60


def value(x):
    r = X @ x - Y
    return r @ r / (2 * N)


def slope(x):
    return X.T @ (X @ x - Y) / N


def bend(x):
    return X.T @ X / N


def block(x, cols):
    return X[:, cols].T @ X[:, cols] / N


class Model:
    """Bound methods, with the data inside."""

    def value(self, x):
        return value(x)

    def slope(self, x):
        return slope(x)


def scaled(factor, x):
    return factor * value(x)


KINDS = {
    "plain": lambda: pursuit.Function(value, slope, P, check=True),
    "hess": lambda: pursuit.Function(value, slope, P, bend),
    "hess on columns": lambda: pursuit.Function(value, slope, P, block),
    "partial": lambda: pursuit.Function(functools.partial(scaled, 1.0), slope, P, functools.partial(block)),
    "bound methods": lambda: pursuit.Function(Model().value, Model().slope, P),
}
GLM = pursuit.GLM(X, Y, fit_intercept=False)


@functools.cache
def reference(solver):
    return pursuit.solve(GLM, K, solver=solver, random_state=0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", PRIMAL)
def test_least_squares_equals_the_glm(solver, kind):
    want, got = reference(solver), pursuit.solve(KINDS[kind](), K, solver=solver, random_state=0)
    assert np.array_equal(got.support, want.support)
    assert got.value == pytest.approx(want.value, rel=1e-9)
    np.testing.assert_allclose(got.coef, want.coef, atol=1e-6)
    assert (got.status, got.intercept) == ("converged", 0.0)


@pytest.mark.parametrize("solver", ["diht", "sdiht"])
def test_dual_methods_say_what_they_need(solver):
    with pytest.raises(TypeError, match="needs a GLM"):
        pursuit.solve(KINDS["plain"](), K, solver=solver)


@pytest.mark.parametrize("kind", KINDS)
def test_the_protocol_agrees_with_the_glm(kind):
    f, cols = KINDS[kind](), np.array([0, 2, 5, 7])
    want, got = GLM.refit(cols), f.refit(cols)
    np.testing.assert_allclose(got.coef, want.coef, atol=1e-9)
    np.testing.assert_allclose(got.gradient, want.gradient, atol=1e-9)
    assert (got.gradient[cols] == 0).all()
    assert got.refitted
    others = np.array([1, 2, 9])
    np.testing.assert_allclose(f.curvatures(got, others), GLM.curvatures(want, others), rtol=1e-6)
    np.testing.assert_allclose(f.hessian_rows(got, cols), GLM.hessian_rows(want, cols), atol=1e-8)
    np.testing.assert_allclose(f.hessian_rows(got, cols, others), GLM.hessian_rows(want, cols, others), atol=1e-8)
    v = np.array([1.0, -2.0, 0.5])
    assert f.curvature(got, others, v) == pytest.approx(GLM.curvature(want, others, v), rel=1e-7)
    assert f.null.value == pytest.approx(value(np.zeros(P)))


def test_logistic_refits_reach_the_digits_of_newton():
    given = problem("logistic", n=80, p=P)
    y, l2 = given.y, 0.01
    glm = pursuit.GLM(given.X, y, "logistic", l2=l2, fit_intercept=False)
    f = pursuit.Function(
        lambda x: np.mean(np.logaddexp(0, given.X @ x) - y * (given.X @ x)) + l2 / 2 * x @ x,
        lambda x: given.X.T @ (expit(given.X @ x) - y) / len(y) + l2 * x,
        P,
    )
    cols = np.array([1, 4, 6, 10])
    np.testing.assert_allclose(f.refit(cols).coef, glm.refit(cols).coef, atol=1e-8)


def test_few_probes_estimate_many_curvatures():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((300, 60)) * rng.uniform(0.5, 2, 60)
    calls = []
    f = pursuit.Function(lambda x: x @ (A.T @ (A @ x)) / 2, lambda x: calls.append(1) or A.T @ (A @ x), 60)
    guess, truth = f.curvatures(f.null, np.arange(60)), (A**2).sum(axis=0)
    assert len(calls) <= 40
    assert (guess > 0).all()
    v = rng.standard_normal(60) ** 2
    assert v @ guess == pytest.approx(v @ truth, rel=0.2)


# GraSP, section 3.2: two functions that are convex on sparse vectors only


def example_one(p=6):
    Q = 2 * np.ones((p, p)) - np.eye(p)
    return (lambda x: x @ Q @ x / 2), (lambda x: Q @ x), (lambda x: Q)


@pytest.mark.parametrize("hess", [False, True])
@pytest.mark.parametrize("solver", ["grahtp", "fgrahtp", "omp", "ompr", "pht", "arht"])
def test_example_one_with_one_sparse_solvers(solver, hess):
    fun, grad, second = example_one()
    start = np.zeros(6)
    start[2] = 1.5
    result = pursuit.solve(pursuit.Function(fun, grad, 6, second if hess else None), 1, solver=solver, start=start)
    assert len(result.support) <= 1
    assert result.value <= fun(start)
    assert result.status == "converged"


@pytest.mark.parametrize("hess", [False, True])
def test_example_one_is_bottomless_on_grasps_merged_support(hess):
    fun, grad, second = example_one()
    start = np.zeros(6)
    start[2] = 1.5
    f = pursuit.Function(fun, grad, 6, second if hess else None)
    merged = f.refit(np.array([0, 1, 2]), start=f.from_units(start))
    assert merged.value == -np.inf
    assert not merged.minimiser
    assert "without bound" in merged.note
    assert np.isfinite(merged.coef).all()
    result = pursuit.solve(f, 1, solver="grasp", start=start)
    assert result.status == "no_minimiser"
    assert np.isfinite(result.value)
    assert np.isfinite(result.coef).all()


def test_a_saddle_is_no_minimiser():
    fun, grad, second = example_one(2)
    point = pursuit.Function(fun, grad, 2, second).refit(np.arange(2))  # the gradient vanishes where this begins
    assert point.value == -np.inf


@pytest.mark.parametrize("hess", [False, True])
@pytest.mark.parametrize("solver", ["grasp", "grahtp", "fgrahtp", "ompr", "pht", "auto"])
def test_example_two_within_its_sparsity(solver, hess):
    k, p, C, s = 8, 10, 50.0, 2  # 4 s <= k
    head = np.arange(k + 1)

    def fun(x):
        return x @ x / 2 + C * np.prod(x[head])

    def grad(x):
        g = x.copy()
        for i in head:
            g[i] += C * np.prod(np.delete(x[head], i))
        return g

    def second(x, cols):
        H = np.eye(p)
        for i in head:
            for j in head[head != i]:
                H[i, j] = C * np.prod(np.delete(x[head], [i, j]))
        return H[np.ix_(cols, cols)]

    start = np.zeros(p)
    start[[1, 9]] = 2.0, -1.0
    result = pursuit.solve(pursuit.Function(fun, grad, p, second if hess else None), s, solver=solver, start=start)
    assert result.value == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(result.x, 0.0, atol=1e-6)
    assert result.status == "converged"


# What has no minimiser


def test_coefficients_that_grow_without_end_are_told():
    f = pursuit.Function(lambda x: np.exp(-x[0]) + x[1] ** 2, lambda x: np.array([-np.exp(-x[0]), 2 * x[1]]), 2)
    point = f.refit(np.arange(2))
    assert not point.minimiser
    assert "still grow" in point.note
    assert pursuit.solve(f, 1).status == "no_minimiser"


def test_a_linear_function_is_bottomless():
    for hess in (None, lambda x: np.zeros((3, 3))):
        f = pursuit.Function(lambda x: float(x.sum()), lambda x: np.ones(3), 3, hess)
        assert f.refit(np.array([1])).value == -np.inf


def test_a_bottomless_function_gets_a_status():
    f = pursuit.Function(lambda x: float(x.sum()), lambda x: np.ones(3), 3)
    for solver in PRIMAL:
        result = pursuit.solve(f, 1, solver=solver, random_state=0, max_iter=50)
        assert np.isfinite(result.value), solver
    for solver in ("auto", "grahtp", "omp", "grasp"):
        assert pursuit.solve(f, 1, solver=solver).status == "no_minimiser", solver


# NaN and exceptions


class Worn:
    """Least squares that gives NaN after some calls."""

    def __init__(self, calls, what="value"):
        self.left, self.what = calls, what

    def value(self, x):
        self.left -= 1
        return value(x) if self.left >= 0 or self.what != "value" else np.nan

    def slope(self, x):
        return slope(x) if self.left >= 0 else np.full(P, np.nan)


def test_nan_in_a_refit_is_an_error_of_its_own():
    f = pursuit.Function(lambda x: np.nan, slope, P)
    with pytest.raises(NotFiniteError, match="nan"):
        f.refit(np.array([1, 2]))
    bad = np.where(np.arange(P) == 3, np.inf, 0.0)
    with pytest.raises(NotFiniteError, match="coordinate 3"):
        _ = pursuit.Function(value, lambda x: bad, P).at(np.array([1]), np.ones(1)).gradient


@pytest.mark.parametrize("what", ["value", "gradient"])
@pytest.mark.parametrize("calls", [4, 9])
@pytest.mark.parametrize("solver", PRIMAL)
def test_nan_after_a_few_calls_becomes_a_status(solver, calls, what):
    worn = Worn(calls, what)
    result = pursuit.solve(pursuit.Function(worn.value, worn.slope, P), K, solver=solver, random_state=0)
    assert result.status == "failed"
    assert "best" in result.reason
    assert np.isfinite(result.value)
    assert np.isfinite(result.x).all()
    assert result.value == pytest.approx(value(result.x))


def test_steps_out_of_the_domain_are_shortened():
    f = pursuit.Function(
        lambda x: x.sum() - np.log1p(x).sum() + x[0] ** 2, lambda x: 1 - 1 / (1 + x) + 2 * x * (np.arange(3) == 0), 3
    )
    with np.errstate(all="ignore"):
        far = f.refit(np.arange(3), start=f.at(np.arange(3), np.array([5.0, 50.0, -0.999])))
    np.testing.assert_allclose(far.coef, 0.0, atol=1e-6)


def test_a_start_serves_where_zero_is_outside_the_domain():
    def fun(x):
        return float(np.sum((x - 2) ** 2) / 2) if x[0] != 0 else np.inf

    f = pursuit.Function(fun, lambda x: x - 2, 3)
    with pytest.raises(ValueError, match="not finite at the start"):
        pursuit.solve(f, 1)
    assert pursuit.solve(f, 1, start=np.array([1.0, 0, 0])).value == pytest.approx(4.0)
    g = pursuit.Function(fun, lambda x: x - 2, 3, start=np.array([1.0, 0, 0]))
    assert pursuit.solve(g, 2, solver="omp").value == pytest.approx(2.0)


@pytest.mark.parametrize("broken", ["fun", "grad", "hess"])
def test_an_exception_propagates_as_it_is(broken):
    def boom(*args):
        raise ZeroDivisionError("mine")

    parts = {"fun": value, "grad": slope, "hess": bend, broken: boom}
    with pytest.raises(ZeroDivisionError, match="mine"):
        pursuit.solve(pursuit.Function(parts["fun"], parts["grad"], P, parts["hess"]), K, solver="grahtp")


# Bad input


def test_a_wrong_gradient_is_found_and_placed():
    def wrong(x):
        g = slope(x)
        g[7] *= 1.01
        return g

    with pytest.raises(ValueError, match=r"grad disagrees with fun at coordinate 7: grad gives .*, differences of fun"):
        pursuit.Function(value, wrong, P, check=True)
    f = pursuit.Function(value, wrong, P)
    with pytest.raises(ValueError, match="coordinate 7"):
        f.check_gradient(np.ones(P))
    with pytest.raises(ValueError, match=r"x must have shape \(12,\), got shape \(3,\)"):
        f.check_gradient(np.ones(3))
    assert pursuit.Function(value, slope, P).check_gradient(np.ones(P)) is None


BAD = {
    "fun": ((3.0, slope, P), TypeError, "fun must be callable, got float"),
    "grad": ((value, None, P), TypeError, "grad must be callable, got NoneType"),
    "hess": ((value, slope, P, np.eye(P)), TypeError, "hess must be callable, got ndarray"),
    "dim zero": ((value, slope, 0), ValueError, "dim must be a positive integer"),
    "dim float": ((value, slope, 12.0), TypeError, "dim must be a positive integer"),
    "dim bool": ((value, slope, True), TypeError, "dim must be a positive integer"),
    "short gradient": ((value, lambda x: x[:-1], P), ValueError, r"grad must return .* \(12,\), got shape \(11,\)"),
    "column gradient": ((value, lambda x: x[:, None], P), ValueError, r"shape \(12,\), got shape \(12, 1\)"),
    "no gradient": ((value, lambda x: None, P), TypeError, "grad must return real numbers"),
    "vector value": ((lambda x: x, slope, P), ValueError, r"fun must return one number, got .* shape \(12,\)"),
    "no value": ((lambda x: None, slope, P), TypeError, "fun must return one real number, got NoneType"),
    "complex value": ((lambda x: 1j, slope, P), TypeError, "fun must return one real number, got complex"),
    "small hessian": ((value, slope, P, lambda x: np.eye(3)), ValueError, r"shape \(12, 12\), got shape \(3, 3\)"),
    "small block": ((value, slope, P, lambda x, c: np.eye(9)), ValueError, r"hess must .* got shape \(9, 9\)"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named(name):
    given, kind, words = BAD[name]
    with pytest.raises(kind, match=words):
        pursuit.solve(pursuit.Function(*given), K, solver="grahtp")


def test_a_bad_start_is_named():
    with pytest.raises(ValueError, match=r"start must be a finite vector of shape \(12,\), got shape \(2,\)"):
        pursuit.Function(value, slope, P, start=np.ones(2))


def test_callables_may_write_on_what_they_get():
    def spoilt(x):
        out = value(x)
        x[:] = np.nan
        return out

    buffer = np.empty(P)

    def reused(x):
        buffer[:] = slope(x)
        return buffer

    result = pursuit.solve(pursuit.Function(spoilt, reused, P), K, solver="grahtp")
    assert np.array_equal(result.support, reference("grahtp").support)


def test_newton_leaves_a_maximum_and_finds_a_minimum():
    class Cosine(SmoothProblem):
        def at(self, z, hessian=True):
            return State(z, float(np.cos(z[0])), -np.sin(z), lambda: -np.cos(z)[:, None])

    end = minimise(Cosine(), np.zeros(1))
    assert end.value == pytest.approx(-1.0)
