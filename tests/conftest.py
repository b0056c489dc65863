"""Shared by all tests: ``problems`` is importable from here down (``pythonpath`` in pyproject.toml)."""

import os

# Several processes run tests, and what tests compute in plain NumPy is small: more threads of BLAS only wait for each
# other, at four times the processor time in some files. The library itself runs BLAS on one thread. Before NumPy is
# imported, and for the processes that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--rewrite-golden", action="store_true", help="rewrite tests/golden/*.json from the present results"
    )


@pytest.fixture
def rng():
    """A generator seeded alike for every test."""
    return np.random.default_rng(20240229)
