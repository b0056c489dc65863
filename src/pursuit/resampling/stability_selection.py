"""``stability``: which features half-samples agree on (complementary pairs, Shah and Samworth 2013)."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._utils.progress import progress_callback
from .._utils.types import ArrayLike, Columns, MatrixLike, Seed
from .._utils.validation import check_count
from ..engines import TimeUpError, check_time, streamed, threads, until
from .result import Stability, check_threshold
from .selectors import Selector, make_selector
from .split import check_halves, complementary_halves

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

MAX_PAIRS = 1_000_000  # a slip of the finger should not fill the memory


def stability(
    estimator: "BaseEstimator",
    X: MatrixLike,
    y: ArrayLike | None = None,
    *,
    n_pairs: int = 50,
    ks: Iterable[int] | None = None,
    threshold: float = 0.6,
    sample_weight: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    callback: Callable[[int, int], object] | bool | None = None,
) -> Stability:
    """Count how often random halves of the rows select each feature, at every size.

    Each pair of disjoint halves gives two paths k = 1..max(ks) of the estimator's model: its loss, ridge, standardising
    and sparse set (include, exclude, groups, bounds). The ridge is that of all rows. A classifier's halves have every
    class.

    Parameters
    ----------
    estimator : SparseRegressor, SparseClassifier, SparsePrecision, or one that chooses its size
        It is not fitted. Of a SparsePrecision (without y) edges are selected; of one that chooses its n_edges, which
        must be fitted, with what it chose.
    X : array, data frame, sparse matrix or data in parts
        As in ``fit``.
    y : array of shape (n,) or None, default None
        As in ``fit``.
    n_pairs : int, default 50
        Complementary pairs of half-samples.
    ks : sequence of int or None, default None
        Sizes. None: from 1 to the estimator's k, at most half of the features that compete: larger models select most
        of them whatever the data are, and at size p every feature is called stable.
    threshold : float, default 0.6
        Above 0.5, at most 1: how often a stable feature is selected at some size.
    sample_weight : array of shape (n,) or None, default None
        As in ``fit``; rows without weight are never drawn.
    offset : array of shape (n,) or None, default None
        As in ``fit``.
    random_state : int, Generator or None, default None
        Seed of the halves; the answer does not depend on ``n_jobs``.
    n_jobs : int or None, default None
        Half-samples at a time. None: the estimator's, and by default all threads there are.
    callback : callable, True or None, default None
        Called with (pairs done, n_pairs); a true return value stops there. True shows a bar.

    Returns
    -------
    Stability
        The frequencies, and which features are stable.

    Raises
    ------
    ValueError, TypeError
        Where an argument is wrong; the message names it and says what would be right.

    See Also
    --------
    split_intervals : Intervals for the chosen features.

    Notes
    -----
    Ctrl-C, the estimator's ``time_limit`` and the callback leave what was done so far (``n_done``). Complementary pairs
    and the bound on wrong features are those of R. D. Shah and R. J. Samworth (2013).

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 8))
    >>> y = X[:, 3] - X[:, 5] + 0.1 * rng.standard_normal(80)
    >>> pursuit.stability(pursuit.SparseRegressor(k=2), X, y, n_pairs=5, random_state=0).stable.tolist()
    [3, 5]
    """
    began = time.perf_counter()
    n_pairs, threshold = check_count(n_pairs, "n_pairs", 1, MAX_PAIRS), check_threshold(threshold)
    jobs = n_jobs if n_jobs is not None else getattr(estimator, "n_jobs", None)
    limit = getattr(estimator, "time_limit", None)
    with threads(jobs), np.errstate(all="ignore"), progress_callback(callback, "half-samples", n_pairs) as tell:
        select = make_selector(estimator, X, y, ks, sample_weight, offset)
        check_halves(select.rows, select.labels, select.classes)
        halves = complementary_halves(select.rows, n_pairs, random_state, select.labels)
        with until(None if limit is None else began + limit):
            done, status, reason = _run_selector(select, halves, tell)
    return Stability(
        tuple(done),
        np.array(select.ks, np.int64),
        threshold,
        n_pairs,
        select.units,
        select.forced,
        select.free,
        select.unit_of,
        select.names,
        status,
        reason,
        time.perf_counter() - began,
        select.what,
    )


def _run_selector(
    select: Selector, halves: Sequence[Columns], tell: Callable[[int, int], object]
) -> tuple[list[tuple[Columns, ...]], str, str]:
    """What the halves select, as far as it comes in whole pairs; how it ended, in a token and a sentence."""

    def ask(rows: Columns) -> tuple[Columns, ...]:
        check_time()
        with threads(1):  # so that sums are the same however many halves run at once
            found = tuple(select(rows))
        check_time()
        return found

    done: list[tuple[Columns, ...]] = []
    status, reason = "converged", "every pair was done"
    answers = streamed(ask, halves)
    try:
        for answer in answers:
            done.append(answer)
            if len(done) % 2 == 0 and tell(len(done) // 2, len(halves) // 2) and len(done) < len(halves):
                status, reason = "interrupted", f"stopped by the callback after {len(done) // 2} pairs"
                break
    except KeyboardInterrupt:
        status, reason = "interrupted", f"interrupted by the user after {len(done) // 2} pairs"
    except TimeUpError:
        status, reason = "time_limit", f"the time limit was reached after {len(done) // 2} pairs"
    finally:
        answers.close()
    return done[: len(done) // 2 * 2], status, reason
