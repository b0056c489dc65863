"""A traced JAX function, evaluated at a scattered vector without touching the coordinates where it is zero.

``fun`` is traced once. Its jaxpr is then interpreted with x a :class:`Scattered`: z on a few coordinates, zero
elsewhere. Where x meets a matrix, ``X @ x`` becomes ``X[:, cols] @ z``, so that values, gradients and Hessians in z
cost what the few columns cost; elementwise operations that keep zero at zero stay on z; whatever else comes makes a
whole vector of it first, which is slower and as right.

Columns are padded with the index ``size``, beyond the end: gathering there gives zeros, scattering there is dropped.
A constant matrix whose columns are wanted is kept transposed as well (up to ``MAX_TRANSPOSED_ENTRIES`` entries), since
a column of a row-major matrix is one cache miss per entry.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import Array as JaxArray
from numpy.typing import DTypeLike

from .._utils.types import Keywords

if TYPE_CHECKING:
    from jax.extend.core import ClosedJaxpr, JaxprEqn

Constants: TypeAlias = dict[str, list[JaxArray]]  # of a jaxpr, and of those it calls, by their path

CALLS = ("jit", "pjit", "closed_call", "core_call")
ZERO_AT_ZERO = (
    "square",
    "abs",
    "sign",
    "sin",
    "tan",
    "asin",
    "atan",
    "sinh",
    "tanh",
    "asinh",
    "expm1",
    "log1p",
    "erf",
)
MAX_TRANSPOSED_ENTRIES = 1 << 26
LINEAR = ("neg", "convert_element_type", "copy")


@jax.custom_jvp
def absent(w: JaxArray) -> JaxArray:
    """Zero, whatever w is, but with w's derivative: a vector known to be zero that is differentiated all the same."""
    return jnp.zeros_like(w)


absent.defjvp(lambda primals, tangents: (absent(primals[0]), tangents[0]))


class Part(NamedTuple):
    """z on cols; a silent part is zero, and there for its derivatives."""

    z: JaxArray
    cols: JaxArray
    silent: bool = False

    def heard(self, value: JaxArray) -> JaxArray:
        """What a linear map makes of this part."""
        return absent(value) if self.silent else value


@dataclass(frozen=True)
class Scattered:
    """The sum of its parts (on disjoint coordinates), and ``ghost``, a whole vector that is zero."""

    parts: tuple[Part, ...]
    size: int
    ghost: JaxArray | None = None

    def whole(self) -> JaxArray:
        """As an ordinary vector."""
        x = jnp.zeros(self.size, self.parts[0].z.dtype)
        for part in self.parts:
            x = x.at[part.cols].add(part.z, mode="drop")
        return x if self.ghost is None else x + absent(self.ghost)

    def each(self, apply: Callable[[JaxArray], JaxArray]) -> "Scattered":
        """A function that is zero at zero (and, for a ghost, linear), applied to all parts."""
        parts = tuple(part._replace(z=apply(part.z)) for part in self.parts)
        return Scattered(parts, self.size, None if self.ghost is None else apply(self.ghost))

    def alike(self, other: "Scattered") -> bool:
        return len(self.parts) == len(other.parts) and all(
            a.cols is b.cols for a, b in zip(self.parts, other.parts, strict=True)
        )

    def along(self, other: "Scattered", apply: Callable[[JaxArray, JaxArray], JaxArray]) -> "Scattered":
        """A function of two, part by part."""
        parts = tuple(a._replace(z=apply(a.z, b.z)) for a, b in zip(self.parts, other.parts, strict=True))
        both = None if self.ghost is None or other.ghost is None else apply(self.ghost, other.ghost)
        return Scattered(parts, self.size, both)


Value: TypeAlias = JaxArray | Scattered  # of a variable of a jaxpr


