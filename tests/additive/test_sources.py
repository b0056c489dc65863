"""Additive models of rows in parts, on a disk and on Dask workers: the answers of one piece in memory."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.sparse.linalg import aslinearoperator
from typer.testing import CliRunner

import pursuit
from pursuit import InParts, SmoothEffects, SparseAdditiveClassifier, SparseAdditiveRegressor
from pursuit.cli.app import app
from pursuit.designs import Paged, Spline
from pursuit.effects import fit_basis, sampled
from pursuit.estimators.additive.training import TrainingColumns

N = 400


@pytest.fixture(scope="module")
def table():
    g = np.random.default_rng(0)
    X = g.normal(size=(N, 6))
    X[:, 4] = np.exp(2 * X[:, 4])
    X[:, 5] = g.integers(0, 4, N)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.5 * X[:, 2] + 0.3 * g.normal(size=N)


def in_parts(X, y, *more):
    cuts = [0, 150, 160, N]
    return InParts([tuple(own[a:b] for own in (X, y, *more)) for a, b in pairwise(cuts)])


def on_disk(X, y, folder, kind):
    path = folder / "table.parquet"
    pd.DataFrame(X, columns=list("abcdef")).assign(y=y).to_parquet(path, row_group_size=150)
    if kind == "parquet":
        return pursuit.open_data(path, target="y")
    return pursuit.open_data(pursuit.convert(path, folder / "table.pursuit", target="y"))


CHOSEN = {"ks": [0, 1, 2, 3], "cv": 3, "random_state": 0}


@pytest.mark.parametrize("kind", ["parts", "folder", "parquet"])
@pytest.mark.parametrize(
    "options",
    [
        {"k": 3},
        {"k": 3, "effects": {0: "linear", 2: "increasing"}},
        CHOSEN,
        {**CHOSEN, "effects": "auto", "scoring": "r2"},
    ],
)
def test_rows_elsewhere_have_the_model_of_rows_in_memory(table, tmp_path, kind, options):
    X, y = table
    rows = in_parts(X, y) if kind == "parts" else on_disk(X, y, tmp_path, kind)
    X = X if kind == "parts" else pd.DataFrame(X, columns=list("abcdef"))
    model, there = SparseAdditiveRegressor(**options).fit(X, y), SparseAdditiveRegressor(**options).fit(rows)
    assert np.array_equal(model.support_, there.support_)
    np.testing.assert_allclose(there.predict(X), model.predict(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(there.predict(rows), there.predict(X), rtol=1e-12)
    assert there.score(rows) == pytest.approx(model.score(X, y), rel=1e-9)
    assert "one effect each" in str(there.summary())


def test_classes_weights_and_offsets_of_parts(table):
    X, y = table
    labels, weights, offset = np.where(y > 1, "high", "low"), 1.0 + np.arange(N) % 3, 0.1 * X[:, 3]
    weights[:40] = 0.0
    model = SparseAdditiveClassifier(k=2, class_weight="balanced").fit(X, labels, weights, offset=offset)
    there = SparseAdditiveClassifier(k=2, class_weight="balanced").fit(in_parts(X, labels, weights, offset))
    assert there.classes_.tolist() == ["high", "low"]
    assert np.array_equal(model.support_, there.support_)
    np.testing.assert_allclose(there.decision_function(X), model.decision_function(X), rtol=1e-6, atol=1e-6)


def test_columns_are_computed_where_the_rows_are(table, tmp_path):
    X, y = table
    on_a_disk = SparseAdditiveRegressor(k=3).fit(on_disk(X, y, tmp_path, "folder")).objective_.data.raw.design
    assert isinstance(on_a_disk, Paged)
    assert isinstance(on_a_disk.source.read(), Spline)
    effects = SmoothEffects().fit(in_parts(X, y))
    lazy = effects.transform(in_parts(X, y))
    assert all(isinstance(part[0], Spline) for part in lazy.parts)
    columns = [part[0].block(np.arange(lazy.shape[1])).dense() for part in lazy.parts]
    np.testing.assert_array_equal(np.concatenate(columns), effects.transform(X))
    np.testing.assert_array_equal(effects.transform(X)[:, -1], X[:, -1])
    np.testing.assert_allclose(effects.transform(X), SmoothEffects().fit(X).transform(X), rtol=1e-12)


@pytest.mark.parametrize("kind", ["smooth", "increasing", "linear"])
def test_means_and_scales_are_those_of_all_rows_though_knots_are_of_a_sample(monkeypatch, table, kind):
    X, y = table
    X = X[:, :5].copy()
    X[7, 3] = 1e4  # which the sample may miss
    weights = 1.0 + np.arange(N) % 3
    weights /= weights.sum()
    monkeypatch.setattr(sampled, "MAX_SAMPLED_ROWS", 60)
    data = in_parts(X, y, weights).bound(pursuit.GLM(X, y).loss)
    training = TrainingColumns(data, weights, None)
    assert training.X.shape == (60, 5)
    basis = training.fit(weights, [kind] * 5, 5)
    Z = basis.evaluate(lambda j: X[:, j], N)
    assert np.abs(weights @ Z).max() < 1e-9
    for j, column in enumerate(basis.columns):
        own = Z[:, basis.feature_of == j]
        G = own.T @ (weights[:, None] * own)
        assert (column.low, column.high) == (X[:, j].min(), X[:, j].max())
        if kind == "smooth" and j < 3:  # of heavy tails the ridge of 1e-9 on the directions counts
            np.testing.assert_allclose(G, np.diag([1.0, 0.49, 0.25, 0.1225]), atol=1e-5)
        else:
            np.testing.assert_allclose(np.diag(G)[: 1 if kind == "smooth" else None], 1.0, rtol=1e-9)
    ranks = [np.mean(X[:, 0] <= knot) for knot in basis.columns[0].knots]
    if kind == "smooth":
        assert np.abs(ranks - np.array([0.05, 0.275, 0.5, 0.725, 0.95])).max() < 0.2


def test_the_columns_of_a_sample_are_those_of_all_rows_where_its_knots_are(monkeypatch, table):
    X, y = table
    twice = np.concatenate([X, X])  # of which a sample may be X itself
    weights = np.full(2 * N, 0.5 / N)
    monkeypatch.setattr(sampled, "MAX_SAMPLED_ROWS", N)
    monkeypatch.setattr("pursuit.estimators.additive.training.choose_sample", lambda *_: np.arange(N))
    data = InParts([(twice[:300], np.zeros(300)), (twice[300:], np.zeros(2 * N - 300))]).bound(pursuit.GLM(X, y).loss)
    training = TrainingColumns(data, weights, None)
    assert training.ranges is not None
    kinds = ["smooth"] * 3 + ["increasing", "smooth", "linear"]
    found, wanted = training.fit(weights, kinds, 5), fit_basis(lambda j: X[:, j], None, kinds, 5)
    for one, other in zip(found.columns, wanted.columns, strict=True):
        assert one.low == other.low
        np.testing.assert_allclose(one.evaluate(X[:, 0]), other.evaluate(X[:, 0]), rtol=1e-6, atol=1e-6)


def test_few_values_are_counted_on_all_rows(monkeypatch):
    g = np.random.default_rng(0)
    X = np.column_stack([np.zeros(N), g.integers(0, 3, N), g.normal(size=N)]).astype(float)
    X[:12, 0] = np.arange(12)  # too rare for a sample to show them
    monkeypatch.setattr(sampled, "MAX_SAMPLED_ROWS", 20)
    monkeypatch.setattr(sampled, "MIN_SAMPLED_ROWS", 1)
    effects = SmoothEffects().fit(in_parts(X, X[:, 2]))
    assert [column.kind for column in effects.basis_.columns] == ["smooth", "linear", "smooth"]
    assert effects.basis_.columns[0].high == 11.0
    assert effects.fit(X).basis_.columns[0].kind == "smooth"


def test_wrong_rows_are_named(monkeypatch, table):
    X, y = table
    monkeypatch.setattr(sampled, "MAX_SAMPLED_ROWS", 20)
    model = SparseAdditiveRegressor(k=2).fit(in_parts(X, y))
    with pytest.raises(TypeError, match="contributions takes arrays and data frames"):
        model.contributions(in_parts(X, y))
    with pytest.raises(ValueError, match="has 5 features"):
        model.predict(in_parts(X[:, :5], y))
    X = X.copy()
    X[399, 3] = np.nan
    with pytest.raises(ValueError, match="X contains NaN or infinity in column 3"):
        SparseAdditiveRegressor(k=2).fit(in_parts(X, y))
    with pytest.raises(TypeError, match="need the entries of X"):
        SparseAdditiveRegressor(k=2).fit(InParts([(aslinearoperator(X), y)]))


def test_the_command_fits_a_folder(table, tmp_path):
    X, y = table
    on_disk(X, y, tmp_path, "folder")
    run, out = CliRunner(), tmp_path / "model.json"
    more = ["--picture", str(tmp_path / "effects.png"), "--report", str(tmp_path / "page.html")]
    done = run.invoke(
        app, ["fit", str(tmp_path / "table.pursuit"), "--effects", "smooth", "-k", "3", "--out", str(out), *more]
    )
    assert done.exit_code == 0, done.output
    assert (tmp_path / "effects.png").stat().st_size > 1000
    assert "a" in (tmp_path / "page.html").read_text()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = SparseAdditiveRegressor(k=3).fit(frame, y)
    np.testing.assert_allclose(pursuit.load_model(out).predict(frame), model.predict(frame), rtol=1e-9)


def test_a_column_that_is_constant_in_a_fold(monkeypatch):
    monkeypatch.setattr(sampled, "MAX_SAMPLED_ROWS", 50)
    monkeypatch.setattr(sampled, "MIN_SAMPLED_ROWS", 1)
    g = np.random.default_rng(0)
    X = g.normal(size=(120, 3))
    X[:, 2] = 5.3
    X[:40, 2] = np.arange(40.0)
    folds = [(np.arange(40, 120), np.arange(40)), (np.arange(80), np.arange(80, 120))]
    y = X[:, 0] ** 2 + 0.1 * g.normal(size=120)
    model = SparseAdditiveRegressor(cv=folds, ks=[0, 1, 2, 3]).fit(InParts([(X[:70], y[:70]), (X[70:], y[70:])]))
    assert 0 in model.support_
    assert np.abs(model.predict(X)).max() < 20


def test_stability_of_rows_in_parts(table):
    X, y = table
    found = pursuit.stability(SparseAdditiveRegressor(k=3), in_parts(X, y), n_pairs=2, random_state=0)
    assert found.units == 6
