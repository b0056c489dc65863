"""What a path gives at k does not depend on the other sizes, a longer one is no worse, and small ones are the best."""

import itertools
import threading

import numpy as np
import pytest

import pursuit
from paths.cases import function, glm, several

CASES = {
    "squared": lambda: glm("squared").f,
    "squared, csr": lambda: glm("squared", kind="csr").f,
    "squared, operator": lambda: glm("squared", kind="operator").f,
    "logistic": lambda: glm("logistic").f,
    "poisson in parts": lambda: glm("poisson", parts=True).f,
    "huber": lambda: glm("huber").f,
    "multinomial": lambda: several("multinomial").f,
    "function": lambda: function().f,
}


def correlated(seed, n=60, p=20, noise=2.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 1.5 * rng.standard_normal((n, 1))
    return X, X[:, :5] @ rng.standard_normal(5) + noise * rng.standard_normal(n)


@pytest.mark.parametrize("name", CASES)
def test_other_sizes_do_not_matter(name):
    f = CASES[name]()
    whole = pursuit.path(f, range(6))
    for ks in ([5], [5, 2], [2, 5, 5, 0]):
        some = pursuit.path(f, ks)
        assert some.ks.tolist() == sorted(set(ks))
        for k in ks:
            assert some.at(k).value == whole.at(k).value
            np.testing.assert_array_equal(some.at(k).support, whole.at(k).support)
            assert some.at(k).optimality == whole.at(k).optimality


@pytest.mark.parametrize("name", CASES)
def test_a_longer_path_is_no_worse(name):
    f = CASES[name]()
    paths = [pursuit.path(f, range(top + 1)) for top in (2, 4, 7)]
    for shorter, longer in itertools.pairwise(paths):
        room = 1e-10 * np.abs(shorter.values)
        assert (longer.values[: len(shorter)] <= shorter.values + room).all()


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_longer_path_is_no_worse_where_that_is_hard(loss):
    for seed in range(8):
        X, y = correlated(seed, p=40)
        f = pursuit.GLM(X, y if loss == "squared" else y > 0, loss, l2=0.01)
        paths = [pursuit.path(f, range(top + 1)) for top in (3, 6, 12)]
        for shorter, longer in itertools.pairwise(paths):
            assert (longer.values[: len(shorter)] <= shorter.values * (1 + 1e-10)).all()


def test_small_paths_are_the_best_there_are():
    sizes = wrong = 0
    for seed in range(30):
        X, y = correlated(seed, n=40, p=8)
        f = pursuit.GLM(X, y)
        for result in pursuit.path(f, range(9)):
            best = min(f.refit(np.array(S, dtype=np.int64)).value for S in itertools.combinations(range(8), result.k))
            assert result.value >= best * (1 - 1e-9)
            sizes, wrong = sizes + 1, wrong + (result.value > best * (1 + 1e-9))
    assert wrong <= 0.01 * sizes


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_no_size_is_worse_than_a_search_for_it_alone(loss):
    pairs = wrong = 0
    for seed in range(6):
        X, y = correlated(seed, n=80, p=60)
        f = pursuit.GLM(X, y if loss == "squared" else y > 0, loss, l2=0.0 if loss == "squared" else 0.01)
        for result in pursuit.path(f, range(1, 9)):
            alone = pursuit.solve(f, result.k)
            pairs, wrong = pairs + 1, wrong + (result.value > alone.value * (1 + 1e-9))
    assert wrong <= max(1, 0.02 * pairs)


@pytest.mark.parametrize("solver", ["grahtp", "omp", "local_search", "foba", pursuit.OMP()])
def test_a_solver_of_ones_choice(solver):
    X, y = correlated(1)
    path = pursuit.path(pursuit.GLM(X, y), range(9), solver=solver)
    assert path.ks.tolist() == list(range(9))
    assert (np.diff(path.values) <= 0).all()
    name = solver if isinstance(solver, str) else "omp"
    assert {result.solver for result in path} == {name}
    assert path.reason == "no size improves from its neighbours"
    assert all(result.reason for result in path)
    assert path.at(1).value <= pursuit.solve(pursuit.GLM(X, y), 1, solver=solver).value * (1 + 1e-9)


def test_a_seed_decides():
    X, y = correlated(2, p=60)
    f = pursuit.GLM(X, y)
    one, same = (pursuit.path(f, range(12), random_state=5) for _ in range(2))
    np.testing.assert_array_equal(one.values, same.values)
    generator = pursuit.path(f, range(12), random_state=np.random.default_rng(5))
    assert generator.status == "converged"


def test_many_threads_on_one_objective():
    X, y = correlated(3, p=50)
    f, paths = pursuit.GLM(X, y), [None] * 20

    def follow(i):
        paths[i] = pursuit.path(f, range(10), random_state=0)

    threads = [threading.Thread(target=follow, args=(i,)) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for path in paths:
        np.testing.assert_allclose(path.values, paths[0].values, rtol=1e-10)
