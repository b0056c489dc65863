"""Losses of several outputs per sample: eta is n x q. They share one support, so a feature counts once.

| loss | phi(y, eta) | gradient | Hessian |
|---|---|---|---|
| several responses | ||eta - y||^2 / 2 | eta - y | I |
| multinomial, y one-hot | log sum_r e^eta_r - y . eta | P - y, P = softmax(eta) | diag(P) - P P' |
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp, softmax

from .base import Vector


@dataclass(frozen=True)
class Curve:
    """phi'' of every sample: diag(h_i) - u_i u_i', without the second part where ``u`` is None; h and u are n x q."""

    h: Vector
    u: Vector | None = None

    def times(self, t: Vector) -> Vector:
        """phi'' t, sample by sample."""
        out = self.h * t
        if self.u is not None:
            out -= self.u * np.einsum("ij,ij->i", self.u, t)[:, None]
        return out

    def weighted(self, c: Vector) -> "Curve":
        """The same, each sample's times its weight."""
        return Curve(c[:, None] * self.h, None if self.u is None else np.sqrt(c)[:, None] * self.u)

    def diagonal(self, r: int) -> Vector:
        """The entry (r, r) of every sample."""
        return self.h[:, r] if self.u is None else self.h[:, r] - self.u[:, r] ** 2

    def mean(self, c: Vector) -> Vector:
        """The weighted sum over the samples, q x q."""
        total = np.diag(c @ self.h)
        return total if self.u is None else total - (c[:, None] * self.u).T @ self.u


class VectorLoss:
    """phi(y, eta) with q outputs: value per sample, gradient, and the Hessian."""

    name: ClassVar[str] = ""
    quadratic: ClassVar[bool] = False
    attained: ClassVar[bool] = True

    def value(self, Y: Vector, eta: Vector) -> Vector:
        raise NotImplementedError

    def d1(self, Y: Vector, eta: Vector) -> Vector:
        raise NotImplementedError

    def curve(self, eta: Vector) -> Curve:
        """phi'' at eta."""
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

    def curve(self, eta: Vector) -> Curve:
        return Curve(np.ones_like(eta))

    def start(self, Y: Vector, c: Vector) -> Vector:
        return c @ Y


@dataclass(frozen=True)
class Multinomial(VectorLoss):
    """Negative log-likelihood of several classes; coefficients of a feature sum to zero over the classes."""

    name: ClassVar[str] = "multinomial"
    attained: ClassVar[bool] = False

    def value(self, Y: Vector, eta: Vector) -> Vector:
        return logsumexp(eta, axis=1) - (Y * eta).sum(axis=1)

    def d1(self, Y: Vector, eta: Vector) -> Vector:
        return softmax(eta, axis=1) - Y

    def curve(self, eta: Vector) -> Curve:
        P = softmax(eta, axis=1)
        return Curve(P, P)

    def start(self, Y: Vector, c: Vector) -> Vector:
        level = np.log(np.maximum(c @ Y, 1e-10))
        return level - level.mean()

    def basis(self, q: int) -> Vector:
        return np.linalg.svd(np.eye(q) - 1.0 / q)[0][:, : q - 1]  # orthogonal to the common constant