class Traced:
    """A function's jaxpr with its constants taken out, so that compiled programs share them."""

    def __init__(self, fun: Callable[[JaxArray], JaxArray], dim: int, dtype: DTypeLike) -> None:
        closed = jax.make_jaxpr(fun)(jax.ShapeDtypeStruct((dim,), dtype))
        self.out = closed.out_avals
        self.closed, self.dim, self.dtype = closed, dim, dtype
        self.constants: Constants = {}
        self.folded: Constants = {}
        self._keep(closed, "")
        self.degree = self._degree(closed, [1])[0] if len(closed.jaxpr.outvars) == 1 else 3
        self.fun: Callable[[Any], object] | None = None

    def understood(self) -> bool:
        """Whether the jaxpr can be interpreted."""
        try:
            z, cols = jax.ShapeDtypeStruct((1,), self.dtype), jax.ShapeDtypeStruct((1,), jnp.int32)
            jax.eval_shape(lambda c, u, s: self(c, Scattered((Part(u, s),), self.dim)), self.constants, z, cols)
        except Exception:  # fun itself was traced without: this JAX's jaxprs are not what the interpreter knows
            return False
        return True

    def bare(self) -> "Traced":
        """The same code without its constants: what calls bring along."""
        twin = copy.copy(self)
        twin.constants, twin.closed = {}, twin.closed.replace(consts=[None] * len(twin.closed.consts))
        return twin

    @property
    def size(self) -> int:
        """How many numbers the constants hold."""
        return sum(int(c.size) for constants in self.constants.values() for c in constants if hasattr(c, "size"))

    def _keep(self, closed: "ClosedJaxpr", path: str) -> None:
        """Constants of this jaxpr and of those it calls; constants that it converts are converted here, once."""
        known = dict(zip(closed.jaxpr.constvars, map(self._constant, closed.consts), strict=True))
        folded = []
        for i, eqn in enumerate(closed.jaxpr.eqns):
            if eqn.primitive.name == "convert_element_type" and not _literal(eqn.invars[0]) and eqn.invars[0] in known:
                known[eqn.outvars[0]] = known[eqn.invars[0]].astype(eqn.params["new_dtype"])
                folded.append(eqn.outvars[0])
            elif eqn.primitive.name in CALLS:
                self._keep(_called(eqn), f"{path}/{i}")
            elif (matrix := _column_wise(eqn)) in known and known[matrix].size <= MAX_TRANSPOSED_ENTRIES:
                self.constants[f"{path}/{i}"] = [known[matrix].T.copy()]
        self.constants[path], self.folded[path] = list(known.values()), folded

    def _constant(self, given: JaxArray) -> JaxArray:
        """A constant as a JAX array; NumPy's floats in the precision of x.

        JAX remembers a NumPy array in the precision of its first use, whatever the setting at the next: a function that
        was called in float32 before would else mix both.
        """
        array = jnp.asarray(given)
        numpy = not isinstance(given, jax.Array) and jnp.issubdtype(array.dtype, jnp.floating)
        return array.astype(self.dtype) if numpy else array

    def __call__(self, constants: Constants, x: Scattered) -> JaxArray:
        """The value at a scattered x."""
        if self.fun is not None:
            return self.fun(x.whole())
        value = self._run(self.closed, "", constants, [x])[0]
        return value.whole() if isinstance(value, Scattered) else value

    def _run(self, closed: "ClosedJaxpr", path: str, constants: Constants, arguments: list[Value]) -> list[Value]:
        jaxpr = closed.jaxpr
        env = dict(zip([*jaxpr.constvars, *self.folded[path]], constants[path], strict=True))
        env.update(zip(jaxpr.invars, arguments, strict=True))
        for i, eqn in enumerate(jaxpr.eqns):
            if all(v in env for v in eqn.outvars):
                continue
            inputs = [v.val if _literal(v) else env[v] for v in eqn.invars]
            if eqn.primitive.name in CALLS:
                outputs = self._run(_called(eqn), f"{path}/{i}", constants, inputs)
            else:
                outputs = _apply(eqn, inputs, constants.get(f"{path}/{i}", [None])[0])
            env.update(zip(eqn.outvars, outputs, strict=True))
        return [v.val if _literal(v) else env[v] for v in jaxpr.outvars]

    def _degree(self, closed: "ClosedJaxpr", degrees: list[int]) -> list[int]:
        """The degree of each output as a polynomial in x, 3 standing for more or none."""
        env = dict(zip(closed.jaxpr.invars, degrees, strict=True))

        def of(v: Any) -> int:
            return 0 if _literal(v) else env.get(v, 0)

        for eqn in closed.jaxpr.eqns:
            own, name = [of(v) for v in eqn.invars], eqn.primitive.name
            if name in CALLS:
                outs = self._degree(_called(eqn), own)
            elif not any(own):
                outs = [0] * len(eqn.outvars)
            else:
                outs = [min(_degree_after(name, eqn.params, own), 3)] * len(eqn.outvars)
            env.update(zip(eqn.outvars, outs, strict=True))
        return [of(v) for v in closed.jaxpr.outvars]


def _degree_after(name: str, params: Keywords, own: list[int]) -> int:
    if name in ("mul", "dot_general"):
        return sum(own)
    if name == "square":
        return 2 * own[0]
    if name == "integer_pow":
        return own[0] * params["y"] if params["y"] >= 0 else 3
    if name == "div":
        return own[0] if own[1] == 0 else 3
    keep = (
        *LINEAR,
        "add",
        "sub",
        "add_any",
        "reduce_sum",
        "slice",
        "squeeze",
        "reshape",
        "broadcast_in_dim",
        "transpose",
        "concatenate",
        "cumsum",
        "rev",
    )
    return max(own) if name in keep else 3


def _literal(v: Any) -> bool:
    return hasattr(v, "val")


def _column_wise(eqn: "JaxprEqn") -> Any:
    """The matrix of a product A x that would be read by columns, or None."""
    if eqn.primitive.name != "dot_general" or any(map(_literal, eqn.invars)):
        return None
    for v, w, (axis, *more) in zip(eqn.invars, eqn.invars[::-1], eqn.params["dimension_numbers"][0], strict=True):
        if (v.aval.ndim, w.aval.ndim, axis, more) == (2, 1, 1, []):
            return v
    return None


