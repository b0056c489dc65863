"""The projected average, written a second time with explicit matrices, is what the estimator has."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from problems import standardised
from pursuit import GLM, SparseRegressorCV
from pursuit.paths import every_size
from pursuit.selection.projection import project

RIDGES = [0.1, 1.0, 10.0]


def data(seed, n=50, p=12, noise=2.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * rng.uniform(0.1, 10, p) + rng.uniform(-5, 5, p)
    truth = np.zeros(p)
    truth[:4] = 1.0
    return X, standardised(X, np.full(n, 1 / n))[0] @ truth + noise * rng.standard_normal(n) + 3.0


def candidates(X, y, ks):
    """Coefficients on standardised columns, one row per candidate."""
    Z, m, s = standardised(X, np.full(len(y), 1 / len(y)))
    rows = []
    plain = GLM(X, y, standardize=True)
    found = [every_size(f, f.sparse_set(max(ks))) for f in (GLM(X, y, l2=l2, standardize=True) for l2 in RIDGES)]
    for k in ks:
        for best in found:
            for point in (plain.refit(best[k].support), best[k]):
                x = np.zeros(X.shape[1])
                x[point.support] = point.coef
                rows.append(x)
    return np.array(rows), Z, m, s


def nearest(b, G, sizes):
    """Backward elimination with a fresh inverse for every set."""
    left, out = list(np.flatnonzero(b)), {}
    rest = None
    while True:
        x = np.zeros(len(b))
        if left:
            # the point of span(left) nearest to b in G
            x[left] = np.linalg.solve(G[np.ix_(left, left)], G[left] @ b)
        rest = x
        if len(left) in sizes:
            out[len(left)] = rest
        if not left:
            return {K: out.get(K, b) for K in sizes}
        P = np.linalg.inv(G[np.ix_(left, left)])
        left.pop(int(np.argmin(x[left] ** 2 / np.diag(P))))


def rule(X, y, ks, splitter):
    n, C = len(y), 6 * len(ks)
    fits, held = [], np.zeros(C)
    for train, test in splitter.split(X):
        B, _, m, s = candidates(X[train], y[train], ks)
        fits.append((B, m, s, train, test))
    errors = np.array(
        [
            [np.mean((y[test] - y[train].mean() - (X[test] - m) / s @ x) ** 2) for x in B]
            for B, m, s, train, test in fits
        ]
    )
    sizes = np.array([len(test) for *_, test in fits]) / n

    def weights(M):
        w = np.exp(-n / 3 * (M - M.min()) / (2 * M.min()))
        return w / w.sum()

    held = sizes @ errors
    B, Z, m, s = candidates(X, y, ks)
    w = weights(held)
    b = 0.5 * w @ B + 0.5 * np.mean([w @ own * (s / spread) for own, _, spread, *_ in fits], axis=0)
    metric = Z.T @ Z / n + np.eye(X.shape[1])
    P, r = {K: np.zeros(n) for K in ks}, np.zeros(n)
    for v, (own, centre, spread, train, test) in enumerate(fits):
        share = np.where(np.arange(len(fits)) == v, 0, sizes)
        Zv = (X - centre) / spread
        G = Zv[train].T @ Zv[train] / len(train) + np.eye(X.shape[1])
        paths = nearest(weights(share / share.sum() @ errors) @ own, G, ks)
        for K in ks:
            P[K][test] = Zv[test] @ paths[K]
        r[test] = y[test] - y[train].mean()
    slope = {K: np.clip(P[K] @ r / max(P[K] @ P[K], 1e-300), 0, 1) for K in ks}
    error = np.array([np.mean((r - slope[K] * P[K]) ** 2) / 2 for K in ks])
    smooth = np.convolve(np.pad(error, 1, mode="edge"), [0.25, 0.5, 0.25], "valid")
    if ks[0] == 0:
        smooth[0] = error[0]
    K = ks[int(np.argmin(smooth))]
    x = slope[K] * nearest(b, metric, ks)[K]
    return K, x / s, y.mean() - m @ (x / s), error, smooth


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("noise", [0.5, 3.0])
def test_the_whole_rule(seed, noise):
    X, y = data(seed, noise=noise)
    ks = [0, 1, 2, 3, 4, 6, 8]
    splitter = KFold(5, shuffle=True, random_state=seed)
    K, coef, intercept, error, smooth = rule(X, y, ks, splitter)
    model = SparseRegressorCV(ks, cv=splitter).fit(X, y)
    np.testing.assert_allclose(model.sizes_["mean_loss"], error, rtol=1e-9)
    np.testing.assert_allclose(model.sizes_["smoothed"], smooth, rtol=1e-9)
    assert model.k_ == np.count_nonzero(coef) <= K
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, intercept, rtol=1e-8)


@pytest.mark.parametrize("outputs", [1, 3])
def test_projections_are_nearest_points_on_what_is_left(outputs):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 9))
    G, b = A.T @ A / 40 + np.eye(9), rng.standard_normal((9, outputs))
    found = project(b, G, (0, 2, 5, 9, 20), np.arange(9), np.empty(0, np.int64))
    assert not found[0].any()
    assert np.array_equal(found[3], b)
    assert np.array_equal(found[4], b)
    for x, size in zip(found, (0, 2, 5, 9, 9), strict=True):
        left = np.flatnonzero(x.any(axis=1))
        assert len(left) == size
        np.testing.assert_allclose(x[left], np.linalg.solve(G[np.ix_(left, left)], G[left] @ b), atol=1e-12)
    if outputs == 1:
        wanted = nearest(b[:, 0], G, [2, 5])
        np.testing.assert_allclose(found[1, :, 0], wanted[2], atol=1e-12)
        np.testing.assert_allclose(found[2, :, 0], wanted[5], atol=1e-12)


def test_units_leave_together_and_what_is_forced_in_stays():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((40, 8))
    G, b = A.T @ A / 40 + np.eye(8), rng.standard_normal((8, 1))
    b[[0, 1]] *= 1e-6
    unit = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    x = project(b, G, (1, 2), unit, np.array([0]))
    assert np.array_equal(np.flatnonzero(x[0].any(axis=1)), [0, 1])
    left = np.flatnonzero(x[1].any(axis=1))
    assert len(left) == 4
    assert set(left) >= {0, 1}
    np.testing.assert_allclose(x[1][left], np.linalg.solve(G[np.ix_(left, left)], G[left] @ b), atol=1e-12)
    alone = project(b, G, (1,), np.arange(8), np.array([0]))
    assert np.array_equal(np.flatnonzero(alone[0].any(axis=1)), [0])
