"""All exchanges at once, and the k-support prox, against refits and plain NumPy."""

import itertools

import numpy as np
import pytest

from pursuit import _core

S, SIZE = np.array([1, 4, 7, 9]), 14
OTHERS = np.setdiff1d(np.arange(SIZE), S)


@pytest.fixture(params=range(3))
def quadratic(request):
    rng = np.random.default_rng(request.param)
    X = rng.standard_normal((60, SIZE)) + 1.5 * rng.standard_normal((60, 1))
    y = X[:, :4].sum(1) + 3 * rng.standard_normal(60)
    return X.T @ X / 60, X.T @ y / 60


def fit(H, c, support):
    x = np.linalg.solve(H[np.ix_(support, support)], c[support])
    return x, -0.5 * float(c[support] @ x)


def arguments(H, c):
    x, value = fit(H, c, S)
    g = H[:, S] @ x - c
    rows = np.ascontiguousarray(H[np.ix_(S, OTHERS)])
    return value, (rows, np.linalg.inv(H[np.ix_(S, S)]), g[OTHERS]), x


def test_single_exchanges_equal_refits(quadratic):
    H, c = quadratic
    value, (rows, B, g), x = arguments(H, c)
    change, who, add, left = _core.exchange(rows, B, g, H.diagonal()[OTHERS].copy(), x, np.ones(4, np.uint8))
    schur = H.diagonal()[OTHERS] - np.einsum("ij,ij->j", rows, B @ rows)
    np.testing.assert_allclose(left, schur / H.diagonal()[OTHERS], rtol=1e-9)
    for place, j in enumerate(OTHERS):
        refits = [fit(H, c, np.append(np.delete(S, i), j))[1] - value for i in range(4)]
        assert change[place] == pytest.approx(min(refits), abs=1e-10)
        assert who[place] == int(np.argmin(refits))
        assert add[place] == pytest.approx(value - fit(H, c, np.append(S, j))[1], abs=1e-10)


def test_forced_rows_are_never_dropped(quadratic):
    H, c = quadratic
    _, (rows, B, g), x = arguments(H, c)
    droppable = np.array([0, 0, 1, 0], np.uint8)
    _, who, *_ = _core.exchange(rows, B, g, H.diagonal()[OTHERS].copy(), x, droppable)
    assert set(who) == {2}
    _, who, *_ = _core.exchange(rows, B, g, H.diagonal()[OTHERS].copy(), x, np.zeros(4, np.uint8))
    assert set(who) == {-1}


def test_group_exchanges_equal_refits(quadratic):
    H, c = quadratic
    value, (rows, B, g), x = arguments(H, c)
    starts, cols = np.array([0, 1, 4]), np.array([0, 2, 5, 6, 10])
    pairs = list(itertools.pairwise(cols))
    blocks = np.concatenate([H[np.ix_(OTHERS[a:b], OTHERS[a:b])].ravel() for a, b in pairs])
    change, who, add, left = _core.group_exchange(rows, B, g, blocks, x, starts, cols, np.ones(2, np.uint8))
    assert ((left > 0) & (left <= 1)).all()
    for J, (a, b) in enumerate(pairs):
        left = [np.delete(S, range(starts[i], starts[i + 1])) for i in range(2)]
        refits = [fit(H, c, np.append(s, OTHERS[a:b]))[1] - value for s in left]
        assert change[J] == pytest.approx(min(refits), abs=1e-9)
        assert who[J] == int(np.argmin(refits))
        assert add[J] == pytest.approx(value - fit(H, c, np.append(S, OTHERS[a:b]))[1], abs=1e-9)


@pytest.mark.parametrize("k", [1, 3, 7])
@pytest.mark.parametrize("g", [0.05, 1.0, 20.0])
def test_ksupport_prox_is_the_minimiser(k, g):
    rng = np.random.default_rng(k)
    v = rng.standard_normal(9)
    x, t, K = _core.ksupport_prox(v, k, g)
    assert t.sum() == pytest.approx(min(k, 9))
    assert ((t >= 0) & (t <= 1)).all()
    assert pytest.approx(0.5 * (x[t > 0] ** 2 / t[t > 0]).sum()) == K

    # for given indicators t the best x is v t/(t + g), so the whole problem is a minimum over t
    here = 0.5 * float((x - v) @ (x - v)) + g * K
    for _ in range(200):
        other = rng.dirichlet(np.ones(9)) * k
        while (other > 1).any():
            other = np.minimum(other, 1.0)
        assert here <= 0.5 * float((v**2 * g / (other + g)).sum()) + 1e-12


def test_ksupport_prox_with_enough_budget_is_a_ridge():
    v = np.array([1.0, -2.0, 0.0])
    x, t, _ = _core.ksupport_prox(v, 3, 0.5)
    np.testing.assert_allclose(x, v / 1.5)
    assert t[:2] == pytest.approx(1.0)


def test_perspective_bound_is_below_every_sparse_value(quadratic):
    H, c = quadratic
    mu = 0.9 * float(np.linalg.eigvalsh(H)[0])
    optimum = min(fit(H, c, np.array(s))[1] for s in itertools.combinations(range(SIZE), 3))
    guess = 1e-3  # of the curvature: the walk corrects it
    lower, relaxed, x, z, t, iterations, y, L = _core.perspective(
        H, c, 3, 0.0, mu, guess, 1.0, np.zeros(SIZE), 1e3, 1e-10, 5000
    )
    assert lower <= optimum + 1e-10
    assert lower <= relaxed + 1e-9
    assert relaxed - lower <= 1e-6
    assert iterations > 1
    assert t.sum() == pytest.approx(3.0)
    assert x.shape == z.shape == (SIZE,)
    r = c - H @ y + mu * y
    assert lower == pytest.approx(-y @ (c - r) / 2 - (np.sort(r**2)[-3:]).sum() / (2 * mu), abs=1e-10)
    assert guess < L <= 3 * float(np.linalg.eigvalsh(H)[-1])


def test_schur_minimises_columns_out(quadratic):
    H, _ = quadratic
    keep = np.array([0, 2, 5])
    W = np.linalg.cholesky(np.linalg.inv(H[3:5, 3:5])).T @ H[3:5]
    expected = H[np.ix_(keep, keep)] - H[np.ix_(keep, [3, 4])] @ np.linalg.solve(H[3:5, 3:5], H[np.ix_([3, 4], keep)])
    np.testing.assert_allclose(_core.schur(H, W, keep), expected, atol=1e-12)
    np.testing.assert_array_equal(_core.schur(H, W[:0], keep), H[np.ix_(keep, keep)])
