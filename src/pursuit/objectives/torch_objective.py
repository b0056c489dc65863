"""A PyTorch function as an objective: gradients by ``autograd``, Hessian products by a second backward pass.

Refits are L-BFGS on the restricted variables, without a Hessian: with PyTorch's eager tapes a product with H costs
about two gradients, and a refit on m coordinates needs fewer gradients than m products.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.types import ArrayLike, Vector
from .._utils.validation import require_package
from .function import SmoothFunction, check_callable, check_value

if TYPE_CHECKING:
    from torch import Tensor


class TorchFunction(SmoothFunction):
    """An objective from a function written with ``torch``; derivatives are PyTorch's.

    Parameters
    ----------
    fun : callable
        A function of a tensor of length ``dim`` that returns a scalar tensor and is differentiable.
    dim : int
        Number of variables.
    float64 : bool, default True
        Hand ``fun`` float64 tensors (its own tensors must then be float64 too); False: PyTorch's default dtype.
    device : torch.device, str or None, default None
        Where the tensors live; None is PyTorch's default device.
    start : array of shape (dim,) or None, default None
        Where the function is finite, if it is not at zero.

    See Also
    --------
    Function : With derivatives of your own.

    Examples
    --------
    >>> import pursuit
    >>> f = pursuit.from_torch(lambda x: ((x - 1.0) ** 2).sum() + 5 * x[0], 4)
    >>> pursuit.solve(f, 2).support.tolist()
    [0, 1]
    """

    def __init__(
        self,
        fun: "Callable[[Tensor], Tensor]",
        dim: int,
        *,
        float64: bool = True,
        device: Any = None,
        start: ArrayLike | None = None,
    ) -> None:
        super().__init__(dim, start)
        check_callable(fun, "fun")
        torch = require_package("torch", "torch", "from_torch", "PyTorch")
        self.torch, self.fun, self.device = torch, fun, device
        self._made = partial(type(self), fun, dim, float64=float64, device=device, start=start)
        self.dtype = torch.float64 if float64 else torch.get_default_dtype()
        self.eps = float(torch.finfo(self.dtype).eps)

    def __reduce__(self) -> tuple[object, ...]:
        """Made anew from its arguments: a module cannot be copied."""
        return self._made, ()

    def evaluate(self, x: Vector) -> tuple[float, Vector]:
        z, value = self._value(x)
        (gradient,) = self.torch.autograd.grad(value, z)
        return check_value(value.detach().cpu().numpy()), self._array(gradient)

    def times(self, x: Vector, V: Vector) -> Vector:
        z, value = self._value(x)
        (gradient,) = self.torch.autograd.grad(value, z, create_graph=True)
        out = np.zeros_like(V)
        for j, v in enumerate(V.T if gradient.requires_grad else ()):  # a linear function has no second derivative
            (turn,) = self.torch.autograd.grad(
                gradient, z, self._tensor(v), retain_graph=True, allow_unused=True, materialize_grads=True
            )
            out[:, j] = self._array(turn)
        return out

    def _value(self, x: Vector) -> "tuple[Tensor, Tensor]":
        z = self._tensor(x).requires_grad_()
        with self.torch.enable_grad():
            value = self.fun(z)
        if not isinstance(value, self.torch.Tensor) or not value.requires_grad:
            raise TypeError(f"fun must return a tensor computed from its argument, got {type(value).__name__}")
        if value.ndim != 0:
            raise ValueError(f"fun must return one number, got a tensor of shape {tuple(value.shape)}")
        return z, value

    def _tensor(self, x: Vector) -> "Tensor":
        return self.torch.tensor(x, dtype=self.dtype, device=self.device)

    def _array(self, tensor: "Tensor") -> Vector:
        return np.asarray(tensor.detach().cpu().numpy(), dtype=np.float64)


from_torch = TorchFunction
