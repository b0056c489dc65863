"""Functions written in PyTorch; they run where it is installed."""

import copy
import importlib.util
import sys

import numpy as np
import pytest

import pursuit
from problems import problem
from pursuit.refits import NotFiniteError
from registries import PRIMAL

P, K = 12, 3
GIVEN = problem("squared", n=60, p=P)
here = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")


def squared():
    import torch

    X, y = torch.tensor(GIVEN.X), torch.tensor(GIVEN.y)
    return lambda x: ((X @ x - y) ** 2).mean() / 2


@here
@pytest.mark.parametrize("solver", PRIMAL)
def test_least_squares_equals_the_glm(solver):
    want = pursuit.solve(pursuit.GLM(GIVEN.X, GIVEN.y, fit_intercept=False), K, solver=solver, random_state=0)
    got = pursuit.solve(pursuit.from_torch(squared(), P), K, solver=solver, random_state=0)
    assert np.array_equal(got.support, want.support)
    assert got.value == pytest.approx(want.value, rel=1e-9)
    np.testing.assert_allclose(got.coef, want.coef, atol=1e-6)


@here
def test_second_derivatives_are_exact():
    f, cols = pursuit.from_torch(squared(), P), np.array([1, 5])
    glm = pursuit.GLM(GIVEN.X, GIVEN.y, fit_intercept=False)
    point = f.refit(cols)
    np.testing.assert_allclose(f.hessian_rows(point, cols), glm.hessian_rows(glm.refit(cols), cols), atol=1e-13)
    flat = pursuit.from_torch(lambda x: x.sum(), P)
    assert not flat.hessian_rows(flat.null, cols).any()


@here
def test_float32_nan_and_exceptions():
    import torch

    f = pursuit.from_torch(lambda x: (x - 1).square().sum(), P, float64=False)
    assert pursuit.solve(f, K, solver="grahtp").value == pytest.approx(P - K, rel=1e-6)
    with pytest.raises(NotFiniteError, match="coordinate 0"):
        _ = pursuit.from_torch(lambda x: torch.log(x).sum(), P).null.gradient

    def boom(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        pursuit.solve(pursuit.from_torch(boom, P), K)


@here
def test_bad_values_are_named():
    with pytest.raises(ValueError, match=r"fun must return one number, got a tensor of shape \(12,\)"):
        _ = pursuit.from_torch(lambda x: x * 2, P).null
    with pytest.raises(TypeError, match="fun must return a tensor computed from its argument, got float"):
        _ = pursuit.from_torch(lambda x: 3.0, P).null


def test_bad_input_is_named(monkeypatch):
    with pytest.raises(TypeError, match="fun must be callable, got str"):
        pursuit.from_torch("f", P)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'from_torch needs PyTorch: pip install "pursuit\[torch\]"'):
        pursuit.from_torch(abs, P)


@here
def test_it_can_be_copied():
    f = pursuit.from_torch(squared(), P)
    assert pursuit.solve(copy.deepcopy(f), K).value == pursuit.solve(f, K).value
