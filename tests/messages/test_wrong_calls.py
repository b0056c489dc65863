"""Wrong calls of the public functions, as a beginner makes them: the right exception, in a sentence that helps.

Every row is a call, the exception, and what it must say. None may come from the depths of NumPy, pandas or Python.
"""

import re
import traceback

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import pursuit
from pursuit import (
    GLM,
    Function,
    Huber,
    InParts,
    LogDet,
    Loss,
    MultiGLM,
    Quadratic,
    SmoothedHinge,
    SparseClassifier,
    SparseLDA,
    SparsePrecision,
    SparseRegressor,
    SparseRegressorCV,
    best_subsets,
    bootstrap_intervals,
    solve,
    split_intervals,
    stability,
)
from pursuit.plots import plot_subsets, plot_trace

N, P = 30, 6
RNG = np.random.default_rng(11)
X = RNG.standard_normal((N, P))
Y = X[:, 0] - X[:, 2] + 0.3 * RNG.standard_normal(N)
C = (Y > 0).astype(int)
NAMES = list("abcdef")
FRAME = pd.DataFrame(X, columns=NAMES)
F, NAMED = GLM(X, Y), GLM(FRAME, Y)
GRAPH = LogDet(np.cov(X.T))
FUNCTION = Function(lambda x: float(((x - 1) ** 2).sum()), lambda x: 2 * (x - 1), P)
FITTED = SparseRegressor(2).fit(FRAME, Y)
DATES = pd.date_range("2020", periods=N)
MIXED = np.array(["a", 1] * (N // 2), dtype=object)


def regress(X=X, y=Y, *more, **settings):
    return SparseRegressor(2, **settings).fit(X, y, *more)


def classify(X=X, y=C, **settings):
    return SparseClassifier(2, **settings).fit(X, y)


def own_loss(**methods):
    """A squared loss of the user's, with some methods replaced."""
    usual = {"value": lambda self, y, eta: (y - eta) ** 2 / 2, "d1": lambda self, y, eta: eta - y}
    return type("Own", (Loss,), {"name": "own", **usual, **methods})()


SCALARS = {
    "value sum": own_loss(value=lambda self, y, eta: float(((y - eta) ** 2).sum())),
    "value mean": own_loss(value=lambda self, y, eta: ((y - eta) ** 2).mean()),
    "value None": own_loss(value=lambda self, y, eta: None),
    "value list": own_loss(value=lambda self, y, eta: list(y - eta)),
    "value column": own_loss(value=lambda self, y, eta: ((y - eta) ** 2)[:, None]),
    "d1 scalar": own_loss(d1=lambda self, y, eta: float((eta - y).mean())),
    "d2 scalar": own_loss(d2=lambda self, y, eta: 1.0),
}
LABEL = r"groups must give one label per column \(text or a number\), 6 of them, got"

CALLS = {
    # groups
    "groups of unknown names": (
        lambda: solve(NAMED, 1, groups={"u": ["a", "z"]}),
        ValueError,
        r"groups\['u'\] names column 'z', which X does not have",
    ),
    "groups names without names": (
        lambda: solve(F, 1, groups=[("a", "b")]),
        ValueError,
        r"groups\['group 0'\] names column 'a', which X does not have; X has no column names",
    ),
    "groups that overlap": (
        lambda: solve(NAMED, 1, groups=[["a", "b"], ["b", "c"]]),
        ValueError,
        "groups has column 'b' in 'group 0' and in 'group 1'; a column is in one group",
    ),
    "groups of wrong indices": (
        lambda: solve(F, 1, groups={"u": [0, 6]}),
        ValueError,
        r"groups\['u'\] must hold names of columns, or indices from 0 to 5",
    ),
    "groups of fractions": (lambda: solve(F, 1, groups=[[0.5]]), ValueError, "must hold names of columns, or indices"),
    "groups sets": (lambda: solve(F, 1, groups=np.array([{1}] * 6, dtype=object)), ValueError, LABEL + " the set"),
    "groups labels and lists": (lambda: solve(F, 1, groups=[1, [2], 3, 4, 5, 6]), ValueError, LABEL + " the list"),
    "groups text": (lambda: solve(F, 1, groups="aabbcc"), ValueError, r"\{'city': .* got 'aabbcc'"),
    "groups prefix without names": (
        lambda: solve(F, 1, groups="prefix"),
        ValueError,
        "groups='prefix' reads the names of columns, and X has none; give X as a data frame",
    ),
    "bounds of unknown names": (
        lambda: solve(NAMED, 1, bounds={"z": (0, None)}),
        ValueError,
        "bounds names column 'z', which X does not have",
    ),
    "bounds of a wrong index": (
        lambda: solve(F, 1, bounds={9: (0, None)}),
        ValueError,
        "bounds must name columns, or hold indices from 0 to 5, got 9",
    ),
    "bounds of a name that are no pair": (
        lambda: solve(NAMED, 1, bounds={"a": 0}),
        ValueError,
        r"bounds of column 'a' must be a pair \(low, high\), such as \(0, None\), got 0",
    ),
    "bounds of a name that are text": (
        lambda: solve(NAMED, 1, bounds={"a": ("x", None)}),
        ValueError,
        "bounds of column 'a' must be numbers or None",
    ),
    "bounds of a name that are crossed": (
        lambda: solve(NAMED, 1, bounds={"b": (2, 1)}),
        ValueError,
        "bounds must have low <= high, and for column 'b' they are 2 and 1",
    ),
    "groups NaN among text": (
        lambda: solve(F, 1, groups=np.array([np.nan, *"abcde"], dtype=object)),
        ValueError,
        "groups contains NaN",
    ),
    "groups of an estimator": (lambda: regress(groups=[("a", 1)] * 6), ValueError, "groups.* names column 'a'"),
    "groups of CV": (lambda: SparseRegressorCV(groups=[1, 2]).fit(X, Y), ValueError, LABEL + " 2"),
    "groups of stability": (lambda: stability(SparseRegressor(1, groups=[[7]]), X, Y), ValueError, "0 to 5"),
    "groups of best_subsets": (lambda: best_subsets(X, Y, 1, groups=[[0, 1], [1, 5]]), ValueError, "in one group"),
    # a user's loss
    **{
        f"loss {name}": (
            lambda loss=loss: GLM(X, Y, loss),
            ValueError,
            rf"loss 'own': {name.split()[0]}\(y, eta\) must "
            r"return an array with one real number per row, shape \(30,\)",
        )
        for name, loss in SCALARS.items()
    },
    "loss of an estimator": (lambda: regress(loss=SCALARS["value sum"]), ValueError, r"value\(y, eta\) must return"),
    "loss in parts": (lambda: GLM(InParts([(X, Y)]), loss=SCALARS["d1 scalar"]), ValueError, "part 0: loss 'own': d1"),
    "loss multinomial": (
        lambda: regress(loss="multinomial"),
        ValueError,
        r"has several outputs: use MultiGLM\(X, y\)",
    ),
    "loss of MultiGLM": (lambda: MultiGLM(X, C, 3), TypeError, "loss of MultiGLM must be .* got int"),
    "loss of one output": (
        lambda: MultiGLM(X, C, pursuit.Logistic()),
        TypeError,
        "loss of MultiGLM must be .* Logistic",
    ),
    "delta text": (lambda: Huber("a"), TypeError, "delta must be a number greater than 0, got 'a'"),
    "gamma list": (lambda: SmoothedHinge([1]), TypeError, r"gamma must be a number greater than 0, got \[1\]"),
    # priors
    "priors sum": (
        lambda: SparseLDA(3, priors=[0.9, 0.9]).fit(X, C),
        ValueError,
        r"priors must sum to 1, got \[0.9, 0.9\]",
    ),
    "priors text": (lambda: SparseLDA(3, priors=["a", "b"]).fit(X, C), ValueError, "priors must be numeric"),
    "priors dict": (
        lambda: SparseLDA(3, priors={0: 0.5, 1: 0.5}).fit(X, C),
        ValueError,
        "priors must be numeric, got dict",
    ),
    # labels
    "mixed labels": (
        lambda: classify(y=MIXED),
        ValueError,
        r"y holds labels of mixed type, such as 'a' \(text\) and 1",
    ),
    "mixed labels of a list": (lambda: classify(y=MIXED.tolist()), ValueError, "y holds labels of mixed type"),
    "mixed labels, LDA": (lambda: SparseLDA(2).fit(X, MIXED), ValueError, "y holds labels of mixed type"),
    "mixed labels, stability": (lambda: stability(SparseClassifier(2), X, MIXED), ValueError, "labels of mixed type"),
    "mixed labels, bootstrap": (lambda: bootstrap_intervals(SparseClassifier(2), X, MIXED), ValueError, "mixed type"),
    "mixed labels of folds": (
        lambda: SparseRegressorCV().fit(X, Y, cv_groups=MIXED),
        ValueError,
        "cv_groups holds labels of mixed type",
    ),
    "missing labels of folds": (
        lambda: SparseRegressorCV().fit(X, Y, cv_groups=np.where(C, np.nan, 1.0)),
        ValueError,
        "cv_groups contains NaN",
    ),
    "class_weight text": (
        lambda: classify(class_weight="balance"),
        ValueError,
        "class_weight must be a dict, 'balanced'",
    ),
    "class_weight list": (
        lambda: classify(class_weight=[1, 2]),
        ValueError,
        r"class_weight must be a dict.* got \[1, 2\]",
    ),
    "class_weight unknown": (
        lambda: classify(class_weight={"a": 1}),
        ValueError,
        "class_weight names class 'a', which y does not have; .* 0, 1",
    ),
    "class_weight negative": (
        lambda: classify(class_weight={0: -1, 1: 1}),
        ValueError,
        "class_weight of class 0 must be .* at least 0, got -1",
    ),
    "class_weight of text": (
        lambda: classify(class_weight={0: "a"}),
        TypeError,
        "class_weight of class 0 must be a number",
    ),
    # objectives
    "best_subsets of a Function": (
        lambda: best_subsets(FUNCTION, kmax=2),
        TypeError,
        "best_subsets needs X and y, or a GLM, .* got Function",
    ),
    "best_subsets of a graph": (lambda: best_subsets(GRAPH, kmax=2), TypeError, "best_subsets needs .* got LogDet"),
    "best_subsets of an estimator": (
        lambda: best_subsets(FITTED, kmax=2),
        TypeError,
        "got SparseRegressor: its objective_",
    ),
    "start text": (lambda: solve(FUNCTION, 2, start="a"), TypeError, "start must be a Result or a vector of 6 numbers"),
    "start of a graph": (lambda: solve(GRAPH, 2, start="a"), TypeError, "start must be a Result or a 6 x 6 matrix"),
    "start of several outputs": (
        lambda: solve(MultiGLM(X, C), 2, start="a"),
        TypeError,
        r"start must be a Result or a matrix of shape \(6, 2\)",
    ),
    "include ragged": (lambda: solve(F, 2, include=[[0, 1], [2]]), TypeError, "include must hold column indices"),
    "l2 of text": (lambda: GLM(X, Y, l2=["a"] * P), ValueError, "l2 must be numeric, got dtype"),
    "fit_intercept text": (
        lambda: GLM(X, Y, fit_intercept="no"),
        TypeError,
        "fit_intercept must be True or False, got 'no'",
    ),
    "fit_intercept None": (
        lambda: MultiGLM(X, C, fit_intercept=None),
        TypeError,
        "fit_intercept must be True or False",
    ),
    "standardize text": (lambda: regress(standardize="yes"), TypeError, "standardize must be True or False, got 'yes'"),
    "standardize of LDA": (
        lambda: SparseLDA(2, standardize="no").fit(X, C),
        TypeError,
        "standardize must be True or False",
    ),
    "assume_centered": (
        lambda: SparsePrecision(2, assume_centered="no").fit(X),
        TypeError,
        "assume_centered must be True",
    ),
    "names of a gram matrix": (
        lambda: Quadratic(X.T @ X, X.T @ Y, Y @ Y, N, names=[*"abcde", "a"]),
        ValueError,
        "gram has several columns named 'a'",
    ),
    # X
    "X ragged": (lambda: GLM([[1, 2], [3]], [1, 2]), ValueError, "X must have rows of the same length"),
    "X ragged, estimator": (lambda: regress([[1, 2], [3]], [1, 2]), ValueError, "X must have rows of the same length"),
    "X None": (lambda: GLM(None, Y), ValueError, "X must be a 2-D array .* got shape .*NoneType"),
    "X generator": (lambda: GLM((row for row in X), Y), ValueError, "X must be a 2-D array .* a generator"),
    "X estimator": (lambda: GLM(FITTED, Y), ValueError, "X must be a 2-D array .* a SparseRegressor"),
    "X lazy": (
        lambda: GLM(pl.from_pandas(FRAME).lazy(), Y),
        TypeError,
        r"X must hold its rows, got a LazyFrame; call collect",
    ),
    "X lazy, estimator": (lambda: regress(pl.from_pandas(FRAME).lazy()), TypeError, r"got a LazyFrame; call collect"),
    "X dates": (lambda: regress(pd.DataFrame({"when": DATES})), ValueError, "X must be numeric: column 'when' is not"),
    "X timedeltas": (
        lambda: regress(pd.DataFrame({"gap": DATES - DATES[0]})),
        ValueError,
        "X must be numeric: column 'gap'",
    ),
    "X array of dates": (
        lambda: regress(np.arange(N).astype("M8[D]")[:, None]),
        ValueError,
        "X must be numeric, got dtype",
    ),
    "X array of text": (lambda: regress(X.astype(str)), ValueError, "X must be numeric, got dtype <U"),
    "X records": (lambda: regress(np.zeros(N, dtype="f8,f8")), ValueError, "X must be numeric, got dtype"),
    "X polars lists": (
        lambda: regress(pl.DataFrame({"a": [[1, 2]] * N})),
        ValueError,
        "X must be numeric: column 'a' is not",
    ),
    "X complex frame": (lambda: regress(FRAME * 1j), ValueError, "^Complex data not supported: X must be real$"),
    "X too large": (lambda: regress(np.full((N, 2), 10**400, dtype=object)), ValueError, "numbers that are too large"),
    # y, weights, offset
    "y missing": (lambda: GLM(X), ValueError, "y is missing"),
    "y missing, classes": (lambda: MultiGLM(X), ValueError, "y is missing"),
    "y missing, intervals": (lambda: bootstrap_intervals(SparseRegressor(2), X), ValueError, "y is missing"),
    "y a name": (lambda: regress(FRAME, "a"), ValueError, "y must be an array of numbers or labels, got the text 'a'"),
    "y a name, classes": (lambda: classify(FRAME, "a"), ValueError, "y must be an array .* got the text 'a'"),
    "y a name, GLM": (lambda: GLM(FRAME, "a"), ValueError, "y must be an array .* got the text 'a'"),
    "y ragged": (lambda: GLM(X[:2], [[1, 2], [3]]), ValueError, "y must be an array; its rows have different lengths"),
    "y matrix": (
        lambda: GLM(X, np.c_[Y, Y], "huber"),
        ValueError,
        "y must have one entry per row.*loss 'huber' takes one target per row",
    ),
    "y dates": (lambda: regress(y=DATES), ValueError, "y must be numeric for loss 'squared', got dtype datetime64"),
    "y categories": (
        lambda: regress(y=pd.Series(list("ab") * (N // 2)).astype("category")),
        ValueError,
        "y must be numeric",
    ),
    "y numeric text": (lambda: GLM(X, Y.astype(str)), ValueError, "y must be numeric for loss 'squared', got dtype <U"),
    "y records": (lambda: GLM(X, np.zeros(N, dtype=[("a", "f8")])), ValueError, "y must be numeric"),
    "y too large": (lambda: regress(y=np.array([10**400] * N, dtype=object)), ValueError, "y contains .* too large"),
    "weights dates": (
        lambda: GLM(X, Y, sample_weight=DATES),
        ValueError,
        "sample_weight must be numeric, got dtype datetime",
    ),
    "weights text": (
        lambda: GLM(X, Y, sample_weight="balanced"),
        ValueError,
        "sample_weight must be .* got the text 'balanced'",
    ),
    "weights sparse": (lambda: GLM(X, Y, sample_weight=sp.csr_array(np.ones((1, N)))), ValueError, r"use toarray\(\)"),
    "offset text": (lambda: FITTED.predict(FRAME, offset="a"), ValueError, "offset must be .* got the text 'a'"),
    # estimators and what stands on them
    "a misspelt parameter": (
        lambda: SparseRegressor(K=2),
        TypeError,
        "^SparseRegressor has no parameter 'K': the number of features is k",
    ),
    "a parameter of another": (
        lambda: SparseRegressorCV(k=2),
        TypeError,
        r"^SparseRegressorCV has no parameter 'k': it chooses k, .* SparseRegressor\(k=...\) has a fixed k",
    ),
    "a misspelt argument": (lambda: SparseRegressor(2).fit(X, Y, weights=Y), TypeError, r"^fit\(\) got an unexpected"),
    "combine array": (
        lambda: SparseRegressorCV(combine=np.array(["none", "project"])).fit(X, Y),
        ValueError,
        "combine .* is unknown",
    ),
    "cv a class": (
        lambda: SparseRegressorCV(cv=type("KFold", (), {})).fit(X, Y),
        ValueError,
        "cv must be a number of folds from 2 up",
    ),
    "intervals of a class": (
        lambda: bootstrap_intervals(SparseRegressor, X, Y),
        TypeError,
        "estimator must be an estimator such",
    ),
    "intervals of a name": (lambda: split_intervals("lasso", X, Y), TypeError, "estimator must be .* got 'lasso'"),
    "intervals of a file": (
        lambda: split_intervals(SparseRegressor(2), "a.csv", Y),
        TypeError,
        "needs X and y as arrays",
    ),
    "subsets plot": (lambda: plot_subsets(X), TypeError, "table must be a table of pursuit.best_subsets, got ndarray"),
    "trace plot": (lambda: plot_trace(X), ValueError, "results has no trace to draw"),
    "open None": (lambda: pursuit.open_data(None), TypeError, "path must be a path, got None"),
    "load a number": (lambda: pursuit.load_model(3), TypeError, "path must be a path, got 3"),
    "convert None": (lambda: pursuit.convert(None, "out"), TypeError, "path must be a path, got None"),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_call_is_answered_in_a_sentence(call):
    attempt, error, message = CALLS[call]
    with pytest.raises(error, match=message) as caught:
        attempt()
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 330
    assert type(caught.value) is error  # and no kind of it that some library made for itself
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (
        re.search(r"/pursuit/", last.filename) or "unexpected keyword" in said
    )  # Python's own, which names the function


SAVED = {
    "text": (FRAME.assign(a="x"), "X must be numeric: column 'a' is not"),
    "missing": (FRAME.assign(a=np.nan), "X contains NaN or infinity in column 'a'"),
    "array of text": (np.full(X.shape, "x"), "X must be numeric, got dtype <U1"),
    "array with NaN": (np.where(X > 1, np.nan, X), "X contains NaN or infinity in column"),
    "dates": (FRAME.assign(a=DATES), "X must be numeric: column 'a' is not"),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("case", SAVED)
def test_a_saved_model_refuses_what_the_estimator_refuses(tmp_path, case):
    rows, message = SAVED[case]
    model = pursuit.load_model(pursuit.save_model(FITTED, tmp_path / "m.json"))
    for predicts in (model, FITTED):
        with pytest.raises(ValueError, match=message):
            predicts.predict(rows)


def test_labels_of_groups_are_told_apart_by_type():
    """As an array, 1 and "1" would be the same label."""
    units = F.sparse_set(1, groups=[1, "1", 1, "a", "a", None]).unit_of
    assert units.tolist() == [0, 1, 0, 2, 2, 3]


@pytest.mark.parametrize(
    ("name", "given"), [("bounds", (0, None)), ("sum_to", 1.0), ("groups", [0, 0, 1, 1, 2, 2]), ("k", 3)]
)
def test_certify_refuses_another_set_than_that_of_the_result(name, given):
    """They were ignored: the certificate spoke of another problem than the call."""
    with pytest.raises(ValueError, match=f"{name} is not that of the result, which was solved with its own"):
        pursuit.certify(F, solve(F, 2), **{name: given})


def test_certify_takes_the_set_of_the_result():
    held = solve(F, 2, bounds=(-3, 3), sum_to=0.5)
    assert pursuit.certify(F, held, bounds=(-3.0, 3.0), sum_to=0.5).upper == pursuit.certify(F, held).upper
    grouped = solve(F, 1, groups=list("aabbcc"))
    assert pursuit.certify(F, grouped, k=1, groups=[1, 1, 2, 2, 3, 3]).status in ("proved", "bounded")
