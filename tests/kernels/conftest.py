"""BLAS on one thread, as the library runs the kernels; thread counts put back after each test."""

import pytest
from threadpoolctl import threadpool_limits

from pursuit import _core


@pytest.fixture(scope="session", autouse=True)
def blas():
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture(params=[1, 2])
def threads(request):
    before = _core.set_threads(request.param)
    yield request.param
    _core.set_threads(before)
