"""What holds for every kernel: threads, repeatability, types, sizes, forks."""

import copy
import gc
import multiprocessing
import pickle
import threading
import weakref

import numpy as np
import pytest
import scipy.sparse as sp

from pursuit import _core

N, P, M = 900, 700, 30


def compiled(S):
    return _core.Matrix(S.data, S.indices, S.indptr, *S.shape, S.format == "csr")


def calls(rng):
    """Name, and a call with inputs large enough to be shared among threads."""
    X = rng.normal(size=(N, P))
    y, c = (rng.random(N) < 0.5).astype(float), rng.random(N) / N
    cols, coef = np.sort(rng.choice(P, M, replace=False)), rng.normal(size=M)
    out = {"top_k": lambda: _core.top_k(X.ravel(), 50)}
    long = rng.normal(size=300_000)
    out["terms"] = lambda: _core.Samples(long * 0, np.abs(long), None, 1, 0.0).terms(long)
    w, samples = np.asfortranarray(rng.normal(size=(N, 9))), _core.Samples(y, c, None, 1, 0.0)
    S = sp.csr_matrix(X * (rng.random((N, P)) < 0.5))
    forms = {S.format: compiled(S), "csc": compiled(S.tocsc())}
    for order in "CF":
        for dtype in (np.float64, np.float32):
            forms[f"{order}-{np.dtype(dtype).name}"] = _core.Matrix(np.array(X, dtype=dtype, order=order))
    for tag, Z in forms.items():
        out[f"value_gradient {tag}"] = lambda Z=Z: Z.value_gradient(samples, cols, coef, 0.1)
        out[f"matmat {tag}"] = lambda Z=Z: Z.matmat(cols, w[:M, :])
        out[f"rmatmat {tag}"] = lambda Z=Z: Z.rmatmat(w)
        out[f"gather {tag}"] = lambda Z=Z: Z.gather(np.tile(cols, 20))
        out[f"cross {tag}"] = lambda Z=Z: Z.cross(w)
        out[f"stats {tag}"] = lambda Z=Z: Z.stats(c)
        out[f"gram {tag}"] = lambda Z=Z: Z.gram(c)
        out[f"row_hashes {tag}"] = lambda Z=Z: Z.row_hashes(0)
        if tag in ("csr", "csc"):
            out[f"gather_csc {tag}"] = lambda Z=Z: Z.gather_csc(cols)
    A, v = rng.normal(size=(6000, 40)), rng.random(6000)
    tall, many = _core.Matrix(np.asfortranarray(A)), _core.Samples(np.repeat([0.0, 1.0], 3000), v, None, 1, 0.0)
    out["dense gram"] = lambda: tall.gram(v)
    out["dense newton"] = lambda: tall.newton(many, A[0].copy(), 0.1, True)
    few = _core.Matrix(*forms["csr"].gather_csc(cols), N, M, False)
    out["csc gram"] = lambda: few.gram(c)
    out["csc newton"] = lambda: few.newton(samples, coef, 0.1, True)
    return out


NAMES = list(calls(np.random.default_rng(0)))


def flat(result):
    parts = result if isinstance(result, tuple) else (result,)
    return [np.asarray(part) for part in parts if part is not None]


@pytest.fixture(scope="module")
def all_calls():
    return calls(np.random.default_rng(1))


@pytest.mark.parametrize("name", NAMES)
def test_thread_counts_agree_and_repeat(name, all_calls):
    before = _core.get_threads()
    found = {}
    try:
        for threads in (1, 2, 3):
            _core.set_threads(threads)
            found[threads] = flat(all_calls[name]())
            for _ in range(3):
                for a, b in zip(found[threads], flat(all_calls[name]()), strict=True):
                    assert a.tobytes() == b.tobytes()
    finally:
        _core.set_threads(before)
    for threads in (2, 3):
        for a, b in zip(found[1], found[threads], strict=True):
            scale = max(1e-300, float(np.max(np.abs(a), initial=0.0)))
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * scale)


