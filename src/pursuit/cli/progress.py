"""A status line on stderr while a fit runs; silent in pipes and logs."""

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from pursuit.cli.show import console


def fit_with_progress(estimator: Any, X: Any, y: Any, **more: Any) -> Any:
    """Fit, and show each iteration as the driver records it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what is printed says it, and so does the exit code
        return _fit(estimator, X, y, **more)


def _fit(estimator: Any, X: Any, y: Any, **more: Any) -> Any:
    screen = console(stderr=True)
    if not screen.is_terminal:
        return estimator.fit(X, y, **more)
    goal = f"selecting at most {estimator.k} of {X.shape[1]} features"
    with screen.status(f"{goal} ...") as status:

        def show(record: Any) -> None:
            status.update(f"{goal}: iteration {record.iteration}, best {record.best:.6g}, {record.seconds:.0f} s")

        return estimator.fit(X, y, callback=show, **more)
