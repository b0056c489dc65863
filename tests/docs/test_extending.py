"""What docs/extending.md tells people to write works as it stands."""

import re
from pathlib import Path

import numpy as np
import pytest

import pursuit
from pursuit.losses import base as losses
from pursuit.solvers import base as solvers

TEXT = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()


@pytest.fixture
def written(monkeypatch, rng):
    """The names that the page's examples define, run in order on some data."""
    monkeypatch.setattr(losses, "_registry", dict(losses._registry))
    monkeypatch.setattr(solvers, "_registry", dict(solvers._registry))
    X = rng.standard_normal((60, 12))
    names = {"X": X, "y": X[:, 3] - X[:, 7] + 0.1 * rng.standard_normal(60)}
    for code in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        exec(code, names)
    return names


def test_a_registered_loss_can_be_saved_and_read(written, tmp_path):
    model = pursuit.SparseRegressor(k=2, loss="log_cosh").fit(written["X"], written["y"])
    assert model.support_.tolist() == [3, 7]
    path = pursuit.save_model(model, tmp_path / "m.json")
    np.testing.assert_allclose(pursuit.load_model(path).predict(written["X"]), model.predict(written["X"]))
    del losses._registry["log_cosh"]
    with pytest.raises(ValueError, match="loss 'log_cosh' is unknown"):
        pursuit.load_model(path)


def test_a_registered_solver_has_a_name(written):
    assert 'pursuit.solvers.register("swap", Swap)' in TEXT
    pursuit.solvers.register("swap", written["Swap"])
    assert pursuit.solve(written["objective"], 2, solver="Swap").solver == "swap"
    assert "swap" in pursuit.list_solvers()


def test_an_objective_of_ones_own_is_solved(written):
    Q = np.diag([1.0, 2.0, 3.0])
    result = pursuit.solve(written["Quadratic"](Q, np.array([1.0, -4.0, 1.0])), 1)
    assert result.support.tolist() == [1]
    assert result.value == pytest.approx(-4.0)


def test_a_path_goes_on_from_step_to_step(written):
    assert written["result"].k == 8
    assert written["result"].value == pytest.approx(
        pursuit.solve(written["objective"], 8, solver="omp", exclude=[2]).value
    )