def test_thread_count_belongs_to_the_calling_thread():
    before = _core.set_threads(1)
    seen = []
    worker = threading.Thread(target=lambda: seen.append((_core.set_threads(3), _core.get_threads())))
    worker.start()
    worker.join()
    assert seen == [(before, 3)] or seen[0][1] == 3
    assert _core.get_threads() == 1
    assert _core.set_threads(before) == 1
    with pytest.raises(ValueError):
        _core.set_threads(0)


def child(X, d, queue):
    queue.put((_core.get_threads(), X.rmatmat(d)))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork")  # of JAX, when its tests ran before in this process
def test_a_forked_child_works_on_one_thread(rng):
    X, d = _core.Matrix(rng.normal(size=(3000, 1000))), rng.normal(size=(3000, 1))
    expected = X.rmatmat(d)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    process = context.Process(target=child, args=(X, d, queue))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    threads, found = queue.get()
    assert threads == 1
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-10)


def test_threads_may_call_at_once(rng):
    X, d = _core.Matrix(rng.normal(size=(3000, 900))), rng.normal(size=(3000, 1))
    expected = X.rmatmat(d)
    found = [None] * 4

    def work(i):
        for _ in range(5):
            found[i] = X.rmatmat(d)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for result in found:
        np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-10)


ONES, INDEX = np.ones(4), np.arange(2)
SQUARE = np.eye(4)
CSR = sp.csr_matrix(SQUARE)
PARTS = (CSR.data, CSR.indices, CSR.indptr)
X, S = _core.Matrix(SQUARE), compiled(CSR)
SAMPLES = _core.Samples(ONES, ONES, None, 0, 0.0)


@pytest.mark.parametrize("wrong", [np.float32, np.int64, np.float16, ">f8", np.complex128])
def test_wrong_types_are_type_errors(wrong):
    bad = ONES.astype(wrong)
    for given in ((bad, ONES, None), (ONES, bad, None), (ONES, ONES, bad)):
        with pytest.raises(TypeError):
            _core.Samples(*given, 0, 0.0)
    for cols, coef in ((INDEX, bad[:2]), (INDEX.astype(np.int32), np.ones(2)), (np.ones(2), np.ones(2))):
        with pytest.raises(TypeError):
            X.value_gradient(SAMPLES, cols, coef, 0.0)
    for array in (SQUARE.astype(np.int64), SQUARE.astype(">f8"), SQUARE.astype(np.float16), SQUARE[0], [[1.0]]):
        with pytest.raises(TypeError):
            _core.Matrix(array)
    with pytest.raises(TypeError):
        X.gram(bad)
    with pytest.raises(TypeError):
        X.newton(None, ONES, 0.0, True)
    with pytest.raises(TypeError):
        _core.top_k(ONES.astype(np.int64), 1)
    with pytest.raises(TypeError):
        _core.Matrix(CSR.data, CSR.indices, CSR.indptr.astype(np.int64), 4, 4, True)


