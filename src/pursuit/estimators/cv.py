"""Estimators that choose the number of features, made to predict."""

from dataclasses import dataclass

from .base_cv import SparseModelCV
from .classifier import Classification
from .regressor import Regression

CV_PARAMETERS = """ks : sizes to choose from, or None
        None: candidates have 0, 1, .., 6, 8, 10, 12, 15, 20, 25, 30, 40, 50 features, projections of their average up
        to 100, neither more than the columns there are and 0.8 times the rows (that differ). Where a single candidate
        predicts and the largest is best, sizes go on to 100. Sizes that cannot be had are capped; ``reason_`` says so.
    l2 : ridge while selecting, a number or None
        None: 0.1, 1 and 10 times h are tried, with goal="explain" none (the refit's) too; h is the mean of the loss's
        second derivative at the model without features (1 for squared and the margin losses).
    gamma : share of the ridge fit, the rest is the refit on the same features
        None tries 0 and 1, with goal="explain" only 0. The refit has no ridge for squared and huber, 0.001 h for other
        losses.
    cv : number of folds, a splitter, or pairs of (training rows, test rows)
        A number shuffles the rows first, with seed ``random_state`` or 0, and keeps the shares of classes; it is capped
        at the rows there are, at those of the rarest class, and at the groups of rows. A fold that trains without one
        of the classes is an error. In a fold with few rows no model has more than 0.8 of them as features.
    goal : "predict" (default) or "explain"
        "predict": rule="0.5se" and combine="project": coefficients are shrunk averages, which must not be read as
        effects. "explain": rule="1se" and combine="none": one subset, refitted without shrinkage, whose size is chosen
        to find the true features; it has fewer wrong features, and predicts worse.
    rule : "min", "0.5se", "1se", or one of "aic", "bic", "ebic", "gic", "hq", "cp"; None: as ``goal`` says
        The least held-out loss; the smallest size within half a standard error or one of it (of the paired difference
        over folds; a projection may always lose half a nat of log-likelihood, summed over rows); or a criterion
        of the plain path with the refit's ridge, which needs no folds, and a loss with a likelihood.
    combine : "project", "none" or "average"; None: as ``goal`` says
        What predicts. "project": the average of all candidates by exponential weights, projected onto k features,
        see docs/selection.md. "none": the best single candidate. "average": the average, which is dense. The best
        single candidate predicts instead where an average does worse on held-out rows by more than two standard errors
        of the difference; ``reason_`` says so. With bounds or ``sum_to``, which a projection would break, "none".
    scoring : a scorer or its name, to choose by instead of the loss; averages are still weighted by the loss
        Scores must be finite.

    The others are those of the estimator without CV; ``time_limit`` is for the whole. When it is
    over, or at Ctrl-C, the choice is made from the folds that are finished, with a warning; with none it is an error.

    Attributes
    ----------
    coef_, intercept_ : what predicts, in the units of X; with "project" not the refit of its own features
    refit_coef_, refit_intercept_ : the refit on ``support_``
    support_ : sorted indices of the columns that are used
    k_, l2_, gamma_ : the number of features (groups), and ridge and gamma of the candidate with the least held-out loss
    k_1se_ : what rule="1se" takes; None for a criterion
    rule_, combine_ : what was used; "none" where a single candidate took the place of an average
    reason_ : why this k, and which other sizes come near (for a criterion, which comes next), in a sentence
    held_out_ : (score, name, error, folds) of the chosen size: R2 (D2: the share of the deviance), the loss where that
        is not known, or the scorer's score; its standard error over folds. None for a criterion and for "average"
    cv_results_ : one row per candidate: k, l2, gamma, mean_loss over held-out rows, its std_error over folds, every
        fold's own (split0_loss, ..), and its weight in the average; with a scorer the same of scores; for a criterion
        one row per size
    sizes_ : one row per size that was chosen from: for "project" its slope and smoothed loss too
    path_ : the plain fits on all rows at ``l2_``, of every size, with held-out ``scores`` (NaN: not tried); where a
        refit predicts (combine_ "none", gamma_ 0) their refits
    result_ : that of size ``k_`` ("average": of the best candidate's size), what ``certify`` speaks of
    objective_ : what ``result_`` minimises; it refers to the training data and is not pickled
    """


@dataclass(eq=False, repr=False)  # for an __init__ that errors call by this class
class SparseRegressorCV(Regression, SparseModelCV):
    __doc__ = f"""Regression whose number of features is chosen so that it predicts.

    Parameters
    ----------
    {CV_PARAMETERS}
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
    class_weight : dict, "balanced" or None
        Multiplies the weights of each class, in the fits and in held-out losses.
    classes_ : the labels, sorted
    """
