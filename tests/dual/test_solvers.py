"""DIHT and SDIHT: bounds that hold, gaps that close, runs that repeat."""

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import pursuit
from dual.instances import CELLS, CONSTRAINTS, LOSSES, K, P, glm, solved
from pursuit import DIHT, GLM, SDIHT
from pursuit.constraints import AtMost
from pursuit.solvers import diht

EVERY = {
    "diht": DIHT(),
    "sdiht": SDIHT(block=5),
    "raw": SDIHT(block=4, refit=False),
    "polyak": SDIHT(block=6, step="polyak"),
    "number": DIHT(step=0.5),
}


@pytest.mark.parametrize(("loss", "intercept", "kind"), CELLS)
def test_the_dual_value_is_never_above_the_optimum(loss, intercept, kind):
    f, _, optimum = solved(loss, intercept, kind, seed=3)
    for name, solver in EVERY.items():
        result = pursuit.solve(f, K, solver=solver, max_iter=25, **CONSTRAINTS[kind])
        slack = 1e-9 * max(1.0, abs(optimum.value))
        assert result.lower <= optimum.value + slack, name
        assert optimum.value <= result.value + slack, name
        assert result.certificate != "proved" or result.value <= optimum.value + 2e-6 * abs(optimum.value), name
        assert result.gap == result.value - result.lower
        lowers = [record.lower for record in result.trace]
        assert lowers == sorted(lowers)
        assert all(record.gap == record.best - record.lower for record in result.trace)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", ["diht", "sdiht"])
def test_the_gap_closes_under_a_heavy_ridge(solver, loss, intercept):
    f, _, optimum = solved(loss, intercept, "plain", seed=5, l2=20.0)
    result = pursuit.solve(f, K, solver=solver, max_iter=200)
    margin = np.abs(optimum.coef).min() - np.abs(np.delete(optimum.gradient, optimum.support)).max() / f.ridge
    if margin > 0:
        assert (result.status, result.certificate) == ("converged", "proved")
        assert "Theorem 1" in result.reason
        assert np.array_equal(result.support, optimum.support)
        assert result.gap <= 1e-6 * abs(result.value)
    assert result.value == pytest.approx(optimum.value, rel=1e-9)


@pytest.mark.parametrize("step", ["coordinate", "paper"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "smoothed_hinge"])
def test_the_raw_primal_closes_the_gap_too(loss, step):
    """The paper's own iterate, without a refit: P(w) - D(alpha) falls toward zero at a saddle point (figure 5.3)."""
    f, _, optimum = solved(loss, False, "plain", seed=5, l2=20.0)
    gaps = [record.gap for record in pursuit.solve(f, K, solver=DIHT(step=step, refit=False), max_iter=60).trace]
    assert gaps[-1] <= 1e-2 * max(gaps[0], 1e-4 * optimum.value)


def test_one_block_is_diht():
    for loss in LOSSES:
        for step in (None, "polyak", 0.5):
            f, constraint, _ = solved(loss, True, "plain")
            runs = (
                solver.iterate(f, constraint, f.null) for solver in (DIHT(step=step), SDIHT(step=step, block=10**6))
            )
            with np.errstate(all="ignore"):
                for one, other in islice(zip(*runs, strict=True), 6):
                    assert np.array_equal(one.support, other.support)
                    assert (one.value, one.lower) == (other.value, other.lower)


@pytest.mark.parametrize("solver", [DIHT(step="coordinate"), SDIHT()])
def test_the_same_call_is_the_same_run(solver):
    f = glm("logistic", True, l2=0.02)
    one, two = (pursuit.solve(f, K, solver=solver, random_state=3, max_iter=50) for _ in range(2))
    assert [(r.value, r.lower) for r in one.trace] == [(r.value, r.lower) for r in two.trace]
    other = pursuit.solve(f, K, solver=solver, random_state=4, max_iter=50)
    assert [r.lower for r in other.trace] != [r.lower for r in one.trace]


KINDS = {"f": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array, "strided": lambda X: np.repeat(X, 2, 0)[::2]}


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_every_kind_of_X_gives_the_same_run(loss, intercept, standardize):
    want, *others = (
        pursuit.solve(glm(loss, intercept, make=make, standardize=standardize), K, solver=SDIHT(block=6), max_iter=15)
        for make in (np.asarray, *KINDS.values())
    )
    for name, got in zip(KINDS, others, strict=True):
        assert np.array_equal(got.support, want.support), name
        np.testing.assert_allclose([r.lower for r in got.trace], [r.lower for r in want.trace], rtol=1e-7, err_msg=name)


def test_float32_and_operators():
    want = pursuit.solve(glm("logistic", True), K, solver="sdiht")
    single = pursuit.solve(glm("logistic", True, make=lambda X: X.astype(np.float32)), K, solver="sdiht")
    linear = pursuit.solve(glm("logistic", True, make=aslinearoperator), K, solver="sdiht")
    assert np.array_equal(single.support, want.support)
    assert single.lower == pytest.approx(want.lower, rel=1e-3)
    assert linear.lower <= want.value * (1 + 1e-9)
    with pytest.raises(ValueError, match="step='coordinate' needs an X with rows"):
        pursuit.solve(glm("logistic", True, make=aslinearoperator), K, solver=DIHT(step="coordinate"))


