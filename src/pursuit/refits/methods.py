"""The minimiser of a loss on a few columns, by the method that fits.

    min over (v, b) of   sum_i c_i phi(y_i, A_i v + b + o_i) + sum_j ridge_j/2 v_j^2

| method | when | cost |
|---|---|---|
| Cholesky on the Gram, refined once, in one kernel call | squared loss | n m^2 + m^3/3 flops, once |
| damped Newton in one kernel call | smooth losses, nothing unusual | n m^2 + m^3/3 per step |
| ``minimise`` | sparse columns, more than the kernel takes on, far from dependent | the same |
| ``minimise`` in orthonormal coordinates (``basis``) | where the kernel gave up | the same, and the basis |
| ``minimise`` by conjugate gradients | m above ``LARGE``, sparse columns above ``MODERATE`` | 4 n m per inner step |
| the same, and what is gathered where it takes too long | columns of an operator | two products per inner step |
| the hinge | see ``hinge`` | |

A fit in orthonormal coordinates is the minimum for the data as they are stored. Its coefficients are then rounded, and
the value that is reported is theirs, computed in twice the digits; where rounding alone has cost something (columns
equal to ten digits), a note says so and ``least`` keeps the minimum.
"""

from dataclasses import replace

import numpy as np
from scipy.linalg import lstsq

from .. import _core
from .._utils.rounding import EPS
from .._utils.types import Intercept, Matrix, Vector
from ..designs.blocks import DenseBlock
from ..designs.rows import Rows
from ..losses.base import Loss
from .basis import MIN_CHOLESKY_CONDITION, Basis, Stored, basis, least_norm
from .columns import MIN_PIVOT_SHARE, Fitted, LossOnColumns
from .factor import Factor, pseudo_solve
from .minimise import CONVERGED_ROUNDINGS, minimise
from .problem import Fit, State

EXACT_VALUE_SHARE = 1e-11  # share of the height by which a value may be off where nothing was unusual
ROUNDED_VALUE_SHARE = 1e-9  # share of the height that rounded coefficients may cost without a word
FLOOR_SHARE = 64 * EPS  # share of the null model's height that is nothing
PARTLY_SEPARATED = "the chosen columns tell some rows' class for sure, so no finite minimiser exists (set l2 > 0)"
TOO_MANY = "the chosen columns are close to dependent, and too many for a refit in more digits"
CERTAIN_ROW_SHARE = 1e-9  # phi'' of a row, beside the largest, below which its class is as good as certain
MIN_MOVING_ETA = 0.1  # change of eta in a Newton step that gains nothing, at which coefficients grow without end


def best_intercept(loss: Loss, rows: Rows, b: Intercept = 0.0) -> Intercept:
    """The best intercept on top of the offset of some rows."""
    known = None if rows.offset is None else loss.intercept(rows.y, rows.c, rows.offset)
    if known is not None:
        return known
    nothing = DenseBlock(np.empty((len(rows.y), 0), order="F"))
    ends = float(rows.y.min()), float(rows.y.max())
    return intercept_of(LossOnColumns(loss, 0.0, True, loss.infimum(rows.y, rows.c), ends, nothing, rows), b)


def intercept_of(problem: LossOnColumns, b: Intercept = 0.0) -> Intercept:
    """The best intercept where there are no columns."""
    if problem.outputs > 1:
        return problem.split(minimise(problem, problem.join(np.empty((0, problem.outputs)), b)).z)[1]
    fit = refit(problem, np.empty(0), b)
    return fit.b if not fit.note else _bisected(problem, float(fit.b))


def _bisected(problem: LossOnColumns, b: float) -> float:
    """The best intercept where Newton's method is lost: offsets so far apart that phi'' vanishes between them."""

    def slope(b: float) -> float:
        return float(problem.at(np.array([b]), hessian=False).gradient[0])

    sign, step = (1.0 if slope(b) < 0 else -1.0), 1.0
    while sign * slope(b + sign * step) < 0:
        step *= 2
        if step > 1e300:
            return b
    near, far = b, b + sign * step
    while near != (middle := near + (far - near) / 2) != far:
        near, far = (middle, far) if sign * slope(middle) < 0 else (near, middle)
    return far


