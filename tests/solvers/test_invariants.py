"""What each solver file promises in its docstring, and edges at which a solver must still end."""

import itertools

import numpy as np
import pytest

import pursuit
from problems import problem
from pursuit.constraints import AtMost
from pursuit.objectives import ObjectiveDefaults, Point
from pursuit.solvers import as_solver
from solvers import references as ref

PRIMAL = [name for name in pursuit.list_solvers() if name not in ("diht", "sdiht")]  # those need a dual
LOSSES = ["squared", "logistic", "hinge", "poisson"]
OPTIONS = {
    "grahtp newton": pursuit.GraHTP(refit="newton"),
    "grahtp gradient": pursuit.GraHTP(refit="gradient"),
    "grasp plain": pursuit.GraSP("plain"),
    "grasp newton": pursuit.GraSP("newton"),
    "grasp gradient": pursuit.GraSP("gradient"),
    "pht 1": pursuit.PHT(1),
    "arht paper": pursuit.ARHT("paper", eps=0.1, repeats=1),
    "fbs coordinates": pursuit.FBS("coordinates"),
    "svrght inner 5": pursuit.SVRGHT(inner=5, share=0.3),
}


def glm(loss="squared", **settings):
    given = problem(loss, **settings)
    return pursuit.GLM(**given.glm())


def points(solver, f, constraint, most=60):
    with np.errstate(all="ignore"):  # as under the driver
        return [point for point, _ in zip(solver.iterate(f, constraint, f.null), range(most), strict=False)]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", [name for name in PRIMAL if name != "auto"])
