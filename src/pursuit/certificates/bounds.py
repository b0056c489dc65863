"""Lower bounds of a size: which one fits a problem, from what is at hand."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._utils.rounding import gram_rounding
from ..constraints import AtMost
from ..objectives.base import Point
from ..objectives.glm import GLM
from ..refits.factor import unit_scale
from ..relaxations import working_set
from ..solving.driver import solve
from .glm_node import GLMNode
from .leaps import leaps
from .quadratic_node import Source, SparseQuadratic
from .tree import Tree
from .warm_start import SubsetRefits, WarmStart

MAX_GRAM_COLUMNS = 4000  # columns up to which the whole Gram matrix is formed
MAX_BRANCHED_ENTRIES = 5e7  # numbers up to which all columns are gathered for branching
MAX_RANK_COLUMNS = 500  # up to which the rank of a Gram matrix is cheap
RANK_TOLERANCE = 1e-12  # share of a unit diagonal below which an eigenvalue is rounding
MAX_LEAPS_FLOPS = 5e8  # flops of leaps and bounds, before branch and bound begins
NOT_EXACT = "the refit is not exact: columns differ from combinations of others by little more than rounding"
MAX_REFIT_WORK = 1e9  # n m^2 up to which the minimum over m columns is computed from the data


def search_between(f: GLM, constraint: AtMost, tree: Tree, inside: Sequence[int], alive: Sequence[int]) -> None:
    """Offers what ``auto`` finds between two sets of units."""
    out = np.setdiff1d(np.arange(constraint.units), np.asarray(alive, dtype=np.int64))
    include, groups = np.sort(np.asarray(inside, dtype=np.int64)), constraint.unit_of
    if constraint.by_blocks(f.outputs):
        groups = None
    else:
        include, out = constraint.columns_of(include), constraint.columns_of(out)
    found = solve(f, constraint.k, include=include, exclude=out, groups=groups, callback=lambda _: tree.late())
    tree.offer(tuple(int(u) for u in constraint.units_of(found.point.support)), found.value)
    if found.status == "interrupted" and not tree.late():  # the driver keeps Ctrl-C to itself; a proof ends with it
        raise KeyboardInterrupt


def has_dual(f: GLM) -> bool:
    return f.outputs == 1 and f.loss.has_conjugate and f.data.whole


def cheap_bound(f: GLM, constraint: AtMost, point: Point) -> float:
    """The bound at the solution's own dual point: one product with X, or what the loss alone gives."""
    if not np.all(f.ridge > 0):
        return f.lower
    if f.outputs > 1:
        return max(f.lower, _dual_value_of_outputs(f, constraint, point))
    if not has_dual(f):
        return f.lower
    dual = f.dual()
    a = dual.from_point(point)
    return max(f.lower, dual.value(a, constraint, dual.z_from_point(point, a)))


def _dual_value_of_outputs(f: GLM, constraint: AtMost, point: Point) -> float:
    """D(a) for the derivatives a of the loss at a point with its best intercepts, where phi*(a) = a eta - phi.

    Then D(a) = sum_i c_i phi_i - x'X'(c a) - sum of |X'(c a)|^2 / (2 l2) over the k largest units.
    """
    here = f.at(point.support, point.coef)
    ridge = np.broadcast_to(np.repeat(f.column_ridge(np.arange(f.data.shape[1])), f.outputs), f.dim)
    pull = here.gradient.copy()
    pull[here.support] -= ridge[here.support] * here.coef
    top = constraint.top(pull / np.sqrt(ridge))
    charge = float((pull[top] ** 2 / ridge[top]).sum())
    return f.loss_at(here) - float(here.coef @ pull[here.support]) - 0.5 * charge


def strong_bound(
    f: GLM, constraint: AtMost, known: Point, tree: Tree, cheap: float, branch: bool, hand: WarmStart
) -> tuple[float, str]:
    """The best bound that fits the problem, and why it is weak if it is."""
    if len(constraint.include) == constraint.k:
        return known.lower_bound, NOT_EXACT
    if len(constraint.allowed) <= constraint.k or _spans(f, constraint):
        lower = _all_allowed(f, constraint, known)
        if lower >= tree.target or len(constraint.allowed) <= constraint.k:
            return lower, NOT_EXACT
    columns = constraint.by_blocks(f.outputs)  # units are single columns of X
    if f.loss.quadratic and columns and f.data.shape[1] <= MAX_GRAM_COLUMNS:
        settled = _leaps_bound(f, constraint, tree) if branch else None
        if settled is not None:
            return settled, ""
        problem = _gram_root(f, constraint, known, hand)
        lower = tree.run(problem, branch=branch)
        hand.root = tree.relaxed_root or problem
        weak = "X has dependent columns and there is no ridge, so no curvature can be borrowed"
        unknown = not branch and lower < tree.target and tree.relaxed_root is None
        return lower, weak if unknown and problem.borrowed() is None else ""
    if f.outputs > 1:
        return cheap, _why_outputs_are_open(f, columns)
    if not f.data.whole:
        return f.lower, "the rows lie in parts or are gone, and the perspective bound needs them in one piece"
    if np.all(f.ridge > 0) and f.loss.has_conjugate:
        lower = working_set(f, constraint, known, tree, cheap, hand)
        if branch and lower < tree.target and f.data.shape[0] * f.dim <= MAX_BRANCHED_ENTRIES:
            lower = max(lower, _tree_bound(f, constraint, known, tree, hand, 60, True))
        return lower, ""
    if not f.loss.has_conjugate:
        return -np.inf, str(f.loss.no_conjugate)
    weak = "without a ridge the bound is the minimum over all columns, which is weak (set l2 > 0)"
    if f.data.shape[0] * f.dim > MAX_BRANCHED_ENTRIES:
        return f.lower, weak
    return _tree_bound(f, constraint, known, tree, hand, 400, branch), weak if not branch else ""


