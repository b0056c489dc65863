"""Series whose labels are those of X in another order: matched by position, and a warning says so."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pursuit import (
    GLM,
    InParts,
    LogDet,
    MultiGLM,
    Quadratic,
    SparseClassifier,
    SparseClassifierCV,
    SparseLDA,
    SparsePrecision,
    SparsePrecisionCV,
    SparseRegressor,
    SparseRegressorCV,
    best_subsets,
    bootstrap_intervals,
    solve,
    split_intervals,
    stability,
)

N = 30
RNG = np.random.default_rng(3)
ROWS = [f"r{i}" for i in range(N)]
X = pd.DataFrame(RNG.standard_normal((N, 4)), index=ROWS, columns=list("abcd"))
Y = (X["a"] - X["c"] + 0.3 * RNG.standard_normal(N)).rename("y")
C = Y > 0
W = pd.Series(1.0 + np.arange(N) % 3, index=ROWS)
G = pd.Series(np.arange(N) % 5, index=ROWS)


def shuffled(values):
    return values.iloc[np.random.default_rng(0).permutation(N)]


FITTED = SparseRegressor(2).fit(X, Y)
LABELLED = SparseClassifier(2).fit(X, C)
CALLS = {
    "GLM y": ("y", lambda: GLM(X, shuffled(Y))),
    "GLM frame": ("sample_weight", lambda: GLM(X, Y, sample_weight=shuffled(W))),
    "GLM offset": ("offset", lambda: GLM(X, Y, offset=shuffled(W))),
    "MultiGLM": ("y", lambda: MultiGLM(X, shuffled(C))),
    "best_subsets": ("y", lambda: best_subsets(X, shuffled(Y), 1)),
    "parts": ("offset", lambda: InParts([(X, Y, W, shuffled(W))])),
    "regressor y": ("y", lambda: SparseRegressor(2).fit(X, shuffled(Y))),
    "regressor y frame": ("y", lambda: SparseRegressor(2).fit(X, shuffled(Y).to_frame().assign(z=1.0))),
    "regressor weight": ("sample_weight", lambda: SparseRegressor(2).fit(X, Y, shuffled(W))),
    "regressor offset": ("offset", lambda: SparseRegressor(2).fit(X, Y, offset=shuffled(W))),
    "regressor score": ("y", lambda: FITTED.score(X, shuffled(Y))),
    "regressor predict": ("offset", lambda: FITTED.predict(X, shuffled(W))),
    "classifier y": ("y", lambda: SparseClassifier(2).fit(X, shuffled(C))),
    "classifier score": ("y", lambda: LABELLED.score(X, shuffled(C))),
    "cv y": ("y", lambda: SparseRegressorCV([1], cv=2, l2=1.0).fit(X, shuffled(Y))),
    "cv groups": ("cv_groups", lambda: SparseRegressorCV([1], cv=2, l2=1.0).fit(X, Y, cv_groups=shuffled(G))),
    "classifier cv groups": (
        "cv_groups",
        lambda: SparseClassifierCV([1], cv=2, l2=1.0).fit(X, C, cv_groups=shuffled(G)),
    ),
    "lda": ("y", lambda: SparseLDA(1).fit(X, shuffled(C))),
    "lda groups": ("cv_groups", lambda: SparseLDA(1).fit(X, C, cv_groups=shuffled(G))),
    "precision": ("sample_weight", lambda: SparsePrecision(1).fit(X, sample_weight=shuffled(W))),
    "precision cv": (
        "cv_groups",
        lambda: SparsePrecisionCV([1], shrinkage=0.1, l1=0.0, cv=2).fit(X, cv_groups=shuffled(G)),
    ),
    "stability": ("y", lambda: stability(SparseRegressor(1), X, shuffled(Y), n_pairs=1, n_jobs=1)),
    "bootstrap": ("y", lambda: bootstrap_intervals(SparseRegressor(1), X, shuffled(Y), n_boot=2)),
    "split": ("sample_weight", lambda: split_intervals(SparseRegressor(1), X, Y, sample_weight=shuffled(W))),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_same_row_labels_in_another_order(call):
    name, attempt = CALLS[call]
    words = rf"{name} has the row labels of X in another order, and rows are matched by position: give {name}\.loc"
    with pytest.warns(UserWarning, match=words) as caught:
        attempt()
    ours = [warning for warning in caught if "row labels" in str(warning.message)]
    assert len(ours) == 1
    assert ours[0].filename == __file__  # the user's line


def test_the_model_is_that_of_the_positions():
    with pytest.warns(UserWarning, match="matched by position"):
        warned = SparseRegressor(2).fit(X, shuffled(Y))
    assert np.array_equal(warned.coef_, SparseRegressor(2).fit(X, shuffled(Y).to_numpy()).coef_)
    assert not np.array_equal(warned.coef_, FITTED.coef_)


QUIET = {
    "equal": (X, Y),
    "other labels": (X, Y.set_axis([f"s{i}" for i in range(N)])),
    "some labels shared": (X, Y.set_axis([*ROWS[1:], "new"])),
    "default index": (X, Y.reset_index(drop=True)),
    "array X": (X.to_numpy(), shuffled(Y)),
    "array y": (X, shuffled(Y).to_numpy()),
    "list y": (X, shuffled(Y).tolist()),
    "polars": (pl.from_pandas(X), pl.Series(shuffled(Y).to_numpy())),
    "polars X": (pl.from_pandas(X), shuffled(Y)),
    "repeated labels": (X.set_axis(["r"] * N), Y.set_axis(["r"] * N)),
}


@pytest.mark.parametrize("case", QUIET)
def test_nothing_is_said_where_labels_say_nothing(case):
    rows, y = QUIET[case]  # warnings are errors here
    GLM(rows, y)
    by_position = SparseRegressor(1, solver="omp").fit(np.asarray(rows), np.asarray(y))
    np.testing.assert_array_equal(SparseRegressor(1, solver="omp").fit(rows, y).coef_, by_position.coef_)


COLUMNS = list("dcba")
GRAM = pd.DataFrame(N * (np.eye(4) + 0.1), index=list("abcd"), columns=list("abcd"))


@pytest.mark.parametrize(
    ("name", "attempt"),
    [
        ("groups", lambda: solve(GLM(X, Y), 1, groups=pd.Series([0, 0, 1, 1], index=COLUMNS))),
        ("include", lambda: solve(GLM(X, Y), 1, include=pd.Series([True, False, False, False], index=COLUMNS))),
        ("low", lambda: solve(GLM(X, Y), 1, bounds=(pd.Series(np.zeros(4), index=COLUMNS), None))),
        ("gram", lambda: Quadratic(GRAM.set_axis(COLUMNS, axis=0), X.T @ Y, 100 * N, N)),
        ("xy", lambda: Quadratic(GRAM, (X.T @ Y)[COLUMNS], 100 * N, N)),
        ("covariance", lambda: LogDet(GRAM.set_axis(COLUMNS, axis=0))),
        ("l2", lambda: GLM(X, Y, l2=pd.Series(np.ones(4), index=COLUMNS))),
    ],
)
def test_column_names_in_another_order(name, attempt):
    with pytest.warns(UserWarning, match=f"{name} has the column names as labels, in another order"):
        attempt()


def test_labels_of_columns_that_are_no_names():
    expected = solve(GLM(X, Y, l2=np.ones(4)), 1, groups=[0, 0, 1, 1])
    result = solve(GLM(X, Y, l2=pd.Series(np.ones(4))), 1, groups=pd.Series([0, 0, 1, 1], index=list("efgh")))
    np.testing.assert_array_equal(result.x, expected.x)
    result = solve(GLM(X.to_numpy(), Y), 1, groups=pd.Series([0, 0, 1, 1], index=COLUMNS), include=pd.Series([0]))
    assert result.support.tolist() == [0, 1]


def test_column_names_in_the_same_order():
    l2, groups = (pd.Series(given, index=list("abcd")) for given in (np.ones(4), [0, 0, 1, 1]))
    expected = solve(GLM(X, Y, l2=l2.to_numpy()), 1, groups=groups.tolist())
    np.testing.assert_array_equal(solve(GLM(X, Y, l2=l2), 1, groups=groups).x, expected.x)
