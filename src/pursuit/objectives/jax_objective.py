"""A JAX function as an objective: traced once, compiled once per padded size, differentiated on the support only.

What is compiled is in :mod:`pursuit.tracing.programs`. Sizes are padded to powers of two, so that supports of all sizes
share a few programs. With ``float64=True`` the trace and every call run under ``jax.enable_x64``: the caller's own
setting is neither used nor changed.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.lazy import lazy
from .._utils.types import ArrayLike, Columns, Vector
from .._utils.validation import require_package
from ..refits import State
from .base import Point
from .function import Restricted, SmoothFunction, check_callable

if TYPE_CHECKING:
    from jax import Array as JaxArray

PADDED = 16  # padded size of the smallest programs
WHOLE = 4 * PADDED  # coordinates up to which the Hessian of a refit serves for parts of it
NEWTON = 512  # coordinates up to which refits form a Hessian
AT_ONCE = 256  # coordinates whose curvature is computed at once; more fall out of the cache
ROWS = 128  # rows of the Hessian at once
KNOWN = 256  # refits of a quadratic that are remembered


class JaxFunction(SmoothFunction):
    """An objective from a function written with ``jax.numpy``; derivatives are JAX's.

    Parameters
    ----------
    fun : callable
        A function of a JAX vector of length ``dim`` that returns a scalar and can be traced; jitted or not.
    dim : int
        Number of variables.
    float64 : bool, default True
        Compute in float64, whatever JAX's global setting (which stays as it is); arrays that ``fun`` closes over are
        converted once, and ``fun`` itself works afterwards as it did before. False: in JAX's default precision, usually
        float32, refits good to about 1e-6.
    start : array of shape (dim,) or None, default None
        Where the function is finite, if it is not at zero.

    See Also
    --------
    Function : With derivatives of your own.

    Examples
    --------
    >>> import pursuit
    >>> f = pursuit.from_jax(lambda x: ((x - 1.0) ** 2).sum() + 5 * x[0], 4)
    >>> pursuit.solve(f, 2).support.tolist()
    [0, 1]
    """

    def __init__(
        self, fun: "Callable[[JaxArray], JaxArray]", dim: int, *, float64: bool = True, start: ArrayLike | None = None
    ) -> None:
        super().__init__(dim, start)
        check_callable(fun, "fun")
        jax = require_package("jax", "jax", "from_jax", "JAX")
        from ..tracing.closures import renewed
        from ..tracing.programs import programs_of
        from ..tracing.restrict import Traced

        self.jax, self.float64 = jax, bool(float64)
        self._made = partial(type(self), fun, dim, float64=float64, start=start)
        with self._precision():
            self.dtype = np.dtype(jax.dtypes.canonicalize_dtype(np.float64))
            fun = renewed(fun) if self.float64 else fun
            self.traced = Traced(fun, self.dim, self.dtype)
            self.programs = programs_of(self.traced, fun)
        self.eps = float(np.finfo(self.dtype).eps)
        self._known: dict[bytes, Point] = {}
        shapes = [tuple(out.shape) for out in self.traced.out]
        if shapes != [()]:
            shown = f"shape {shapes[0]}" if len(shapes) == 1 else f"{len(shapes)} arrays"
            raise ValueError(f"fun must return one number, got {shown}")
        if not np.issubdtype(self.traced.out[0].dtype, np.floating):
            raise TypeError(f"fun must return a real number, got dtype {self.traced.out[0].dtype}")

    def __reduce__(self) -> tuple[object, ...]:
        """Made anew from its arguments: compiled programs cannot be copied."""
        return self._made, ()

    @property
    def quadratic(self) -> bool:  # type: ignore[override]
        """Whether the trace is a polynomial of degree two at most."""
        return self.traced.degree <= 2

    @property
    def work(self) -> float:
        return float(self.dim + self.traced.size)

    def _precision(self) -> AbstractContextManager[None]:
        if not self.float64:
            return nullcontext()
        if hasattr(self.jax, "enable_x64"):
            return self.jax.enable_x64(True)
        from jax.experimental import enable_x64  # before JAX 0.8

        return enable_x64()

    def evaluate(self, x: Vector) -> tuple[float, Vector]:
        support = np.flatnonzero(x)
        value, gradient = self.call("slope", x[support], support)
        return float(value), gradient

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        if len(support) == 0:
            return replace(self.at(support, np.empty(0)), refitted=True)
        if not self.quadratic:
            return super().refit(support, start)
        key = support.tobytes()  # of a quadratic the minimiser does not depend on the start
        if key not in self._known:
            if len(self._known) >= KNOWN:
                self._known.clear()
            self._known[key] = super().refit(support, start)
        return self._known[key]

    def restricted(self, support: Columns) -> Restricted:
        return ByProgram(self, support)

    def hessian(self, x: Vector, cols: Columns) -> Vector | None:
        """H[cols][:, cols], from the program of a refit on the support and these."""
        if self.quadratic and self.dim <= WHOLE:
            return self._everywhere[np.ix_(cols, cols)]
        wide = np.union1d(np.flatnonzero(x), cols)
        if len(wide) > NEWTON:
            return None
        at = np.searchsorted(wide, cols)
        return np.asarray(self.call("local", x[wide], wide)[2][np.ix_(at, at)])

    @lazy
    def _everywhere(self) -> Vector:
        """The Hessian of a small quadratic."""
        return np.asarray(self.call("local", np.zeros(self.dim), np.arange(self.dim))[2][: self.dim, : self.dim])

    def times(self, x: Vector, V: Vector) -> Vector:
        out = np.empty_like(V)
        for j, v in enumerate(V.T):
            with self._precision():
                given = (self.jax.numpy.asarray(u, self.dtype) for u in (x, v))
                out[:, j] = self.programs.get("product")(self.traced.constants, *given)
        return out

    def curvatures(self, point: Point, cols: Columns) -> Vector:
        small = self.hessian(point.x, cols) if self.dim <= WHOLE else None  # one program less
        if small is not None:
            return small.diagonal().copy()
        out = np.empty(len(cols))
        inside = np.isin(cols, point.support)
        if inside.any():
            mine = cols[inside]
            H = self.hessian(point.x, mine)
            out[inside] = super().curvatures(point, mine) if H is None else H.diagonal()
        rest = cols[~inside]
        found = [
            self.call("diagonal", point.coef, point.support, rest[i : i + AT_ONCE])[: len(rest[i : i + AT_ONCE])]
            for i in range(0, len(rest), AT_ONCE)
        ]
        out[~inside] = np.concatenate(found) if found else 0.0
        return out

    def hessian_rows(self, point: Point, cols: Columns, others: Columns | None = None) -> Vector:
        if others is None and self.dim <= WHOLE:
            others = np.arange(self.dim)
        if others is not None:
            wide = np.union1d(np.union1d(point.support, cols), others)
            base = np.union1d(point.support, cols)
            if len(wide) <= max(WHOLE, 2 * len(base)):
                H = self.hessian(point.x, wide)
                if H is not None:
                    at, to = np.searchsorted(wide, cols), np.searchsorted(wide, others)
                    return np.ascontiguousarray(H[np.ix_(at, to)])
            if not np.isin(others, base).any():
                H = self.call("cross", point.x[base], base, others)
                return np.ascontiguousarray(H[np.searchsorted(base, cols), : len(others)])
        out = np.empty((len(cols), self.dim if others is None else len(others)))
        for i in range(0, len(cols), ROWS):
            some = cols[i : i + ROWS]
            wide = np.union1d(point.support, some)
            H = self.call("rows", point.x[wide], wide)[np.searchsorted(wide, some)]
            out[i : i + ROWS] = H if others is None else H[:, others]
        return out

    def call(self, name: str, z: Vector, cols: Columns, more: Columns | None = None) -> Any:
        """Run a program on padded z and cols (and further coordinates); its outputs as NumPy arrays."""
        size = _padded(len(cols))
        wide = np.zeros(size, self.dtype)
        wide[: len(cols)] = z
        given = [wide, _pad(cols, size, self.dim)]
        if more is not None:
            given.append(_pad(more, _padded(len(more)), self.dim))
        with self._precision():
            out = self.programs.get(name)(self.traced.constants, *given)
        if isinstance(out, tuple):
            return tuple(np.asarray(part, dtype=np.float64) for part in out)
        return np.asarray(out, dtype=np.float64)


from_jax = JaxFunction


class ByProgram(Restricted):
    """The function on some coordinates, by the program for their (padded) number."""

    f: JaxFunction

    def at(self, z: Vector, hessian: bool = True) -> State:
        m = len(self.support)
        if m > NEWTON:
            value, g = self.f.call("gradient", z, self.support)
            return State(z, float(value), g[:m])
        value, g, H = self.f.call("local", z, self.support)
        return State(z, float(value), g[:m], lambda: H[:m, :m])


def _padded(m: int) -> int:
    return max(PADDED, 1 << max(0, m - 1).bit_length())


def _pad(cols: Columns, size: int, beyond: int) -> "JaxArray":
    wide = np.full(size, beyond, np.int32)
    wide[: len(cols)] = cols
    return wide
