"""
How many rows are needed to find the features?
==============================================

Ten true features of 200, more and more rows: the share of simulations that find all of them and no other, for the best
subset, for orthogonal matching pursuit, and for the lasso with ten features.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import lars_path

import pursuit

k, p = 10, 200
rows = [30, 45, 60, 80, 110]
exact = {"pursuit, auto": [], "omp": [], "lasso": []}
for n in rows:
    hits = dict.fromkeys(exact, 0)
    for seed in range(15):
        rng = np.random.default_rng(seed)
        common = rng.standard_normal((n, 1))
        X = np.sqrt(0.7) * rng.standard_normal((n, p)) + np.sqrt(0.3) * common
        y = X[:, :k] @ rng.choice([-1.0, 1.0], k) + 0.3 * rng.standard_normal(n)
        f = pursuit.GLM(X, y, standardize=True)
        supports = {name: pursuit.solve(f, k, solver=name.split()[-1]).support for name in ("pursuit, auto", "omp")}
        coefs = lars_path(X - X.mean(axis=0), y - y.mean(), method="lasso", max_iter=k)[2]
        supports["lasso"] = np.flatnonzero(coefs[:, -1])
        for name, support in supports.items():
            hits[name] += set(support) == set(range(k))
    for name in exact:
        exact[name].append(hits[name] / 15)

# %%
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, values in exact.items():
    ax.plot(rows, values, "o-", label=name)
ax.set_xlabel("rows")
ax.set_ylabel("exact recovery")
ax.legend()
print({name: np.round(values, 2).tolist() for name, values in exact.items()})

assert np.sum(exact["pursuit, auto"]) >= np.sum(exact["omp"])
assert np.sum(exact["pursuit, auto"]) >= np.sum(exact["lasso"])
