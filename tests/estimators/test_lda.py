"""SparseLDA: scikit-learn's discriminant analysis where the graph is complete, and what a graph adds."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold

from pursuit import SparseLDA, SparsePrecision, load_model, save_model
from pursuit.kernels.graph import graph_path

WINE = load_wine(return_X_y=True, as_frame=True)
IRIS = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
P = 10
CHAIN = 2 * np.eye(P) - 0.9 * (np.eye(P, k=1) + np.eye(P, k=-1))
Y = np.repeat(["ill", "well"], [90, 60])
X = RNG.multivariate_normal(np.zeros(P), np.linalg.inv(CHAIN), size=150) + np.outer(Y == "ill", np.eye(P)[0] * 2)
FRAME = pd.DataFrame(X, columns=list("abcdefghij"))


@pytest.mark.parametrize("two", [True, False])
@pytest.mark.parametrize("given", [{}, {"shrinkage": 0.3, "standardize": False}])
def test_a_complete_graph_is_scikit_learns(two, given):
    A, y = WINE[0], WINE[1] != 0 if two else WINE[1]
    more = {"shrinkage": given["shrinkage"]} if given else {}
    model, plain = SparseLDA(P**2, **given).fit(A, y), LinearDiscriminantAnalysis(solver="lsqr", **more).fit(A, y)
    assert np.allclose(model.predict_proba(A), plain.predict_proba(A), atol=1e-7)
    assert np.array_equal(model.predict(A), plain.predict(A))
    scales = np.sqrt(plain.covariance_.diagonal())
    apart = (model.covariance_ - plain.covariance_) / np.outer(scales, scales)
    assert np.abs(apart).max() < 1e-6  # an edge that adds nothing may be left out
    if two:
        assert np.allclose(model.coef_, plain.coef_, rtol=1e-5)
        assert np.allclose(model.decision_function(A), plain.decision_function(A), atol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_are_the_papers(classes):
    A, y = (a[IRIS[1] < classes] for a in IRIS)
    priors = np.arange(1, classes + 1) / (classes * (classes + 1) / 2)
    model = SparseLDA(2, priors=priors).fit(A, y)
    assert np.allclose(model.priors_, priors)
    delta = A @ model.precision_ @ model.means_.T + np.log(model.priors_)
    delta -= np.einsum("ij,jk,ik->i", model.means_, model.precision_, model.means_) / 2
    found = model.decision_function(A)
    if classes == 2:
        assert np.allclose(found, delta[:, 1] - delta[:, 0])
    else:
        assert np.allclose(found - found[:, :1], delta - delta[:, :1])
    assert np.allclose(np.exp(model.predict_log_proba(A)), model.predict_proba(A))
    assert np.allclose(model.predict_proba(A).sum(axis=1), 1)
    assert np.array_equal(model.predict(A), model.classes_[delta.argmax(axis=1)])


def test_the_graph_is_that_of_rows_about_their_class_means():
    model = SparseLDA(6, shrinkage=0.1, l1=0.02).fit(FRAME, Y)
    within = FRAME - FRAME.groupby(Y).transform("mean")
    other = SparsePrecision(6, shrinkage=0.1, l1=0.02).fit(within)
    assert np.allclose(model.precision_, other.precision_, atol=1e-8)
    assert model.graph_.edges_["source"].tolist() == other.edges_["source"].tolist()
    assert model.n_edges_ == 6
    assert np.linalg.eigvalsh(model.precision_)[0] > 0


def test_order_and_units_of_columns_change_nothing():
    model = SparseLDA().fit(X, Y)
    order, units = np.random.default_rng(1).permutation(P), 10.0 ** np.arange(-4, P - 4)
    shuffled, scaled = SparseLDA().fit(X[:, order], Y), SparseLDA().fit(X * units, Y)
    assert model.n_edges_ == shuffled.n_edges_ == scaled.n_edges_
    assert np.allclose(shuffled.coef_, model.coef_[:, order], atol=1e-6)
    assert np.allclose(scaled.coef_ * units, model.coef_, atol=1e-6)
    assert np.allclose(scaled.predict_proba(X * units), model.predict_proba(X), atol=1e-6)


def test_the_number_of_edges_is_chosen_by_held_out_likelihood():
    model = SparseLDA(cv=StratifiedKFold(4)).fit(FRAME, Y)
    assert 9 <= model.n_edges_ <= 14
    assert model.graph_.adjacency_.diagonal(1).all()
    table = model.cv_results_
    sizes = sorted(set(table["n_edges"].tolist()))
    scores = []
    for train, test in StratifiedKFold(4).split(X, Y):
        fold = SparseLDA(0).fit(X[train], Y[train])
        means = fold.means_[np.searchsorted(fold.classes_, Y)]
        S = (X - means)[train].T @ (X - means)[train] / len(train)
        s = np.sqrt(S.diagonal())
        W = graph_path(S / np.outer(s, s), sizes)[sizes.index(model.n_edges_)].W / np.outer(s, s)
        rest = (X - means)[test]
        quadratic = np.einsum("ij,jk,ik->i", rest, W, rest).mean()
        scores.append((np.linalg.slogdet(W)[1] - quadratic - P * np.log(2 * np.pi)) / 2)
    at = int(np.flatnonzero(table["n_edges"] == model.n_edges_)[0])
    assert table["mean_test_score"][at] == pytest.approx(np.average(scores, weights=[38, 38, 37, 37]), abs=1e-3)
    assert at == np.argmax(table["mean_test_score"])
    assert f"n_edges={model.n_edges_} by the best held-out likelihood" in model.reason_
    assert SparseLDA(rule="1se").fit(FRAME, Y).n_edges_ <= SparseLDA().fit(FRAME, Y).n_edges_


@pytest.mark.parametrize("standardize", [True, False])
def test_shrinkage_is_chosen_too(standardize):
    few = np.r_[0:12, 90:102]
    model = SparseLDA(12, shrinkage="cv", cv=3, standardize=standardize).fit(X[few], Y[few])
    table = model.cv_results_
    assert len(set(table["shrinkage"])) > 2
    assert model.shrinkage_ == table["shrinkage"][np.argmax(table["mean_test_score"])] > 0
    assert f"shrinkage={model.shrinkage_:g} by the best" in model.reason_
    same = SparseLDA(12, shrinkage=model.shrinkage_, standardize=standardize).fit(X[few], Y[few])
    assert np.allclose(same.coef_, model.coef_)


def test_more_columns_than_rows():
    A = np.column_stack([X, RNG.normal(size=(150, 60))])[::5]
    model = SparseLDA(shrinkage="cv", cv=3).fit(A, Y[::5])
    assert np.linalg.eigvalsh(model.precision_)[0] > 0
    plain = SparseLDA(10).fit(A, Y[::5])
    assert np.isfinite(plain.predict_proba(A)).all()
    assert "no optimum" in SparseLDA(40).fit(A[::3, :12], Y[::15]).reason_


def test_columns_that_do_not_vary_within_classes():
    frame = FRAME.assign(c=Y == "ill", d=5.0)
    model = SparseLDA(4).fit(frame, Y)
    assert "columns 'c', 'd' do not vary within any class" in model.reason_
    assert not model.graph_.adjacency_[2:4].any()
    assert abs(model.coef_[0, 3]) < 1e-9
    assert model.score(frame, Y) > SparseLDA(4).fit(FRAME, Y).score(FRAME, Y)
    rare = FRAME.assign(c=np.eye(len(Y))[3])  # varies, but not in every fold
    assert np.isfinite(SparseLDA().fit(rare, Y).cv_results_["mean_test_score"]).all()


def test_a_class_with_one_row():
    y = Y.copy()
    y[0] = "other"
    model = SparseLDA().fit(X, y)
    assert np.allclose(model.means_[1], X[0])
    assert model.priors_[1] == pytest.approx(1 / 150)
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()
    assert len(model.cv_results_["n_edges"]) > 0
    assert sum(name.startswith("split") for name in model.cv_results_) == 6  # a rare class costs no folds


def test_weights_are_repetitions():
    weights = np.random.default_rng(2).integers(0, 3, len(X))
    weighted = SparseLDA(9).fit(X, Y, sample_weight=weights)
    repeated = SparseLDA(9).fit(X.repeat(weights, axis=0), Y.repeat(weights))
    assert np.allclose(weighted.coef_, repeated.coef_)
    assert np.allclose(weighted.intercept_, repeated.intercept_)


@pytest.mark.parametrize(
    ("frame", "y", "given", "says"),
    [
        (FRAME, np.zeros(150), {}, "y holds only one class"),
        (FRAME.assign(c=np.nan), Y, {}, "NaN or infinity in column 'c'"),
        (FRAME.assign(c="word"), Y, {}, "column 'c' is not"),
        (FRAME[:2], [0, 1], {}, "one sample of each"),
        (FRAME[["a"]], Y, {}, r"1 feature\(s\)"),
        (FRAME, Y, {"priors": [1.0]}, "priors must be 2 positive numbers"),
        (FRAME, Y, {"n_edges": "auto"}, "n_edges must be a number or 'cv'"),
        (FRAME, Y, {"shrinkage": 2}, "shrinkage must be a number from 0 to 1"),
        (FRAME, Y, {"n_edges": -1}, "n_edges must be a whole number at least 0"),
        (FRAME, Y, {"l1": 0.1, "standardize": False}, "l1 needs standardize=True"),
        (FRAME, Y, {"rule": "ebic"}, "rule 'ebic' is unknown"),
        (FRAME, Y, {"cv": 1}, "cv must be a number of folds from 2 up"),
        (FRAME, Y, {"include": [(0, 1)], "exclude": [(0, 1)]}, "include and exclude overlap"),
    ],
)
def test_bad_input_is_named(frame, y, given, says):
    with pytest.raises(ValueError, match=says):
        SparseLDA(**given).fit(frame, y)


def test_a_limit_that_is_too_short_for_folds():
    with pytest.raises(TimeoutError, match="before every fold was fitted"):
        SparseLDA(time_limit=1e-9).fit(X, Y)


def test_it_can_be_kept(tmp_path):
    for A, y in ((FRAME, Y), WINE):
        model = SparseLDA(8).fit(A, y)
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.predict_proba(A), model.predict_proba(A))
        loaded = load_model(save_model(model, tmp_path / "lda.json"))
        assert np.allclose(loaded.predict_proba(A), model.predict_proba(A))
        assert np.array_equal(loaded.predict(A), model.predict(A))
    with pytest.raises(NotFittedError):
        SparseLDA().predict(X)
    with pytest.raises(ValueError, match="fitted before"):
        save_model(SparseLDA(), tmp_path / "lda.json")
