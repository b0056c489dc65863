"""The projected average of logistic and Poisson models, written a second time, is what the estimator has."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit
from sklearn.model_selection import KFold, StratifiedKFold

from problems import standardised
from pursuit import GLM, SparseClassifierCV, SparseRegressorCV
from pursuit.paths import every_size
from pursuit.selection.choose import BySize

RIDGES = np.array([0.1, 1.0, 10.0])
KS = [0, 1, 2, 3, 4, 5, 6, 8]


def data(loss, seed, n=150, p=10):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * rng.uniform(0.1, 10, p) + rng.uniform(-5, 5, p)
    eta = standardised(X, np.full(n, 1 / n))[0] @ np.r_[0.9, 0.6, 0.4, 0.2, 0.1, 0.1, np.zeros(p - 6)]
    if loss == "logistic":
        return X, (rng.random(n) < expit(eta)).astype(float)
    return X, rng.poisson(np.exp(0.5 * eta)).astype(float)


def rows(loss, y, eta):
    """Losses and derivatives."""
    if loss == "logistic":
        return np.logaddexp(0, eta) - y * eta, expit(eta) - y
    return np.exp(eta) - y * eta, np.exp(eta) - y


def level(loss, y, eta):
    """The best intercept beside a linear predictor."""
    return brentq(lambda b: rows(loss, y, eta + b)[1].sum(), -30, 30, xtol=1e-14)


def nearest(b, G, sizes):
    """Backward elimination with a fresh solve for every set."""
    left, out = list(np.flatnonzero(b)), {}
    while True:
        x = np.zeros(len(b))
        if left:
            x[left] = np.linalg.solve(G[np.ix_(left, left)], G[left] @ b)
        out[len(left)] = x
        if not left:
            return {K: out.get(K, b) for K in sizes}
        left.pop(int(np.argmin(x[left] ** 2 / np.diag(np.linalg.inv(G[np.ix_(left, left)])))))


def candidates(loss, X, y, h):
    Z, m, s = standardised(X, np.full(len(y), 1 / len(y)))
    f = {l2: GLM(X, y, loss=loss, l2=l2 * h, standardize=True) for l2 in (*RIDGES, 1e-3)}
    best = [every_size(f[l2], f[l2].sparse_set(max(KS))) for l2 in RIDGES]
    B, b = [], []
    for k in KS:
        for found in best:
            for point in (f[1e-3].refit(found[k].support), f[1e-3].refit(found[k].support) if k == 0 else found[k]):
                x = np.zeros(X.shape[1])
                x[point.support] = point.coef
                B.append(x)
                b.append(point.free)
    return np.array(B), np.array(b), Z, m, s


def rule(loss, X, y, splitter):
    n = len(y)
    h = y.mean() * (1 - y.mean()) if loss == "logistic" else y.mean()
    fits = []
    for train, test in splitter.split(X, y):
        B, b, _, m, s = candidates(loss, X[train], y[train], h)
        Zv = (X - m) / s
        lost = [rows(loss, y[test], Zv[test] @ x + c)[0].mean() for x, c in zip(B, b, strict=True)]
        fits.append((B, Zv, s, train, test, lost))
    errors = np.array([fit[-1] for fit in fits])
    sizes = np.array([len(fit[4]) for fit in fits]) / n

    def weights(M):
        w = np.exp(-0.15 * n * (M - M.min()))
        return w / w.sum()

    B, b, Z, m, s = candidates(loss, X, y, h)
    w = weights(sizes @ errors)
    average = 0.5 * w @ B + 0.5 * np.mean([w @ own * (s / spread) for own, _, spread, *_ in fits], axis=0)
    lam = max(w @ (np.tile([0.0, 1.0], len(B) // 2) * np.tile(np.repeat(RIDGES, 2), len(KS))), 1e-3)
    lam = lam * np.eye(X.shape[1])
    P, null, fold = {K: np.zeros(n) for K in KS}, np.zeros(n), np.zeros(n, int)
    for v, (own, Zv, _, train, test, _) in enumerate(fits):
        share = np.where(np.arange(len(fits)) == v, 0, sizes)
        paths = nearest(weights(share / share.sum() @ errors) @ own, Zv[train].T @ Zv[train] / len(train) + lam, KS)
        null[test], fold[test] = level(loss, y[train], np.zeros(len(train))), v
        for K in KS:
            P[K][test] = Zv[test] @ paths[K] + level(loss, y[train], Zv[train] @ paths[K]) - null[test]

    def slope(K):
        found = minimize_scalar(
            lambda t: rows(loss, y, null + t * P[K])[0].sum(), bounds=(0, 1), method="bounded", options={"xatol": 1e-10}
        )
        at_one = rows(loss, y, null + P[K])
        return 1.0 if not P[K].any() or at_one[1] @ P[K] <= 0 else found.x

    slopes = {K: slope(K) for K in KS}
    each = np.array([np.bincount(fold, rows(loss, y, null + slopes[K] * P[K])[0]) / np.bincount(fold) for K in KS])
    smooth = np.convolve(np.pad(each @ sizes, 1, mode="edge"), [0.25, 0.5, 0.25], "valid")
    smooth[0] = each[0] @ sizes
    at, by_nats = near_least(smooth, each, 1, 1 / n)
    c, _ = near_least(errors.T @ sizes, errors.T, 6, 0.0)
    paths = nearest(average, Z.T @ Z / n + lam, KS)
    K = KS[at]
    x = slopes[K] * paths[K]
    intercept = (1 - slopes[K]) * level(loss, y, np.zeros(n)) + slopes[K] * level(loss, y, Z @ paths[K])
    d = each[at] - errors.T[c]
    own = rows(loss, y, Z @ x + intercept)[0].mean()
    worse = sizes @ d > 2 * d.std(ddof=1) / np.sqrt(len(d))
    worse |= own > sizes @ errors.T[c] + 2 * errors.T[c].std(ddof=1) / np.sqrt(len(d))
    if worse:
        x, intercept = B[c], b[c]
    return x / s, intercept - m @ (x / s), smooth, worse, by_nats


def near_least(loss, each, per_size, nat):
    """The smallest size within half a standard error or half a nat of the least, and whether only the nat allows it."""
    best = int(np.argmin(loss))
    for low in range(0, len(loss), per_size):
        c = low + int(np.argmin(loss[low : low + per_size]))
        d = each[c] - each[best]
        room = 0.5 * d.std(ddof=1) / np.sqrt(len(d))
        if loss[c] <= loss[best] + max(room, 0.5 * nat):
            return c, loss[c] > loss[best] + room
    raise AssertionError


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
@pytest.mark.parametrize("seed", range(6))
def test_the_whole_rule(loss, seed):
    X, y = data(loss, seed)
    classes = loss == "logistic"
    splitter = (StratifiedKFold if classes else KFold)(5, shuffle=True, random_state=seed)
    coef, intercept, smooth, guarded, by_nats = rule(loss, X, y, splitter)
    model = SparseClassifierCV(ks=KS, cv=splitter) if classes else SparseRegressorCV(KS, cv=splitter, loss=loss)
    model.fit(X, y)
    assert ("the best single candidate predicts instead" in model.reason_) == guarded
    if not guarded:
        np.testing.assert_allclose(model.sizes_["smoothed"], smooth, rtol=1e-6)
    assert model.k_ == np.count_nonzero(coef)
    np.testing.assert_allclose(np.ravel(model.coef_), coef, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(np.ravel(model.intercept_)[0], intercept, rtol=1e-4, atol=1e-5)
    if not guarded:
        assert ("half a nat" in model.reason_) == by_nats


def test_some_size_is_chosen_by_half_a_nat():
    for seed in range(6):
        X, y = data("logistic", seed)
        splitter = StratifiedKFold(5, shuffle=True, random_state=seed)
        if rule("logistic", X, y, splitter)[-1]:
            return
    pytest.fail("the rule of half a nat is not seen by these data")


def test_what_is_negligible_is_within_some_standard_errors_and_not_within_none():
    goal = np.array([3.0, 1.4, 1.1, 1.0])
    each = np.column_stack([goal, goal])  # no spread: no standard error
    sizes = BySize((0, 1, 2, 3), {}, goal, each, negligible=0.5)
    assert (sizes.within(0.0), sizes.within(0.5), sizes.within(1.0)) == (3, 1, 1)
    assert sizes.beyond(1, 0.5)
    assert not sizes.beyond(3, 0.5)


def test_one_fold_a_score_and_the_rule_min_take_the_least():
    X, y = data("logistic", 1)
    one_fold = [(np.arange(100), np.arange(100, len(y)))]
    for settings in ({"cv": one_fold}, {"rule": "min"}, {"scoring": "neg_log_loss"}):
        assert "half a nat" not in SparseClassifierCV(ks=KS, **{"cv": 5, **settings}).fit(X, y).reason_