def test_groups_of_one_are_no_groups(name, loss):
    plain, grouped = AtMost(3, 12), AtMost(3, 12, groups=np.arange(12)[::-1])
    one, other = (points(as_solver(name)[1], glm(loss), constraint) for constraint in (plain, grouped))
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert np.array_equal(a.support, b.support)
        np.testing.assert_allclose(a.coef, b.coef, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize(
    "constraint",
    [{}, {"include": [11], "exclude": [1, 6]}, {"groups": np.arange(12) // 3}, {"include": [0, 5, 7]}],
    ids=["plain", "forced", "groups", "full"],
)
def test_options_keep_the_constraint_and_end_refitted(option, loss, constraint):
    result = pursuit.solve(glm(loss), 3, solver=OPTIONS[option], max_iter=300, **constraint)
    assert AtMost(3, 12, **constraint).allows(result.support)
    assert set(constraint.get("include", ())) <= set(result.support)
    assert result.status == "converged"
    assert result.point.refitted


@pytest.mark.parametrize("solver", [*PRIMAL, *OPTIONS])
def test_one_column_and_more_budget_than_columns(solver):
    f = pursuit.GLM(np.arange(9.0)[:, None], np.arange(9.0) % 4)
    least = f.refit(np.array([0])).value
    for k in (1, 5):
        result = pursuit.solve(f, k, solver=OPTIONS.get(solver, solver))
        assert result.value == pytest.approx(least)
    f = glm("logistic", p=4)
    assert pursuit.solve(f, 9, solver=OPTIONS.get(solver, solver)).value == pytest.approx(f.refit(np.arange(4)).value)


@pytest.mark.parametrize("solver", [*PRIMAL, *OPTIONS])
@pytest.mark.parametrize("y", [np.zeros(20), np.ones(20)], ids=["zero", "one"])
def test_nothing_to_explain(solver, y):
    rng = np.random.default_rng(0)
    result = pursuit.solve(pursuit.GLM(rng.standard_normal((20, 6)), y), 2, solver=OPTIONS.get(solver, solver))
    assert result.value == pytest.approx(0, abs=1e-20)


@pytest.mark.parametrize("solver", [*PRIMAL, *OPTIONS])
def test_dependent_columns(solver):
    rng = np.random.default_rng(1)
    X = np.repeat(rng.standard_normal((30, 3)), 3, axis=1)
    X[:, 8] = 0.0
    result = pursuit.solve(pursuit.GLM(X, X[:, 0] - X[:, 3]), 2, solver=OPTIONS.get(solver, solver), max_iter=500)
    assert np.isfinite(result.value)
    assert result.status in ("converged", "max_iter")


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "solver", ["grahtp", "pht", "ompr", "svrght", pursuit.GraHTP(refit="gradient"), pursuit.GraHTP(refit="newton")]
)
def test_values_fall(solver, loss):
    for before, after in itertools.pairwise(points(as_solver(solver)[1], glm(loss), AtMost(3, 12))):
        assert after.value < before.value or (after.value == before.value and after.refitted > before.refitted)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", ["omp", "fbs"])
def test_supports_are_nested(solver, loss):
    chain = points(as_solver(solver)[1], glm(loss), AtMost(5, 12))
    assert [len(point.support) for point in chain] == [1, 2, 3, 4, 5]
    assert all(set(a.support) <= set(b.support) for a, b in itertools.pairwise(chain))


@pytest.mark.parametrize("loss", LOSSES)
def test_foba_steps_back_to_lower_values(loss):
    seen, before = {}, 0
    for point in points(pursuit.FoBa(0.9), glm(loss, seed=3, density=1.0), AtMost(6, 12)):
        size = len(point.support)
        least = seen.get(size, np.inf)
        assert point.value < least or (size > before and point.value <= least * (1 + 1e-12))  # the same support again
        seen[size], before = point.value, size


@pytest.mark.parametrize("loss", LOSSES)
def test_cheaper_refits_end_at_a_fixed_point_of_grahtp(loss):
    f, constraint = glm(loss), AtMost(3, 12)
    for refit in ("newton", "gradient"):
        last = points(pursuit.GraHTP(refit=refit), f, constraint)[-1]
        assert last.refitted
        assert not list(pursuit.GraHTP().iterate(f, constraint, last))


def test_arht_is_never_above_omp_and_repeats_itself():
    for seed in range(5):
        A, y = ref.data(60, 40, 6, 0.9, 1.0, seed)
        f = pursuit.GLM(A, y)
        one, two = (pursuit.solve(f, 6, solver="arht", random_state=seed) for _ in range(2))
        assert one.value <= pursuit.solve(f, 6, solver="omp").value
        assert one.value == two.value
        assert np.array_equal(one.coef, two.coef)


def test_arht_finds_more_than_omp_somewhere():
    gains = 0
    for seed in range(12):
        A, y = ref.data(60, 40, 6, 0.9, 1.0, seed)
        f = pursuit.GLM(A, y)
        gains += pursuit.solve(f, 6, solver="arht").value < pursuit.solve(f, 6, solver="ompr").value * (1 - 1e-9)
    assert gains >= 2


def test_arht_doubles_a_smoothness_that_was_too_small():
    f = glm("poisson")
    result = pursuit.solve(f, 3, solver="arht", max_iter=500)
    assert result.value <= pursuit.solve(f, 3, solver="omp").value


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pursuit.GraSP("debiased"), "did you mean 'debias'"),
        (lambda: pursuit.GraSP(patience=0), "patience"),
        (lambda: pursuit.GraHTP(refit="exakt"), "did you mean 'exact'"),
        (lambda: pursuit.PHT(0), "r must be a positive"),
        (lambda: pursuit.FoBa(1.0), "less than 1"),
        (lambda: pursuit.FBS("units"), "did you mean 'unit'"),
        (lambda: pursuit.ARHT("papers"), "did you mean 'paper'"),
        (lambda: pursuit.ARHT(eps=0.0), "eps"),
        (lambda: pursuit.SVRGHT(share=0.0), "share"),
        (lambda: pursuit.SVRGHT(inner=0), "inner"),
    ],
)
def test_wrong_constants_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


