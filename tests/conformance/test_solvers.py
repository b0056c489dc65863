"""Every solver x every loss x every kind of X x every kind of constraint keeps the library's promises."""

import functools
import time
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from sklearn.svm import SVC

import pursuit
from problems import DUAL, KINDS, SLOW, problem, standardised
from pursuit.constraints import AtMost
from pursuit.data import InParts
from pursuit.engines import in_threads, in_turn
from pursuit.solvers import as_solver
from registries import PRIMAL

P, K = 12, 3
GROUPS = np.repeat(["wine", "bread", "salt", "oil", "figs"], [3, 2, 3, 2, 2])
CONSTRAINTS = {
    "plain": {},
    "forced": {"include": [P - 1], "exclude": [0, 6]},
    "groups": {"groups": GROUPS},
    "groups_forced": {"groups": GROUPS, "include": [4], "exclude": [9]},
}
DESIGNS = ["dense_c", "dense_f", "float32_c", "csr", "csc", "operator", "standardized", "standardized_csr"]
PARTS = ["parts_dense_c", "parts_csr", "parts_standardized"]  # three of them, uneven
STATUSES = {"converged", "max_iter", "time_limit", "interrupted", "no_minimiser", "failed"}
OPTIMALITIES = {"none", "stationary", "swap_stationary", "swap_optimal"}

CHECKS = []


def promise(check):
    """One of the checks that every cell of the product runs."""
    CHECKS.append(check)
    return check


@functools.cache
def data(loss):
    return problem(loss, p=P, weights=True, offset=loss != "hinge")  # LIBSVM, the referee for hinge, has no offset


def build(solver, loss, design):
    parts, view = design.startswith("parts_"), "standardized" in design
    kind = {"standardized": "dense_c", "standardized_csr": "csr"}.get(name := design.removeprefix("parts_"), name)
    given = data(loss).suited(solver)
    if parts:
        whole = InParts(given.parts(kind), each=in_threads if kind == "csr" else in_turn)
        return pursuit.GLM(whole, loss=loss, l2=given.l2, standardize=view)
    return pursuit.GLM(**given.glm(KINDS[kind](given.X), standardize=view))


@functools.cache
def timed_run(solver, loss, design, constraint):
    """A result, and the seconds that the call took."""
    objective, began = build(solver, loss, design), time.perf_counter()
    result = pursuit.solve(objective, K, solver=solver, max_iter=100, random_state=7, **CONSTRAINTS[constraint])
    return result, time.perf_counter() - began


def run(solver, loss, design, constraint):
    return timed_run(solver, loss, design, constraint)[0]


def in_the_objectives_units(solver, loss, design, result):
    """The problem whose f the library minimised, and the result's (x, b) in its units."""
    given = data(loss).suited(solver)
    if "standardized" not in design:
        return given, result.x, result.intercept
    Z, m, s = standardised(given.X, given.c)
    view = type(given)(Z, given.y, loss, given.l2, given.weight, given.offset)
    return view, result.x * s, result.intercept + m @ result.x


@promise
def the_constraint_is_kept(solver, loss, design, constraint):
    result, wanted = run(solver, loss, design, constraint), CONSTRAINTS[constraint]
    assert np.array_equal(result.support, np.unique(result.support))
    groups = wanted.get("groups", np.arange(P))
    chosen = np.unique(groups[result.support])
    assert len(chosen) <= K
    assert np.array_equal(np.flatnonzero(np.isin(groups, chosen)), result.support)  # groups enter whole
    assert set(groups[wanted.get("include", [])]) <= set(chosen)
    assert not set(groups[wanted.get("exclude", [])]) & set(chosen)


@promise
def the_value_is_that_of_the_coefficients(solver, loss, design, constraint):
    result = run(solver, loss, design, constraint)
    assert result.x.shape == (P,)
    assert np.array_equal(result.x[result.support], result.coef)
    assert np.count_nonzero(result.x) == np.count_nonzero(result.coef)
    assert np.isfinite(result.coef).all()
    assert np.isfinite(result.intercept)
    given, x, b = in_the_objectives_units(solver, loss, design, result)
    assert result.value == pytest.approx(given.value(x, b), rel=1e-10, abs=1e-12)


@promise
def the_coefficients_minimise_f_on_their_support(solver, loss, design, constraint):
    result = run(solver, loss, design, constraint)
    assert result.point.refitted or result.status == "max_iter"
    if not result.point.refitted:
        return
    given, x, b = in_the_objectives_units(solver, loss, design, result)
    if loss == "hinge":  # kinks: no gradient vanishes, so compare with LIBSVM on the same columns
        best = machine(given, tuple(result.support))
        assert given.value(x, b) == pytest.approx(best, abs=1e-7)
        return
    gradient, slope = given.gradient(x, b)
    assert np.abs(gradient[result.support]).max() <= 1e-7
    assert abs(slope) <= 1e-7


def machine(given, support):
    """The hinge objective's minimum over a support, by LIBSVM."""
    A = given.X[:, support]
    svc = SVC(kernel="linear", C=1 / given.l2, tol=1e-9).fit(A, given.y, sample_weight=given.c)
    x = np.zeros(given.X.shape[1])
    x[list(support)] = svc.coef_[0]
    return given.value(x, svc.intercept_[0])


@promise
def the_end_is_told(solver, loss, design, constraint):
    result, elapsed = timed_run(solver, loss, design, constraint)
    assert result.status in STATUSES
    assert result.status != "failed"
    assert result.optimality in OPTIMALITIES
    assert result.certificate == "none" or (solver in DUAL and result.lower <= result.value * (1 + 1e-12))
    assert " " in result.reason
    assert result.solver == solver
    assert result.k == K
    assert 0 <= result.seconds <= elapsed


