"""Estimators that choose the number of features, made to predict."""

from dataclasses import dataclass

from .base import CLASS_PARAMETERS, SPARSE_SET_PARAMETERS, THREADS_PARAMETERS
from .base_cv import SparseModelCV
from .classifier import Classification
from .regressor import Regression

CV_PARAMETERS = f"""ks : sequence of int or None, default None
        Sizes to choose from. None: candidates have 0, 1, .., 6, 8, 10, 12, 15, 20, 25, 30, 40, 50 features,
        projections of their average up to 100, neither more than the columns there are and 0.8 times the rows (that
        differ). Where a single candidate predicts and the largest is best, sizes go on to 100. Sizes that cannot be had
        are capped; ``reason_`` says so.
    loss : str or Loss
        The loss by name or as an instance, see ``pursuit.list_losses()``; "squared" for regression, "logistic" for
        classification.
    l2 : float or None, default None
        Ridge while selecting. None: 0.1, 1 and 10 times h are tried, with goal="explain" none (the refit's) too; h is
        the mean of the loss's second derivative at the model without features (1 for squared and the margin losses).
    solver : str or Solver, default "auto"
        The algorithm by name or as an instance, see ``pursuit.list_solvers()``.
    {SPARSE_SET_PARAMETERS}
    time_limit : float or None, default None
        Seconds for the whole. When it is over, or at Ctrl-C, the choice is made from the folds that are finished, with
        a warning; with none it is an error.
    {THREADS_PARAMETERS}
    gamma : float or None, default None
        Share of the ridge fit, the rest is the refit on the same features. None tries 0 and 1, with goal="explain" only
        0. The refit has no ridge for squared and huber, 0.001 h for other losses.
    cv : int, splitter or iterable of (training rows, test rows), default 10
        A number of folds shuffles the rows first, with seed ``random_state`` or 0, and keeps the shares of classes; it
        is capped at the rows there are, at those of the rarest class, and at the groups of rows. A fold that trains
        without one of the classes is an error. In a fold with few rows no model has more than 0.8 of them as features.
    goal : {{"predict", "explain"}}, default "predict"
        "predict": rule="0.5se" and combine="project": coefficients are shrunk averages, which must not be read as
        effects. "explain": rule="1se" and combine="none": one subset, refitted (with the refit's ridge, see ``gamma``),
        whose size is chosen to find the true features; it has fewer wrong features, and predicts worse.
    rule : {{"min", "0.5se", "1se", "aic", "bic", "ebic", "gic", "hq", "cp"}} or None, default None
        The least held-out loss; the smallest size within half a standard error or one of it (of the paired difference
        over folds; a projection may always lose half a nat of log-likelihood, summed over rows); or a criterion
        of the plain path with the refit's ridge, which needs no folds, and a loss with a likelihood. None: as ``goal``
        says.
    combine : {{"project", "none", "average"}} or None, default None
        What predicts. "project": the average of all candidates by exponential weights, projected onto k features,
        see docs/selection.md. "none": the best single candidate. "average": the average, which is dense. The best
        single candidate predicts instead where an average does worse on held-out rows by more than two standard errors
        of the difference; ``reason_`` says so. With bounds or ``sum_to``, which a projection would break, "none".
        None: as ``goal`` says.
    scoring : str, callable or None, default None
        A scorer or its name, to choose by instead of the loss; averages are still weighted by the loss. Scores must be
        finite."""

CV_ATTRIBUTES = """coef_, intercept_ : array
        What predicts, in the units of X; with "project" not the refit of its own features.
    refit_coef_, refit_intercept_ : array
        The refit on ``support_``.
    support_ : array of int
        Sorted indices of the columns that are used.
    k_ : int
        The number of features (groups).
    l2_, gamma_ : float
        Ridge and gamma of the candidate with the least held-out loss.
    k_1se_ : int or None
        What rule="1se" takes; None for a criterion.
    rule_, combine_ : str
        What was used; "none" where a single candidate took the place of an average.
    reason_ : str
        Why this k, and which other sizes come near (for a criterion, which comes next), in a sentence.
    held_out_ : HeldOut or None
        (score, name, error, folds) of the chosen size: R2 (D2: the share of the deviance), the loss where that is not
        known, or the scorer's score; its standard error over folds. None for a criterion and for "average".
    cv_results_ : dict of array
        One row per candidate: k, l2, gamma, mean_loss over held-out rows, its std_error over folds, every fold's own
        (split0_loss, ..), and its weight in the average; with a scorer the same of scores; for a criterion one row per
        size.
    sizes_ : dict of array
        One row per size that was chosen from: for "project" its slope and smoothed loss too.
    path_ : pursuit.Path
        The plain fits on all rows at ``l2_``, of every size, with held-out ``scores`` (NaN: not tried); where a refit
        predicts (``combine_`` "none", ``gamma_`` 0) their refits.
    result_ : pursuit.Result
        That of size ``k_`` ("average": of the best candidate's size), what ``certify`` speaks of.
    objective_ : pursuit.GLM
        What ``result_`` minimises; it refers to the training data and is not pickled."""


@dataclass(eq=False, repr=False)  # for an __init__ that errors call by this class
class SparseRegressorCV(Regression, SparseModelCV):
    __doc__ = f"""Regression whose number of features is chosen so that it predicts.

    Parameters
    ----------
    {CV_PARAMETERS}

    Attributes
    ----------
    {CV_ATTRIBUTES}

    See Also
    --------
    SparseRegressor : With a given k.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pursuit import SparseRegressorCV
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseRegressorCV().fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    """


@dataclass(eq=False, repr=False, kw_only=True)
class SparseClassifierCV(Classification, SparseModelCV):
    __doc__ = f"""Classification whose number of features is chosen so that it predicts; labels of any kind.

    Parameters
    ----------
    {CV_PARAMETERS}
    {CLASS_PARAMETERS}

    Attributes
    ----------
    {CV_ATTRIBUTES}
    classes_ : array
        The labels, sorted.

    See Also
    --------
    SparseClassifier : With a given k.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pursuit import SparseClassifierCV
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bool(SparseClassifierCV(cv=3).fit(X, y).score(X, y) > 0.9)
    True
    """
