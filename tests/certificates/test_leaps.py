"""Leaps and bounds against enumeration by least squares, over all options and the kinds of data that go wrong."""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest

from pursuit import GLM, Quadratic, _core, best_subsets, certify, solve
from pursuit.certificates import leaps

DATA = Path(os.environ.get("PURSUIT_DATA", Path(__file__).parents[3] / "shared" / "data"))


def minimum(X, y, cols, l2, intercept, weight):
    """f on some columns by ``lstsq`` on columns of norm 1: nothing of the library."""
    c = np.ones(len(y)) if weight is None else weight
    c = c / c.sum()
    A, t = X[:, list(cols)], y
    if intercept:
        A, t = A - c @ A, t - c @ t
        A = A - c @ A
    root = np.sqrt(c)
    W = np.vstack([root[:, None] * A, np.sqrt(l2) * np.eye(len(cols))])
    t = np.append(root * t, np.zeros(len(cols)))
    norm = np.linalg.norm(W, axis=0)
    alive = norm > 1e-13 * np.sqrt(c @ X[:, list(cols)] ** 2 + l2)
    W = W[:, alive] / norm[alive]
    U, s, _ = np.linalg.svd(W, full_matrices=False)
    Q = U[:, s > 1e-11]
    left = t - Q @ (Q.T @ t)
    left -= Q @ (Q.T @ left)
    return 0.5 * float(left @ left)


def draw(seed):
    """Data and options; every trait comes alone and with others."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(3, 25)), int(rng.integers(1, 9))
    X = rng.standard_normal((n, p)) + rng.uniform(0, 2) * rng.standard_normal((n, 1))
    whole = rng.random() < 0.5
    if whole:
        X = np.round(2 * X)
    if p > 2 and rng.random() < 0.3:
        X[:, 2] = X[:, 0]
    if p > 3 and rng.random() < 0.3:
        X[:, 3] = X[:, 0] - 2 * X[:, 1] if whole else -2 * X[:, 1]  # exactly: what rounding leaves is a column too
    if p > 4 and rng.random() < 0.2:
        X[:, 4] = 3.0
    y = X[:, : min(p, 3)].sum(axis=1) + rng.standard_normal(n)
    if rng.random() < 0.15:
        y = X[:, 0] - X[:, -1]
    if rng.random() < 0.3:
        X = X * 2.0 ** rng.integers(-30, 30, p)
    options = {"fit_intercept": bool(rng.random() < 0.6), "l2": float(rng.choice([0.0, 0.0, 1e-3, 0.1]))}
    if rng.random() < 0.3:
        options["sample_weight"] = rng.integers(0, 4, n).astype(float)
        options["sample_weight"][:2] = 1.0
    order = rng.permutation(p)
    include = [int(order[0])] if rng.random() < 0.25 else []
    exclude = [int(order[1])] if p > 1 and rng.random() < 0.25 else []
    return X, 10.0 ** rng.uniform(-8, 8) * y, options, include, exclude, int(rng.integers(1, 5))


def check(seed):
    """The seed's table has every row that enumeration has, in order, with its value, and says that it is proved."""
    X, y, options, include, exclude, nbest = draw(seed)
    p, l2 = X.shape[1], options["l2"]
    intercept, weight = options["fit_intercept"], options.get("sample_weight")
    table = best_subsets(X, y, p, nbest, include=include, exclude=exclude, **options)
    free = [j for j in range(p) if j not in include and j not in exclude]
    height = minimum(X, y, (), l2, intercept, weight)
    for k in range(max(1, len(include)), len(include) + len(free) + 1):
        sets = [(*include, *some) for some in itertools.combinations(free, k - len(include))]
        truth = sorted(minimum(X, y, sorted(some), l2, intercept, weight) for some in sets)[:nbest]
        rows = [row for row in table if row.k == k]
        assert len(rows) == len(truth), (seed, k)
        assert len({row.support for row in rows}) == len(rows)
        np.testing.assert_allclose(
            [row.value for row in rows], truth, rtol=2e-8, atol=2e-13 * height, err_msg=f"{seed}"
        )
        for row in rows:
            exact = row.value <= 1e-11 * height and l2 > 0  # then a ridge is all that is left, and rounding hides it
            assert row.proved or exact, (seed, k, row.rank)
            assert set(include) <= set(row.support)
            assert not set(exclude) & set(row.support)
            own = minimum(X, y, row.support, l2, intercept, weight)
            assert row.value == pytest.approx(own, rel=2e-8, abs=2e-13 * height)


@pytest.mark.parametrize("block", range(30))
def test_tables_equal_enumeration(block):
    for seed in range(10 * block, 10 * block + 10):
        check(seed)


