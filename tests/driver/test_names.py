"""Columns by name, by index and by mask, through every door; messages and results call them what the user does."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes

from pursuit import GLM, MultiGLM, SparseClassifier, SparseRegressor, best_subsets, certify, solve
from pursuit.solvers import Auto

X, Y = load_diabetes(return_X_y=True, as_frame=True)
NAMES = tuple(X.columns)
KINDS = pd.cut(Y, 3, labels=False).to_numpy()


def by_glm(data, **wanted):
    return solve(GLM(data, Y.to_numpy()), 3, solver="grahtp", **wanted).support


def by_multi(data, **wanted):
    return solve(MultiGLM(data, KINDS, l2=0.01), 3, solver="omp", **wanted).support


def by_regressor(data, **wanted):
    return SparseRegressor(3, solver="grahtp", **wanted).fit(data, Y.to_numpy()).support_


def by_classifier(data, **wanted):
    return SparseClassifier(3, solver="omp", **wanted).fit(data, KINDS).support_


def by_subsets(data, **wanted):
    return np.array(best_subsets(data, Y.to_numpy(), 3, **wanted)[-1].support)


def by_certificate(data, **wanted):
    f = GLM(data, Y.to_numpy(), l2=0.01)
    given = solve(f, 3, **wanted)
    return certify(f, given.x, k=3, **wanted).result.support


DOORS = (by_glm, by_multi, by_regressor, by_classifier, by_subsets, by_certificate)
every_door = pytest.mark.parametrize("door", DOORS)


@pytest.mark.parametrize("frame", [X, pl.from_pandas(X)], ids=["pandas", "polars"])
@every_door
def test_names_indices_and_masks_are_one(door, frame):
    places = {"include": [0], "exclude": [2, 8]}
    plain = door(X.to_numpy(), **places)
    assert 0 in plain
    assert not {2, 8} & set(plain.tolist())
    mask = np.isin(NAMES, ["bmi", "s5"])
    for include, exclude in (("age", ["bmi", "s5"]), (["age"], ["bmi", 8]), ([0], mask), (0, mask.tolist())):
        assert np.array_equal(door(frame, include=include, exclude=exclude), plain)
    assert np.array_equal(door(X.to_numpy(), include=np.arange(10) == 0, exclude=mask), plain)


@every_door
def test_what_columns_cannot_be_chosen_by(door):
    for wanted, said in (
        ({"exclude": "bm"}, "exclude names column 'bm', which X does not have; did you mean 'bmi'"),
        ({"include": ["height"]}, "include names column 'height', which X does not have; known: age, bmi"),
        ({"exclude": [True, False]}, r"exclude is a mask of shape \(2,\), and there are 10 columns"),
        ({"include": ["bmi", "s5"], "exclude": ["s5"]}, "include and exclude overlap: column 's5' is in both"),
    ):
        with pytest.raises(ValueError, match=said):
            door(X, **wanted)
    with pytest.raises(ValueError, match="include names column 'bmi', which X does not have; X has no column names"):
        door(X.to_numpy(), include=["bmi"])


@every_door
def test_a_name_that_two_columns_have(door):
    twice = pd.concat([X, X[["bmi"]]], axis=1)
    with pytest.raises(ValueError, match="X has several columns named 'bmi'; give every column its own name"):
        door(twice, include="bmi")


def test_objectives_and_results_keep_names():
    for f in (GLM(X, Y), GLM(X, Y, standardize=True), GLM(pl.from_pandas(X), Y.to_numpy()), MultiGLM(X, KINDS)):
        assert f.names == NAMES
        assert solve(f, 2, solver="omp").names == tuple(NAMES[j] for j in solve(f, 2, solver="omp").support)
    for data in (X.to_numpy(), pd.DataFrame(X.to_numpy())):  # numbers are no names
        assert GLM(data, Y).names is None
        assert solve(GLM(data, Y), 2, solver="omp").names is None
    result = SparseRegressor(3).fit(X, Y).result_
    assert result.names == ("bmi", "bp", "s5")
    assert solve(GLM(X, Y), 3, bounds=(0, None)).names == ("bmi", "bp", "s5")
    f = GLM(X, Y)
    assert certify(f, solve(f, 3)).result.names == ("bmi", "bp", "s5")


def test_subsets_keep_names():
    table = best_subsets(X, Y, 2)
    assert table[-1].names == ("bmi", "s5")
    assert table.to_frame()["names"].tolist()[-1] == ("bmi", "s5")
    plain = best_subsets(X.to_numpy(), Y, 2)
    assert plain[-1].names is None
    assert "names" not in plain.to_frame()


def test_the_next_best_exchange_in_words():
    f = GLM(X, Y)
    named, plain = solve(f, 3), solve(GLM(X.to_numpy(), Y), 3)
    (leave,), (enter,), change = named.exchange
    other = f.refit(np.sort([*named.support[named.support != leave], enter]))
    assert other.value - named.value == pytest.approx(change)
    assert named.next_best == (
        f"column {NAMES[enter]!r} instead of column {NAMES[leave]!r} would raise the value by about {change:.3g}"
    )
    assert plain.next_best.startswith(f"column {enter} instead of column {leave}")
    assert solve(f, 3, solver="omp").next_best == ""
    groups = solve(f, 1, groups=list("aabbccddee")).next_best
    assert groups.startswith("columns 's5', 's6' instead of columns 'bmi', 'bp'")
    several = solve(MultiGLM(X, KINDS, l2=0.01), 2, solver="local_search")
    assert f"column {NAMES[several.exchange.enter[0]]!r} instead of" in several.next_best


# what is wrong with a column


def with_holes(*names):
    frame = X.copy()
    frame.loc[[3, 5], list(names)] = np.nan
    return frame


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("door", [SparseRegressor, SparseClassifier, GLM, MultiGLM])
def test_all_columns_with_holes_are_named(door, standardize):
    def run(frame):
        if door in (GLM, MultiGLM):
            return solve(door(frame, Y if door is GLM else KINDS, standardize=standardize), 3)
        return door(3, standardize=standardize).fit(frame, Y if door is SparseRegressor else KINDS)

    with pytest.raises(ValueError, match=r"X contains NaN or infinity .* in columns 'bmi', 's1', 's3'$"):
        run(with_holes("bmi", "s1", "s3"))
    with pytest.raises(ValueError, match=r"in column 'bmi'$"):
        run(with_holes("bmi"))
    with pytest.raises(ValueError, match=r"in columns 'age', 'sex', 'bmi', 'bp', 's1' and 5 more$"):
        run(with_holes(*NAMES))
    with pytest.raises(ValueError, match=r"in columns 2, 4$"):
        run(with_holes("bmi", "s1").to_numpy())


def test_holes_at_prediction_are_named():
    model = SparseRegressor(3, solver="omp").fit(X, Y)
    with pytest.raises(ValueError, match=r"X contains NaN or infinity in columns 'bmi', 's5'$"):
        model.predict(with_holes("bmi", "s1", "s5"))  # s1 is not chosen


TEXTS = X.assign(town="Rome", when=pd.Timestamp("2020-01-01"))


@pytest.mark.parametrize("frame", [TEXTS, pl.from_pandas(TEXTS)], ids=["pandas", "polars"])
@pytest.mark.parametrize("door", [SparseRegressor, GLM])
def test_text_and_dates_are_named(door, frame):
    with pytest.raises(ValueError, match=r"columns 'town', 'when' are not .for example 'Rome' in 'town'.; turn them"):
        door(frame, Y.to_numpy()) if door is GLM else door(3).fit(frame, Y.to_numpy())
    only = frame[[*NAMES, "when"]]
    with pytest.raises(ValueError, match=r"X must be numeric: column 'when' is not .for example '2020-01-01"):
        door(only, Y.to_numpy()) if door is GLM else door(3).fit(only, Y.to_numpy())


def test_nullable_columns_are_numbers_or_holes():
    frame = X.astype("Float64").assign(sex=pd.array([1, 2] * 221, dtype="Int64"))
    np.testing.assert_array_equal(by_glm(frame), by_glm(frame.astype(float)))
    frame.loc[3, "bmi"] = pd.NA
    with pytest.raises(ValueError, match=r"X contains NaN or infinity.* in column 'bmi'"):
        by_glm(frame)


def test_bounds_name_their_column():
    with pytest.raises(ValueError, match="for column 'sex' they are 1 and 0"):
        solve(GLM(X, Y), 3, bounds=(np.eye(10)[1], 0))
    with pytest.raises(ValueError, match="bounds exclude 0 for column 'sex'"):
        SparseRegressor(3, bounds=(np.eye(10)[1], None)).fit(X, Y)


# what is not an objective, not a result


def test_data_where_an_objective_belongs():
    with pytest.raises(TypeError, match=r"got DataFrame as objective; for data: solve\(GLM\(X, y\), k\)"):
        solve(X, Y)
    with pytest.raises(TypeError, match=r"solve takes an objective, got ndarray as objective; for data: solve\("):
        solve(X.to_numpy(), Y.to_numpy())
    with pytest.raises(TypeError, match=r"got SparseRegressor; an estimator has fit\(X, y\) for that"):
        solve(SparseRegressor(3), 3)


def test_an_estimator_where_its_result_belongs():
    model = SparseRegressor(3).fit(X, Y)
    for objective, result in ((model.objective_, model), (model, model.result_)):
        with pytest.raises(TypeError, match="got SparseRegressor: hand over its objective_ and its result_"):
            certify(objective, result)
    with pytest.raises(TypeError, match=r"result must be a Result .*, got str"):
        certify(model.objective_, "best")
    assert certify(model.objective_, model.result_).result.names == ("bmi", "bp", "s5")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda X, y: solve(GLM(X, y), 2, callback=3),
            "callback must be a function of a Record, True for a bar, or None; got int",
        ),
        (lambda X, y: solve(GLM(X, y), 2, start="a"), "start must be a Result or a vector of 5 numbers"),
        (lambda X, y: solve(GLM(X, y), 2, max_iter=1.5), "max_iter must be a whole number at least 1, got 1.5"),
        (lambda X, y: solve(GLM(X, y), 2, solver=Auto(starts=5)), "starts must be a whole number from 1 to 4"),
        (lambda X, y: solve(GLM(X, y), 2, solver=Auto(prove="yes")), "prove must be True, False or None"),
        (lambda X, y: SparseRegressor(2, n_jobs="a").fit(X, y), "n_jobs must be a number of threads"),
        (lambda X, y: SparseRegressor(2, random_state="a").fit(X, y), "random_state must be a seed"),
        (lambda X, y: best_subsets(X, y, 1, include=[0, 1]), "include names 2 columns, more than kmax=1 allows"),
        (lambda X, y: certify(GLM(X, y), solve(GLM(X, y), 2), k=1), "k is not that of the result"),
        (lambda X, y: certify(GLM(X, y), solve(GLM(X, y), 2), exclude=[0]), "exclude is not that of the result"),
    ],
)
def test_wrong_arguments_get_a_sentence(call, words):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 5))
    with pytest.raises((TypeError, ValueError), match=words):
        call(X, X[:, 0] + rng.standard_normal(30))


def test_a_series_is_no_table():
    column = pd.Series(np.arange(20.0), name="a")
    with pytest.raises(ValueError, match=r"2D array|2-dimensional"):
        SparseRegressor(1).fit(column, column)
