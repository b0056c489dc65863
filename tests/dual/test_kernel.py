"""The sweep kernels against NumPy: the same moves, by SciPy's scalar maximiser."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar

from dual.instances import LOSSES, data
from pursuit import _core
from pursuit.losses import as_loss


def twin(loss, X, y, c, offset, order, gain, cols, pairs, damp, a, v):
    """One sweep, sample by sample, each move found by golden section on D itself."""
    a, v = a.copy(), v.copy()
    low, high = loss.dual_domain(y)
    groups = order[: len(order) // 2 * 2].reshape(-1, 2) if pairs else order[:, None]
    for group in groups:
        sign = np.array([1.0, -1.0])[: len(group)]
        if (c[group] == 0).any():
            continue
        ends = [np.sort([c[i] * s * (low[i] - a[i]), c[i] * s * (high[i] - a[i])]) for i, s in zip(group, sign)]
        left, right = max(-50.0, *(e[0] for e in ends)), min(50.0, *(e[1] for e in ends))
        row = sign @ X[group]
        r = row[cols] @ v[cols] + sign @ offset[group]
        h = row[cols] ** 2 @ gain[cols]

        def fall(d, group=group, sign=sign, r=r, h=h):
            moved = np.clip(a[group] + sign * d / c[group], low[group], high[group])
            return c[group] @ loss.conjugate(y[group], moved) - r * d + h * d * d / 2

        d = minimize_scalar(fall, bounds=(left, right), method="bounded", options={"xatol": 1e-12}).x
        d *= damp
        a[group] = np.clip(a[group] + sign * d / c[group], low[group], high[group])
        v -= d * row * gain
    return a, v


LAYOUTS = ["dense_c", "dense_f", "float32", "csr", "csr_64"]


def sweep(layout, X, y, c, offset, loss, *rest):
    if layout.startswith("csr"):
        S = sp.csr_array(X)
        kind = np.int64 if layout == "csr_64" else np.int32
        matrix = _core.Matrix(S.data, S.indices.astype(kind), S.indptr.astype(kind), *X.shape, True)
        return matrix.dual_sweep(_core.Samples(y, c, offset, loss.code, loss.param), *rest)
    make = {"dense_c": np.ascontiguousarray, "dense_f": np.asfortranarray, "float32": lambda X: X.astype(np.float32)}
    return _core.Matrix(make[layout](X)).dual_sweep(_core.Samples(y, c, offset, loss.code, loss.param), *rest)


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_a_sweep_is_its_twin(name, pairs):
    loss, rng = as_loss(name), np.random.default_rng(1)
    X, y, weight, offset = data(name)
    X = np.round(X * 256) / 256 * (rng.random(X.shape) < 0.7)
    n, p = X.shape
    y, c = loss.encode(y), weight / weight.sum()
    low, high = (np.clip(end, -2.0, 2.0) for end in loss.dual_domain(y))
    a = low + (high - low) * rng.uniform(0.2, 0.8, n)
    gain, cols = rng.uniform(0.5, 3.0, p), np.array([0, 2, 5])
    v = -(X.T @ (c * a)) * gain
    order = rng.permutation(n)
    want = twin(loss, X, y, c, offset, order, gain, cols, pairs, 0.6, a, v)
    for layout in LAYOUTS:
        got_a, got_v = a.copy(), v.copy()
        sweep(layout, X, y, c, offset, loss, order, gain, cols, pairs, 0.6, got_a, got_v)
        np.testing.assert_allclose(got_a, want[0], atol=2e-5, err_msg=layout)
        np.testing.assert_allclose(got_v, want[1], atol=2e-5, err_msg=layout)
        np.testing.assert_allclose(got_v, -(X.T @ (c * got_a)) * gain, atol=1e-12, err_msg=layout)
        assert not pairs or c @ got_a == pytest.approx(c @ a, abs=1e-14)


def test_read_only_and_strided_input():
    loss = as_loss("squared")
    X, y, weight, offset = data("squared")
    n, p = X.shape
    c = weight / weight.sum()
    outcomes = []
    for spread in (lambda x: x, lambda x: np.repeat(x, 2)[::2]):
        given = [spread(x) for x in (y, c, offset)]
        order, gain = spread(np.arange(n)), spread(np.ones(p))
        for array in (*given, order, gain):
            array.setflags(write=False)
        a, v = np.zeros(n), np.zeros(p)
        rest = order, gain, np.array([1, 3]), False, 1.0, a, v
        _core.Matrix(X).dual_sweep(_core.Samples(*given, loss.code, loss.param), *rest)
        outcomes.append((a, v))
    np.testing.assert_array_equal(outcomes[0][0], outcomes[1][0])
    np.testing.assert_array_equal(outcomes[0][1], outcomes[1][1])


def test_bad_input_is_refused():
    X, y, weight, offset = data("squared")
    n, p = X.shape
    c = weight / weight.sum()

    def call(order=np.arange(n), gain=np.ones(p), cols=np.array([1]), code=0, a=np.zeros(n), v=np.zeros(p)):
        samples = _core.Samples(y, c, offset, code, 0.0)
        _core.Matrix(X).dual_sweep(samples, order, gain, cols, False, 1.0, a, v)

    for wrong, message in (
        ({"order": np.array([n])}, "sample is out of range"),
        ({"gain": np.ones(p + 1)}, "wrong length"),
        ({"cols": np.array([p])}, "column is out of range"),
        ({"a": np.zeros(n - 1)}, "a has a wrong length"),
        ({"code": 99}, "unknown loss"),
    ):
        with pytest.raises(ValueError, match=message):
            call(**wrong)
    S = sp.csc_array(X)
    columns = _core.Matrix(S.data, S.indices, S.indptr, n, p, False)
    with pytest.raises(ValueError, match="dense or CSR"):
        columns.dual_sweep(
            _core.Samples(y, c, offset, 0, 0.0),
            np.arange(n),
            np.ones(p),
            np.array([1]),
            False,
            1.0,
            np.zeros(n),
            np.zeros(p),
        )
    frozen = np.zeros(p)
    frozen.setflags(write=False)
    with pytest.raises(TypeError):
        call(v=frozen)
