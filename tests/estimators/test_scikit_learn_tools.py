"""Estimators inside scikit-learn's tools: metadata routing, calibration, thresholds, tags, the HTML picture."""

import numpy as np
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import pursuit
from pursuit import SparseClassifier, SparseClassifierCV, SparseRegressor, SparseRegressorCV
from pursuit._utils import docs

RNG = np.random.default_rng(0)
X = RNG.standard_normal((150, 6))
OFFSET = RNG.standard_normal(150)
COUNTS = RNG.poisson(np.exp(0.5 * X[:, 1] - 0.5 * X[:, 3] + OFFSET)).astype(float)
CLASSES, LABELS = make_classification(400, 8, n_informative=3, weights=[0.88], random_state=0)
ESTIMATORS = [name for name in pursuit.__all__ if hasattr(getattr(pursuit, name), "get_params")]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("wrap", ["plain", "pipeline", "grid"])
def test_offsets_and_weights_are_routed(wrap):
    weights = RNG.uniform(0.5, 2, 150)
    model = SparseRegressor(k=2, loss="poisson").set_fit_request(sample_weight=True, offset=True)
    model = model.set_score_request(sample_weight=True, offset=True)
    if wrap == "pipeline":
        model = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
    if wrap == "grid":
        model = GridSearchCV(model, {"k": [2]}, cv=2)
    params = {"sample_weight": weights, "offset": OFFSET}
    found = cross_validate(model, X, COUNTS, cv=[(np.arange(100), np.arange(100, 150))], params=params)
    by_hand = SparseRegressor(k=2, loss="poisson").fit(X[:100], COUNTS[:100], weights[:100], offset=OFFSET[:100])
    score = by_hand.score(X[100:], COUNTS[100:], weights[100:], offset=OFFSET[100:])
    assert found["test_score"][0] == pytest.approx(score, abs=1e-6)


@pytest.mark.usefixtures("routing")
def test_groups_of_rows_are_routed_to_the_choice_of_k():
    groups = np.repeat(np.arange(10), 15)
    model = SparseRegressorCV(ks=[1, 2], cv=3).set_fit_request(cv_groups=True)
    found = make_pipeline(StandardScaler(), model).fit(X, X[:, 1], cv_groups=groups)
    assert found[-1].k_ == 1


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration(loss, method):
    noise = np.random.default_rng(1).logistic(size=150)
    labels = (2 * X[:, 1] - 2 * X[:, 3] + noise > 0).astype(int)
    model = CalibratedClassifierCV(SparseClassifier(k=3, loss=loss), method=method, cv=3).fit(X, labels)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    base = labels.mean() * (1 - labels.mean())  # what the base rate alone gives
    assert brier_score_loss(labels, shares[:, 1]) < 0.7 * base


@pytest.mark.parametrize("kind", [SparseClassifier(k=3), SparseClassifierCV(ks=[3], cv=3)])
def test_tuned_thresholds(kind):
    model = TunedThresholdClassifierCV(kind, scoring="balanced_accuracy", cv=3).fit(CLASSES, LABELS)
    plain, tuned = model.estimator_.predict(CLASSES), model.predict(CLASSES)
    assert 0 < model.best_threshold_ < 0.5  # rare classes need a low one
    recall = [np.mean(found[LABELS == 1] == 1) for found in (plain, tuned)]
    assert recall[1] > recall[0]
    scores = model.estimator_._class_scores(threshold=model.best_threshold_)
    assert scores.confusion[1, 1] == np.sum((tuned == 1) & (LABELS == 1))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_picture_of_an_estimator_links_its_page(name, monkeypatch):
    kind = getattr(pursuit, name)
    monkeypatch.setattr(docs, "declared_url", {"Documentation": "https://site.example"}.get)
    page = kind()._repr_html_()
    assert name in page
    assert f"https://site.example/api/generated/pursuit.{name}.html" in page
    own = type("Own", (kind,), {"__module__": "somewhere"})  # a class of the user's has no page there
    assert "site.example" not in own()._repr_html_()
    monkeypatch.setattr(docs, "declared_url", lambda label: "")
    assert "api/generated" not in kind()._repr_html_()


def test_tags():
    assert get_tags(SparseRegressor()).target_tags.multi_output
    assert not get_tags(SparseRegressor(loss="huber")).target_tags.multi_output
    assert get_tags(SparseRegressor(loss="huber", shared=False)).target_tags.multi_output
    assert get_tags(SparseClassifier()).classifier_tags.multi_class
    assert not get_tags(SparseClassifier(loss="hinge")).classifier_tags.multi_class
    assert get_tags(SparseRegressor()).input_tags.sparse
    assert get_tags(pursuit.TablePreparer()).input_tags.allow_nan
