"""One output, three responses and three classes on Dask workers: the same as here, and rows stay there."""

import numpy as np
import pytest

import pursuit
from pursuit.refits import ColumnsInParts

da = pytest.importorskip("dask.array")

N, P, K = 120, 6, 2
rng = np.random.default_rng(7)
X = rng.standard_normal((N, P))
RESPONSES = X[:, [0, 3]] @ rng.standard_normal((2, 3)) + 0.3 * rng.standard_normal((N, 3))
TARGETS = {
    "one": (RESPONSES[:, 0], "squared"),
    "responses": (RESPONSES, "squared"),
    "classes": ((RESPONSES + 0.4 * rng.standard_normal((N, 3))).argmax(axis=1), "multinomial"),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_solvers_on_workers(kind, client, monkeypatch):
    y, loss = TARGETS[kind]
    here = pursuit.GLM(X, y, loss, l2=0.01)
    there = pursuit.GLM(da.from_array(X, chunks=(40, P)), da.from_array(y, chunks=(40, *y.shape[1:])), loss, l2=0.01)

    def refuse(self):
        raise AssertionError("rows of all workers were brought together")

    monkeypatch.setattr(ColumnsInParts, "gather_columns", refuse)
    support = here.coordinates(np.array([1, 4]))
    assert there.refit_on_data(support).value == pytest.approx(here.refit_on_data(support).value, rel=1e-10)
    for solver in ("auto", "grahtp", "ompr"):
        one, other = (pursuit.solve(f, K, solver=solver) for f in (here, there))
        assert np.array_equal(one.support, other.support)
        assert other.value == pytest.approx(one.value, rel=1e-9)