@pytest.mark.parametrize("block", range(4))
def test_nearly_dependent_columns_equal_enumeration(block):
    for seed in range(8 * block, 8 * block + 8):
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(12, 30)), int(rng.integers(4, 7))
        X, noise, share = rng.standard_normal((n, p)), rng.standard_normal((n, 3)), 10.0 ** -rng.uniform(2, 8)
        X[:, 1] = X[:, 0] + share * noise[:, 0]
        if seed % 3 == 0:
            X[:, 3] = X[:, 2] - X[:, 0] + share * noise[:, 1]
        y = X[:, :3].sum(axis=1) + seed % 2 * noise[:, 0] + 0.1 * rng.standard_normal(n)
        intercept, nbest = seed % 5 > 0, int(rng.integers(1, 4))
        f = GLM(X, y, fit_intercept=intercept)
        assert len(leaps.leaps(f, f.sparse_set(p), 1, nbest, 1e-9, lambda: False)[0]) == p
        table = best_subsets(f, kmax=p, nbest=nbest)
        height = minimum(X, y, (), 0.0, intercept, None)
        for k in range(1, p + 1):
            truth = sorted(minimum(X, y, s, 0.0, intercept, None) for s in itertools.combinations(range(p), k))[:nbest]
            values = [row.value for row in table if row.k == k]
            np.testing.assert_allclose(values, truth, rtol=1e-6, atol=1e-11 * height, err_msg=f"{seed}")
        assert all(row.proved for row in table)


@pytest.fixture(params=["leaps", "tree"])
def way(request, monkeypatch):
    """Both ways to a proof."""
    if request.param == "tree":
        monkeypatch.setattr(leaps, "MAX_COLUMNS", 0)


@pytest.mark.parametrize("seed", range(12))
def test_more_columns_than_rows_with_a_ridge(seed, way):
    rng = np.random.default_rng(seed)
    n = 4 if seed == 1 else int(rng.integers(2, 6))
    p = 7 if seed == 1 else int(rng.integers(n, 9))
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, p)), rng.standard_normal(n)
    k = min(p, n + 1)
    rows = [row for row in best_subsets(X, y, k, 3, l2=1e-3, fit_intercept=False) if row.k == k]
    values = sorted(minimum(X, y, some, 1e-3, False, None) for some in itertools.combinations(range(p), k))[:3]
    np.testing.assert_allclose([row.value for row in rows], values, rtol=1e-8)
    assert all(row.proved for row in rows)
    if seed == 1:  # as it was reported
        np.testing.assert_allclose(values, [0.009405, 0.010162, 0.010190], atol=1e-6)


def dependent(kind):
    rng = np.random.default_rng(5)
    X = np.round(3 * rng.standard_normal((40, 6)))
    X[:, 5] = {"sum": X[:, 0] + X[:, 1], "copy": X[:, 0], "constant": 2.0}[kind]
    return X, X @ rng.standard_normal(6) + rng.standard_normal(40)


@pytest.mark.parametrize("kind", ["sum", "copy", "constant"])
def test_at_the_rank_all_is_proved_and_ties_are_said(kind, way):
    X, y = dependent(kind)
    table = best_subsets(X, y, 6, 3)
    best = minimum(X, y, range(6), 0.0, True, None)
    assert all(row.proved for row in table)
    assert [row.k for row in table].count(5) == 3
    assert [row.value for row in table if row.k >= 5 and row.rank == 1] == pytest.approx([best, best])
    assert "At k = 6 there are no more subsets than are listed" in str(table)
    assert ("subsets tie" in str(table)) == (kind != "constant")  # which is never among the best three


@pytest.mark.parametrize("loss", ["squared", "huber"])
@pytest.mark.parametrize("kind", ["sum", "copy", "constant"])
def test_all_columns_are_swap_optimal_and_proved(kind, loss):
    X, y = dependent(kind)
    f = GLM(X, y, loss)
    for solver in ("auto", "omp", "local_search", "grahtp"):
        for k in (6, 8):
            result = solve(f, k, solver=solver)
            assert result.optimality == "swap_optimal"
            assert certify(f, result).status == "proved"
    at_rank = certify(f, solve(f, 5), time_limit=5.0)
    assert at_rank.status == "proved"


def test_columns_that_differ_by_rounding_are_not_proved_away():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    X[:, 5] = X[:, 0] + X[:, 1]  # but for rounding, which is a direction like any other
    f = GLM(X, X @ rng.standard_normal(6) + rng.standard_normal(40))
    proof = certify(f, solve(f, 6), time_limit=1.0)
    assert proof.status == "bounded"
    assert "by little more than rounding" in proof.reason
    assert solve(f, 6).optimality != "swap_optimal"
    assert best_subsets(f, kmax=6)[-1].proved  # there is one subset only


