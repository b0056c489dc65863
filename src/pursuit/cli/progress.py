"""A status line on stderr while a fit runs; silent in pipes and logs."""

from typing import Any

from pursuit.cli.show import console


def fit_with_progress(estimator: Any, X: Any, y: Any) -> Any:
    """Fit, and show each iteration as the driver records it."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        return estimator.fit(X, y)
    goal = f"selecting at most {estimator.k} of {X.shape[1]} features"
    with screen.status(f"{goal} ...") as status:

        def show(record: Any) -> None:
            status.update(f"{goal}: iteration {record.iteration}, best {record.best:.6g}, {record.seconds:.0f} s")

        return estimator.fit(X, y, callback=show)
