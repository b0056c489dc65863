"""The compiled programs of a traced function, shared by all functions of the same code and shapes.

| program | gives | cost for X @ x inside fun, X n x p |
|---|---|---|
| ``slope`` | value and gradient over all p | one pass over X |
| ``gradient`` | value and gradient on m coordinates | n m |
| ``local`` | value, gradient, Hessian on m coordinates | n m^2 |
| ``rows`` | m whole rows of the Hessian | n m p |
| ``cross`` | the Hessian between m coordinates and others | n m per other |
| ``diagonal`` | H_jj | n each |
| ``product`` | H v over all p | two passes over X |

A function's arrays are arguments of its programs, not part of them. Two functions whose jaxprs agree but for those
arrays (a loss built anew for each fold, say) are therefore one program, which is compiled once. They agree when
``fingerprint`` says so: the same primitives on the same variables with equal parameters, and literals equal to the bit.
"""

import enum
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array as JaxArray

from .restrict import Constants, Part, Scattered, Traced

if TYPE_CHECKING:
    from jax.extend.core import Jaxpr

PROGRAMS_KEPT = 64  # functions of different code or shapes whose programs are kept

_shared: OrderedDict[Any, "Programs"] = OrderedDict()
_lock = Lock()


class _UnlikeError(Exception):
    """A jaxpr with something in it of which one cannot tell whether it equals another."""


def programs_of(traced: Traced, fun: Callable[[JaxArray], JaxArray]) -> "Programs":
    """The programs of a traced function; those of an earlier one where both are the same but for their arrays."""
    try:
        key = traced.dim, str(traced.dtype), fingerprint(traced.closed.jaxpr)
        hash(key)
    except (_UnlikeError, TypeError):
        key = None
    with _lock:
        if key is not None and key in _shared:
            _shared.move_to_end(key)
            return _shared[key]
    if not traced.understood():
        traced.fun = fun
    if key is None or traced.fun is not None:
        return Programs(traced)
    with _lock:
        _shared[key] = Programs(traced.bare())
        while len(_shared) > PROGRAMS_KEPT:
            _shared.popitem(last=False)
        return _shared[key]


def fingerprint(jaxpr: "Jaxpr") -> Any:
    """A jaxpr as nested tuples that are equal only for jaxprs that compute the same."""
    number: dict[Any, int] = {}

    def of(v: Any) -> Any:
        if hasattr(v, "val"):
            return _plain(np.asarray(v.val)), _shape(v.aval)
        return number.setdefault(v, len(number))

    given = tuple((of(v), _shape(v.aval)) for v in (*jaxpr.constvars, *jaxpr.invars))
    lines = tuple(
        (
            eqn.primitive.name,
            tuple(of(v) for v in eqn.invars),
            tuple((of(v), _shape(v.aval)) for v in eqn.outvars),
            tuple((name, _plain(value)) for name, value in sorted(eqn.params.items())),
        )
        for eqn in jaxpr.eqns
    )
    return len(jaxpr.constvars), given, lines, tuple(of(v) for v in jaxpr.outvars)


def _shape(aval: Any) -> Any:
    return getattr(aval, "shape", None), str(getattr(aval, "dtype", aval)), bool(getattr(aval, "weak_type", False))


def _plain(value: object) -> Any:
    """A parameter as something that equals only its like."""
    if value is None or isinstance(value, bool | int | str | bytes | enum.Enum | np.dtype | type):
        return type(value).__name__, value
    if isinstance(value, float | complex | np.ndarray | np.generic):
        array = np.asarray(value)
        return "array", array.shape, array.dtype.str, array.tobytes()
    if hasattr(value, "jaxpr") and hasattr(value, "consts"):
        if len(value.consts):  # they would be kept alive, and compared by nothing
            raise _UnlikeError
        return fingerprint(value.jaxpr)
    if hasattr(value, "eqns"):
        return fingerprint(value)
    if isinstance(value, tuple | list):
        return type(value).__name__, tuple(_plain(item) for item in value)
    if isinstance(value, dict):
        return "dict", tuple((key, _plain(item)) for key, item in sorted(value.items()))
    if callable(value) or not type(value).__module__.startswith(("jax", "numpy")):
        raise _UnlikeError
    return type(value).__name__, value


