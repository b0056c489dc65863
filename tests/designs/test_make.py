"""What X may be, and what is said where it may not."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from pursuit import GLM, InParts, MultiGLM, SparseClassifier, SparseRegressor, as_design
from pursuit.designs import Rows
from pursuit.losses import Huber, as_loss


def broken(kind, what):
    X = sp.random(20, 6, density=0.4, format=kind, random_state=0)
    if what == "index too large":
        X.indices[3] = 10**6
    elif what == "negative index":
        X.indices[3] = -1
    elif what == "falling indptr":
        X.indptr[2], X.indptr[3] = X.indptr[3] + 5, X.indptr[2]
    elif what == "indptr past the end":
        X.indptr[-1] += 100
    elif what == "indptr not from 0":
        X.indptr[0] = 2
    elif what == "indptr whose differences overflow":
        X.indptr[2], X.indptr[3] = np.iinfo(np.int32).max, -5
    elif what == "indices longer than data":
        X.indices = np.append(X.indices, X.indices[-1:])
    return X


WRONG = {
    "index too large": "indices must lie between 0 and",
    "negative index": "indices must lie between 0 and",
    "falling indptr": "indptr must rise from 0",
    "indptr past the end": "indptr points past the end",
    "indptr not from 0": "indptr must rise from 0",
    "indptr whose differences overflow": "indptr must rise from 0",
    "indices longer than data": "indices and data differ in length",
}


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("what", WRONG)
def test_a_broken_sparse_matrix_is_told(kind, what):
    X = broken(kind, what)
    with pytest.raises(ValueError, match=f"X is a broken sparse matrix: {WRONG[what]}"):
        as_design(X)
    with pytest.raises(ValueError, match=r"broken sparse matrix|indptr|indices"):
        SparseRegressor(2).fit(X, np.arange(20.0))


def test_spare_room_behind_the_entries_is_not_looked_at():
    X = sp.random(20, 6, density=0.4, format="csr", random_state=0)
    dense = X.toarray()
    X.data, X.indices = np.append(X.data, np.nan), np.append(X.indices, np.int32(-7))
    np.testing.assert_array_equal(as_design(X).block(np.arange(6)).dense(), dense)


@pytest.mark.parametrize("strides", [(8, 8), (0, 8), (8, 0), (-8, 8), (800, 8)])
def test_lines_that_overlap_or_run_backwards(strides):
    """A leading dimension that BLAS would not take: the same numbers as of a plain copy."""
    base = np.random.default_rng(0).standard_normal(4000)
    X = np.lib.stride_tricks.as_strided(base[40:], (30, 9), strides)
    w = np.asfortranarray(np.random.default_rng(1).standard_normal((30, 5)))
    np.testing.assert_allclose(as_design(X).cross(w), w.T @ X.copy(), atol=1e-12)
    np.testing.assert_allclose(as_design(X).rmatmat(w), X.copy().T @ w, atol=1e-12)


@pytest.mark.parametrize("shape", [(1, 9), (9, 1), (1, 1)])
@pytest.mark.parametrize("strides", [(8, 8), (0, 0), (72, 8), (24, 16)])
def test_one_row_or_column_whatever_its_strides(shape, strides):
    X = np.lib.stride_tricks.as_strided(np.arange(400.0), shape, strides)
    w = np.asfortranarray(np.ones((shape[0], 5)))
    np.testing.assert_array_equal(as_design(X).cross(w), w.T @ X.copy())
    np.testing.assert_array_equal(as_design(X).block(np.arange(shape[1])).gram(np.ones(shape[0])), X.T @ X.copy())


def test_more_columns_than_can_be_handled():
    X = sp.csr_array((np.ones(2), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2**40))
    with pytest.raises(ValueError, match="X has 1099511627776 columns, and at most 100000000 can be handled"):
        GLM(X, np.array([0.0, 1.0]))


def test_a_mask_is_not_ignored():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    hidden = np.ma.masked_array(X, mask=X > 1)
    targets = np.ma.masked_array(y, mask=y > 1)
    for run in (lambda: GLM(hidden, y), lambda: SparseRegressor(2).fit(hidden, y)):
        with pytest.raises(ValueError, match=r"X is a masked array with .* masked entries"):
            run()
    for run in (lambda: GLM(X, targets), lambda: SparseRegressor(2).fit(X, targets)):
        with pytest.raises(ValueError, match="y is a masked array"):
            run()
    with pytest.raises(ValueError, match="sample_weight is a masked array"):
        GLM(X, y, sample_weight=np.ma.masked_array(np.ones(20), mask=y > 1))
    GLM(np.ma.masked_array(X), y)  # nothing is hidden


def test_an_identifier_is_no_class():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((100, 3))
    with pytest.raises(ValueError, match="100 different labels in 100 rows: an identifier"):
        SparseClassifier(2).fit(X, [f"customer {i}" for i in range(100)])


@pytest.mark.parametrize("take", [copy.copy, copy.deepcopy, lambda kept: pickle.loads(pickle.dumps(kept))])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array])
def test_copies_and_pickles_make_their_compiled_side_anew(kind, take):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 6)) * (rng.random((30, 6)) < 0.15)
    rows, loss, cols = Rows(rng.standard_normal(30), np.full(30, 1 / 30)), as_loss("squared"), np.arange(3)
    design = as_design(kind(X))
    block = design.block(cols)
    want = design.value_gradient(loss, rows, cols, np.ones(3), 0.1), block.newton(loss, rows, np.ones(3), 0.1, True)
    there, few, samples = take((design, block, rows)) if take is not copy.copy else map(take, (design, block, rows))
    assert "core" not in vars(there)
    found = there.value_gradient(loss, samples, cols, np.ones(3), 0.1), few.newton(loss, samples, np.ones(3), 0.1, True)
    for a, b in zip((*want[0], *want[1]), (*found[0], *found[1]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_samples_are_made_once_per_loss_and_never_for_other_rows():
    rows = Rows(np.ones(4), np.full(4, 0.25))
    assert rows.samples(as_loss("squared")) is rows.samples(as_loss("squared"))
    assert rows.samples(Huber(1.0)) is not rows.samples(Huber(2.0))
    other = replace(rows, y=np.zeros(4))
    assert other.samples(as_loss("squared")).terms(np.zeros(4))[0] == 0.0
    assert rows.samples(as_loss("squared")).terms(np.zeros(4))[0] == 0.5


@pytest.mark.parametrize("make", [MultiGLM, lambda X, y: SparseClassifier(k=1).fit(X, y)])
@pytest.mark.parametrize("parts", [False, True])
def test_more_classes_than_fit_into_memory_are_refused(make, parts):
    y = np.tile(np.arange(100_000), 3)
    X = np.ones((len(y), 1))
    given = (InParts([(X, y)]), None) if parts else (X, y)
    with pytest.raises(ValueError, match="y holds 100000 classes in 300000 rows"):
        make(*given)
