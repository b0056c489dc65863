"""One algorithm, one file. To add one: write ``iterate``, and add a line here."""

from .auto import Auto
from .base import Solver, as_solver, list_solvers, register
from .fgrahtp import FGraHTP
from .grahtp import GraHTP
from .local_search import LocalSearch
from .omp import OMP

register("grahtp", GraHTP, "htp")
register("fgrahtp", FGraHTP, "iht")
register("omp", OMP)
register("local_search", LocalSearch)
register("auto", Auto)

__all__ = ["OMP", "Auto", "FGraHTP", "GraHTP", "LocalSearch", "Solver", "as_solver", "list_solvers", "register"]