def refit(problem: LossOnColumns, coef: Vector, b: Intercept) -> Fitted:
    """The minimiser, by the method that fits the loss; (coef, b) is a start."""
    if problem.outputs > 1:
        return fit_responses(problem) if problem.loss.quadratic else fit_classes(problem, coef, b)
    if not problem.loss.smooth:
        from .hinge import hinge  # which uses this

        return hinge(problem.gather_rows())
    z = problem.join(coef, b)
    known = problem.kernel_fit(z)
    if known is not None and known[2]:
        v, b = problem.split(known[0])
        least, without_end = (
            known[1] - EXACT_VALUE_SHARE * max(known[1] - problem.lower, 0.0),
            _endless(problem, known[0]),
        )
        return Fitted(v.copy(), b, known[1], least, PARTLY_SEPARATED if without_end else "", not without_end)
    if problem.width == 0 or problem.by_products:
        fit = minimise(problem, z)
        if fit.converged or not fit.minimiser or problem.patience == np.inf:
            return problem.ending(fit)
        problem = (
            replace(problem.gather_columns(), stored=None) if problem.products_only else replace(problem, direct=True)
        )
        return refit(problem, *problem.split(fit.z))
    if problem.scattered:  # orthonormal coordinates are dense: only where the columns need them
        # phi'' of some losses vanishes at infinity only: columns that look dependent where the kernel gave up are so
        hopeless = known is not None and not problem.loss.attained and not _trusted(problem, problem.at(known[0]))
        if not (hopeless and problem.affordable):
            fit = minimise(problem, z)
            if fit.converged and not fit.note and _trusted(problem, fit.at):
                without_end = _endless(problem, fit.z)
                return (
                    replace(problem.ending(fit), note=PARTLY_SEPARATED, minimiser=False)
                    if without_end
                    else problem.ending(fit)
                )
            z = fit.z if np.isfinite(fit.z).all() else z
        if not problem.affordable:
            return _unrefined(problem, z)
    here = problem.gather_columns()
    stored = here.columns()
    if problem.loss.quadratic and problem.width >= len(here.rows.y) and stored is not None:
        wide = interpolated(here)
        if wide is not None:
            return wide
    ortho = None if stored is None else coordinates(here, stored, z)
    if stored is None or ortho is None:
        return _unrefined(problem, z)
    return in_coordinates(here, stored, ortho, z)


def fit_responses(problem: LossOnColumns) -> Fitted:
    """Least squares of several responses: one factor for all of them; orthonormal coordinates where it is singular."""
    sums, level, weight = problem.target_sums()
    mean = sums / weight if problem.intercept else np.zeros(problem.width)
    level = level / weight if problem.intercept else np.zeros(problem.outputs)
    C, note = np.empty((0, problem.outputs)), ""
    if problem.width:
        G, R = problem.normal_equations(mean, level)
        G[np.arange(problem.width), np.arange(problem.width)] += problem.ridge
        factor = Factor(G)
        if factor.rcond <= MIN_CHOLESKY_CONDITION and problem.affordable:
            return _responses_in_coordinates(problem.gather_columns())
        C = factor.solve(R) if factor.rcond > MIN_CHOLESKY_CONDITION else pseudo_solve(G, R)
        note = "" if factor.rcond > MIN_CHOLESKY_CONDITION else TOO_MANY
    b = level - mean @ C if problem.intercept else level
    value = problem.at(problem.join(C, b), hessian=False).value
    return Fitted(
        C, b, value, problem.lower if note else value - EXACT_VALUE_SHARE * max(value - problem.lower, 0.0), note
    )


