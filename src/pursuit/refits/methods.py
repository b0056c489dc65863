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
from typing import Any

import numpy as np
from scipy.linalg import lstsq

from .. import _core
from .._utils.types import Matrix, Vector
from ..designs.base import DenseBlock, Rows
from ..losses.base import Loss
from .basis import TRUSTED, Basis, Stored, basis, least_norm
from .columns import SINGULAR, Fitted, LossOnColumns
from .factor import Factor, pseudo_solve
from .minimise import CONVERGED, EPS, minimise
from .problem import Fit, State

EXACT = 1e-11  # share of the height by which a value may be off where nothing was unusual
ROUNDED = 1e-9  # share of the height that rounded coefficients may cost without a word
FLOOR = 64 * float(np.finfo(float).eps)  # share of the null model's height that is nothing
PARTLY = "the chosen columns tell some rows' class for sure, so no finite minimiser exists (set l2 > 0)"
TOO_MANY = "the chosen columns are close to dependent, and too many for a refit in more digits"
SURE = 1e-9  # phi'' of a row, beside the largest, below which its class may be told for sure
STILL_MOVING = 0.1  # change of eta in a Newton step that gains nothing, at which coefficients grow without end


def best_intercept(loss: Loss, rows: Rows, b: float = 0.0) -> float:
    """The best intercept on top of the offset of some rows."""
    known = None if rows.offset is None else loss.intercept(rows.y, rows.c, rows.offset)
    if known is not None:
        return known
    nothing = DenseBlock(np.empty((len(rows.y), 0), order="F"))
    ends = float(rows.y.min()), float(rows.y.max())
    return intercept_of(LossOnColumns(loss, 0.0, True, loss.infimum(rows.y, rows.c), ends, nothing, rows), b)


def intercept_of(few: LossOnColumns, b: Any = 0.0) -> Any:
    """The best intercept where there are no columns."""
    if few.outputs > 1:
        return few.split(minimise(few, few.join(np.empty((0, few.outputs)), b)).z)[1]
    fit = refit(few, np.empty(0), b)
    return fit.b if not fit.note else _bisected(few, fit.b)


def _bisected(few: LossOnColumns, b: float) -> float:
    """The best intercept where Newton's method is lost: offsets so far apart that phi'' vanishes between them."""

    def slope(b: float) -> float:
        return float(few.at(np.array([b]), hessian=False).gradient[0])

    sign, step = (1.0 if slope(b) < 0 else -1.0), 1.0
    while sign * slope(b + sign * step) < 0:
        step *= 2
        if step > 1e300:
            return b
    near, far = b, b + sign * step
    while near != (middle := near + (far - near) / 2) != far:
        near, far = (middle, far) if sign * slope(middle) < 0 else (near, middle)
    return far


def refit(few: LossOnColumns, coef: Vector, b: Any) -> Fitted:
    """The minimiser, by the method that fits the loss; (coef, b) is a start."""
    if few.outputs > 1:
        return fit_responses(few) if few.loss.quadratic else fit_classes(few, coef, b)
    if not few.loss.smooth:
        from .hinge import hinge  # which uses this

        return hinge(few.here())
    z = few.join(coef, b)
    known = few.quick(z)
    if known is not None and known[2]:
        v, b = few.split(known[0])
        least, without_end = known[1] - EXACT * max(known[1] - few.lower, 0.0), _endless(few, known[0])
        return Fitted(v.copy(), b, known[1], least, PARTLY if without_end else "", not without_end)
    if few.width == 0 or few.by_products:
        fit = minimise(few, z)
        if fit.converged or not fit.minimiser or few.patience == np.inf:
            return few.ending(fit)
        few = replace(few.together(), stored=None) if few.lean else replace(few, direct=True)
        return refit(few, *few.split(fit.z))
    if few.scattered:  # orthonormal coordinates are dense: only where the columns need them
        # phi'' of some losses vanishes at infinity only: columns that look dependent where the kernel gave up are so
        hopeless = known is not None and not few.loss.attained and not _trusted(few, few.at(known[0]))
        if not (hopeless and few.affordable):
            fit = minimise(few, z)
            if fit.converged and not fit.note and _trusted(few, fit.at):
                without_end = _endless(few, fit.z)
                return replace(few.ending(fit), note=PARTLY, minimiser=False) if without_end else few.ending(fit)
            z = fit.z if np.isfinite(fit.z).all() else z
        if not few.affordable:
            return _unrefined(few, z)
    here = few.together()
    stored = here.columns()
    if few.loss.quadratic and few.width >= len(here.rows.y) and stored is not None:
        wide = interpolated(here)
        if wide is not None:
            return wide
    room = None if stored is None else coordinates(here, stored, z)
    if stored is None or room is None:
        return _unrefined(few, z)
    return in_coordinates(here, stored, room, z)


