"""Nodes of branch and bound return what they found and change nothing outside."""

import copy

import numpy as np
import pytest

from pursuit import GLM, solve
from pursuit.certificates.bounds import sparse_problem
from pursuit.certificates.glm_node import GLMNode
from pursuit.certificates.tree import Solutions, Tree
from pursuit.certificates.warm_start import SubsetRefits
from pursuit.constraints import AtMost


@pytest.fixture(params=["quadratic", "glm"])
def node(request):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((80, 9))
    f = GLM(X, X[:, :3].sum(axis=1) + rng.standard_normal(80), l2=0.1)
    constraint, known = AtMost(3, 9), solve(f, 3).point
    make = {
        "quadratic": lambda: sparse_problem(f, constraint, known),
        "glm": lambda: GLMNode.root(f, constraint, known.x),
    }
    return f, make[request.param]()


def test_known_solutions_are_only_read(node):
    f, root = node
    known = Solutions(1e-6, f.scale)
    known.offer((6, 7, 8), f.refit(np.array([6, 7, 8])).value)
    before = copy.deepcopy((known.found, known.doubt))
    bound = root.bound(known, 400)
    assert (known.found, known.doubt) == before
    assert bound.solutions.upper < known.upper
    (units,) = bound.solutions.found
    assert bound.solutions.upper == pytest.approx(f.refit(np.array(units)).value, rel=1e-9)
    assert bound.lower <= bound.solutions.upper
    assert not set(bound.always) & set(bound.never)


def test_a_tree_collects_what_its_nodes_found(node):
    f, root = node
    tree = Tree(1e-9, f.scale)
    lower = tree.run(root)
    every = {(i, j, k): f.refit(np.array([i, j, k])).value for i in range(9) for j in range(i) for k in range(j)}
    assert tree.upper == pytest.approx(min(every.values()), rel=1e-9)
    assert lower <= tree.upper
    assert lower == pytest.approx(tree.upper, rel=1e-6)


def test_a_subset_is_refitted_once():
    rng = np.random.default_rng(1)
    f = GLM(rng.standard_normal((20, 30)), rng.standard_normal(20))
    refits, calls = SubsetRefits(f, AtMost(3, 30), max_work=20 * 5**2), []
    plain = f.refit_on_data
    f.refit_on_data = lambda cols: calls.append(tuple(cols)) or plain(cols)
    assert refits((4, 2)) == refits((2, 4))
    assert calls == [(2, 4)]
    assert refits(range(6)) == (np.inf, f.lower)  # too much work
    assert refits(range(25)) == (np.inf, f.lower)  # more columns than rows fit exactly
    assert len(calls) == 1
