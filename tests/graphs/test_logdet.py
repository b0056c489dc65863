"""Every solver on LogDet keeps the library's promises: the sparse set, the matrix, its value, its units, its words."""

import functools
from itertools import pairwise

import numpy as np
import pytest

import pursuit
from graphs.checks import pairs_of, wrong_claims, wrongs
from graphs.instances import covariance
from graphs.reference import best_graph, correlations, every_pair, refit, shrunk
from pursuit import LogDet, solve
from pursuit.refits import eigenvalue_bounds

REFUSED = ("svrght", "diht", "sdiht")
SOLVERS = [solver for solver in pursuit.list_solvers() if solver not in REFUSED]
P, K = 8, 7
SETS = {
    "plain": {},
    "forced": {"include": [(7, 0), (2, 3)], "exclude": [(0, 1), (5, 4), (1, 6)]},
}
PROBLEMS = {
    "easy": lambda: covariance(0, P, 60),
    "few rows": lambda: covariance(1, P, 6),
    "scales": lambda: covariance(2, P, 20, scales=True),
}


@functools.cache
def run(solver, name, sets, shrinkage=0.0):
    f = LogDet(PROBLEMS[name](), shrinkage=shrinkage)
    return solve(f, K, solver=solver, max_iter=100, random_state=3, **SETS[sets])


@pytest.mark.parametrize("shrinkage", [0.0, 0.2])
@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_keeps_its_promises(solver, name, sets, shrinkage):
    result, S = run(solver, name, sets, shrinkage), PROBLEMS[name]()
    assert result.status in ("converged", "max_iter")
    assert result.solver == solver
    assert result.k == K
    assert " " in result.reason
    assert list(wrongs(result, S, K, **SETS[sets], shrinkage=shrinkage)) == []
    assert list(wrong_claims(result, S, K, **SETS[sets], shrinkage=shrinkage)) == []
    best = [record.best for record in result.trace]
    assert all(after <= before for before, after in pairwise(best))


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_solver_is_far_from_the_best_graph(solver):
    W = np.eye(5) + 0.4 * (np.eye(5, k=1) + np.eye(5, k=-1))  # a chain, plainly
    S = np.linalg.inv(W) + 0.05 * covariance(3, 5, 60)
    best, empty = best_graph(S, 4)[1], best_graph(S, 0)[1]
    result = solve(LogDet(S), 4, solver=solver)
    assert best - 1e-8 <= result.value <= best + 0.15 * (empty - best)


@pytest.mark.parametrize("solver", REFUSED)
def test_some_solvers_refuse_with_a_sentence(solver):
    with pytest.raises((TypeError, ValueError), match=r"needs|LogDet") as error:
        solve(LogDet(covariance(0, P, 60)), K, solver=solver)
    assert len(str(error.value).split()) > 4


@pytest.mark.parametrize("k", [3, 4, 5])
def test_auto_finds_the_best_graph(k):
    found = 0
    for seed in range(50):
        S = covariance(seed, 5, (15, 100)[seed % 2])
        result = solve(LogDet(S), k)
        best = best_graph(S, k)[1]
        assert result.value >= best - 1e-8
        found += result.value <= best + 1e-7
        assert list(wrong_claims(result, S, k)) == []
    assert found >= 48


@pytest.mark.parametrize("seed", range(10))
def test_claims_hold_on_more_nodes(seed):
    """Every exchange refitted by the generic solver: none may help where that is said."""
    S = covariance(seed, 9, (7, 12, 40)[seed % 3])
    sets = {"include": [(0, 1)], "exclude": [(2, 4), (3, 8)]} if seed % 2 else {}
    for solver in ("auto", "local_search", "grahtp"):
        result = solve(LogDet(S), 8, solver=solver, **sets)
        assert list(wrongs(result, S, 8, **sets)) == []
        assert list(wrong_claims(result, S, 8, **sets)) == []


def test_auto_proves_where_that_is_cheap():
    assert solve(LogDet(covariance(4, 8, 100)), 6).optimality == "swap_optimal"


# units, order, kinds of arrays