class Quadratic(ObjectiveDefaults):
    """x'Qx/2 - c'x by hand, for any symmetric Q."""

    quadratic = True

    def __init__(self, Q, c):
        self.Q, self.c, self.dim = Q, c, len(c)

    def at(self, support, coef, intercept=None):
        Q, c = self.Q[:, support], self.c
        value = 0.5 * coef @ Q[support] @ coef - c[support] @ coef
        return Point(self.dim, support, coef, 0.0, float(value), lambda: Q @ coef - c)

    def refit(self, support, start=None):
        Q = self.Q[np.ix_(support, support)]
        if len(support) and np.linalg.eigvalsh(Q)[0] < 0:
            free = self.at(support, np.ones(len(support)))
            return Point(self.dim, support, free.coef, 0.0, -np.inf, free.slope, False, "no bottom", False)
        point = self.at(support, np.linalg.solve(Q, self.c[support]))
        return Point(self.dim, support, point.coef, 0.0, point.value, point.slope, True)


@pytest.mark.parametrize("variant", ["plain", "debias"])
@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_graps_first_example_has_no_bottom_on_the_merged_support(variant, slope):
    """Section 3.2, example 1: Q = 2 11' - I is convex over single coordinates only."""
    Q = 2 * np.ones((6, 6)) - np.eye(6)
    f = Quadratic(Q, slope * np.arange(6.0))
    x = np.zeros(6)
    x[2] = 3.0
    result = pursuit.solve(f, 1, solver=pursuit.GraSP(variant), start=x)
    assert result.status == "no_minimiser"
    assert "without bound" in result.reason
    assert result.support.tolist() == [2]
    assert result.value == pytest.approx(-((slope * 2.0) ** 2) / 2)
    for solver in ("grahtp", "omp", "ompr", "pht", "foba", "fbs", "svrght", "fgrahtp"):  # 1-sparse: all is well
        result = pursuit.solve(f, 1, solver=solver, start=x)
        assert result.status == "converged"


def test_default_methods_of_an_objective_agree_with_the_hessian():
    rng = np.random.default_rng(0)
    Q = rng.standard_normal((8, 8))
    Q = Q @ Q.T + np.eye(8)
    f, cols = Quadratic(Q, rng.standard_normal(8)), np.array([1, 4, 6])
    point, v = f.refit(np.array([0, 4])), rng.standard_normal(3)
    np.testing.assert_allclose(f.hessian_rows(point, cols, cols), Q[np.ix_(cols, cols)], rtol=1e-6)
    np.testing.assert_allclose(f.hessian_rows(point, cols), Q[cols], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(f.curvatures(point, cols), np.diag(Q)[cols], rtol=1e-6)
    assert f.curvature(point, cols, v) == pytest.approx(v @ Q[np.ix_(cols, cols)] @ v, rel=1e-6)
    w = rng.random(8)
    ridged, by_hand = f.ridged(w), Quadratic(Q + np.diag(w), f.c)
    np.testing.assert_allclose(ridged.refit(cols).coef, by_hand.refit(cols).coef, rtol=1e-8)
    np.testing.assert_allclose(ridged.refit(cols).gradient, by_hand.refit(cols).gradient, atol=1e-7)
    for solver in PRIMAL:
        result = pursuit.solve(f, 3, solver=solver)
        best = min(f.refit(np.array([i, j, k])).value for i in range(8) for j in range(i) for k in range(j))
        assert best - 1e-9 <= result.value <= 0.7 * best


@pytest.mark.parametrize(("loss", "seeds"), [("squared", (18, 22)), ("logistic", (7, 20, 27))])
def test_arht_never_ends_above_ompr(loss, seeds):
    """Draws on which ARHT, begun at OMP's end, ended above OMPR."""
    for seed in seeds:
        rng = np.random.default_rng([7, seed])
        X = rng.standard_normal((40, 1)) + 0.7 * rng.standard_normal((40, 60))
        y = X[:, :6] @ rng.standard_normal(6) + rng.standard_normal(40)
        f = pursuit.GLM(X, y if loss == "squared" else (y > 0).astype(float), loss, l2=0.001)
        ompr = pursuit.solve(f, 8, solver="ompr").value
        assert pursuit.solve(f, 8, solver=pursuit.ARHT(random_state=seed)).value <= ompr * (1 + 1e-12)
