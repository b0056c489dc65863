"""How a run ended, how good its point is, and what it went through."""

from dataclasses import dataclass, field

import numpy as np

from .._utils.arrays import without
from .._utils.text import format_number, html_table
from .._utils.types import BoundsLike, Columns, Intercept, Vector
from .._utils.validation import format_list
from ..constraints import AtMost, Exchange
from ..objectives.base import Objective
from ..objectives.point import Point

EXCHANGE_TOLERANCE = 1e-10  # share of the value that a change by an exchange may be rounding
MAX_PROVED_GAP = 1e-6  # share of the value at which a duality gap counts as closed


@dataclass(frozen=True)
class Record:
    """One line of a trace: the value after an iteration, and the best so far.

    Attributes
    ----------
    iteration : int
        Number of the iteration.
    value : float
        The objective after it.
    best : float
        The best value so far.
    seconds : float
        Time since the start.
    size : int
        Units of the support.
    changed : int
        Units that entered or left.
    lower : float or None
        The best lower bound so far (the dual value of a dual method), None where none is known.
    gap : float or None
        Best value minus lower bound.

    See Also
    --------
    Result : Its ``trace`` holds one per iteration.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> record = pursuit.solve(pursuit.GLM(X, X[:, 3]), 1, solver="omp").trace[-1]
    >>> record.size
    1
    """

    iteration: int
    value: float
    best: float
    seconds: float
    size: int
    changed: int
    lower: float | None = None

    @property
    def gap(self) -> float | None:
        """Best value minus lower bound."""
        return None if self.lower is None else self.best - self.lower


@dataclass(frozen=True, eq=False)
class Result:
    """The best point that was found, in the units of the user's data.

    Attributes
    ----------
    dim : int
        Number of columns.
    support : array of int
        Sorted indices; of a graph pairs, a row each.
    coef : array
        The coefficients on the support.
    intercept : float or array
        Of the same point; one per output, of a graph the diagonal.
    names : tuple of str or None
        Names of the columns of the support, where X was a data frame.
    value : float
        The objective that was minimised.
    status : str
        "converged", "max_iter", "time_limit", "interrupted", "no_minimiser" or "failed".
    reason : str
        The same in a sentence, with anything a person should know (a capped k, dependent columns).
    n_iter : int
        Number of iterations.
    seconds : float
        How long it took.
    trace : tuple of Record
        What happened after every iteration.
    optimality : str
        "none", "stationary", "swap_stationary" or "swap_optimal".
    solver : str
        Name of the solver.
    k : int
        The budget.
    point : Point
        The point in the objective's own units.
    constraint : AtMost or None
        The sparse set.
    bounds : tuple or None
        Bounds of the coefficients.
    sum_to : float or None
        What the coefficients sum to.
    exchange : Exchange or None
        The next best exchange (units that leave, units that enter, change of f), where one was looked for.
    certificate : str
        "none", "bounded" or "proved".
    lower : float or None
        A lower bound of the objective over the sparse set, where one is known.
    next_best : str
        The next best exchange in words.
    gap : float or None
        The value minus ``lower``.
    x : array of shape (dim,)
        The solution with its zeros.
    converged : bool
        Whether the solver ended by its own rule.

    See Also
    --------
    solve : Returns it.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> result = pursuit.solve(pursuit.GLM(X, X[:, 3] - 2 * X[:, 7]), 2)
    >>> result.status, result.x[[3, 7]].round(6).tolist()
    ('converged', [1.0, -2.0])
    """

    dim: int
    support: Columns
    coef: Vector
    intercept: Intercept
    names: tuple[str, ...] | None
    value: float
    status: str
    reason: str
    n_iter: int
    seconds: float
    trace: tuple[Record, ...] = field(repr=False)
    optimality: str
    solver: str
    k: int
    point: Point = field(repr=False)
    constraint: AtMost = field(repr=False)
    bounds: BoundsLike = field(default=None, repr=False)
    sum_to: float | None = field(default=None, repr=False)
    exchange: Exchange | None = None
    certificate: str = "none"
    lower: float | None = None
    next_best: str = field(default="", repr=False)

    @classmethod
    def of(
        cls,
        f: Objective,
        constraint: AtMost,
        point: Point,
        *,
        solver: str,
        status: str = "converged",
        reason: str = "",
        trace: tuple[Record, ...] = (),
        seconds: float = 0.0,
        optimality: str = "none",
        lower: float | None = None,
    ) -> "Result":
        """Make the result of a run whose best point is ``point``, in the user's units and names.

        Parameters
        ----------
        f : Objective
            What was minimised.
        constraint : AtMost
            The sparse set.
        point : Point
            The best point.
        solver : str
            Name of the solver.
        status : str, default "converged"
            How the run ended.
        reason : str, default ""
            The same in a sentence.
        trace : tuple of Record, default ()
            What happened after every iteration.
        seconds : float, default 0
            How long it took.
        optimality : str, default "none"
            What the solver claims of its own end.
        lower : float or None, default None
            A lower bound of f over the sparse set.

        Returns
        -------
        Result
            The result.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7])
        >>> result = pursuit.Result.of(f, f.sparse_set(2), f.refit(np.array([3, 7])), solver="mine")
        >>> result.coef.round(6).tolist()
        [1.0, -2.0]
        """
        optimality = _optimality(f, constraint, point, optimality)
        fewer = f.small_support_note if constraint.count(point.support) < constraint.k else ""
        sentences = [constraint.capped, reason, _optimality_sentence(optimality, point), fewer, point.note]
        return cls(
            *f.present(point),
            value=point.value,
            status=_final_status(status, point),
            reason="; ".join(sentence for sentence in sentences if sentence),
            n_iter=len(trace),
            seconds=seconds,
            trace=trace,
            optimality=optimality,
            solver=solver,
            k=constraint.k,
            point=point.detached().bind(f),
            constraint=constraint,
            exchange=point.exchange,
            next_best=next_best(f, constraint, point.exchange, point.value),
            certificate=certificate_of(point.value, lower),
            lower=lower,
        )

    @property
    def gap(self) -> float | None:
        """How far the value can be from the best possible one; None where no lower bound is known."""
        return None if self.lower is None else self.value - self.lower

    @property
    def x(self) -> Vector:
        """The solution as a vector of length p; of pairs: a symmetric p x p matrix, its diagonal what is free."""
        if self.support.ndim == 2:
            X = np.diag(self.intercept)
            i, j = self.support.T
            X[i, j] = X[j, i] = self.coef
            return X
        x = np.zeros((self.dim, *self.coef.shape[1:]), dtype=self.coef.dtype)
        x[self.support] = self.coef
        return x

    def _repr_html_(self) -> str:
        units = [" - ".join(f"x{j}" for j in np.ravel(unit)) for unit in self.support]  # columns, or pairs of them
        names = units if self.names is None else list(self.names)
        coef = self.coef if self.coef.ndim == 2 else self.coef[:, None]
        outputs = [f"coefficient {r}" for r in range(coef.shape[1])] if coef.shape[1] > 1 else ["coefficient"]
        caption = f"k = {self.k}, value {format_number(self.value, 6)}, {self.status}"
        rows = [(name, *map(format_number, row)) for name, row in zip(names, coef, strict=False)]
        known = f"{self.optimality}, certificate: {self.certificate}"
        notes = (f"intercept {format_list(map(format_number, np.ravel(self.intercept)), 4)}", known, self.reason)
        return html_table(caption, ["feature", *outputs], rows, notes)

    @property
    def converged(self) -> bool:
        """Whether the solver ended by its own rule."""
        return self.status == "converged"


