"""Restricted curvature: the constants in which the five papers state their results.

| paper | symbol | here |
|---|---|---|
| GraHTP, Definition 1 | M_s, m_s | ``smoothness``, ``convexity`` |
| GraHTP | M_s / m_s; ARHT kappa_s | ``condition`` |
| ARHT, Definition 2.4 | rho_s^+, rho_s^- | ``smoothness``, ``convexity`` |
| ARHT | kappa~ = rho_2^+ / rho_s^- | ``pair_condition`` |
| ARHT, Definition 2.5 | delta_s = (kappa_s - 1) / (kappa_s + 1) | ``isometry`` (squared loss) |
| ARHT, Definition 2.6 | zeta_s, the norm of the s largest gradient entries | ``gradient_norm``, at the point |
| GraSP, Definition 1 | A_s(x), B_s(x), mu_s | ``stable`` (of the Hessian; where f is not C^2, Definition 3's SRL) |
| DIHT, Theorem 1 | x_min - ||f'(x)||_inf / lambda | ``margin``, at the point |

Every constant is a :class:`Bracket`: a value from inside, met at some support (and, unless f is quadratic, at one
point), and a certified bound over all supports and all x. A search from inside flatters: it can refute a condition and
never certify one.
"""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._utils.lazy import lazy
from .._utils.text import format_number, format_paragraphs, format_table, html_table
from .._utils.types import ArrayLike, Seed, Vector
from .._utils.validation import check_k, require_package
from ..engines import threads
from ..objectives.base import Objective, Point
from ..solving.result import Result
from ..sparse_eigenvalues import Outer, SparseHessian, hessian_at, hessian_bound, largest, smallest
from ..sparse_eigenvalues.inside import MAX_STARTS

if TYPE_CHECKING:
    from pandas import DataFrame

SAMPLED_COLUMNS = 128  # whose correlations with all others are looked at where p is large


class Bracket(NamedTuple):
    """A constant of f between two numbers.

    Attributes
    ----------
    inside : float
        A value that is attained: for M_s, kappa_s, delta_s, mu_s at most the constant, for m_s at least.
    certified : float
        A bound that holds for all x and all supports, on the other side of the constant.

    See Also
    --------
    curvature : Returns several of them.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((50, 6))
    >>> found = pursuit.curvature(pursuit.GLM(X, X[:, 0]), 2).smoothness
    >>> bool(found.inside <= found.certified * (1 + 1e-9))
    True
    """

    inside: float
    certified: float


HEADINGS = ["quantity", "symbol", "from inside", "kind", "certified", "paper"]


