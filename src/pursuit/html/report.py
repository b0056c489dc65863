"""``estimator.report``: a fitted model as one HTML file."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._utils.files import write_text
from .._utils.progress import progress_callback
from .._utils.types import ArrayLike, Callback, FilePath, MatrixLike
from ..estimators.additive.base import SparseAdditive
from . import additive
from .content import Options, Step, build_content, question, reproduction
from .graph import GRAPH_SECTIONS, build_graph_content
from .held_out_content import cross_validation, half_samples, held_out, intervals
from .model_content import features, optimality, path_of_sizes
from .page import MODEL_SECTIONS, render

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

MODEL_STEPS: tuple[Step, ...] = (
    question,
    features,
    path_of_sizes,
    cross_validation,
    held_out,
    half_samples,
    intervals,
    optimality,
    reproduction,
)


def check_report_path(path: FilePath) -> Path:
    """The file to write; it must end in .html and lie in a folder that exists."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"path must end in .html, got {str(path)!r}")
    if target.is_dir():
        raise ValueError(f"path {str(path)!r} is a folder; name a file in it")
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(f"path {str(path)!r}: there is no folder {str(target.parent)!r}")
    return target


def write_report(
    model: "BaseEstimator",
    path: FilePath,
    X: MatrixLike | None = None,
    y: ArrayLike | None = None,
    *,
    progress: Callback = None,
    **how: Any,
) -> Path:
    """Write a page about a fitted sparse model; see :meth:`pursuit.SparseRegressor.report`."""
    target, options = check_report_path(path), Options(**how)
    curves = isinstance(model, SparseAdditive)
    with progress_callback(progress, "report") as on_step:
        content = build_content(model, X, y, options, on_step, additive.STEPS if curves else MODEL_STEPS)
    write_text(target, render(content, additive.SECTIONS if curves else MODEL_SECTIONS))
    return target


def write_graph_report(
    model: "BaseEstimator",
    path: FilePath,
    *,
    title: str | None = None,
    names: Sequence[str] | None = None,
    command: str | None = None,
) -> Path:
    """Write a page about a fitted graph; see :meth:`pursuit.SparsePrecision.report`."""
    target = check_report_path(path)
    write_text(target, render(build_graph_content(model, title, names, command), GRAPH_SECTIONS))
    return target
