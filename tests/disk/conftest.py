import numpy as np
import pytest


@pytest.fixture
def table():
    """Numbers with names: 500 rows, 6 columns, a target that two of them make."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6)) + np.array([0, 0, 100, 0, 5, -2])
    y = 2 * X[:, 1] - X[:, 4] + 0.1 * rng.normal(size=500)
    return X, y, [f"v{j}" for j in range(6)]


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks and chunks so small that a few hundred rows make several."""
    from pursuit.data.disk import write
    from pursuit.io import _chunks

    monkeypatch.setattr(write, "BLOCK_BYTES", 4096)
    monkeypatch.setattr(write, "MIN_VECTORS_PER_BLOCK", 1)
    monkeypatch.setattr(_chunks, "CHUNK_BYTES", 2048)
    monkeypatch.setattr(_chunks, "TEXT_CHUNK_BYTES", 2048)