@promise
def the_trace_is_monotone(solver, loss, design, constraint):
    result = run(solver, loss, design, constraint)
    trace = result.trace
    assert result.n_iter == len(trace) > 0
    assert [record.iteration for record in trace] == list(range(1, len(trace) + 1))
    best = [record.best for record in trace]
    assert all(after <= before for before, after in pairwise(best))
    assert all(record.best <= record.value for record in trace)
    assert best[-1] == result.value
    clock = [record.seconds for record in trace]
    assert clock == sorted(clock)
    assert max(record.changed for record in trace) <= P


@promise
def the_same_call_gives_the_same_bits(solver, loss, design, constraint):
    if design not in ("dense_c", "csr") or constraint not in ("plain", "groups_forced"):
        return
    once = run(solver, loss, design, constraint)
    again = timed_run.__wrapped__(solver, loss, design, constraint)[0]
    assert np.array_equal(once.support, again.support)
    assert np.array_equal(once.coef, again.coef)
    assert (once.intercept, once.value, once.status, once.reason) == (
        again.intercept,
        again.value,
        again.status,
        again.reason,
    )
    assert [r.value for r in once.trace] == [r.value for r in again.trace]


def cells():
    """Every solver with every loss; every design and every constraint with each of these, though not all at once."""
    for solver, (turn, loss) in product(pursuit.list_solvers(), enumerate(pursuit.list_losses())):
        for place, design in enumerate([*DESIGNS, *(PARTS if solver not in DUAL else ())]):
            whole = design in ("dense_c", "csr") and solver not in SLOW | DUAL
            some = list(CONSTRAINTS) if whole else [list(CONSTRAINTS)[(turn + place) % len(CONSTRAINTS)]]
            few = solver in SLOW and design not in ("dense_c", "csr", "standardized", "parts_dense_c")
            for constraint in () if few else some:
                yield solver, loss, design, constraint


@pytest.mark.parametrize(("solver", "loss", "design", "constraint"), list(cells()))
def test_every_promise_is_kept(solver, loss, design, constraint):
    for check in CHECKS:
        check(solver, loss, design, constraint)


@pytest.mark.parametrize("loss", pursuit.list_losses())
@pytest.mark.parametrize("solver", [solver for solver in PRIMAL if solver not in SLOW])
def test_every_kind_of_X_gives_the_same_answer(solver, loss):
    constraint = "groups_forced" if loss in ("squared", "logistic") else "plain"
    dense = run(solver, loss, "dense_c", constraint)
    for design in ("dense_f", "float32_c", "csr", "csc", "operator"):
        other = run(solver, loss, design, constraint)
        if not dense.point.refitted:  # cut short on its way over kinks, where the last bits steer
            assert other.value == pytest.approx(dense.value, rel=1e-2), design
            continue
        assert np.array_equal(other.support, dense.support), design
        assert other.value == pytest.approx(dense.value, rel=1e-9), design
        np.testing.assert_allclose(other.coef, dense.coef, rtol=1e-6, atol=1e-6, err_msg=design)


@pytest.mark.parametrize("loss", pursuit.list_losses())
@pytest.mark.parametrize("solver", PRIMAL)
def test_parts_give_the_answer_of_one_piece(solver, loss):
    for design in ["parts_dense_c"] if solver in SLOW else PARTS:
        constraint = "groups_forced" if loss in ("squared", "logistic") and solver not in SLOW else "plain"
        one, parts = (run(solver, loss, name, constraint) for name in (design.removeprefix("parts_"), design))
        if not one.point.refitted:  # as above
            assert parts.value == pytest.approx(one.value, rel=1e-2)
            continue
        assert np.array_equal(parts.support, one.support)
        assert parts.value == pytest.approx(one.value, rel=1e-6 if solver == "svrght" else 1e-10)
        assert parts.optimality == one.optimality


@pytest.mark.parametrize("solver", sorted(DUAL))
def test_dual_solvers_say_that_they_need_all_rows(solver):
    f = pursuit.GLM(InParts(data("logistic").parts()), loss="logistic", l2=0.1)
    with pytest.raises(TypeError, match="3 parts, and this needs all of them in one piece"):
        pursuit.solve(f, K, solver=solver)


@pytest.mark.parametrize("loss", pursuit.list_losses())
@pytest.mark.parametrize("solver", PRIMAL)
def test_no_solver_is_far_from_the_best_support(solver, loss):
    """A limit that any sane method keeps on easy data: 95% of the gain that the best of all supports brings."""
    given = problem(loss, p=7, density=1.0)
    f = pursuit.GLM(**given.glm())
    best = min(f.refit(np.array(s)).value for s in combinations(range(7), 3))
    result = pursuit.solve(f, 3, solver=solver, max_iter=200)
    assert best - 1e-9 <= result.value <= best + 0.05 * (f.null.value - best)


@pytest.mark.parametrize("solver", pursuit.list_solvers())
def test_iterates_are_points_of_the_constraint(solver):
    """The generator itself, without the driver: each point is feasible, frozen, and carries its own gradient."""
    given = problem("logistic", p=P)  # with a ridge, for the solvers on the dual
    f, constraint = pursuit.GLM(**given.glm()), AtMost(K, P, **CONSTRAINTS["groups_forced"])
    for _, point in zip(range(5), as_solver(solver)[1].iterate(f, constraint, f.null), strict=False):
        assert constraint.allows(point.support)
        assert point.value == pytest.approx(given.value(point.x, point.free), rel=1e-12)
        np.testing.assert_allclose(point.gradient, given.gradient(point.x, point.free)[0], atol=1e-7)
        with pytest.raises(ValueError, match="read-only"):
            point.gradient[0] = 1.0
        with pytest.raises(AttributeError):
            point.value = 0.0
