"""TablePreparer: what becomes of every kind of column, and of rows that differ from the training rows."""

import datetime as dt
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from pursuit import TablePreparer

N = 200
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=N)


def prepare(**columns):
    table = pd.DataFrame(columns)
    preparer = TablePreparer().set_output(transform="pandas").fit(table)
    return preparer, preparer.transform(table)


def only(values, name="a", **parameters):
    """The prepared columns of one column, beside one that is always there."""
    table = pd.DataFrame({name: values, "x": NUMBERS[: len(values)]})
    preparer = TablePreparer(**parameters).set_output(transform="pandas").fit(table)
    return preparer, preparer.transform(table).drop(columns="x")


@parametrize_with_checks([TablePreparer()])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_numbers_stay_as_they_are():
    for dtype in (np.float64, np.float32):
        X = RNG.normal(size=(30, 3)).astype(dtype)
        found = TablePreparer().fit_transform(X)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, X)


def test_a_category_is_one_group_without_its_most_frequent_level():
    preparer, found = only(["Rome"] * 90 + ["Oslo"] * 60 + [" Bern "] * 50, "city")
    assert list(found) == ["city=Bern", "city=Oslo"]
    assert preparer.groups_ == ["city", "city", "x"]
    np.testing.assert_array_equal(found.to_numpy(), np.repeat([[0, 0], [0, 1], [1, 0]], [90, 60, 50], axis=0))


def test_rare_levels_are_pooled():
    preparer, found = only([*["a"] * 150, *["b"] * 47, "c", "d", "d"])
    assert list(found) == ["a=b", "a=d", "a=other"]
    assert found["a=other"].sum() == 1
    many = [f"l{i % 100}" for i in range(N)]
    preparer, found = only(many, max_levels=5, min_share=0.0)
    assert found.shape[1] == 5  # four levels and the others; the fifth is the reference
    assert "95 pooled as other" in preparer.notes_[0]


def test_levels_named_other_and_missing_keep_their_names():
    _, found = only([*["other"] * 50, *["missing"] * 40, *["a"] * 100, *[None] * 8, "b", "c"])
    assert list(found) == ["a=missing", "a=other", "a=other_", "a=missing_"]
    assert found.sum().tolist() == [40, 50, 2, 8]


def test_a_missing_category_is_a_level():
    _, found = only([*["a"] * 100, *["b"] * 60, *[np.nan] * 40])
    assert list(found) == ["a=b", "a=missing"]
    assert found["a=missing"].sum() == 40


def test_free_text_says_whether_it_is_missing():
    preparer, found = only([f"comment {i}" if i % 2 else None for i in range(N)])
    assert list(found) == ["a=missing"]
    preparer, found = only([f"comment {i}" for i in range(N)])
    assert not len(found.columns)
    assert "a (no level is in 1% of the rows)" in preparer.notes_[-1]


def test_ten_thousand_categories():
    table = pd.DataFrame({"street": [f"street {i % 10_000}" for i in range(12_000)], "x": np.arange(12_000) % 7})
    preparer = TablePreparer().fit(table)
    assert preparer.get_feature_names_out().tolist() == ["x"]


def test_missing_numbers_become_the_median_with_an_indicator_where_frequent():
    values = np.where(np.arange(N) < 10, np.nan, np.arange(N) * 2.0)
    preparer, found = only(values)
    assert list(found) == ["a", "a=missing"]
    assert (found["a"][:10] == np.median(values[10:])).all()
    assert preparer.groups_ == ["a", "a", "x"]
    values[2:10] = 1.5
    _, found = only(values)  # two of 200 are 1%
    assert list(found) == ["a"]


@pytest.mark.parametrize(
    ("values", "left_out"),
    [
        (["c"] * N, "constant"),
        ([3.5] * N, "constant"),
        ([None] * N, "all values are missing"),
        ([np.nan] * N, "all values are missing"),
        ([pd.NaT] * N, "all values are missing"),
        ([""] * N, "all values are missing"),
        (["c"] * (N - 1) + [None], "constant"),
        ([2.0] * (N - 1) + [np.nan], "constant"),
    ],
    ids=str,
)
def test_constants_are_left_out_and_named(values, left_out):
    preparer, found = only(values)
    assert not len(found.columns)
    assert preparer.notes_ == (f"left out: a ({left_out})",)