def _called(eqn: "JaxprEqn") -> Any:
    return eqn.params["jaxpr"] if "jaxpr" in eqn.params else eqn.params["call_jaxpr"]


def _bind(eqn: "JaxprEqn", inputs: list[Value]) -> list[JaxArray]:
    params, functions = eqn.primitive.get_bind_params(eqn.params), ()
    if isinstance(params, tuple):  # before JAX 0.10
        functions, params = params
    return eqn.primitive.bind(*functions, *inputs, **params)


def _apply(eqn: "JaxprEqn", inputs: list[Value], turned: JaxArray | None) -> list[Value]:
    if any(isinstance(value, Scattered) for value in inputs):
        result = _scattered(eqn, inputs, turned)
        if result is not None:
            return [result]
        inputs = [value.whole() if isinstance(value, Scattered) else value for value in inputs]
    out = _bind(eqn, inputs)
    return list(out) if eqn.primitive.multiple_results else [out]


def _scattered(eqn: "JaxprEqn", inputs: list[Value], turned: JaxArray | None) -> Value | None:
    """The operation on scattered inputs, or None where there is no rule."""
    name, x = eqn.primitive.name, inputs[0]
    if len(inputs) == 1:
        if name in LINEAR:
            return x.each(lambda z: _bind(eqn, [z]))
        power = name == "integer_pow" and eqn.params["y"] > 0
        if x.ghost is None and (name in ZERO_AT_ZERO or power):
            return x.each(lambda z: _bind(eqn, [z]))
        if name == "reduce_sum":
            total = sum(jnp.sum(part.z) for part in x.parts)
            return total if x.ghost is None else total + absent(jnp.sum(x.ghost))
        return _slice(eqn, x) if name == "slice" else None
    if len(inputs) != 2:
        return None
    a, b = inputs
    if name == "dot_general":
        return _dot(eqn, a, b, turned)
    if isinstance(a, Scattered) and isinstance(b, Scattered):
        if name in ("add", "sub", "add_any") and a.alike(b) and (a.ghost is None) == (b.ghost is None):
            return a.along(b, lambda u, v: _bind(eqn, [u, v]))
        if name == "mul" and a.alike(b) and a.ghost is None and b.ghost is None:
            return a.along(b, lambda u, v: u * v)
        return None
    if name == "mul" or (name == "div" and isinstance(a, Scattered)):
        x, other = (a, b) if isinstance(a, Scattered) else (b, a)
        apply = (lambda u, v: u * v) if name == "mul" else (lambda u, v: u / v)
        return _weigh(x, other, apply)
    return None


def _weigh(x: Scattered, other: JaxArray, apply: Callable[[JaxArray, JaxArray], JaxArray]) -> Scattered | None:
    """x times (or over) a number or a vector."""
    if jnp.ndim(other) == 0:
        return x.each(lambda z: apply(z, other))
    parts = tuple(
        part._replace(z=apply(part.z, jnp.take(other, part.cols, mode="fill", fill_value=1))) for part in x.parts
    )
    return Scattered(parts, x.size, None if x.ghost is None else apply(x.ghost, other))


def _slice(eqn: "JaxprEqn", x: Scattered) -> Scattered | None:
    strides = eqn.params["strides"]
    if strides is not None and tuple(strides) != (1,):
        return None
    (first,), (last,) = eqn.params["start_indices"], eqn.params["limit_indices"]
    parts = []
    for z, cols, silent in x.parts:
        inside = (cols >= first) & (cols < last)
        parts.append(Part(jnp.where(inside, z, 0), jnp.where(inside, cols - first, last - first), silent))
    return Scattered(tuple(parts), last - first, None if x.ghost is None else x.ghost[first:last])


def _dot(eqn: "JaxprEqn", a: JaxArray | Scattered, b: JaxArray | Scattered, turned: JaxArray | None) -> Value | None:
    (left, right), (batch, _) = eqn.params["dimension_numbers"]
    if len(left) != 1 or batch:
        return None
    if isinstance(a, Scattered) and isinstance(b, Scattered):
        if not a.alike(b) or a.ghost is not None or b.ghost is not None:
            return None
        return sum(jnp.dot(u.z, v.z) for u, v in zip(a.parts, b.parts, strict=True))
    first = isinstance(a, Scattered)
    x, matrix, axis = (a, b, right[0]) if first else (b, a, left[0])

    def product(vector: JaxArray, block: JaxArray) -> JaxArray:
        return _bind(eqn, [vector, block] if first else [block, vector])

    def columns(cols: JaxArray) -> JaxArray:
        if turned is None:
            return jnp.take(matrix, cols, axis=axis, mode="fill", fill_value=0)
        return jnp.take(turned, cols, axis=0, mode="fill", fill_value=0).T

    total = sum(part.heard(product(part.z, columns(part.cols))) for part in x.parts)
    return total if x.ghost is None else total + absent(product(x.ghost, matrix))
