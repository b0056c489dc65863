"""Answers of data: numbers, vectors over the columns and small matrices; those of disjoint rows add up."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._utils.types import Flags, Intercept, Matrix, Vector


class Answer(NamedTuple):
    """The weighted loss, its gradient over all columns, its derivative in the intercept."""

    value: float
    gradient: Vector
    slope: Intercept


class Moments(NamedTuple):
    """Of weighted numbers (one column each, or one in all): their weight, mean, and sum of squares about it."""

    weight: float
    mean: Any  # a number, or a vector
    square: Any

    def about(self, origin: float | Vector) -> Vector:
        """The sum of squares about another number."""
        return self.square + self.weight * (self.mean - origin) ** 2

    def standardised(self, m: Vector, s: Vector, constant: Flags) -> "Moments":
        """That of the numbers (x - m) / s, or of zeros where ``constant``."""
        mean, square = (self.mean - m) / s, self.square / s**2
        return Moments(self.weight, np.where(constant, 0.0, mean), np.where(constant, 0.0, square))

    def moment(self, centred: bool) -> Vector:
        """The sum of squares about the mean, or about zero."""
        return self.square if centred else self.about(0.0)


class QuadraticForm(NamedTuple):
    """Weighted sums of products of columns, of columns and targets, and of each with 1."""

    gram: Matrix
    linear: Vector
    edge: Vector
    target: Intercept

    def centred(self) -> "QuadraticForm":
        """About the means, which are next to nothing before: rounding is all that is taken off."""
        gram = self.gram - np.outer(self.edge, self.edge)
        shift = np.outer(self.edge, self.target).reshape(self.linear.shape)
        return QuadraticForm(gram, self.linear - shift, np.zeros_like(self.edge), 0.0)


def merge_moments(spreads: Sequence[Moments]) -> Moments:
    """That of all numbers: sums of squares are about one common number before they are added."""
    weight = sum(s.weight for s in spreads)
    if not weight > 0:
        return Moments(0.0, spreads[0].mean, spreads[0].square)
    near = next(s.mean for s in spreads if s.weight > 0)
    mean = near + sum(
        (s.weight / weight) * (s.mean - near) for s in spreads if s.weight > 0
    )  # exact where all are equal
    return Moments(weight, mean, sum(s.about(mean) for s in spreads if s.weight > 0))
