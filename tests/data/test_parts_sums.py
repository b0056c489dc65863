"""Objects over several parts add up the answers of the methods that they name, and have no others."""

import numpy as np
import pytest

from pursuit import GLM, InParts


def test_a_misspelt_method_is_an_attribute_error():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 3)), rng.standard_normal(12)
    data = GLM(InParts([(X[:5], y[:5]), (X[5:], y[5:])])).data
    batch = data.batch(np.array([0, 2]), np.ones((1, 2, 1)))
    total = sum(part.batch(np.array([0, 2]), np.ones((1, 2, 1))).losses(np.zeros((1, 1))) for part in data.parts)
    np.testing.assert_allclose(batch.losses(np.zeros((1, 1))), total)
    with pytest.raises(AttributeError, match="loses"):
        batch.loses(np.zeros((1, 1)))