BAD_SIZES = {
    "y": lambda: X.value_gradient(_core.Samples(np.ones(3), np.ones(3), None, 0, 0.0), INDEX, np.ones(2), 0.0),
    "c": lambda: _core.Samples(ONES, np.ones(5), None, 0, 0.0),
    "offset": lambda: _core.Samples(ONES, ONES, np.ones(1), 0, 0.0),
    "empty offset": lambda: _core.Samples(ONES, ONES, np.ones(0), 0, 0.0),
    "coef": lambda: X.value_gradient(SAMPLES, INDEX, np.ones(3), 0.0),
    "column": lambda: X.value_gradient(SAMPLES, np.array([0, 4]), np.ones(2), 0.0),
    "negative column": lambda: X.value_gradient(SAMPLES, np.array([-1, 0]), np.ones(2), 0.0),
    "loss": lambda: _core.Samples(ONES, ONES, None, 7, 0.0),
    "negative loss": lambda: _core.Samples(ONES, ONES, None, -1, 0.0),
    "stride": lambda: _core.Matrix(np.ones((8, 8))[::2, ::2]),
    "matmat": lambda: X.matmat(INDEX, np.ones((3, 1))),
    "rmatmat": lambda: X.rmatmat(np.ones((3, 1))),
    "gather": lambda: X.gather(np.array([9])),
    "cross": lambda: X.cross(np.ones((3, 1))),
    "shift": lambda: X.cross(np.ones((4, 1)), np.ones(3)),
    "stats": lambda: X.stats(np.ones(3)),
    "gram": lambda: X.gram(np.ones(3)),
    "newton": lambda: X.newton(SAMPLES, np.ones(3), 0.0, True),
    "terms": lambda: SAMPLES.terms(np.ones(3)),
    "a dense X as CSC": lambda: X.gather_csc(INDEX),
    "a sparse X narrowed": lambda: S.narrow(INDEX, np.ones((4, 2), np.float32)),
    "sparse shape": lambda: _core.Matrix(*PARTS, 5, 4, True),
    "sparse column": lambda: S.gather(np.array([4])),
    "sparse rows": lambda: S.rmatmat(np.ones((3, 1))),
    "sparse columns": lambda: _core.Matrix(*PARTS, 4, 5, False),
    "sparse data": lambda: _core.Matrix(ONES[:2], *PARTS[1:], 4, 4, True),
    "sparse indptr": lambda: _core.Matrix(*PARTS[:2], PARTS[2] + np.int32(3), 4, 4, True),
    "sparse stats": lambda: S.stats(np.ones(3)),
    "empty indptr": lambda: _core.Matrix(np.ones(0), np.zeros(0, np.int64), np.zeros(0, np.int64), 3, 0, False),
    "hinge": lambda: _core.hinge_dual(SQUARE, SAMPLES, 1.0, 1.0, 0.0, np.ones(3), 0.1, 5, 0),
}


@pytest.mark.parametrize("name", BAD_SIZES)
def test_wrong_sizes_are_value_errors(name):
    with pytest.raises(ValueError):
        BAD_SIZES[name]()


def test_scalars_may_be_numpy_scalars():
    samples = _core.Samples(ONES, ONES, None, np.int64(0), np.float64(0))
    value, _, _ = X.value_gradient(samples, INDEX, np.ones(2), np.float64(1))
    assert value == X.value_gradient(SAMPLES, INDEX, np.ones(2), 1)[0]
    assert _core.top_k(ONES, np.int64(2)).tolist() == [0, 1]


@pytest.mark.parametrize("kept", [X, S, SAMPLES], ids=["dense", "sparse", "samples"])
def test_what_holds_arrays_is_not_pickled(kept):
    for take in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="pickle"):
            take(kept)


def test_arrays_live_as_long_as_what_holds_them_and_no_longer():
    arrays = [np.ones((5, 3)), *(np.array(part) for part in PARTS), np.ones(5), np.ones(5), np.ones(5)]
    gone = [weakref.ref(array) for array in arrays]
    dense, *parts, y, c, offset = arrays
    held = _core.Matrix(dense), _core.Matrix(*parts, 4, 4, True), _core.Samples(y, c, offset, 0, 0.0)
    gc.disable()
    try:
        del arrays, dense, parts, y, c, offset
        assert all(ref() is not None for ref in gone)
        np.testing.assert_array_equal(held[0].rmatmat(np.ones((5, 1))), np.full((3, 1), 5.0))
        np.testing.assert_array_equal(held[1].rmatmat(np.ones((4, 1))), np.ones((4, 1)))
        assert held[2].terms(np.ones(5))[0] == 0.0
        del held
        assert all(ref() is None for ref in gone)
    finally:
        gc.enable()


def test_strided_samples_are_copied_and_others_read_in_place():
    y, wide = np.zeros(4), np.zeros(8)
    plain, strided = (_core.Samples(t, ONES, None, 0, 0.0) for t in (y, wide[::2]))
    y[:], wide[:] = 1.0, 1.0
    assert plain.terms(np.zeros(4))[0] == 2.0
    assert strided.terms(np.zeros(4))[0] == 0.0
