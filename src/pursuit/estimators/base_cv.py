"""The base class of estimators that choose their number of features."""

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning

from .._utils.progress import progress_callback
from .._utils.row_order import warn_row_order
from .._utils.types import Array, ArrayLike, Columns, Folds, Intercept, MatrixLike, Vector
from .._utils.validation import check_choice, check_weights
from ..data.sources import predictors
from ..engines import threads, time_limited
from ..objectives import GLM
from ..objectives.sparse_set import SparseSet
from ..reports.build import explained_share
from ..reports.class_scores import ClassScores, class_scores
from ..selection import (
    CRITERIA,
    Chosen,
    Fold,
    Problem,
    as_path,
    by_criterion,
    by_validation,
    check_classes,
    check_two_classes,
    folds,
    largest,
    make_grid,
    rows_that_count,
    splits,
)
from .base import SparseModel
from .callbacks import CallbackSupportMixin, fold_callback, with_callbacks
from .inputs import ValidatedInput
from .parameter_docs import describe
from .scoring import FoldScorer

if TYPE_CHECKING:
    from ..engines.dask import Dask as Engine

RULES = ("min", "0.5se", "1se", *CRITERIA)
GOALS = {"predict": ("0.5se", "project"), "explain": ("1se", "none")}  # rule and combine, unless they are given

MIN_TARGET = 1e-145  # targets below which sums of squares lose digits
NO_FEATURE = ": the null model is best, and no feature is used"
COMBINATIONS = ("project", "none", "average")


def standard_errors_of_rule(rule: str) -> float:
    """The number of standard errors that the chosen size may lose against the best."""
    return 0.0 if rule == "min" else float(rule.removesuffix("se"))


class HeldOut(NamedTuple):
    """The score of the chosen size on held-out rows, its name, its standard error, and the number of folds.

    ``classes``: of a classifier, the :class:`ClassScores` of the folds' models on the rows that each left out.
    """

    score: float
    name: str
    error: float
    folds: int
    classes: ClassScores | None = None


