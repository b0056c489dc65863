"""The table of best subsets: enumeration for every loss, criteria, names, groups, what is printed and drawn."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes, load_iris

from pursuit import GLM, Loss, MultiGLM, best_subsets
from pursuit.certificates import subsets

LOSSES = {
    "squared": lambda eta, rng: eta + rng.standard_normal(60),
    "huber": lambda eta, rng: eta + rng.standard_t(2, 60),
    "logistic": lambda eta, rng: rng.random(60) < 1 / (1 + np.exp(-eta)),
    "poisson": lambda eta, rng: rng.poisson(np.exp(0.3 * eta)),
    "squared_hinge": lambda eta, rng: rng.random(60) < 1 / (1 + np.exp(-eta)),
}


def data(loss, p=7):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, p)) + 0.5 * rng.standard_normal((60, 1))
    return X, LOSSES[loss](X[:, :3] @ [1.0, -1.0, 0.5], rng)


def enumerated(f, k, nbest, units=None):
    units = range(f.dim) if units is None else units
    values = {s: f.refit(np.array(s)).value for s in itertools.combinations(units, k)}
    best = sorted(values, key=values.get)[:nbest]
    return best, [values[s] for s in best]


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True)


@pytest.mark.parametrize("way", ["every", "tree"])
@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_equals_enumeration(loss, l2, way, monkeypatch):
    if way == "tree":
        monkeypatch.setattr(subsets, "MAX_ENUMERATED", 0)
    X, y = data(loss)
    f = GLM(X, y, loss, l2=l2)
    table = best_subsets(X, y, 3, nbest=3, loss=loss, l2=l2, time_limit=60)
    for k in (1, 2, 3):
        rows = [row for row in table if row.k == k]
        best, values = enumerated(f, k, 3)
        assert [row.support for row in rows] == best
        np.testing.assert_allclose([row.value for row in rows], values, rtol=1e-6)
        assert all(row.proved for row in rows)


def test_a_loss_without_a_conjugate_is_enumerated_or_told(monkeypatch):
    class Smooth(Loss):
        name = "pseudo_huber"

        def value(self, y, eta):
            return np.sqrt(1 + (eta - y) ** 2) - 1

        def d1(self, y, eta):
            return (eta - y) / np.sqrt(1 + (eta - y) ** 2)

    X, y = data("squared")
    table = best_subsets(X, y, 2, 2, loss=Smooth())
    assert [row.support for row in table if row.k == 2] == enumerated(GLM(X, y, Smooth()), 2, 2)[0]
    assert table[0].aic is None
    monkeypatch.setattr(subsets, "MAX_ENUMERATED", 0)
    rows = best_subsets(X, y, 2, loss=Smooth())
    assert [row.support for row in rows] == [row.support for row in table if row.rank == 1]
    assert not any(row.proved for row in rows)
    assert "Not proved to be the best at k = 1, 2" in str(rows)
    with pytest.raises(ValueError, match=r"nbest=2 needs a proof, which loss 'pseudo_huber' has not.*give nbest=1"):
        best_subsets(X, y, 2, 2, loss=Smooth())


def test_several_classes_and_responses(diabetes):
    X, y = load_iris(return_X_y=True, as_frame=True)
    table = best_subsets(X, y, 2, 2, loss="multinomial", l2=0.01)
    f = MultiGLM(X, y, "multinomial", l2=0.01)
    for k in (1, 2):
        value = min(f.refit(f.sparse_set(4).columns_of(np.array(s))).value for s in itertools.combinations(range(4), k))
        assert min(row.value for row in table if row.k == k) == pytest.approx(value)
    assert all(row.proved for row in table)
    assert table[0].aic == pytest.approx(table[0].deviance + 2 * 4)  # two free classes, each with an intercept
    assert "petal width (cm)[2]" in table.to_frame(coefficients=True)
    X, y = diabetes
    table = best_subsets(X, np.column_stack([y, y**2]), 2)
    assert table.best("aic").proved
    assert table[0].adjusted_r2 is None


def test_the_deviance_leaves_out_the_ridge():
    X, y = data("squared")
    row = best_subsets(X, y, 2, l2=0.3)[-1]
    eta = X[:, row.support] @ row.coef + row.intercept
    assert row.rss == pytest.approx(((y - eta) ** 2).sum())
    assert row.value == pytest.approx(row.rss / 120 + 0.15 * row.coef @ row.coef)


def test_likelihood_criteria_by_hand():
    X, y = data("logistic")
    row = best_subsets(X, y, 2, loss="logistic")[-1]
    mu = 1 / (1 + np.exp(-(X[:, row.support] @ row.coef + row.intercept)))
    deviance = -2 * np.log(np.where(y, mu, 1 - mu)).sum()
    assert row.deviance == pytest.approx(deviance)
    assert row.aic == pytest.approx(deviance + 6)
    assert row.bic == pytest.approx(deviance + 3 * np.log(60))
    share = y.mean()
    null = -2 * 60 * (share * np.log(share) + (1 - share) * np.log(1 - share))
    assert row.r2 == pytest.approx(1 - deviance / null)
    assert row.cp is None
    with pytest.raises(ValueError, match="criterion 'cp' is not defined for loss 'logistic'"):
        best_subsets(X, y, 2, loss="logistic").best("cp")


def test_names_in_and_out(diabetes):
    X, y = diabetes
    table = best_subsets(X, y, 4, include="age", exclude=["s5"])
    assert [row.k for row in table] == [1, 2, 3, 4]
    assert all("age" in row.names and "s5" not in row.names for row in table)
    assert table[0].names == ("age",)
    with pytest.raises(ValueError, match="include names column 'agee', which X does not have; did you mean 'age'"):
        best_subsets(X, y, 3, include="agee")
    with pytest.raises(ValueError, match="include names 3 columns, more than kmax=2 allows"):
        best_subsets(X, y, 2, include=["age", "sex", "bmi"])


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_groups(loss, diabetes):
    X, y = diabetes
    y = y if loss == "squared" else y > 140
    groups = np.array([0, 0, 1, 2, 2, 2, 3, 3, 4, 4])
    table = best_subsets(X, y, 3, 2, loss=loss, groups=groups)
    f = GLM(X, y, loss)
    for k in (1, 2, 3):
        values = sorted(
            f.refit(np.flatnonzero(np.isin(groups, some))).value for some in itertools.combinations(range(5), k)
        )
        np.testing.assert_allclose([row.value for row in table if row.k == k], values[:2], rtol=1e-6)
    assert all(row.proved for row in table)


def test_coefficients_are_the_refits(diabetes):
    X, y = diabetes
    table = best_subsets(X, y, 3)
    A = np.column_stack([X[list(table[2].names)], np.ones(len(y))])
    expected = np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_allclose([*table[2].coef, table[2].intercept], expected, rtol=1e-8)
    frame = table.to_frame(coefficients=True)
    assert frame.loc[2, "bmi"] == pytest.approx(expected[0])
    assert frame.loc[0, "s5"] == 0
    assert "deviance" not in frame
    assert best_subsets(X.to_numpy(), y, 1)[0].columns == ("x2",)


def test_what_is_printed(diabetes):
    table = best_subsets(*diabetes, 5)
    text = str(table)
    assert text.startswith("best subsets of 10 columns, 442 rows, squared loss")
    assert "bmi, bp, s5" in text
    assert "BIC: k = 5 (5 is the largest size here)" in text
    assert "rank" not in text
    assert repr(table) == text
    assert "rank" in str(best_subsets(*diabetes, 2, 2))
    assert str(type(table)()) == "no subsets"
    X, y = data("huber")
    assert not str(best_subsets(X, y, 2, loss="huber")).endswith("\n")


def test_time_is_kept_to():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 40)) + rng.standard_normal((80, 1))
    table = best_subsets(X, rng.random(80) < 0.5, 6, loss="logistic", time_limit=0.5)
    assert [row.k for row in table] == [1, 2, 3, 4, 5, 6]
    assert not table[-1].proved


def test_a_pickle(diabetes):
    table = best_subsets(*diabetes, 2)
    assert str(pickle.loads(pickle.dumps(table))) == str(table)


def test_separated_classes_are_told():
    X = np.random.default_rng(0).standard_normal((40, 4))
    table = best_subsets(X, X[:, 1] > 0, 2, loss="logistic")
    assert table[0].support == (1,)
    assert table[0].r2 == pytest.approx(1)
    assert "no finite minimiser" in str(table)
    assert np.isfinite(table.to_frame().select_dtypes("number")).all().all()


def test_the_picture(diabetes):
    table = best_subsets(*diabetes, 4, 2)
    ax = table.plot("aic", Figure().subplots())
    line = ax.lines[1]
    np.testing.assert_allclose(line.get_ydata(), [row.aic for row in table if row.rank == 1])
    assert ax.get_ylabel() == "AIC"
    assert table.best("aic").k == ax.lines[0].get_xdata()[0]
    with pytest.raises(ValueError, match="criterion must be one of"):
        table.plot("waic")
    frame = pd.DataFrame(table.to_frame())
    assert len(ax.lines) == 2 + len(frame)
