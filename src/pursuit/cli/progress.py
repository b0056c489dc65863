"""A status line or a bar on stderr while a command works; silent in pipes and logs."""

import warnings
from typing import TYPE_CHECKING

from sklearn.exceptions import ConvergenceWarning

from pursuit._utils.progress import Progress
from pursuit._utils.types import ArrayLike, StoredMatrix
from pursuit.cli.inputs import FitRequest
from pursuit.cli.show import console

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from pursuit.solving.result import Record


def fit_with_progress(
    estimator: "BaseEstimator", X: StoredMatrix, y: ArrayLike | None, **more: object
) -> "BaseEstimator":
    """Fit, and show each iteration as the driver records it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what is printed says it, and so does the exit code
        return _fit(estimator, X, y, **more)


def _fit(estimator: "BaseEstimator", X: StoredMatrix, y: ArrayLike | None, **more: object) -> "BaseEstimator":
    screen = console(stderr=True)
    if not screen.is_terminal:
        return estimator.fit(X, y, **more)
    goal = f"selecting at most {estimator.k} of {X.shape[1]} features"
    with screen.status(f"{goal} ...") as status:

        def show(record: "Record") -> None:
            status.update(f"{goal}: iteration {record.iteration}, best {record.best:.6g}, {record.seconds:.0f} s")

        return estimator.fit(X, y, callback=show, **more)


def choose_with_progress(estimator: "BaseEstimator", request: FitRequest) -> "BaseEstimator":
    """Fit an estimator that chooses k, and show its folds."""
    groups = {} if request.groups is None else {"cv_groups": request.groups}
    with Progress("folds") as bar:
        bar(0)  # the fit on all rows comes first
        try:
            return estimator.fit(request.X, request.y, **request.more, **groups, callback=bar)
        except TimeoutError as error:
            limit = f"--time-limit {estimator.time_limit:g}"
            raise ValueError(
                f"{limit} was over before a single fold was fitted; allow more, or give fewer --ks, or one --l2"
            ) from error
