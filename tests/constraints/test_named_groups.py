"""Groups and bounds by the names of columns are those by labels and arrays."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder

from pursuit import GLM, SparseRegressor, best_subsets, certify, path, solve, stability
from pursuit.constraints import AtMost, group_labels

NAMES = ("age", "city=Oslo", "city=Rome", "age=missing", "bmi")
RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 5))
Y = X @ [1.0, 2.0, -1.0, 0.5, 0.0] + RNG.normal(size=60)
FRAME = pd.DataFrame(X, columns=NAMES)
LABELS = ["age", "city", "city", "age", "bmi"]


@pytest.mark.parametrize(
    "groups",
    [
        {"city": ["city=Oslo", "city=Rome"], "age": ["age", "age=missing"]},
        {"city": [1, 2], 7: np.array([0, 3])},
        [["city=Oslo", "city=Rome"], ("age", 3)],
        "prefix",
        "Prefix",
    ],
    ids=str,
)
def test_the_same_units(groups):
    own, labels = (AtMost(2, 5, groups=held, names=NAMES) for held in (groups, LABELS))
    assert own.units == labels.units == 3
    np.testing.assert_array_equal(own.unit_of, labels.unit_of)


def test_a_group_may_have_the_name_of_a_column_outside():
    assert len(set(group_labels({"bmi": ["age", "city=Oslo"]}, 5, NAMES))) == 4


def test_prefixes_after_a_one_hot_encoder():
    table = pd.DataFrame({"city": ["Oslo", "Rome", "Bern"], "size": [1, 2, 3], "pay": [3, 1, 2]})
    encode = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
    names = encode.fit(table).get_feature_names_out().tolist()
    assert [names.index(name) for name in names if "city" in name] == [0, 1, 2]
    assert [len(set(group_labels("prefix", 5, names)[part])) for part in (slice(3), slice(3, 5))] == [1, 2]
    assert group_labels("prefix", 3, ["city_Oslo", "city_Rome", "pay"]) == ["city", "city", "pay"]


def test_every_function_takes_them():
    f, named = GLM(X, Y), GLM(FRAME, Y)
    by_name, by_label = {"groups": {"city": ["city=Oslo", "city=Rome"]}}, {"groups": [0, 1, 1, 2, 3]}
    for one, other in (
        (solve(named, 2, **by_name), solve(f, 2, **by_label)),
        (path(named, [1, 2], **by_name)[1], path(f, [1, 2], **by_label)[1]),
        (SparseRegressor(2, **by_name).fit(FRAME, Y).result_, SparseRegressor(2, **by_label).fit(X, Y).result_),
    ):
        assert one.value == pytest.approx(other.value, rel=1e-12)
        np.testing.assert_array_equal(one.support, other.support)
    assert certify(named, solve(named, 2, **by_name), **by_name).upper > 0
    assert len(best_subsets(FRAME, Y, 2, **by_name)) > 0
    found = stability(SparseRegressor(2, **by_name), FRAME, Y, n_pairs=2)
    assert sorted(found.names) == ["age", "age=missing", "bmi", "city"]


@pytest.mark.parametrize(
    "bounds",
    [
        {"city=Rome": (0, None), "age": (None, 0.5)},
        {2: (0, None), 0: (None, 0.5)},
        [(None, 0.5), (None, None), (0, None), (None, None), (None, None)],
    ],
    ids=["names", "indices", "pairs"],
)
def test_bounds_of_some_columns(bounds):
    low, high = np.full(5, -np.inf), np.full(5, np.inf)
    low[2], high[0] = 0, 0.5
    own, other = (SparseRegressor(4, bounds=held).fit(FRAME, Y) for held in (bounds, (low, high)))
    np.testing.assert_allclose(own.coef_, other.coef_, atol=1e-12)
    assert own.coef_[[0, 2]].tolist() == [0.5, 0]
    f = GLM(FRAME, Y)
    result = solve(f, 2, bounds=bounds)
    assert certify(f, result, bounds=(low, high)).upper == certify(f, result).upper


def test_two_columns_and_two_pairs():
    """(low, high) as ever, unless a pair holds None."""
    two = X[:, :2]
    plain = solve(GLM(two, Y), 2, bounds=([0.0, 0.0], [0.5, 0.25])).coef
    np.testing.assert_allclose(plain, [0.5, 0.25])
    np.testing.assert_allclose(solve(GLM(two, Y), 2, bounds=[(0, 0.5), (None, 0.25)]).coef, [0.5, 0.25])
