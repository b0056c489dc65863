"""table_pipeline: categories enter whole, numeric tables give the model of the estimator alone."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pursuit import SparseClassifierCV, SparseRegressor, SparseRegressorCV, TablePreparer, stability, table_pipeline
from table_preparation.messy import TRUE_COLUMNS, messy_table

RNG = np.random.default_rng(1)
X = RNG.normal(size=(80, 6))
Y = X[:, 1] - 2 * X[:, 4] + RNG.normal(size=80)
TABLE = pd.DataFrame(X, columns=list("abcdef")).assign(city=RNG.choice(["Rome", "Oslo", "Bern"], 80))
PRICE = Y + 3 * (TABLE["city"] == "Rome")


@pytest.mark.parametrize("estimator", [SparseRegressor(2), SparseRegressorCV(cv=3)], ids=["k", "cv"])
def test_a_numeric_table_gives_the_same_model(estimator):
    table = TABLE.drop(columns="city")
    model = table_pipeline(estimator).fit(table, Y)
    plain = estimator.fit(table, Y)
    np.testing.assert_allclose(model[-1].coef_, plain.coef_, rtol=1e-12)
    np.testing.assert_allclose(model.predict(table), plain.predict(table), rtol=1e-12)


def test_groups_are_set_at_every_fit():
    model = table_pipeline(SparseRegressor(2))
    assert isinstance(model, Pipeline)
    model.fit(TABLE, PRICE)
    assert model[-1].groups == [*"abcdef", "city", "city"]
    assert model[-1].get_feature_names_out().tolist()[-2:] == ["city=Oslo", "city=Rome"] or len(model[-1].support_) == 3
    model.fit(TABLE[["a", "city"]], PRICE)
    assert model[-1].groups == ["a", "city", "city"]
    assert list(model.named_steps) == ["prepare", "model"]


def test_the_estimator_that_was_given_is_not_changed():
    own = SparseRegressor(2)
    model = table_pipeline(own).fit(TABLE, PRICE)
    assert own.groups is None
    assert model[-1] is not own


def test_it_lives_with_scikit_learn():
    model = table_pipeline(SparseRegressor(2), StandardScaler(), preparer=TablePreparer(max_levels=2))
    assert np.mean(cross_val_score(model, TABLE, PRICE, cv=3)) > 0.5
    search = GridSearchCV(model, {"model__k": [1, 3]}, cv=3).fit(TABLE, PRICE)
    assert search.best_params_ == {"model__k": 3}
    assert search.best_estimator_[:-1].transform(TABLE[:2]).shape == (2, 8)
    other = table_pipeline(LinearRegression()).fit(TABLE, PRICE)
    assert other.score(TABLE, PRICE) > 0.5
    fitted = model.fit(TABLE, PRICE)
    found = stability(fitted[-1], fitted[:-1].transform(TABLE), PRICE, n_pairs=2)
    assert "city" in found.names


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: table_pipeline(SparseRegressor), r"got the class SparseRegressor: SparseRegressor\(\)"),
        (lambda: table_pipeline("auto"), r"an estimator such as SparseRegressorCV\(\), got str"),
        (lambda: table_pipeline(SparseRegressor(groups=[1])), "leave groups out"),
        (
            lambda: table_pipeline(SparseRegressor(1), OneHotEncoder(sparse_output=False)).fit(TABLE, PRICE),
            "a transformer that makes other columns must have groups_ itself",
        ),
    ],
)
def test_sentences(call, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        call()


def test_a_messy_table_as_good_as_by_hand():
    """5,000 x 22 with categories, dates, missing values, an id, 11% positive: the true columns, and the AUC by hand."""
    table, y = messy_table(5000, seed=0)
    train, test = slice(0, 4000), slice(4000, None)
    model = table_pipeline(SparseClassifierCV(cv=3)).fit(table[train], y[train])
    chosen = {model[-1].groups[j] for j in model[-1].support_}
    assert chosen >= TRUE_COLUMNS
    ours = roc_auc_score(y[test], model.predict_proba(table[test])[:, 1])

    by_hand = table.drop(columns=["customer_id", "country", "street", "last_login"]).assign(
        signup=(pd.to_datetime(table["signup"]) - pd.Timestamp("2019-01-01")).dt.days
    )
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    prepare = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (
            OneHotEncoder(drop="first", min_frequency=0.01, handle_unknown="ignore", sparse_output=False),
            make_column_selector(dtype_exclude="number"),
        ),
    )
    hand = make_pipeline(prepare, SparseClassifierCV(cv=3)).fit(by_hand[train], y[train])
    assert ours > roc_auc_score(y[test], hand.predict_proba(by_hand[test])[:, 1]) - 0.003
    assert ours > 0.8
