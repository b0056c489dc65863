"""Where names of nodes stand: next to their node, off other names, nodes and edges as far as that goes.

Each name tries places around its node; in turn, and again, it takes the one that covers least (in square points).
O(m (m + edges)) for m names.
"""

from collections.abc import Sequence

import numpy as np

from pursuit._utils.types import Columns, Flags, Matrix, Vector

N_ROUNDS = 4
SIDES = np.array([(1, 0), (-1, 0), (0, -1), (0, 1), (0.8, -0.8), (-0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)])
LABEL_DISTANCES = (1.0, 2.6)  # times the distance from the node
# of the sides, where nothing else decides: shares of a name
SIDE_PENALTIES = np.r_[0.0, 0.02, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09]
DISTANCE_PENALTY = 0.25
ON_NAME, ON_NODE, ON_EDGE, OUTSIDE = 4.0, 3.0, 0.25, 6.0  # what covering costs


def text_sizes(texts: Sequence[str], points: float) -> Matrix:
    """Width and height of each text at this size, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=points)
    wide = [text_to_path.get_text_width_height_descent(text, font, False)[0] for text in texts]
    return np.column_stack([wide, np.full(len(texts), 1.1 * points)])


def label_places(
    at: Matrix, radius: Vector, sizes: Matrix, segments: Matrix, page: tuple[float, float], wanted: Flags
) -> Matrix:
    """Centres of the names: ``at`` and ``radius`` of all nodes, ``segments`` (edges, 2, 2), the page from (0, 0)."""
    offsets = np.concatenate([SIDES * reach for reach in LABEL_DISTANCES])
    taste = np.concatenate([SIDE_PENALTIES + DISTANCE_PENALTY * (reach > 1) for reach in LABEL_DISTANCES])
    centres = at[:, None] + offsets * (radius + 2.0)[:, None, None] + np.sign(offsets) * sizes[:, None] / 2
    area = sizes.prod(axis=1)
    fixed = taste * area[:, None]
    for i in np.flatnonzero(wanted):
        low, high = centres[i] - sizes[i] / 2, centres[i] + sizes[i] / 2
        others = np.delete(np.arange(len(at)), i)
        nodes = _shared(low, high, at[others] - radius[others, None], at[others] + radius[others, None])
        fixed[i] += ON_NODE * nodes.sum(axis=1) + ON_EDGE * sizes[i, 1] * _inside(low, high, segments).sum(axis=1)
        off = np.maximum(0.0, -low) + np.maximum(0.0, high - np.array(page))
        fixed[i] += OUTSIDE * off.sum(axis=1) * sizes[i, 1]
    chosen = fixed.argmin(axis=1)
    order = np.flatnonzero(wanted)[np.argsort(-fixed.min(axis=1)[wanted], kind="stable")]
    for _ in range(N_ROUNDS):
        if not _take_turns(order, centres, sizes, fixed, chosen):
            break
    return centres[np.arange(len(at)), chosen]


def _take_turns(order: Columns, centres: Matrix, sizes: Matrix, fixed: Matrix, chosen: Columns) -> bool:
    """Each name takes its best place given the others'; whether any moved."""
    moved = False
    for i in order:
        others = order[order != i]
        there = centres[others, chosen[others]]
        half, own = sizes[others] / 2, sizes[i] / 2
        cover = _shared(centres[i] - own, centres[i] + own, there - half, there + half).sum(axis=1)
        best = int(np.argmin(fixed[i] + ON_NAME * cover))
        moved |= best != chosen[i]
        chosen[i] = best
    return moved


def _shared(low: Matrix, high: Matrix, lows: Matrix, highs: Matrix) -> Matrix:
    """The area that boxes (rows) share with other boxes (columns)."""
    sides = np.minimum(high[:, None], highs) - np.maximum(low[:, None], lows)
    return np.asarray(np.maximum(sides, 0.0).prod(axis=2))


def _inside(low: Matrix, high: Matrix, segments: Matrix) -> Matrix:
    """How long the segments (columns) are inside boxes (rows): Liang and Barsky's clipping."""
    start, way = segments[:, 0], segments[:, 1] - segments[:, 0]
    way = np.where(np.abs(way) < 1e-9, 1e-9, way)
    a, b = (low[:, None] - start) / way, (high[:, None] - start) / way
    enter = np.minimum(a, b).max(axis=2).clip(0.0, 1.0)
    leave = np.maximum(a, b).min(axis=2).clip(0.0, 1.0)
    return np.asarray(np.maximum(0.0, leave - enter) * np.linalg.norm(way, axis=1))
