import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from pursuit import recover


def partial_fourier(p, rows):
    def forward(v):
        return np.fft.fft(np.ravel(v), norm="ortho")[rows]

    def adjoint(d):
        full = np.zeros(p, complex)
        full[rows] = np.ravel(d)
        return np.fft.ifft(full, norm="ortho")

    return LinearOperator((len(rows), p), matvec=forward, rmatvec=adjoint, dtype=complex)


@pytest.fixture
def sparse_signal():
    rng = np.random.default_rng(0)
    x = np.zeros(256, complex)
    x[rng.choice(256, 8, replace=False)] = rng.standard_normal(8) + 1j * rng.standard_normal(8)
    return x, rng


@pytest.mark.parametrize("solver", ["grahtp", "omp", "fgrahtp"])
def test_partial_fourier_is_recovered_exactly(sparse_signal, solver):
    x, rng = sparse_signal
    A = partial_fourier(256, np.sort(rng.choice(256, 80, replace=False)))
    result = recover(A, A.matvec(x), 8, solver=solver)
    np.testing.assert_allclose(result.x, x, atol=1e-10)
    assert result.status == "converged"


@pytest.mark.parametrize("kind", ["array", "operator", "csr"])
@pytest.mark.parametrize("field", ["real", "complex"])
def test_kinds_of_operators(sparse_signal, kind, field):
    x, rng = sparse_signal
    A = rng.standard_normal((80, 256)) + (1j * rng.standard_normal((80, 256)) if field == "complex" else 0)
    x = x if field == "complex" else x.real
    given = {
        "array": A,
        "csr": sp.csr_array(A),
        "operator": LinearOperator(A.shape, lambda v: A @ v, rmatvec=lambda d: A.conj().T @ d, dtype=A.dtype),
    }[kind]
    result = recover(given, A @ x, 8)
    assert np.iscomplexobj(result.x) == (field == "complex")
    np.testing.assert_allclose(result.x, x, atol=1e-10)


def test_an_operator_is_never_asked_for_all_its_columns(sparse_signal):
    x, rng = sparse_signal
    A = partial_fourier(256, np.sort(rng.choice(256, 80, replace=False)))
    calls = []
    counted = LinearOperator(
        A.shape,
        lambda v: calls.append(1) or A.matvec(v),
        rmatvec=lambda d: calls.append(1) or A.rmatvec(d),
        dtype=complex,
    )
    recover(counted, A.matvec(x), 8)
    assert len(calls) < 256


def test_value_is_the_mean_square_of_the_complex_residual(sparse_signal):
    x, rng = sparse_signal
    A = rng.standard_normal((80, 256)) + 1j * rng.standard_normal((80, 256))
    y = A @ x + 0.1 * (rng.standard_normal(80) + 1j * rng.standard_normal(80))
    result = recover(A, y, 8)
    assert result.value == pytest.approx(0.5 * np.mean(np.abs(A @ result.x - y) ** 2))
    assert result.optimality == "swap_optimal"


def test_errors():
    with pytest.raises(ValueError, match="one entry per row of A"):
        recover(np.eye(3), np.ones(4), 1)
    with pytest.raises(TypeError, match="matvec"):
        recover(object(), np.ones(4), 1)
    with pytest.raises(ValueError, match="vector of measurements"):
        recover(np.eye(3), np.ones((3, 1)), 1)


def test_the_next_best_exchange_has_the_units_of_the_value():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((40, 9)) + 1j * rng.standard_normal((40, 9))
    y = A[:, 2] + 1j * A[:, 5] + 0.3 * rng.standard_normal(40)
    found = recover(A, y, 2)
    (leave,), (enter,), change = found.exchange
    other = recover(A, y, 2, include=[*found.support[found.support != leave], enter])
    assert other.value - found.value == pytest.approx(change)
    assert found.next_best == (f"column {enter} instead of column {leave} would raise the value by about {change:.3g}")
