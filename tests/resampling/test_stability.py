"""Half-samples: what they are, what they agree on, and that nothing else matters."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pursuit import GLM, SparseClassifier, SparsePrecision, SparseRegressor, Stability, path, stability
from pursuit.resampling import selectors
from pursuit.resampling.split import complementary_halves

RNG = np.random.default_rng(5)
N, P = 60, 12
X = RNG.normal(size=(N, P))
Y = 3 * X[:, 2] - 2 * X[:, 7] + 0.1 * RNG.normal(size=N)


def few(estimator=None, X=X, y=Y, **more):
    return stability(estimator or SparseRegressor(k=3), X, y, **{"n_pairs": 4, "random_state": 0, **more})


@pytest.mark.parametrize("n", [8, 9])
def test_halves_are_disjoint_and_of_one_size(n):
    rows = np.arange(100, 100 + n)
    halves = complementary_halves(rows, 20, 0)
    for a, b in zip(halves[::2], halves[1::2], strict=True):
        assert len(a) == len(b) == n // 2
        assert len(np.union1d(a, b)) == n // 2 * 2
        assert np.isin(np.concatenate([a, b]), rows).all()
        assert (np.diff(a) > 0).all()
    assert len({half.tobytes() for half in halves}) > 20


def test_classes_are_in_both_halves():
    labels = np.array([0] * 11 + [1] * 2 + [2] * 6)
    for half in complementary_halves(np.arange(19), 30, 1, labels):
        assert np.bincount(labels[half], minlength=3).tolist() in ([5, 1, 3], [6, 1, 3])


def test_what_is_plain_is_always_selected():
    found = few(SparseRegressor(k=2), y=3 * X[:, 2] - 2 * X[:, 7])
    assert found.ks.tolist() == [1, 2]
    assert found.frequencies.shape == (2, P)
    assert found.frequencies[1].tolist() == [float(j in (2, 7)) for j in range(P)]
    assert found.stable.tolist() == [2, 7]
    assert found.columns.tolist() == [2, 7]
    assert found.strength.tolist() == [1.0, 1.0]
    assert found.partners == []
    assert found.bounds.q == 2.0
    assert found.bounds.p == P
    assert found.bounds.shah_samworth == pytest.approx(4 / (0.25 * P))  # of 8 half-samples, 0.6 are 5
    assert (found.n_pairs, found.n_done, found.status) == (4, 4, "converged")


def test_a_half_sample_is_a_path_of_its_rows():
    found = few(SparseRegressor(k=3, l2=0.1))
    halves = complementary_halves(np.arange(N), 4, 0)
    for rows, supports in zip(halves, found.supports, strict=True):
        along = path(GLM(X[rows], Y[rows], l2=0.1, standardize=True), [1, 2, 3, 4])
        assert [list(s) for s in supports] == [list(result.support) for result in along]


def test_frequencies_are_shares_of_half_samples():
    found = few(SparseRegressor(k=5), n_pairs=6)
    assert np.allclose(found.frequencies.sum(axis=1), [1, 2, 3, 4, 5])
    assert np.allclose(found.frequencies * 12, np.round(found.frequencies * 12))
    assert found.strength.tolist() == found.frequencies.max(axis=0)[found.columns].tolist()
    assert found.stable.tolist() == np.flatnonzero(found.frequencies.max(axis=0) >= 0.6).tolist()
    assert np.array_equal(found.at(0.9).stable, np.flatnonzero(found.frequencies.max(axis=0) >= 0.9))


def test_threads_and_layout_change_nothing(monkeypatch):
    one, two = few(n_jobs=1), few(n_jobs=3)
    assert np.array_equal(one.frequencies, two.frequencies)
    assert np.array_equal(one.frequencies, few(X=np.asfortranarray(X)).frequencies)
    assert np.array_equal(one.frequencies, few(X=sparse.csr_matrix(X)).frequencies)
    assert not np.array_equal(one.frequencies, few(SparseRegressor(k=3), random_state=1, n_pairs=3).frequencies)
    monkeypatch.setattr(selectors, "MAX_COPIED_BYTES", 0)  # weights instead of copies
    assert np.array_equal(one.frequencies, few().frequencies)


def test_the_sparse_set_is_kept():
    found = few(SparseRegressor(k=4, include=[0], exclude=[2]))
    assert (found.frequencies[:, 0] == 1).all()
    assert (found.frequencies[:, 2] == 0).all()
    assert found.bounds.p == P - 2
    assert found.bounds.q <= 6
    assert few(SparseRegressor(k=3, include=[0, 1]), ks=None).ks.tolist() == [2, 3]


def test_groups_enter_whole():
    groups = np.repeat(list("abcdef"), 2)
    found = few(SparseRegressor(k=2, groups=groups))
    assert np.array_equal(found.frequencies[:, ::2], found.frequencies[:, 1::2])
    assert found.stable.tolist() == [2, 3, 6, 7]
    assert found.bounds.p == 6
    assert set(found.to_frame().name) >= {"b", "d"}
    assert "b 1.00" in repr(found)


def test_bounds_on_coefficients_and_other_solvers_are_kept():
    positive = few(SparseRegressor(k=2, bounds=(0, None)))
    assert 7 not in positive.stable
    assert few(SparseRegressor(k=2, solver="omp")).stable.tolist() == [2, 7]


def test_classifiers_with_weights():
    labels = np.where(Y > 0, "yes", "no")
    found = few(SparseClassifier(k=2, class_weight="balanced"), y=labels)
    assert found.stable.tolist() == [2, 7]
    three = np.digitize(X[:, 2], [-0.5, 0.5])
    assert few(SparseClassifier(k=1), y=three).stable.tolist() == [2]
    assert few(SparseRegressor(k=2), y=np.column_stack([Y, -Y])).stable.tolist() == [2, 7]
    counts = np.random.default_rng(0).poisson(np.exp(X[:, 2]))
    assert 2 in few(SparseRegressor(k=1, loss="poisson"), y=counts).stable


def test_rows_without_weight_are_never_drawn():
    spoiled, weights = X.copy(), np.ones(N)
    spoiled[:20], weights[:20] = 0.0, 0.0
    assert few(X=spoiled, sample_weight=weights).stable.tolist()[:2] == few(X=X[20:], y=Y[20:]).stable.tolist()[:2]


def test_names_frame_and_words():
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(P)])
    found = few(X=frame)
    table = found.to_frame()
    assert table.name[:2].tolist() == ["c2", "c7"]
    assert table.stable[:2].all()
    assert table.columns[-3:].tolist() == ["k=1", "k=2", "k=3"]
    assert table["k=3"].tolist() == found.frequencies[2][table.column].tolist()
    assert "c2 1.00, c7 1.00" in repr(found)
    assert "sizes 1..3" in repr(found)


def twins(seed=1):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(160, 20))
    A[:, 9] = A[:, 4] + 0.15 * A[:, 9]
    return A, A[:, 4] + A[:, 9] + 2 * A[:, 1] + 3 * rng.normal(size=160)


def test_twins_replace_each_other():
    A, y = twins()
    found = stability(SparseRegressor(k=3), A, y, n_pairs=25, random_state=0)
    pair = found.partners[0]
    assert (pair.i, pair.j, pair.names) == (4, 9, ("x4", "x9"))
    assert pair.either > 0.95
    assert pair.both < 0.25 * pair.expected
    assert pair.exclusive == 1 - pair.both / pair.expected
    assert "instead of each other: x4 or x9: one of them in" in repr(found)


def test_those_that_compete_for_the_last_place_are_no_partners():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(150, 20))
    y = A[:, :3].sum(axis=1) + 0.5 * rng.normal(size=150)
    assert stability(SparseRegressor(k=1), A, y, n_pairs=25, random_state=0).partners == []
    assert stability(SparseRegressor(k=2), A, y, n_pairs=25, random_state=0).partners == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_callback_stops_and_what_was_done_is_kept(jobs):
    progress = []
    found = few(n_pairs=10, n_jobs=jobs, callback=lambda done, of: progress.append((done, of)) or done == 3)
    assert progress == [(1, 10), (2, 10), (3, 10)]
    assert (found.n_pairs, found.n_done, found.status) == (10, 3, "interrupted")
    assert "3 of 10" in repr(found)
    assert "stopped by the callback after 3 pairs" in repr(found)
    assert np.array_equal(found.frequencies, few(n_pairs=3).frequencies)


def test_an_interrupt_leaves_what_was_done():
    def interrupt(done, of):
        if done == 2:
            raise KeyboardInterrupt

    found = few(n_pairs=10, callback=interrupt)
    assert (found.n_done, found.reason) == (2, "interrupted by the user after 2 pairs")


def test_a_time_limit_leaves_what_was_done():
    found = few(SparseRegressor(k=2, time_limit=1e-9))
    assert (found.n_done, found.status) == (0, "time_limit")
    assert found.frequencies.tolist() == np.zeros((2, P)).tolist()
    assert found.stable.tolist() == []
    assert found.bounds.r_concave == 0
    assert "0 of 4" in repr(found)


def test_sizes_end_at_half_of_the_features():
    noise = np.random.default_rng(0).normal(size=N)
    found = few(SparseRegressor(k=P), y=noise, n_pairs=10)
    assert found.ks.tolist() == [1, 2, 3, 4, 5, 6]
    assert len(found.stable) < P / 2
    assert repr(found).splitlines()[0].endswith(f"{P} features")
    assert few(SparseRegressor(k=P, include=[0, 1], exclude=[2])).ks.tolist() == [2, 3, 4, 5, 6]  # 2 and half of 9
    assert few(SparseRegressor(k=6, groups=np.repeat(np.arange(6), 2))).ks.tolist() == [1, 2, 3]
    assert few(SparseRegressor(k=5), X=X[:, :1]).ks.tolist() == [1]
    assert few(SparseRegressor(k=2, include=[0, 1]), X=X[:, :2]).ks.tolist() == [2]
    graph = stability(SparsePrecision(n_edges=6), X[:, :4], n_pairs=2, random_state=0)
    assert graph.ks.tolist() == [1, 2, 3]


def test_larger_sizes_say_what_they_mean():
    noise = np.random.default_rng(0).normal(size=N)
    found = few(y=noise, ks=range(1, P + 1))
    assert len(found.stable) == P
    first = repr(found).splitlines()[0]
    assert first.endswith("a model of size 12 has room for all of them, so that every one can be called stable")
    first = repr(few(y=noise, ks=[1, 8])).splitlines()[0]
    assert first.endswith("a model of size 8 has room for more than half of them, so that many can be called stable")
    assert "room" not in repr(few(ks=[6]))
    assert "room" not in repr(few(X=X[:, :1], ks=[1]))


def test_more_features_than_there_are():
    found = few(X=X[:10], y=Y[:10], n_pairs=2, ks=[1, 50])
    assert found.ks[-1] == P
    assert np.isfinite(found.frequencies).all()
    flat = few(y=np.ones(N))
    assert flat.columns.tolist() == []
    assert "nothing" in repr(flat)


def test_where_nothing_can_be_explained_nothing_is_selected():
    assert few(SparseRegressor(k=3, loss="poisson"), y=np.zeros(N)).columns.tolist() == []


def test_sizes_begin_where_a_sum_can_be_reached():
    found = few(SparseRegressor(k=4, bounds=(0, 0.6), sum_to=1.0))
    assert found.ks.tolist() == [2, 3, 4]
    assert 2 in found.stable


def test_the_estimator_is_not_touched_and_nothing_is_warned():
    estimator = SparseRegressor(k=2, max_iter=1)
    before = vars(estimator).copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(few(estimator), Stability)
    assert vars(estimator) == before


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: few(n_pairs=0), ValueError, "n_pairs must be a whole number from 1 to 1000000, got 0"),
        (lambda: few(n_pairs=1.5), TypeError, "n_pairs must be a whole number"),
        (lambda: few(threshold=0.5), ValueError, "threshold must be a finite number greater than 0.5"),
        (lambda: few(threshold=1.1), ValueError, "threshold must be above 0.5 and at most 1, got 1.1"),
        (lambda: few(ks=[]), ValueError, "ks is empty"),
        (lambda: few(ks=3), TypeError, "ks must be a list of sizes"),
        (lambda: few(ks=[0, 1]), ValueError, "an entry of ks must be a whole number at least 1, got 0"),
        (lambda: few(SparseRegressor(include=[1, 2]), ks=[1, 3]), ValueError, "ks holds 1, but include names 2"),
        (lambda: few(X=X[:3], y=Y[:3]), ValueError, "X has 3 rows with a weight, and stability needs at least 4"),
        (lambda: few(SparseClassifier(k=1), y=np.arange(N) == 3), ValueError, "y holds class True once"),
        (lambda: few("lasso"), TypeError, "estimator must be a SparseRegressor or a SparseClassifier, got str"),
        (lambda: few(callback=3), TypeError, "callback must be a function, True for a bar, or None"),
        (lambda: few(n_jobs=0), ValueError, "n_jobs must be"),
        (lambda: few(random_state="x"), ValueError, "random_state must be"),
        (lambda: few(X=np.where(X > 2, np.nan, X)), ValueError, "X contains NaN"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_noise_is_hardly_ever_stable():
    """The bounds hold where nothing is right: everything stable is wrong then."""
    rng, wrong, bound = np.random.default_rng(3), [], []
    for seed in range(12):
        noise = rng.normal(size=(40, 60))
        found = stability(SparseRegressor(k=2), noise, rng.normal(size=40), n_pairs=20, random_state=seed)
        wrong.append(len(found.stable))
        bound.append(found.bounds.shah_samworth)
    assert np.mean(wrong) <= np.mean(bound) < 2
