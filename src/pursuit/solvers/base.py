"""What a solver is, and where solvers are found by name."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from .._utils.arrays import without
from .._utils.types import Columns, Seed, Vector
from .._utils.validation import resolve_name
from ..constraints import AtMost
from ..objectives.base import Objective, Point

MAX_SKIPPED_UNITS = 50  # units in a row with which f has no minimum, before nothing more is added
NEGLIGIBLE_SHARE = 1e-12  # share of a value that counts as nothing

_registry: dict[str, type["Solver"]] = {}
_aliases: dict[str, str] = {}


@dataclass(frozen=True)
class Solver:
    """Base class of solvers: a generator of points, which the driver times, counts and stops.

    Parameters
    ----------
    relax : float or None, default None
        Run at ``relax`` times the budget, keep the k largest and refit (``Relaxed``).
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.

    Attributes
    ----------
    claims : str
        What its own halting rule proves about the last point.
    halted : str
        The same as a sentence for people.
    revisits : bool
        Whether meeting a point again is no sign of a cycle (several starts).
    searches : bool
        Whether it looks at all columns from the beginning.
    needs : tuple of str
        What it needs of an objective beyond points and derivatives ("dual", "minibatch"): checked before the run, see
        ``Objective.require``.
    turns : int
        How many gradients and refits it takes for each unit of the budget, 0 where it chooses all at once.

    See Also
    --------
    list_solvers : What there is.

    Examples
    --------
    A solver is a subclass with ``iterate``; docs/extending.md says what it may use.

    >>> import numpy as np, pursuit
    >>> class Thresholding(pursuit.Solver):
    ...     def iterate(self, f, constraint, start):
    ...         yield f.refit(constraint.top(start.gradient))
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> pursuit.solve(pursuit.GLM(X, X[:, 3] - 2 * X[:, 7]), 2, solver=Thresholding()).support.tolist()
    [3, 7]
    """

    claims: ClassVar[str] = "stationary"
    halted: ClassVar[str] = "the solver reached a fixed point"
    revisits: ClassVar[bool] = False
    searches: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()
    turns: ClassVar[int] = 0

    relax: float | None = field(default=None, kw_only=True)
    last: bool = field(default=False, kw_only=True)

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        raise NotImplementedError

    def at_once(self, f: Objective, constraint: AtMost) -> Point | None:
        """The last point of ``iterate`` from the model without columns, where that takes one call; None elsewhere.

        Only where there is no callback and no limit of time.
        """
        return None


def generator(random_state: Seed) -> np.random.Generator:
    """Random numbers from a seed or a generator; None is a seed too, so that the same call is the same run."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(0 if random_state is None else random_state)
    except (TypeError, ValueError):
        raise ValueError(f"random_state must be a seed, a NumPy generator or None, got {random_state!r}") from None


def polished(f: Objective, point: Point) -> Point:
    """The minimiser on the point's support; the point itself where rounding leaves nothing to gain."""
    refit = f.refit(point.support, start=point)
    if point.value < refit.value <= point.value + NEGLIGIBLE_SHARE * abs(point.value):
        return replace(
            point,
            refitted=refit.refitted,
            note=refit.note,
            minimiser=refit.minimiser,
            support_bound=refit.support_bound,
        )
    return refit


def joined(f: Objective, constraint: AtMost, point: Point, slope: Vector, within: Columns | None = None) -> Point:
    """The refit with one more unit, that of the largest slope; the point itself where there is none.

    A unit with which f has no minimum (a graph without an optimum) is passed over.
    """
    size, slope = constraint.count(point.support) + 1, slope.copy()
    for _ in range(MAX_SKIPPED_UNITS):
        support = constraint.top(slope, size, keep=point.support, within=within)
        if constraint.count(support) < size:
            break
        ahead = f.refit(support, start=point)
        if ahead.value < np.inf:
            return ahead
        new = constraint.columns_of(without(constraint.units_of(support), constraint.units_of(point.support)))
        if not slope[new].any():
            break
        slope[new] = 0.0
    return point


def register(name: str, solver: type[Solver], *aliases: str) -> None:
    """Make a solver known by name (and aliases) everywhere a solver is accepted."""
    _registry[name] = solver
    for alias in aliases:
        _aliases[alias] = name


def list_solvers() -> dict[str, str]:
    """List the registered solvers.

    Returns
    -------
    dict of str to str
        One line about each, by name.

    See Also
    --------
    list_losses : The same for losses.

    Examples
    --------
    >>> import pursuit
    >>> "grahtp" in pursuit.list_solvers()
    True
    """
    return {name: (solver.__doc__ or "").strip().splitlines()[0] for name, solver in _registry.items()}


def as_solver(solver: Any) -> tuple[str, Solver]:
    """A solver from its name (in any case), class or instance, with the name to show."""
    if isinstance(solver, str):
        name = resolve_name(solver, "solver", [*_registry, *_aliases])
        return name, _registry[_aliases.get(name, name)]()
    if isinstance(solver, type) and issubclass(solver, Solver):
        solver = solver()
    if not callable(getattr(solver, "iterate", None)):
        raise TypeError(f"solver must be a name or have a method `iterate`, got {type(solver).__name__}")
    if not isinstance(solver, Solver):  # an object with `iterate` inherits the rest
        kind: Any = type(solver)
        heir = kind.__new__(type(kind.__name__, (kind, Solver), {}))
        heir.__dict__.update(vars(solver))
        return kind.__name__, heir
    known = [name for name, kind in _registry.items() if type(solver) is kind and name != "auto"]
    return (known[0] if known else type(solver).__name__), solver
