"""Losses of several outputs per sample: eta is n x q. They share one support, so a feature counts once.

| loss | phi(y, eta) | gradient | Hessian times t |
|---|---|---|---|
| several responses | ||eta - y||^2 / 2 | eta - y | t |
| multinomial, y one-hot | log sum_r e^eta_r - y . eta | P - y, P = softmax(eta) | P t - P (P . t) |
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .base import Vector


class VectorLoss:
    """phi(y, eta) with q outputs: value per sample, gradient, and the Hessian's product with a direction."""

    name: ClassVar[str] = ""
    quadratic: ClassVar[bool] = False
    attained: ClassVar[bool] = True

    def value(self, Y: Vector, eta: Vector) -> Vector:
        raise NotImplementedError

    def d1(self, Y: Vector, eta: Vector) -> Vector:
        raise NotImplementedError

    def turn(self, eta: Vector, t: Vector) -> Vector:
        """phi'' t, sample by sample."""
        raise NotImplementedError

    def weights(self, eta: Vector, r: int, s: int) -> Vector:
        """The entry (r, s) of every sample's Hessian."""
        raise NotImplementedError

    def start(self, Y: Vector, c: Vector) -> Vector:
        raise NotImplementedError

    def basis(self, q: int) -> Vector:
        """Orthonormal columns that span the directions of eta (one sample's q outputs) in which phi is not constant."""
        return np.eye(q)


@dataclass(frozen=True)
class Responses(VectorLoss):
    """Half the squared residual, added over the responses."""

    name: ClassVar[str] = "squared"
    quadratic: ClassVar[bool] = True

    def value(self, Y: Vector, eta: Vector) -> Vector:
        return 0.5 * ((eta - Y) ** 2).sum(axis=1)

    def d1(self, Y: Vector, eta: Vector) -> Vector:
        return eta - Y

    def turn(self, eta: Vector, t: Vector) -> Vector:
        return t

    def weights(self, eta: Vector, r: int, s: int) -> Vector:
        return np.full(len(eta), float(r == s))

    def start(self, Y: Vector, c: Vector) -> Vector:
        return c @ Y


@dataclass(frozen=True)
class Multinomial(VectorLoss):
    """Negative log-likelihood of several classes; coefficients of a feature sum to zero over the classes."""

    name: ClassVar[str] = "multinomial"
    attained: ClassVar[bool] = False

    def value(self, Y: Vector, eta: Vector) -> Vector:
        top = eta.max(axis=1, keepdims=True)
        return np.asarray(np.log(np.exp(eta - top).sum(axis=1)) + top[:, 0] - (Y * eta).sum(axis=1))

    def d1(self, Y: Vector, eta: Vector) -> Vector:
        return _softmax(eta) - Y

    def turn(self, eta: Vector, t: Vector) -> Vector:
        P = _softmax(eta)
        return P * t - P * (P * t).sum(axis=1, keepdims=True)

    def weights(self, eta: Vector, r: int, s: int) -> Vector:
        P = _softmax(eta)
        return P[:, r] * (float(r == s) - P[:, s])

    def start(self, Y: Vector, c: Vector) -> Vector:
        level = np.log(np.maximum(c @ Y, 1e-10))
        return level - level.mean()

    def basis(self, q: int) -> Vector:
        return np.linalg.svd(np.eye(q) - 1.0 / q)[0][:, : q - 1]  # orthogonal to the common constant


def _softmax(eta: Vector) -> Vector:
    P = np.exp(eta - eta.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    return P
