"""pursuit: minimise f(x) subject to at most k non-zeros.

Everything public is imported when first used (PEP 562), so that ``import pursuit`` is cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "pursuit.solving.driver": ("solve",),
    "pursuit.solving.result": ("Record", "Result"),
    "pursuit.solving.compare": ("Comparison", "compare"),
    "pursuit.objectives": ("GLM", "MultiGLM", "Point"),
    "pursuit.objectives.function": ("Function",),
    "pursuit.objectives.quadratic": ("Quadratic",),
    "pursuit.objectives.logdet": ("LogDet",),
    "pursuit.objectives.jax_objective": ("from_jax",),
    "pursuit.objectives.torch_objective": ("from_torch",),
    "pursuit.losses": (
        "Loss", "Squared", "Logistic", "Huber", "SmoothedHinge", "Hinge", "SquaredHinge", "Poisson", "list_losses",
    ),
    "pursuit.solvers": (
        "Solver", "GraHTP", "FGraHTP", "GraSP", "OMP", "OMPR", "PHT", "ARHT", "LocalSearch", "FoBa", "FBS", "SVRGHT",
        "DIHT", "SDIHT", "Auto", "Relaxed", "list_solvers",
    ),
    "pursuit.designs": ("as_design",),
    "pursuit.data": ("InParts",),
    "pursuit.data.disk": ("OnDisk", "open_data"),
    "pursuit.certificates": ("Certificate", "best_subsets", "certify"),
    "pursuit.theory": (
        "Bracket", "Curvature", "Statement", "Theorems", "curvature", "exact_recovery", "relative_error",
        "relaxed_recovery", "support_f1", "support_mcc", "theorems",
    ),
    "pursuit.paths": ("Path", "path"),
    "pursuit.paths.recover": ("recover",),
    "pursuit.reports": ("Intervals", "Summary", "summary"),
    "pursuit.inference": ("bootstrap_intervals", "split_intervals"),
    "pursuit.estimators": (
        "SparseRegressor", "SparseClassifier", "SparseRegressorCV", "SparseClassifierCV", "SparsePrecision",
        "SparsePrecisionCV", "SparseLDA", "SmoothEffects", "SparseAdditiveRegressor", "SparseAdditiveClassifier",
    ),
    "pursuit.io": ("convert", "save_model", "load_model"),
    "pursuit.resampling": ("Stability", "stability"),
    "pursuit.tables.pipeline": ("table_pipeline",),
    "pursuit.tables.preparer": ("TablePreparer",),
    "pursuit._utils.progress": ("Progress",),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [*sorted(_HOME), "__version__"]

if TYPE_CHECKING:
    from . import plots
    from ._utils.progress import Progress
    from .certificates import Certificate, best_subsets, certify
    from .data import InParts
    from .data.disk import OnDisk, open_data
    from .designs import as_design
    from .estimators import (
        SmoothEffects,
        SparseAdditiveClassifier,
        SparseAdditiveRegressor,
        SparseClassifier,
        SparseClassifierCV,
        SparseLDA,
        SparsePrecision,
        SparsePrecisionCV,
        SparseRegressor,
        SparseRegressorCV,
    )
    from .inference import bootstrap_intervals, split_intervals
    from .io import convert, load_model, save_model
    from .losses import Hinge, Huber, Logistic, Loss, Poisson, SmoothedHinge, Squared, SquaredHinge, list_losses
    from .objectives import GLM, MultiGLM, Point
    from .objectives.function import Function
    from .objectives.jax_objective import from_jax
    from .objectives.logdet import LogDet
    from .objectives.quadratic import Quadratic
    from .objectives.torch_objective import from_torch
    from .paths import Path, path
    from .paths.recover import recover
    from .reports import Intervals, Summary, summary
    from .resampling import Stability, stability
    from .solvers import (
        ARHT,
        DIHT,
        FBS,
        OMP,
        OMPR,
        PHT,
        SDIHT,
        SVRGHT,
        Auto,
        FGraHTP,
        FoBa,
        GraHTP,
        GraSP,
        LocalSearch,
        Relaxed,
        Solver,
        list_solvers,
    )
    from .solving.compare import Comparison, compare
    from .solving.driver import solve
    from .solving.result import Record, Result
    from .tables.pipeline import table_pipeline
    from .tables.preparer import TablePreparer
    from .theory import (
        Bracket,
        Curvature,
        Statement,
        Theorems,
        curvature,
        exact_recovery,
        relative_error,
        relaxed_recovery,
        support_f1,
        support_mcc,
        theorems,
    )


def __getattr__(name: str) -> Any:
    if name == "plots":
        return import_module("pursuit.plots")
    if name not in _HOME:
        raise AttributeError(f"module 'pursuit' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "plots"])
