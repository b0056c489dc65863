"""
Solvers on a hard problem
=========================

Strongly correlated columns and few rows: greedy and thresholding methods stop at different values. How far each is
above the best, over its iterations.
"""

import numpy as np

import pursuit
from pursuit.plots import plot_trace

rng = np.random.default_rng(1)
n, p, k = 80, 300, 10
noise = rng.standard_normal((n, p))
X = noise.copy()
for j in range(1, p):
    X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1 - 0.81) * noise[:, j]
y = X[:, ::30] @ np.ones(k) + rng.standard_normal(n)
f = pursuit.GLM(X, y, standardize=True)

# %%
names = ["auto", "local_search", "grahtp", "omp", "ompr", "grasp"]
results = {name: pursuit.solve(f, k, solver=name, random_state=0) for name in names}
for name, result in results.items():
    print(f"{name:13} {result.value:.4f}  {result.optimality}")

# %%
plot_trace({name: results[name] for name in names if name != "auto"})

assert results["auto"].value <= min(result.value for result in results.values()) + 1e-9
