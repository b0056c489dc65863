"""When DIHT and SDIHT end by themselves, and what they say then."""

import numpy as np
import pytest
import scipy.sparse as sp

import pursuit
from dual.instances import LOSSES, K, glm
from pursuit import DIHT, GLM, SDIHT
from pursuit.certificates.glm_node import GLMNode
from pursuit.constraints import AtMost
from pursuit.objectives.dual import Dual
from pursuit.solvers.ascent import Coordinates, Polyak, Supergradient
from pursuit.solvers.diht import GAIN_EPOCHS, Stall
from pursuit_experiments.diht.ridge_regression import drawn

STALLED = "the dual has stalled"
HALT = 1e-3


@pytest.mark.parametrize("copy", [1001, 1002, 1004])
def test_figure_5_1_is_recovered_as_shipped(copy):
    """N < k, where D falls far below its first value at first. The copies are none of the experiment's."""
    X, y, _ = drawn(80, 500, 100, copy)
    result = pursuit.solve(GLM(X, y, l2=0.5, fit_intercept=False), 100, solver="diht")
    assert np.array_equal(result.support, np.arange(100))
    assert result.status == "converged"
    assert result.gap <= 0.01 * result.value


def check_the_end(result, first):
    """`converged` is a closed gap or a stall by the rule, computed here from the trace."""
    if result.certificate == "proved":
        assert "the duality gap is closed" in result.reason
        assert result.gap <= 1e-6 * abs(result.value)
        return
    lower = np.array([first, *(record.lower for record in result.trace)])
    best = np.array([np.inf, *(record.best for record in result.trace)])
    assert result.reason.startswith(STALLED)
    assert lower[-1] > first
    assert result.n_iter >= GAIN_EPOCHS
    gap = best[-1] - lower[-1]
    last = (
        -1 - GAIN_EPOCHS - (result.n_iter > GAIN_EPOCHS and not np.isclose(best[-1], best[-2], rtol=0))
    )  # a refit at the end
    assert lower[-1] - lower[last] <= HALT * gap * (1 + 1e-9)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("loss", LOSSES)
def test_converged_is_a_closed_gap_or_a_stall(loss, kind):
    rng = np.random.default_rng([LOSSES.index(loss), 22])
    X = rng.standard_normal((40, 60)) * (rng.random((40, 60)) < (1.0 if kind == "dense" else 0.2))
    signal = X[:, :4] @ [1.0, -1.0, 0.8, 0.6]
    for l2, scale, intercept in ((1e-4, 1.0, False), (1e-2, 1e3, True), (1.0, 1e-3, False), (10.0, 10.0, True)):
        if loss in ("squared", "huber"):
            y = scale * (signal + 0.3 * rng.standard_normal(40))
        elif loss == "poisson":
            y = rng.poisson(np.exp(0.5 * signal)).astype(float)
        else:
            y = (signal + rng.logistic(size=40) > 0).astype(float)
        f = GLM(X if kind == "dense" else sp.csr_array(X), y, loss, l2=l2, fit_intercept=intercept)
        for solver in (DIHT(relaxation=False), SDIHT(relaxation=False)):  # which would go on after the stall
            result = pursuit.solve(f, 4, solver=solver, max_iter=100)
            dual = f.dual()
            first = dual.value(dual.start(f.null, result.constraint), result.constraint)
            if result.status == "converged":
                check_the_end(result, first)
            else:
                assert result.status == "max_iter"
                assert result.n_iter == 100


def test_no_stall_before_the_first_rise():
    watch = Stall(HALT, 2.0, 1.0)
    assert not any(watch.over(2.0, 1.0) for _ in range(1000))
    assert not any(watch.over(2.0, 1.5) for _ in range(GAIN_EPOCHS))
    assert watch.over(2.0, 1.5)


def test_rounding_is_no_rise_at_any_scale():
    for scale in (1e-200, 1.0, 1e200):
        watch = Stall(HALT, 2 * scale, scale)
        assert not any(watch.over(2 * scale, scale * (1 + 2e-16 * t)) for t in range(100))


