"""Functions written in JAX: one trace, few programs, derivatives on the support only."""

import copy
import functools
import sys

import numpy as np
import pytest

import pursuit
from problems import problem
from pursuit.refits import NotFiniteError
from registries import PRIMAL

jax = pytest.importorskip("jax")
jnp = jax.numpy
from pursuit.objectives import jax_objective  # noqa: E402

P, K = 12, 3
GIVEN = problem("squared", n=60, p=P)
X, Y, N = GIVEN.X, GIVEN.y, 60
CALLS = []


@jax.jit
def squared(x):
    CALLS.append(x.shape)
    return jnp.sum((Y - X @ x) ** 2) / (2 * N)


LABELS = problem("logistic", n=60, p=P).y


def logistic(x):
    eta = X @ x
    return jnp.mean(jnp.logaddexp(0.0, eta) - LABELS * eta) + 0.005 * jnp.sum(x**2)


F = pursuit.from_jax(squared, P)
G = pursuit.from_jax(logistic, P)
GLM = pursuit.GLM(X, Y, fit_intercept=False)
LOGISTIC = pursuit.GLM(X, LABELS, "logistic", l2=0.01, fit_intercept=False)


@pytest.mark.parametrize("solver", PRIMAL)
def test_least_squares_equals_the_glm_and_is_traced_once(solver):
    want = pursuit.solve(GLM, K, solver=solver, random_state=0)
    got = pursuit.solve(F, K, solver=solver, random_state=0)
    assert np.array_equal(got.support, want.support)
    assert got.value == pytest.approx(want.value, rel=1e-12)
    np.testing.assert_allclose(got.coef, want.coef, atol=1e-10)
    assert CALLS == [(P,)]


@pytest.mark.parametrize("solver", ["auto", "omp"])
def test_logistic_equals_the_glm(solver):
    want, got = (pursuit.solve(f, K, solver=solver, random_state=0) for f in (LOGISTIC, G))
    assert np.array_equal(got.support, want.support)
    assert got.value == pytest.approx(want.value, rel=1e-10)


def test_each_size_is_compiled_once():
    _ = F.refit(np.arange(3)).gradient  # the first size compiles, whichever test comes first
    sizes = {name: program._cache_size() for name, program in F.programs.made.items()}
    for m in (1, 2, 5, 9, 12):
        _ = F.refit(np.arange(m)).gradient
    assert {name: program._cache_size() for name, program in F.programs.made.items()} == sizes
    assert sizes["local"] == sizes["slope"] == 1


def test_degree_two_is_seen():
    assert F.quadratic
    assert not G.quadratic
    assert pursuit.solve(F, K, solver="local_search").optimality == "swap_optimal"


def test_the_protocol_agrees_with_the_glm():
    cols, rest = np.array([0, 2, 5, 7]), np.array([1, 3, 9])
    want, got = LOGISTIC.refit(cols), G.refit(cols)
    np.testing.assert_allclose(got.coef, want.coef, atol=1e-10)
    np.testing.assert_allclose(got.gradient, want.gradient, atol=1e-10)
    every = np.arange(P)
    np.testing.assert_allclose(G.curvatures(got, every), LOGISTIC.curvatures(want, every), rtol=1e-10)
    for other in (None, rest, cols, every):
        np.testing.assert_allclose(
            G.hessian_rows(got, cols, other), LOGISTIC.hessian_rows(want, cols, other), atol=1e-12
        )
    v = np.array([1.0, -2.0, 0.5])
    assert G.curvature(got, rest, v) == pytest.approx(LOGISTIC.curvature(want, rest, v))
    np.testing.assert_allclose(G.times(got.x, np.eye(P)[:, cols]).T, LOGISTIC.hessian_rows(want, cols), atol=1e-12)


def test_rows_across_and_beyond_the_newton_limit(monkeypatch):
    monkeypatch.setattr(jax_objective, "MIN_PADDED_SIZE", 1)  # so that `cross` serves even here
    monkeypatch.setattr(jax_objective, "MAX_NEWTON_COORDINATES", 3)  # and larger refits are quasi-Newton
    cols, rest = np.array([0, 2, 5, 7]), np.array([1, 3, 4, 6, 8, 9])
    want, got = LOGISTIC.refit(cols), G.refit(cols)
    np.testing.assert_allclose(got.coef, want.coef, atol=1e-8)
    np.testing.assert_allclose(G.hessian_rows(got, cols, rest), LOGISTIC.hessian_rows(want, cols, rest), atol=1e-8)


