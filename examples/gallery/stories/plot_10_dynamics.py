"""
Equations of a dynamical system
===============================

At most k terms in each equation of the Lorenz system, from positions and noisy derivatives (SINDy), without a licence
for a solver. The library has all monomials up to degree three: 19 terms.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from sklearn.preprocessing import PolynomialFeatures

import pursuit


def lorenz(t, u):
    x, y, z = u
    return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]


times = np.arange(0, 10, 0.005)
u = solve_ivp(lorenz, (0, 10), [-8, 8, 27], t_eval=times, rtol=1e-9, atol=1e-9).y.T
rng = np.random.default_rng(0)
derivative = np.array([lorenz(0, row) for row in u])
derivative += rng.normal(0, 0.05 * derivative.std(), derivative.shape)  # five per cent of noise
library = PolynomialFeatures(3, include_bias=False)
terms = library.fit_transform(u)
names = library.get_feature_names_out(["x", "y", "z"])

# %%
# One path for each equation. The value stops falling at the true number of terms: 2, 3 and 2.

fig, axes = plt.subplots(1, 3, figsize=(8, 2.8), sharey=True, layout="constrained")
equations, proofs = [], []
for j, (ax, k) in enumerate(zip(axes, [2, 3, 2], strict=True)):
    f = pursuit.GLM(terms, derivative[:, j], standardize=True)
    path = pursuit.path(f, range(1, 7))
    result = path.at(k)
    proofs.append(pursuit.certify(f, result, time_limit=5))
    equations.append({names[i]: c for i, c in zip(result.support, result.coef, strict=True)})
    print(f"d{'xyz'[j]}/dt =", " ".join(f"{c:+.2f} {name}" for name, c in equations[-1].items()))
    ax.semilogy(path.ks, path.values, "o-")
    ax.axvline(k, color="0.7", linestyle="--")
    ax.set_title(f"d{'xyz'[j]}/dt")
    ax.set_xlabel("terms")
axes[0].set_ylabel("value")

# %%
# **Story 10.** The right terms, with a proof that no other terms of this number fit better:

assert [set(equation) for equation in equations] == [{"x", "y"}, {"x", "y", "x z"}, {"z", "x y"}]
assert abs(equations[0]["y"] - 10) < 0.2
assert abs(equations[1]["x"] - 28) < 0.5
assert abs(equations[2]["z"] + 8 / 3) < 0.1
assert {proof.status for proof in proofs} == {"proved"}
