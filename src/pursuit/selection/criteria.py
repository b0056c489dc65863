"""Information criteria: -2 log-likelihood + c df, df = free coefficients and intercepts.

| rule | c |
|---|---|
| aic | 2 |
| bic | log n |
| ebic | log n, and 2 log C(p, k) once |
| gic | log p log log n |
| hq | 2 log log n |
| cp | 2, with RSS / s^2 for -2 log-likelihood, s^2 from the model with all columns |

n is the number of rows with a weight (whole-number weights: their sum), weights are scaled to mean 1. The squared loss
has the Gaussian profile likelihood n log(RSS / n). Constants of the data are left out.
"""

from typing import Any

import numpy as np
from scipy.special import gammaln

from .._utils.types import Columns, Vector

CRITERIA = ("aic", "bic", "ebic", "gic", "hq", "cp")
LEAST = 1e-300


def check_criterion(rule: str, loss: Any, n: float, p: int, intercept: bool) -> None:
    """Raise where the loss or the data have no such criterion."""
    if not loss.likelihood:
        raise ValueError(f"rule={rule!r} needs a likelihood, and loss {loss.name!r} has none; use rule='min'")
    if rule == "cp" and not loss.quadratic:
        raise ValueError(f"rule='cp' is for loss='squared', not for loss {loss.name!r}; use rule='aic'")
    if rule == "cp" and p + int(intercept) >= n:
        columns = f"{p} columns" + (" and an intercept" if intercept else "")
        raise ValueError(f"rule='cp' needs more rows than columns, and there are {columns} for {n:g} rows")
    if rule == "gic" and p == 1:
        raise ValueError(
            "rule='gic' has the penalty log p log log n, which is 0 for the one column of X; use rule='bic'"
        )


def deviance(loss: Any, value: Any, n: float, outputs: int) -> Vector:
    """-2 log-likelihood, up to a constant, from the weighted mean loss."""
    value = np.asarray(value, dtype=np.float64)
    if loss.quadratic:
        return n * outputs * np.log(np.maximum(2 * value / outputs, LEAST))
    return 2 * n * value


def criterion(
    rule: str, loss: Any, value: Vector, df: Vector, units: Columns, *, n: float, p: int, outputs: int, full: float,
    intercept: bool,
) -> Vector:  # fmt: skip
    """The criterion of models with these mean losses; ``full`` is the mean loss with all columns, for Cp."""
    loglog = np.log(max(np.log(max(n, 1.0)), 1.0))
    if rule == "cp":
        left = n - p - int(intercept)  # degrees of freedom of the full model
        noise = 2 * n * full / (outputs * left)
        return np.asarray(2 * n * np.asarray(value) / max(noise, LEAST) - n * outputs + 2 * df)
    fit = deviance(loss, value, n, outputs)
    c = {"aic": 2.0, "bic": np.log(n), "ebic": np.log(n), "gic": np.log(p) * loglog, "hq": 2 * loglog}[rule]
    ways = gammaln(p + 1) - gammaln(units + 1) - gammaln(p - units + 1) if rule == "ebic" else 0.0
    return np.asarray(fit + c * df + 2 * ways)
