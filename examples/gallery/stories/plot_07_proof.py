"""
A proof without a commercial solver
===================================

``certify`` bounds the best possible value by branch and bound, and proves the result where the bounds meet. Of 500
columns 10 are chosen: there are 2.5e20 subsets.
"""

import matplotlib.pyplot as plt
import numpy as np

import pursuit

rng = np.random.default_rng(1)
n, p, k = 1000, 500, 10
noise = rng.standard_normal((n, p))
X = noise.copy()
for j in range(1, p):  # neighbours are correlated
    X[:, j] = 0.6 * X[:, j - 1] + 0.8 * noise[:, j]
y = X[:, ::50] @ np.ones(k) + rng.normal(0, 2, n)

f = pursuit.GLM(X, y, standardize=True)
result = pursuit.solve(f, k)
print(result.optimality, result.reason)

# %%
# The proof holds for these rows; whether other rows would choose the same is another question.

proof = pursuit.certify(f, result, time_limit=15)
print(proof.status, "-", proof.reason)
print(f"{proof.lower:.8f} <= optimum <= {proof.upper:.8f}, {proof.nodes} nodes")

# %%
# Without a time limit the bound is computed without branching; ``time_limit=0`` gives the cheapest one.

bounds = {
    "cheapest bound": pursuit.certify(f, result, time_limit=0),
    "without branching": pursuit.certify(f, result),
    "branch and bound": proof,
}
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.bar(list(bounds), [one.lower for one in bounds.values()], color="C0", width=0.5, label="lower bound")
ax.axhline(proof.upper, color="C1", label="value found")
ax.set_ylim(0, 1.35 * proof.upper)
ax.set_ylabel("value")
ax.legend()

# %%
# **Story 7.** A proof, or a bound:

assert proof.status == "proved"
assert proof.lower <= proof.upper
assert all(one.lower <= one.upper for one in bounds.values())