def test_a_slow_rise_far_below_a_poor_point_is_no_stall():
    """The gap is that of the point; D has doubled and goes on."""
    watch = Stall(HALT, 1.0, 1e-6)
    assert not any(watch.over(1.0, 1e-6 * (1 + t)) for t in range(100))


def test_a_better_point_is_no_stall():
    watch = Stall(HALT, 2.0, 0.5)
    assert not any(watch.over(2.0 - 0.01 * t, 1.0) for t in range(50))


@pytest.mark.parametrize("step", [None, "coordinate", "paper"])
def test_a_dual_that_never_rises_ends_at_max_iter(step, monkeypatch):
    """Here an epoch leaves a where it is."""
    for rule in (Coordinates, Supergradient):
        monkeypatch.setattr(rule, "epoch", lambda self, a, z, constraint, t, gap: (a, z, z))
    f = glm("squared", False, l2=0.05)
    result = pursuit.solve(f, K, solver=DIHT(step=step, refit=False), max_iter=3 * GAIN_EPOCHS)
    assert (result.status, result.n_iter) == ("max_iter", 3 * GAIN_EPOCHS)


def test_tol_is_of_the_gap():
    X, y, _ = drawn(80, 500, 100, 1001)
    f = GLM(X, y, l2=0.5, fit_intercept=False)
    for solver in ("diht", "sdiht"):
        result = pursuit.solve(f, 100, solver=solver, tol=0.05)
        assert result.status == "converged"
        assert result.reason == "the duality gap is at most tol=0.05 of the value"
        assert result.gap <= 0.05 * result.value
        assert result.certificate == "bounded"


def steps(f, solver):
    return type(solver._rule(Dual(f)))


@pytest.mark.parametrize("standardize", [False, True])
def test_the_default_step(standardize):
    dense, sparse = (glm("logistic", True, make=make, standardize=standardize) for make in (np.asarray, sp.csr_array))
    assert steps(dense, DIHT()) is Supergradient
    assert isinstance(DIHT()._rule(Dual(dense)).schedule, Polyak)
    assert steps(sparse, DIHT()) is Coordinates
    assert steps(dense, SDIHT()) is steps(sparse, SDIHT()) is Coordinates
    assert steps(dense, DIHT(step="coordinate")) is Coordinates


def test_polyaks_step_is_halved_when_d_has_stopped_rising():
    rule = Polyak(3)
    assert [rule.shortens(False) for _ in range(30)] == [False] * 29 + [True]  # before the first rise
    assert [rule.shortens(rose) for rose in (True, False, False, True, False, False, False)] == [False] * 6 + [True]
    assert rule.share == 0.25
    never = Polyak(0)
    assert not any(never.shortens(False) for _ in range(100))
    with pytest.raises(ValueError, match="patience must be a whole number at least 0, got -1"):
        DIHT(patience=-1)


def test_samples_go_back_to_the_best_a_while_d_has_never_risen():
    f, rng = glm("squared", False), np.random.default_rng(0)
    rule = Coordinates(Dual(f), 24, rng, 2)
    assert [rule.shortens(False) for _ in range(40)] == 2 * ([False] * 19 + [True])
    assert not any(rule.shortens(t == 0) for t in range(100))
    assert not any(Coordinates(Dual(f), 24, rng, 0).shortens(False) for _ in range(100))


def test_halving_brings_d_nearer_to_its_maximum():
    """Without a saddle point Polyak's own step circles below it; the maximum is that of the perspective relaxation."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12))
    f = GLM(X, X[:, :4].sum(1) + rng.standard_normal(60), l2=0.02, fit_intercept=False)
    plain, halved = (pursuit.solve(f, 4, solver=DIHT(patience=p, halt=0.0), max_iter=200) for p in (0, 10))
    root = GLMNode.root(f, AtMost(4, 12), np.zeros(12))
    top = root.part.relax(root._open(), root.x, halved.value, 5000, 1e-6).lower
    assert halved.lower <= top + 1e-3 * halved.value
    assert top - halved.lower <= 0.5 * (top - plain.lower)
