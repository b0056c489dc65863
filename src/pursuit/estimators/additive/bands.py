"""Bootstrap bands of the curves of an additive model."""

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from ..._utils.types import ArrayLike, Matrix, Seed, Vector
from .base import CV_ONLY

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

BAND_QUANTILES = (0.05, 0.95)  # quantiles of the bootstrap that a band covers
RIDGE_FACTORS = (1.0, 0.2, 0.02, 0.0002)  # times the chosen ridge: that of plain fits may be any of these
MIN_SAMPLES = 20  # bootstrap samples that are drawn whatever time they take: fewer have no such quantiles


def bootstrap_bands(
    estimator: "BaseEstimator",
    X: Matrix,
    y: ArrayLike,
    grids: dict[str, Vector],
    n_bootstrap: int,
    random_state: Seed = 0,
    sample_weight: ArrayLike | None = None,
    time_limit: float | None = None,
) -> dict[str, Matrix]:
    """Quantiles of the curves over bootstrap samples of the rows, each fitted with the features that were chosen.

    Parameters
    ----------
    estimator : SparseAdditiveRegressor or SparseAdditiveClassifier
        A fitted one, of one output.
    X, y : the training rows, as an array, and their targets
    grids : values of each feature at which curves are compared
    n_bootstrap : number of samples
    random_state : seed
    sample_weight : weights of the rows
    time_limit : seconds after which no further sample is drawn, once there are 20

    Notes
    -----
    Where k was chosen the model is an average of fits. Bands are then those of plain fits, with the ridge whose curves
    come closest to the model's, moved by what separates the two.

    Returns
    -------
    dict of str to ndarray of shape (2, points)
        The 5 and 95 percent quantiles.
    """
    if np.ndim(estimator.intercept_) > 0:
        raise ValueError("bands are drawn for one output; draw several outputs without n_bootstrap")
    rng, n, began = check_random_state(random_state), len(X), time.perf_counter()
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    fixed = clone(estimator).set_params(
        k=len(estimator.support_),
        include=list(estimator.support_),
        exclude=None,
        groups=None,
        effects={effect.column: effect.kind for effect in estimator.effects_.values()},
        **dict.fromkeys(CV_ONLY),
    )
    found: dict[str, list[Vector]] = {name: [] for name in grids}
    numbers = {name: f"x{effect.column}" for name, effect in estimator.effects_.items()}
    shown = {name: estimator.effects_[name](grid) for name, grid in grids.items()}
    shift: dict[str, float | Vector] = dict.fromkeys(grids, 0.0)
    if isinstance(estimator.k, str):
        fixed.set_params(l2=_closest_ridge(estimator, fixed, X, y, weights))
        fixed.fit(X, y, sample_weight=weights)
        shift = {name: shown[name] - fixed.effects_[numbers[name]](grid) for name, grid in grids.items()}
    labels = None if not hasattr(estimator, "classes_") else np.asarray(y)
    for i in range(n_bootstrap):
        if time_limit is not None and i >= MIN_SAMPLES and time.perf_counter() - began > time_limit:
            break
        sample = weights * np.bincount(rng.randint(n, size=n), minlength=n)
        if labels is not None and len(np.unique(labels[sample > 0])) < len(estimator.classes_):
            continue  # a sample of one class has no curve
        fixed.fit(X, y, sample_weight=sample)
        for name in grids:
            found[name].append(fixed.effects_[numbers[name]](grids[name]) + shift[name])
    if any(not curves for curves in found.values()):
        raise ValueError("no bootstrap sample holds all classes")
    return {name: np.quantile(np.array(curves), BAND_QUANTILES, axis=0) for name, curves in found.items()}


def _closest_ridge(estimator: "BaseEstimator", fixed: Any, X: Matrix, y: ArrayLike, weights: Vector) -> float:
    """The ridge with which the fit on the chosen features has curves close to those of an average of fits."""
    wanted = np.stack([effect(X[:, effect.column]) for effect in estimator.effects_.values()], axis=1)
    ridges = [factor * float(estimator.model_.l2_) for factor in RIDGE_FACTORS]
    apart = []
    for l2 in ridges:
        found = fixed.set_params(l2=l2).fit(X, y, sample_weight=weights).contributions(X)
        apart.append(float(np.sum((found - wanted) ** 2)))
    return ridges[int(np.argmin(apart))]
