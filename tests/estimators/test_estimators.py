"""The estimators among scikit-learn's own: pipelines, searches, clones, pickles, frames, weights, probabilities."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

import pursuit
from problems import problem
from pursuit import GLM, SparseClassifier, SparseRegressor, solve

FAST = {"solver": "grahtp"}


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[::3], y[::3]


def test_the_model_is_the_refit_of_its_columns(diabetes):
    X, y = diabetes
    model = SparseRegressor(k=4).fit(X, y)
    plain = LinearRegression().fit(X[:, model.support_], y)
    np.testing.assert_allclose(model.coef_[model.support_], plain.coef_, rtol=1e-8)
    assert model.intercept_ == pytest.approx(plain.intercept_)
    assert np.count_nonzero(model.coef_) == 4
    assert model.score(X, y) == pytest.approx(r2_score(y, model.predict(X)))
    np.testing.assert_allclose(model.predict(X), plain.predict(X[:, model.support_]), rtol=1e-10)


def test_the_estimator_is_solve_on_the_standardised_objective(cancer):
    X, y = cancer
    model = SparseClassifier(k=3, l2=0.01, **FAST).fit(X, y)
    result = solve(GLM(X, y, "logistic", l2=0.01, standardize=True), 3, **FAST)
    assert np.array_equal(model.coef_[0], result.x)
    assert model.intercept_[0] == result.intercept
    assert model.result_.value == result.value
    assert model.n_iter_ == result.n_iter
    assert model.n_features_in_ == X.shape[1]
    assert model.score(X, y) == accuracy_score(y, model.predict(X)) > 0.9


def test_a_pipeline_and_a_search_over_k(diabetes):
    X, y = diabetes
    pipeline = make_pipeline(PolynomialFeatures(2, include_bias=False), SparseRegressor(**FAST))
    search = GridSearchCV(pipeline, {"sparseregressor__k": [1, 4, 8]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.4
    assert len(search.best_estimator_[-1].support_) == search.best_params_["sparseregressor__k"]


def test_as_a_selector_before_another_model(cancer):
    X, y = cancer
    pipeline = make_pipeline(StandardScaler(), SparseClassifier(k=4, **FAST), LogisticRegression())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    model = SparseClassifier(k=4, **FAST).fit(X, y)
    assert np.array_equal(model.transform(X), X[:, model.support_])
    assert np.array_equal(np.flatnonzero(model.get_support()), model.support_)
    back = model.inverse_transform(model.transform(X))
    assert np.array_equal(back[:, model.support_], X[:, model.support_])
    assert SelectFromModel(SparseClassifier(k=4, **FAST), threshold=1e-12).fit(X, y).get_support().sum() == 4


def test_sparse_X_in_fit_predict_and_transform(cancer):
    X, y = cancer
    dense = SparseClassifier(k=3, **FAST).fit(X, y)
    for kind in (sp.csr_matrix, sp.csc_array, sp.coo_matrix):
        model = SparseClassifier(k=3, **FAST).fit(kind(X), y)
        assert np.array_equal(model.support_, dense.support_)
        np.testing.assert_allclose(model.decision_function(kind(X)), dense.decision_function(X), atol=1e-6)
        assert sp.issparse(model.transform(kind(X)))


@pytest.mark.parametrize("make", [SparseRegressor, SparseClassifier])
def test_clone_keeps_every_parameter(make):
    model = make(
        k=3,
        loss=pursuit.Huber(2.0) if make is SparseRegressor else "hinge",
        l2=0.5,
        solver=pursuit.GraHTP(step=0.5),
        include=[1],
        exclude=["a"],
        groups=[0, 1],
        fit_intercept=False,
        standardize=False,
        max_iter=7,
        tol=1e-3,
        time_limit=2.0,
        n_jobs=2,
        random_state=1,
    )
    assert clone(model).get_params() == model.get_params()
    assert set(model.get_params()) >= {"k", "loss", "solver", "random_state"}


def test_fit_changes_no_parameter(diabetes):
    model = SparseRegressor(k=99, include=[2], **FAST)
    before = dict(model.get_params())
    model.fit(*diabetes)
    assert model.get_params() == before


def test_a_refitted_estimator_forgets_the_first_fit(diabetes):
    X, y = diabetes
    model = SparseRegressor(k=3, **FAST).fit(X[:, :5], y)
    model.fit(X, y)
    fresh = SparseRegressor(k=3, **FAST).fit(X, y)
    assert np.array_equal(model.coef_, fresh.coef_)
    assert model.n_features_in_ == 10


@pytest.mark.filterwarnings("ignore:y holds only 0 and 1")
@pytest.mark.parametrize("make", [SparseRegressor, SparseClassifier])
def test_a_pickle_predicts_alike_and_leaves_the_data_behind(make, cancer):
    X, y = cancer
    model = make(k=3, **FAST).fit(X, y)
    assert model.objective_.dim == X.shape[1]
    stored = pickle.dumps(model)
    assert len(stored) < X.nbytes / 4
    back = pickle.loads(stored)
    assert not hasattr(back, "objective_")
    assert np.array_equal(back.predict(X), model.predict(X))
    assert np.array_equal(back.coef_, model.coef_)
    assert back.result_.status == model.result_.status
    assert hasattr(model, "objective_")  # pickling changed nothing here


def test_pandas_names_go_in_and_come_out():
    pd = pytest.importorskip("pandas")
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = SparseRegressor(k=3).set_output(transform="pandas").fit(X, y)
    assert model.get_feature_names_out().tolist() == ["bmi", "bp", "s5"]
    frame = model.transform(X)
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == ["bmi", "bp", "s5"]
    assert frame.index.equals(X.index)
    assert model.feature_names_in_.tolist() == X.columns.tolist()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[X.columns[::-1]])


def test_polars_frames():
    pl = pytest.importorskip("polars")
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    frame = pl.DataFrame({name: X[name].to_numpy() for name in X.columns})
    model = SparseRegressor(k=3).set_output(transform="polars").fit(frame, y.to_numpy())
    assert model.get_feature_names_out().tolist() == ["bmi", "bp", "s5"]
    assert model.transform(frame).columns == ["bmi", "bp", "s5"]
    plain = SparseRegressor(k=3).fit(X.to_numpy(), y)
    np.testing.assert_allclose(model.predict(frame), plain.predict(X.to_numpy()), rtol=1e-12)


def test_columns_by_name():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = SparseRegressor(k=3, include="age", exclude=["bmi", 2], **FAST).fit(X, y)
    names = model.get_feature_names_out().tolist()
    assert "age" in names
    assert "bmi" not in names
    same = SparseRegressor(k=3, include=[0], exclude=[2], **FAST).fit(X.to_numpy(), y)
    assert np.array_equal(model.support_, same.support_)


@pytest.mark.parametrize("which", ["include", "exclude"])
def test_a_name_that_is_not_there(which):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    with pytest.raises(ValueError, match=f"{which} names column 'bm', which X does not have; did you mean 'bmi'"):
        SparseRegressor(k=3, **{which: ["bm"]}).fit(X, y)
    with pytest.raises(ValueError, match=f"{which} names column 'bmi', which X does not have; X has no column names"):
        SparseRegressor(k=3, **{which: ["bmi"]}).fit(X.to_numpy(), y)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"include": [10]}, ValueError, "include must hold column indices from 0 to 9, got 10"),
        ({"exclude": [1.5]}, TypeError, "exclude must hold column indices"),
        ({"include": [1], "exclude": [1]}, ValueError, "include and exclude overlap"),
        ({"groups": [1, 2]}, ValueError, "groups must give one label per column"),
        ({"solver": "grathp"}, ValueError, "solver 'grathp' is unknown; did you mean 'grahtp'"),
        ({"loss": "logistic"}, ValueError, "loss 'logistic' is not a regression loss; SparseRegressor"),
        ({"max_iter": 0}, ValueError, "max_iter must be"),
        ({"time_limit": -1.0}, ValueError, "time_limit must be"),
        ({"tol": "x"}, TypeError, "tol must be"),
    ],
)
def test_settings_are_checked_at_fit(settings, error, message, diabetes):
    model = SparseRegressor(k=3, **settings)  # the constructor only stores
    with pytest.raises(error, match=message):
        model.fit(*diabetes)


def test_a_regression_loss_is_not_a_classifiers(cancer):
    with pytest.raises(ValueError, match="loss 'squared' is not a classification loss; SparseClassifier"):
        SparseClassifier(loss="squared").fit(*cancer)


def test_groups_count_whole(diabetes):
    X, y = diabetes
    groups = ["person"] * 4 + ["serum"] * 6
    assert SparseRegressor(k=1, groups=groups, **FAST).fit(X, y).support_.tolist() in ([0, 1, 2, 3], [4, 5, 6, 7, 8, 9])


# Weights.


def test_balanced_classes_are_weights_by_hand(cancer):
    X, y = cancer
    balanced = SparseClassifier(k=3, class_weight="balanced", l2=0.01, **FAST).fit(X, y)
    by_hand = SparseClassifier(k=3, l2=0.01, **FAST).fit(X, y, sample_weight=compute_sample_weight("balanced", y))
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, rtol=1e-8)
    share = balanced.predict_proba(X)[:, 1]
    unweighted = SparseClassifier(k=3, l2=0.01, **FAST).fit(X, y)
    assert not np.allclose(share, unweighted.predict_proba(X)[:, 1])


def test_class_weights_by_name_multiply_sample_weights(cancer):
    X, y = cancer
    labels = np.where(y == 1, "benign", "malignant")
    rng = np.random.default_rng(0)
    weight = rng.random(len(y))
    model = SparseClassifier(k=3, class_weight={"benign": 1.0, "malignant": 5.0}, l2=0.01, **FAST)
    model.fit(X, labels, sample_weight=weight)
    by_hand = SparseClassifier(k=3, l2=0.01, **FAST).fit(X, labels, sample_weight=weight * np.where(y == 1, 1.0, 5.0))
    np.testing.assert_allclose(model.coef_, by_hand.coef_, rtol=1e-8)


@pytest.mark.parametrize("class_weight", ["blanced", {"x": 1.0}, 3])
def test_class_weights_that_are_not(class_weight, cancer):
    with pytest.raises((ValueError, TypeError), match="class_weight"):
        SparseClassifier(k=2, class_weight=class_weight, **FAST).fit(*cancer)


@pytest.mark.filterwarnings("ignore:y holds only 0 and 1")
@pytest.mark.parametrize("make", [SparseRegressor, SparseClassifier])
def test_repeated_rows_are_weights(make, cancer):
    X, y = cancer[0][:80], cancer[1][:80]
    times = np.arange(80) % 3
    weighted = make(k=2, l2=0.01, **FAST).fit(X, y, sample_weight=times)
    repeated = make(k=2, l2=0.01, **FAST).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7)


# Labels and probabilities.


@pytest.mark.parametrize(
    "labels", [["no", "yes"], [0, 1], [-1, 1], [False, True], [3.0, 7.0], [10, 2], ["b", "a"]], ids=str
)
def test_any_two_labels(labels, cancer):
    X, y = cancer
    given = np.array(labels)[y]
    model = SparseClassifier(k=3, l2=0.01, **FAST).fit(X, given)
    assert np.array_equal(model.classes_, np.unique(labels))
    assert model.predict(X).dtype == given.dtype
    assert model.score(X, given) > 0.9
    plain = SparseClassifier(k=3, l2=0.01, **FAST).fit(X, y)
    sign = 1 if np.array_equal(np.sort(labels), labels) else -1
    np.testing.assert_allclose(model.decision_function(X), sign * plain.decision_function(X), rtol=1e-7, atol=1e-7)


def test_probabilities(cancer):
    X, y = cancer
    model = SparseClassifier(k=3, l2=0, **FAST).fit(X, y)
    chance = model.predict_proba(X)
    assert chance.shape == (len(y), 2)
    np.testing.assert_allclose(chance.sum(axis=1), 1, rtol=1e-12)
    assert np.array_equal(model.classes_[chance.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), chance, rtol=1e-12, atol=1e-300)
    assert chance[:, 1] @ np.ones(len(y)) == pytest.approx(
        y.sum(), rel=1e-6
    )  # a logistic fit with intercept is calibrated


def test_probabilities_far_out_are_finite(cancer):
    X, y = cancer
    model = SparseClassifier(k=3, l2=1e-3, **FAST).fit(X, y)
    far = np.vstack([X[:1] * 1e6, -X[:1] * 1e6])
    chance, log = model.predict_proba(far), model.predict_log_proba(far)
    assert np.isfinite(chance).all()
    assert np.isfinite(log).all()
    np.testing.assert_allclose(chance.sum(axis=1), 1)
    assert log.min() < -700


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "smoothed_hinge"])
def test_margins_have_no_probabilities(loss, cancer):
    X, y = cancer
    model = SparseClassifier(k=3, loss=loss, l2=0.01, **FAST).fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert model.score(X, y) > 0.9
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(X)


def test_poisson_predicts_the_mean():
    given = problem("poisson")
    model = SparseRegressor(k=3, loss="poisson", **FAST).fit(given.X, given.y)
    assert (model.predict(given.X) > 0).all()
    assert model.predict(given.X).sum() == pytest.approx(given.y.sum(), rel=1e-8)


def test_an_offset_at_fit():
    given = problem("squared", offset=True)
    model = SparseRegressor(k=3, **FAST).fit(given.X, given.y, offset=given.offset)
    shifted = SparseRegressor(k=3, **FAST).fit(given.X, given.y - given.offset)
    np.testing.assert_allclose(model.coef_, shifted.coef_, rtol=1e-9)


def test_an_exposure_at_prediction():
    """Counts over different times: the rate does not know how long it was counted."""
    rng = np.random.default_rng(4)
    X, time = rng.standard_normal((400, 8)), rng.uniform(0.2, 20, 400)
    y = rng.poisson(time * np.exp(0.4 * X[:, 1] - 0.3 * X[:, 5] - 0.5))
    model = SparseRegressor(k=2, loss="poisson", **FAST).fit(X, y, offset=np.log(time))
    assert model.support_.tolist() == [1, 5]
    rate = model.predict(X)
    np.testing.assert_allclose(model.predict(X, np.log(time)), rate * time, rtol=1e-12)
    np.testing.assert_allclose(model.predict(X, offset=np.log(time)).sum(), y.sum(), rtol=1e-6)
    assert abs(rate.sum() - y.sum()) > 0.5 * y.sum()


def test_an_offset_of_a_classifier(cancer):
    X, y = cancer
    model = SparseClassifier(k=2, **FAST).fit(X, y)
    shift = np.linspace(-9, 9, len(y))
    eta = model.decision_function(X, shift)
    np.testing.assert_allclose(eta, model.decision_function(X) + shift, rtol=1e-9, atol=1e-9)
    assert np.array_equal(model.predict(X, offset=shift), (eta > 0).astype(int))
    np.testing.assert_allclose(model.predict_proba(X, shift)[:, 1], 1 / (1 + np.exp(-eta)), rtol=1e-9)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X, shift)), model.predict_proba(X, shift), rtol=1e-9)


def test_offsets_of_several_outputs(diabetes):
    X, y = diabetes
    Y, shift = np.column_stack([y, -y]), np.random.default_rng(0).random((len(y), 2))
    model = SparseRegressor(k=2, **FAST).fit(X, Y, offset=shift)
    np.testing.assert_allclose(model.predict(X, shift), model.predict(X) + shift)
    np.testing.assert_allclose(model.predict(X, shift[:, 0]), model.predict(X) + shift[:, :1])
    for call in (lambda bad: model.predict(X, bad), lambda bad: SparseRegressor(k=2, **FAST).fit(X, Y, offset=bad)):
        for bad, said in (
            (shift[:5], r"offset must have shape \(442,\) or \(442, 2\), got shape \(5, 2\)"),
            (shift[:5, 0], r"offset must have one entry per row of X, shape \(442,\)"),
            (shift * np.nan, "offset contains NaN"),
            ([["a", "b"]] * 442, "offset must be numeric"),
        ):
            with pytest.raises(ValueError, match=said):
                call(bad)


def test_a_callback_at_fit(diabetes):
    seen = []
    model = SparseRegressor(k=3, solver="omp").fit(*diabetes, callback=seen.append)
    assert [record.size for record in seen] == [1, 2, 3]
    assert model.result_.trace == tuple(seen)


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_threads_change_nothing(n_jobs, diabetes):
    model = SparseRegressor(k=3, n_jobs=n_jobs, **FAST).fit(*diabetes)
    assert np.array_equal(model.support_, [2, 3, 8])


# Endings that a user should know of.


@pytest.mark.parametrize(
    ("settings", "status"), [({"time_limit": 0.0}, "time_limit"), ({"max_iter": 1, "solver": "omp"}, "max_iter")]
)
def test_a_limit_warns_once_with_its_reason(settings, status, diabetes):
    with pytest.warns(ConvergenceWarning) as warned:
        model = SparseRegressor(k=4, **settings).fit(*diabetes)
    assert model.result_.status == status
    assert [str(warning.message) for warning in warned] == [f"SparseRegressor: {model.result_.reason}"]
    assert warned[0].filename == __file__  # where fit was called


def test_a_failure_warns(diabetes):
    class Broken(pursuit.Solver):
        """Leaves the sparse set."""

        def iterate(self, f, constraint, start):
            yield f.refit(np.arange(f.dim))

    with pytest.warns(ConvergenceWarning, match="more than k=3 allows"):
        assert SparseRegressor(k=3, solver=Broken()).fit(*diabetes).result_.status == "failed"


def test_what_was_asked_for_does_not_warn(diabetes):
    X, y = diabetes  # warnings are errors here
    assert "capped" in SparseRegressor(k=99, **FAST).fit(X, y).result_.reason
    twice = SparseRegressor(k=2, include=[2, 10], **FAST).fit(np.column_stack([X, X[:, 2]]), y)
    assert "rank" in twice.result_.reason
    assert SparseRegressor(k=3).fit(X, y, callback=lambda record: True).result_.status == "interrupted"


def test_before_fit(diabetes):
    for model in (SparseRegressor(), SparseClassifier()):
        for call in (model.predict, model.transform):
            with pytest.raises(NotFittedError):
                call(diabetes[0])


def test_nan_at_prediction_is_told(diabetes):
    model = SparseRegressor(k=2, **FAST).fit(*diabetes)
    X = diabetes[0][:3].copy()
    X[1, model.support_[0]] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.predict(X)


def test_other_numbers_of_columns_are_told(diabetes):
    model = SparseRegressor(k=2, **FAST).fit(*diabetes)
    with pytest.raises(ValueError, match="features"):
        model.predict(diabetes[0][:, :4])


def test_plain_arrays_are_checked_as_scikit_learn_does(diabetes):
    """They take a shorter way, to the same answers."""
    import pandas as pd

    X, y = diabetes
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(10)])
    model = SparseRegressor(k=3, **FAST).fit(frame, y)
    named = model.coef_
    model.fit(X, y)
    np.testing.assert_allclose(model.coef_, named, rtol=1e-12)
    assert not hasattr(model, "feature_names_in_")  # which were those of the frame
    with pytest.raises(ValueError, match="X has 9 features, but SparseRegressor is expecting 10"):
        model.predict(X[:, :9])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        SparseRegressor(k=3, **FAST).fit(frame, y).predict(X)
    for wrong, words in (
        (np.where(np.arange(len(y)) == 4, np.nan, y), "NaN"),
        (y[:-1], "inconsistent numbers of samples"),
        (y.astype(complex), "Complex data not supported"),
    ):
        with pytest.raises(ValueError, match=words):
            SparseRegressor(k=3, **FAST).fit(X, wrong)
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        SparseRegressor(k=1).fit(X[:, :0], y)
    with pytest.raises(ValueError, match="1 feature"):
        pursuit.SparseLDA(1).fit(X[:, :1], y > 100)
    for dtype in (np.float32, np.float64):
        assert SparseRegressor(k=3, **FAST).fit(X.astype(dtype), y).coef_.dtype == dtype


@pytest.mark.parametrize("kind", [SparseRegressor, SparseClassifier])
def test_the_objective_is_that_of_fit(kind, diabetes):
    X, y = diabetes
    y = y if kind is SparseRegressor else y > np.median(y)
    weights = np.linspace(1.0, 2.0, len(y))
    model = kind(k=3).fit(X, y, weights)
    fresh = kind(k=3)
    result = pursuit.solve(fresh.objective(X, y, weights), 3)
    assert np.array_equal(result.support, model.support_)
    assert result.value == pytest.approx(model.result_.value, rel=1e-12)
    assert not [name for name in vars(fresh) if name.endswith("_")]  # it is not fitted
