"""One algorithm, one file. To add one: write ``iterate``, and add a line here."""

from .arht import ARHT
from .auto import Auto
from .base import Solver, as_solver, list_solvers, register
from .diht import DIHT
from .fbs import FBS
from .fgrahtp import FGraHTP
from .foba import FoBa
from .grahtp import GraHTP
from .grasp import GraSP
from .local_search import LocalSearch
from .omp import OMP
from .ompr import OMPR
from .pht import PHT
from .relaxed import Relaxed
from .sdiht import SDIHT
from .svrght import SVRGHT

register("grahtp", GraHTP, "htp")
register("fgrahtp", FGraHTP, "iht")
register("grasp", GraSP, "cosamp")
register("pht", PHT)
register("omp", OMP)
register("ompr", OMPR)
register("arht", ARHT)
register("foba", FoBa)
register("fbs", FBS)
register("svrght", SVRGHT)
register("diht", DIHT)
register("sdiht", SDIHT)
register("local_search", LocalSearch)
register("auto", Auto)

__all__ = [
    "ARHT",
    "DIHT",
    "FBS",
    "OMP",
    "OMPR",
    "PHT",
    "SDIHT",
    "SVRGHT",
    "Auto",
    "FGraHTP",
    "FoBa",
    "GraHTP",
    "GraSP",
    "LocalSearch",
    "Relaxed",
    "Solver",
    "as_solver",
    "list_solvers",
    "register",
]
