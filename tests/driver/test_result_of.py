"""Result.of builds a Result from a point: the same one that solve returns, less what only a run knows."""

import numpy as np

import pursuit
from pursuit.solving.result import Result

X = np.random.default_rng(0).standard_normal((40, 8))
y = X[:, [1, 4]] @ [2.0, -1.0] + 0.1 * np.random.default_rng(1).standard_normal(40)


def test_fields_are_those_of_solve():
    f = pursuit.GLM(X, y)
    solved = pursuit.solve(f, 2)
    made = Result.of(f, f.sparse_set(2), solved.point, solver="auto", reason="the search finished")
    for name in ("support", "coef", "intercept", "value", "status", "optimality", "k", "solver", "exchange", "reason"):
        np.testing.assert_equal(getattr(made, name), getattr(solved, name), err_msg=name)
    assert made.next_best == solved.next_best
    assert (made.n_iter, made.trace, made.certificate, made.lower) == (0, (), "none", None)


def test_a_bound_gives_a_certificate():
    f = pursuit.GLM(X, y)
    point = f.refit(np.array([1, 4]))
    made = [Result.of(f, f.sparse_set(2), point, solver="x", lower=share * point.value) for share in (1.0, 0.5)]
    assert [result.certificate for result in made] == ["proved", "bounded"]
    assert made[1].gap == 0.5 * point.value


def test_an_unfinished_refit_has_not_converged():
    f = pursuit.GLM(X, y)
    point = f.at(np.array([1]), np.array([1.0]), 0.0)
    assert Result.of(f, f.sparse_set(1), point, solver="x").status == "converged"  # an iterate without a note
    noted = point._with(note="the refit did not converge")
    assert Result.of(f, f.sparse_set(1), noted, solver="x").status == "max_iter"
