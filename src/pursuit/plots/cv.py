"""What was held out, against k."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pursuit._utils.types import Columns, Vector
from pursuit.plots._axes import DOWN, GREY, PALE, UP, NamedDisplay, axes, quiet, set_title, whole_ticks
from pursuit.reports.build import explained_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

    from pursuit.objectives.glm import GLM


@dataclass(repr=False)
class CVDisplay(NamedDisplay):
    """Held-out loss (or score, or a criterion) against k, with the choice; ``CVDisplay.from_estimator(model)`` draws.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and their figure.
    line_ : matplotlib line
        The means.
    band_ : matplotlib collection or None
        One standard error to both sides; None for a criterion.
    fold_lines_ : list
        The folds, where they are drawn.

    See Also
    --------
    PathDisplay : Coefficients against k.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pursuit import SparseRegressorCV
    >>> from pursuit.plots import CVDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SparseRegressorCV(ks=range(8), cv=3).fit(X, y)
    >>> CVDisplay.from_estimator(model).chosen == model.k_
    True
    """

    ks: Columns
    mean: Vector
    error: Vector | None
    folds: list[Vector]
    chosen: int
    one_se: int | None
    what: str
    units: str = "features"

    @classmethod
    def from_estimator(cls, estimator: "BaseEstimator", *, ax: "Axes | None" = None, **how: Any) -> "CVDisplay":
        """Draw what a fitted SparseRegressorCV or SparseClassifierCV chose from: its ``sizes_``.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator. Of a SparsePrecisionCV or SparseLDA: the best shrinkage and l1 at every number of edges.
        ax : matplotlib Axes or None, default None
            Where to draw; None makes new axes.
        **how : dict
            Passed to :meth:`plot`.

        Returns
        -------
        CVDisplay
            The picture.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseRegressorCV
        >>> from pursuit.plots import CVDisplay
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = SparseRegressorCV(ks=range(8), cv=3).fit(X, y)
        >>> CVDisplay.from_estimator(model).ax_.get_ylabel()
        'held-out R2'
        """
        if hasattr(estimator, "n_edges_") and getattr(estimator, "cv_results_", None) is not None:
            return cls._of_graphs(estimator).plot(ax, **how)
        table = getattr(estimator, "sizes_", getattr(estimator, "cv_results_", None))
        if table is None or not hasattr(estimator, "k_"):
            raise ValueError(f"estimator must be a fitted SparseRegressorCV or SparseClassifierCV, got {estimator!r}")
        kind = "score" if "mean_score" in table else "loss" if "mean_loss" in table else None
        key = f"mean_{kind}" if kind else getattr(estimator, "rule", "")
        if key not in table:
            raise ValueError("estimator has no held-out losses, scores or criteria to draw")
        error = table.get("std_error_score" if kind == "score" else "std_error") if kind else None
        own = [name for name in table if kind and name.startswith("split") and name.endswith(f"_{kind}")]
        mean = np.asarray(table[key], dtype=np.float64)
        spread = None if error is None else np.asarray(error, dtype=np.float64)
        split = [np.asarray(table[name], dtype=np.float64) for name in own]
        what = f"held-out {kind}" if kind else key.upper()
        f: GLM | None = getattr(estimator, "objective_", None)
        known = explained_share(f, f.null.value) if f is not None and kind == "loss" and hasattr(f, "data") else None
        if (
            f is not None and known is not None
        ):  # a loss is half a square, or nats: the share that is explained has a meaning
            lower = f.null.value - known.height
            mean, *split = (1.0 - (loss - lower) / known.height for loss in (mean, *split))
            spread, what = None if spread is None else spread / known.height, f"held-out {known.unit}"
        if f is not None and hasattr(f, "data"):
            how.setdefault("title", f"{f.data.counted:g} rows, {f.data.shape[1]} columns")
        return cls(
            np.asarray(table["k"]), mean, spread, split, int(estimator.k_), getattr(estimator, "k_1se_", None), what
        ).plot(ax, **how)

    @classmethod
    def _of_graphs(cls, estimator: "BaseEstimator") -> "CVDisplay":
        table = {name: np.asarray(column) for name, column in estimator.cv_results_.items()}
        ebic = "ebic" in table
        score = -table["ebic"] if ebic else table["mean_test_score"]
        order = np.lexsort((-score, ~table["eligible"], table["n_edges"]))
        at = order[np.unique(table["n_edges"][order], return_index=True)[1]]
        return cls(
            table["n_edges"][at],
            -score[at] if ebic else score[at],
            None if ebic else table["std_error"][at],
            [table[name][at] for name in table if name.startswith("split") and not ebic],
            int(estimator.n_edges_),
            None,
            "EBIC" if ebic else "held-out log-likelihood per row",
            "edges",
        )

    def plot(self, ax: "Axes | None" = None, *, folds: bool = False, title: str | None = None) -> "CVDisplay":
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes or None, default None
            Where to draw; None makes new axes.
        folds : bool, default False
            Whether each fold has its own line too.
        title : str or None, default None
            Title of the axes.

        Returns
        -------
        CVDisplay
            This display.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseRegressorCV
        >>> from pursuit.plots import CVDisplay
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = SparseRegressorCV(ks=range(8), cv=3).fit(X, y)
        >>> len(CVDisplay.from_estimator(model).plot(folds=True).fold_lines_)
        3
        """
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        order = np.argsort(self.ks, kind="stable")
        ks, mean = self.ks[order], self.mean[order]
        drawn = self.folds if folds else []
        self.fold_lines_ = [self.ax_.plot(ks, fold[order], color=PALE, linewidth=0.8, zorder=1)[0] for fold in drawn]
        self.band_ = None
        if self.error is not None:
            error = np.nan_to_num(self.error[order])
            self.band_ = self.ax_.fill_between(ks, mean - error, mean + error, color=UP, alpha=0.2, linewidth=0)
        size = 4 if len(ks) <= 40 else 0
        self.line_ = self.ax_.plot(ks, mean, color=UP, linewidth=1.8, marker="o", markersize=size)[0]
        self._mark(self.chosen, "chosen", DOWN)
        if self.one_se is not None and self.one_se != self.chosen:
            self._mark(self.one_se, "smallest within one standard error", GREY)
        self.ax_.legend(edgecolor="none", framealpha=0.9, fontsize=8.5)
        self.ax_.margins(x=0.02)
        self.ax_.set_xlabel(f"k, at most so many {self.units}")
        self.ax_.set_ylabel(self.what)
        whole_ticks(self.ax_)
        quiet(self.ax_, "y")
        set_title(self.ax_, title)
        self._cut_null(ks, mean)
        return self

    def _cut_null(self, ks: Columns, mean: Vector) -> None:
        """Leave the model without features out of the frame where the rest would be flat beside it."""
        null, rest = ks == 0, np.isfinite(mean) & (ks > 0)
        if not null.any() or rest.sum() < 2 or not np.isfinite(mean[null][0]):
            return
        error = 0.0 if self.error is None else np.nan_to_num(self.error[np.argsort(self.ks, kind="stable")])[rest]
        low, high = float(np.min(mean[rest] - error)), float(np.max(mean[rest] + error))
        far = max(low - mean[null][0], mean[null][0] - high)
        if far > high - low and self.chosen != 0:
            room = 0.08 * (high - low)
            self.ax_.set_ylim(low - room, high + room)
            words = f"k = 0: {mean[null][0]:.3g}, outside the frame"
            self.ax_.annotate(words, (0.01, 0.02), xycoords="axes fraction", fontsize=8, color=GREY)

    def _mark(self, k: int, why: str, color: str) -> None:
        """A vertical line, and a dot where it meets the means."""
        self.ax_.axvline(k, color=color, linewidth=1.2, linestyle="--", zorder=1, label=f"{why}: k = {k}")
        at = np.flatnonzero(self.ks == k)
        if len(at):
            self.ax_.plot([k], [self.mean[at[0]]], "o", color=color, markersize=7, zorder=3)
