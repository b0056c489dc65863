"""Wide problems: the working set's bound is the relaxation's over all columns, on every kind of X."""

import numpy as np
import pytest

from problems import KINDS
from pursuit import GLM, certify, solve
from pursuit.certificates.bounds import cheap_bound
from pursuit.certificates.glm_node import GLMNode
from pursuit.certificates.tree import Tree
from pursuit.constraints import AtMost
from pursuit.objectives.dual import Dual
from pursuit.relaxations import working_columns as module
from pursuit.relaxations.working_columns import WorkingColumns, working_set

N, P, K = 60, 700, 4


def wide(kind="dense_c", loss="squared", groups=None, scale=1.0, **settings):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.5) * scale
    eta = X[:, :K].sum(axis=1) / scale
    y = eta + rng.standard_normal(N)
    if loss != "squared":
        y = (y > 0).astype(float)
    f = GLM(KINDS[kind](X), y, loss, l2=0.1 * scale**2, **settings)
    constraint = AtMost(K, P, groups=groups)
    return f, constraint, f.refit(constraint.top(f.null.gradient))


def start(constraint, known, scale=abs):
    tree = Tree(1e-6, scale)
    tree.offer(tuple(constraint.units_of(known.support).tolist()), known.value)
    return tree


@pytest.mark.parametrize("settings", [{}, {"fit_intercept": False}, {"standardize": True}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_the_bound_is_the_whole_relaxations(kind, loss, settings):
    f, constraint, known = wide(kind, loss, **settings)
    tree = start(constraint, known)
    lower = working_set(f, constraint, known, tree, cheap_bound(f, constraint, known))
    root = GLMNode.root(f, constraint, known.x)
    whole = root.part.relax(root._open(), root.x, 1e3, 4000, 1e-7)
    room = 1.2 * module.VALUE_PRECISION * abs(tree.upper)
    assert whole.lower - room <= lower <= whole.relaxed + (1e-9 if f.loss.smooth else 0.02)


def test_groups_enter_whole():
    groups = np.arange(P) // 3
    f, constraint, known = wide(groups=groups)
    tree = start(constraint, known)
    lower = working_set(f, constraint, known, tree, -np.inf)
    root = GLMNode.root(f, constraint, known.x)
    whole = root.part.relax(root._open(), root.x, 1e3, 4000, 1e-7)
    assert lower == pytest.approx(whole.lower, abs=1.2 * module.VALUE_PRECISION * abs(tree.upper))


def test_a_block_holds_the_columns_it_says(monkeypatch):
    monkeypatch.setattr(module, "BLOCK_GROWTH", 1.5)
    f, constraint, _ = wide()
    A = f.data.design.block(np.arange(P)).dense()
    block = WorkingColumns(f, constraint)
    held = np.empty(0, np.int64)
    rng = np.random.default_rng(0)
    for share, add in ((1.0, 20), (1.0, 5), (0.3, 4), (0.95, 2), (0.5, 300)):
        keep = rng.random(len(held)) < share
        new = np.sort(rng.choice(np.setdiff1d(np.arange(P), held), add, replace=False))
        assert block.changed(keep, new) is block
        held = block.units
        assert set(new) <= set(held)
        np.testing.assert_array_equal(block.cols, held)
        np.testing.assert_allclose(block.room[:, : len(held)], A[:, held], rtol=1e-6)
        np.testing.assert_allclose(block.mean, f.data.rows.c @ A[:, held], atol=1e-5)


def test_numbers_beyond_single_precision_are_walked_in_double():
    plain, huge = (wide(scale=scale)[0] for scale in (1.0, 1e60))
    constraint = AtMost(K, P)
    bounds = []
    for f in (plain, huge):
        known = f.refit(np.arange(K))
        with np.errstate(all="ignore"):
            bounds.append(working_set(f, constraint, known, start(constraint, known), -np.inf))
    assert bounds[1] == pytest.approx(bounds[0], rel=2e-3)


def test_certify_takes_it_and_says_so():
    f, _, _ = wide(loss="logistic")
    proof = certify(f, solve(f, K, solver="grahtp"))
    assert proof.status == "bounded"
    assert 0 < proof.lower < proof.upper


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
@pytest.mark.parametrize("intercept", [False, True])
def test_z_of_a_refit_comes_from_its_gradient(loss, intercept):
    f, _, _ = wide(loss=loss, fit_intercept=intercept)
    point = f.refit(np.array([0, 3, 9]))
    dual = Dual(f)
    a = dual.from_point(point)
    np.testing.assert_allclose(dual.z_from_point(point, a), dual.z(a), atol=1e-9)
