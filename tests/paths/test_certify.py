"""Bounds for every size of a path: below the optimum, proofs that are true, and nothing computed twice."""

import itertools
import pickle
import time
from dataclasses import replace

import numpy as np
import pytest

import pursuit
from fuzz.judge import objective
from fuzz.problems import draw
from fuzz.referee import Referee
from paths.cases import CONSTRAINTS, GROUPS, function, glm, several
from pursuit import _core
from pursuit.certificates import leaps
from pursuit.paths import certify


def data(seed, n=60, p=10, noise=1.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + rng.standard_normal((n, 1))
    return X, X[:, :3] @ np.array([1.0, -1.0, 0.5]) + noise * rng.standard_normal(n)


def optimum(f, k, groups=None, include=()):
    units = np.arange(f.dim) if groups is None else np.asarray(groups)
    every = np.unique(units)
    chosen = (set(S) | {units[j] for j in include} for S in itertools.combinations(every, k))
    cols = {tuple(np.flatnonzero(np.isin(units, list(S)))) for S in chosen if len(S) == k}
    return min(f.refit_on_data(np.array(S, dtype=np.int64)).value if S else f.null.value for S in cols)


LOSSES = [("squared", 0.0), ("squared", 0.1), ("logistic", 0.05), ("huber", 0.05), ("poisson", 0.1)]


@pytest.mark.parametrize("time_limit", [None, 0.0, 20.0])
@pytest.mark.parametrize(("loss", "l2"), LOSSES)
@pytest.mark.parametrize("sets", [{}, {"groups": GROUPS}, {"include": [4]}])
def test_bounds_lie_below_the_optimum_and_proofs_are_true(loss, l2, time_limit, sets):
    X, y = data(3, p=9)
    y = {"logistic": y > 0, "poisson": np.round(np.abs(y))}.get(loss, y) + 0.0
    f = pursuit.GLM(X, y, loss, l2=l2)
    ks = range(1, 5)
    rows = pursuit.path(f, ks, **sets).certify(f, time_limit=time_limit)
    assert rows.ks == tuple(ks)
    for k, row in zip(ks, rows, strict=True):
        best = optimum(f, k, **sets)
        assert row.lower <= best + 1e-9 * abs(best)
        assert row.upper >= best - 1e-9 * abs(best)
        assert row.result.k == k
        if row.status == "proved":
            assert row.upper <= best + 1.01e-6 * row.scale
            assert row.result.certificate == "proved"
        elif time_limit:
            pytest.fail(f"size {k}: {row.reason}")
    assert all(a.lower >= b.lower for a, b in itertools.pairwise(rows))
    assert all(a.upper >= b.upper for a, b in itertools.pairwise(rows))


@pytest.mark.parametrize("seed", range(40))
def test_nothing_wrong_is_said_of_the_worst_problems(seed):
    problem = draw(seed)
    f, referee = objective(problem), Referee(problem)
    units = problem.X.shape[1] if problem.groups is None else len(np.unique(problem.groups))
    ks = range(len(problem.include), units - len(problem.exclude) + 1)
    with np.errstate(all="ignore"):
        rows = pursuit.path(f, ks, **problem.sets).certify(f, time_limit=[None, 0.0, 3.0][seed % 3])
        for k, row in zip(ks, rows, strict=True):
            referee.problem = replace(problem, k=k)
            best, at = referee.optimum(), row.result
            room = 1e-9 * referee.scale(best.value) + referee.rounding(at.support, at.coef, at.intercept)
            room += 64 * 2.0**-52 * (referee.null.value - referee.bottom)
            room = max(room, 1e-14) if problem.loss in ("logistic", "poisson") else room
            assert row.lower <= best.value + room
            if row.status == "proved":
                assert row.upper <= best.value + 1.01e-6 * referee.scale(row.upper) + room


def counted(monkeypatch, name, place):
    """How many iterations a kernel makes from now on."""
    kernel, steps = getattr(_core, name), []

    def count(*given):
        found = kernel(*given)
        steps.append(found[place])
        return found

    monkeypatch.setattr(_core, name, count)
    return steps


@pytest.mark.parametrize(("loss", "l2", "kernel"), [("squared", 0.0, "perspective"), ("logistic", 0.02, "relaxation")])
@pytest.mark.parametrize("p", [40, 300])
def test_handing_over_saves_iterations(loss, l2, kernel, p, monkeypatch):
    X, y = data(5, n=400, p=p, noise=4.0)
    f = pursuit.GLM(X, y if loss == "squared" else (y > 0) + 0.0, loss, l2=l2)
    path = pursuit.path(f, range(1, 11))
    steps = counted(monkeypatch, kernel, 5)
    rows = path.certify(f)
    along = sum(steps)
    steps.clear()
    alone = [pursuit.certify(f, result) for result in path]
    assert along <= 1.05 * sum(steps)
    for row, one in zip(rows, alone, strict=True):
        assert row.lower >= one.lower - 1e-3 * one.scale


def test_a_proof_takes_no_more_nodes():
    X, y = data(1, n=80, p=16, noise=3.0)
    f = pursuit.GLM(X, y)
    path = pursuit.path(f, range(1, 9))
    rows, alone = path.certify(f, time_limit=60), [pursuit.certify(f, result, time_limit=60) for result in path]
    assert rows.proved == tuple(range(1, 9))
    assert sum(row.nodes for row in rows) <= 1.2 * sum(one.nodes for one in alone) + 2


def test_the_root_is_made_once(monkeypatch):
    X, y = data(2, p=30, n=100)
    f = pursuit.GLM(X, y)
    made = []
    borrowed = certify.certify_from.__globals__["strong_bound"].__globals__["SparseQuadratic"].borrowed
    monkeypatch.setattr(
        certify.certify_from.__globals__["strong_bound"].__globals__["SparseQuadratic"],
        "borrowed",
        lambda self: made.append(len(self.cols)) or borrowed(self),
    )
    pursuit.path(f, range(1, 8)).certify(f, time_limit=0.0)
    assert made == []
    pursuit.path(f, range(1, 8)).certify(f)
    assert made.count(30) == 1


def test_a_better_solution_serves_the_larger_sizes():
    X, y = data(4, p=12, noise=0.5)
    f = pursuit.GLM(X, y)
    poor = pursuit.solve(f, 2, exclude=[0, 1])
    results = tuple(
        replace(poor, k=k, constraint=f.sparse_set(k), optimality="none", certificate="none") for k in (2, 3)
    )
    path = replace(pursuit.path(f, [2, 3]), results=results)
    rows = path.certify(f, time_limit=20)
    for k, row in zip((2, 3), rows, strict=True):
        assert row.status == "proved"
        assert row.upper == pytest.approx(optimum(f, k), rel=1e-6)


def test_sizes_that_leave_nothing_to_choose():
    X, y = data(6, p=4)
    f = pursuit.GLM(X, y)
    rows = pursuit.path(f, range(5)).certify(f, time_limit=10)
    assert rows.proved == (0, 1, 2, 3, 4)
    assert rows.at(0).lower == pytest.approx(f.null.value)
    assert pursuit.certify(f, pursuit.path(f, [0])[0]).status == "proved"
    forced = pursuit.path(f, [2, 3], include=[0, 1]).certify(f)
    assert forced.at(2).status == "proved"


@pytest.mark.parametrize("name", ["bounds", "sum_to"])
def test_bounds_on_coefficients(name):
    f = glm("squared", "ridge").f
    rows = pursuit.path(f, range(1, 4), **CONSTRAINTS[name]).certify(f)
    for row, larger in itertools.pairwise(rows):
        assert larger.lower <= row.lower <= row.upper


def test_time_is_shared_and_told():
    X, y = data(8, n=60, p=40, noise=6.0)
    f, seen = pursuit.GLM(X, y), []
    path = pursuit.path(f, range(1, 16))
    began = time.process_time()
    rows = path.certify(f, time_limit=1.0, progress=lambda k, now: seen.append((k, now)))
    assert time.process_time() - began < 3.0
    assert sum(row.seconds for row in rows) > 0
    assert sorted({k for k, _ in seen}) == list(range(1, 16))
    assert all(now.lower <= now.upper + 1e-9 for _, now in seen)
    assert {row.status for row in rows} <= {"proved", "bounded"}


@pytest.mark.parametrize("seed", range(0, 80, 8))
def test_a_path_of_targets_that_are_all_but_constant_is_its_own(seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.standard_normal((40, 5)), 10.0 ** rng.uniform(-6, 5, 40)
    noise = 10.0 ** -rng.uniform(0, 9) * rng.standard_normal(40) * (seed % 3 > 0)
    offset = rng.standard_normal(40)
    for y in (10.0 ** rng.uniform(0, 9) + noise, np.full(40, 0.1), 3.7 + offset):
        for o in (None, offset):
            f = pursuit.GLM(X, y, sample_weight=weight, offset=o)
            rows = pursuit.path(f, range(4)).certify(f, time_limit=0)
            assert all(row.lower <= row.upper for row in rows)


def test_the_users_interrupt_leaves_the_bounds_so_far(monkeypatch):
    monkeypatch.setattr(leaps, "MAX_COLUMNS", 0)  # which would have proved it before anyone can interrupt
    X, y = data(8, n=60, p=30, noise=6.0)
    f = pursuit.GLM(X, y, l2=0.1)
    path = pursuit.path(f, range(1, 9))

    def interrupt(k, now):
        if k == 5 and now.open:
            raise KeyboardInterrupt

    rows = path.certify(f, time_limit=100.0, progress=interrupt)
    assert len(rows) == 8
    assert rows.at(1).status == "proved"
    assert rows.at(5).reason == "bounded only: interrupted by the user"
    assert all(row.lower <= row.upper for row in rows)


def test_pickled_printed_and_in_a_frame():
    X, y = data(9)
    f = pursuit.GLM(X, y)
    rows = pursuit.path(f, [1, 3]).certify(f)
    again = pickle.loads(pickle.dumps(rows))
    assert again.ks == (1, 3)
    assert [row.lower for row in again] == [row.lower for row in rows]
    assert again.at(3).result.support.tolist() == rows.at(3).result.support.tolist()
    assert str(again).splitlines()[0].split() == ["k", "lower", "upper", "rel.", "gap", "status", "nodes"]
    assert repr(again) == str(rows)
    assert rows.to_frame().k.tolist() == [1, 3]
    with pytest.raises(KeyError, match="there is no certificate of size 2; there are 1, 3"):
        rows.at(2)
    assert str(certify.Certificates()) == "no certificates"


def test_errors():
    X, y = data(9)
    f = pursuit.GLM(X, y)
    path = pursuit.path(f, [1, 3])
    with pytest.raises(ValueError, match="certify with the objective that was solved"):
        path.certify(pursuit.GLM(X, 2 * y))
    with pytest.raises(ValueError, match="gap must be"):
        path.certify(f, gap=0.0)
    with pytest.raises(ValueError, match="time_limit must be"):
        path.certify(f, time_limit=-1)
    with pytest.raises(TypeError, match="certify needs a GLM"):
        path.certify(function().f)
    multi = several("squared").f
    assert pursuit.path(multi, [1]).certify(multi, time_limit=10.0).proved == (1,)
