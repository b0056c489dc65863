"""scikit-learn's callbacks (from 1.9 on): a task per finished fold."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

F = TypeVar("F")

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # an older scikit-learn

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: F) -> F:
        return method


def fold_callback(
    estimator: "BaseEstimator", folds: int, callback: Callable[[int, int], object] | None
) -> Callable[[int, int], object] | None:
    """A function that calls ``callback`` and scikit-learn's; refitting a fold with larger sizes is no new task."""
    if not hasattr(estimator, "set_callbacks"):
        return callback
    fit, lock = estimator._init_callback_context(max_subtasks=folds), threading.Lock()
    fit.call_on_fit_task_begin(estimator=estimator)
    left = list(range(folds))

    def on_fold(done: int, total: int) -> None:
        with lock:  # folds run in threads
            if left:
                left.pop()
                task = fit.subcontext(task_name="fold")
                task.call_on_fit_task_begin(estimator=estimator)
                task.call_on_fit_task_end(estimator=estimator)
                if not left:
                    fit.call_on_fit_task_end(estimator=estimator)
        if callback is not None:
            callback(done, total)

    return on_fold
