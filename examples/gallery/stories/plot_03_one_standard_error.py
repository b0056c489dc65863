"""
The number of features by cross-validation
==========================================

``SparseRegressorCV`` walks one warm path per fold and reads X where it is. ``rule="1se"`` takes the smallest model
within one standard error of the best.
"""

import tracemalloc

import numpy as np

from pursuit import SparseRegressorCV
from pursuit.plots import CVDisplay

rng = np.random.default_rng(0)
n, p = 4000, 1000
X = rng.standard_normal((n, p))
beta = np.zeros(p)
beta[:12] = np.linspace(1, 0.1, 12)
y = X @ beta + rng.normal(0, 2, n)

# %%
# ``callback=True`` shows the progress; what Python and NumPy allocate is traced.

tracemalloc.start()
model = SparseRegressorCV(ks=range(31), cv=5, combine="none", rule="1se").fit(X, y, callback=True)
peak = tracemalloc.get_traced_memory()[1]
tracemalloc.stop()
print(model.reason_)
print(f"X has {X.nbytes / 1e6:.0f} MB, the fit took {peak / 1e6:.0f} MB more")

# %%
CVDisplay.from_estimator(model)

# %%
# **Story 3.** The one-standard-error choice, without a copy of X for each fold:

least = model.path_.ks[np.nanargmax(model.path_.scores)]
assert 0 < model.k_ == model.k_1se_ <= least
assert peak < 2 * X.nbytes  # five training folds would be four copies of X
