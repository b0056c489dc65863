"""Numbers on their way into an experiment, the same with every SciPy and pandas that the project allows."""

import numpy as np
import pandas as pd
import scipy.sparse as sp

from problems import random_sparse
from pursuit_experiments.arht.problems import _standardised
from pursuit_experiments.diht.problems import _unit
from pursuit_experiments.folders import read_table
from pursuit_experiments.sources import diagonal


def test_a_diagonal_matrix():
    values = np.array([2.0, 0.0, -1.0])
    np.testing.assert_array_equal(diagonal(values).toarray(), np.diag(values))


def test_sparse_columns_are_standardised_but_not_centred(rng):
    X = random_sparse((60, 5), 0.4, rng)
    Z = _standardised(X)
    assert isinstance(Z, sp.csc_array)
    np.testing.assert_allclose(Z.toarray(), X.toarray() / X.toarray().std(axis=0), rtol=1e-12)


def test_rows_of_length_one(rng):
    X = _unit(random_sparse((60, 5), 0.9, rng) + sp.csr_array(np.ones((60, 5))))
    np.testing.assert_allclose(np.linalg.norm(X.toarray(), axis=1), 1.0, rtol=1e-14)


def test_a_table_is_read_to_the_last_bit(tmp_path, rng):
    table = pd.DataFrame({"seconds": rng.random(1000)})
    table.to_csv(tmp_path / "table.csv", index=False)
    np.testing.assert_array_equal(read_table(tmp_path / "table.csv")["seconds"], table["seconds"])
