"""
Curves in place of straight lines
=================================

An additive model with at most three features, each with a smooth effect. The data are Friedman's simulation with ten
columns, of which five matter.
"""

from sklearn.datasets import make_friedman1

from pursuit import SparseAdditiveRegressor, SparseRegressor
from pursuit.plots import EffectDisplay

X, y = make_friedman1(n_samples=500, n_features=10, noise=1.0, random_state=0)
lines = SparseRegressor(k=3).fit(X, y)
curves = SparseAdditiveRegressor(k=3).fit(X, y)
print(f"three lines R2 {lines.score(X, y):.2f}, three curves R2 {curves.score(X, y):.2f}")
print(curves.summary())

# %%
EffectDisplay.from_estimator(SparseAdditiveRegressor(k=5).fit(X, y))
