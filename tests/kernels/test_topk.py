import numpy as np
import pytest

from kernels import twins
from pursuit import _core

P = 70_001
VECTORS = {
    "random": lambda r: r.normal(size=P),
    "ascending": lambda r: np.arange(P) - 10.0,
    "descending": lambda r: np.arange(P)[::-1] * 1.0,
    "constant": lambda r: np.full(P, -3.0),
    "zero": lambda r: np.zeros(P),
    "few values": lambda r: r.integers(-3, 4, P).astype(float),
    "late peak": lambda r: np.r_[np.zeros(P - 500), r.normal(size=500)],
    "periodic": lambda r: np.where(np.arange(P) % 8 == 0, 100.0, 1.0) * r.random(P),
    "infinite": lambda r: np.where(r.random(P) < 0.01, np.inf, r.normal(size=P)),
    "some nan": lambda r: np.where(r.random(P) < 0.5, np.nan, r.normal(size=P)),
    "mostly nan": lambda r: np.where(r.random(P) < 0.999, np.nan, r.normal(size=P)),
    "all nan": lambda r: np.full(P, np.nan),
    "subnormal": lambda r: r.integers(0, 5, P) * 5e-324,
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", VECTORS)
def test_top_k_is_exact(name, dtype, rng):
    with np.errstate(all="ignore"):
        v = VECTORS[name](rng).astype(dtype)
    for k in (0, 1, 10, 1000, 34_999, 60_000, P - 1, P + 5):
        np.testing.assert_array_equal(_core.top_k(v, k), twins.top_k(v, k))


@pytest.mark.parametrize("p", [0, 1, 2, 31, 32, 33, 1023, 1024, 5000])
def test_top_k_of_short_vectors(p, rng):
    v = rng.integers(-5, 6, p).astype(float)
    for k in {0, 1, p // 3, p // 2, max(p - 1, 0), p, p + 1}:
        found = _core.top_k(v, k)
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, twins.top_k(v, k))


def test_top_k_takes_strided_and_read_only(rng):
    v = rng.normal(size=2000)
    v.flags.writeable = False
    np.testing.assert_array_equal(_core.top_k(v[::-2], 10), twins.top_k(v[::-2], 10))


def test_negative_k():
    with pytest.raises(ValueError):
        _core.top_k(np.ones(3), -1)
