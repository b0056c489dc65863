"""Where a model of the loss costs more than it saves, the search on a working set is left out."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from pursuit import GLM, _core, solve


@pytest.mark.parametrize(("most", "called"), [(1e9, True), (1e3, False)])
def test_no_working_set_where_its_models_cost_too_much(monkeypatch, most, called):
    monkeypatch.setattr("pursuit.objectives.likelihood.MAX_MODEL_WORK", most)
    rng = np.random.default_rng(0)
    X = (rng.random((200, 30)) < 0.2) * rng.uniform(0.5, 1.5, (200, 30))
    y = (2 * X[:, 3] - 3 * X[:, 7] + rng.logistic(size=200) > 0).astype(float)
    kernel, calls = _core.working_set_search, []
    monkeypatch.setattr(_core, "working_set_search", lambda *given: calls.append(1) or kernel(*given))
    assert solve(GLM(csr_array(X), y, "logistic"), 2).support.tolist() == [3, 7]
    assert bool(calls) == called
