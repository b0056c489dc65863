"""Mistakes of beginners, each with the sentence that helps."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import pursuit
from pursuit import (
    GLM,
    SparseClassifier,
    SparseClassifierCV,
    SparseRegressor,
    SparseRegressorCV,
    TablePreparer,
    certify,
    path,
    solve,
    stability,
    summary,
    table_pipeline,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = X[:, 0] + 0.1 * RNG.normal(size=40)
LABELS = np.where(Y > 0, "yes", "no")
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(y=Y)
F = GLM(X, Y)

KEYWORDS = [  # class, keyword, what the sentence says
    *(
        (SparseRegressor, name, "the ridge is l2, and k is the number of features")
        for name in ("alpha", "lam", "lambda_", "reg_lambda", "lambda1", "lambda2")
    ),
    (SparseClassifier, "C", r"C of scikit-learn is l2=1/\(n C\)"),
    (SparseClassifier, "penalty", "k takes the place of a penalty; l2 adds a ridge"),
    (SparseClassifierCV, "l1_ratio", "k takes the place of an l1 penalty"),
    *(
        (SparseRegressor, name, r"bounds=\(0, None\) keeps coefficients non-negative")
        for name in ("positive", "nonnegative", "non_negative")
    ),
    *(
        (SparseRegressor, name, "the number of features is k")
        for name in ("n_nonzero_coefs", "n_features", "n_features_to_select", "max_features", "sparsity", "K")
    ),
    *((SparseRegressorCV, name, "sizes to choose from are ks") for name in ("alphas", "Cs", "n_alphas", "k_range")),
    *(
        (SparseRegressor, name, "columns are standardised by standardize=True")
        for name in ("normalize", "scale", "standardise", "center")
    ),
    (SparseRegressor, "intercept", "the intercept is fit_intercept"),
    (SparseRegressor, "seed", "the seed is random_state"),
    (SparseRegressor, "family", "the loss is loss"),
    (SparseRegressor, "n_iter", "the limit of iterations is max_iter"),
    (SparseRegressor, "timeout", "the limit in seconds is time_limit"),
    (SparseRegressor, "threads", "the number of threads is n_jobs"),
    (SparseRegressor, "sample_weight", r"weights go to fit\(X, y, sample_weight=...\)"),
    (SparseRegressor, "offset", r"an offset goes to fit\(X, y, offset=...\)"),
    (SparseRegressor, "verbose", r"progress is shown by fit\(X, y, callback=...\)"),
    (SparseRegressor, "method", "the algorithm is solver"),
    (SparseRegressor, "criterion", "a criterion such as 'bic' is rule"),
    (SparseRegressor, "must_include", "columns that must be in are include"),
    (SparseRegressor, "ks", r"SparseRegressorCV\(ks=...\) chooses k"),
    (SparseClassifier, "cv", r"SparseClassifierCV\(cv=...\) chooses k"),
    (SparseRegressorCV, "k", r"it chooses k, .* SparseRegressor\(k=...\) has a fixed k"),
    (SparseClassifierCV, "k", r"SparseClassifier\(k=...\) has a fixed k"),
    (SparseRegressor, "solvr", "did you mean 'solver'"),
    (SparseRegressor, "zzz", "its parameters are .*loss"),
]


@pytest.mark.parametrize(("kind", "name", "sentence"), KEYWORDS)
def test_keywords(kind, name, sentence):
    with pytest.raises(TypeError, match=f"^{kind.__name__} has no parameter '{name}': .*{sentence}"):
        kind(**{name: 1})


CALLS = {
    "k auto": (lambda: SparseRegressor(k="auto").fit(X, Y), "SparseRegressorCV and SparseClassifierCV choose k"),
    "k auto in solve": (lambda: solve(F, "auto"), "SparseRegressorCV and SparseClassifierCV choose k"),
    "k float": (lambda: SparseRegressor(k=2.5).fit(X, Y), "k must be a positive integer, got 2.5"),
    "k zero": (lambda: SparseRegressor(k=0).fit(X, Y), "k must be a positive integer, got 0"),
    "solve data": (lambda: solve(X, Y, 3), r"solve takes an objective, .* solve\(GLM\(X, y\), k\)"),
    "solve frame": (lambda: solve(FRAME, 3), r"got DataFrame as objective; for data: solve\(GLM\(X, y\), k\)"),
    "path data": (lambda: path(X, Y), r"path takes an objective, .* path\(GLM\(X, y\), range\(1, 11\)\)"),
    "certify data": (lambda: certify(X, Y), r"certify takes an objective, .* certify\(GLM\(X, y\), result\)"),
    "fit file": (lambda: SparseRegressor().fit("data.csv", "y"), "pursuit fit data.csv --target y"),
    "fit frame and name": (lambda: SparseRegressor().fit(FRAME, "y"), r"fit\(frame.drop\(columns='y'\), frame"),
    "fit CV frame and name": (lambda: SparseRegressorCV().fit(FRAME, "y"), "numbers or labels, got the text 'y'"),
    "lazy frame": (lambda: SparseRegressor().fit(pl.from_pandas(FRAME).lazy(), Y), r"call collect\(\) first"),
    "mse": (lambda: SparseRegressor(loss="mse").fit(X, Y), "loss 'mse' is called 'squared' here"),
    "l2 loss": (lambda: GLM(X, Y, "gaussian"), "loss 'gaussian' is called 'squared' here"),
    "binomial": (lambda: SparseClassifier(loss="binomial").fit(X, LABELS), "loss 'binomial' is called 'logistic' here"),
    "log loss": (lambda: SparseClassifier(loss="log_loss").fit(X, LABELS), "'log_loss' is called 'logistic' here"),
    "svm": (lambda: SparseClassifier(loss="svm").fit(X, LABELS), "loss 'svm' is called 'hinge' here"),
    "regression loss": (lambda: SparseClassifier(loss="squared").fit(X, LABELS), "is not a classification loss"),
    "text to a regressor": (lambda: SparseRegressor().fit(X, LABELS), "y"),
    "class for an instance": (lambda: stability(SparseRegressor, X, Y), r"the class SparseRegressor: Sparse"),
    "pipeline of a class": (lambda: table_pipeline(SparseRegressorCV), "got the class SparseRegressorCV"),
    "summary of a class": (lambda: summary(SparseRegressor), "summary needs a fitted estimator, got the class"),
    "summary of a result": (lambda: summary(solve(F, 1)), r"summary\(objective, result\) needs the objective too"),
    "summary of a number": (lambda: summary(3), "summary takes a fitted estimator of pursuit, or an objective"),
    "certify a class": (lambda: certify(SparseRegressor), "got the class SparseRegressor"),
    "certify without a result": (lambda: certify(F), "certify needs the result of the objective"),
    "text in X": (lambda: SparseRegressor().fit(FRAME.assign(c="x"), Y), "X must be numeric: column 'c' is not"),
    "missing in X": (lambda: SparseRegressor().fit(FRAME.where(FRAME > 0), Y), "NaN"),
    "unknown solver": (lambda: SparseRegressor(solver="lasso").fit(X, Y), "solver 'lasso' is unknown"),
    "unknown rule": (lambda: SparseRegressorCV(rule="bick").fit(X, Y), "rule 'bick' is unknown; did you mean 'bic'"),
    "unknown goal": (lambda: SparseRegressorCV(goal="best").fit(X, Y), "goal 'best' is unknown"),
    "unknown column": (lambda: SparseRegressor(include=["z"]).fit(FRAME, Y), "include names column 'z'"),
    "rows": (lambda: SparseRegressor().fit(X, Y[:-1]), "inconsistent numbers of samples"),
    "one dimension": (lambda: SparseRegressor().fit(X[:, 0], Y), "Expected 2D array"),
    "no y": (lambda: SparseRegressor().fit(X), "y"),
    "ks": (lambda: SparseRegressorCV(ks="1-10").fit(X, Y), "ks must be a list of sizes such as"),
    "bounds": (lambda: SparseRegressor(bounds=0).fit(X, Y), r"bounds must be a pair \(low, high\)"),
    "max_levels": (lambda: TablePreparer(max_levels="many").fit(FRAME), "max_levels must be a whole number"),
}


@pytest.mark.parametrize("case", CALLS)
def test_calls(case):
    call, sentence = CALLS[case]
    with pytest.raises((TypeError, ValueError), match=sentence):
        call()


def test_a_hinge_has_no_probabilities():
    model = SparseClassifier(loss="hinge").fit(X, LABELS)
    with pytest.raises(AttributeError, match="predict_proba") as caught:
        model.predict_proba(X)
    assert "needs loss='logistic'" in str(caught.value.__cause__)


BEFORE_FIT = (
    lambda: SparseRegressor().summary(),
    lambda: summary(SparseRegressor()),
    lambda: certify(SparseRegressor()),
    lambda: SparseRegressor().predict(X),
)


@pytest.mark.parametrize("call", BEFORE_FIT)
def test_before_fit(call):
    with pytest.raises(NotFittedError):
        call()


def test_fitted_estimators_in_place_of_objectives():
    model = SparseRegressor(k=2).fit(X, Y)
    assert str(summary(model)) == str(model.summary())
    assert certify(model).upper == certify(model.objective_, model.result_).upper
    pipeline = table_pipeline(SparseRegressor(k=1)).fit(FRAME.drop(columns="y"), Y)
    assert str(summary(pipeline)) == str(pipeline[-1].summary())


def test_the_target_among_the_features():
    with pytest.warns(UserWarning, match="X has the column 'y', which is the target"):
        SparseRegressor(k=1).fit(FRAME, FRAME["y"])


@pytest.mark.parametrize("rule", ["BIC", "bic", "Ebic", "1SE"])
def test_rules_in_any_case(rule):
    assert SparseRegressorCV(rule=rule, ks=[1, 2], cv=3).fit(X, Y).rule_ == rule.lower()


def test_signatures_stay():
    assert next(iter(inspect.signature(SparseRegressor).parameters)) == "k"
    assert list(inspect.signature(solve).parameters)[:2] == ["objective", "k"]
    assert pursuit.solve.__name__ == "solve"
    assert clone(SparseRegressor(k=3)).k == 3
