"""Sparse recovery: y = A x with x of at most k non-zeros, A real or complex, an array or an operator.

    min  ||A x - y||^2 / (2 n)   subject to   ||x||_0 <= k

A complex coefficient is a pair of real ones that enter together, so every solver works. A is used through its products
with vectors (and, for an array, by its columns); it is never expanded nor, if it is an operator, materialised.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.types import Array, ArrayLike, Columns, Intercept
from .._utils.validation import check_k, check_number, check_shape
from ..designs import as_design
from ..designs.complexified import Complexified
from ..objectives import GLM, Point
from ..objectives.base import Presented
from ..solvers.base import Solver
from ..solving.driver import solve
from ..solving.result import Result
from .api import path
from .result import Path

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

ADJOINT_TOLERANCE = 1e-3  # relative; single-precision operators are far below it, a wrong adjoint far above
EXACT_SHARE = 1e-10  # of the norm of y: a residual below it is zero up to rounding


class _Complex(GLM):
    """A GLM whose columns are pairs: real and imaginary part."""

    columns_per_feature = 2

    def present(self, point: Point) -> Presented:
        shown = super().present(point)
        parts = shown.coef.reshape(len(shown.support), 2, self.outputs)
        coef = parts[:, 0] + 1j * parts[:, 1]
        return shown._replace(coef=coef if self.outputs > 1 else coef[:, 0])

    def coordinates(self, cols: Columns) -> Columns:
        """The coordinates of columns of the real design, of which a feature has two."""
        return (cols[:, None] * self.outputs + np.arange(self.outputs)).ravel()

    def from_units(self, x: ArrayLike, intercept: Intercept | None = None) -> Point:
        pairs = np.asarray(x, dtype=complex)
        return super().from_units(np.stack([pairs.real, pairs.imag], axis=1).reshape(-1, *pairs.shape[1:]), intercept)


def recover(
    A: "Array | LinearOperator | list[list[float]]",
    y: ArrayLike,
    k: int | Sequence[int] | None = None,
    *,
    noise: float | None = None,
    solver: str | Solver | None = None,
    l2: float = 0.0,
    **options: Any,
) -> Result | Path:
    """Recover a k-sparse x from y = A x (+ noise).

    Parameters
    ----------
    A : array, sparse matrix, LinearOperator or anything with ``shape``, ``matvec``, ``rmatvec``
        The measurement matrix, real or complex. Of an operator the two products must be adjoint, which is checked;
        they are called with one vector at a time, of shape (p,) and (n,).
    y : array of shape (n,) or (n, q)
        Measurements; several columns are of signals that share their non-zeros.
    k : int, sequence of int or None, default None
        Number of non-zeros; a sequence gives the path of these sizes. With ``noise`` it is the largest number, and may
        be left out.
    noise : float or None, default None
        Standard deviation of the noise in one measurement (complex: the root of its mean squared modulus). The result
        is then the smallest size found whose residual is at the noise level, see Notes; 0 is a residual of zero.
    solver : str, Solver or None, default None
        Name or instance; None is "auto" for arrays, "grahtp" for operators (a column costs a product).
    l2 : float, default 0
        Ridge, as in ``GLM``.
    **options : dict
        Passed to ``solve`` (include, exclude, groups, max_iter, time_limit, ...), or to ``path``.

    Returns
    -------
    Result
        Its ``x`` and ``coef`` are complex when A or y is. For several sizes a :class:`Path`.

    Raises
    ------
    ValueError, TypeError
        Where an argument is wrong, or where an operator's ``rmatvec`` is missing or not the adjoint of its ``matvec``.

    See Also
    --------
    solve : For any objective.
    path : Every size.

    Notes
    -----
    Of m real measurements with Gaussian noise of standard deviation sigma, the squared norm of the noise is at most
    sigma^2 (m + 2 sqrt(m log m)) with probability at least 1 - 1/m; a residual below it is at the noise level [1]_.
    Sizes are doubled until one is, and then halved in between.

    References
    ----------
    .. [1] T. Cai and L. Wang, Orthogonal matching pursuit for sparse signal recovery with noise, IEEE Transactions on
       Information Theory 57, 2011, Theorem 7.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> A, x = rng.standard_normal((20, 50)) + 1j * rng.standard_normal((20, 50)), np.zeros(50, complex)
    >>> x[[3, 30]] = 1 + 2j, -1j
    >>> pursuit.recover(A, A @ x, 2).support.tolist()
    [3, 30]
    >>> pursuit.recover(A, A @ x + 0.1 * rng.standard_normal(20), noise=0.1).k
    2
    """
    if k is None and noise is None:
        raise TypeError("k is missing: recover(A, y, k), or recover(A, y, noise=...), the noise's standard deviation")
    shape = check_shape(y, "y")
    if len(shape) not in (1, 2):
        raise ValueError(f"y must be measurements of shape (n,) or (n, q), got shape {shape}")
    y = np.asarray(y)
    array = isinstance(A, np.ndarray | list) or hasattr(A, "toarray")
    if isinstance(A, list):
        check_shape(A, "A")
        A = np.asarray(A)
    if not array and not all(hasattr(A, name) for name in ("shape", "matvec", "rmatvec")):
        raise TypeError(f"A must be an array or have shape, matvec and rmatvec, got {type(A).__name__}")
    if len(A.shape) != 2 or A.shape[0] != len(y):
        raise ValueError(f"y must have one entry per row of A, shape ({A.shape[0]},), got shape {y.shape}")
    if not array:
        A = _operator(A)
        _check_adjoint(A, y)
    objective = _objective(A, y, array, l2)
    solver = ("auto" if array else "grahtp") if solver is None else solver
    if noise is not None:
        limit = min(A.shape) if k is None else check_k(k)
        return _at_noise_level(objective, y, check_number(noise, "noise"), limit, solver=solver, **options)
    size: Any = k
    if np.iterable(size) and not isinstance(size, str):
        return path(objective, size, solver=solver, **options)
    return solve(objective, size, solver=solver, **options)


def _objective(A: "Array | LinearOperator", y: Array, array: bool, l2: float) -> GLM:
    """Half the mean squared residual, of real or of complex numbers."""
    if not (np.iscomplexobj(y) or np.dtype(getattr(A, "dtype", None) or float).kind == "c"):
        return GLM(as_design(A), y, l2=l2, fit_intercept=False)
    if array and hasattr(A, "toarray"):  # a complex sparse matrix is used through its products
        A = _operator(A)
    design = Complexified(A)
    return _Complex(design, design.real_rows(y), l2=l2, fit_intercept=False)


def _at_noise_level(objective: GLM, y: Array, noise: float, limit: int, **options: Any) -> Result:
    """The result of the smallest size found whose residual is at the noise level."""
    real, norm = y.size * (1 + np.iscomplexobj(y)), float(np.linalg.norm(y))
    variance = noise**2 * y.size / real
    level = max(np.sqrt(variance * (real + 2 * np.sqrt(real * np.log(real)))), EXACT_SHARE * norm)
    seconds = options.pop("time_limit", None)
    end = None if seconds is None else time.perf_counter() + check_number(seconds, "time_limit")

    def attempt(k: int) -> tuple[Result, float]:
        left = None if end is None else max(end - time.perf_counter(), 1e-3)
        found = solve(objective, k, time_limit=left, **options)
        ridge = objective._ridge(found.point.support)
        value = found.value - 0.5 * float(found.point.coef @ (ridge * found.point.coef))
        return found, float(np.sqrt(max(2.0 * len(y) * value, 0.0)))

    def words(k: int, residual: float) -> str:
        return f"k={k} is the smallest size found at the noise level (residual {residual:.3g}, at most {level:.3g})"

    if norm <= level and not options.get("include"):
        nothing = path(objective, [0], **{**options, "solver": "auto"})[0]
        return replace(nothing, reason=words(0, norm))
    low, k = 0, 1
    result, residual = attempt(k)
    while residual > level and k < limit and result.status != "time_limit":
        low, k = k, min(2 * k, limit)
        result, residual = attempt(k)
    if residual > level:
        sentence = f"the residual {residual:.3g} is above the noise level {level:.3g} at k={k}"
        warnings.warn(f"recover: {sentence}; allow more non-zeros or time, or a larger noise", stacklevel=3)
        return replace(result, reason=f"{sentence}; {result.reason}")
    while k - low > 1:
        middle = (low + k) // 2
        trial, size = attempt(middle)
        if size <= level:
            result, residual, k = trial, size, middle
        else:
            low = middle
    return replace(result, reason=f"{words(k, residual)}; {result.reason}")


def _operator(A: "LinearOperator") -> "LinearOperator":
    from scipy.sparse.linalg import LinearOperator, aslinearoperator

    if isinstance(A, LinearOperator) or hasattr(A, "toarray"):
        return aslinearoperator(A)
    return LinearOperator(A.shape, A.matvec, A.rmatvec, dtype=A.dtype)


def _check_adjoint(A: "LinearOperator", y: Array) -> None:
    """Raise where the products of an operator are missing, or are not adjoint: <A u, v> = <u, A* v>."""
    rng = np.random.default_rng(0)
    u, v = rng.standard_normal(A.shape[1]), rng.standard_normal(A.shape[0])
    if np.dtype(A.dtype or float).kind == "c" or np.iscomplexobj(y):
        u, v = u + 1j * rng.standard_normal(A.shape[1]), v + 1j * rng.standard_normal(A.shape[0])
    try:
        back = np.asarray(A.rmatvec(v)).ravel()
    except NotImplementedError:
        raise TypeError(
            "A has no rmatvec, the product with its conjugate transpose, which recover needs: "
            "LinearOperator(shape, matvec=..., rmatvec=...)"
        ) from None
    forward = np.asarray(A.matvec(u)).ravel()
    difference = abs(np.vdot(v, forward) - np.vdot(back, u))
    room = np.linalg.norm(v) * np.linalg.norm(forward) + np.linalg.norm(back) * np.linalg.norm(u)
    if difference > ADJOINT_TOLERANCE * room:  # NaN is for the solver, which names it
        raise ValueError(
            "rmatvec of A is not the adjoint of matvec: <A u, v> and <u, A* v> differ; it must multiply by the "
            "conjugate transpose"
        )