class Programs:
    """What is compiled of one traced function, by name."""

    def __init__(self, traced: Traced) -> None:
        self.traced, self.dim, self.dtype = traced, traced.dim, traced.dtype
        self.made: dict[str, Callable[..., Any]] = {}

    def get(self, name: str) -> Callable[..., Any]:
        if name not in self.made:
            self.made[name] = jax.jit(getattr(self, f"_{name}"))
        return self.made[name]

    def _at(
        self,
        constants: Constants,
        z: JaxArray,
        cols: JaxArray,
        silent: tuple[JaxArray, JaxArray] | None = None,
        ghost: JaxArray | None = None,
    ) -> JaxArray:
        """Fun at z on cols; ``silent``, on other coordinates, and ``ghost``, on all, are zero and differentiated."""
        parts = (Part(z, cols),) if silent is None else (Part(z, cols), Part(*silent, True))
        return self.traced(constants, Scattered(parts, self.dim, ghost))

    def _slope(self, constants: Constants, z: JaxArray, cols: JaxArray) -> JaxArray:
        nothing = jnp.zeros(self.dim, self.dtype)
        return jax.value_and_grad(lambda w: self._at(constants, z, cols, ghost=w))(nothing)

    def _gradient(self, constants: Constants, z: JaxArray, cols: JaxArray) -> JaxArray:
        return jax.value_and_grad(lambda u: self._at(constants, u, cols))(z)

    def _local(self, constants: Constants, z: JaxArray, cols: JaxArray) -> JaxArray:
        (value, gradient), push = jax.linearize(jax.value_and_grad(lambda u: self._at(constants, u, cols)), z)
        return value, gradient, jax.vmap(lambda d: push(d)[1])(jnp.eye(z.shape[0], dtype=z.dtype))

    def _rows(self, constants: Constants, z: JaxArray, cols: JaxArray) -> JaxArray:
        return _turned(lambda u: self._slope(constants, u, cols)[1], z)

    def _cross(self, constants: Constants, z: JaxArray, cols: JaxArray, others: JaxArray) -> JaxArray:
        nothing = jnp.zeros(others.shape[0], z.dtype)

        def slope(u: JaxArray) -> JaxArray:
            return jax.grad(lambda v: self._at(constants, u, cols, (v, others)))(nothing)

        return _turned(slope, z)

    def _diagonal(self, constants: Constants, z: JaxArray, cols: JaxArray, others: JaxArray) -> JaxArray:
        def bend(j: JaxArray) -> JaxArray:
            one, zero = jnp.ones(1, z.dtype), jnp.zeros(1, z.dtype)

            def along(t: JaxArray) -> JaxArray:
                return self._at(constants, z, cols, (t, j[None]))

            return jax.jvp(lambda t: jax.jvp(along, (t,), (one,))[1], (zero,), (one,))[1]

        return jax.vmap(bend)(others)

    def _product(self, constants: Constants, x: JaxArray, v: JaxArray) -> JaxArray:
        every = jnp.arange(self.dim)

        def slope(u: JaxArray) -> JaxArray:
            return jax.grad(lambda w: self._at(constants, w, every))(u)

        return jax.jvp(slope, (x,), (v,))[1]


def _turned(slope: Callable[[JaxArray], JaxArray], z: JaxArray) -> Callable[[JaxArray], JaxArray]:
    """The derivative of a slope, a row for every entry of z."""
    _, push = jax.linearize(slope, z)
    return jax.vmap(push)(jnp.eye(z.shape[0], dtype=z.dtype))
