"""The demo, whole: it is the main job."""

import json

import numpy as np
import pytest
from matplotlib.figure import Figure

from pursuit import SparseRegressor, load_model
from pursuit.cli.demo import features
from pursuit.cli.demo_data import breast_cancer, diabetes, expand
from pursuit.cli.demo_lasso import lasso
from pursuit.plots import plot_coefficients


def test_the_demo_writes_what_it_says(run, tmp_path):
    code, out, err = run("demo", "--out", tmp_path / "demo")
    assert (code, err) == (0, "")
    for name, columns in (("diabetes", 64), ("breast_cancer", 495)):
        path = tmp_path / "demo" / f"{name}.json"
        model = load_model(path)
        assert model.n_features == columns
        assert model.status == "converged"
        assert str(path) in out
        assert str(path.with_suffix(".png")) in out
        assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
        assert all(name in out for name in model.selected)
    assert "coefficients per standard deviation" in out
    assert json.loads((tmp_path / "demo" / "breast_cancer.json").read_text())["classes"] == ["benign", "malignant"]
    for words in ("held-out", "lasso tuned to", "l1 logistic regression tuned to", "how", "training loss"):
        assert words in out


def test_table_and_picture_show_the_same_numbers():
    data = diabetes()
    fit = SparseRegressor(k=4).fit(data.X, data.y)
    ax = plot_coefficients(fit, data.names, Figure().subplots())
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    drawn = [f"{name} {bar.get_width():+.3g}" for name, bar in zip(labels, ax.patches, strict=True)]
    assert features(fit, data.names, 200) == ", ".join(drawn)


@pytest.mark.parametrize(("make", "base", "columns"), [(diabetes, 10, 64), (breast_cancer, 30, 495)])
def test_columns_are_what_their_names_say(make, base, columns):
    data = make()
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


def test_the_yardstick_keeps_its_promise():
    data = diabetes()
    for k, fit in lasso(data.X, data.y, (1, 4, 9)).items():
        predict, columns = fit.predict, np.flatnonzero(fit[-1].coef_)
        assert 1 <= len(columns) <= k
        elsewhere = np.setdiff1d(np.arange(64), columns)
        moved = data.X_test.copy()
        moved[:, elsewhere] += 1
        assert np.allclose(predict(moved), predict(data.X_test))  # no other column is used
        assert np.corrcoef(predict(data.X), data.y)[0, 1] > 0.5
