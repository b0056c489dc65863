"""Arrays that do not begin at multiples of their size: packed records, views of bytes, what workers receive."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import pursuit
from pursuit import _core
from pursuit.data import as_data
from pursuit.designs import as_design
from pursuit.losses import as_loss

N, P = 50, 6


def shifted(a, by=3):
    """The same numbers in the same order of axes, beginning ``by`` bytes past an aligned place."""
    a = np.asarray(a)
    flat = a.ravel(order="K")
    room = np.zeros(flat.nbytes + 16, np.uint8)
    out = room[by : by + flat.nbytes].view(flat.dtype)
    out[:] = flat
    out = out.reshape(a.shape, order="F" if a.flags.f_contiguous and a.ndim > 1 else "C")
    assert not out.flags.aligned
    return out


def packed(a):
    """The same numbers as a field of packed records, one per row."""
    a = np.asarray(a)
    records = np.zeros(len(a), np.dtype([("mark", "u1"), ("value", a.dtype, a.shape[1:])]))
    records["value"] = a
    assert not records["value"].flags.aligned
    return records["value"]


def shifted_sparse(X):
    out = X.copy()
    out.data, out.indices, out.indptr = shifted(X.data), shifted(X.indices), shifted(X.indptr)
    return out


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.7)
    y = X[:, 0] - 2.0 * X[:, 3] + 0.1 * rng.standard_normal(N)
    return X, y, rng.random(N) + 0.5, rng.standard_normal(N)


def arrays_of(it):
    X = getattr(it, "X", None)
    held = (X.data, X.indices, X.indptr) if sp.issparse(X) else vars(it).values()
    found = [value for value in held if isinstance(value, np.ndarray)]
    assert found
    return found


MISPLACED = {
    "bytes": shifted,
    "bytes, Fortran": lambda X: shifted(np.asfortranarray(X)),
    "bytes, single": lambda X: shifted(X.astype(np.float32), by=1),
    "integers": lambda X: shifted(np.round(100 * X).astype(np.int64)),
    "records": packed,
    "records, single": lambda X: packed(X.astype(np.float32)),
    "one column": lambda X: packed(X[:, 0])[:, None],
    "one row": lambda X: shifted(X[:1]),
    "CSR": lambda X: shifted_sparse(sp.csr_matrix(X)),
    "CSC, 64-bit indices": lambda X: shifted_sparse(
        sp.csc_array((lambda S: (S.data, S.indices.astype(np.int64), S.indptr.astype(np.int64)))(sp.csc_array(X)))
    ),
}


@pytest.mark.parametrize("kind", MISPLACED)
def test_a_design_is_aligned(rows, kind):
    X = MISPLACED[kind](rows[0])
    design = as_design(X)
    assert all(array.flags.aligned for array in arrays_of(design))
    plain = X.toarray() if sp.issparse(X) else np.array(X, dtype=np.float64)
    c = np.full(len(plain), 1 / len(plain))
    np.testing.assert_allclose(design.stats(c)[0], c @ plain, rtol=1e-12, atol=1e-12)


def test_an_aligned_array_is_not_copied(rows):
    for X in (rows[0], np.asfortranarray(rows[0]), rows[0].astype(np.float32)):
        assert as_design(X).X is X


@pytest.mark.parametrize("misplace", [shifted, packed])
def test_what_belongs_to_the_rows_is_aligned(rows, misplace):
    X, y, w, offset = rows
    data = as_data(X, misplace(y), as_loss("squared"), misplace(w), misplace(offset))
    assert all(array.flags.aligned for array in arrays_of(data.rows))
    both = np.column_stack([y, -y])
    for shift in (offset, both):
        f = pursuit.MultiGLM(X, misplace(both), "squared", sample_weight=misplace(w), offset=misplace(shift))
        assert all(array.flags.aligned for array in arrays_of(f.data.rows))


def received(it):
    """What a process gets that is sent something: its arrays lie anywhere in the message."""
    buffers = []
    pickled = pickle.dumps(it, protocol=5, buffer_callback=buffers.append)
    raws = [memoryview(bytearray(3 + buffer.raw().nbytes))[3:] for buffer in buffers]
    for raw, buffer in zip(raws, buffers, strict=True):
        raw[:] = buffer.raw()
    return pickle.loads(pickled, buffers=raws)


def test_messages_are_not_aligned():
    assert not received(np.arange(5.0)).flags.aligned  # or the next test tests nothing


@pytest.mark.parametrize("kind", [np.array, np.asfortranarray, sp.csr_matrix, sp.csc_matrix])
def test_what_a_worker_receives_is_aligned(rows, kind):
    X, y, w, offset = rows
    data = as_data(kind(X), (y > 0) * 1.0, as_loss("logistic"), w, offset)
    there = received(data)
    assert all(array.flags.aligned for array in (*arrays_of(there.rows), *arrays_of(there.design)))
    point = np.array([0, 3]), np.array([0.4, -1.0]), 0.2
    here, far = data.at(*point), there.at(*(received(one) for one in point))
    assert (here.value, here.gradient.tolist()) == (far.value, far.gradient.tolist())


def test_kernels_copy_small_arrays_and_refuse_a_large_one(rows):
    X, y, w, _ = rows
    matrix, cols, coef = _core.Matrix(X), np.array([4, 1]), np.array([[1.0, 0.5], [2.0, -1.0]])
    expected = matrix.matmat(cols, coef)
    for turn in (np.asarray, np.asfortranarray):
        assert np.array_equal(matrix.matmat(shifted(cols), shifted(turn(coef))), expected)
    assert np.array_equal(matrix.stats(shifted(w))[1], matrix.stats(w)[1])
    assert _core.top_k(shifted(y), 3).tolist() == _core.top_k(y, 3).tolist()
    assert _core.top_k(shifted(y)[::2], 3).tolist() == _core.top_k(y[::2], 3).tolist()
    assert np.array_equal(_core.top_k(shifted(y[:1]), 1), [0])
    S = sp.csr_matrix(X)
    given = _core.Matrix(shifted(S.data), shifted(S.indices), shifted(S.indptr), N, P, True)
    np.testing.assert_allclose(given.matmat(cols, coef), expected, rtol=1e-12, atol=1e-12)
    for X_ in (X, X.astype(np.float32)):
        with pytest.raises(ValueError, match="X must be aligned"):
            _core.Matrix(shifted(X_))


@pytest.mark.parametrize("misplace", [shifted, packed])
def test_fits_are_those_of_aligned_arrays(rows, misplace):
    X, y, w, offset = rows
    assert_same = np.testing.assert_array_equal
    for loss, target in (("squared", y), ("huber", y), ("logistic", (y > 0) * 1.0)):
        one, other = (
            pursuit.solve(
                pursuit.GLM(m(X), m(target), loss, l2=0.1, sample_weight=m(w), offset=m(offset), standardize=True),
                2,
                start=m(np.eye(P)[1]),
                bounds=(m(np.full(P, -5.0)), m(np.full(P, 5.0))),
            )
            for m in (np.asarray, misplace)
        )
        assert_same(one.coef, other.coef)
    labels = np.digitize(y, [-1.0, 1.0])
    one, other = (pursuit.SparseClassifier(k=2).fit(m(X), m(labels), m(w)) for m in (np.asarray, misplace))
    assert_same(one.coef_, other.coef_)
    assert_same(one.predict_proba(X), one.predict_proba(misplace(X)))
    G, g, mean = X.T @ X, X.T @ y, X.mean(axis=0)
    one, other = (
        pursuit.solve(pursuit.Quadratic(m(G), m(g), float(y @ y), N, mean=m(mean), ymean=y.mean()), 2)
        for m in (np.asarray, misplace)
    )
    assert_same(one.coef, other.coef)
    one, other = (pursuit.solve(pursuit.LogDet(m(np.cov(X.T))), 3) for m in (np.asarray, misplace))
    assert_same(one.coef, other.coef)
    one, other = (pursuit.SparsePrecision(3).fit(m(X)) for m in (np.asarray, misplace))
    assert_same(one.precision_, other.precision_)