def test_a_constant_that_is_often_missing_is_an_indicator():
    _, found = only([1.0] * 100 + [np.nan] * 100)
    assert list(found) == ["a=missing"]


SHUFFLED = RNG.permutation(N)


@pytest.mark.parametrize(
    ("name", "values", "is_id"),
    [
        ("id", SHUFFLED, True),
        ("customer_id", SHUFFLED + 1000, True),
        ("customerId", SHUFFLED, True),
        ("key", SHUFFLED, True),
        ("UUID", [f"u{i}" for i in SHUFFLED], True),
        ("row", np.arange(1, N + 1), True),
        ("row", np.arange(N), True),
        ("row", SHUFFLED, False),
        ("row", np.arange(2, N + 2), False),
        ("id", SHUFFLED.astype(float), False),
        ("id", SHUFFLED % 100, False),
        ("idea", SHUFFLED, False),
        ("paid", SHUFFLED, False),
        ("monkey", SHUFFLED, False),
        ("id", [*SHUFFLED[:-1], None], False),
    ],
)
def test_ids(name, values, is_id):
    preparer, found = only(values, name)
    assert (found.shape[1] == 0) == is_id
    assert is_id == (f"{name} (an id)" in " ".join(preparer.notes_))
    if is_id:
        assert only(values, name, drop_ids=False)[1].shape[1] == (0 if isinstance(values, list) else 1)


DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=int(i)) for i in RNG.integers(0, 400, N)]
FORMS = {
    "dates": lambda day: day,
    "times": lambda day: dt.datetime(day.year, day.month, day.day),
    "zoned": lambda day: dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC),
    "ISO": str,
    "ISO with hours": "{:%Y-%m-%dT00:00:00}".format,
    "German": "{:%d.%m.%Y}".format,
    "American": "{:%m/%d/%Y}".format,
    "British": "{:%d/%m/%Y}".format,
    "words": "{:%d %b %Y}".format,
    "with hours": "{:%d/%m/%Y 00:00}".format,
}


@pytest.mark.parametrize("form", FORMS)
def test_dates_are_days_since_the_first(form):
    preparer, found = only([FORMS[form](day) for day in DAYS], "when")
    assert list(found) == ["when"]
    assert found["when"].tolist() == [(day - min(DAYS)).days for day in DAYS]
    early = pd.DataFrame({"when": [FORMS[form](min(DAYS) - dt.timedelta(days=3))], "x": [0.0]})
    assert preparer.transform(early)["when"].item() == -3


def test_missing_dates_and_texts_that_are_none():
    texts = [str(day) for day in DAYS]
    texts[:10], texts[10] = [None] * 10, "unknown"
    preparer, found = only(texts, "when")
    assert list(found) == ["when", "when=missing"]
    assert found["when=missing"].sum() == 11
    other = pd.DataFrame({"when": ["2020-01-05", "05.01.2020", "x"], "x": [0.0] * 3})
    with pytest.warns(UserWarning, match=r"'when' has no date \(YYYY-MM-DD\) in 2 rows, such as '05.01.2020'"):
        assert preparer.transform(other)["when=missing"].tolist() == [0, 1, 1]


@pytest.mark.parametrize(("one", "two"), [("ISO", "German"), ("American", "British")])
def test_dates_in_two_formats(one, two):
    days = [dt.date(2020, 5, 13 + i % 10) for i in range(N)]
    texts = [FORMS[one if i % 3 else two](day) for i, day in enumerate(days)]
    with pytest.raises(
        ValueError, match=r"column 'when' has dates in two formats, such as .* write all of them as YYYY"
    ):
        only(texts, "when")


def test_texts_that_are_numbers():
    preparer, found = only([*map(str, range(N - 3)), "?", "-", "n.a."])
    assert found["a"].tolist()[:3] == [0, 1, 2]
    assert found["a=missing"].sum() == 3
    assert "texts read as numbers: a" in preparer.notes_
    _, found = only(["1_000"] * 100 + ["a"] * 100)
    assert list(found) == ["a=a"]