def _why_outputs_are_open(f: GLM, columns: bool) -> str:
    """Why there is no stronger bound for several responses or classes."""
    if not f.loss.quadratic:
        what = f"loss {f.loss.name!r} of several outputs has no relaxation"
    elif not columns:
        what = "several responses are proved for single columns, not for groups of them"
    else:
        what = f"several responses are proved from a Gram matrix, for up to {MAX_GRAM_COLUMNS} columns"
    have = "that of the solution's dual variables" if np.all(f.ridge > 0) else "the loss's infimum (set l2 > 0)"
    return f"{what}, so that the bound is {have}"


def _spans(f: GLM, constraint: AtMost) -> bool:
    """Whether k columns can explain all that there is to explain: the squared loss without a ridge, k at the rank."""
    if not f.loss.quadratic or np.any(f.ridge) or not constraint.by_blocks(f.outputs) or constraint.include.size:
        return False
    if constraint.k >= f.data.counted - f.fit_intercept:
        return True
    if len(constraint.allowed) > MAX_RANK_COLUMNS:
        return False
    gram = f.scaled_form[0].gram[np.ix_(constraint.allowed, constraint.allowed)]
    return int(np.linalg.matrix_rank(gram, tol=RANK_TOLERANCE * len(gram), hermitian=True)) <= constraint.k


def _all_allowed(f: GLM, constraint: AtMost, known: Point) -> float:
    """The minimum over all allowed columns, or a lower bound of it; the loss's own where that would take too long."""
    cols = constraint.columns_of(constraint.allowed)
    if np.array_equal(cols, known.support):
        return known.lower_bound
    if f.data.shape[0] * (len(cols) / f.outputs) ** 2 > MAX_REFIT_WORK:
        return f.lower
    return max(f.refit_on_data(cols, start=known).lower_bound, f.lower)


def _leaps_bound(f: GLM, constraint: AtMost, tree: Tree) -> float | None:
    """The bound by leaps and bounds, and its best solution offered; None where that does not settle it."""
    k = min(constraint.k, len(constraint.allowed))
    sizes, nodes = leaps(f, constraint.with_budget(k), k, 1, tree.tolerance, tree.late, MAX_LEAPS_FLOPS)
    tree.nodes += nodes
    if k not in sizes:
        return None
    for units, value, error in sizes[k].found:
        point = f.refit_on_data(constraint.columns_of(units))
        if point.value < value - error - tree.tolerance * f.scale(point.value):
            return None
        tree.offer(tuple(int(j) for j in units), point.value, point.lower_bound)
    lower = min(sizes[k].lower, tree.doubt, tree.upper)
    if lower < tree.target:
        return None
    tree.report(lower, 0)
    return lower


def _gram_root(f: GLM, constraint: AtMost, known: Point, hand: WarmStart) -> SparseQuadratic:
    if hand.root is None:
        return sparse_problem(f, constraint, known)
    return replace(hand.root, k=constraint.k - len(constraint.include))


def _tree_bound(
    f: GLM, constraint: AtMost, known: Point, tree: Tree, hand: WarmStart, effort: int, branch: bool
) -> float:
    problem = GLMNode.root(f, constraint, known.x) if hand.root is None else hand.root.with_budget(constraint)
    lower = tree.run(problem, effort, branch)
    hand.root = tree.relaxed_root or problem
    return lower


def sparse_problem(f: GLM, constraint: AtMost, known: Point) -> SparseQuadratic:
    """The squared loss as a quadratic over the allowed columns on a unit diagonal, forced-in ones minimised out.

    Every unit of the constraint is one column of X.
    """
    cols = constraint.allowed
    coarse, coarse_y = f.data.rounding_scale(cols)
    form, sizes = f.scaled_form
    H, size = form.gram[np.ix_(cols, cols)], sizes[cols]
    H[np.arange(len(cols)), np.arange(len(cols))] += f.column_ridge(cols) * size**2
    s = unit_scale(H)
    f0 = f.null.value
    root = np.sqrt(f0) or 1.0
    reach = (size * s)[:, None]  # x of the unit diagonal times this is x of the objective
    x = known.x.reshape(-1, f.outputs)[cols]
    problem = SparseQuadratic(
        np.ascontiguousarray(H * s * s[:, None]),
        s[:, None] * form.linear[cols].reshape(x.shape) / root,
        f0 / root**2,
        constraint.k,
        cols,
        Source(SubsetRefits(f, constraint, MAX_REFIT_WORK), root**2, gram_rounding(f.data.counted)),
        coarse,
        np.full(f.outputs, coarse_y),
        np.divide(x, reach * root, out=np.zeros(x.shape), where=reach > 0),
    )
    inside = np.flatnonzero(np.isin(cols, constraint.include))
    return problem.with_in(inside) if len(inside) else problem
