"""The committed results, judged once."""

from pathlib import Path

import pytest

from pursuit_experiments.catalogue import catalogue
from pursuit_experiments.claims import verify


@pytest.fixture(scope="session")
def committed():
    """What ``verify`` says of the committed folders; tests only read it."""
    return verify(catalogue().values(), Path(__file__).parents[2] / "experiments")
