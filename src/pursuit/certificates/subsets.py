"""The statistician's table: the best subsets of each size, proved where there is a proof, with runners-up."""

import time
from functools import partial
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from .._utils.arrays import without
from .._utils.column_names import resolve_columns
from .._utils.progress import progress_callback
from .._utils.types import ArrayLike, Callback, Columns, ColumnsLike, GroupsLike, MatrixLike
from .._utils.validation import check_k, check_number
from ..constraints import AtMost
from ..engines import threads
from ..losses import Loss
from ..objectives import GLM
from ..objectives.base import Objective, Point
from ..solving.driver import solve
from .bounds import MAX_BRANCHED_ENTRIES, has_dual, search_between, sparse_problem
from .glm_node import GLMNode
from .leaps import leaps
from .subsets_table import Subset, Subsets
from .tree import Tree

MAX_ENUMERATED = 5000  # subsets up to which all are refitted where bounds are weak or missing
DEFAULT_SECONDS_PER_SIZE = 5.0  # seconds for the proof of a size where no time was given, and the loss is not squared
EXACT_GAP, CLOSE_GAP = 1e-9, 1e-6  # relative gap at which a subset is proved: by the Gram matrix, and for other losses

Found = tuple[int, int, Point, bool]  # size, rank, point, whether it is proved