def _responses_in_coordinates(problem: LossOnColumns) -> Fitted:
    """One response after the other, in the same orthonormal coordinates."""
    stored, start = problem.columns(), np.zeros(problem.width + problem.intercept)
    each = [problem.response(r) for r in range(problem.outputs)]
    ortho = None if stored is None else coordinates(each[0], stored, start)
    if stored is None or ortho is None:
        fits = [_unrefined(one, start) for one in each]
    else:
        fits = [in_coordinates(one, stored, ortho, start) for one in each]
    notes = dict.fromkeys(fit.note for fit in fits if fit.note)
    return Fitted(
        np.column_stack([fit.coef for fit in fits]),
        np.array([fit.b for fit in fits]),
        sum(fit.value for fit in fits),
        sum(fit.lower_bound for fit in fits),
        "; ".join(notes),
    )


def fit_classes(problem: LossOnColumns, C: Matrix, b: Intercept) -> Fitted:
    """The minimiser of the multinomial loss: by its kernel, or ``minimise``, in orthonormal coordinates if need be."""
    C, b, known, endless = problem.fit_classes(C, b)
    if known is not None:
        return Fitted(C, b, known, known - CONVERGED_ROUNDINGS * EPS * abs(known))
    fit = None
    if problem.scattered or problem.width == 0:
        fit = minimise(problem, problem.join(C, b))
        C, b = problem.split(fit.z)
        sure = (
            problem.width == 0
            or problem.by_products
            or not problem.affordable
            or (fit.converged and _trusted(problem, fit.at))
        )
        fit = fit if sure else None
    if fit is None:
        C, b, fit = _in_coordinates(problem.gather_columns(), C, b)
    if endless and not fit.note and problem.bottom > -np.inf:
        fit = replace(fit, note=PARTLY_SEPARATED, minimiser=False)
    value = problem.at(problem.join(C, b), hessian=False).value
    return Fitted(C, b, value, fit.lower_bound, fit.note, fit.minimiser, converged=fit.converged)


def _in_coordinates(problem: LossOnColumns, C: Matrix, b: Intercept) -> tuple[Matrix, Intercept, Fit]:
    """The minimiser of the multinomial loss in orthonormal coordinates, where the columns allow it."""
    stored, c = problem.columns(), problem.rows.c
    ortho = None if stored is None else basis(stored.A, c, 1.0, _raw_ridge(problem, stored), problem.intercept)
    if stored is None or ortho is None:
        fit = minimise(problem, problem.join(C, b))
        return *problem.split(fit.z), fit
    mean = c @ problem.block.dense() / c.sum() if problem.intercept else np.zeros(problem.width)
    U = ortho.inward(stored.A, c, 1.0, _raw_ridge(problem, stored), stored.raw(C))
    there = replace(problem, block=DenseBlock(ortho.Q), ridge=ortho.ridge, stored=None)
    # nearly dependent columns kept the kernel from its end; on orthonormal ones it comes close to it
    U, b, _, _ = there.fit_classes(U, b + mean @ C)
    fit = minimise(there, there.join(U, b))
    U, b = there.split(fit.z)
    C = _outward(stored, ortho, U)
    return C, b - mean @ C, fit


def _outward(stored: Stored, ortho: Basis, U: Matrix) -> Matrix:
    """Coefficients of least norm, a row per column, of coordinates U."""
    used = np.isfinite(stored.s)
    s = np.where(used, stored.s, 1.0)[:, None]
    return np.where(
        used[:, None], least_norm(s * ortho.null, s * ortho.outward(U), np.abs(stored.A).max(axis=0) / s[:, 0]), 0.0
    )


def _trusted(problem: LossOnColumns, at: State) -> bool:
    """Whether the columns are so far from dependent, in the Hessian's metric, that their own coordinates will do."""
    end = at.hessian or problem.at(at.z).hessian
    return end is not None and Factor(end()).rcond > MIN_CHOLESKY_CONDITION