@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_both_ways_agree_on_wider_problems(l2, monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((70, 22)) + 0.7 * rng.standard_normal((70, 1))
    y = X[:, ::4].sum(axis=1) + 4 * rng.standard_normal(70)
    f = GLM(X, y, l2=l2)
    quick = best_subsets(f, kmax=6, nbest=2)
    proofs = [certify(f, solve(f, k, solver="omp"), time_limit=20.0) for k in (2, 5)]
    monkeypatch.setattr(leaps, "MAX_COLUMNS", 0)
    slow = best_subsets(f, kmax=6, nbest=2)
    assert [row.support for row in quick] == [row.support for row in slow]
    assert all(row.proved for row in quick)
    assert [proof.status for proof in proofs] == ["proved", "proved"]
    best = {row.k: row.value for row in quick if row.rank == 1}
    assert [proof.upper for proof in proofs] == pytest.approx([best[2], best[5]])


def test_sums_stand_in_for_rows():
    X, y = dependent("sum")
    X = X[:, :5]
    f = Quadratic(X.T @ X, X.T @ y, y @ y, 40, mean=X.mean(axis=0), ymean=y.mean())
    rows, sums = best_subsets(X, y, 5, 2), best_subsets(f, kmax=5, nbest=2)
    assert [row.support for row in sums] == [row.support for row in rows]
    assert all(row.proved for row in sums)


@pytest.mark.parametrize(
    ("name", "sizes"), [("hitters", 19), ("car_prices", 17), ("sleep75", 29), ("card", 29), ("midwest", 8)]
)
def test_real_tables_of_all_sizes(name, sizes):
    if not (DATA / "tables.npz").exists():
        pytest.skip(f"no {DATA.name}/tables.npz (set PURSUIT_DATA)")
    with np.load(DATA / "tables.npz") as tables:
        X, y = tables[f"{name}/X"].astype(float), tables[f"{name}/y"].astype(float)
    table = best_subsets(X, y, sizes, 3)
    assert len(table) == 3 * sizes - 2 * (sizes == X.shape[1])
    assert all(row.proved for row in table)
    for k in (1, 2):
        values = sorted(minimum(X, y, some, 0.0, True, None) for some in itertools.combinations(range(X.shape[1]), k))
        assert [row.value for row in table if row.k == k] == pytest.approx(values[:3], rel=1e-8)
    best = [row.value for row in table if row.rank == 1]
    assert all(b <= a * (1 + 1e-9) + 1e-12 * best[0] for a, b in itertools.pairwise(best))


def test_limits_and_interrupts():
    rng = np.random.default_rng(0)
    R = np.asfortranarray(np.linalg.qr(rng.standard_normal((90, 60)))[1])
    R /= np.linalg.norm(R, axis=0)
    z, none = rng.standard_normal((60, 1)) / 60, np.zeros(60, np.uint8)
    limits = (1e-9, 1e-9, 1e-13)

    def interrupt():
        raise KeyboardInterrupt

    sizes, _, _, raised = _core.leaps(R, z, 0.5, 1e-14, 0.0, none, 1, 60, 3, *limits, 1e15, interrupt)
    assert isinstance(raised, KeyboardInterrupt)
    assert not any(complete for _, complete in sizes)
    sizes, _, _, raised = _core.leaps(R, z, 0.5, 1e-14, 0.0, none, 1, 60, 3, *limits, 1e7, None)
    assert raised is None
    assert not any(complete for _, complete in sizes)
    table = best_subsets(rng.standard_normal((80, 60)), rng.standard_normal(80), 8, time_limit=0.2)
    assert [row.k for row in table] == list(range(1, 9))
    assert not table[-1].proved


def test_the_kernel_takes_any_layout_and_checks_shapes():
    rng = np.random.default_rng(1)
    R = np.triu(rng.standard_normal((5, 5)))
    R /= np.linalg.norm(R, axis=0)
    z, forced = rng.standard_normal((5, 2)) / 3, np.array([0, 0, 1, 0, 0], np.uint8)
    rest = (0.1, 1e-15, 0.0, forced, 1, 5, 2, 1e-9, 1e-9, 1e-13, 1e9, None)
    tall = np.zeros((10, 10))
    tall[::2, ::2] = R
    z.flags.writeable = False
    first = _core.leaps(np.asfortranarray(R), z, *rest)[0]
    for layout in (np.ascontiguousarray(R), tall[::2, ::2]):
        again = _core.leaps(layout, z, *rest)[0]
        assert [[(c.tolist(), f) for c, f, _ in found] for found, _ in again] == [
            [(c.tolist(), f) for c, f, _ in found] for found, _ in first
        ]
    for k, (found, complete) in enumerate(first, 1):
        sets = [s for s in itertools.combinations(range(5), k) if 2 in s]
        values = [0.1 + _left(R, z, s) for s in sets]
        assert complete
        np.testing.assert_allclose([f for _, f, _ in found], sorted(values)[:2], rtol=1e-12)
    with pytest.raises(ValueError, match="do not fit"):
        _core.leaps(R, z[:4], *rest)
    with pytest.raises(ValueError, match="out of range"):
        _core.leaps(R, z, 0.1, 1e-15, 0.0, forced, 1, 6, 2, 1e-9, 1e-9, 1e-13, 1e9, None)


def _left(R, z, cols):
    x = np.linalg.lstsq(R[:, list(cols)], z, rcond=None)[0]
    return 0.5 * float(((z - R[:, list(cols)] @ x) ** 2).sum())