def fit_responses(few: LossOnColumns) -> Fitted:
    """Least squares of several responses: one factor for all of them; orthonormal coordinates where it is singular."""
    sums, level, weight = few.target_sums()
    mean = sums / weight if few.intercept else np.zeros(few.width)
    level = level / weight if few.intercept else np.zeros(few.outputs)
    C, note = np.empty((0, few.outputs)), ""
    if few.width:
        G, R = few.normal_equations(mean, level)
        G[np.arange(few.width), np.arange(few.width)] += few.ridge
        factor = Factor(G)
        if factor.rcond <= TRUSTED and few.affordable:
            return _responses_in_coordinates(few.together())
        C = factor.solve(R) if factor.rcond > TRUSTED else pseudo_solve(G, R)
        note = "" if factor.rcond > TRUSTED else TOO_MANY
    b = level - mean @ C if few.intercept else level
    value = few.at(few.join(C, b), hessian=False).value
    return Fitted(C, b, value, few.lower if note else value - EXACT * max(value - few.lower, 0.0), note)


def _responses_in_coordinates(few: LossOnColumns) -> Fitted:
    """One response after the other, in the same orthonormal coordinates."""
    stored, start = few.columns(), np.zeros(few.width + few.intercept)
    each = [few.response(r) for r in range(few.outputs)]
    room = None if stored is None else coordinates(each[0], stored, start)
    if stored is None or room is None:
        fits = [_unrefined(one, start) for one in each]
    else:
        fits = [in_coordinates(one, stored, room, start) for one in each]
    notes = dict.fromkeys(fit.note for fit in fits if fit.note)
    return Fitted(
        np.column_stack([fit.coef for fit in fits]), np.array([fit.b for fit in fits]),
        sum(fit.value for fit in fits), sum(fit.least for fit in fits), "; ".join(notes),
    )  # fmt: skip


def fit_classes(few: LossOnColumns, C: Matrix, b: Vector) -> Fitted:
    """The minimiser of the multinomial loss: by its kernel, or ``minimise``, in orthonormal coordinates if need be."""
    C, b, known, endless = few.fit_classes(C, b)
    if known is not None:
        return Fitted(C, b, known, known - CONVERGED * EPS * abs(known))
    fit = None
    if few.scattered or few.width == 0:
        fit = minimise(few, few.join(C, b))
        C, b = few.split(fit.z)
        sure = few.width == 0 or few.by_products or not few.affordable or (fit.converged and _trusted(few, fit.at))
        fit = fit if sure else None
    if fit is None:
        C, b, fit = _in_coordinates(few.together(), C, b)
    if endless and not fit.note and few.bottom > -np.inf:
        fit = replace(fit, note=PARTLY, minimiser=False)
    value = few.at(few.join(C, b), hessian=False).value
    return Fitted(C, b, value, fit.least, fit.note, fit.minimiser, converged=fit.converged)


