"""Where the nodes of a graph are drawn: connected parts by stress majorisation, packed side by side. Deterministic.

Gansner, Koren and North, "Graph drawing by stress majorization", GD 2004: minimise sum_ij d_ij^-2 (|z_i - z_j| -
d_ij)^2, where d is the length of the shortest path and an edge is the longer the fewer neighbours its ends share. One
pseudo-inverse, then O(m^2) a sweep for m nodes: half a second for 200.
"""

from collections.abc import Sequence

import numpy as np

from pursuit._utils.types import Columns, Flags, Matrix, Vector

MAX_SWEEPS = 200
MIN_SWEEP_GAIN = 1e-4  # relative gain of a sweep at which the layout stands
MAX_ASPECT_CHANGE = 1.5  # how much more one axis may be scaled than the other, to fill the page
MAX_PUSHES = 60
STRONG_EDGE_LENGTH = 0.4  # the strongest edge is as much shorter than one of no strength as this is than 1.4
COMPONENT_MARGIN = np.array([1.3, 0.9])  # between parts: names are wide


def parts(adjacent: Flags) -> list[Columns]:
    """The connected parts, largest first, without nodes that have no edge."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    label = connected_components(csr_array(adjacent), directed=False)[1]
    sizes = np.bincount(label)
    order = sorted(np.flatnonzero(sizes > 1), key=lambda part: (-sizes[part], np.flatnonzero(label == part)[0]))
    return [np.flatnonzero(label == part) for part in order]


def arranged(strength: Matrix, aspect: float) -> Matrix:
    """Places of all nodes, an edge about 1 long, about ``aspect`` times as wide as tall; NaN without edges.

    ``strength`` is 0 where there is no edge; the stronger one is, the shorter.
    """
    places = np.full((len(strength), 2), np.nan)
    found = parts(strength != 0)
    if not found:
        return places
    drawn = [_upright(_stress(_distances(strength[np.ix_(part, part)]))) for part in found]
    sizes = [np.ptp(z, axis=0) + COMPONENT_MARGIN for z in drawn]
    packed = (_packed(sizes, aspect * shape) for shape in (0.7, 0.85, 1.0, 1.2, 1.4))
    corners = min(packed, key=lambda tried: _page(tried, sizes, aspect))
    for part, z, size, corner in zip(found, drawn, sizes, corners, strict=True):
        places[part] = z - (z.min(axis=0) + z.max(axis=0)) / 2 + corner + size / 2
    return places * (1.0, -1.0)  # the largest part on top


def fitted(places: Matrix, width: float, height: float, gap: tuple[float, float]) -> Matrix:
    """Scaled into [0, width] x [0, height]; nodes nearer than ``gap`` in x and y move apart while there is room."""
    places = places.copy()
    inside = np.isfinite(places).all(axis=1)
    if inside.any():
        z = _filled(places[inside], width, height)
        for _ in range(4):
            z = _filled(_apart(z / gap) * gap, width, height, shrink_only=True)
        places[inside] = z
    return places


def _distances(strength: Matrix) -> Matrix:
    """Lengths of shortest paths; an edge is longer where it is weak, and where its ends share few neighbours."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    joined = strength != 0
    near = joined.astype(np.float64)
    degree = near.sum(axis=1)
    only_one = degree[:, None] + degree - 2 * (near @ near)
    length = np.where(joined, np.sqrt(only_one) / (STRONG_EDGE_LENGTH + np.abs(strength) / np.abs(strength).max()), 0.0)
    return np.asarray(shortest_path(csr_array(length / length[joined].mean())))


def _stress(d: Matrix) -> Matrix:
    """SMACOF from classical scaling."""
    from scipy.spatial.distance import cdist

    m = len(d)
    centred = np.eye(m) - 1.0 / m
    values, vectors = np.linalg.eigh(-0.5 * centred @ d**2 @ centred)
    z = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    z = z + 1e-2 * d.mean() * np.random.default_rng(0).standard_normal(z.shape)  # parts nodes that look alike
    weight = np.divide(1.0, d**2, out=np.zeros_like(d), where=d > 0)
    inverse = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight, hermitian=True)
    stress = np.inf
    for _ in range(MAX_SWEEPS):
        apart = cdist(z, z)
        before, stress = stress, float(np.sum(weight * (apart - d) ** 2))
        if before - stress <= MIN_SWEEP_GAIN * stress:
            break
        pull = np.divide(weight * d, apart, out=np.zeros_like(d), where=apart > 0)
        z = inverse @ (pull.sum(axis=1)[:, None] * z - pull @ z)
    return z


def _upright(z: Matrix) -> Matrix:
    """Turned so that it is widest along x."""
    z = z - z.mean(axis=0)
    axes = np.linalg.svd(z, full_matrices=False)[2]
    return z @ (axes * np.where(axes.sum(axis=1) < 0, -1.0, 1.0)[:, None]).T


def _packed(sizes: Sequence[Vector], aspect: float) -> list[Vector]:
    """Lower left corners of boxes that do not overlap, each where the page grows least (boxes come largest first)."""
    corners: list[Vector] = []
    for n, size in enumerate(sizes):
        ends = [(c, c + s) for c, s in zip(corners, sizes, strict=False)]
        xs = sorted({0.0, *(float(high[0]) for _, high in ends)})
        ys = sorted({0.0, *(float(high[1]) for _, high in ends)})
        free = [
            corner
            for corner in (np.array([x, y]) for x in xs for y in ys)
            if not any((corner < high - 1e-9).all() and (low < corner + size - 1e-9).all() for low, high in ends)
        ]
        corners.append(min(free, key=lambda corner: _page([*corners, corner], sizes[: n + 1], aspect)))
    return corners


def _page(corners: Sequence[Vector], sizes: Sequence[Vector], aspect: float) -> float:
    """How wide a page of this aspect must be; of equal ones the one whose last box is nearest to the corner."""
    wide, tall = np.max([corner + size for corner, size in zip(corners, sizes, strict=True)], axis=0)
    return max(float(wide), float(tall) * aspect) + 1e-3 * float(corners[-1].sum())


def _filled(z: Matrix, width: float, height: float, shrink_only: bool = False) -> Matrix:
    """Scaled and moved into the page, in its middle."""
    low, span = z.min(axis=0), np.maximum(np.ptp(z, axis=0), 1e-9)
    scale = np.array([width, height]) / span
    scale = np.minimum(scale, MAX_ASPECT_CHANGE * scale.min())
    if shrink_only:
        scale = np.minimum(scale, 1.0)
    return (z - low - span / 2) * scale + np.array([width, height]) / 2


def _apart(z: Matrix) -> Matrix:
    """Nodes that are nearer than 1 push each other away."""
    z = z.copy()
    for _ in range(MAX_PUSHES):
        away = z[:, None] - z
        far = np.linalg.norm(away, axis=2)
        np.fill_diagonal(far, np.inf)
        push = np.maximum(0.0, 1.0 - far)
        if not push.any():
            break
        z += 0.4 * (away * (push / np.maximum(far, 1e-3))[:, :, None]).sum(axis=1)
    return z
