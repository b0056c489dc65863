"""The relaxation's kernel: valid, tight, the same for every precision, layout and way to write a loss."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from certificates.instances import LOSSES, instance
from pursuit import GLM, Loss, _core, certify, solve
from pursuit.certificates.glm_node import GLMNode
from pursuit.constraints import AtMost
from pursuit.losses import Huber, Logistic, Poisson, Squared, as_loss
from pursuit.objectives.dual import Dual
from pursuit.relaxations.perspective import FREE, IN, OUT, GLMPart, Units

N, P = 60, 9
GROUPS = np.array([0, 0, 1, 2, 2, 2, 3, 4, 4])


def objective(loss, intercept, *, weights=False, l2=0.05):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((N, P)) + 0.7 * rng.standard_normal((N, 1))
    eta = X[:, :3] @ [1.0, -1.0, 0.7]
    y = eta + 0.5 * rng.standard_normal(N)
    if as_loss(loss).targets == "nonnegative":
        y = rng.poisson(np.exp(0.4 * eta)).astype(float)
    if as_loss(loss).targets == "binary":
        y = (y > 0).astype(float)
    weight = rng.integers(0, 3, N).astype(float) if weights else None
    return GLM(X, y, loss, l2=l2, fit_intercept=intercept, sample_weight=weight, offset=0.1 * rng.standard_normal(N))


def part_of(f, dtype=np.float64):
    A = np.ascontiguousarray(f.data.design.block(np.arange(f.dim)).dense().astype(dtype))
    return GLMPart.of(A, f.data.rows, f.loss, f.ridge, f.fit_intercept)


def units_of(constraint, state):
    _, ends = constraint.ordered(np.arange(constraint.units))
    return Units(ends, np.array(state, dtype=np.uint8), constraint.k - int(np.count_nonzero(np.array(state) == IN)))


STATES = {
    "columns": (None, [FREE] * P),
    "forced": (None, [IN, FREE, FREE, OUT, FREE, FREE, FREE, FREE, OUT]),
    "groups": (GROUPS, [FREE, FREE, IN, FREE, OUT]),
}


def optimum(f, constraint, state):
    state = np.array(state)
    inside, free = np.flatnonzero(state == IN), np.flatnonzero(state == FREE)
    return min(
        f.refit(constraint.columns_of(np.union1d(inside, np.array(s, dtype=np.int64)))).value
        for s in itertools.combinations(free, constraint.k - len(inside))
    )


@pytest.mark.parametrize("which", STATES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", [*LOSSES, "huber", "squared_hinge"])
def test_valid_tight_and_what_its_dual_variables_say(loss, intercept, which):
    f = objective(loss, intercept, weights=True)
    groups, state = STATES[which]
    constraint = AtMost(3, P, groups=groups)
    cols, _ = constraint.ordered(np.arange(constraint.units))
    part = GLMPart.of(
        np.ascontiguousarray(f.data.design.block(cols).dense()), f.data.rows, f.loss, f.ridge, f.fit_intercept
    )
    bound = part.relax(units_of(constraint, state), np.zeros(P), 1e3, 3000, 0.0)
    best = optimum(f, constraint, state)
    assert bound.lower <= best + 1e-9
    if f.loss.smooth:
        assert bound.relaxed - bound.lower <= 1e-7
    assert ((bound.t >= 0) & (bound.t <= 1)).all()
    assert bound.t.sum() <= constraint.k + 1e-9
    assert not bound.x[
        np.repeat(np.array(state) == OUT, np.diff(constraint.ordered(np.arange(constraint.units))[1]))
    ].any()
    dual = Dual(f)
    there = AtMost(
        3,
        P,
        include=constraint.columns_of(np.flatnonzero(np.array(state) == IN)),
        exclude=constraint.columns_of(np.flatnonzero(np.array(state) == OUT)),
        groups=groups,
    )
    assert dual.value(dual.feasible(bound.a), there) == pytest.approx(bound.lower, abs=1e-10)
    np.testing.assert_allclose(bound.z, dual.z(bound.a)[cols], atol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_single_precision_walks_to_the_same_bound(loss, intercept):
    f = objective(loss, intercept)
    units = units_of(AtMost(3, P), [FREE] * P)
    double, single = (part_of(f, dtype).relax(units, np.zeros(P), 1e3, 300, 1e-7) for dtype in (np.float64, np.float32))
    assert single.lower == pytest.approx(double.lower, rel=1e-4)
    dual = Dual(f)
    assert dual.value(dual.feasible(single.a), AtMost(3, P)) == pytest.approx(double.lower, rel=1e-4)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kind", [Squared, Logistic, Huber, Poisson])
def test_a_loss_without_a_kernel_gets_the_same_bound(kind, intercept):
    slow = type("Slow", (kind,), {"code": None, "quadratic": False})()
    units = units_of(AtMost(3, P), [FREE] * P)
    bounds = [part_of(objective(loss, intercept)).relax(units, np.zeros(P), 1e3, 200, 1e-6) for loss in (kind(), slow)]
    assert isinstance(slow, Loss)
    assert bounds[1].lower == pytest.approx(bounds[0].lower, abs=1e-6)


def test_an_error_in_a_loss_comes_through():
    class Broken(Logistic):
        code = None

        def d1(self, y, eta):
            raise RuntimeError("no slope today")

    f = objective("logistic", False)
    part = replace(part_of(f), loss=Broken())
    with pytest.raises(RuntimeError, match="no slope today"):
        part.relax(units_of(AtMost(3, P), [FREE] * P), np.zeros(P), 1e3, 5)


@pytest.mark.parametrize("seed", [s for s in range(15) if instance(s).objective.ridge > 0])
def test_children_share_out_what_the_parent_holds(seed):
    case = instance(seed)
    root = GLMNode.root(case.objective, case.constraint, np.zeros(case.objective.dim))
    t = np.where(root.state == FREE, 0.5, 0.0)
    inside, outside = root.children(t)
    for child in (inside, outside):
        assert np.count_nonzero(child.state != root.state) == 1
    chosen = set(inside.sets()[0]) - set(root.sets()[0])
    assert chosen == set(root.sets()[1]) - set(outside.sets()[1])


def test_threads_change_neither_tree_nor_bound():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 20)) + rng.standard_normal((80, 1))
    y = (X[:, :4].sum(axis=1) + rng.standard_normal(80) > 0).astype(float)
    seen = []
    before = _core.get_threads()
    for threads in (1, 2):
        _core.set_threads(threads)
        f = GLM(X, y, "logistic", l2=0.02)
        proof = certify(f, solve(f, 4, solver="omp"), time_limit=60)
        seen.append((proof.status, proof.nodes, proof.lower, proof.upper))
    _core.set_threads(before)
    assert seen[0] == seen[1]
    assert seen[0][0] == "proved"
    assert seen[0][1] > 1


def test_sizes_that_do_not_fit_are_errors():
    f = objective("squared", False)
    X, y, c = np.ones((4, 2)), np.ones(4), np.full(4, 0.25)
    ends, state, x = np.arange(3), np.zeros(2, np.uint8), np.zeros(2)

    def call(X=X, y=y, ends=ends, state=state, x=x, mu=1.0):
        samples = _core.Samples(y, c, None, 0, 0.0)
        return _core.relaxation(X, samples, 0.0, False, None, ends, state, 1, mu, 1.0, 1.0, x, 1.0, 0.1, 5)

    assert call()[0] <= f.null.value + 1e9
    for wrong in (
        {"y": np.ones(3)},
        {"ends": np.arange(4)},
        {"ends": np.array([0, 2, 1])},
        {"x": np.zeros(3)},
        {"mu": 0.0},
        {"X": np.asfortranarray(np.ones((4, 2)))},
    ):
        with pytest.raises(ValueError, match=r"must|differ|wrong"):
            call(**wrong)