def _in_coordinates(few: LossOnColumns, C: Matrix, b: Vector) -> tuple[Matrix, Vector, Fit]:
    """The minimiser of the multinomial loss in orthonormal coordinates, where the columns allow it."""
    stored, c = few.columns(), few.rows.c
    room = None if stored is None else basis(stored.A, c, 1.0, _raw_ridge(few, stored), few.intercept)
    if stored is None or room is None:
        fit = minimise(few, few.join(C, b))
        return *few.split(fit.z), fit
    mean = c @ few.block.dense() / c.sum() if few.intercept else np.zeros(few.width)
    U = room.inward(stored.A, c, 1.0, _raw_ridge(few, stored), stored.raw(C))
    there = replace(few, block=DenseBlock(room.Q), ridge=room.ridge, stored=None)
    # nearly dependent columns kept the kernel from its end; on orthonormal ones it comes close to it
    U, b, _, _ = there.fit_classes(U, b + mean @ C)
    fit = minimise(there, there.join(U, b))
    U, b = there.split(fit.z)
    C = _outward(stored, room, U)
    return C, b - mean @ C, fit


def _outward(stored: Stored, room: Basis, U: Matrix) -> Matrix:
    """Coefficients of least norm, a row per column, of coordinates U."""
    used = np.isfinite(stored.s)
    s = np.where(used, stored.s, 1.0)[:, None]
    return np.where(
        used[:, None], least_norm(s * room.null, s * room.outward(U), np.abs(stored.A).max(axis=0) / s[:, 0]), 0.0
    )


def _trusted(few: LossOnColumns, at: State) -> bool:
    """Whether the columns are so far from dependent, in the Hessian's metric, that their own coordinates will do."""
    end = at.hessian or few.at(at.z).hessian
    return end is not None and Factor(end()).rcond > TRUSTED


def _endless(few: LossOnColumns, z: Vector) -> bool:
    """Whether f has no minimiser near z, where it has settled: a Newton step still moves rows whose class is sure."""
    if few.loss.targets != "binary" or few.loss.attained or few.bottom == -np.inf or few.width == 0:
        return False
    low, high = few.curves(z)
    if low > SURE * high:
        return False
    here = few.at(z)
    if here.hessian is None:
        return False
    reach = few.reach(-Factor(here.hessian(), quick=True).solve(here.gradient))
    return bool(np.isfinite(reach) and reach >= STILL_MOVING)


def coordinates(few: LossOnColumns, stored: Stored, z: Vector) -> Basis | None:
    """Orthonormal ones for the columns at hand."""
    return basis(stored.A, few.rows.c, _curve(few, z), _raw_ridge(few, stored), few.intercept)


def in_coordinates(few: LossOnColumns, stored: Stored, room: Basis, z: Vector) -> Fitted:
    """The minimiser by way of orthonormal coordinates, and back."""
    u = room.inward(stored.A, few.rows.c, _curve(few, z), _raw_ridge(few, stored), stored.raw(few.split(z)[0]))
    fit = _there(few, room, u if np.isfinite(u).all() else 0 * u)
    found = _back(few, stored, room, fit.z[: room.Q.shape[1]], float(fit.z[-1]) if few.intercept else 0.0)
    if not fit.note and _endless(replace(few, block=DenseBlock(room.Q), ridge=room.ridge, stored=None), fit.z):
        fit = replace(fit, note=PARTLY, minimiser=False)
    notes, least = [fit.note], fit.least
    if room.null.shape[1]:
        notes.append(dependent(stored.A, few.rows.c, few.intercept, room.Q.shape[1]))
    if room.whole is not None:  # columns that differ by rounding only: what that could explain is not given
        whole = _there(few, room.whole, np.zeros(room.whole.Q.shape[1])).least
        least = min(least, whole - 10 * room.whole.error * max(fit.value - few.lower, 0.0))
    lost = found.value - fit.value
    if fit.minimiser and lost > ROUNDED * max(fit.value - few.lower, FLOOR * _height(few)):
        notes.append(f"the chosen columns are equal to many digits, and rounded coefficients cost {lost:.1e}")
    return replace(
        found, least=min(least, found.value), note="; ".join(filter(None, notes)), minimiser=fit.minimiser
    )  # fmt: skip


