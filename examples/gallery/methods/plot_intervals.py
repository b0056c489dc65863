"""
Intervals after selection
=========================

The best of 50 noise features looks significant when the same rows select and estimate. Intervals from rows that did
not select keep their level. 200 simulated tables of 100 rows, k = 1, no signal at all.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from pursuit import SparseRegressor, split_intervals

rng = np.random.default_rng(0)
model = SparseRegressor(k=1)
naive, split = [], []
for seed in range(200):
    X, y = rng.standard_normal((100, 50)), rng.standard_normal(100)
    column = X[:, model.fit(X, y).support_[0]]
    naive.append(stats.linregress(column, y).pvalue)
    table = split_intervals(model, X, y, random_state=seed).to_frame()
    split.append(table["p_value"].iloc[0])

# %%
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
grid = np.linspace(0, 1, 21)
ax.hist(naive, grid, alpha=0.6, label="same rows select and estimate")
ax.hist(split, grid, alpha=0.6, label="split_intervals")
ax.axhline(10, color="0.3", linestyle="--", label="uniform")
ax.set_xlabel("p-value of a feature without effect")
ax.set_ylabel("tables")
ax.legend()

# %%
# At the level of five percent:

print(f"same rows {np.mean(np.array(naive) < 0.05):.0%}, split {np.mean(np.array(split) < 0.05):.0%}")
assert np.mean(np.array(naive) < 0.05) > 0.5
assert np.mean(np.array(split) < 0.05) < 0.11  # 0.05 and four standard errors
