"""The projected average, written a second time with explicit matrices, is what the estimator has."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from problems import standardised
from pursuit import GLM, SparseRegressorCV
from pursuit.paths import every_size
from pursuit.selection.projection import project
from pursuit_experiments.sources import folder, present

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


def beaten(ours, theirs, sizes):
    """Whether losses by fold are above others by more than two standard errors of the difference."""
    d = ours - theirs
    return sizes @ d > 2 * np.sqrt(np.sum((d - d.mean()) ** 2) / (len(d) - 1) / len(d))


def slope_of(P, r, fold):
    """Least squares of r on P through 0, in [0, 1], one standard error over folds nearer to 1."""
    if not P.any():
        return 1.0
    s = np.clip(P @ r / (P @ P), 0, 1)
    d = np.bincount(fold, (s * P - r) * P)
    return min(1.0, s + np.sqrt(d @ d) / (P @ P))


def rule(X, y, ks, splitter, errors_off=0.5, average=False):
    """The model, the losses of projections (or of the average), and whether the best candidate took their place."""
    n, fits = len(y), []
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
        w = np.exp(-0.15 * n * (M - M.min()) / (2 * M.min()))
        return w / w.sum()

    held = sizes @ errors
    B, Z, m, s = candidates(X, y, ks)
    w = weights(held)
    b = 0.5 * w @ B + 0.5 * np.mean([w @ own * (s / spread) for own, _, spread, *_ in fits], axis=0)
    gamma, ridge = np.tile([0.0, 1.0], len(B) // 2), np.tile(np.repeat(RIDGES, 2), len(ks))
    lam = max(w @ (gamma * ridge), 1e-4) * np.eye(X.shape[1])
    metric = Z.T @ Z / n + lam
    P, r, fold = {K: np.zeros(n) for K in ks}, np.zeros(n), np.zeros(n, int)
    for v, (own, centre, spread, train, test) in enumerate(fits):
        share = np.where(np.arange(len(fits)) == v, 0, sizes)
        Zv = (X - centre) / spread
        G = Zv[train].T @ Zv[train] / len(train) + lam
        mean = weights(share / share.sum() @ errors) @ own
        paths = dict.fromkeys(ks, mean) if average else nearest(mean, G, ks)
        for K in ks:
            P[K][test] = Zv[test] @ paths[K]
        r[test], fold[test] = y[test] - y[train].mean(), v
    slope = {K: 1.0 if average else slope_of(P[K], r, fold) for K in ks}
    each = np.array([np.bincount(fold, (r - slope[K] * P[K]) ** 2 / 2) / np.bincount(fold) for K in ks])
    error = each @ sizes
    smooth = np.convolve(np.pad(error, 1, mode="edge"), [0.25, 0.5, 0.25], "valid")
    if ks[0] == 0:
        smooth[0] = error[0]
    plain = errors.T / 2
    loss = plain @ sizes
    nat = smooth.min() / n * 2  # a Gaussian's, its variance that of the best model
    best, at = near_least(loss, plain, 6, errors_off), near_least(smooth, each, 1, errors_off, 0.5 * nat)
    x = b if average else slope[ks[at]] * nearest(b, metric, ks)[ks[at]]
    own = np.mean((y - y.mean() - Z @ x) ** 2) / 2
    spread = plain[best].std(ddof=1) / np.sqrt(len(fits))
    guarded = beaten(each[at], plain[best], sizes) or own > loss[best] + 2 * spread
    x = (B[best] if guarded else x) / s
    return x, y.mean() - m @ x, error, smooth, guarded


def near_least(loss, each, per_size, errors_off, negligible=0.0):
    """The smallest size whose best loss is within standard errors of the least; ``per_size`` losses belong to one.

    Whatever the standard error, what is negligible is within some of them.
    """
    best = int(np.argmin(loss))
    for low in range(0, len(loss), per_size):
        c = low + int(np.argmin(loss[low : low + per_size]))
        d = each[c] - each[best]
        room = errors_off * d.std(ddof=1) / np.sqrt(len(d))
        if loss[c] <= loss[best] + (max(room, negligible) if errors_off else 0.0):
            return c
    raise AssertionError


@pytest.mark.parametrize(("name", "errors_off"), [("min", 0.0), (None, 0.5), ("1se", 1.0)])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.5, 3.0])
def test_the_whole_rule(seed, noise, average, name, errors_off):
    X, y = data(seed, noise=noise)
    ks = [0, 1, 2, 3, 4, 6, 8]
    splitter = KFold(5, shuffle=True, random_state=seed)
    coef, intercept, error, smooth, guarded = rule(X, y, ks, splitter, errors_off, average)
    how = {"cv": splitter, "combine": "average" if average else "project"}
    model = SparseRegressorCV(ks, rule=name, **how).fit(X, y)
    assert ("the best single candidate predicts instead" in model.reason_) == guarded
    if guarded:
        alone = SparseRegressorCV(ks, cv=splitter, rule=model.rule, combine="none").fit(X, y)
        assert model.held_out_ == alone.held_out_
        assert model.sizes_.keys() == alone.sizes_.keys()
    elif not average:
        np.testing.assert_allclose(model.sizes_["mean_loss"], error, rtol=1e-9)
        np.testing.assert_allclose(model.sizes_["smoothed"], smooth, rtol=1e-9)
    assert model.k_ == np.count_nonzero(coef)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, intercept, rtol=1e-8)
    if not average:
        assert model.k_1se_ == SparseRegressorCV(ks, cv=splitter, rule="1se").fit(X, y).k_


@pytest.mark.parametrize("size", [1e-120, 1e60])
def test_the_guard_does_not_depend_on_units(size):
    X, y = data(0, noise=0.5)
    one, other = (SparseRegressorCV([0, 2, 4, 8], cv=5).fit(u * X, u * y) for u in (1.0, size))
    assert ("predicts instead" in one.reason_) == ("predicts instead" in other.reason_)
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-6, atol=1e-12)


def curves(seed, n=60, p=30):
    """Smooth curves, and y a difference of columns: what predicts nearly cancels."""
    rng = np.random.default_rng(seed)
    at = np.linspace(0, 1, p)
    X = rng.standard_normal((n, 6)) @ np.array([np.cos(np.pi * j * at) / (1 + j**4) for j in range(6)])
    X = X + 1e-3 * rng.standard_normal((n, p))
    return X, 100 * (X[:, 9] - X[:, 20] + X[:, 25] - X[:, 15]) + 0.5 * rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(3))
def test_strongly_correlated_columns_are_predicted(seed):
    X, y = curves(seed)
    test = curves(seed + 10, n=500)
    model = SparseRegressorCV([0, 1, 2, 4, 8], cv=5).fit(X, y)
    alone = SparseRegressorCV([0, 1, 2, 4, 8], cv=5, combine="none").fit(X, y)
    assert 1 - model.score(*test) < 1.2 * (1 - alone.score(*test))


@pytest.mark.parametrize("l2", [None, 0.1])
def test_meats_are_predicted(l2):
    """215 x 100 spectra: the projection has a held-out R2 of 0.07 where the best candidate has 0.95.

    With one ridge its folds project nothing, and only the average of all rows has more columns than are kept.
    """
    if not present("tables"):
        pytest.skip("tables.npz not in $PURSUIT_DATA or ../shared/data")
    with np.load(folder() / "tables.npz") as tables:
        X, y = tables["meats/X"], tables["meats/y"]
    rows = np.random.default_rng(0).permutation(len(y))
    train, test = rows[:160], rows[160:]
    model = SparseRegressorCV([0, 2, 5, 10, 20], cv=4, l2=l2).fit(X[train], y[train])
    assert model.score(X[test], y[test]) > 0.9
    assert model.held_out_.score > 0.9


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