def _there(few: LossOnColumns, room: Basis, u: Vector) -> Fit:
    """The minimiser in orthonormal coordinates, from u (and the best intercept)."""
    there = replace(few, block=DenseBlock(room.Q), ridge=room.ridge, stored=None)
    start = there.join(u, 0.0)
    if few.intercept:
        start[-1] = best_intercept(few.loss, replace(few.rows, offset=there.eta(start)))
    known = there.quick(start)
    if known is None or not known[2]:
        return minimise(there, start)
    least = known[1] - EXACT * max(known[1] - few.lower, 0.0)
    return Fit(State(known[0], known[1], np.empty(0)), known[1], least=least)


def _back(few: LossOnColumns, stored: Stored, room: Basis, u: Vector, b: float) -> Fitted:
    """Rounded coefficients for u (and b), the best intercept for them, and their value."""
    scale = np.where(np.isfinite(stored.s), stored.s, 1.0)
    v = least_norm(scale[:, None] * room.null, scale * room.outward(u), np.abs(stored.A).max(axis=0) / scale)
    v = np.where(np.isfinite(stored.s), v, 0.0)
    w, rows = stored.raw(v), few.rows
    plain = _core.exact_eta(np.asfortranarray(stored.A), w, 0.0, rows.offset)
    if few.intercept:
        b = best_intercept(few.loss, replace(rows, offset=plain), b - float(rows.c @ plain))
        plain = _core.exact_eta(np.asfortranarray(stored.A), w, b, rows.offset)
    value = few.loss.first_order(rows.y, plain, rows.c)[0] + few.penalty(v)
    return Fitted(v, b + float(stored.m @ w), value, -np.inf)


def interpolated(few: LossOnColumns) -> Fitted | None:
    """Least squares with as many columns as rows: the minimum-norm solution, if nothing is left to explain."""
    if np.any(few.ridge):
        return None
    A, rows = few.block.dense(), few.rows
    target = rows.y if rows.offset is None else rows.y - rows.offset
    mean = rows.c @ A if few.intercept else np.zeros(few.width)
    centre = float(rows.c @ target) if few.intercept else 0.0
    root, scale = np.sqrt(rows.c), np.sqrt(np.maximum(rows.c @ (A - mean) ** 2, 1e-300))
    W, r = root[:, None] * (A - mean), root * (target - centre)
    v, _, rank, _ = lstsq(W / scale.max(), r, cond=1e-12, lapack_driver="gelsd", check_finite=False)
    v = v / scale.max()
    z = few.join(v, centre - float(mean @ v))
    value = few.at(z, hessian=False).value
    if not value <= FLOOR * _height(few):
        return None
    note = "" if rank == few.width else dependent(A, rows.c, few.intercept, rank)
    return Fitted(v, few.split(z)[1], value, 0.0, note)


def _unrefined(few: LossOnColumns, z: Vector) -> Fitted:
    """Too much data for orthonormal coordinates: what the columns themselves give, and how far that can be trusted."""
    fit = minimise(few, z)
    state = few.at(fit.z)
    sure = state.hessian is None or Factor(state.hessian(), quick=True).rcond > SINGULAR
    if sure or fit.note:
        return few.ending(fit)
    return replace(few.ending(fit), note=TOO_MANY, least=few.lower)


def _curve(few: LossOnColumns, z: Vector) -> float:
    """The largest phi'', or where there is none its mean at the start."""
    if np.isfinite(few.loss.smoothness):
        return float(few.loss.smoothness)
    mean = float(few.terms(z)[2].diagonal().sum())
    return mean if 1e-6 < mean < 1e6 else 1.0


def _raw_ridge(few: LossOnColumns, stored: Stored) -> Vector:
    s = np.where(np.isfinite(stored.s), stored.s, 0.0)
    return np.broadcast_to(few.ridge, s.shape) * s**2


def _height(few: LossOnColumns) -> float:
    """How far the model without features is above the loss's infimum, roughly."""
    eta = few.rows.shift(np.zeros(len(few.rows.y)), 0.0)
    start = few.loss.start(few.rows.y - (eta if few.loss.quadratic else 0.0), few.rows.c) if few.intercept else 0.0
    return few.loss.first_order(few.rows.y, eta + start, few.rows.c)[0] - few.lower


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
