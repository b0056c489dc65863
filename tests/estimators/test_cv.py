"""Estimators that choose k: what is invariant, what they store, and what they say to bad input."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, StratifiedGroupKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

import pursuit
from problems import problem
from pursuit import SparseClassifierCV, SparseRegressor, SparseRegressorCV

KS = range(5)


def regression(seed=0, n=60, p=10, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, X[:, 0] - X[:, 3] + 0.5 * X[:, 5] + noise * rng.standard_normal(n)


@pytest.mark.filterwarnings("ignore:No features were selected", "ignore:y holds only 0 and 1")
@parametrize_with_checks(
    [
        SparseRegressorCV(KS, cv=3),
        SparseRegressorCV(KS, cv=3, combine="none", rule="1se"),
        SparseRegressorCV(rule="bic"),
        SparseRegressorCV(KS, cv=3, loss="huber", combine="average"),
        SparseClassifierCV(range(3), cv=3),
        SparseClassifierCV(range(3), cv=3, loss="squared_hinge"),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("combine", ["project", "none", "average"])
def test_units_of_columns_and_of_y_do_not_matter(combine):
    X, y = regression()
    one = SparseRegressorCV(cv=5, combine=combine).fit(X, y)
    scale, shift = np.random.default_rng(1).uniform(0.01, 100, 10), np.arange(10) - 4.0
    two = SparseRegressorCV(cv=5, combine=combine).fit(X * scale + shift, 1000 * y - 7)
    assert one.k_ == two.k_
    assert np.array_equal(one.support_, two.support_)
    np.testing.assert_allclose(two.predict(X * scale + shift), 1000 * one.predict(X) - 7, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(two.coef_ * scale, 1000 * one.coef_, rtol=1e-6, atol=1e-9)


def test_the_squared_projection_predicts_the_mean():
    X, y = regression(noise=3.0)
    model = SparseRegressorCV(cv=5).fit(X, y)
    assert model.predict(X).mean() == pytest.approx(y.mean())


@pytest.mark.parametrize("combine", ["project", "none"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_repeated_rows_are_whole_number_weights(combine, loss):
    given = problem(loss, n=60, p=6, weights=True)
    groups, times = np.arange(60) % 5, given.weight.astype(int)
    make = SparseClassifierCV if loss == "logistic" else SparseRegressorCV
    model = make(KS, cv=LeaveOneGroupOut(), combine=combine, loss=loss)
    one = clone(model).fit(given.X, given.y, given.weight, cv_groups=groups)
    two = clone(model).fit(given.X.repeat(times, axis=0), given.y.repeat(times), cv_groups=groups.repeat(times))
    assert one.k_ == two.k_
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(one.cv_results_["mean_loss"], two.cv_results_["mean_loss"], rtol=1e-8)


@pytest.mark.filterwarnings("ignore:y holds only 0 and 1")
@pytest.mark.parametrize("make", [SparseRegressorCV, SparseClassifierCV])
def test_sparse_X_is_dense_X(make):
    given = problem("logistic", n=60, p=8, density=0.4)
    dense = make(KS, cv=4).fit(given.X, given.y)
    sparse = make(KS, cv=4).fit(sp.csr_array(given.X), given.y)
    assert dense.k_ == sparse.k_
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-6, atol=1e-8)


def test_folds_in_threads_are_folds_in_turn():
    X, y = regression(n=80, p=30)
    one, two = (SparseRegressorCV(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-10, atol=1e-13)


def test_noise_has_no_features_mostly():
    rng = np.random.default_rng(0)
    chosen = [SparseRegressorCV(cv=5).fit(rng.standard_normal((40, 20)), rng.standard_normal(40)) for _ in range(12)]
    assert np.median([model.k_ for model in chosen]) <= 2
    null = next(model for model in chosen if model.k_ == 0)
    assert "no feature is used" in null.reason_
    assert not null.coef_.any()
    assert len(null.result_.support) == 0
    assert all(np.isfinite(model.coef_).all() for model in chosen)


@pytest.mark.parametrize("how", [{}, {"rule": "bic"}, {"scoring": "r2"}, {"combine": "none"}])
@pytest.mark.parametrize("scale", [1e308, 1e-308])
def test_weights_of_any_scale_are_the_same_weights(how, scale):
    X, y = regression()
    one, other = (SparseRegressorCV(KS, cv=3, **how).fit(X, y, np.full(60, s)) for s in (0.5, scale))
    assert other.k_ == one.k_
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("repeated", [True, False])
@pytest.mark.parametrize("how", [{}, {"combine": "none"}, {"rule": "bic"}])
def test_no_model_has_more_features_than_rows_that_differ(how, repeated):
    """More of them fit the rows exactly, and then rounding chooses among them."""
    rng = np.random.default_rng(1)
    X = np.round(np.cumsum(0.1 * rng.standard_normal((15, 60)), axis=1) + rng.standard_normal((15, 1)), 1)
    y, times = X[:, 30] + 0.3 * rng.standard_normal(15), np.full(15, 8)
    model, groups = SparseRegressorCV(cv=5, **how), np.arange(15)
    if repeated:
        model.fit(X.repeat(times, axis=0), y.repeat(times), cv_groups=None if "rule" in how else groups.repeat(times))
    else:
        model.fit(X, y, times.astype(float))
    assert model.k_ <= 12  # 0.8 times 15
    assert max(model.path_.sizes) == 12
    if "rule" not in how:
        loss = model.cv_results_["mean_loss"]
        assert loss.max() < 2 * loss[0]  # 18 times, where sizes went up to 50


def test_what_is_stored():
    X, y = regression(seed=1, noise=0.5)
    model = SparseRegressorCV(cv=5).fit(X, y)
    assert model.k_ == len(model.support_) == np.count_nonzero(model.coef_)
    assert model.k_1se_ <= model.k_
    assert model.l2_ in (0.1, 1.0, 10.0)
    assert model.gamma_ in (0.0, 1.0)
    assert model.result_.k == model.k_
    assert model.objective_.ridge == model.l2_
    again = pursuit.solve(model.objective_, model.k_)
    assert model.result_.value >= again.value - 1e-9
    refit = SparseRegressor(k=model.k_, include=model.support_).fit(X, y)
    np.testing.assert_allclose(model.refit_coef_, refit.coef_, rtol=1e-8, atol=1e-12)
    assert np.abs(model.coef_).sum() < np.abs(model.refit_coef_).sum()  # an average shrinks
    table = model.cv_results_
    assert {len(values) for values in table.values()} == {len(table["k"])}
    assert table["weight"].sum() == pytest.approx(1)
    chosen = (table["l2"] == model.l2_) & (table["gamma"] == model.gamma_)
    for k, loss in zip(table["k"][chosen], table["mean_loss"][chosen], strict=True):
        assert model.path_.scores[k] == -loss
    smoothed = model.sizes_["smoothed"]
    near = smoothed - smoothed.min() <= smoothed.min() / len(y)  # half a nat, more than half a standard error here
    assert model.sizes_["k"][np.argmax(near)] == model.k_ < model.sizes_["k"][np.argmin(smoothed)]
    assert "half a nat" in model.reason_
    back = pickle.loads(pickle.dumps(model))
    assert np.array_equal(back.predict(X), model.predict(X))
    assert not hasattr(back, "objective_")


def test_rules_and_combinations():
    X, y = regression(seed=5, noise=2.0)
    least = SparseRegressorCV(cv=5).fit(X, y)
    small = SparseRegressorCV(cv=5, rule="1se").fit(X, y)
    assert small.k_ == least.k_1se_ <= least.k_
    none = SparseRegressorCV(cv=5, rule="min", combine="none").fit(X, y)
    best = np.argmin(none.cv_results_["mean_loss"])
    assert (none.k_, none.l2_, none.gamma_) == tuple(none.cv_results_[name][best] for name in ("k", "l2", "gamma"))
    ridge, refit = none.path_.at(none.k_).x, none.refit_coef_
    np.testing.assert_allclose(none.coef_, none.gamma_ * ridge + (1 - none.gamma_) * refit, rtol=1e-8, atol=1e-12)
    dense = SparseRegressorCV(cv=5, combine="average").fit(X, y)
    assert dense.k_ > least.k_ or least.k_ == 10


def test_included_excluded_and_grouped_columns():
    X, y = regression()
    model = SparseRegressorCV(cv=4, include=[7], exclude=[0]).fit(X, y)
    assert 7 in model.support_
    assert 0 not in model.support_
    assert model.sizes_["k"][0] == 1
    groups = np.arange(10) // 2
    model = SparseRegressorCV(cv=4, groups=groups).fit(X, y)
    chosen = np.unique(groups[model.support_])
    assert model.k_ == len(chosen)
    assert np.array_equal(model.support_, np.flatnonzero(np.isin(groups, chosen)))


@pytest.mark.parametrize("kept", [{"bounds": (0.0, None)}, {"sum_to": 1.0}])
def test_bounds_and_sums_are_kept(kept):
    X, y = regression(p=6)
    model = SparseRegressorCV(range(1, 4), cv=3, **kept).fit(X, y)
    assert "combine='none' was used" in model.reason_
    if "bounds" in kept:
        assert (model.coef_ >= 0).all()
    else:
        assert model.coef_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("combine", ["project", "none", "average"])
def test_several_outputs(combine):
    X, y = regression(n=90)
    both = SparseRegressorCV(KS, cv=3, combine=combine).fit(X, np.column_stack([y, X[:, 1] - y]))
    assert both.coef_.shape == (2, 10)
    assert both.predict(X).shape == (90, 2)
    assert both.score(X, np.column_stack([y, X[:, 1] - y])) > 0.4
    three = SparseClassifierCV(KS, cv=3, combine=combine).fit(X, np.digitize(y, [-1, 1]))
    assert three.coef_.shape == (3, 10)
    np.testing.assert_allclose(three.predict_proba(X).sum(axis=1), 1)
    assert three.score(X, np.digitize(y, [-1, 1])) > 0.5


@pytest.mark.parametrize("loss", ["hinge", "smoothed_hinge", "squared_hinge", "logistic"])
def test_every_loss_of_classes(loss):
    given = problem("logistic", n=80, p=6)
    model = SparseClassifierCV(KS, cv=3, loss=loss).fit(given.X, given.y)
    assert model.score(given.X, given.y) > 0.6
    assert np.isfinite(model.cv_results_["mean_loss"]).all()


def test_offsets():
    given = problem("poisson", n=80, p=6, offset=True)
    model = SparseRegressorCV(KS, cv=4, loss="poisson").fit(given.X, given.y, offset=5 + given.offset)
    plain = SparseRegressorCV(KS, cv=4, loss="poisson").fit(given.X, given.y, offset=given.offset)
    assert model.k_ == plain.k_
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-5, atol=1e-7)
    assert model.intercept_ == pytest.approx(plain.intercept_ - 5)


@pytest.mark.parametrize("package", ["pandas", "polars"])
@pytest.mark.parametrize("columns", ["abcdefghij", range(10)])
@pytest.mark.filterwarnings("error")
def test_scorers_and_splitters_get_frames(package, columns):
    X, y = regression()
    frames = pytest.importorskip(package)
    if package == "polars" and columns != "abcdefghij":
        return  # its columns have names
    frame = frames.DataFrame(X, **{"schema" if package == "polars" else "columns": list(columns)})
    seen = []

    def scorer(model, X, y):
        seen.append(X)
        return -np.mean((y - model.predict(X)) ** 2)

    class Splitter(KFold):
        def split(self, X, y=None, groups=None):
            seen.append(X)
            return super().split(X, y, groups)

    model = SparseRegressorCV(KS, cv=Splitter(3), scoring=scorer, combine="none").fit(frame, y)
    assert all(isinstance(rows, frames.DataFrame) for rows in seen)
    assert {len(rows) for rows in seen} == {20, 60}
    again = SparseRegressorCV(KS, cv=KFold(3), scoring=scorer, combine="none").fit(X, y)
    assert isinstance(seen[-1], np.ndarray)
    np.testing.assert_allclose(model.coef_, again.coef_)


@pytest.mark.parametrize("scoring", [["r2"], ("r2", "max_error"), {"r2"}, {"one": "r2"}])
def test_one_score_chooses(scoring):
    with pytest.raises(
        TypeError, match="scoring must be one scorer or the name of one, since one score chooses k; got"
    ):
        SparseRegressorCV(KS, scoring=scoring).fit(*regression())


def test_a_scorer_chooses():
    X, y = regression()
    model = SparseRegressorCV(KS, cv=4, scoring="neg_mean_squared_error", combine="none").fit(X, y)
    plain = SparseRegressorCV(KS, cv=4, combine="none").fit(X, y)
    np.testing.assert_allclose(model.cv_results_["mean_score"], -2 * plain.cv_results_["mean_loss"], rtol=1e-9)
    assert np.array_equal(model.coef_, plain.coef_)
    own = SparseRegressorCV(KS, cv=4, scoring=make_scorer(mean_absolute_error, greater_is_better=False)).fit(X, y)
    assert own.k_ > 0
    labels = np.where(y > 0, "yes", "no")
    by_area = SparseClassifierCV(range(3), cv=3, scoring="roc_auc").fit(X, labels)
    assert 0.5 < by_area.cv_results_["mean_score"].max() <= 1


def test_sizes_are_sorted_capped_and_extended():
    X, y = regression()
    model = SparseRegressorCV([3, 1, 1, 99], cv=3).fit(X, y)
    assert model.sizes_["k"].tolist() == [1, 3, 10]
    assert "capped" in model.reason_
    tied = SparseRegressorCV([1], cv=3).fit(X, y)
    assert "larger ones may predict better" in tied.reason_
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 80))
    model = SparseRegressorCV(cv=3, combine="none").fit(X, X.sum(axis=1) + 0.1 * rng.standard_normal(300))
    assert model.k_ == 80  # beyond the 50 that are tried first


def test_few_rows():
    X, y = regression(n=6, p=20)
    model = SparseRegressorCV().fit(X, y)
    assert "capped at 6 folds" in model.reason_
    assert model.cv_results_["k"].max() <= 4  # 0.8 of the rows
    labels = np.array([0, 0, 0, 1, 1, 1])
    assert "rarest class has 3 rows" in SparseClassifierCV().fit(X, labels).reason_


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.zeros((12, 3)), np.arange(12.0)),
        (np.arange(24.0).reshape(12, 2), np.ones(12)),
        (np.array([[0.0], [1.0]]), np.array([1.0, 2.0])),
        (np.repeat(np.arange(12.0)[:, None], 3, axis=1), np.arange(12.0) * 2 + 1),
    ],
    ids=["zero columns", "constant y", "two rows", "equal columns"],
)
@pytest.mark.parametrize("combine", ["project", "none", "average"])
def test_degenerate_data_have_finite_answers(X, y, combine):
    model = SparseRegressorCV(combine=combine).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert all(np.isfinite(values).all() for values in model.cv_results_.values())
    if not X.any() or np.ptp(y) == 0:
        np.testing.assert_allclose(model.predict(X), y.mean())
        assert model.k_ == 0


def test_a_saved_model_predicts_alike(tmp_path):
    X, y = regression()
    for make, target in ((SparseRegressorCV, y), (SparseClassifierCV, y > 0)):
        model = make(KS, cv=3).fit(X, target)
        loaded = pursuit.load_model(pursuit.save_model(model, tmp_path / "model.json"))
        assert loaded.k == model.k_
        assert loaded.reason == model.reason_
        eta = model.decision_function(X) if make is SparseClassifierCV else model.predict(X)
        np.testing.assert_allclose(loaded.decision_function(X), eta, rtol=1e-10)


def test_progress_is_told():
    X, y = regression()
    progress = []
    SparseRegressorCV([1], cv=4).fit(X, y, callback=lambda done, of: progress.append((done, of)))
    assert sorted(progress) == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize("labels", [False, True])
def test_a_number_of_folds_keeps_groups_whole(labels):
    X, y = regression()
    groups = np.arange(60) % 7
    model, kind = (SparseClassifierCV, StratifiedGroupKFold) if labels else (SparseRegressorCV, GroupKFold)
    y = np.where(y > 0, "yes", "no") if labels else y
    one = model(KS).fit(X, y, cv_groups=groups)
    two = model(KS, cv=kind(7, shuffle=True, random_state=0)).fit(X, y, cv_groups=groups)
    assert np.array_equal(one.cv_results_["mean_loss"], two.cv_results_["mean_loss"])
    assert one.reason_.endswith("cv=10 was capped at 7 folds, as cv_groups has 7 groups")


@pytest.mark.parametrize("labels", [False, True])
def test_rows_without_a_weight_are_as_if_they_were_not_there(labels):
    X, y = regression()
    model = SparseClassifierCV(KS) if labels else SparseRegressorCV(KS)
    y = (y > 0) if labels else y
    weight = (np.arange(60) < 12).astype(float)
    one, two = clone(model).fit(X, y, weight), clone(model).fit(X[:12], y[:12])
    assert one.k_ == two.k_
    assert one.coef_ == pytest.approx(two.coef_)


def test_one_column_of_y_is_held_out_as_a_vector_is():
    X, y = regression()
    one, two = SparseRegressorCV(KS).fit(X, y).held_out_, SparseRegressorCV(KS).fit(X, y[:, None]).held_out_
    assert (one.name, two.name) == ("R2", "R2")
    assert two.score == pytest.approx(one.score)


LABELS = np.array([0] * 29 + [1])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda X, y: SparseRegressorCV([]).fit(X, y), "ks is empty"),
        (lambda X, y: SparseRegressorCV(5).fit(X, y), "ks must be a list of sizes"),
        (lambda X, y: SparseRegressorCV([-1]).fit(X, y), "an entry of ks must be"),
        (lambda X, y: SparseRegressorCV(l2=-1).fit(X, y), "l2 must be"),
        (lambda X, y: SparseRegressorCV(gamma=2).fit(X, y), "gamma must be a number from 0"),
        (lambda X, y: SparseRegressorCV(cv=1).fit(X, y), "cv must be a number of folds from 2"),
        (lambda X, y: SparseRegressorCV(cv="ten").fit(X, y), "cv must be a number of folds"),
        (lambda X, y: SparseRegressorCV(cv=None).fit(X, y), "cv must be a number of folds"),
        (lambda X, y: SparseRegressorCV(cv=[]).fit(X, y), "gave no folds"),
        (lambda X, y: SparseRegressorCV(cv=[([0, 1], [])]).fit(X, y), "fold 0 of cv has no row with a weight to test"),
        (lambda X, y: SparseRegressorCV(cv=[([], [0, 1])]).fit(X, y), "fold 0 of cv has no row with a weight to train"),
        (lambda X, y: SparseRegressorCV(cv=[([0, 99], [1])]).fit(X, y), "rows must be whole numbers"),
        (lambda X, y: SparseRegressorCV(cv=GroupKFold(3)).fit(X, y), "cv_groups"),
        (lambda X, y: SparseRegressorCV(combine="median").fit(X, y), "combine 'median' is unknown"),
        (lambda X, y: SparseRegressorCV(rule="best").fit(X, y), "rule 'best' is unknown"),
        (lambda X, y: SparseRegressorCV(scoring=lambda e, X, y: np.nan).fit(X, y), "gave NaN in fold 0"),
        (lambda X, y: SparseRegressorCV().fit(X, y, callback=3), "callback must be a function"),
        (lambda X, y: SparseRegressorCV().fit(X, y, cv_groups=[1, 2]), "cv_groups must have one entry per row"),
        (lambda X, y: SparseRegressorCV().fit(X, y, cv_groups=np.ones(30)), "cv_groups has one value"),
        (lambda X, y: SparseRegressorCV(scoring="accuracy").fit(X, y), "scoring='accuracy' gave no score"),
        (lambda X, y: SparseRegressorCV(scoring="neg_log_loss").fit(X, y), "scoring='neg_log_loss' gave no score"),
        (lambda X, y: SparseRegressorCV(scoring="r2").fit(X, y, offset=y), "scoring cannot be used with an offset"),
        (lambda X, y: SparseRegressorCV().fit(X, 1e200 * y), "y has values that are too large to square"),
        (lambda X, y: SparseRegressorCV().fit(X, 1e200 * y[:, None]), "y has values that are too large to square"),
        (lambda X, y: SparseClassifierCV(cv=KFold(2)).fit(X, np.sort(LABELS)), "y holds class 1 once"),
        (lambda X, y: SparseClassifierCV(cv=KFold(2)).fit(X, np.arange(30) > 14), "trains on no row of class"),
        (lambda X, y: SparseRegressorCV(include=[0, 1], exclude=[1]).fit(X, y), "include and exclude overlap"),
        (lambda X, y: SparseRegressorCV().fit(np.where(X > 2, np.nan, X), y), "X contains NaN"),
    ],
)
def test_bad_input_is_a_sentence(make, words):
    X, y = regression(n=30)
    with pytest.raises((TypeError, ValueError), match=words) as caught:
        make(X, y)
    assert "\n" not in str(caught.value)


def test_what_a_criterion_has_no_use_for():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))
    y = X[:, 0] + rng.standard_normal(40)
    with pytest.raises(ValueError, match="rule='bic' holds out no rows, so scoring has no use"):
        SparseRegressorCV(rule="bic", scoring="r2").fit(X, y)
    with pytest.raises(ValueError, match="so cv_groups has no use"):
        SparseRegressorCV(rule="bic").fit(X, y, cv_groups=np.arange(40) % 5)


@pytest.mark.parametrize("rule", ["min", "bic"])
def test_targets_too_small_to_square(rule):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))
    y = X[:, 0] + rng.standard_normal(40)
    with pytest.raises(ValueError, match="y holds numbers too small to square"):
        SparseRegressorCV(rule=rule).fit(X, 1e-160 * y)
    assert SparseRegressorCV(rule=rule).fit(X, np.full(40, 1e-160)).k_ == 0