UNUSUAL = {
    "sliced": lambda x: jnp.sum((X[:, 1:] @ x[1:] + x[0] - Y) ** 2),
    "row vector": lambda x: jnp.sum(jnp.exp(x @ X.T / 9)) + jnp.sum(jnp.abs(x) ** 3),
    "matrix": lambda x: jnp.sum((x.reshape(3, 4) @ x.reshape(3, 4).T) ** 2) - jnp.sum(x),
    "scaled": lambda x: jnp.sum(jnp.tanh(X @ (-x * jnp.arange(1.0, P + 1) / 3) - Y) ** 2) + x @ x,
    "mapped": lambda x: jnp.mean(jax.vmap(lambda row, y: jnp.log1p((row @ x - y) ** 2))(X, Y)),
    "looped": lambda x: jax.lax.fori_loop(0, 3, lambda i, s: s + jnp.cos(x[i]) * s, 1.0) + jnp.sum((x + 1) ** 2),
}


def test_any_traceable_function_has_the_right_derivatives():
    def fun(x):
        return sum(part(x) for part in UNUSUAL.values())

    f = pursuit.from_jax(fun, P)
    assert f.traced.fun is None  # interpreted, not called again
    cols, coef, others = np.array([0, 3, 8]), np.array([0.3, -0.2, 0.5]), np.array([1, 4])
    point = f.at(cols, coef)
    with f._precision():
        x = jnp.asarray(point.x)
        want, gradient, H = map(np.asarray, jax.jit(lambda x: (fun(x), jax.grad(fun)(x), jax.hessian(fun)(x)))(x))
    assert point.value == pytest.approx(float(want), rel=1e-12)
    np.testing.assert_allclose(point.gradient, gradient, rtol=1e-10)
    np.testing.assert_allclose(f.hessian(point.x, cols), H[np.ix_(cols, cols)], rtol=1e-10)
    np.testing.assert_allclose(f.curvatures(point, others), np.diag(H)[others], rtol=1e-10)


def test_float64_is_ours_alone():
    assert jnp.zeros(1).dtype == jnp.float32
    A, b = jnp.asarray(X), jnp.asarray(Y)  # float32, as made
    f = pursuit.from_jax(lambda x: jnp.sum((b - A @ x) ** 2) / (2 * N), P)
    assert f.dtype == np.float64
    want = pursuit.GLM(np.asarray(A, float), np.asarray(b, float), fit_intercept=False).refit(np.array([1, 6]))
    assert f.refit(np.array([1, 6])).value == pytest.approx(want.value, rel=1e-13)
    assert jnp.zeros(1).dtype == jnp.float32


def test_float32_on_request_after_float64():
    f = pursuit.from_jax(squared, P, float64=False)
    assert f.dtype == np.float32
    result = pursuit.solve(f, K, solver="grahtp")
    want = pursuit.solve(GLM, K, solver="grahtp")
    assert np.array_equal(result.support, want.support)
    assert result.value == pytest.approx(want.value, rel=1e-5)


def test_nan_and_exceptions():
    f = pursuit.from_jax(lambda x: jnp.sum(jnp.sqrt(x)) + jnp.sum(x**2), P)
    with pytest.raises(NotFiniteError, match="coordinate 0"):
        _ = f.at(np.array([1]), np.ones(1)).gradient

    def boom(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        pursuit.from_jax(boom, P)


def test_bad_input_is_named(monkeypatch):
    with pytest.raises(TypeError, match="fun must be callable, got float"):
        pursuit.from_jax(3.0, P)
    with pytest.raises(TypeError, match="dim must be a positive integer"):
        pursuit.from_jax(squared, "12")
    with pytest.raises(ValueError, match=r"fun must return one number, got shape \(60,\)"):
        pursuit.from_jax(lambda x: X @ x, P)
    with pytest.raises(ValueError, match="fun must return one number, got 2 arrays"):
        pursuit.from_jax(lambda x: (x[0], x[1]), P)
    with pytest.raises(TypeError, match="fun must return a real number"):
        pursuit.from_jax(lambda x: x[0] > 0, P)
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ImportError, match=r'from_jax needs JAX: pip install "pursuit\[jax\]"'):
        pursuit.from_jax(squared, P)


# the user's own function is left as it was


def straight(A, b):
    return lambda x: jnp.mean((A @ x - b) ** 2) / 2


def by_helper(A, b):
    def residual(x):
        return A @ x - b

    return lambda x: jnp.mean(residual(x) ** 2) / 2


def by_partial(A, b):
    return functools.partial(lambda A, held, x: jnp.mean((A @ x - held["b"]) ** 2) / 2, A, {"b": b})


def by_method(A, b):
    class Model:
        def __init__(self):
            self.A, self.b = A, b

        def loss(self, x):
            return jnp.mean((self.A @ x - self.b) ** 2) / 2

    return Model().loss


