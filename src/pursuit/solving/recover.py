"""Sparse recovery: y = A x with x of at most k non-zeros, A real or complex, an array or an operator.

    min  ||A x - y||^2 / (2 n)   subject to   ||x||_0 <= k

A complex coefficient is a pair of real ones that enter together, so every solver works. A is used through its products
with vectors (and, for an array, by its columns); it is never expanded nor, if it is an operator, materialised.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .._utils.types import Array, ArrayLike, Intercept, MatrixLike
from .._utils.validation import check_shape
from ..designs import as_design
from ..designs.complexified import Complexified
from ..objectives import GLM, Point
from ..objectives.base import Presented
from ..solvers.base import Solver
from .driver import solve
from .result import Result, next_best


class _Complex(GLM):
    """A GLM whose columns are pairs: real and imaginary part."""

    columns_per_feature = 2

    def present(self, point: Point) -> Presented:
        shown = super().present(point)
        return shown._replace(coef=shown.coef[:, 0] + 1j * shown.coef[:, 1])

    def from_units(self, x: ArrayLike, intercept: Intercept | None = None) -> Point:
        pairs = np.asarray(x, dtype=complex)
        return super().from_units(np.column_stack([pairs.real, pairs.imag]).ravel(), intercept)


def recover(
    A: MatrixLike, y: ArrayLike, k: int, *, solver: str | Solver | None = None, l2: float = 0.0, **options: Any
) -> Result:
    """Recover a k-sparse x from y = A x (+ noise).

    Parameters
    ----------
    A : array, sparse matrix, LinearOperator or anything with ``shape``, ``matvec``, ``rmatvec``
        The measurement matrix, real or complex.
    y : array of shape (n,)
        Measurements.
    k : int
        Number of non-zeros.
    solver : str, Solver or None, default None
        Name or instance; None is "auto" for arrays, "grahtp" for operators (a column costs a product).
    l2 : float, default 0
        Ridge, as in ``GLM``.
    **options : dict
        Passed to ``solve`` (include, exclude, groups, max_iter, time_limit, ...).

    Returns
    -------
    Result
        Its ``x`` and ``coef`` are complex when A or y is.

    See Also
    --------
    solve : For any objective.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> A, x = rng.standard_normal((20, 50)) + 1j * rng.standard_normal((20, 50)), np.zeros(50, complex)
    >>> x[[3, 30]] = 1 + 2j, -1j
    >>> pursuit.recover(A, A @ x, 2).support.tolist()
    [3, 30]
    """
    shape = check_shape(y, "y")
    if len(shape) != 1:
        raise ValueError(f"y must be a vector of measurements, got shape {shape}")
    y = np.asarray(y)
    array = isinstance(A, np.ndarray | list) or hasattr(A, "toarray")
    if isinstance(A, list):
        check_shape(A, "A")
        A = np.asarray(A)
    if not array and not all(hasattr(A, name) for name in ("shape", "matvec", "rmatvec")):
        raise TypeError(f"A must be an array or have shape, matvec and rmatvec, got {type(A).__name__}")
    if len(A.shape) != 2 or A.shape[0] != len(y):
        raise ValueError(f"y must have one entry per row of A, shape ({A.shape[0]},), got shape {y.shape}")
    solver = ("auto" if array else "grahtp") if solver is None else solver
    if not (np.iscomplexobj(y) or np.dtype(getattr(A, "dtype", None) or float).kind == "c"):
        design = as_design(A if array else _operator(A))
        return solve(GLM(design, y, l2=l2, fit_intercept=False), k, solver=solver, **options)
    if hasattr(A, "toarray"):  # a complex sparse matrix is used through its products
        A = _operator(A)
    target = np.concatenate([y.real, y.imag]).astype(np.float64)
    # the mean over 2n real rows is half the mean over n complex ones
    objective = _Complex(Complexified(A), target, l2=0.5 * l2, fit_intercept=False)
    result = solve(objective, k, solver=solver, **options)
    exchange = result.exchange and result.exchange._replace(change=2.0 * result.exchange.change)
    words = next_best(objective, result.constraint, exchange, 2.0 * result.value)
    return replace(result, value=2.0 * result.value, exchange=exchange, next_best=words)


def _operator(A: MatrixLike) -> Array | LinearOperator:
    from scipy.sparse.linalg import LinearOperator, aslinearoperator

    if isinstance(A, LinearOperator) or hasattr(A, "toarray"):
        return aslinearoperator(A)
    return LinearOperator(A.shape, A.matvec, A.rmatvec, dtype=A.dtype)
