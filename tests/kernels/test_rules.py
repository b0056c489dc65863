"""What holds for every kernel: threads, repeatability, types, sizes, forks."""

import multiprocessing
import threading

import numpy as np
import pytest
import scipy.sparse as sp

from pursuit import _core

N, P, M = 900, 700, 30


def calls(rng):
    """Name, and a call with inputs large enough to be shared among threads."""
    X = rng.normal(size=(N, P))
    y, c = (rng.random(N) < 0.5).astype(float), rng.random(N) / N
    cols, coef = np.sort(rng.choice(P, M, replace=False)), rng.normal(size=M)
    out = {"top_k": lambda: _core.top_k(X.ravel(), 50)}
    long = rng.normal(size=300_000)
    out["pointwise"] = lambda: _core.pointwise(1, 0.0, long * 0, long, np.abs(long))
    w = np.asfortranarray(rng.normal(size=(N, 9)))
    for order in "CF":
        for dtype in (np.float64, np.float32):
            Z = np.array(X, dtype=dtype, order=order)
            tag = f"{order}-{np.dtype(dtype).name}"
            out[f"dense_value_gradient {tag}"] = lambda Z=Z: _core.dense_value_gradient(
                Z, y, c, None, 1, 0.0, cols, coef, 0.1
            )
            out[f"dense_matmat {tag}"] = lambda Z=Z: _core.dense_matmat(Z, cols, w[:M, :])
            out[f"dense_rmatmat {tag}"] = lambda Z=Z: _core.dense_rmatmat(Z, w)
            out[f"dense_gather {tag}"] = lambda Z=Z: _core.dense_gather(Z, np.tile(cols, 20))
            out[f"dense_cross {tag}"] = lambda Z=Z: _core.dense_cross(w, Z)
            out[f"dense_stats {tag}"] = lambda Z=Z: _core.dense_stats(Z, c)
    A = np.asfortranarray(rng.normal(size=(6000, 40)))
    v, ty = rng.random(6000), np.repeat([0.0, 1.0], 3000)
    out["dense_gram"] = lambda: _core.dense_gram(A, v)
    out["dense_newton"] = lambda: _core.dense_newton(A, ty, v, None, 1, 0.0, A[0].copy(), 0.1, True)
    S = sp.csr_matrix(X * (rng.random((N, P)) < 0.5))
    for T, rows in ((S, True), (S.tocsc(), False)):
        a = (T.data, T.indices, T.indptr)
        tag = T.format
        out[f"sparse_value_gradient {tag}"] = lambda a=a, rows=rows: _core.sparse_value_gradient(
            *a, P, rows, y, c, None, 1, 0.0, cols, coef, 0.1
        )
        out[f"sparse_matmat {tag}"] = lambda a=a, rows=rows: _core.sparse_matmat(*a, N, P, rows, cols, w[:M, :])
        out[f"sparse_rmatmat {tag}"] = lambda a=a, rows=rows: _core.sparse_rmatmat(*a, P, rows, w)
        out[f"sparse_gather {tag}"] = lambda a=a, rows=rows: _core.sparse_gather(*a, N, P, rows, cols)
        out[f"sparse_gather_csc {tag}"] = lambda a=a, rows=rows: _core.sparse_gather_csc(*a, N, P, rows, cols)
        out[f"sparse_cross {tag}"] = lambda a=a, rows=rows: _core.sparse_cross(w, *a, P, rows)
        out[f"sparse_stats {tag}"] = lambda a=a, rows=rows: _core.sparse_stats(*a, N, P, rows, c)
    G = _core.sparse_gather_csc(S.data, S.indices, S.indptr, N, P, True, cols)
    out["csc_gram"] = lambda: _core.csc_gram(*G, N, c)
    out["csc_newton"] = lambda: _core.csc_newton(*G, y, c, None, 1, 0.0, coef, 0.1, True)
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
    queue.put((_core.get_threads(), _core.dense_rmatmat(X, d)))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork")  # of JAX, when its tests ran before in this process
def test_a_forked_child_works_on_one_thread(rng):
    X, d = rng.normal(size=(3000, 1000)), rng.normal(size=(3000, 1))
    expected = _core.dense_rmatmat(X, d)
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
    X, d = rng.normal(size=(3000, 900)), rng.normal(size=(3000, 1))
    expected = _core.dense_rmatmat(X, d)
    found = [None] * 4

    def work(i):
        for _ in range(5):
            found[i] = _core.dense_rmatmat(X, d)

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