def by_jit(A, b):
    return jax.jit(straight(A, b))


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("make", [straight, by_helper, by_partial, by_method, by_jit])
def test_a_function_over_numpy_arrays_works_afterwards(make, before):
    """JAX remembers a NumPy array in the precision of its first use: neither use may spoil the other."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 5))
    b = A[:, 0] - A[:, 2] + 1e-10 * rng.standard_normal(30)
    loss = make(A, b)
    first = np.asarray(jax.grad(loss)(jnp.ones(5))) if before else None
    result = pursuit.solve(pursuit.from_jax(loss, 5), 2)
    exact = pursuit.solve(pursuit.GLM(A, b, fit_intercept=False), 2)
    np.testing.assert_allclose(result.x, exact.x, atol=1e-12)  # all digits, whatever was used before
    after = np.asarray(jax.grad(loss)(jnp.ones(5)))
    assert after.dtype == np.float32
    np.testing.assert_allclose(after, A.T @ (A @ np.ones(5) - b) / 30, rtol=1e-4)
    if first is not None:
        np.testing.assert_array_equal(after, first)


@pytest.fixture
def compiled():
    """The names of what XLA compiles while a test runs."""
    names = []

    def listen(name, seconds, **_):
        if "backend_compile" in name:
            names.append(name)

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield names
    listening.remove_listener(listen)


class listening:
    """JAX has no public way to stop listening."""

    @staticmethod
    def remove_listener(listen):
        from jax._src import monitoring

        for name in ("unregister_event_duration_listener", "_unregister_event_duration_listener_by_callback"):
            if hasattr(monitoring, name):
                getattr(monitoring, name)(listen)
                return


def closure(kind, seed, n=30, p=5):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, p))
    b = A[:, 1] - 2 * A[:, 3] + 0.1 * rng.standard_normal(n)
    if kind == "least squares":
        return lambda x: jnp.mean((A @ x - b) ** 2), A, b
    if kind == "jitted":
        return jax.jit(lambda x: jnp.sum(jnp.tanh(A @ x - b) ** 2)), A, b
    arrays = jnp.asarray(A, jnp.float32), jnp.asarray(b, jnp.float32)
    return lambda x: jnp.sum(jnp.sqrt(1 + (arrays[0] @ x - arrays[1]) ** 2)), A, b


@pytest.mark.parametrize("bounds", [None, (-1.5, 1.5)])
@pytest.mark.parametrize("kind", ["least squares", "jitted", "jax arrays"])
def test_a_new_closure_of_the_same_code_compiles_nothing(kind, bounds, compiled):
    pursuit.solve(pursuit.from_jax(closure(kind, 0)[0], 5), 2, bounds=bounds)
    compiled.clear()
    fun, A, b = closure(kind, 1)
    f = pursuit.from_jax(fun, 5)
    result = pursuit.solve(f, 2, bounds=bounds)
    assert compiled == []
    if kind == "least squares":  # and its numbers are its own
        assert result.value == pytest.approx(float(np.mean((A @ result.x - b) ** 2)), rel=1e-12)
        if bounds is None:
            want = pursuit.solve(pursuit.GLM(A, b, fit_intercept=False), 2)
            assert np.array_equal(result.support, want.support)
            np.testing.assert_allclose(result.x, want.x, atol=1e-8)


def test_literals_tell_functions_apart():
    def scaled(by):
        return lambda x: by * jnp.sum((x - 1.0) ** 2)

    near = [1.0, 1.0 + 1e-16 * 4, float(np.nextafter(1.0, 2.0))]
    values = [pursuit.from_jax(scaled(by), 4).null.value for by in (2.0, 3.0)]
    assert values == [8.0, 12.0]
    kept = {id(pursuit.from_jax(scaled(by), 4).programs) for by in near}
    assert len(kept) == len(set(near))


def test_programs_keep_no_data_alive():
    import gc
    import weakref

    A = np.arange(12.0).reshape(4, 3)
    alive = weakref.ref(keep := jnp.asarray(A, jnp.float32))
    f = pursuit.from_jax(lambda x, A=keep: jnp.sum((A @ x - 1.0) ** 2), 3)
    _ = f.refit(np.arange(2)).gradient
    del f, keep
    gc.collect()
    assert alive() is None


def test_a_quadratic_is_refitted_once_per_support(monkeypatch):
    f = pursuit.from_jax(closure("least squares", 2)[0], 5)
    first = f.refit(np.array([1, 3]))
    monkeypatch.setattr("pursuit.objectives.function.minimise", None)
    assert f.refit(np.array([1, 3]), start=f.null) is first


@pytest.mark.parametrize("float64", [True, False])
def test_it_can_be_copied(float64):
    f = pursuit.from_jax(squared, P, float64=float64, start=np.full(P, 0.1))
    twin, want = copy.deepcopy(f), pursuit.solve(f, K)
    got = pursuit.solve(twin, K)
    assert (twin.dtype, twin.float64) == (f.dtype, float64)
    assert (got.value, got.support.tolist()) == (want.value, want.support.tolist())
    assert twin.null.value == f.null.value