def test_kinds_of_objects():
    _, found = prepare(
        flag=[True, False] * 100,
        maybe=[True, None] * 100,
        money=[Decimal(i % 9) for i in range(N)],
        nullable=pd.array([1, None] * 100, dtype="Int64"),
        level=pd.Categorical([1, 2] * 100),
        mixed=["a", 1] * 100,
        wait=pd.to_timedelta(np.arange(N) % 3, unit="D"),
    )
    assert list(found) == [
        "flag",
        "maybe=missing",
        "money",
        "nullable=missing",
        "level=2",
        "mixed=a",
        "wait",
    ]
    assert found["wait"].max() == 2


def test_polars():
    columns = {
        "city": ["Rome", "Oslo", None] * 20,
        "when": DAYS[:60],
        "age": [1, 2, None, 4] * 15,
        "kind": pl.Series(["a", "b"] * 30, dtype=pl.Categorical),
    }
    ours = TablePreparer().set_output(transform="polars").fit(pl.DataFrame(columns))
    theirs = TablePreparer().fit(pd.DataFrame({**columns, "kind": pd.Categorical(["a", "b"] * 30)}))
    found = ours.transform(pl.DataFrame(columns))
    assert found.columns == theirs.get_feature_names_out().tolist()
    assert found.columns == ["city=Rome", "city=missing", "when", "age", "age=missing", "kind=b"]


def test_rows_that_differ_from_the_training_rows():
    table = pd.DataFrame({"city": ["Rome"] * 100 + ["Oslo"] * 100, "age": NUMBERS, "plan": (["a"] * 99 + ["b"]) * 2})
    table.loc[table.index[:1], "plan"] = "rare"
    preparer = TablePreparer(min_share=0.01).set_output(transform="pandas").fit(table)
    new = pd.DataFrame({"city": ["Bern", "Oslo", "Bonn"], "age": [1.0, None, 2.0], "plan": ["z", "rare", "b"]})
    with pytest.warns(UserWarning, match="the table differs from the one at fit") as caught:
        found = preparer.transform(new)
    said = str(caught[0].message)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert "'city' has levels that were not there at fit in 2 rows ('Bern', 'Bonn'): all 1 dummies are 0" in said
    assert "'age' is missing in 1 row, which have the median now" in said
    assert "'plan' has levels that were not there at fit in 1 row ('z'): they count as 'other'" in said
    assert found["city=Rome" if "city=Rome" in found else "city=Oslo"].tolist() in ([0, 0, 0], [0, 1, 0])
    assert found["plan=other"].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: only([np.inf, *NUMBERS[1:]]), "X contains infinity in column 'a'"),
        (lambda: TablePreparer(max_levels=0).fit([[1.0]]), "max_levels must be a whole number at least 1, got 0"),
        (lambda: TablePreparer(min_share=2).fit([[1.0]]), "min_share must be a number from 0 to 1, got 2"),
        (lambda: TablePreparer().fit(pd.DataFrame({"a": []})), r"X has shape \(0, 1\); at least one row"),
        (lambda: TablePreparer().fit(pd.DataFrame([[1, 2]], columns=["a", "a"])), "several columns named 'a'"),
        (
            lambda: only(NUMBERS)[0].transform(pd.DataFrame({"a": ["one"], "x": [1.0]})),
            "column 'a' held numbers at fit, and now 'one'",
        ),
        (lambda: TablePreparer().fit(pl.DataFrame({"a": [1]}).lazy()), r"got a LazyFrame; call collect\(\) first"),
    ],
)
def test_sentences(call, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        call()


def test_lists_keep_their_numbers():
    found = TablePreparer().fit([[1, "a"], [2, "b"], [4, "b"]])
    assert found.get_feature_names_out(["n", "c"]).tolist() == ["n", "c=a"]


def test_hostile_names():
    table = pd.DataFrame({"a": ["b", "c", "c"] * 5, "a=b": range(2, 17), "=": [1.0, 2, 4] * 5, "": [4.0, 2, 1] * 5})
    preparer = TablePreparer().fit(table)
    assert preparer.get_feature_names_out().tolist() == ["a=b_", "a=b", "=", ""]
    assert preparer.groups_ == ["a", "a=b", "=", ""]


def test_copies():
    table = pd.DataFrame({"a": ["b", "c", "c"] * 5, "x": NUMBERS[:15]})
    preparer = TablePreparer(max_levels=7).fit(table)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(preparer)).transform(table), preparer.transform(table))
    assert clone(preparer).max_levels == 7
