"""``compare``: several solvers on one problem, in a table and a picture."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from .._utils.text import format_number, format_paragraphs, format_table, html_table
from .._utils.validation import check_flag, check_k, first_line, require_package
from .._utils.wrong_calls import takes_objective
from ..objectives.base import Objective
from ..solvers import list_solvers
from ..solvers.base import Solver, as_solver
from .driver import check_objective, solve
from .result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

HEADINGS = ("solver", "value", "above best", "seconds", "iterations", "size", "optimality", "status")
EQUAL_SHARE = 1e-9  # of the best value: what is less above it is equal


Solvers: TypeAlias = Mapping[str, str | Solver] | Sequence[str | Solver] | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Results of several solvers on one problem, best value first; of equal values the fastest.

    Attributes
    ----------
    k : int
        The budget.
    results : dict of str to Result
        By the name of the solver.
    refusals : dict of str to str
        Solvers that could not be used on this objective, with the reason.
    best : Result
        The result with the least value.

    See Also
    --------
    compare : Returns it.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> found = pursuit.compare(pursuit.GLM(X, X[:, 3] - 2 * X[:, 7]), 2, solvers=["omp", "grahtp"])
    >>> found.best.support.tolist()
    [3, 7]
    """

    k: int
    results: dict[str, Result] = field(repr=False)
    refusals: dict[str, str] = field(repr=False)

    @property
    def best(self) -> Result:
        """The result with the least value."""
        return next(iter(self.results.values()))

    def distance(self, name: str) -> float:
        """How far the value of a solver is above the best one, as a share of the best (0 where they are equal).

        Parameters
        ----------
        name : str
            The name of the solver.

        Returns
        -------
        float
            The difference divided by the absolute best value; the difference itself where that is 0.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7])
        >>> found = pursuit.compare(f, 2, solvers=["omp", "grahtp"])
        >>> found.distance("omp")
        0.0
        """
        best = self.best.value
        above = self.results[name].value - best
        scale = abs(best) if best else 1.0
        return 0.0 if above <= EQUAL_SHARE * scale else above / scale

    def to_frame(self) -> "DataFrame":
        """Tabulate the comparison.

        Returns
        -------
        pandas.DataFrame
            A row per solver that gave a result, best first.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7])
        >>> found = pursuit.compare(f, 2, solvers=["omp", "grahtp"])
        >>> sorted(found.to_frame()["solver"])
        ['grahtp', 'omp']
        """
        pd = require_package("pandas", "io", "to_frame")
        rows = [
            {
                "solver": name,
                "value": result.value,
                "above_best": self.distance(name),
                "seconds": result.seconds,
                "iterations": result.n_iter,
                "size": len(result.support),
                "optimality": result.optimality,
                "status": result.status,
            }
            for name, result in self.results.items()
        ]
        return pd.DataFrame(rows)

    def plot(self, axs: "tuple[Axes, Axes] | None" = None) -> "tuple[Axes, Axes]":
        """Draw how far each solver is from the best value, and how long it took.

        Parameters
        ----------
        axs : pair of matplotlib Axes or None, default None
            Where to draw; None makes a figure.

        Returns
        -------
        pair of matplotlib Axes
            Of the distances and of the seconds.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7])
        >>> left, right = pursuit.compare(f, 2, solvers=["omp", "grahtp"]).plot()
        >>> right.get_xlabel()
        'seconds'
        """
        return import_module("pursuit.plots").plot_comparison(self, axs=axs)

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (
                name,
                format_number(result.value, 6),
                _share(self.distance(name)),
                f"{result.seconds:.2g}",
                str(result.n_iter),
                str(len(result.support)),
                result.optimality,
                result.status,
            )
            for name, result in self.results.items()
        ]

    def _notes(self) -> list[str]:
        return [f"{name} was not used: {reason}" for name, reason in self.refusals.items()]

    def __str__(self) -> str:
        table = format_table(HEADINGS, self._cells(), left=(0, 6, 7))
        return "\n".join([f"At most {self.k} features, {len(self.results)} solvers", "", table, *self._paragraphs()])

    def _paragraphs(self) -> list[str]:
        return ["", format_paragraphs(self._notes())] if self.refusals else []

    def _repr_html_(self) -> str:
        return html_table(f"At most {self.k} features", HEADINGS, self._cells(), self._notes())


def _share(distance: float) -> str:
    return "0" if distance == 0 else f"{distance:.2g}"


@takes_objective("(GLM(X, y), k)")
def compare(
    objective: Objective, k: int, solvers: Solvers = None, *, warm_up: bool = True, **options: Any
) -> Comparison:
    """Run several solvers on one problem and compare values, times and what is known of optimality.

    Parameters
    ----------
    objective : GLM or Objective
        As in :func:`pursuit.solve`.
    k : int
        The budget.
    solvers : sequence of str or Solver, mapping from labels to those, or None, default None
        Which solvers; None: all that are registered, see :func:`pursuit.list_solvers`.
    warm_up : bool, default True
        Every solver runs twice and the second run is timed, so that neither the compilation of a JAX function nor
        caches of the objective depend on the order. False runs each once.
    **options : dict
        Passed to :func:`pursuit.solve` (include, exclude, bounds, time_limit, random_state, ...).

    Returns
    -------
    Comparison
        To print, as a data frame (``to_frame()``) or a picture (``plot()``).

    Raises
    ------
    ValueError, TypeError
        Where an argument is wrong; the message names it and says what would be right.
    Exception
        What the first solver raised, where no solver gives a result.

    See Also
    --------
    solve : One solver.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> found = pursuit.compare(pursuit.GLM(X, X[:, 3] - 2 * X[:, 7]), 2, solvers=["auto", "omp"])
    >>> sorted(found.results)
    ['auto', 'omp']
    """
    check_objective(objective)
    k, warm_up = check_k(k), check_flag(warm_up, "warm_up")
    if "solver" in options:
        raise TypeError("compare takes solvers, a list: solvers=['auto', 'omp']; solver is of solve")
    results: dict[str, Result] = {}
    errors: dict[str, Exception] = {}
    for name, solver in _named(solvers).items():
        try:
            if warm_up:
                solve(objective, k, solver=copy.deepcopy(solver), **options)
            fresh = copy.copy(objective)  # refits that a JAX function remembers stay behind, its programs do not
            results[name] = solve(fresh, k, solver=solver, **options)
        except (TypeError, ValueError, NotImplementedError) as error:
            errors[name] = error
    if not results:
        raise next(iter(errors.values()))
    low = min(result.value for result in results.values())
    room = EQUAL_SHARE * (abs(low) or 1.0)
    order = sorted(results, key=lambda name: (max(results[name].value - low, room), results[name].seconds))
    return Comparison(
        k, {name: results[name] for name in order}, {name: first_line(error) for name, error in errors.items()}
    )


def _named(solvers: Solvers) -> dict[str, Solver]:
    """Solvers by their names; two of one name are numbered."""
    if isinstance(solvers, Mapping):
        return {str(label): as_solver(solver)[1] for label, solver in solvers.items()}
    if isinstance(solvers, str) or not isinstance(solvers, Sequence | None):
        raise TypeError(f"solvers must be a list of names or instances, got {solvers!r}: solvers=['auto', 'omp']")
    found: dict[str, Solver] = {}
    for given in list_solvers() if solvers is None else solvers:
        name, solver = as_solver(given)
        label, count = name, 2
        while label in found:
            label, count = f"{name} {count}", count + 1
        found[label] = solver
    if not found:
        raise ValueError("solvers is empty; name at least one, see pursuit.list_solvers()")
    return found