@pytest.mark.parametrize("solver", ["auto", "grahtp", "local_search"])
def test_units_change_nothing_else(solver):
    S = covariance(5, 7, 30)
    d = 2.0 ** np.array([27, -27, 13, 0, -5, 3, -14])  # 1e8 and 1e-8, without rounding
    here, there = solve(LogDet(S), 6, solver=solver), solve(LogDet(S * d * d[:, None]), 6, solver=solver)
    assert np.array_equal(there.support, here.support)
    np.testing.assert_allclose(there.x * d * d[:, None], here.x, rtol=1e-12)
    assert there.value == pytest.approx(here.value + 2 * np.log(d).sum(), abs=1e-10)
    assert there.optimality == here.optimality


def test_extreme_units():
    S = covariance(6, 6, 20)
    d = 10.0 ** np.array([-8, 8, -150, 150, 0, 3])
    here, there = solve(LogDet(S), 5), solve(LogDet(S * d * d[:, None]), 5)
    assert np.array_equal(there.support, here.support)
    np.testing.assert_allclose(there.x * d * d[:, None], here.x, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("solver", ["auto", "grahtp", "omp"])
def test_the_order_of_the_nodes_changes_nothing(solver):
    S = covariance(7, 8, 30)
    turn = np.random.default_rng(7).permutation(8)
    here, there = solve(LogDet(S), 7, solver=solver), solve(LogDet(S[np.ix_(turn, turn)]), 7, solver=solver)
    assert pairs_of(turn[there.support]) == pairs_of(here.support)
    assert there.value == pytest.approx(here.value, abs=1e-9)


def test_layouts_and_types_of_the_covariance():
    S = covariance(8, 6, 30)
    result = solve(LogDet(S), 5)
    wide = np.zeros((12, 18))
    wide[::2, ::3] = S
    frozen = S.copy()
    frozen.setflags(write=False)
    for other in (np.asfortranarray(S), wide[::2, ::3], frozen, S.tolist(), np.ma.masked_array(S)):
        assert np.array_equal(solve(LogDet(other), 5).x, result.x)
    assert np.array_equal(frozen, S)
    single = solve(LogDet(S.astype(np.float32)), 5)
    assert np.array_equal(single.support, result.support)
    np.testing.assert_allclose(single.x, result.x, rtol=1e-4, atol=1e-4)
    whole = np.round(1e5 * S).astype(np.int64)
    assert list(wrongs(solve(LogDet(whole), 5), whole, 5)) == []


def test_the_objective_keeps_its_own_copy():
    S = covariance(9, 6, 30)
    f, given = LogDet(S), S.copy()
    before = solve(f, 4)
    S[:] = 0.0
    again = solve(f, 4)
    assert np.array_equal(again.x, before.x)
    assert list(wrongs(again, given, 4)) == []


def test_what_an_objective_says_of_itself():
    S = covariance(10, 6, 4)
    f = LogDet(S, names=list("abcdef"), shrinkage=0.25)
    assert f.p == 6
    assert tuple(f.names) == tuple("abcdef")
    np.testing.assert_allclose(f.scales, np.sqrt(S.diagonal()))
    np.testing.assert_allclose(f.R, shrunk(correlations(S)[0], 0.25), atol=1e-15)
    assert LogDet(S).rank == 3


def test_edges_by_name():
    S, names = covariance(11, 6, 30), list("abcdef")
    f = LogDet(S, names=names)
    by_name = solve(f, 5, include=[("f", "a")], exclude=[("b", "c"), ("d", "a")])
    by_index = solve(LogDet(S), 5, include=[(0, 5)], exclude=[(1, 2), (0, 3)])
    assert np.array_equal(by_name.x, by_index.x)
    mask = np.zeros((6, 6), bool)
    mask[1, 2] = mask[2, 1] = mask[0, 3] = mask[3, 0] = True
    assert np.array_equal(solve(f, 5, include=[(0, 5)], exclude=mask).x, by_index.x)


# sizes at the ends


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_edges(solver):
    S = covariance(12, 6, 30)
    result = solve(LogDet(S), 0, solver=solver)
    assert result.support.shape == (0, 2)
    np.testing.assert_allclose(result.x, np.diag(1 / S.diagonal()))
    assert result.value == pytest.approx(6 + np.log(S.diagonal()).sum())


@pytest.mark.parametrize("solver", SOLVERS)
def test_all_edges(solver):
    S = covariance(13, 5, 30)
    result = solve(LogDet(S), 10, solver=solver)
    np.testing.assert_allclose(result.x, np.linalg.inv(S), rtol=1e-6, atol=1e-7)
    assert solve(LogDet(S), 10).optimality == "swap_optimal"  # there is nothing to exchange


def test_more_edges_than_pairs_is_capped_and_said():
    S = covariance(14, 5, 30)
    result = solve(LogDet(S), 99)
    assert len(result.support) == 10
    assert "99" in result.reason
    assert "10" in result.reason


def test_two_nodes():
    S = covariance(15, 3, 20)[:2, :2]
    np.testing.assert_allclose(solve(LogDet(S), 0).x, np.diag(1 / S.diagonal()))
    np.testing.assert_allclose(solve(LogDet(S), 1).x, np.linalg.inv(S), rtol=1e-9)


def test_include_fills_the_budget():
    S = covariance(16, 6, 30)
    edges = [(0, 1), (2, 5), (3, 4)]
    result = solve(LogDet(S), 3, include=edges)
    assert pairs_of(result.support) == set(edges)
    np.testing.assert_allclose(result.x, refit(S, edges)[0], rtol=1e-6, atol=1e-8)


# where graphs have no optimum


@pytest.mark.parametrize("solver", SOLVERS)
def test_more_edges_than_the_rank_bears(solver):
    S = covariance(17, 8, 4)  # rank 3: a clique of four has no optimum
    result = solve(LogDet(S, n_samples=4), 20, solver=solver)
    assert list(wrongs(result, S, 20)) == []
    assert list(wrong_claims(result, S, 20)) == []
    assert "optimum" in result.reason or "rank" in result.reason or len(result.support) == 20


@pytest.mark.parametrize("solver", SOLVERS)
def test_shrinkage_gives_every_graph_an_optimum(solver):
    S = covariance(18, 7, 3)
    result = solve(LogDet(S, shrinkage=0.1), 21, solver=solver, max_iter=30 if solver == "arht" else None)
    assert list(wrongs(result, S, 21, shrinkage=0.1)) == []
    np.testing.assert_allclose(result.x, np.linalg.inv(shrunk(S, 0.1)), rtol=1e-6, atol=1e-7)


def test_include_without_an_optimum_is_an_error():
    S = covariance(19, 6, 3)  # rank 2
    clique = [(0, 1), (0, 2), (1, 2)]
    with pytest.raises(ValueError, match=r"no minimum.*shrinkage"):
        solve(LogDet(S), 4, include=clique)
    assert list(wrongs(solve(LogDet(S, shrinkage=0.2), 4, include=clique), S, 4, include=clique, shrinkage=0.2)) == []


@pytest.mark.parametrize("solver", SOLVERS)
def test_duplicated_columns_are_lived_with(solver):
    S = covariance(20, 6, 30)[np.ix_([0, 1, 2, 3, 4, 5, 2, 0], [0, 1, 2, 3, 4, 5, 2, 0])]
    result = solve(LogDet(S), 9, solver=solver, max_iter=100)
    assert list(wrongs(result, S, 9)) == []
    assert not {(2, 6), (0, 7)} & pairs_of(result.support)


def test_duplicated_columns_are_said():
    S = covariance(20, 4, 30)[np.ix_([0, 1, 2, 3, 1], [0, 1, 2, 3, 1])]
    reason = solve(LogDet(S, names=list("abcde")), 4).reason
    assert "'b'" in reason or "b and e" in reason or "b, e" in reason, reason


# eigenvalue bounds


@pytest.mark.parametrize("solver", ["auto", "grahtp", "omp", "local_search", "foba"])
@pytest.mark.parametrize("share", [0.0, 0.6])
def test_eigenvalue_bounds_are_kept(solver, share):
    S = covariance(21, 6, 15)
    levels = np.linalg.eigvalsh(solve(LogDet(S), 6).x)
    bounds = (levels[0] + share * (levels[1] - levels[0]), levels[-1] - share * (levels[-1] - levels[-2]))
    result = solve(LogDet(S, eigenvalues=bounds), 6, solver=solver)
    assert list(wrongs(result, S, 6, bounds=bounds)) == []


def test_the_papers_method_as_written():
    """Algorithm 2 with the bounds of section 5.3: what is found lies between them."""
    S = covariance(31, 10, 100, mixing=0.1)
    bounds = eigenvalue_bounds(S)
    result = solve(LogDet(S, eigenvalues=bounds), 8, solver="grahtp")
    assert result.optimality == "stationary"
    assert list(wrongs(result, S, 8, bounds=bounds)) == []


def test_bounds_that_do_not_bind_change_nothing():
    S = covariance(22, 6, 40)
    free, held = solve(LogDet(S), 5), solve(LogDet(S, eigenvalues=(1 / np.trace(S), np.inf)), 5)
    assert np.array_equal(free.support, held.support)
    np.testing.assert_allclose(held.x, free.x, rtol=1e-5, atol=1e-6)


# limits


@pytest.mark.parametrize("solver", SOLVERS)
def test_limits_leave_a_valid_matrix(solver):
    S = covariance(23, 15, 30)
    for limits in ({"max_iter": 1}, {"time_limit": 0.0}, {"time_limit": 1e-3}, {"callback": lambda record: True}):
        result = solve(LogDet(S), 12, solver=solver, **limits)
        assert list(wrongs(result, S, 12)) == []
        assert list(wrong_claims(result, S, 12)) == []
    assert solve(LogDet(S), 12, solver=solver, time_limit=0.0).status == "time_limit"


@pytest.mark.parametrize("solver", ["auto", "grahtp", "local_search"])
def test_an_interrupt_leaves_a_valid_matrix(solver):
    S = covariance(24, 12, 30)

    def press(record):
        raise KeyboardInterrupt

    result = solve(LogDet(S), 10, solver=solver, callback=press)
    assert result.status == "interrupted"
    assert list(wrongs(result, S, 10)) == []


def test_an_error_of_the_callback_is_the_users():
    def fail(record):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        solve(LogDet(covariance(25, 8, 30)), 5, callback=fail)


# starts and paths


def test_a_result_is_a_start():
    S = covariance(26, 8, 30)
    first = solve(LogDet(S), 5, solver="omp")
    again = solve(LogDet(S), 7, start=first)
    assert again.value <= first.value + 1e-10
    assert list(wrongs(again, S, 7)) == []


def test_paths_fall_and_are_sound():
    S, sizes = covariance(27, 8, 20), [0, 1, 2, 4, 7, 12, 20, 28]
    path = pursuit.path(LogDet(S), sizes)
    results = list(path)
    assert [result.k for result in results] == sizes
    for result in results:
        assert list(wrongs(result, S, result.k)) == []
        assert list(wrong_claims(result, S, result.k)) == []
    values = [result.value for result in results]
    assert all(after <= before + 1e-10 for before, after in pairwise(values))


@pytest.mark.parametrize("solver", ["grahtp", "omp"])
def test_paths_by_other_solvers(solver):
    S = covariance(28, 7, 20)
    values = []
    for result in pursuit.path(LogDet(S), range(0, 9, 2), solver=solver):
        assert list(wrongs(result, S, result.k)) == []
        values.append(result.value)
    assert all(after <= before + 1e-9 for before, after in pairwise(values))


def test_the_same_call_gives_the_same_bits():
    S = covariance(29, 10, 15)
    for solver in SOLVERS:
        once, again = (solve(LogDet(S), 9, solver=solver, random_state=1, max_iter=20) for _ in range(2))
        assert np.array_equal(once.x, again.x)
        assert (once.value, once.reason) == (again.value, again.reason)


def test_every_pair_is_excluded_but_one():
    S = covariance(30, 5, 20)
    allowed = (1, 3)
    exclude = [tuple(e) for e in every_pair(5).tolist() if tuple(e) != allowed]
    result = solve(LogDet(S), 4, exclude=exclude)
    assert result.support.tolist() == [list(allowed)]
    assert list(wrongs(result, S, 4, exclude=exclude)) == []
