"""Objectives and solvers declare what they have and need; nobody finds out by trying."""

import numpy as np
import pytest

import pursuit
from pursuit import GLM, Function, MultiGLM, Point, solve
from pursuit.objectives import Objective, ObjectiveDefaults
from pursuit.objectives.base import Presented
from pursuit.objectives.bounded import Bounded


class Bowl(ObjectiveDefaults):
    """||x - c||^2 / 2: dim, at and refit, nothing else."""

    def __init__(self, c):
        self.c, self.dim = c, len(c)

    def at(self, support, coef, intercept=None):
        x = np.zeros(self.dim)
        x[support] = coef
        return Point(self.dim, support, coef, 0.0, 0.5 * float(np.sum((x - self.c) ** 2)), lambda: x - self.c)

    def refit(self, support, start=None):
        point = self.at(support, self.c[support])
        return Point(self.dim, support, point.coef, 0.0, point.value, point.slope, refitted=True)


class Pairs(Bowl):
    """Coordinates are pairs (i, j), i < j, of p columns; the diagonal is free, as in a precision matrix."""

    def __init__(self, p, c):
        super().__init__(c)
        self.p, (self.i, self.j) = p, np.triu_indices(p, 1)

    def sparse_set(self, k, include=(), exclude=(), groups=None):
        place = {(int(i), int(j)): at for at, (i, j) in enumerate(zip(self.i, self.j, strict=True))}
        return super().sparse_set(k, [place[pair] for pair in include], [place[pair] for pair in exclude], groups)

    def present(self, point):
        support = np.column_stack([self.i[point.support], self.j[point.support]])
        return Presented(self.p, support, point.coef, np.ones(self.p), None)

    def column_label(self, cols):
        return ", ".join(f"pair ({self.i[j]}, {self.j[j]})" for j in cols)


class Needy(pursuit.Solver):
    """Uses the methods that a test names."""

    def __init__(self, *needs):
        object.__setattr__(self, "needs", needs)

    def iterate(self, f, constraint, start):
        raise AssertionError("the run began")
        yield


def test_three_members_are_an_objective():
    f = Bowl(np.array([1.0, -3.0, 2.0, 0.5]))
    for solver in set(pursuit.list_solvers()) - {"diht", "sdiht"}:
        assert solve(f, 2, solver=solver).support.tolist() == [1, 2], solver
    assert solve(f, 2, bounds=(0, 1.5)).x.tolist() == [1.0, 0.0, 1.5, 0.0]
    assert solve(f, 1, groups=[0, 1, 0, 1]).support.tolist() == [1, 3]


def test_what_is_missing_is_named():
    class Bare:
        dim = 3
        at, refit = Bowl.at, Bowl.refit

    with pytest.raises(TypeError, match=r"objective Bare has no smooth, .*null, .*: inherit ObjectiveDefaults, and"):
        solve(Bare(), 1)
    with pytest.raises(TypeError, match="objective must be one that solve can minimise, got object; for data"):
        solve(object(), 1)

    class Sized(ObjectiveDefaults):
        pass

    with pytest.raises(TypeError, match=r"objective Sized has no dim: .* give dim"):
        solve(Sized(), 1)


def test_coordinates_may_be_pairs():
    f = Pairs(4, np.array([0.1, 3.0, 0.2, -2.0, 0.3, 1.0]))
    result = solve(f, 2, solver="local_search")
    assert result.support.tolist() == [[0, 2], [1, 2]]
    assert result.coef.tolist() == [3.0, -2.0]
    assert result.intercept.tolist() == [1.0] * 4
    assert result.dim == 4
    assert result.next_best.startswith("pair (2, 3) instead of pair (1, 2) would raise the value by about")
    assert solve(f, 2, include=[(0, 1)], exclude=[(0, 2)]).support.tolist() == [[0, 1], [1, 2]]


def test_needs_are_checked_before_the_run(rng):
    X, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    with pytest.raises(TypeError, match="a dual method needs a GLM with one output, without sum_to, got Bowl"):
        solve(Bowl(np.ones(3)), 1, solver=Needy("dual"))
    with pytest.raises(TypeError, match="a dual method needs a GLM with one output, without sum_to, got MultiGLM"):
        solve(MultiGLM(X, np.column_stack([y, y]), "squared"), 1, solver=Needy("minibatch", "dual"))
    with pytest.raises(TypeError, match="needs a GLM with one output, without sum_to, got Bounded"):
        solve(GLM(X, y, l2=1.0), 1, sum_to=1.0, solver=Needy("dual"))
    with pytest.raises(TypeError, match="the solver needs 'telepathy', got GLM"):
        solve(GLM(X, y), 1, solver=Needy("telepathy"))
    with pytest.raises(ValueError, match="a dual method needs l2 > 0, got l2=0"):
        solve(GLM(X, y), 1, bounds=(0, 1), solver=Needy("dual"))
    with pytest.raises(AssertionError, match="the run began"):
        solve(GLM(X, y, l2=1.0), 1, bounds=(0, 1), solver=Needy("dual", "minibatch"))

    class Whole(Bowl):
        offers = ()

    with pytest.raises(TypeError, match="a stochastic method needs an objective that is a sum over samples, got Whole"):
        solve(Whole(np.ones(3)), 1, solver="svrght")


def test_a_dual_is_asked_for(rng):
    X, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    f = GLM(X, y, l2=0.5)
    constraint = f.sparse_set(2)
    dual, box = f.dual(), Bounded(f, (-0.1, 0.1)).dual()
    a = dual.from_point(f.null)
    assert dual.value(a, constraint) <= box.value(a, constraint)
    with pytest.raises(TypeError, match="a dual method needs a GLM"):
        Function(lambda x: float(x @ x), lambda x: 2 * x, 3).dual()


def test_every_objective_is_one():
    for kind in (GLM, MultiGLM, Function, Bounded):
        assert issubclass(kind, Objective)
