"""The quadratic over a box and a hyperplane: against its optimality conditions, enumeration and SciPy."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

from pursuit.refits import box_qp as module
from pursuit.refits.box_qp import InfeasibleError, box_qp, project, reach


def violation(H, g, low, high, a, t, found):
    """The largest violation of feasibility or of a sign of the reduced gradient, on the scale of a unit diagonal."""
    d = found.d
    assert (d >= low).all()
    assert (d <= high).all()
    s = np.sqrt(np.maximum(H.diagonal(), 1e-12))
    r = (g + H @ d - (0 if a is None else found.multiplier * a)) / s / max(1.0, np.abs(d * s).max())
    wrong = np.where(d <= low, -r, np.where(d >= high, r, np.abs(r)))
    wrong[low == high] = 0.0
    off = 0.0 if a is None else abs(a @ d - t) / (1 + abs(t) + np.abs(a) @ np.abs(d))
    return max(wrong.max(initial=0.0), off)


def draw(rng, plane, singular):
    m = int(rng.integers(1, 20))
    A = rng.standard_normal((max(1, m // 2) if singular else m + 1, m)) * 10 ** rng.uniform(-2, 2, m)
    H, g = A.T @ A, A.T @ rng.standard_normal(len(A))
    low = np.where(rng.random(m) < 0.2, -np.inf, -rng.random(m))
    high = np.where(rng.random(m) < 0.2, np.inf, 3 * rng.random(m))
    same = rng.random(m) < 0.1
    low[same] = high[same] = 0.3
    if not plane:
        return H, g, low, high, None, 0.0
    a = np.ones(m) if rng.random() < 0.5 else rng.standard_normal(m) * (rng.random(m) < 0.8)
    return H, g, low, high, a, float(a @ np.clip(2 * rng.standard_normal(m), low, high))


@pytest.mark.parametrize("singular", [False, True])
@pytest.mark.parametrize("plane", [False, True])
def test_solutions_satisfy_the_optimality_conditions(rng, plane, singular):
    for _ in range(80):
        problem = draw(rng, plane, singular)
        assert violation(*problem, box_qp(*problem)) <= 1e-8


def test_the_interior_point_alone_gives_the_same(rng, monkeypatch):
    """The fallback of the fallback: no pivoting at all."""
    problems = [draw(rng, plane, False) for plane in (False, True) for _ in range(20)]
    exact = [box_qp(*problem) for problem in problems]
    monkeypatch.setattr(module, "_pivot", lambda box, side: None)
    for problem, found in zip(problems, exact, strict=True):
        H, g, *_ = problem
        rough = box_qp(*problem)
        value, best = (g @ v.d + v.d @ H @ v.d / 2 for v in (rough, found))
        assert value == pytest.approx(best, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("guess", [-1, 0, 1])
def test_any_guess_of_the_sides_leads_to_the_solution(rng, guess):
    for _ in range(30):
        problem = draw(rng, True, False)
        found = box_qp(*problem, side=np.full(len(problem[1]), guess, np.int8))
        np.testing.assert_allclose(found.d, box_qp(*problem).d, atol=1e-8)


def test_it_equals_the_enumeration_of_all_active_sets(rng):
    for _ in range(20):
        m = 4
        A = rng.standard_normal((6, m))
        H, g, a = A.T @ A, 3 * rng.standard_normal(m), rng.uniform(0.5, 2, m)
        low, high = -rng.random(m), rng.random(m)
        t = float(a @ rng.uniform(low, high))
        best = np.inf
        for sides in product((-1, 0, 1), repeat=m):
            side = np.array(sides)
            d, free = np.where(side < 0, low, np.where(side > 0, high, 0.0)), side == 0
            if free.any():
                K = np.block([[H[np.ix_(free, free)], -a[free, None]], [a[None, free], np.zeros((1, 1))]])
                d[free] = np.linalg.solve(K, np.append(-(g + H @ d)[free], t - a @ d))[:-1]
            if (d >= low - 1e-12).all() and (d <= high + 1e-12).all() and abs(a @ d - t) < 1e-10:
                best = min(best, g @ d + d @ H @ d / 2)
        d = box_qp(H, g, low, high, a, t).d
        assert g @ d + d @ H @ d / 2 == pytest.approx(best, abs=1e-11)


@pytest.mark.parametrize("m", [60, 300])
def test_large_problems(rng, m):
    A, y = rng.standard_normal((m + 100, m)), rng.standard_normal(m + 100)
    low, high = np.full(m, -0.02), np.full(m, 0.03)
    box = A.T @ A, -A.T @ y, low, high, None, 0.0
    plane = A.T @ A, -A.T @ y, low, high, np.ones(m), m / 600
    assert violation(*box, box_qp(*box)) <= 1e-9
    assert violation(*plane, box_qp(*plane)) <= 1e-9
    if m < 100:  # SciPy takes its time
        np.testing.assert_allclose(box_qp(*box).d, lsq_linear(A, y, (low, high), method="bvls").x, atol=1e-10)


def test_the_end_of_the_reach_is_one_point():
    H, g, low, high = np.eye(3), np.array([1.0, -2.0, 0.5]), np.zeros(3), np.full(3, 0.1)
    found = box_qp(H, g, low, high, np.ones(3), 0.30000000000000004)
    np.testing.assert_array_equal(found.d, high)
    assert found.multiplier >= (g + found.d).max() - 1e-12
    assert box_qp(H, g, low, high, np.ones(3), 0.0).d.max() == 0.0
    free = box_qp(H, g, np.append(low[:2], -np.inf), np.append(high[:2], np.inf), np.array([1.0, 1.0, 0.0]), 0.2)
    np.testing.assert_allclose(free.d, [0.1, 0.1, -0.5])


@pytest.mark.parametrize(
    ("low", "high", "a", "t"),
    [([0, 0], [0.1, 0.1], [1, 1], 0.3), ([0, 0], [1, 1], [1, -1], -1.5), ([1, 0], [0, 1], None, 0), ([0], [1], [0], 1)],
)
def test_what_is_infeasible_is_said_to_be(low, high, a, t):
    m = len(low)
    a = None if a is None else np.array(a, float)
    with pytest.raises(InfeasibleError):
        box_qp(np.eye(m), np.ones(m), np.array(low, float), np.array(high, float), a, t)


def test_nothing_to_solve():
    empty = np.empty(0)
    assert box_qp(np.empty((0, 0)), empty, empty, empty).d.shape == (0,)


@pytest.mark.parametrize("plane", [False, True])
def test_projection_is_the_nearest_point(rng, plane):
    for _ in range(60):
        _, v, low, high, a, t = draw(rng, plane, False)
        v = 2 * rng.standard_normal(len(v))
        near = project(v, low, high, a, t)
        exact = box_qp(np.eye(len(v)), -v, low, high, a, t).d
        np.testing.assert_allclose(near, exact, atol=1e-9)
        np.testing.assert_allclose(project(near, low, high, a, t), near, atol=1e-13)


def test_projection_beyond_the_reach_is_the_nearest_end():
    low, high, a = np.zeros(3), np.array([0.1, 0.2, 0.3]), np.array([1.0, -1.0, 1.0])
    assert reach(a, low, high) == pytest.approx((-0.2, 0.4))
    np.testing.assert_array_equal(project(np.zeros(3), low, high, a, 9.0), [0.1, 0.0, 0.3])
    np.testing.assert_array_equal(project(np.zeros(3), low, high, a, -9.0), [0.0, 0.2, 0.0])


def test_slsqp_agrees(rng):
    for _ in range(5):
        A = rng.standard_normal((8, 6))
        H, g = A.T @ A, rng.standard_normal(6)
        low, high = np.zeros(6), np.full(6, 0.3)
        d = box_qp(H, g, low, high, np.ones(6), 1.0).d
        sums = {"type": "eq", "fun": lambda v: v.sum() - 1, "jac": np.ones_like}
        other = minimize(
            lambda v, g=g, H=H: (g @ v + v @ H @ v / 2, g + H @ v),
            np.full(6, 1 / 6),
            jac=True,
            method="SLSQP",
            bounds=[(0, 0.3)] * 6,
            constraints=sums,
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert g @ d + d @ H @ d / 2 <= other.fun + 1e-10
