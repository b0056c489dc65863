"""One algorithm, one file. To add one: write ``iterate``, and add a line here."""

from .base import Solver, as_solver, list_solvers, register
from .fgrahtp import FGraHTP
from .grahtp import GraHTP
from .omp import OMP

register("grahtp", GraHTP, "htp")
register("fgrahtp", FGraHTP, "iht")
register("omp", OMP)
register("auto", GraHTP)

__all__ = ["OMP", "FGraHTP", "GraHTP", "Solver", "as_solver", "list_solvers", "register"]
