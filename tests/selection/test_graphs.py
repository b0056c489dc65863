"""The choice of (edges, shrinkage, l1) against a plain version of the rule: all graphs, a generic solver, NumPy."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from pursuit.selection.graphs import Parted, choose_graph, edge_counts

SIZES, SHRINKAGES, L1S = (0, 1, 2, 3), (0.0, 0.3), (0.0, 0.05, 0.2)


def parted(X, folds):
    for test in np.array_split(np.arange(len(X)), folds):
        train = np.setdiff1d(np.arange(len(X)), test)
        mean = X[train].mean(axis=0)
        apart = X[test] - mean
        yield Parted(
            np.cov(X[train].T, bias=True), min(len(train) - 1, X.shape[1]), apart.T @ apart / len(test), len(test)
        )


def rows(p, n, seed):
    """A chain, on columns of different scales."""
    rng = np.random.default_rng(seed)
    W = np.eye(p) + 0.45 * (np.eye(p, k=1) + np.eye(p, k=-1))
    return rng.standard_normal((n, p)) @ np.linalg.cholesky(np.linalg.inv(W)).T * 10.0 ** rng.uniform(-2, 2, p)


def plain_refit(R, edges, l1, starts=1):
    """Least tr(RW) - log det W + l1 sum |W_ij| by a quasi-Newton method, W_ij = a - b with a, b >= 0."""
    p, m = len(R), len(edges)
    i, j = np.array(edges, int).reshape(-1, 2).T

    def matrix(z):
        W = np.diag(z[:p])
        W[i, j] = W[j, i] = z[p : p + m] - z[p + m :]
        return W

    def value(z):
        W = matrix(z)
        if np.linalg.eigvalsh(W)[0] <= 1e-9:
            return 1e10, np.zeros_like(z)
        G = R - np.linalg.inv(W)
        slope = 2 * G[i, j]
        total = np.sum(R * W) - np.linalg.slogdet(W)[1] + 2 * l1 * z[p:].sum()
        return total, np.r_[G.diagonal(), slope + 2 * l1, -slope + 2 * l1]

    z = np.r_[np.ones(p), np.zeros(2 * m)]
    box = [(1e-6, None)] * p + [(0, None)] * (2 * m)
    for _ in range(starts):  # a restart forgets the curvature of the first, bad, steps
        found = minimize(
            value, z, jac=True, bounds=box, method="L-BFGS-B", options={"ftol": 0, "gtol": 1e-11, "maxiter": 2000}
        )
        z = found.x
    return found.fun, matrix(z)


def plain_scores(folds):
    """scores[k, t, l1, fold], NaN where an edge was lost before or the rule leaves the triple out; edges kept."""
    shape = len(SIZES), len(SHRINKAGES), len(L1S), len(folds)
    scores, kept = np.full(shape, np.nan), np.zeros(shape, bool)
    for v, fold in enumerate(folds):
        p, s = len(fold.train), np.sqrt(np.diag(fold.train))
        R, T = fold.train / np.outer(s, s), fold.test / np.outer(s, s)
        pairs = list(combinations(range(p), 2))
        for b, t in enumerate(SHRINKAGES):
            shrunk = (1 - t) * R + t * np.eye(p)
            for a, k in enumerate(SIZES):
                graph = min(combinations(pairs, k), key=lambda edges: plain_refit(shrunk, edges, 0.0)[0])
                for c, l1 in enumerate(L1S):
                    if l1 == 0 < t:
                        continue
                    W = plain_refit(R if l1 else shrunk, graph, l1, starts=3)[1]
                    scores[a, b, c, v] = np.linalg.slogdet(W)[1] - np.sum(T * W) - p * np.log(2 * np.pi)
                    scores[a, b, c, v] = scores[a, b, c, v] / 2 - np.log(s).sum()
                    kept[a, b, c, v] = all(abs(W[edge]) > 1e-7 for edge in graph)
                    if not kept[a, b, c, v]:
                        break
    return scores, kept


def test_the_rule_is_the_plain_one():
    folds = list(parted(rows(4, 41, 1), 2))
    scores, kept = plain_scores(folds)
    found = choose_graph(folds, sizes=SIZES, shrinkages=SHRINKAGES, l1s=L1S, tol=1e-10)
    seen = np.isfinite(scores)
    assert np.array_equal(np.isfinite(found.scores), seen)
    assert np.abs(found.scores[seen] - scores[seen]).max() < 1e-6
    mean = np.where(kept.all(axis=-1), np.average(scores, axis=-1, weights=[fold.n_test for fold in folds]), -np.inf)
    a, b, c = np.unravel_index(np.argmax(mean > mean.max() - 1e-6), mean.shape)
    assert (found.k, found.shrinkage, found.l1) == (SIZES[a], SHRINKAGES[b], L1S[c])
    assert len(found.table["l1"]) == seen.all(axis=-1).sum()
    assert found.table["mean_test_score"][found.table["eligible"]].max() == pytest.approx(mean.max(), abs=1e-6)


@pytest.fixture(scope="module")
def folds():
    return list(parted(rows(12, 60, 2), 4))


@pytest.fixture(scope="module")
def found(folds):
    return choose_graph(folds, sizes=(0, 4, 8, 11, 15, 25), shrinkages=(0.0, 0.2), l1s=(0.0, 0.05, 0.1))


def same(a, b):
    return (a.k, a.shrinkage, a.l1) == (b.k, b.shrinkage, b.l1) and np.allclose(a.scores, b.scores, atol=1e-9)


def test_order_and_repetitions_of_the_grids_do_not_matter(folds, found):
    mixed = choose_graph(folds, sizes=(25, 4, 15, 8, 0, 11, 4), shrinkages=(0.2, 0.0), l1s=(0.1, 0.0, 0.05))
    assert same(mixed, found)


def test_threads_do_not_matter(folds, found):
    for n_jobs in (1, 2):
        again = choose_graph(
            folds, sizes=(0, 4, 8, 11, 15, 25), shrinkages=(0.0, 0.2), l1s=(0.0, 0.05, 0.1), n_jobs=n_jobs
        )
        assert same(again, found)


def test_units_of_columns_shift_all_scores_of_a_fold_by_the_same(folds, found):
    c = 10.0 ** np.linspace(-3, 3, 12)
    scaled = [fold._replace(train=fold.train * np.outer(c, c), test=fold.test * np.outer(c, c)) for fold in folds]
    again = choose_graph(scaled, sizes=(0, 4, 8, 11, 15, 25), shrinkages=(0.0, 0.2), l1s=(0.0, 0.05, 0.1))
    seen = np.isfinite(found.scores)
    assert (again.k, again.shrinkage, again.l1) == (found.k, found.shrinkage, found.l1)
    assert np.allclose(again.scores[seen], found.scores[seen] - np.log(c).sum(), atol=1e-6)


def test_loose_scores_choose_as_tight_ones(folds, found):
    tight = choose_graph(folds, sizes=found.sizes, shrinkages=found.shrinkages, l1s=found.l1s, tol=1e-9)
    assert (tight.k, tight.shrinkage, tight.l1) == (found.k, found.shrinkage, found.l1)


def test_one_standard_error_takes_fewer_edges(folds, found):
    near = choose_graph(folds, sizes=found.sizes, shrinkages=(0.0,), l1s=(0.0,), rule="1se")
    best = choose_graph(folds, sizes=found.sizes, shrinkages=(0.0,), l1s=(0.0,))
    each = best.scores[:, 0, 0]
    apart = each[list(best.sizes).index(best.k)] - each
    within = apart.mean(axis=1) <= apart.std(axis=1, ddof=1) / np.sqrt(len(folds))
    assert near.k == best.sizes[int(np.argmax(within))] <= best.k


def test_ebic_is_foygel_and_drtons(folds):
    S, n, p = folds[0].train, 45, 12
    whole = [Parted(S, p, S, n)]
    found = choose_graph(whole, sizes=range(26), shrinkages=(0.0,), l1s=(0.0,), rule="ebic", tol=1e-9)
    logs = found.scores[:, 0, 0, 0] * n
    want = -2 * logs + np.arange(26) * (np.log(n) + 4 * 0.5 * np.log(p))
    assert np.allclose(found.table["ebic"], want)
    assert found.k == np.argmin(want)
    none = choose_graph(whole, sizes=range(26), shrinkages=(0.0,), l1s=(0.0,), rule="ebic", gamma=0.0)
    assert none.k >= found.k


def test_a_grid_that_ends_too_early_goes_on_only_where_it_may(folds):
    stopped = choose_graph(folds, sizes=(0, 3, 6), shrinkages=(0.0,), l1s=(0.0,))
    assert stopped.k == 6
    assert "n_edges=6 is the largest" in stopped.reason
    further = choose_graph(folds, sizes=(0, 3, 6), shrinkages=(0.0,), l1s=(0.0,), most=66)
    assert further.k > 6
    assert further.sizes[-1] > 6
    assert "n_edges" not in further.reason


def test_include_and_forbidden_hold_in_every_fold(folds):
    keep = np.array([[0, 11]])
    apart = np.zeros((12, 12), bool)
    apart[2, 3] = apart[3, 2] = True
    free = choose_graph(folds, sizes=(11,), shrinkages=(0.1,), l1s=(0.0,))
    tied = choose_graph(folds, sizes=(11,), shrinkages=(0.1,), l1s=(0.0,), include=keep, forbidden=apart)
    assert tied.scores.mean() < free.scores.mean()


def test_more_edges_than_the_rows_carry_need_shrinkage():
    few = list(parted(rows(12, 8, 3), 2))  # rank 3: six edges may have no optimum
    found = choose_graph(few, sizes=(3, 20), shrinkages=(0.0, 0.5), l1s=(0.0, 0.3))
    assert np.isneginf(found.scores[1, 0]).all()
    assert np.isfinite(found.scores[1, 1, 1]).all()
    alone = choose_graph(few, sizes=(20,), shrinkages=(0.0,), l1s=(0.0,))
    assert "shrinkage" in alone.reason
    assert len(alone.table["l1"]) == 0


def test_edge_counts_begin_at_none_and_end_where_told():
    for p, most in ((2, 1), (5, 10), (60, 1770), (60, 40), (1000, 499500)):
        counts = edge_counts(p, most)
        assert counts[0] == 0
        assert counts[-1] == min(most, 5 * p)
        assert len(counts) <= 20
        assert list(counts) == sorted(set(counts))
