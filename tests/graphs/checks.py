"""What every result on a graph promises, held against NumPy: a list of sentences about what is wrong."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphs.reference import best_exchange, correlations, shrunk, value, violation

AGREES = 1e-8  # of W^-1 with S on the graph, on the correlation scale
FAR = 1e6  # entries of W on the correlation scale beyond which digits are lost
STRONG = "no single exchange helps"


def pairs_of(edges: Any) -> set[tuple[int, int]]:
    return {(int(min(e)), int(max(e))) for e in edges}


def wrongs(
    result: Any,
    S: Any,
    k: int,
    *,
    include: Any = (),
    exclude: Any = (),
    shrinkage: float = 0.0,
    bounds: tuple[float, float] = (0.0, np.inf),
    refitted: bool = True,
) -> Iterator[str]:
    """Everything about a Result of LogDet(S) that is not as promised, but for claims of optimality."""
    S = shrunk(np.asarray(S, dtype=float), shrinkage)
    p, W = len(S), result.x
    edges = np.asarray(result.support)
    if edges.shape != (len(result.coef), 2) or W.shape != (p, p) or np.shape(result.intercept) != (p,):
        yield f"shapes: support {edges.shape}, coef {np.shape(result.coef)}, x {W.shape}"
        return
    if not (np.isfinite(W).all() and np.isfinite(result.value)):
        yield "not finite"
        return
    if len(edges) and not ((edges[:, 0] < edges[:, 1]).all() and np.array_equal(edges, np.unique(edges, axis=0))):
        yield f"the support is not sorted pairs i < j: {edges.tolist()}"
    if len(edges) > k:
        yield f"{len(edges)} edges, k is {k}"
    chosen = pairs_of(edges)
    if not pairs_of(include) <= chosen:
        yield f"include {pairs_of(include) - chosen} is missing"
    if pairs_of(exclude) & chosen:
        yield f"exclude {pairs_of(exclude) & chosen} is there"
    if not np.array_equal(W, W.T):
        yield "x is not symmetric"
    on = np.eye(p, dtype=bool)
    on[edges[:, 0], edges[:, 1]] = on[edges[:, 1], edges[:, 0]] = True
    if W[~on].any():
        yield "x has entries off the graph"
    if not np.array_equal(W[edges[:, 0], edges[:, 1]], result.coef):
        yield "coef is not x on the support"
    if not np.array_equal(W.diagonal(), result.intercept):
        yield "intercept is not the diagonal of x"
    yield from _as_a_matrix(result, S, W, edges, bounds, refitted)


def _as_a_matrix(result: Any, S: Any, W: Any, edges: Any, bounds: Any, refitted: bool) -> Iterator[str]:
    R, d = correlations(S)
    V = W * d * d[:, None]
    truth = value(R, V)
    if truth == np.inf:
        yield "x is not positive definite"
        return
    size = float(np.abs(V).max())
    truth += 2 * float(np.log(d).sum())
    if abs(result.value - truth) > 1e-9 * max(1.0, abs(truth)) + 1e-14 * size:
        yield f"value {result.value:.12g}, but x has {truth:.12g}"
    bounded = bounds[0] > 0 or bounds[1] < np.inf
    if bounded:
        levels = np.linalg.eigvalsh(W)
        if levels[0] < bounds[0] * (1 - 1e-9) - 1e-13 * levels[-1] or levels[-1] > bounds[1] * (1 + 1e-9):
            yield f"eigenvalues from {levels[0]:.6g} to {levels[-1]:.6g}, bounds {bounds}"
    if refitted and not bounded and size < FAR and result.point.refitted:
        far = violation(R, V, edges)
        if far > AGREES:
            yield f"the inverse is {far:.2e} from S on the graph"


def wrong_claims(
    result: Any, S: Any, k: int, *, include: Any = (), exclude: Any = (), shrinkage: float = 0.0
) -> Iterator[str]:
    """``swap_optimal`` where an exchange helps, or words that do not go with the claim."""
    if (STRONG in result.reason) != (result.optimality == "swap_optimal"):
        yield f"optimality {result.optimality!r} beside the reason {result.reason!r}"
    if result.optimality != "swap_optimal":
        return
    S = shrunk(np.asarray(S, dtype=float), shrinkage)
    other = best_exchange(S, result.support, include, exclude)
    if -np.inf < other < result.value - 1e-7 * max(1.0, abs(result.value)):
        yield f"swap_optimal at {result.value:.12g}, but an exchange has {other:.12g}"