def _endless(problem: LossOnColumns, z: Vector) -> bool:
    """Whether f has no minimiser near z, where it has settled: a Newton step still moves rows whose class is sure."""
    if problem.loss.targets != "binary" or problem.loss.attained or problem.bottom == -np.inf or problem.width == 0:
        return False
    low, high = problem.curves(z)
    if low > CERTAIN_ROW_SHARE * high:
        return False
    here = problem.at(z)
    if here.hessian is None:
        return False
    reach = problem.reach(-Factor(here.hessian(), quick=True).solve(here.gradient))
    return bool(np.isfinite(reach) and reach >= MIN_MOVING_ETA)


def coordinates(problem: LossOnColumns, stored: Stored, z: Vector) -> Basis | None:
    """Orthonormal ones for the columns at hand."""
    return basis(stored.A, problem.rows.c, _curve(problem, z), _raw_ridge(problem, stored), problem.intercept)


def in_coordinates(problem: LossOnColumns, stored: Stored, ortho: Basis, z: Vector) -> Fitted:
    """The minimiser by way of orthonormal coordinates, and back."""
    u = ortho.inward(
        stored.A, problem.rows.c, _curve(problem, z), _raw_ridge(problem, stored), stored.raw(problem.split(z)[0])
    )
    fit = _there(problem, ortho, u if np.isfinite(u).all() else 0 * u)
    found = _back(problem, stored, ortho, fit.z[: ortho.Q.shape[1]], float(fit.z[-1]) if problem.intercept else 0.0)
    if not fit.note and _endless(replace(problem, block=DenseBlock(ortho.Q), ridge=ortho.ridge, stored=None), fit.z):
        fit = replace(fit, note=PARTLY_SEPARATED, minimiser=False)
    notes, least = [fit.note], fit.lower_bound
    if ortho.null.shape[1]:
        notes.append(dependent(stored.A, problem.rows.c, problem.intercept, ortho.Q.shape[1]))
    if ortho.whole is not None:  # columns that differ by rounding only: what that could explain is not given
        whole = _there(problem, ortho.whole, np.zeros(ortho.whole.Q.shape[1])).lower_bound
        least = min(least, whole - 10 * ortho.whole.error * max(fit.value - problem.lower, 0.0))
    lost = found.value - fit.value
    if fit.minimiser and lost > ROUNDED_VALUE_SHARE * max(fit.value - problem.lower, FLOOR_SHARE * _height(problem)):
        notes.append(f"the chosen columns are equal to many digits, and rounded coefficients cost {lost:.1e}")
    return replace(
        found, lower_bound=min(least, found.value), note="; ".join(filter(None, notes)), minimiser=fit.minimiser
    )


def _there(problem: LossOnColumns, ortho: Basis, u: Vector) -> Fit:
    """The minimiser in orthonormal coordinates, from u (and the best intercept)."""
    there = replace(problem, block=DenseBlock(ortho.Q), ridge=ortho.ridge, stored=None)
    start = there.join(u, 0.0)
    if problem.intercept:
        start[-1] = best_intercept(problem.loss, replace(problem.rows, offset=there.eta(start)))
    known = there.kernel_fit(start)
    if known is None or not known[2]:
        return minimise(there, start)
    least = known[1] - EXACT_VALUE_SHARE * max(known[1] - problem.lower, 0.0)
    return Fit(State(known[0], known[1], np.empty(0)), known[1], lower_bound=least)


def _back(problem: LossOnColumns, stored: Stored, ortho: Basis, u: Vector, b: Intercept) -> Fitted:
    """Rounded coefficients for u (and b), the best intercept for them, and their value."""
    scale = np.where(np.isfinite(stored.s), stored.s, 1.0)
    v = least_norm(scale[:, None] * ortho.null, scale * ortho.outward(u), np.abs(stored.A).max(axis=0) / scale)
    v = np.where(np.isfinite(stored.s), v, 0.0)
    w, rows = stored.raw(v), problem.rows
    plain = _core.exact_eta(np.asfortranarray(stored.A), w, 0.0, rows.offset)
    if problem.intercept:
        b = best_intercept(problem.loss, replace(rows, offset=plain), b - float(rows.c @ plain))
        plain = _core.exact_eta(np.asfortranarray(stored.A), w, float(b), rows.offset)
    value = problem.loss.first_order(rows.y, plain, rows.c)[0] + problem.penalty(v)
    return Fitted(v, b + float(stored.m @ w), value, -np.inf)


