"""
The table of best subsets
=========================

The best subsets of every size with RSS, R2, Cp, AIC and BIC, proved by leaps and bounds, and the same by trying all
1023 subsets of ten columns.
"""

from itertools import combinations

import numpy as np
from sklearn.datasets import load_diabetes

from pursuit import best_subsets

X, y = load_diabetes(return_X_y=True, as_frame=True)
table = best_subsets(X, y, 10, nbest=3)
print(best_subsets(X, y, 10))

# %%
table.plot("bic")

# %%
# All subsets, one after the other:

Z = X.to_numpy() - X.to_numpy().mean(axis=0)
r = y.to_numpy() - y.mean()


def rss(columns):
    part = Z[:, list(columns)]
    return np.sum((r - part @ np.linalg.lstsq(part, r, rcond=None)[0]) ** 2)


exhaustive = {k: sorted(rss(c) for c in combinations(range(10), k))[:3] for k in range(1, 11)}

# %%
# **Story 6.** Equal to exhaustive search, the three best of each size:

frame = table.to_frame()
for k, best in exhaustive.items():
    assert np.allclose(np.sort(frame.loc[frame["k"] == k, "rss"]), best)
assert frame["proved"].all()
assert {"rss", "aic", "bic", "cp"} <= set(frame.columns)