def best_subsets(
    X: MatrixLike,
    y: ArrayLike | None = None,
    kmax: Any = None,
    nbest: int = 1,
    *,
    loss: str | Loss = "squared",
    l2: float = 0.0,
    fit_intercept: bool = True,
    sample_weight: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    include: ColumnsLike = (),
    exclude: ColumnsLike = (),
    groups: GroupsLike = None,
    time_limit: float | None = None,
    progress: Callback = None,
) -> Subsets:
    """List the ``nbest`` best subsets of each size up to kmax, proved by leaps and bounds or by branch and bound.

    Parameters
    ----------
    X : array, data frame, sparse matrix, GLM or Quadratic
        As in :class:`pursuit.GLM`; or an objective that was made of X and y, which brings its own:
        ``best_subsets(objective, kmax=5)``.
    y : array of shape (n,) or (n, q), or None, default None
        As in :class:`pursuit.GLM`; several columns as in :class:`pursuit.MultiGLM`.
    kmax : int or None, default None
        The largest size.
    nbest : int, default 1
        How many subsets of each size. More than one needs a proof, which all of pursuit's losses of one output and the
        squared loss of several have, others up to 5000 subsets.
    loss : str or Loss, default "squared"
        As in :class:`pursuit.GLM`, also "multinomial".
    l2 : float, default 0
        Ridge; subsets are then ranked by the objective.
    fit_intercept : bool, default True
        Whether there is an intercept.
    sample_weight : array of shape (n,) or None, default None
        Weights of the rows.
    offset : array of shape (n,) or None, default None
        Added to the linear predictor, as in :class:`pursuit.GLM`.
    include, exclude : sequence of int or str, or mask
        As in :func:`pursuit.solve`; sizes begin with what is included.
    groups : sequence, dict, "prefix" or None, default None
        As in :func:`pursuit.solve`.
    time_limit : float or None, default None
        Seconds for the whole table, shared out among the sizes. None: the squared loss takes what it needs, other
        losses get five seconds a size. ``proved`` is False where time came first, or where there is no proof.
    progress : callable, True or None, default None
        Called with (size, largest size); True shows a bar.

    Returns
    -------
    Subsets
        A list of rows, smallest size first, best first within a size; ``print`` shows it as a table.

    Raises
    ------
    ValueError, TypeError
        Where an argument is wrong, or where ``nbest`` needs proofs that the loss has not; the message says what would
        be right.

    See Also
    --------
    certify : One size, any solver's result.
    path : Every size, without proofs.

    Notes
    -----
    Cp uses the residual variance of the model with all columns where there are more rows than columns, else that of the
    best model of the largest size. AIC and BIC are n log(rss/n) (other losses: the deviance, -2 log-likelihood up to a
    constant of the data) plus 2 or log n per coefficient, intercept included. R2 is the share of the deviance that is
    explained. Subsets whose values differ by less than a share of 1e-9 tie (dependent columns, exact fits): which of
    them are listed is arbitrary, and the table says where rows tie.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 8))
    >>> y = X[:, 3] - 2 * X[:, 7] + rng.standard_normal(60)
    >>> [(row.k, row.support, row.proved) for row in pursuit.best_subsets(X, y, 2)]
    [(1, (7,), True), (2, (3, 7), True)]
    """
    if kmax is None:
        raise TypeError("kmax is missing: best_subsets(X, y, kmax), or best_subsets(objective, kmax=...)")
    kmax, nbest = check_k(kmax, "kmax"), check_k(nbest, "nbest")
    limit = None if time_limit is None else check_number(time_limit, "time_limit")
    f = _objective(X, y, loss, l2=l2, fit_intercept=fit_intercept, sample_weight=sample_weight, offset=offset)
    include, exclude = (
        resolve_columns(cols, name, f.dim // f.width, f.names)
        for cols, name in ((include, "include"), (exclude, "exclude"))
    )
    if groups is None and len(include) > kmax:
        raise ValueError(f"include names {len(include)} columns, more than kmax={kmax} allows")
    most = f.sparse_set(kmax, include, exclude, groups)
    sizes = range(max(1, len(most.include)), most.k + 1)
    if nbest > 1 and not all(_choose_method(f, most.with_budget(k)) for k in sizes):
        raise ValueError(f"nbest={nbest} needs a proof, which loss {f.loss.name!r} has not for so many; give nbest=1")
    end = None if limit is None else time.perf_counter() + limit
    found: list[Found] = []
    with threads(), np.errstate(all="ignore"), progress_callback(progress, "sizes", most.k) as on_size:
        settled = _leaps_and_bounds(f, most, sizes, nbest, limit)
        for k in sizes:
            on_size(k, most.k)
            if k in settled:
                found += settled[k]
                continue
            now = time.perf_counter()
            late = None if end is None else now + max(end - now, 0.0) / (sizes[-1] + 1 - k)
            if late is None and not f.quadratic:
                late = now + DEFAULT_SECONDS_PER_SIZE
            known = solve(f, k, include=include, exclude=exclude, groups=groups).point
            found += _of_size(f, most.with_budget(k), known, nbest, late)
        return _table(f, found, _missing(most, found, sizes, nbest))


def _objective(X: MatrixLike, y: ArrayLike | None, loss: str | Loss, **options: Any) -> Any:
    if isinstance(X, GLM):
        given = [option for option in (y, options["sample_weight"], options["offset"]) if option is not None]
        if given or loss != "squared" or options["l2"] != 0 or options["fit_intercept"] is not True:
            raise TypeError(
                "an objective brings its own: leave y, loss, l2, fit_intercept, sample_weight and offset out, and name"
                " kmax"
            )
        return X
    if isinstance(X, Objective) or hasattr(X, "fit"):
        cure = "its objective_, once it is fitted" if hasattr(X, "fit") else "solve or path has no such limit"
        raise TypeError(f"best_subsets needs X and y, or a GLM, MultiGLM or Quadratic, got {type(X).__name__}: {cure}")
    return GLM(X, y, loss, **options)


def _choose_method(f: "GLM", constraint: AtMost) -> str:
    """How a size is proved: by the Gram matrix, by refits of every subset, by a tree of bounds; "" where it is not."""
    if "proof" in f.offers and f.quadratic and constraint.by_blocks(f.outputs):
        return "gram"
    n, p = f.data.shape
    bounds = "proof" in f.offers and has_dual(f) and n * p <= MAX_BRANCHED_ENTRIES
    if (
        not (bounds and np.all(f.ridge > 0)) and _sets(constraint) <= MAX_ENUMERATED
    ):  # without a ridge bounds save little
        return "every"
    return "tree" if bounds else ""


def _leaps_and_bounds(f: "GLM", most: AtMost, sizes: range, nbest: int, limit: float | None) -> dict[int, list[Found]]:
    """The sizes that leaps and bounds settles, all at once, in half of the time that there is."""
    if not sizes or _choose_method(f, most) != "gram":
        return {}
    end = None if limit is None else time.perf_counter() + 0.5 * limit
    done, _ = leaps(f, most, sizes[0], nbest, 0.9 * EXACT_GAP, lambda: end is not None and time.perf_counter() >= end)
    settled = {}
    for k, size in done.items():
        points = [_refit(f, most.columns_of(units)) for units, _, _ in size.found]
        off = (
            value - error - point.value - EXACT_GAP * f.scale(point.value)
            for point, (_, value, error) in zip(points, size.found, strict=True)
        )
        rows = _rows(f, most.with_budget(k), points, size.lower, EXACT_GAP)[:nbest]
        if max(off) <= 0 and all(sure for *_, sure in rows):
            settled[k] = rows
    return settled


def _of_size(f: "GLM", constraint: AtMost, known: Point, nbest: int, deadline: float | None) -> list[Found]:
    """The best subsets of one size: a solver's, and what a proof finds beside it."""
    k, way = constraint.k, _choose_method(f, constraint)
    if not way:
        return [(k, 1, known, False)]
    gap = EXACT_GAP if way == "gram" else CLOSE_GAP
    tree = Tree(0.9 * gap, f.scale, nbest, deadline=deadline)
    if constraint.count(known.support) == k:
        tree.offer(tuple(int(u) for u in constraint.units_of(known.support)), known.value)
    if way == "gram":
        lower = tree.run(sparse_problem(f, constraint, known), effort=200)
    elif way == "every":
        lower = _enumerate(f, constraint, tree)
    else:
        tree.search = partial(search_between, f, constraint) if nbest == 1 else None
        lower = tree.run(GLMNode.root(f, constraint, known.x), effort=60)
    supports = [constraint.columns_of(np.array(units)) for units in tree.found] or [known.support]
    return _rows(f, constraint, [_refit(f, support) for support in supports], lower, gap)


def _rows(f: "GLM", constraint: AtMost, points: list[Point], lower: float, gap: float) -> list[Found]:
    """Points in order; those are proved that no other subset can be better than, ``lower`` being what others have."""
    rows, only = [], _sets(constraint) == 1  # then there is nothing to prove
    for rank, point in enumerate(sorted(points, key=lambda point: point.value), 1):
        room = max(10 * EXACT_GAP, gap) * f.scale(point.value)
        sure = point.value <= lower + room and point.value <= max(point.lower_bound, f.lower) + room
        sure = sure or point.value <= getattr(f, "nothing", f.floor)
        rows.append((constraint.k, rank, point, sure or (only and constraint.count(point.support) == constraint.k)))
    return rows


def _missing(most: AtMost, found: list[Found], sizes: range, nbest: int) -> list[str]:
    """Why sizes have fewer rows than requested."""
    lists = {k: [row for row in found if row[0] == k] for k in sizes}
    short = {k: _sets(most.with_budget(k)) for k in sizes if len(lists[k]) < nbest}
    none = [k for k, sets in short.items() if sets <= len(lists[k])]
    ties = [k for k, sets in short.items() if sets > len(lists[k])]
    words = []
    if none:
        words.append(f"At k = {_describe(none)} there are no more subsets than are listed")
    if ties:
        words.append(
            f"At k = {_describe(ties)} further subsets were not separated: they fit equally well, or time came first"
        )
    return words


def _describe(sizes: list[int]) -> str:
    return ", ".join(map(str, sizes))


def _refit(f: "GLM", support: Columns) -> Point:
    """A refit that does not depend on what was kept."""
    return f.refit_on_data(support) if hasattr(f, "refit_on_data") else f.refit(support)


def _sets(constraint: AtMost) -> int:
    """How many subsets there are."""
    return comb(len(constraint.allowed) - len(constraint.include), constraint.k - len(constraint.include))


def _enumerate(f: "GLM", constraint: AtMost, tree: Tree) -> float:
    """All subsets, refitted one by one."""
    free, left = without(constraint.allowed, constraint.include), constraint.k - len(constraint.include)
    for few in combinations(free.tolist(), left):
        if tree.late():
            return float(f.lower)
        units = np.sort(np.append(constraint.include, few)).astype(np.int64)
        point = _refit(f, constraint.columns_of(units))
        tree.offer(tuple(units.tolist()), point.value, max(point.lower_bound, f.lower))
    return min(tree.upper, tree.doubt)


def _table(f: "GLM", found: list[Found], notes: list[str]) -> Subsets:
    """Points with their criteria."""
    n, p, q = f.data.counted, f.data.shape[1], f.width
    lower = f.lower if np.isfinite(f.lower) else 0.0
    free = q if q == 1 or f.quadratic else q - 1  # classes: one follows from the others
    total, one = 2 * n * (f.null.value - lower), f.quadratic and q == 1
    noise = 0.0
    if one:
        wide = n > p + 1
        full = f.refit(np.arange(p)) if wide else found[-1][2]
        noise = 2 * n * full.value / max(n - len(full.support) - f.fit_intercept, 1)
    table = Subsets(loss=f.loss.name, n=int(n), dim=p, notes=notes)
    for k, rank, point, proved in found:
        shown = f.present(point)
        mean = f.without_ridge(point)
        deviance, terms = 2 * n * (mean - lower), free * (len(shown.support) + f.fit_intercept)
        r2 = 1 - deviance / total if total > 0 else 0.0
        adjusted = 1 - (1 - r2) * (n - f.fit_intercept) / max(n - terms, 1) if one else None
        cp = deviance / max(noise, 1e-300) - n + 2 * terms if one else None
        aic = bic = None
        if f.loss.likelihood:
            level = n * q * float(np.log(max(deviance, 1e-300) / (n * q))) if f.quadratic else deviance
            aic, bic = level + 2 * terms, level + terms * float(np.log(n))
        support = tuple(int(j) for j in shown.support)
        table.append(
            Subset(
                k,
                rank,
                support,
                shown.names,
                deviance,
                r2,
                adjusted,
                cp,
                aic,
                bic,
                proved,
                point.value,
                shown.coef,
                shown.intercept,
                point.note,
            )
        )
    return table
