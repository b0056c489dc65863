"""The path kernel against its Python twin, its rows handed over in every way, and how it ends early."""

import gc
import itertools
import sys

import numpy as np
import pytest

import pursuit
from pursuit import _core
from pursuit.solvers.path_search import PathSearch, exchanged

P, K = 14, 8


def quadratic(seed, p=P, rho=1.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, p)) + rho * rng.standard_normal((50, 1))
    y = X[:, :4] @ rng.standard_normal(4) + 2 * rng.standard_normal(50)
    return X, y, X.T @ X / 50, -X.T @ y / 50, float(y @ y / 100)


def call(rows, H, c, f0, k=K, forced=(), allowed=None, thorough=False, ridge=0.0, should_stop=None, reached=None):
    p = len(c)
    inside = np.zeros(p, np.uint8)
    inside[list(forced)] = 1
    open_ = np.ones(p, np.uint8) if allowed is None else np.isin(np.arange(p), allowed).astype(np.uint8)
    ridges = np.full(p, ridge)
    request = _core.SearchRequest(
        k,
        inside,
        open_,
        np.empty(0, np.int64),
        restarts=20,
        patience=5,
        widest=3,
        effort=6.0,
        seed=0,
        scale=1e-9 * f0,
        stop=should_stop,
    )
    found = _core.quadratic_path(rows, c[None], H.diagonal() + ridges, ridges, f0, 0.0, request, thorough, reached)
    points = [(at.support, at.coef, at.value, at.settled, at.condition, at.share, at.nearest) for at in found.points]
    return points, found.stopped, request.take_error()


class Rows:
    """Rows on demand, as a GLM of many columns hands them over."""

    def __init__(self, H):
        self.H, self.kept = H, set()

    def has(self, j):
        return j in self.kept

    def row(self, j):
        return np.ascontiguousarray(self.H[j]) if j in self.kept else None

    def block(self, cols):
        return np.ascontiguousarray(self.H[np.ix_(cols, cols)])

    def fetch(self, cols):
        self.kept.update(cols.tolist())


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_points_are_minimisers_and_no_exchange_helps(seed, ridge, thorough):
    _, _, H, c, f0 = quadratic(seed)
    R = H + ridge * np.eye(P)
    found, stopped, trouble = call(H, H, c, f0, ridge=ridge, thorough=thorough)
    assert (stopped, trouble, len(found)) == (False, None, K + 1)

    def value(S):
        S = list(S)
        return f0 - 0.5 * float(c[S] @ np.linalg.solve(R[np.ix_(S, S)], c[S])) if S else f0

    for k, (S, x, f, settled, condition, share, nearest) in enumerate(found):
        assert len(S) == k
        np.testing.assert_array_equal(S, np.unique(S))
        np.testing.assert_allclose(x, -np.linalg.solve(R[np.ix_(S, S)], c[S]), rtol=1e-9, atol=1e-12)
        assert f == pytest.approx(value(S), rel=1e-11)
        assert settled
        scaled = R[np.ix_(S, S)] / np.sqrt(np.outer(R.diagonal()[S], R.diagonal()[S])) if k else np.eye(1)
        assert condition <= 1 / np.linalg.cond(scaled) * (1 + 1e-9)
        assert 0 < share <= 1
        changes = [value([*np.setdiff1d(S, [i]), j]) - f for i in S for j in np.setdiff1d(np.arange(P), S)]
        if changes:
            assert min(changes) >= -1e-10 * f0
            assert nearest >= min(changes) - 1e-10 * f0  # those that surely do not help are not looked at
    assert all(b[2] <= a[2] for a, b in itertools.pairwise(found))


@pytest.mark.parametrize("seed", range(6))
def test_the_twin_in_python_finds_the_same(seed):
    X, y, H, c, f0 = quadratic(seed)
    f = pursuit.GLM(X, y, fit_intercept=False)
    walk = PathSearch(f, f.sparse_set(K), exchanged(f), 0)
    walk.go(None, thorough=False)
    found, _, _ = call(H, H, c, f0)
    for k, (S, _, value, *_) in enumerate(found):
        assert value == pytest.approx(walk.best[k].value, rel=1e-9)
        np.testing.assert_array_equal(S, walk.best[k].support)