def interpolated(problem: LossOnColumns) -> Fitted | None:
    """Least squares with as many columns as rows: the minimum-norm solution, if nothing is left to explain."""
    if np.any(problem.ridge):
        return None
    A, rows = problem.block.dense(), problem.rows
    target = rows.y if rows.offset is None else rows.y - rows.offset
    mean = rows.c @ A if problem.intercept else np.zeros(problem.width)
    centre = float(rows.c @ target) if problem.intercept else 0.0
    root, scale = np.sqrt(rows.c), np.sqrt(np.maximum(rows.c @ (A - mean) ** 2, 1e-300))
    W, r = root[:, None] * (A - mean), root * (target - centre)
    v, _, rank, _ = lstsq(W / scale.max(), r, cond=1e-12, lapack_driver="gelsd", check_finite=False)
    v = v / scale.max()
    z = problem.join(v, centre - float(mean @ v))
    value = problem.at(z, hessian=False).value
    if not value <= FLOOR_SHARE * _height(problem):
        return None
    note = "" if rank == problem.width else dependent(A, rows.c, problem.intercept, rank)
    return Fitted(v, problem.split(z)[1], value, 0.0, note)


def _unrefined(problem: LossOnColumns, z: Vector) -> Fitted:
    """Too much data for orthonormal coordinates: what the columns themselves give, and how far that can be trusted."""
    fit = minimise(problem, z)
    state = problem.at(fit.z)
    sure = state.hessian is None or Factor(state.hessian(), quick=True).rcond > MIN_PIVOT_SHARE
    if sure or fit.note:
        return problem.ending(fit)
    return replace(problem.ending(fit), note=TOO_MANY, lower_bound=problem.lower)


def _curve(problem: LossOnColumns, z: Vector) -> float:
    """The largest phi'', or where there is none its mean at the start."""
    if np.isfinite(problem.loss.smoothness):
        return float(problem.loss.smoothness)
    mean = float(problem.terms(z)[2].diagonal().sum())
    return mean if 1e-6 < mean < 1e6 else 1.0


def _raw_ridge(problem: LossOnColumns, stored: Stored) -> Vector:
    s = np.where(np.isfinite(stored.s), stored.s, 0.0)
    return np.broadcast_to(problem.ridge, s.shape) * s**2


def _height(problem: LossOnColumns) -> float:
    """How far the model without features is above the loss's infimum, roughly."""
    eta = problem.rows.shift(np.zeros(len(problem.rows.y)), 0.0)
    start = (
        problem.loss.start(problem.rows.y - (eta if problem.loss.quadratic else 0.0), problem.rows.c)
        if problem.intercept
        else 0.0
    )
    return problem.loss.first_order(problem.rows.y, eta + start, problem.rows.c)[0] - problem.lower


def dependent(A: Matrix, c: Vector, intercept: bool, rank: int) -> str:
    """Why columns of this rank are fewer than they seem: some are constant beside an intercept, or zero, or depend."""
    used = A[c > 0]
    low, high = used.min(axis=0, initial=np.inf), used.max(axis=0, initial=-np.inf)
    useless, m = int(((low == high) & (intercept | (low == 0))).sum()), A.shape[1]
    words = []
    if useless:
        it, they = ("is", "it takes up a place and adds") if useless == 1 else ("are", "they take up places and add")
        beside = "constant: beside the intercept " if intercept else "zero: "
        words.append(f"{useless} of the {m} chosen columns {it} {beside}{they} nothing")
    if rank < m - useless:
        others = "others" if useless else "chosen columns"
        words.append(f"the {m - useless} {others} have rank {rank}, so the minimum-norm solution is given")
    return "; ".join(words)
