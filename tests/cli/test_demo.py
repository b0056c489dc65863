"""The demo from the data to its files, on two of its splits: it is the main job."""

import json

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import Lasso, lars_path
from sklearn.preprocessing import StandardScaler

from pursuit import SparseRegressorCV, load_model
from pursuit.demo import study
from pursuit.demo.comparison import SplitScores, summarise_splits
from pursuit.demo.data import all_rows, breast_cancer, diabetes, expand, splits
from pursuit.demo.l1_models import l1_logistic, l1_logistic_by_cv, lasso, lasso_by_cv
from pursuit.demo.study import HARD, features
from pursuit.plots import plot_coefficients


def test_the_demo_writes_what_it_says(run, tmp_path, monkeypatch):
    monkeypatch.setattr(study, "splits", lambda data, n_splits: splits(data, 2))  # of 10 and 5, all alike
    code, out, err = run("demo", "--out", tmp_path / "demo")
    assert (code, err) == (0, "")
    for name, columns in (("diabetes", 64), ("breast_cancer", 495)):
        path = tmp_path / "demo" / f"{name}.json"
        model = load_model(path)
        assert model.n_features == columns
        assert str(path) in out
        assert str(path.with_suffix(".png")) in out
        assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
        assert all(name in out for name in model.selected)
        assert path.with_suffix(".html").read_text().startswith("<!DOCTYPE html>")
        assert str(path.with_suffix(".html")) in out
    assert max(len(line) for line in out.splitlines() if str(tmp_path) not in line) <= 100
    assert json.loads((tmp_path / "demo" / "breast_cancer.json").read_text())["classes"] == ["benign", "malignant"]
    text = " ".join(out.split())
    assert (
        text.count("fits better: proved") + text.count("better: a proved bound") == 2
    )  # by what the machine has to do
    assert (tmp_path / "demo" / "diabetes_graph.html").exists()
    for words in ("held-out", "lasso, penalty by cross-validation", "l1 logistic with as few", "standard error"):
        assert words in out


def test_a_comparison_is_paired():
    scores = {"pursuit, k chosen": [0.5, 0.7, 0.3], "lasso": [0.6, 0.7, 0.5]}
    scores_of = summarise_splits([SplitScores({}, {who: (i + 1, scores[who][i]) for who in scores}) for i in range(3)])
    lasso_scores = scores_of["lasso"]
    assert (lasso_scores.features, lasso_scores.score) == (2.0, pytest.approx(0.6))
    assert lasso_scores.more == pytest.approx(0.1)
    assert lasso_scores.error == pytest.approx(0.1 / np.sqrt(3))
    assert scores_of["pursuit, k chosen"].more == 0


def test_text_and_picture_show_the_same_numbers():
    data = all_rows(diabetes())
    model = SparseRegressorCV(ks=range(5), cv=3).fit(data.X, data.y)
    ax = plot_coefficients(model, data.names, Figure().subplots())
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    drawn = [f"{name} {bar.get_width():+.3g}" for name, bar in zip(labels, ax.patches, strict=True)]
    assert features(model, data.names).replace(HARD, " ") == ", ".join(drawn)
    expected = model.coef_ * data.X.std(axis=0)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(
        sorted(expected[expected != 0], key=lambda c: -abs(c))
    )


@pytest.mark.parametrize(("make", "base", "columns"), [(diabetes, 10, 64), (breast_cancer, 30, 495)])
def test_columns_are_what_their_names_say(make, base, columns):
    data = next(splits(make(), 1))
    assert data.X.shape[1] == data.X_test.shape[1] == len(set(data.names)) == columns
    place = {name: j for j, name in enumerate(data.names)}
    for name, j in place.items():
        if name.endswith("^2"):
            assert np.allclose(data.X_test[:, j], data.X_test[:, place[name[:-2]]] ** 2)
        elif "*" in name:
            a, b = name.split("*")
            assert np.allclose(data.X_test[:, j], data.X_test[:, place[a]] * data.X_test[:, place[b]])
    assert np.allclose(data.X[:, :base].mean(axis=0), 0)
    assert np.allclose(data.X[:, :base].std(axis=0), 1)


def test_the_square_of_a_column_with_two_values_is_left_out():
    X = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 3.0]])
    *_, names = expand(X, X, ["flag", "size"])
    assert names == ("flag", "size", "flag*size", "size^2")


@pytest.mark.parametrize(
    ("make", "path", "by_cv"), [(diabetes, lasso, lasso_by_cv), (breast_cancer, l1_logistic, l1_logistic_by_cv)]
)
def test_the_yardstick_keeps_its_promise(make, path, by_cv):
    data = next(splits(make(), 1))
    X, X_test = data.X[:, :30], data.X_test[:, :30]
    sign = data.y if make is diabetes else data.y == "malignant"
    fits = path(X, data.y, (1, 4, 9))
    for k, fit in fits.items():
        assert 1 <= len(fit.columns) <= k
        assert np.corrcoef(fit.eta(X), sign)[0, 1] > 0.5
    chosen = by_cv(X, data.y, 3)
    assert len(chosen.columns) > 4
    truth = data.y_test if make is diabetes else data.y_test == "malignant"
    assert np.corrcoef(chosen.eta(X_test), truth)[0, 1] > 0.5


def test_the_yardstick_is_the_lasso():
    data = next(splits(diabetes(), 1))
    fit, Z = lasso(data.X, data.y, (5,))[5], StandardScaler().fit(data.X)
    alpha = lars_path(Z.transform(data.X), data.y - data.y.mean(), method="lasso")[0][len(fit.columns)]
    other = Lasso(alpha=alpha, tol=1e-10, max_iter=100_000).fit(Z.transform(data.X), data.y)
    assert np.allclose(fit.eta(data.X_test), other.predict(Z.transform(data.X_test)), rtol=1e-4)
