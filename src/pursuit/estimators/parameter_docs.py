"""Paragraphs about parameters and attributes that the docstrings of estimators share."""

from .._utils.docs import fill_docstring

SPARSE_SET_PARAMETERS = """include, exclude : sequence of int or str, mask or None, default None
        Columns (indices, names, or a mask) that must, must not be chosen; those included count in k.
    groups : sequence, dict, "prefix" or None, default None
        Groups of columns, which enter and leave whole; k counts groups. One label per column; or the columns of every
        group, ``{"city": ["city_Rome", "city_Oslo"]}`` or a list of lists (names or indices; the others are groups of
        their own); or ``"prefix"``, the text before the last ``=`` of names, as of :class:`pursuit.TablePreparer`
        (before the last ``_`` where no name has a ``=``, as of scikit-learn's OneHotEncoder).
    bounds : tuple (low, high), dict, list or None, default None
        Bounds of the coefficients in the units of X, strictly kept. Each a number, an array with one entry per column,
        or None for no bound on that side; ``(0, None)`` is non-negative. Or the pairs of some columns, ``{"age": (0,
        None)}``, or a list of pairs, one per column. Bounds need one output and a smooth loss (not hinge).
    sum_to : float or None, default None
        What the coefficients, in the units of X, must sum to.
    fit_intercept : bool, default True
        Whether there is an intercept, which is not penalised and does not count in k.
    standardize : bool, default True
        Compare columns at equal scale. It works on an implicit view, never a copy; coefficients are in the units of X
        either way.
    max_iter : int or None, default None
        Iterations at most, see ``pursuit.solve``. A fit that ran out of iterations or time, that failed or that has no
        minimiser warns once (``sklearn.exceptions.ConvergenceWarning``) with the result's ``reason``.
    tol : float or None, default None
        Relative fall of the value at which to stop, see ``pursuit.solve``."""

THREADS_PARAMETERS = """n_jobs : int or None, default None
        Threads; None: all that OMP_NUM_THREADS and the machine allow.
    random_state : int, Generator or None, default None
        Seed for solvers that draw random numbers."""

PARAMETERS = f"""k : int, default 10
        At most this many features; above the number of columns it is capped (``result_.reason`` says so).
    loss : str or Loss
        The loss by name or as an instance, see ``pursuit.list_losses()``; "squared" for regression, "logistic" for
        classification.
    l2 : float or None, default None
        Ridge on the standardised coefficients: half of it times their squared norm is added to the mean loss. None is
        the loss's own. For logistic it is 0.001 of the loss's curvature at the model without features (two classes, a
        share y of ones: 0.001 y (1 - y)), so that separable classes have finite coefficients; 0.001 for the margin
        losses (hinge, smoothed_hinge, squared_hinge), where no ridge is no support vector machine; 0 for all others.
        ``l2_`` is what was used. C of a support vector machine, or of scikit-learn's logistic regression, is
        ``l2 = 1 / (n C)``, n the number of rows (with ``standardize=False``, or columns standardised there too).
    solver : str or Solver, default "auto"
        The algorithm by name or as an instance, see ``pursuit.list_solvers()``.
    {SPARSE_SET_PARAMETERS}
    time_limit : float or None, default None
        Seconds; the best model so far is kept.
    {THREADS_PARAMETERS}
    effort : {{"fast", "default", "thorough"}} or None, default None
        How long the solver "auto" searches; for that solver only."""

ATTRIBUTES = """coef_, intercept_ : array
        The model, in the units of X.
    support_ : array of int
        Sorted indices of the chosen columns.
    l2_ : float
        The ridge that was used.
    result_ : pursuit.Result
        Status, reason, optimality, trace; ``value`` is of what was minimised.
    objective_ : pursuit.GLM
        What was minimised; it refers to the training data and is not pickled."""

CLASS_PARAMETERS = """class_weight : dict, "balanced" or None, default None
        Multiplies the weights of each class, in fits and in held-out losses."""

_CHOSEN_ROWS = """X : array, data frame, sparse matrix or data in parts, shape (n, p)
    The rows; of a data frame only the chosen columns are read."""

_CLASS_OFFSET = """offset : array of shape (n,) or (n, classes), or None, default None
    Added to the linear predictor as at ``fit``."""

_WEIGHTS = """sample_weight : array of shape (n,) or None, default None
    Weights of the rows."""

METHOD_PARAGRAPHS = {
    "fit_rows": f"""X : array, data frame, sparse matrix, Dask collection or data in parts, shape (n, p)
    The rows. Data in parts (:class:`pursuit.InParts`, :func:`pursuit.open_data` or a path to such data) bring their own
    y, weights and offset. Of a Dask array or data frame (y too) the rows stay on the workers of the active client.
y : array of shape (n,) or (n, q), or None, default None
    Responses or labels.
{_WEIGHTS}
offset : array of shape (n,) or None, default None
    Added to the linear predictor.""",
    "engine": """engine : dask.distributed.Client, pursuit.engines.Dask or None, default None
    Whose workers hold the rows; rows that are here are sent to them.""",
    "cv_groups": """cv_groups : array of shape (n,) or None, default None
    Groups of the rows: a number of folds keeps them whole, a splitter gets them.""",
    "chosen_rows": _CHOSEN_ROWS,
    "class_rows": f"Parameters\n----------\n{_CHOSEN_ROWS}\n{_CLASS_OFFSET}",
    "scored_rows": """X : array, data frame, sparse matrix or data in parts, shape (n, p)
    The rows; data in parts bring their own y, weights and offset.""",
    "score_weights": f"""{_WEIGHTS}
offset : array of shape (n,) or None, default None
    As in ``predict``.""",
    "dense_rows": """X : array or data frame of shape (n, p)
    The rows.""",
    "no_target": """y : None
    Not used, for scikit-learn's conventions.""",
    "weights": _WEIGHTS,
    "probabilities": """Returns
-------
array of shape (n, classes)
    A column per class, in the order of ``classes_``.""",
    "labels": """Returns
-------
array of shape (n,)
    Labels, as in ``classes_``.""",
    "class_example": """Examples
--------
>>> from sklearn.datasets import load_breast_cancer
>>> from pursuit import SparseClassifier
>>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
>>> model = SparseClassifier(k=4).fit(X, y)""",
    "lda_example": """Examples
--------
>>> from sklearn.datasets import load_iris
>>> from pursuit import SparseLDA
>>> X, y = load_iris(return_X_y=True, as_frame=True)
>>> model = SparseLDA(n_edges=3).fit(X, y)""",
    "graph_example": """Examples
--------
>>> from sklearn.datasets import load_iris
>>> from pursuit import SparsePrecision
>>> X, _ = load_iris(return_X_y=True, as_frame=True)
>>> model = SparsePrecision(n_edges=3).fit(X)""",
    "diabetes_example": """Examples
--------
>>> from sklearn.datasets import load_diabetes
>>> from pursuit import SparseRegressor
>>> X, y = load_diabetes(return_X_y=True, as_frame=True)""",
    "fitted": """Returns
-------
estimator
    This estimator, fitted.""",
}

describe = fill_docstring(METHOD_PARAGRAPHS)
