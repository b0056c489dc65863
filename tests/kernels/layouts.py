"""Every way a dense or sparse matrix may be laid out in memory, by name."""

import numpy as np
import scipy.sparse as sp

SHAPES = [(1, 1), (1, 9), (9, 1), (23, 17), (0, 4), (4, 0), (300, 1100)]


def dense(layout, n, p, dtype, rng):
    """An n x p matrix in the given layout."""
    if layout in "CF":
        return np.array(rng.normal(size=(n, p)), dtype=dtype, order=layout)
    if layout == "C[::2]":
        return rng.normal(size=(2 * n, p)).astype(dtype)[::2]
    if layout == "C[:,3:]":
        return rng.normal(size=(n, p + 6)).astype(dtype)[:, 3 : p + 3]
    if layout == "F[:,::2]":
        return np.asfortranarray(rng.normal(size=(n, 2 * p)), dtype=dtype)[:, ::2]
    if layout == "F[3:]":
        return np.asfortranarray(rng.normal(size=(n + 6, p)), dtype=dtype)[3 : n + 3]
    if layout == "C[::-1]":
        return rng.normal(size=(n, p)).astype(dtype)[::-1]
    if layout == "broadcast":
        return np.broadcast_to(rng.normal(size=p).astype(dtype), (n, p))
    X = rng.normal(size=(n, p)).astype(dtype)
    X.flags.writeable = False
    return X


LAYOUTS = ["C", "F", "C[::2]", "C[:,3:]", "F[:,::2]", "F[3:]", "C[::-1]", "broadcast", "read-only"]


def sparse(kind, index, dtype, n, p, rng, rows, density=0.2):
    """A dense twin and the arguments (data, indices, indptr) of the same matrix."""
    D = rng.normal(size=(n, p)) * (rng.random((n, p)) < density)
    if p > 2:
        D[:, 1] = 0.0
    S = (sp.csr_matrix if rows else sp.csc_matrix)(D.astype(dtype))
    data, indices, indptr = S.data.copy(), S.indices.copy(), S.indptr.copy()
    if kind != "sorted":
        for line in range(len(indptr) - 1):
            part = slice(indptr[line], indptr[line + 1])
            order = rng.permutation(indptr[line + 1] - indptr[line])
            data[part], indices[part] = data[part][order], indices[part][order]
    if kind == "duplicates":
        data, indices, indptr = np.repeat(data, 2), np.repeat(indices, 2), indptr * 2
        data[::2] = data[::2] * dtype(0.25)
        data[1::2] = data[1::2] * dtype(0.75)
    D = S.toarray().astype(float)
    return D, (data, indices.astype(index), indptr.astype(index))


KINDS = ["sorted", "unsorted", "duplicates"]