@dataclass(frozen=True, eq=False, repr=False)
class Curvature:
    """What ``pursuit.curvature`` returns: the curvature of an objective over s-sparse directions.

    Attributes
    ----------
    s : int
        Number of coordinates of a direction.
    smoothness, convexity : Bracket
        M_s and m_s, including the ridge.
    condition : Bracket
        M_s / m_s.
    pair_condition : Bracket
        M_2 / m_s, the kappa~ of ARHT and OMPR.
    isometry : Bracket or None
        The RIP constant (kappa_s - 1) / (kappa_s + 1) of the squared loss; None for other losses.
    stable : tuple of float and Bracket
        GraSP's A_s and B_s, from inside, and mu_s: at the point, whose support is part of every support; of a quadratic
        f at zero, where they are furthest apart. Where the loss is not twice differentiable they are SRL's alpha_s and
        beta_s, without the factor 1/2.
    gradient_norm : float
        zeta_s at the point: the norm of the s largest entries of the gradient.
    coherence : Bracket
        The largest absolute correlation of two columns.
    margin : float
        DIHT's ``min |x_j| - ||f'(x)||_inf / l2`` at the point; nan without a ridge or at zero.
    kind : str
        How the values from inside were found: "estimate" (f is quadratic: they hold everywhere) or "local" (they are
        those of the Hessian at one point).
    sources : dict
        Which argument gave each certified bound.
    notes : tuple of str
        Sentences about what was not possible.
    levels : Levels
        The constants of every size, computed when they are needed.
    seconds : float
        How long it took.

    See Also
    --------
    curvature : Returns it.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((50, 6))
    >>> pursuit.curvature(pursuit.GLM(X, X[:, 0]), 2).kind
    'estimate'
    """

    s: int
    smoothness: Bracket
    convexity: Bracket
    condition: Bracket
    pair_condition: Bracket
    isometry: Bracket | None
    stable: tuple[float, float, Bracket]
    gradient_norm: float
    coherence: Bracket
    margin: float
    kind: str
    sources: dict[str, str]
    notes: tuple[str, ...]
    seconds: float
    levels: "Levels" = field(repr=False)

    def to_frame(self) -> "DataFrame":
        """Tabulate the constants.

        Returns
        -------
        pandas.DataFrame
            A row per quantity.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> X = np.random.default_rng(0).standard_normal((50, 6))
        >>> table = pursuit.curvature(pursuit.GLM(X, X[:, 0]), 2).to_frame()
        >>> table["symbol"].tolist()[:2]
        ['M_2', 'm_2']
        """
        pd = require_package("pandas", "io", "to_frame")
        return pd.DataFrame(self._rows(), columns=["quantity", "symbol", "from inside", "kind", "certified", "paper"])

    def _rows(self) -> list[tuple[str, str, float, str, float, str]]:
        s, none, A, B = self.s, float("nan"), *self.stable[:2]
        nowhere = "-"
        rows = [
            ("restricted smoothness", f"M_{s}", *self._pair(self.smoothness), "GraHTP Def. 1; ARHT Def. 2.4"),
            ("restricted strong convexity", f"m_{s}", *self._pair(self.convexity), "GraHTP Def. 1; ARHT Def. 2.4"),
            ("restricted condition number", f"kappa_{s}", *self._pair(self.condition), "GraHTP; ARHT Def. 2.4"),
            ("condition over pairs", f"M_2 / m_{s}", *self._pair(self.pair_condition), "ARHT Def. 2.4"),
        ]
        if self.isometry is not None:
            rows.append(("restricted isometry", f"delta_{s}", *self._pair(self.isometry), "ARHT Def. 2.5"))
        name = "GraSP Def. 1" if self.levels.twice_differentiable else "GraSP Def. 3"
        where = "at zero" if self.levels.f.quadratic else "at the point"
        rows += [
            (f"largest curvature {where}", f"A_{s}", A, "local", none, name),
            (f"smallest curvature {where}", f"B_{s}", B, "local", none, name),
            ("stable Hessian", f"mu_{s}", *self._pair(self.stable[2]), name),
            ("gradient at the point", f"zeta_{s}", self.gradient_norm, "local", none, "ARHT Def. 2.6"),
            ("coherence", "max |corr|", *self._pair(self.coherence), nowhere),
            ("margin at the point", "x_min - |f'|/l2", self.margin, "local", none, "DIHT Thm 1"),
        ]
        return rows

    def _pair(self, bracket: Bracket) -> tuple[float, str, float]:
        return bracket.inside, self.kind, bracket.certified

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (name, symbol, _number(inside), kind, _number(certified), paper)
            for name, symbol, inside, kind, certified, paper in self._rows()
        ]

    def _repr_html_(self) -> str:
        return html_table("restricted curvature", HEADINGS, self._cells(), self.notes)

    def __str__(self) -> str:
        table = format_table(HEADINGS, self._cells(), (0, 1, 3, 5))
        return "\n\n".join(filter(None, (table, format_paragraphs(self.notes))))

    __repr__ = __str__


def curvature(
    objective: Objective,
    s: int,
    *,
    at: Result | ArrayLike | None = None,
    starts: int | None = None,
    random_state: Seed = None,
) -> Curvature:
    """Restricted smoothness, strong convexity and their kin over s-sparse directions, each from inside and certified.

    Parameters
    ----------
    objective : Objective
        A ``GLM`` (dense, sparse or an operator; rows in parts), or any other objective.
    s : int
        Number of coordinates of a direction; more than there are columns means all of them.
    at : Result, array of shape (p,) or None
        Where local quantities are looked at: a Result of the objective or coefficients in the units of X. None: at
        zero coefficients.
    starts : int or None, default None
        Starts of each search; None: 8.
    random_state : int, numpy.random.Generator or None
        For random starts.

    Returns
    -------
    Curvature
        The constants, each between a value from inside and a certified bound.

    Raises
    ------
    ValueError, TypeError
        Where an argument is wrong; the message names it and says what would be right.

    See Also
    --------
    theorems : What the papers' theorems say with these constants.

    Notes
    -----
    For M_s the value from inside is below the truth and the certified bound above; for m_s it is the other way round.
    From inside: truncated power for the largest and exchange search for the smallest s-sparse eigenvalue of the
    Hessian. Certified: eigenvalues over all columns, Gershgorin's discs over s columns, the loss's bound on its second
    derivative, the ridge, and all supports where there are few. For losses whose second derivative comes near zero
    (logistic, Huber, hinges) m_s over all x is the ridge.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.linalg.qr(np.random.default_rng(0).standard_normal((50, 6)))[0] * np.sqrt(50)
    >>> found = pursuit.curvature(pursuit.GLM(X, X[:, 0], fit_intercept=False), 3)
    >>> round(found.condition.inside, 6), round(found.condition.certified, 6)
    (1.0, 1.0)
    """
    s = check_k(s, "s")
    return Levels(objective, at, starts, random_state).level(s)


