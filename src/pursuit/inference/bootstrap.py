"""Repeat the selection on resampled rows."""

import itertools
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from .._utils.progress import progress_callback
from .._utils.types import Array, ArrayLike, Callback, Columns, Flags, MatrixLike, Seed, Vector
from .._utils.validation import check_count
from ..data import Source
from ..data.sources import opened
from ..engines import in_threads, threads
from ..estimators.inputs import refuse_beside_source
from ..reports.intervals import Intervals
from .inputs import (
    check_open_unit_interval,
    check_targets,
    coefficient_names,
    direction_note,
    input_names,
    offset_option,
    random_generator,
    weights_to_fit,
)

if TYPE_CHECKING:
    from pandas import DataFrame
    from sklearn.base import BaseEstimator

MAX_DRAWS = 1000  # resamples that are drawn until both classes are in one
MAX_RESAMPLES = 1_000_000  # a slip of the finger should not fill the memory


def bootstrap_intervals(
    estimator: "BaseEstimator",
    X: MatrixLike,
    y: ArrayLike | None = None,
    *,
    n_boot: int = 200,
    level: float = 0.95,
    random_state: Seed = None,
    n_jobs: int | None = None,
    sample_weight: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    progress: Callback = None,
) -> Intervals:
    """Resample the rows: how coefficients and the selection vary; percentiles that do not claim a coverage.

    The whole selection is repeated on every resample, through row weights: X is not copied. A coefficient counts as 0
    where its feature was not selected.

    Parameters
    ----------
    estimator : estimator
        Of one response or two classes, with ``coef_``, whose ``fit`` takes ``sample_weight``.
    X : array, data frame, sparse matrix or data in parts
        As in ``fit``; data in parts bring y and weights.
    y : array of shape (n,) or None
        As in ``fit``.
    n_boot : int, default 200
        Number of resamples.
    level : float, default 0.95
        The share of resampled coefficients between ``low`` and ``high``.
    random_state : int, Generator or None, default None
        Seed of the resamples.
    n_jobs : int or None, default None
        Resamples at a time; None: as many as there are threads.
    sample_weight : array of shape (n,) or None, default None
        As in ``fit``.
    offset : array of shape (n,) or None, default None
        As in ``fit`` of pursuit's estimators.
    progress : callable, True or None, default None
        Called with (resamples done, n_boot); True shows a bar.

    Returns
    -------
    Intervals
        The percentiles, and how often each feature was selected.

    Raises
    ------
    ValueError, TypeError
        Where an argument is wrong, or where a class is so rare that resamples miss it; the message says what would be
        right.

    See Also
    --------
    split_intervals : Valid given the selection.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 5))
    >>> y = X[:, 3] + 0.1 * rng.standard_normal(60)
    >>> found = pursuit.bootstrap_intervals(pursuit.SparseRegressor(k=1), X, y, n_boot=20, random_state=0)
    >>> bool(found.low[0] < 1.0 < found.high[0])
    True
    """
    level, n_boot = check_open_unit_interval(level, "level"), check_count(n_boot, "n_boot", 2, MAX_RESAMPLES)
    X = opened(X)
    source = X if isinstance(X, Source) else None
    if source is not None:
        refuse_beside_source(y, sample_weight, offset)
        X, y, sample_weight = np.empty((source.shape[0], 0)), source.targets(), source.weights()
    y, classes = check_targets(estimator, X, y, sample_weight, offset)
    more = offset_option(estimator, offset, len(y))
    weights = np.ones(len(y)) if sample_weight is None else weights_to_fit(sample_weight, len(y))
    X = _require_local(X)

    def fitted(w: Vector | None) -> "BaseEstimator":
        if source is not None:
            return clone(estimator).fit(source if w is None else source.weighted(w))
        return clone(estimator).fit(X, y, **({} if w is None else {"sample_weight": w}), **more)

    model = fitted(None if sample_weight is None else weights)
    support, whole = _coefficients(model)
    seeds = np.random.SeedSequence(random_generator(random_state).randint(2**31 - 1)).spawn(n_boot)

    def again(seed: np.random.SeedSequence) -> tuple[Columns, Vector]:
        times = _resample(np.random.default_rng(seed), y, classes, weights)
        return _coefficients(fitted(times * weights))

    with threads(n_jobs), progress_callback(progress, "resamples", n_boot) as on_done:
        done = itertools.count(1)  # a step of it is atomic

        def counted(seed: np.random.SeedSequence) -> tuple[Columns, Vector]:
            found = again(seed)
            on_done(next(done), n_boot)
            return found

        found = in_threads(counted, seeds)
    met = np.unique(np.concatenate([support, *(cols for cols, _ in found)])).astype(np.int64)
    values = np.zeros((n_boot, len(met)))
    for row, (cols, coef) in zip(values, found, strict=True):
        row[np.searchsorted(met, cols)] = coef
    frequency = np.mean([np.isin(met, cols) for cols, _ in found], axis=0)
    low, high = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    estimate = np.zeros(len(met))
    estimate[np.searchsorted(met, support)] = whole
    chosen = np.isin(met, support)
    order = np.lexsort((met, -frequency, ~chosen))  # the model's own features first, then by frequency
    names = coefficient_names(input_names(model, X), met[order], False)
    return Intervals(
        "bootstrap",
        names,
        met[order],
        estimate[order],
        low[order],
        high[order],
        level,
        values.std(axis=0)[order],
        None,
        frequency[order],
        (*direction_note(classes), *_describe(n_boot, level)),
        len(support),
    )


def _resample(random: np.random.Generator, y: Array, classes: Array | None, weights: Vector) -> Vector:
    """How often every row is drawn; both classes are in it."""
    n, counts = len(y), weights > 0
    for _ in range(MAX_DRAWS):
        times = random.multinomial(n, np.full(n, 1.0 / n)).astype(np.float64)
        drawn: Flags = (times > 0) & counts
        if drawn.any() and (classes is None or all((drawn & (y == label)).any() for label in classes)):
            return times
    raise ValueError("y holds a class so rare that resamples miss it")


def _coefficients(model: "BaseEstimator") -> tuple[Columns, Vector]:
    """Columns that are used, and their coefficients."""
    if not hasattr(model, "coef_"):
        raise TypeError(f"estimator must have coef_ after fit, and {type(model).__name__} has none")
    coef = np.asarray(model.coef_, dtype=np.float64).ravel()
    cols = np.asarray(model.support_, dtype=np.int64) if hasattr(model, "result_") else np.flatnonzero(coef)
    return cols, coef[cols]


def _require_local(X: MatrixLike) -> MatrixLike:
    """A pandas frame as one block of numbers, so that no fit converts it again."""
    if not hasattr(X, "iloc"):
        return X
    frame: DataFrame = X
    try:
        return type(frame)(np.asarray(frame, dtype=np.float64), columns=frame.columns, index=frame.index)
    except (TypeError, ValueError):
        return X  # the fit says which columns are no numbers


def _describe(n_boot: int, level: float) -> tuple[str, ...]:
    return (
        f"{n_boot} resamples, the selection repeated on each; {level:.0%} of the resampled coefficients lie between "
        "low and high (0 where a feature was not selected).",
        "This describes how much the procedure varies. These are not confidence intervals: after selection, "
        "percentiles have no guaranteed coverage (pursuit.split_intervals has).",
    )
