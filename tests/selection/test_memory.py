"""What choosing k needs beside X, where X is tall."""

import tracemalloc

import numpy as np
import pytest

from pursuit import GLM, SparseRegressorCV
from pursuit.data import many, rows


def traced_peak(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("combine", ["project", "none"])
def test_tall_data_need_a_few_numbers_a_row(monkeypatch, combine):
    """Weights of ten folds would be 20 numbers a row, their training rows 9 more, and predictions 24."""
    for module, name in ((many, "PREDICTORS"), (many, "PICKED"), (rows, "PICKED")):
        monkeypatch.setattr(module, name, 1 << 14)  # so that a block is small beside the rows
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30_000, 3))
    y = X[:, 0] + rng.standard_normal(len(X))
    model = SparseRegressorCV(range(4), cv=10, combine=combine, n_jobs=1)
    assert traced_peak(lambda: model.fit(X, y)) < 22 * 8 * len(X)


@pytest.mark.parametrize("centred", [True, False])
def test_products_block_by_block(monkeypatch, centred):
    rng = np.random.default_rng(1)
    X, c = 1e3 + rng.standard_normal((70, 4)), rng.random(70) * (rng.random(70) < 0.7)
    data = GLM(X, X[:, 0], sample_weight=c).data.raw
    for module in (many, rows):
        monkeypatch.setattr(module, "PICKED", 60)
    w = c / c.sum()
    A = X[:, [3, 1]] - (w @ X[:, [3, 1]] if centred else 0.0)
    np.testing.assert_allclose(data.products(np.array([3, 1]), centred), (A.T * w) @ A, rtol=1e-9)