class Levels:
    """The curvature of one objective at several s, with what they share computed once."""

    def __init__(
        self, f: Objective, at: Result | ArrayLike | None = None, starts: int | None = None, random_state: Seed = None
    ) -> None:
        if not isinstance(f, Objective):
            raise TypeError(f"objective must be a GLM or another objective of pursuit, got {type(f).__name__}")
        self.f, self.point = f, as_point(f, at, "at")
        self.starts = MAX_STARTS if starts is None else check_k(starts, "starts")
        # a generator is drawn from once, so that a level does not depend on which were computed before
        self.random_state = (
            int(random_state.integers(2**63)) if isinstance(random_state, np.random.Generator) else random_state
        )
        self._known: dict[int, Curvature] = {}

    @lazy
    def loss(self) -> Any:  # a Loss, where the objective has one
        return getattr(self.f, "loss", None)

    @property
    def twice_differentiable(self) -> bool:
        return bool(getattr(self.loss, "twice_differentiable", True)) and self.f.smooth

    @lazy
    def hessian(self) -> SparseHessian | None:
        """At the point; None where f is not differentiable."""
        return hessian_at(self.f, self.point) if self.f.smooth else None

    @lazy
    def outer(self) -> Outer | None:
        """Bounds of the largest eigenvalues over all x; of a quadratic f, of the smallest too."""
        if self.f.quadratic and self.f.convex and self.hessian is not None:
            return Outer(self.hessian)
        above = hessian_bound(self.f)
        return None if above is None else Outer(above)

    @property
    def dim(self) -> int:
        return self.f.dim if self.hessian is None else self.hessian.dim

    @property
    def ridge(self) -> float:
        """The smallest ridge of a column; 0 where f has none."""
        return float(np.min(getattr(self.f, "ridge", 0.0)))

    def level(self, s: int) -> Curvature:
        """The curvature over s-sparse directions."""
        s = min(s, self.dim)
        if s not in self._known:
            with threads(), np.errstate(over="ignore", invalid="ignore"):
                self._known[s] = self._curvature(s)
        return self._known[s]

    def smoothness(self, s: int) -> tuple[Bracket, str]:
        """M_s, and which bound certifies it."""
        if self.hessian is None:
            return Bracket(np.inf, np.inf), "the loss is not differentiable"
        inside = largest(self.hessian, s, self._rng(), self.starts).value
        bound, source = (np.inf, "none is known") if self.outer is None else self.outer.largest(s)
        return Bracket(min(inside, bound), bound), source

    def convexity(self, s: int) -> tuple[Bracket, str]:
        """m_s, and which bound certifies it."""
        ridge = self.ridge if self.f.convex else 0.0
        if self.hessian is None:
            return Bracket(ridge, ridge), "ridge"
        inside = max(smallest(self.hessian, s, self._rng(), self.starts).value, ridge)
        if not (self.f.quadratic and self.outer is not None):
            return Bracket(inside, ridge), "ridge"
        bound, source = self.outer.smallest(s)
        return Bracket(max(inside, bound), bound), source

    def pair_smoothness(self) -> Bracket:
        """M_2."""
        return self._pairs[0]

    @lazy
    def _pairs(self) -> tuple[Bracket, str]:
        return self.smoothness(2)

    @lazy
    def gradient(self) -> Vector:
        return self.point.gradient

    def zeta(self, s: int) -> float:
        """The norm of the s largest entries of the gradient at the point."""
        size = np.sort(np.abs(self.gradient))[::-1]
        return float(np.linalg.norm(size[:s]))

    @lazy
    def margin(self) -> float:
        """DIHT: min |x_j| on the support minus ||f'(x)||_inf / l2."""
        if self.ridge <= 0 or not len(self.point.support):
            return float("nan")
        return float(np.abs(self.point.coef).min() - np.abs(self.gradient).max() / self.ridge)

    @lazy
    def coherence(self) -> Bracket:
        """The largest absolute correlation of two columns, by the Hessian at the point without the ridge."""
        H = self.hessian
        if H is None or H.dim < 2:
            return Bracket(0.0, 0.0 if H is not None else 1.0)
        ridge = np.broadcast_to(getattr(self.f, "ridge", 0.0), H.dim)
        size = np.sqrt(np.maximum(H.diagonal - ridge, 0.0))
        size[size == 0] = np.inf
        rng = self._rng()
        few = min(H.dim, SAMPLED_COLUMNS)
        cols = np.arange(H.dim) if H.full is not None else np.sort(rng.choice(H.dim, few, replace=False))
        R = np.abs(H.rows(cols)) / np.outer(size[cols], size)
        R[np.arange(len(cols)), cols] = 0.0
        inside = min(float(R.max()), 1.0)
        exact = H.full is not None and self.f.quadratic
        return Bracket(inside, inside if exact else 1.0)

    def _rng(self) -> np.random.Generator:
        """The same numbers at every call: a level does not depend on earlier calls."""
        given = self.random_state
        try:
            return np.random.default_rng(0 if given is None else given)
        except (TypeError, ValueError):
            raise ValueError(f"random_state must be a seed, a NumPy generator or None, got {given!r}") from None

    def _stable(self, s: int, M: Bracket, m: Bracket) -> tuple[float, float, Bracket]:
        """A_s and B_s at the point, with its support inside every support (of a quadratic f at zero), and mu_s."""
        above = M.certified / m.certified if m.certified > 0 else np.inf
        support = self.point.support
        if self.hessian is None or len(support) > s:
            return np.nan, np.nan, Bracket(np.inf if self.hessian is None else 1.0, above)
        if self.f.quadratic or not len(support):  # at zero, where no column is forced
            A, B = M.inside, m.inside
        else:
            A = largest(self.hessian, s, self._rng(), self.starts, forced=support).value
            B = max(smallest(self.hessian, s, self._rng(), self.starts, forced=support).value, self.ridge)
        return A, B, Bracket(_ratio(A, B), above)

    def _curvature(self, s: int) -> Curvature:
        began = time.perf_counter()
        (M, why_M), (m, why_m), pairs = self.smoothness(s), self.convexity(s), self.pair_smoothness()
        condition = Bracket(_ratio(M.inside, m.inside), _ratio(M.certified, m.certified))
        pair_condition = Bracket(_ratio(pairs.inside, m.inside), _ratio(pairs.certified, m.certified))
        isometry = Bracket(*(_delta(kappa) for kappa in condition)) if self.f.quadratic else None
        return Curvature(
            s,
            M,
            m,
            condition,
            pair_condition,
            isometry,
            self._stable(s, M, m),
            self.zeta(s),
            self.coherence,
            self.margin,
            "estimate" if self.f.quadratic else "local",
            {"smoothness": why_M, "convexity": why_m, "M_2": self._pairs[1]},
            tuple(self._notes(s)),
            time.perf_counter() - began,
            self,
        )

    def _notes(self, s: int) -> list[str]:
        notes, loss = [], self.loss
        if self.hessian is None:
            notes.append("The loss is not differentiable, so that no smoothness constant exists.")
        elif not self.f.quadratic:
            notes.append("Values from inside are those of the Hessian at one point; another point may have others.")
        if loss is not None and self.f.smooth and not np.isfinite(loss.smoothness):
            notes.append(
                f"The second derivative of the {loss.name} loss has no bound, so that M_s over all x is infinite."
            )
        elif self.f.smooth and self.outer is None:
            notes.append("No bound of the second derivative of this function is known.")
        if loss is not None and loss.flattens:
            notes.append(f"m_s over all x is the ridge, {self.ridge:g}: far out the {loss.name} loss has no curvature.")
        if self.hessian is not None and s > self.hessian.rank:
            notes.append(f"{s} columns are more than the rows can tell apart, so that m_s is the ridge.")
        if len(self.point.support) > s:
            notes.append("The point has more than s coefficients, so that A_s and B_s do not exist there.")
        return notes


def as_point(f: Objective, given: Result | ArrayLike | None, name: str) -> Point:
    """A Result's point or a user's vector as a point of f with its gradient; None: zero coefficients."""
    if given is None:
        return f.null
    if isinstance(given, Result):
        if given.point.dim != f.dim:
            raise ValueError(f"{name} has {given.point.dim} coordinates, but the objective has {f.dim}")
        return f.at(given.point.support, given.point.coef, given.point.free)
    try:
        return f.from_units(given)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("start", name, 1)) from None


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else np.inf


def _delta(kappa: float) -> float:
    return (kappa - 1) / (kappa + 1) if np.isfinite(kappa) else 1.0


def _number(value: float) -> str:
    if np.isnan(value):
        return ""
    return "inf" if np.isinf(value) else format_number(value)