@pytest.mark.parametrize("forced", [(), (3,), (0, 9)])
@pytest.mark.parametrize("seed", range(4))
def test_rows_on_request_are_rows_at_hand(seed, forced):
    _, _, H, c, f0 = quadratic(seed, p=60)
    allowed = [*forced, *range(5, 60)]
    rows = Rows(H)
    whole, _, _ = call(H, H, c, f0, forced=forced, allowed=allowed)
    on_demand, _, _ = call(rows, H, c, f0, forced=forced, allowed=allowed)
    for here, there in zip(whole, on_demand, strict=True):
        np.testing.assert_array_equal(here[0], there[0])
        assert here[2] == pytest.approx(there[2], rel=1e-11)
        assert set(forced) <= set(here[0]) <= set(allowed)
    used = set().union(*(set(S.tolist()) for S, *_ in on_demand))
    assert used <= rows.kept
    assert len(rows.kept) < 30


@pytest.mark.parametrize("on_request", [False, True])
def test_it_stops_where_it_is_told_to(on_request):
    _, _, H, c, f0 = quadratic(0)
    seen = []
    found, stopped, trouble = call(
        Rows(H) if on_request else H, H, c, f0, reached=lambda k, f: seen.append((k, f)) or k == 3
    )
    assert (stopped, trouble, len(found)) == (True, None, 4)
    assert [k for k, _ in seen] == [0, 1, 2, 3]
    assert [f for _, f in seen] == pytest.approx([size[2] for size in found])


def test_it_stops_when_it_is_late():
    _, _, H, c, f0 = quadratic(1, p=400)
    calls = []

    def late():
        calls.append(1)
        return True

    found, stopped, _ = call(H, H, c, f0, k=100, thorough=True, should_stop=late)
    assert stopped
    assert len(calls) == 1
    assert 1 <= len(found) < 101
    assert all(np.isfinite(size[2]) for size in found)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError, MemoryError])
@pytest.mark.parametrize("where", ["row", "block", "fetch", "reached"])
def test_what_python_raises_comes_back(where, error):
    _, _, H, c, f0 = quadratic(2, p=80)

    def broken(*_):
        raise error("no")

    rows, reached = Rows(H), broken if where == "reached" else None
    if reached is None:
        setattr(rows, where, broken)
    found, stopped, trouble = call(rows, H, c, f0, reached=reached)
    assert stopped
    assert isinstance(trouble, error)
    assert len(found) >= 1


@pytest.mark.parametrize("wrong", [np.zeros(3), np.zeros((2, 2)), "row", 5])
def test_a_row_that_is_none(wrong):
    _, _, H, c, f0 = quadratic(2, p=80)
    rows = Rows(H)
    rows.row = lambda j: wrong if j in rows.kept else None
    with pytest.raises((ValueError, RuntimeError, TypeError)):
        call(rows, H, c, f0)


def test_nothing_is_leaked():
    _, _, H, c, f0 = quadratic(3, p=60)

    def broken(k, f):
        if k == 2:
            raise ZeroDivisionError

    def once():
        rows = Rows(H)
        call(rows, H, c, f0, reached=broken)
        return sys.getrefcount(rows)

    counts = [once() for _ in range(3)]
    assert counts == [counts[0]] * 3
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(50):
        once()
    gc.collect()
    assert len(gc.get_objects()) <= before + 20


@pytest.mark.parametrize("loss", ["logistic", "poisson", "huber"])
@pytest.mark.parametrize("seed", range(3))
def test_other_losses_find_what_their_twin_finds(loss, seed):
    X, y, *_ = quadratic(seed)
    y = (y > 0).astype(float) if loss == "logistic" else np.round(np.abs(y)) if loss == "poisson" else y
    f = pursuit.GLM(X / 4, y, loss, l2=0.01)
    walk, kernel = (PathSearch(f, f.sparse_set(5), exchanged(f), 0) for _ in range(2))
    walk.go(None, thorough=False)
    kernel.go(0, thorough=True)
    for k in range(6):
        assert kernel.best[k].value <= walk.best[k].value + 1e-7 * abs(walk.best[k].value)