@dataclass(eq=False, repr=False)
class SparseModelCV(CallbackSupportMixin, SparseModel):
    """A GLM whose number of features is chosen."""

    ks: Iterable[int] | int | None = None
    _: KW_ONLY
    gamma: float | None = None
    cv: Folds = 10
    goal: str = "predict"
    rule: str | None = None
    combine: str | None = None
    scoring: str | Callable[..., float] | None = None

    @with_callbacks
    @describe
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
        cv_groups: ArrayLike | None = None,
        callback: Callable[..., object] | None = None,
        engine: "Engine | None" = None,
    ) -> Self:
        """Choose the number of features and fit.

        Parameters
        ----------
        {fit_rows}
        {cv_groups}
        callback : callable or None, default None
            Called with (folds done, folds).
        {engine}

        {fitted}

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseRegressorCV
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = SparseRegressorCV(ks=range(8), cv=3).fit(X, y)
        >>> model.k_ == len(model.support_)
        True
        """
        warn_row_order(X, cv_groups=cv_groups)
        self._choose(
            self._read_fit_input(X, y, sample_weight, offset, engine), cv_groups, callback, is_classifier(self)
        )
        return self

    fit.__qualname__ = "fit"  # the name in errors of Python, without this class

    def _choose(
        self, inputs: ValidatedInput, cv_groups: ArrayLike | None, callback: Callable[..., object] | None, classes: bool
    ) -> None:
        """Choose on validated data and store the model; ``classes``: whether targets are labels."""
        check_choice(self.goal, "goal", tuple(GOALS))
        rule, combine = GOALS[self.goal]
        self.rule_ = rule if self.rule is None else self.rule
        self.rule_ = self.rule_.casefold() if isinstance(self.rule_, str) else self.rule_
        self.combine_ = combine if self.combine is None else self.combine
        check_choice(self.rule_, "rule", RULES)
        check_choice(self.combine_, "combine", COMBINATIONS)
        if isinstance(self.scoring, list | tuple | set | frozenset | dict):
            raise TypeError(
                f"scoring must be one scorer or the name of one, since one score chooses k; got {self.scoring!r}"
            )
        if callback not in (None, False, True) and not callable(callback):
            kind = type(callback).__name__
            raise TypeError(f"callback must be a function of (folds done, folds), True for a bar, or None; got {kind}")
        loss = self._loss_of(inputs.multi_output)
        began = time.perf_counter()
        unfinished = "the sizes were fitted" if self.rule_ in CRITERIA else "a single fold was fitted"
        limited = time_limited(self.time_limit, unfinished, "fewer ks, or one l2")
        bar = progress_callback(callback, "folds")
        with threads(self.n_jobs), np.errstate(all="ignore"), limited, bar as on_fold:
            f: GLM = GLM(
                inputs.data(loss), loss=loss, l2=1.0, fit_intercept=self.fit_intercept, standardize=self.standardize
            )
            problem, f, chosen = self._run_selection(f, inputs, cv_groups, on_fold, classes)
        if chosen.ended_early:
            chosen.notes.append(chosen.ended_early)
            warnings.warn(f"{type(self).__name__}: {chosen.ended_early}", ConvergenceWarning, stacklevel=3)
        with threads(self.n_jobs), np.errstate(all="ignore"):
            self._store(problem, f, chosen, began)

    def _run_selection(
        self,
        f: GLM,
        inputs: ValidatedInput,
        cv_groups: ArrayLike | None,
        callback: Callable[..., object] | None,
        classes: bool,
    ) -> tuple[Problem, GLM, Chosen]:
        """The selection problem, the objective of all rows with the ridge of refits, and the choice."""
        y, weights = inputs.y(), inputs.weights()
        c = check_weights(weights, len(y))
        if classes:
            check_two_classes(y, c)
        counts = rows_that_count(weights, c)
        problem = self._make_problem(f, float(counts.sum()))
        h = problem.h(f)
        refit = problem.refit_ridge(h)
        f = problem.at(f, refit)
        first, end = problem.most(f, problem.n, largest(self.ks))
        explain = self.goal == "explain"
        grid = make_grid(self.ks, self.l2, self.gamma, h=h, refit=refit, first=first, end=end, refits=explain)
        grid = replace(grid, variants=len(problem.variants))
        if f.quadratic and np.max(np.abs(y)) < MIN_TARGET and np.ptp(y, axis=0).max() > 0:
            raise ValueError("y holds numbers too small to square; rescale it")
        if self.rule_ in CRITERIA:
            if self.scoring is not None or cv_groups is not None:
                what = "scoring" if self.scoring is not None else "cv_groups"
                raise ValueError(
                    f"rule={self.rule_!r} holds out no rows, so {what} has no use: leave it out, or rule='min'"
                )
            return problem, f, by_criterion(problem, f, grid, self.rule_)
        pairs, note = splits(self.cv, inputs.source.splittable(), y, cv_groups, classes, self.random_state, c)
        if classes:
            check_classes(pairs, y, c)
        combine = "none" if problem.allowed.is_bounded else self.combine_
        if self.scoring is not None and inputs.source.has_offset:
            raise ValueError("scoring cannot be used with an offset, which scorers do not know; leave scoring out")
        score = None if self.scoring is None else self._make_scorer(inputs, y, weights, pairs)
        fold_data = self._make_folds(problem, pairs, c, counts)
        tests = [test for _, test in pairs] if classes and inputs.source.in_memory else None
        del pairs, c, counts  # numbers for every row, which the folds do not need
        on_fold = fold_callback(self, len(fold_data), callback)
        chosen = by_validation(
            problem, f, grid, fold_data, standard_errors_of_rule(self.rule_), combine, score, on_fold
        )
        self._held_out_classes = None if tests is None else self._score_classes(f, inputs, y, tests, chosen)
        chosen.notes.append(note)
        if combine != self.combine_:
            chosen.notes.append("bounds and sum_to would be broken by an average, so combine='none' was used")
        return problem, f, chosen

    def _make_problem(self, f: GLM, n: float) -> Problem:
        """The selection problem of n rows that count."""
        return Problem(
            f.data.raw,
            n,
            f.fit_intercept,
            self.standardize,
            self.solver,
            SparseSet.of(self),
            {"max_iter": self.max_iter, "tol": self.tol},
        )

    def _make_folds(
        self, problem: Problem, pairs: Sequence[tuple[Columns, Columns]], weights: Vector, counts: Vector
    ) -> list[Fold]:
        """The training and held-out data of every pair of rows."""
        return folds(problem.data, pairs, weights, counts)

    def _make_scorer(
        self,
        inputs: ValidatedInput,
        y: Array,
        weights: Vector | None,
        pairs: Sequence[tuple[Columns, Columns]],
    ) -> FoldScorer:
        """The scores of the models of folds by ``scoring``."""
        return FoldScorer(self, inputs, y, weights, pairs)

    def _score_classes(
        self, f: GLM, inputs: ValidatedInput, y: Array, tests: Sequence[Columns], chosen: Chosen
    ) -> ClassScores | None:
        """Scores of the folds' models of the chosen size on the rows that each left out."""
        whole = f.data.whole and f.data.raw.design.shape[1] == self.n_features_in_  # not those of a basis
        if not chosen.fold_models or not whole:
            return None
        weights, design = np.zeros(len(y)), f.data.raw.design
        offset = f.data.raw.rows.offset
        eta = np.zeros((len(y), f.width) if f.width > 1 else len(y))
        for number, models in chosen.fold_models:
            cols, coef, intercept = models.in_units(0)
            test = tests[number]
            eta[test] = predictors(design, cols, coef, intercept, offset)[test]
            weights[test] = 1.0
        given = f.data.raw.rows.c
        weights[given <= 0] = 0.0
        if self.class_weight is None and np.ptp(given[given > 0]) > 1e-12 * given.max():
            weights *= given
        codes = np.searchsorted(self.classes_, y)
        return class_scores(codes, eta, self.classes_, weights=weights, probabilities=self._loss().name == "logistic")

    def _store(self, problem: Problem, f: GLM, chosen: Chosen, began: float) -> None:
        self.l2_, self.gamma_, self.k_1se_ = chosen.l2, chosen.gamma, chosen.k_1se
        self.combine_ = chosen.combine
        self.cv_results_, self.sizes_ = chosen.table, chosen.sizes
        self.objective_ = problem.at(f, self.l2_)
        if chosen.combine == "none" and chosen.gamma == 0:  # a refit predicts, so results are refits too
            self.objective_, points = f, chosen.points
            refits = problem.restricted(f).refits([point.support for point in points.values()])
            chosen = replace(chosen, points=dict(zip(points, refits, strict=True)))
        self.path_ = as_path(problem.variants[chosen.variant], self.objective_, chosen, time.perf_counter() - began)
        cols, coef, intercept = chosen.models.in_units(chosen.place)
        constraint, q, p = problem.sparse_set(f, 1), f.width, problem.data.shape[1]
        support = np.union1d(cols, constraint.forced[::q] // q).astype(np.int64)
        on = np.zeros((len(support), *coef.shape[1:]))
        on[np.searchsorted(support, cols)] = coef
        # in float32 a coefficient could round past its bound
        dtype = np.dtype(np.float64) if problem.allowed.is_bounded else problem.data.dtype
        coordinates = (support[:, None] * q + np.arange(q)).ravel()
        self.k_ = constraint.count(coordinates)
        if chosen.k_1se == chosen.k and self.combine_ != "average":
            self.k_1se_ = self.k_  # fewer features than the size allows may have a coefficient
        refit_model = f.present(problem.restricted(f).refit(coordinates) if len(support) else f.null)
        self._set_model(refit_model.support, refit_model.coef, refit_model.intercept, p, dtype)
        self.refit_coef_, self.refit_intercept_ = self.coef_, self.intercept_
        self._set_model(support, on, intercept, p, dtype)
        size = chosen.alone if self.combine_ == "average" else self.k_
        self.result_ = self.path_.at(max(size, self.path_.sizes[0]))
        self.n_iter_ = max(1, self.path_.sizes[-1])
        if self.combine_ == "project" and self.k_ < chosen.k:
            chosen.notes.append(f"of the {chosen.k} features that the projection may have, the others are zero")
        self.held_out_ = self._held_out_score(chosen.k)
        scores = self.__dict__.pop("_held_out_classes", None)
        if self.held_out_ is not None:
            self.held_out_ = self.held_out_._replace(classes=scores)
        self.reason_ = "; ".join(sentence for sentence in [self._explain_choice(chosen), *chosen.notes] if sentence)

    def _folds(self) -> int:
        return sum(name.endswith("_loss") and name.startswith("split") for name in self.sizes_)

    def _held_out_score(self, size: int) -> HeldOut | None:
        """The held-out score of this size in ``sizes_``; fewer features may have a coefficient."""
        table = self.sizes_
        at = np.flatnonzero(table["k"] == size)
        if self.rule_ in CRITERIA or self.combine_ == "average" or len(at) == 0:  # an average is of no size
            return None
        i, folds = int(at[0]), self._folds()
        if "mean_score" in table:
            return HeldOut(float(table["mean_score"][i]), "score", float(table["std_error_score"][i]), folds)
        known = explained_share(self.objective_, float(table["mean_loss"][i]))
        if known is None:
            return HeldOut(float(table["mean_loss"][i]), "loss", float(table["std_error"][i]), folds)
        return HeldOut(known.share, known.unit, float(table["std_error"][i]) / known.height, folds)

    def _set_model(self, support: Columns, coef: Array, intercept: Intercept, p: int, dtype: DTypeLike) -> None:
        """Set the predicting coefficients, in the units of X."""
        self.support_, self._dtype = support, dtype
        self._predicts = coef, intercept
        x = np.zeros((p, *coef.shape[1:]))
        x[support] = coef
        self._set_coefficients(x, intercept)

    if TYPE_CHECKING:  # defined by Regression and Classification

        def _set_coefficients(self, x: Array, intercept: Intercept) -> None: ...

    def _on_support(self) -> tuple[Array, Intercept]:
        return self._predicts

    def _explain_choice(self, chosen: Chosen) -> str:
        """The reason for this k in a sentence, and which other sizes come close."""
        best = "the least held-out loss" if self.scoring is None else "the best held-out score"
        if self.rule_ in CRITERIA:
            words = f"k={self.k_} has the least {'Cp' if self.rule_ == 'cp' else self.rule_.upper()}"
            return words + (NO_FEATURE if self.k_ == 0 else "") + self._runner_up(chosen)
        if self.combine_ == "average":
            return f"the average of all candidates uses {self.k_} features"
        if self.rule_ == "min" or chosen.least <= chosen.k:
            words = f"k={self.k_} has {best}" + (NO_FEATURE if self.k_ == 0 else "")
        else:
            room = f"{'half a' if self.rule_ == '0.5se' else 'one'} standard error"
            if chosen.by_nats:
                room = "half a nat (log-likelihood, summed over rows)"
            lower = "" if chosen.excess is None else f", {_percent(chosen.excess)} lower"
            words = f"k={self.k_} is the smallest within {room} of {best}, that of k={chosen.least}{lower}"
            words += "; no feature is used" if self.k_ == 0 else ""
        few, first = self.k_1se_, int(self.sizes_["k"][0])
        if few is None or self.k_ == 0:
            return words
        if few < self.k_:
            return words + f"; k={few} is within one standard error"
        alone = chosen.k_1se == chosen.k > first and chosen.least <= chosen.k and self._folds() > 1
        return words + ("; no smaller size is within one standard error" if alone else "")

    def _runner_up(self, chosen: Chosen) -> str:
        """The size with the second smallest criterion, and the difference."""
        others = chosen.sizes["k"] != chosen.k
        if not others.any():
            return ""
        value = chosen.sizes[self.rule_]
        at = int(np.argmin(np.where(others, value, np.inf)))
        above = float(value[at] - value[~others][0])
        return f"; k={chosen.sizes['k'][at]} comes next, {above:.2g} above" if np.isfinite(above) else ""


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.2g}%"
