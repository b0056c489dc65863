"""``SparseRegressor(shared=False)``: every response has at most k features of its own."""

import pickle

import numpy as np
import pandas as pd
import pytest

from pursuit import GLM, InParts, SparseRegressor, load_model, save_model, solve

RNG = np.random.default_rng(6)
X = RNG.standard_normal((70, 9))
B = np.zeros((9, 3))
B[[0, 4], 0], B[[1, 4], 1], B[[2, 8], 2] = (1, -2), (1.5, 1), (-1, 0.7)
Y = X @ B + 0.1 * RNG.standard_normal((70, 3)) + [1, 2, 3]


@pytest.mark.parametrize("loss", ["squared", "huber", "poisson"])
def test_each_response_is_fitted_alone(loss):
    targets = np.round(np.exp(0.4 * Y)) if loss == "poisson" else Y
    offset = 0.1 * RNG.standard_normal((70, 3))
    model = SparseRegressor(k=2, loss=loss, shared=False).fit(X, targets, sample_weight=np.arange(70), offset=offset)
    expected = np.empty_like(Y)
    for j in range(3):
        alone = SparseRegressor(k=2, loss=loss).fit(X, targets[:, j], np.arange(70), offset=offset[:, j])
        np.testing.assert_array_equal(model.results_[j].support, alone.support_)
        np.testing.assert_allclose(model.coef_[j], alone.coef_, atol=1e-12)
        expected[:, j] = alone.predict(X, offset[:, j])
    np.testing.assert_allclose(model.predict(X, offset), expected, rtol=1e-12)
    assert model.coef_.shape == (3, 9)
    assert (np.count_nonzero(model.coef_, axis=1) <= 2).all()


def test_true_features():
    model = SparseRegressor(k=2, shared=False).fit(pd.DataFrame(X, columns=list("abcdefghi")), Y)
    np.testing.assert_array_equal(model.coef_ != 0, B.T != 0)
    assert model.get_feature_names_out().tolist() == list("abcei")
    assert model.result_.reason == "each response has features of its own (2, 2, 2), see results_"
    assert model.result_.value == pytest.approx(sum(solve(GLM(X, y), 2).value for y in Y.T))
    assert "a" in str(model.summary())
    assert model.score(pd.DataFrame(X, columns=list("abcdefghi")), Y) > 0.98


def test_one_response_and_a_second_fit():
    model = SparseRegressor(k=2, shared=False).fit(X, Y)
    model.fit(X, Y[:, 0])
    assert not hasattr(model, "results_")
    np.testing.assert_array_equal(model.coef_, SparseRegressor(k=2).fit(X, Y[:, 0]).coef_)


def test_files_and_copies(tmp_path):
    model = SparseRegressor(k=2, shared=False).fit(X, Y)
    for other in (pickle.loads(pickle.dumps(model)), load_model(save_model(model, tmp_path / "m.json"))):
        np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-12)
    np.testing.assert_allclose(model.to_sklearn().predict(X), model.predict(X), rtol=1e-12)


def test_wrong_calls(tmp_path):
    with pytest.raises(TypeError, match="each response"):
        SparseRegressor(shared=False).fit(X, Y, checkpoint=tmp_path / "c")
    with pytest.raises((TypeError, ValueError), match="shared"):
        SparseRegressor(shared="no").fit(X, Y)
    with pytest.raises(ValueError, match="shared=False"):
        SparseRegressor(shared=False).fit(InParts([(X, Y)]))


def test_dynamics_from_noisy_trajectories():
    """The terms of the Lorenz system, by pysindy, from measurements with noise."""
    pysindy = pytest.importorskip("pysindy", reason="pysindy is not installed")
    from scipy.integrate import solve_ivp

    def lorenz(_, u):
        x, y, z = u
        return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]

    t = np.arange(0, 10, 0.002)
    u = solve_ivp(lorenz, (0, 10), [-8, 8, 27], t_eval=t, rtol=1e-10, atol=1e-10).y.T
    noisy = u + 0.01 * np.random.default_rng(0).standard_normal(u.shape)
    sparse = pysindy.WrappedOptimizer(SparseRegressor(k=3, shared=False, fit_intercept=False))
    model = pysindy.SINDy(
        optimizer=sparse,
        feature_library=pysindy.PolynomialLibrary(degree=2),
        differentiation_method=pysindy.SmoothedFiniteDifference(smoother_kws={"window_length": 51}),
    )
    model.fit(noisy, t=t, feature_names=["x", "y", "z"])
    found = dict(zip(model.get_feature_names(), model.coefficients().T, strict=True))
    truth = {"x": (-10, 28, 0), "y": (10, -1, 0), "z": (0, 0, -8 / 3), "x z": (0, -1, 0), "x y": (0, 0, 1)}
    for name, coefficients in found.items():
        expected = np.array(truth.get(name, (0, 0, 0)))
        needed = expected != 0
        np.testing.assert_allclose(coefficients[needed], expected[needed], rtol=0.05)
