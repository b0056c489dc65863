"""Predictions read the chosen columns and no others."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from pursuit import SparseAdditiveRegressor, SparseClassifier, SparseRegressor, SparseRegressorCV

RNG = np.random.default_rng(1)
FRAME = pd.DataFrame(RNG.standard_normal((60, 5)), columns=list("abcde"))
Y = FRAME["b"] - 2 * FRAME["d"] + 0.1 * RNG.standard_normal(60)
MODELS = {
    "regressor": SparseRegressor(k=2),
    "cv": SparseRegressorCV(ks=[2]),
    "additive": SparseAdditiveRegressor(k=2),
    "classifier": SparseClassifier(k=2),
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param].fit(FRAME, Y > 0 if request.param == "classifier" else Y)


@pytest.mark.parametrize("unused", [np.nan, np.inf, "text", None])
def test_columns_that_are_not_used_may_hold_anything(model, unused):
    other = FRAME.assign(a=unused, e=pd.Timestamp("2020-01-01"))
    np.testing.assert_array_equal(model.predict(other), model.predict(FRAME))


@pytest.mark.parametrize("columns", [["b", "d"], ["d", "b"], ["a", "b", "d"]])
@pytest.mark.parametrize("package", [pd, pl])
def test_columns_that_are_not_used_may_be_absent(model, columns, package):
    other = package.DataFrame({name: FRAME[name].to_numpy() for name in columns})
    np.testing.assert_array_equal(model.predict(other), model.predict(FRAME))


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (FRAME[["b"]], "yet now missing"),
        (FRAME[["b", "d"]].assign(z=1.0), "unseen at fit time"),
        (FRAME[list("edcba")], "same order"),
        (FRAME.assign(d=np.nan), "NaN or infinity in column 'd'"),
        (FRAME.assign(d="text"), "column 'd' is not"),
    ],
)
def test_columns_that_are_used_are_checked(model, other, words):
    with pytest.raises(ValueError, match=words):
        model.predict(other)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array])
def test_arrays_are_checked_whole(kind):
    X = FRAME.to_numpy()
    model = SparseRegressor(k=2).fit(kind(X), Y)
    for column in (0, 3):  # as scikit-learn's estimators do, whether it is used or not
        other = X.copy()
        other[3, column] = np.nan
        with pytest.raises(ValueError, match=rf"NaN or infinity in column {column}$"):
            model.predict(kind(other))
    with pytest.raises(ValueError, match="5 features"):
        model.predict(kind(X[:, [1, 3]]))


def test_a_model_without_features_needs_rows_only():
    model = SparseRegressorCV(ks=[0]).fit(FRAME, Y)
    np.testing.assert_allclose(model.predict(FRAME.assign(a="text")), Y.mean())


def test_explain_reads_the_same_columns():
    model = SparseRegressor(k=2).fit(FRAME, Y)
    found = model.explain(FRAME[["d", "b"]].iloc[:1])
    assert found.eta == pytest.approx(model.predict(FRAME.iloc[:1])[0])


@pytest.mark.parametrize("kind", [SparseRegressor, SparseRegressorCV, SparseAdditiveRegressor])
def test_a_regressor_on_two_classes_warns(kind):
    name = kind.__name__.replace("Regressor", "Classifier")
    name = name if "Additive" not in name else "SparseAdditiveClassifier"
    with pytest.warns(UserWarning, match=f"look like two classes: {name} predicts"):
        kind().fit(FRAME, (Y > 0).astype(int))
    SparseRegressor(k=1, loss="poisson").fit(FRAME, (Y > 0).astype(int))  # counts may be 0 and 1
