"""Shared by all tests: ``problems`` is importable from here down (``pythonpath`` in pyproject.toml)."""

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