@pytest.mark.parametrize("wrong", [np.float32, np.int64, np.float16, ">f8", np.complex128])
def test_wrong_types_are_type_errors(wrong):
    bad = ONES.astype(wrong)
    good = (SQUARE, ONES, ONES, None, 0, 0.0, INDEX, np.ones(2), 0.0)
    for at, value in [(1, bad), (2, bad), (3, bad), (7, bad[:2]), (6, INDEX.astype(np.int32)), (6, np.ones(2))]:
        args = list(good)
        args[at] = value
        with pytest.raises(TypeError):
            _core.dense_value_gradient(*args)
    for X in (SQUARE.astype(np.int64), SQUARE.astype(">f8"), SQUARE.astype(np.float16), SQUARE[0], [[1.0]]):
        with pytest.raises(TypeError):
            _core.dense_rmatmat(X, np.ones((4, 1)))
    with pytest.raises(TypeError):
        _core.dense_gram(SQUARE, bad)
    with pytest.raises(TypeError):
        _core.top_k(ONES.astype(np.int64), 1)
    with pytest.raises(TypeError):
        _core.sparse_rmatmat(CSR.data, CSR.indices, CSR.indptr.astype(np.int64), 4, True, np.ones((4, 1)))


def vg(**change):
    args = {
        "X": SQUARE,
        "y": ONES,
        "c": ONES,
        "offset": None,
        "loss": 0,
        "param": 0.0,
        "cols": INDEX,
        "coef": np.ones(2),
        "b": 0.0,
    }
    return _core.dense_value_gradient(**(args | change))


BAD_SIZES = {
    "y": lambda: vg(y=np.ones(3)),
    "c": lambda: vg(c=np.ones(5)),
    "offset": lambda: vg(offset=np.ones(1)),
    "coef": lambda: vg(coef=np.ones(3)),
    "column": lambda: vg(cols=np.array([0, 4])),
    "negative column": lambda: vg(cols=np.array([-1, 0])),
    "loss": lambda: vg(loss=7),
    "stride": lambda: vg(X=np.ones((8, 8))[::2, ::2]),
    "matmat": lambda: _core.dense_matmat(SQUARE, INDEX, np.ones((3, 1))),
    "rmatmat": lambda: _core.dense_rmatmat(SQUARE, np.ones((3, 1))),
    "gather": lambda: _core.dense_gather(SQUARE, np.array([9])),
    "cross": lambda: _core.dense_cross(np.ones((3, 1)), SQUARE),
    "stats": lambda: _core.dense_stats(SQUARE, np.ones(3)),
    "gram": lambda: _core.dense_gram(SQUARE, np.ones(3)),
    "newton": lambda: _core.dense_newton(SQUARE, ONES, ONES, None, 0, 0.0, np.ones(3), 0.0, True),
    "pointwise": lambda: _core.pointwise(0, 0.0, ONES, np.ones(3), ONES),
    "sparse shape": lambda: _core.sparse_gather(*PARTS, 5, 4, True, INDEX),
    "sparse column": lambda: _core.sparse_gather(*PARTS, 4, 4, True, np.array([4])),
    "sparse rows": lambda: _core.sparse_rmatmat(*PARTS, 4, True, np.ones((3, 1))),
    "sparse columns": lambda: _core.sparse_rmatmat(*PARTS, 5, False, np.ones((4, 1))),
    "sparse data": lambda: _core.sparse_rmatmat(ONES[:2], *PARTS[1:], 4, True, np.ones((4, 1))),
    "sparse indptr": lambda: _core.sparse_rmatmat(*PARTS[:2], PARTS[2] + np.int32(3), 4, True, np.ones((4, 1))),
    "sparse stats": lambda: _core.sparse_stats(*PARTS, 4, 4, True, np.ones(3)),
    "empty indptr": lambda: _core.csc_gram(np.ones(0), np.zeros(0, np.int64), np.zeros(0, np.int64), 3, np.ones(3)),
    "hinge": lambda: _core.hinge_dual(SQUARE, ONES, ONES, None, 1.0, 1.0, 0.0, np.ones(3), 0.1, 5, 0),
}


@pytest.mark.parametrize("name", BAD_SIZES)
def test_wrong_sizes_are_value_errors(name):
    with pytest.raises(ValueError):
        BAD_SIZES[name]()


def test_scalars_may_be_numpy_scalars():
    value, _, _ = vg(loss=np.int64(0), param=np.float64(0), b=np.float64(1))
    assert value == vg(b=1)[0]
    assert _core.top_k(ONES, np.int64(2)).tolist() == [0, 1]
