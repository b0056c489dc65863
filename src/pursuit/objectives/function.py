"""A function that the user brings: NumPy callables for value and gradient, perhaps the Hessian.

    minimise fun(x)   subject to   at most k non-zeros in x,    x of length ``dim``, no intercept

| question | with ``hess`` | without |
|---|---|---|
| refit on m coordinates | damped Newton | L-BFGS, one value and gradient per step |
| v'Hv | exact | two gradients |
| H_jj on m coordinates | exact | two gradients each, or ``N_PROBES`` random probes in all |
| rows of H | exact | two gradients each |

The probes are Bekas, Kokiopoulou and Saad's (2007): the mean of r * (H r) over random signs r. It is unbiased, its
error falls with their number, and GraHTP's natural step, a weighted mean over the coordinates, averages it once more.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .._utils.lazy import lazy
from .._utils.rounding import EPS
from .._utils.types import ArrayLike, Columns, Intercept, Vector
from .._utils.validation import check_integer
from ..refits import NotFiniteError, SmoothProblem, State, minimise
from .base import DIFFERENCE_STEP, Objective, Point

MAX_SINGLE_DIFFERENCES = 32  # coordinates up to which each has its own difference quotient
N_PROBES = 16
MAX_HESSIAN_BLOCK = 2000  # columns of the largest block requested from hess(x, cols)


class SmoothFunction(Objective):
    """What an objective needs beyond value, gradient and Hessian products: points, refits, curvatures.

    ``evaluate(x)`` gives value and gradient over all coordinates; ``times(x, V)`` gives H V, by differences unless
    overridden; ``hessian(x, cols)`` may give H[cols][:, cols], or None where that is not to be had.
    """

    eps = EPS
    has_hessian = False  # for refits

    def __init__(self, dim: int, start: ArrayLike | None = None) -> None:
        self.dim = check_integer(dim, "dim", "a positive integer, the length of x", 1)
        self.start = np.zeros(self.dim) if start is None else np.array(start, dtype=np.float64)
        if self.start.shape != (self.dim,) or not np.isfinite(self.start).all():
            raise ValueError(f"start must be a finite vector of shape ({self.dim},), got shape {self.start.shape}")

    def evaluate(self, x: Vector) -> tuple[float, Vector]:
        raise NotImplementedError

    def gradient(self, x: Vector) -> Vector:
        return self.evaluate(x)[1]

    def hessian(self, x: Vector, cols: Columns) -> Vector | None:
        return None

    @property
    def work(self) -> float:
        """Unknown: as if f were a quadratic form, and a call of Python costs what 1e5 multiplications do."""
        return 1e5 + float(self.dim) ** 2

    @lazy
    def null(self) -> Point:
        """x = 0, or ``start`` where one was given."""
        support = np.flatnonzero(self.start)
        return self.at(support, self.start[support])

    def at(self, support: Columns, coef: Vector, intercept: Intercept | None = None) -> Point:
        value, gradient = self.evaluate(self.wide(support, coef))
        return Point(self.dim, support, coef, 0.0, value, lambda: check_finite(gradient)).bind(self)

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        problem = self.restricted(support)
        x = self.start if start is None or not start.minimiser else start.x
        end = minimise(problem, x[support], eps=self.eps)

        def slope() -> Vector:
            gradient = np.array(problem.gradient(end.z))
            if end.converged:
                gradient[support] = 0.0  # what is left there is rounding
            return check_finite(gradient)

        least = end.lower_bound if self.quadratic else -np.inf  # of other functions it is a minimum nearby
        return Point(
            self.dim, support, end.z, 0.0, end.value, slope, end.converged, end.note, end.minimiser, support_bound=least
        ).bind(self)

    def restricted(self, support: Columns) -> "Restricted":
        """The function on some coordinates."""
        return Restricted(self, support)

    def times(self, x: Vector, V: Vector) -> Vector:
        """H V at x, for directions in the columns of V; by central differences of the gradient."""
        out = np.empty_like(V)
        size = max(1.0, float(np.abs(x).max()))
        for j, v in enumerate(V.T):
            h = DIFFERENCE_STEP * size / max(float(np.abs(v).max()), 1e-300)
            out[:, j] = (self.gradient(x + h * v) - self.gradient(x - h * v)) / (2 * h)
        return out

    def curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        x = point.x
        H = self.hessian(x, cols)
        return float(v @ (self.times(x, self.wide(cols, v[:, None]))[cols, 0] if H is None else H @ v))

    def curvatures(self, point: Point, cols: Columns) -> Vector:
        x, m = point.x, len(cols)
        H = self.hessian(x, cols)
        if H is not None:
            return np.array(H.diagonal())
        if m <= MAX_SINGLE_DIFFERENCES:
            return np.array(self.times(x, self.wide(cols, np.eye(m)))[cols].diagonal())
        signs = np.where(np.random.default_rng(m).random((m, N_PROBES)) < 0.5, -1.0, 1.0)
        guess = (signs * self.times(x, self.wide(cols, signs))[cols]).mean(axis=1)
        return np.maximum(guess, 0.1 * np.abs(np.median(guess)))

    def hessian_rows(self, point: Point, cols: Columns, others: Columns | None = None) -> Vector:
        x, columns = point.x, np.arange(self.dim) if others is None else others
        wide = np.union1d(cols, columns)
        H = self.hessian(x, wide) if len(wide) <= MAX_HESSIAN_BLOCK else None
        if H is not None:
            return np.ascontiguousarray(H[np.ix_(np.searchsorted(wide, cols), np.searchsorted(wide, columns))])
        return np.ascontiguousarray(self.times(x, self.wide(cols, np.eye(len(cols))))[columns].T)

    def wide(self, cols: Columns, V: Vector) -> Vector:
        """A vector, or columns, over all coordinates from what is on some."""
        wide = np.zeros((self.dim, *V.shape[1:]))
        wide[cols] = V
        return wide


class Restricted(SmoothProblem):
    """The function on some coordinates; ``last`` is the latest evaluation, with its gradient over all of them."""

    def __init__(self, f: SmoothFunction, support: Columns) -> None:
        self.f, self.support = f, support
        self.last: tuple[Vector | None, Vector] = None, np.empty(0)

    def gradient(self, z: Vector) -> Vector:
        """The gradient over all coordinates."""
        at, gradient = self.last
        return gradient if at is z else self.f.gradient(self.f.wide(self.support, z))

    def at(self, z: Vector, hessian: bool = True) -> State:
        x = self.f.wide(self.support, z)
        value, gradient = self.f.evaluate(x)
        self.last = z, gradient
        block: Any = partial(self.f.hessian, x, self.support) if self.f.has_hessian else None
        return State(z, value, gradient[self.support], block)


class Function(SmoothFunction):
    """A smooth function of ``dim`` variables, to be minimised over k-sparse x.

    Parameters
    ----------
    fun : callable
        A function of a vector of length ``dim`` that returns the value, a number.
    grad : callable
        A function of the same vector that returns the gradient, of length ``dim``.
    dim : int
        Number of variables.
    hess : callable or None, default None
        ``hess(x)`` gives the dim x dim Hessian, ``hess(x, cols)`` (two required arguments) its block on the coordinates
        ``cols``.
    start : array of shape (dim,) or None, default None
        Where the function is finite, if it is not at zero; also the place where refits begin.
    check : bool, default False
        Compare ``grad`` with differences of ``fun`` at once, see :meth:`check_gradient`.

    See Also
    --------
    from_jax : Derivatives by JAX.
    from_torch : Derivatives by PyTorch.

    Notes
    -----
    ``fun`` may be non-convex: a refit finds a local minimiser near the point it starts from, and says so where there is
    none. An exception inside a callable propagates; NaN ends a run with a status.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> target = np.array([0.0, 3.0, 0.0, -2.0, 0.1])
    >>> f = pursuit.Function(lambda x: 0.5 * ((x - target) ** 2).sum(), lambda x: x - target, 5)
    >>> pursuit.solve(f, 2).x.round(6).tolist()
    [0.0, 3.0, 0.0, -2.0, 0.0]
    """

    def __init__(
        self,
        fun: Callable[..., object],
        grad: Callable[..., object],
        dim: int,
        hess: Callable[..., object] | None = None,
        *,
        start: ArrayLike | None = None,
        check: bool = False,
    ) -> None:
        super().__init__(dim, start)
        check_callable(fun, "fun")
        check_callable(grad, "grad")
        if hess is not None:
            check_callable(hess, "hess")
        self.fun, self.grad, self.hess = fun, grad, hess
        self.has_hessian = hess is not None
        self.blockwise = hess is not None and _takes_columns(hess)
        if check:
            self.check_gradient()

    def evaluate(self, x: Vector) -> tuple[float, Vector]:
        return self.value(x), self.gradient(x)

    def value(self, x: Vector) -> float:
        """fun(x), checked to be one number."""
        return check_value(self.fun(x.copy()))

    def gradient(self, x: Vector) -> Vector:
        """grad(x), checked to have the length of x."""
        return _checked(self.grad(x.copy()), "grad", (self.dim,))

    def hessian(self, x: Vector, cols: Columns) -> Vector | None:
        if self.hess is None:
            return None
        m = len(cols)
        if self.blockwise:
            return _checked(self.hess(x.copy(), cols.copy()), "hess", (m, m))
        return _checked(self.hess(x.copy()), "hess", (self.dim, self.dim))[np.ix_(cols, cols)]

    def times(self, x: Vector, V: Vector) -> Vector:
        if self.hess is None or self.blockwise:
            return super().times(x, V)
        return _checked(self.hess(x.copy()), "hess", (self.dim, self.dim)) @ V

    def check_gradient(self, x: ArrayLike | None = None, tol: float = 1e-4) -> None:
        """Compare ``grad`` with differences of ``fun`` at x (default: near ``start``); ValueError where they differ.

        A random direction through all coordinates is tried first; where it disagrees, halves of them, so that the
        coordinate is found in about 4 log2(dim) calls of ``fun``. Relative differences up to ``tol`` pass.
        """
        rng = np.random.default_rng(0)
        if x is None:
            x = self.start + 0.1 * rng.standard_normal(self.dim)
            x = x if np.isfinite(self.value(x)) else self.start
        x = np.array(x, dtype=np.float64)
        if x.shape != (self.dim,):
            raise ValueError(f"x must have shape ({self.dim},), got shape {x.shape}")
        g, signs = self.gradient(x), np.where(rng.random(self.dim) < 0.5, -1.0, 1.0)
        h = DIFFERENCE_STEP * max(1.0, float(np.abs(x).max()))

        def off(cols: Columns) -> tuple[bool, float]:
            d = self.wide(cols, signs[cols])
            ahead, behind = self.value(x + h * d), self.value(x - h * d)
            slope, noise = (ahead - behind) / (2 * h), 10 * EPS * (abs(ahead) + abs(behind)) / h
            wide = tol * max(float(np.linalg.norm(g[cols])), abs(slope)) + noise
            return not abs(slope - float(g @ d)) <= wide, slope

        cols = np.arange(self.dim)
        wrong, slope = off(cols)
        if not wrong:
            return
        while len(cols) > 1:
            left, right = cols[: len(cols) // 2], cols[len(cols) // 2 :]
            (bad, one), (_, other) = off(left), off(right)
            cols, slope = (left, one) if bad else (right, other)
        j = int(cols[0])
        raise ValueError(
            f"grad disagrees with fun at coordinate {j}: "
            f"grad gives {g[j]:.6g}, differences of fun {signs[j] * slope:.6g}"
        )


def check_callable(given: object, name: str) -> None:
    """What a user calls a function can be called."""
    if not callable(given):
        raise TypeError(f"{name} must be callable, got {type(given).__name__}")


def check_value(value: Any) -> float:
    """What fun returned, as a float."""
    if np.ndim(value) != 0:
        raise ValueError(f"fun must return one number, got an array of shape {np.shape(value)}")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"fun must return one real number, got {type(value).__name__}") from None


def _checked(array: Any, name: str, shape: tuple[int, ...]) -> Vector:
    try:
        if array is None or np.iscomplexobj(array):
            raise TypeError
        given = np.array(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must return real numbers, got {type(array).__name__}") from None
    if given.shape != shape:
        raise ValueError(f"{name} must return an array of shape {shape}, got shape {given.shape}")
    return given


def check_finite(gradient: Vector) -> Vector:
    if not np.isfinite(gradient).all():
        bad = int(np.flatnonzero(~np.isfinite(gradient))[0])
        raise NotFiniteError(f"the gradient is {gradient[bad]} at coordinate {bad}")
    return gradient


def _takes_columns(hess: Callable[..., object]) -> bool:
    """Whether hess wants (x, cols): two required positional arguments."""
    try:
        parameters = inspect.signature(hess).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in positional and p.default is p.empty for p in parameters) >= 2