def certificate_of(value: float, lower: float | None) -> str:
    """``none``, ``bounded`` or ``proved``, by the gap between a value and a lower bound."""
    if lower is None:
        return "none"
    return "proved" if value - lower <= MAX_PROVED_GAP * abs(value) else "bounded"


def _final_status(status: str, best: Point) -> str:
    """The status of a run; one whose best point is an unfinished refit has not converged."""
    if not best.minimiser:
        return "no_minimiser"
    unfinished = not best.refitted and best.note  # iterates that were never refitted have no note
    return "max_iter" if status == "converged" and unfinished else status


def next_best(f: Objective, constraint: AtMost, exchange: Exchange | None, value: float) -> str:
    """The next best exchange in words; ``value`` is that of the solution."""
    if exchange is None:
        return ""
    columns = [constraint.columns_of(np.array(units)) for units in (exchange.leave, exchange.enter)]
    leave, enter = map(f.column_label, columns)
    if abs(exchange.change) <= EXCHANGE_TOLERANCE * f.scale(value):
        if len(columns[0]) == len(columns[1]) == f.width and f.copies(columns[0][0], columns[1][0]):
            return f"{enter} is a copy of {leave} and equally good"
        return f"{enter} instead of {leave} would be equally good"
    how = "raise" if exchange.change >= 0 else "lower"
    return f"{enter} instead of {leave} would {how} the value by about {abs(exchange.change):.3g}"


def _optimality(f: Objective, constraint: AtMost, best: Point, claimed: str) -> str:
    """The optimality of a point: ``swap_optimal`` too where nothing can be exchanged, or where the residual is zero."""
    if best.optimality == "swap_optimal":
        return best.optimality
    units = constraint.units_of(best.support)
    stuck = len(without(constraint.allowed, units)) == 0 or len(without(units, constraint.include)) == 0
    full, exact = len(units) == constraint.k, best.value <= f.floor
    if exact or (stuck and full and best.refitted and best.lower_bound >= best.value - 1e-9 * f.scale(best.value)):
        return "swap_optimal"
    known = best.optimality if best.optimality != "none" else claimed
    spare = not full and len(constraint.allowed) <= constraint.k
    if spare and known != "swap_optimal" and best.refitted and hasattr(f, "data"):
        whole = f.refit(constraint.columns_of(constraint.allowed), start=best)  # dependent columns were left out
        return "swap_optimal" if whole.lower_bound >= best.value - 1e-9 * f.scale(best.value) else known
    return known


def _optimality_sentence(optimality: str, best: Point) -> str:
    """An optimality in words; empty where the solver's own sentence says it."""
    if optimality == "swap_optimal":
        return "no single exchange helps"
    if optimality != "swap_stationary":
        return ""
    if best.n_unchecked:
        total = best.n_checked + best.n_unchecked
        return f"no exchange was found that helps; {best.n_unchecked} of {total} are not excluded"
    if best.n_checked > 1:
        return f"none of the {best.n_checked} best-ranked exchanges helps"
    return "the best-ranked exchange does not help" if best.n_checked else "the model of f sees no exchange that helps"
