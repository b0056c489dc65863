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
    with pytest.raises(ValueError, match=r"shape \(n,\) or \(n, q\)"):
        recover(np.eye(3), np.ones((3, 1, 1)), 1)
    with pytest.raises(TypeError, match="k is missing"):
        recover(np.eye(3), np.ones(3))
    with pytest.raises(ValueError, match="noise"):
        recover(np.eye(3), np.ones(3), noise=-1.0)


def test_the_next_best_exchange_has_the_units_of_the_value():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((40, 9)) + 1j * rng.standard_normal((40, 9))
    y = A[:, 2] + 1j * A[:, 5] + 0.3 * rng.standard_normal(40)
    found = recover(A, y, 2)
    (leave,), (enter,), change = found.exchange
    other = recover(A, y, 2, include=[*found.support[found.support != leave], enter])
    assert other.value - found.value == pytest.approx(change)
    assert found.next_best == (f"column {enter} instead of column {leave} would raise the value by about {change:.3g}")


def make_problem(field, q=1, n=80, p=256, k=8, seed=5):
    """A matrix, signals of which every non-zero is at least 0.5, and their support."""
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if field == "complex" else 0)

    A, support = draw(n, p), np.sort(rng.choice(p, k, replace=False))
    x = np.zeros((p, q), A.dtype)
    values = draw(k, q)
    x[support] = values + 0.5 * values / np.abs(values)
    noise = draw(n, q) / (np.sqrt(2) if field == "complex" else 1)
    return A, x, noise, support


def vector_operator(A):
    """A as an operator that refuses anything but vectors."""

    def product(matrix, v):
        assert v.ndim == 1
        return matrix @ v

    return LinearOperator(
        A.shape, matvec=lambda v: product(A, v), rmatvec=lambda d: product(A.conj().T, d), dtype=A.dtype
    )


@pytest.mark.parametrize("field", ["real", "complex"])
@pytest.mark.parametrize("kind", ["array", "operator"])
def test_signals_that_share_their_support(field, kind):
    A, x, _, support = make_problem(field, q=3)
    result = recover(A if kind == "array" else vector_operator(A), A @ x, 8)
    assert result.support.tolist() == support.tolist()
    assert np.iscomplexobj(result.x) == (field == "complex")
    np.testing.assert_allclose(result.x, x, atol=1e-10)


@pytest.mark.parametrize("field", ["real", "complex"])
@pytest.mark.parametrize("q", [1, 2])
def test_a_sequence_of_sizes_is_a_path_of_the_same_values(field, q):
    A, x, noise, _ = make_problem(field, q, n=40, p=30, k=4)
    y = (A @ x + 0.2 * noise)[:, 0] if q == 1 else A @ x + 0.2 * noise
    found = recover(A, y, [2, 4])
    assert found.ks.tolist() == [2, 4]
    for result in found:
        residual = A @ result.x - y
        assert result.value == pytest.approx(0.5 * np.sum(np.abs(residual) ** 2) / len(y))
        on = A[:, result.support]
        np.testing.assert_allclose(on.conj().T @ residual, 0, atol=1e-9)  # least squares on the support
    assert found.at(4).value == pytest.approx(recover(A, y, 4).value)


@pytest.mark.parametrize("field", ["real", "complex"])
@pytest.mark.parametrize("kind", ["array", "operator"])
@pytest.mark.parametrize("sigma", [0.0, 0.05])
def test_noise_level_finds_the_number_of_non_zeros(field, kind, sigma):
    A, x, noise, support = make_problem(field)
    y = (A @ x + sigma * noise)[:, 0]
    result = recover(A if kind == "array" else vector_operator(A), y, noise=sigma)
    assert result.support.tolist() == support.tolist()
    assert result.reason.startswith("k=8 is the smallest size found at the noise level")
    fewer = recover(A, y, 7)  # whose residual is above the bound that the docstring gives
    m = len(y) * (2 if field == "complex" else 1)
    level = sigma**2 * len(y) / m * (m + 2 * np.sqrt(m * np.log(m)))
    assert 2 * len(y) * fewer.value > level >= 2 * len(y) * result.value - 1e-18


def test_noise_level_at_the_ends():
    A, x, noise, _ = make_problem("real")
    assert recover(A, 0.01 * noise[:, 0], noise=0.05).k == 0
    with pytest.warns(UserWarning, match="above the noise level"):
        result = recover(A, (A @ x)[:, 0], 3, noise=0.05)
    assert result.k == 3


@pytest.mark.parametrize("dtype", [float, complex])
def test_operators_without_an_adjoint(dtype):
    A = np.arange(12.0).reshape(3, 4).astype(dtype)
    with pytest.raises(TypeError, match="no rmatvec"):
        recover(LinearOperator(A.shape, matvec=lambda v: A @ v, dtype=dtype), np.ones(3), 1)
    with pytest.raises(ValueError, match="not the adjoint"):
        recover(LinearOperator(A.shape, lambda v: A @ v, rmatvec=lambda d: 2 * A.T @ d, dtype=dtype), np.ones(3), 1)


def test_a_transpose_without_conjugation_is_no_adjoint():
    A = make_problem("complex", n=6, p=9, k=2)[0]
    with pytest.raises(ValueError, match="conjugate transpose"):
        recover(LinearOperator(A.shape, lambda v: A @ v, rmatvec=lambda d: A.T @ d, dtype=complex), np.ones(6), 1)


@pytest.mark.parametrize("kind", ["cosine", "fourier"])
def test_operators_of_pylops(kind):
    pylops = pytest.importorskip("pylops", reason="pylops is not installed")
    rng = np.random.default_rng(8)
    rows = np.sort(rng.choice(128, 60, replace=False))
    x = np.zeros(128)
    x[[5, 17, 40, 99]] = 3, -2, 1.5, 1
    if kind == "cosine":
        transform = pylops.signalprocessing.DCT(128).H
        A = pylops.Restriction(128, rows) @ transform
    else:
        transform = pylops.signalprocessing.FFT(128, norm="ortho", dtype=np.complex128)
        A = pylops.Restriction(128, rows, dtype=np.complex128) @ transform
    found = recover(A, A @ x, 4)
    assert found.support.tolist() == [5, 17, 40, 99]
    np.testing.assert_allclose(found.x, x, atol=1e-10)
    noisy = A @ x + 0.01 * rng.standard_normal(60)
    assert recover(A, noisy, noise=0.01).support.tolist() == [5, 17, 40, 99]
