"""The fingerprint of rows: a few sums over rows that tell data apart, in one pass over X.

A weighted mean over rows depends on them through the measure sum_i c_i delta(x_i, y_i, o_i) alone. Its fingerprint are
``N_SUMS`` numbers

    sum_i c_i u(h_i),   h_i a 64-bit hash of row i,   u(h) pseudo-random in [-1, 1)

They add up over parts, and do not depend on the order of the rows, on how they are divided into parts, or on how equal
numbers are stored (float32, column-major, sparse). One changed entry changes its row's hash, and so every sum by about
that row's weight.

An operator has no entries to be read: there the sums are those of two products with it, weighted by row.
"""

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._utils.types import Array, Matrix, Vector
from ..designs import Design, Rows

Hashes = NDArray[np.uint64]

N_SUMS = 4
WEIGHT_SUM_ROUNDING = 1e-13  # by which sums of weights that sum to one may differ: other threads, other parts
PRODUCT_ROUNDING = 1e-9  # the same as a share of the norm, where an operator's products are added up
ROWS_AT_A_TIME = 1 << 14  # rows whose pseudo-random numbers are made together
TARGET_KEYS, OFFSET_KEYS = 1 << 60, 1 << 61  # first keys of the columns of y and of the offset


def row_sketch(design: Design, rows: Rows) -> Matrix:
    """The sums over these rows, and how far each may be off by rounding: ``N_SUMS`` x 2."""
    if design.products_only:
        return _product_sketch(design, rows)
    hashes = design.row_hashes() + _hashes(rows.y, TARGET_KEYS)
    if rows.offset is not None:
        hashes += _hashes(rows.offset, OFFSET_KEYS)
    values = np.zeros(N_SUMS)
    for low in range(0, len(hashes), ROWS_AT_A_TIME):
        some = slice(low, low + ROWS_AT_A_TIME)
        values += [rows.c[some] @ pseudo_random(hashes[some], seed) for seed in range(N_SUMS)]
    return np.column_stack([values, np.full(N_SUMS, WEIGHT_SUM_ROUNDING * float(rows.c.sum()))])


def form_sketch(G: Matrix, *beside: Vector) -> Matrix:
    """The same of a symmetric matrix of sums on a unit diagonal, and of vectors beside it."""
    u, v = _weights(len(G), 0), _weights(len(G), 1)
    values, sizes = [u @ G @ v, u @ G @ u], [float(np.linalg.norm(G))] * 2
    for vector in beside:
        values.append(_weights(len(vector), 2) @ vector)
        sizes.append(float(np.linalg.norm(vector)))
    return np.column_stack([values, PRODUCT_ROUNDING * np.array(sizes)])


def _weights(count: int, seed: int) -> Vector:
    return pseudo_random(np.arange(count, dtype=np.uint64), seed)


def pseudo_random(keys: Hashes, seed: int) -> Vector:
    """Numbers in [-1, 1) that are functions of the keys: splitmix64 (S. Vigna), as in core/hashes.hpp."""
    z = keys + np.uint64((0x9E3779B97F4A7C15 * (seed + 1)) % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0


def _hashes(values: Array, first: int) -> Hashes:
    """A hash per row of numbers that belong to the rows."""
    return _core.Matrix(np.ascontiguousarray(values).reshape(len(values), -1)).row_hashes(first)


def _product_sketch(design: Design, rows: Rows) -> Matrix:
    n, p = design.shape
    v, probes = _weights(n, 0), np.column_stack([_weights(p, 1), _weights(p, 2)])
    beside: list[Vector] = [np.ones(n), rows.y, *([] if rows.offset is None else [rows.offset])]
    held = np.column_stack([design.matmat(np.arange(p), probes), *beside])
    sizes = np.sqrt(rows.c @ held**2 * float(rows.c @ v**2))
    return np.column_stack([(rows.c * v) @ held, PRODUCT_ROUNDING * sizes])