def test_a_users_loss_with_a_conjugate():
    class Plain(pursuit.Loss):
        """The squared loss without a kernel and without a derivative of its conjugate."""

        name = "plain"

        def value(self, y, eta):
            return 0.5 * (eta - y) ** 2

        def d1(self, y, eta):
            return eta - y

        def conjugate(self, y, a):
            return 0.5 * a**2 + a * y

        def dual_domain(self, y):
            return np.full_like(y, -np.inf), np.full_like(y, np.inf)

    f, _, optimum = solved("squared", True, "plain", l2=20.0)
    twin = pursuit.GLM(
        f.data.design, f.data.rows.y, Plain(), l2=20.0, sample_weight=f.data.rows.c, offset=f.data.rows.offset
    )
    result = pursuit.solve(twin, K, solver="diht", max_iter=100)
    assert result.lower <= optimum.value * (1 + 1e-9)
    assert result.value == pytest.approx(optimum.value, rel=1e-6)


def test_it_ends_by_itself_and_does_not_jam():
    """Where the gap stays open D still comes near its maximum, which a long run of another rule agrees on."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12))
    f = pursuit.GLM(X, X[:, :4].sum(1) + rng.standard_normal(60), l2=0.3, fit_intercept=False)
    long = pursuit.solve(f, 4, solver=DIHT(step="paper", refit=False, halt=0.0), max_iter=3000)
    for solver in ("diht", "sdiht"):
        result = pursuit.solve(f, 4, solver=solver)
        assert result.status == "converged"
        assert result.lower >= long.lower - 0.1 * (result.value - long.lower) - 1e-3 * result.value


def test_halt_0_runs_on():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12))
    f = pursuit.GLM(X, X[:, :4].sum(1) + rng.standard_normal(60), l2=0.05, fit_intercept=False)
    early = pursuit.solve(f, 4, solver=DIHT(relaxation=False))
    late = pursuit.solve(f, 4, solver=DIHT(halt=0.0), max_iter=early.n_iter + 50)
    assert early.status == "converged"
    assert late.n_iter == early.n_iter + 50
    assert late.gap <= early.gap


def test_iterates_keep_to_the_constraint():
    f, constraint = glm("hinge", True), AtMost(K, P, **CONSTRAINTS["groups"])
    for refit in (True, False):
        for point in islice(SDIHT(block=4, refit=refit).iterate(f, constraint, f.null), 5):
            assert constraint.allows(point.support)
            assert point.refitted == refit
            assert point.lower is not None
            at = f.at(point.support, point.coef, point.free)
            assert point.value == pytest.approx(at.value, rel=1e-12)


@pytest.mark.parametrize("solver", [DIHT, SDIHT])
def test_errors(solver):
    with pytest.raises(ValueError, match="needs l2 > 0"):
        pursuit.solve(glm("squared", True, l2=0.0), K, solver=solver())
    with pytest.raises(ValueError, match="step 'papper' is unknown; did you mean 'paper'"):
        solver(step="papper")
    with pytest.raises(ValueError, match="step must be a finite number greater than 0"):
        solver(step=0.0)
    with pytest.raises(ValueError, match="halt"):
        solver(halt=-1.0)
    with pytest.raises(ValueError, match="step='paper' needs a loss with bounded curvature, and 'hinge' has none"):
        pursuit.solve(glm("hinge", False), K, solver=solver(step="paper"))


def test_errors_of_blocks():
    with pytest.raises(ValueError, match="block must be at least 2 with an intercept"):
        pursuit.solve(glm("squared", True), K, solver=SDIHT(block=1))
    with pytest.raises(ValueError, match="block must be a positive integer"):
        SDIHT(block=0)
    assert pursuit.solve(glm("squared", False), K, solver=SDIHT(block=1), max_iter=5).lower is not None


@pytest.mark.parametrize("solver", ["diht", "sdiht"])
@pytest.mark.parametrize("loss", ["smoothed_hinge", "hinge"])
def test_a_dear_refit_waits_but_comes(solver, loss, monkeypatch):
    f = glm(loss, True)
    refitted = []
    refit = GLM.refit
    monkeypatch.setattr(
        GLM, "refit", lambda self, support, start=None: refitted.append(1) or refit(self, support, start)
    )
    often = pursuit.solve(f, K, solver=solver, random_state=0)
    count = len(refitted)
    monkeypatch.setattr(diht, "MAX_REFIT_COST", 0)
    refitted.clear()
    seldom = pursuit.solve(f, K, solver=solver, random_state=0)
    assert len(refitted) <= count
    for result in (often, seldom):
        assert result.value == pytest.approx(f.refit(result.support).value, rel=1e-9)
        assert result.lower <= result.value + 1e-12
