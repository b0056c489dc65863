"""Wrong calls that are frequent, answered by the call that does what was meant."""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from .types import MatrixLike
from .validation import suggestion

F = TypeVar("F", bound=Callable[..., Any])

_RIDGE = "the ridge is l2, and k is the number of features"
_SIZE = "the number of features is k"
_CHOOSE = "sizes to choose from are ks, of SparseRegressorCV and SparseClassifierCV"
#: What a keyword of other packages is called here.
KEYWORD_HINTS = {
    **dict.fromkeys(("alpha", "lam", "lambda_", "reg_lambda", "lambda1", "lambda2"), _RIDGE),
    "C": "C of scikit-learn is l2=1/(n C), n the number of rows",
    "penalty": "k takes the place of a penalty; l2 adds a ridge",
    "l1_ratio": "k takes the place of an l1 penalty; l2 adds a ridge",
    **dict.fromkeys(("positive", "nonnegative", "non_negative"), "bounds=(0, None) keeps coefficients non-negative"),
    **dict.fromkeys(
        ("n_nonzero_coefs", "n_features", "n_features_to_select", "max_features", "sparsity", "s", "K", "support_size"),
        _SIZE,
    ),
    **dict.fromkeys(("alphas", "Cs", "n_alphas", "k_range", "sizes"), _CHOOSE),
    **dict.fromkeys(("normalize", "scale", "standardise", "center"), "columns are standardised by standardize=True"),
    **dict.fromkeys(("intercept", "add_intercept"), "the intercept is fit_intercept"),
    **dict.fromkeys(("seed", "random_seed"), "the seed is random_state"),
    **dict.fromkeys(("family", "objective", "distribution"), "the loss is loss, see pursuit.list_losses()"),
    **dict.fromkeys(("n_iter", "max_iters", "iterations"), "the limit of iterations is max_iter"),
    **dict.fromkeys(("timeout", "max_time"), "the limit in seconds is time_limit"),
    **dict.fromkeys(("n_threads", "threads", "num_threads"), "the number of threads is n_jobs"),
    **dict.fromkeys(("weights", "sample_weight"), "weights go to fit(X, y, sample_weight=...)"),
    "offset": "an offset goes to fit(X, y, offset=...)",
    "verbose": "progress is shown by fit(X, y, callback=...)",
    "method": "the algorithm is solver, see pursuit.list_solvers()",
    "algorithm": "the algorithm is solver, see pursuit.list_solvers()",
    "criterion": "a criterion such as 'bic' is rule, of SparseRegressorCV and SparseClassifierCV",
    **dict.fromkeys(("forced", "must_include", "always_select"), "columns that must be in are include"),
}
_OF_CV = ("ks", "cv", "scoring", "rule", "goal", "combine", "gamma")


def check_keywords(kind: type, keywords: Iterable[str]) -> None:
    """Raise where a class has no such parameter, with the one that does what was meant."""
    parameters = inspect.signature(kind.__init__).parameters  # type: ignore[misc]
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return  # a subclass of a user's takes what it wants
    known = [name for name in parameters if name != "self"]
    for name in keywords:
        if name in known:
            continue
        if name == "k":
            fixed = kind.__name__.removesuffix("CV")
            words = f"it chooses k, from ks=[1, 2, ...] where these are given; {fixed}(k=...) has a fixed k"
        elif name in _OF_CV and f"{kind.__name__}CV" in ("SparseRegressorCV", "SparseClassifierCV"):
            words = f"{kind.__name__}CV({name}=...) chooses k"
        else:
            words = KEYWORD_HINTS.get(name) or suggestion(name, known) or f"its parameters are {', '.join(known)}"
        raise TypeError(f"{kind.__name__} has no parameter {name!r}: {words}")


def takes_objective(example: str) -> Callable[[F], F]:
    """A decorator of functions of an objective: data in its place get the right call in a sentence."""

    def decorate(function: F) -> F:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if args and (isinstance(args[0], np.ndarray | list) or hasattr(args[0], "columns")):
                name = function.__name__
                raise TypeError(
                    f"{name} takes an objective, got {type(args[0]).__name__} as objective; for data: {name}{example}"
                )
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate


def refuse_names_for_rows(X: MatrixLike, y: object) -> None:
    """Raise where the target of ``fit`` is the name of a column."""
    if not isinstance(y, str):
        return
    if isinstance(X, str):
        raise TypeError(
            f"fit takes rows, not names of files and columns: frame = pandas.read_csv({X!r}), then "
            f"fit(frame.drop(columns={y!r}), frame[{y!r}]); or on the command line: pursuit fit {X} --target {y}"
        )
    raise ValueError(
        f"y must be an array of numbers or labels, got the text {y!r}; for a column of a data frame: "
        f"fit(frame.drop(columns={y!r}), frame[{y!r}])"
    )
