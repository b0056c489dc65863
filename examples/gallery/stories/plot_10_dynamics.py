"""
Equations of a dynamical system
===============================

At most k terms in each equation of the Lorenz system, from noisy positions (SINDy), without a licence for a solver.
pysindy smooths, differentiates and builds the library of all monomials up to degree three; pursuit is its optimizer.
"""

import matplotlib.pyplot as plt
import numpy as np
import pysindy
from scipy.integrate import solve_ivp

import pursuit


def lorenz(t, u):
    x, y, z = u
    return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]


times = np.arange(0, 10, 0.002)
u = solve_ivp(lorenz, (0, 10), [-8, 8, 27], t_eval=times, rtol=1e-10, atol=1e-10).y.T
rng = np.random.default_rng(0)
positions = u + 0.1 * rng.standard_normal(u.shape)  # about one per cent of noise

# %%
# ``SparseRegressor(shared=False)`` gives each equation k terms of its own; ``WrappedOptimizer`` makes it an optimizer
# of pysindy.

optimizer = pysindy.WrappedOptimizer(pursuit.SparseRegressor(k=3, shared=False, fit_intercept=False))
model = pysindy.SINDy(
    optimizer=optimizer,
    feature_library=pysindy.PolynomialLibrary(degree=3),
    differentiation_method=pysindy.SmoothedFiniteDifference(smoother_kws={"window_length": 51}),
)
model.fit(positions, t=times, feature_names=["x", "y", "z"])
model.print(precision=4)

# %%
# Three terms are one too many for the first and the third equation: the third coefficient is below 0.01. How many terms
# are there? The same derivatives and terms, and one path for each equation: the value stops falling at 2, 3 and 2.

derivative = np.asarray(model.differentiation_method(positions, times))
terms = np.asarray(model.feature_library.transform(model.differentiation_method.smoothed_x_))[:, 1:]
names = model.get_feature_names()[1:]  # without the constant: an intercept takes its place

fig, axes = plt.subplots(1, 3, figsize=(8, 2.8), sharey=True, layout="constrained")
equations, proofs, sizes = [], [], []
for j, ax in enumerate(axes):
    f = pursuit.GLM(terms, derivative[:, j], standardize=True)
    path = pursuit.path(f, range(1, 7))
    k = next(k for k in range(1, 6) if path.at(k + 1).value > 0.95 * path.at(k).value)  # one more gains under 5 %
    result = path.at(k)
    sizes.append(k)
    proofs.append(pursuit.certify(f, result, time_limit=5))
    equations.append({names[i]: c for i, c in zip(result.support, result.coef, strict=True)})
    print(f"d{'xyz'[j]}/dt =", " ".join(f"{c:+.2f} {name}" for name, c in equations[-1].items()))
    ax.semilogy(path.ks, path.values, "o-")
    ax.axvline(k, color="0.7", linestyle="--")
    ax.set_title(f"d{'xyz'[j]}/dt")
    ax.set_xlabel("terms")
axes[0].set_ylabel("value")

# %%
# **Story 10.** The right terms with the right coefficients, by pysindy:

truth = {"x": (-10, 28, 0), "y": (10, -1, 0), "z": (0, 0, -8 / 3), "x z": (0, -1, 0), "x y": (0, 0, 1)}
expected = np.array([truth.get(name, (0, 0, 0)) for name in model.get_feature_names()]).T
found = model.coefficients()
assert np.count_nonzero(found, axis=1).max() <= 3
assert np.all(found[expected != 0] != 0)
assert np.allclose(found[expected != 0], expected[expected != 0], rtol=0.01)
assert np.all(np.abs(found[expected == 0]) < 0.01)

# %%
# and, at the sizes where the paths stop falling, no others, with a proof that no other terms of this number fit better:

assert sizes == [2, 3, 2]
assert [set(equation) for equation in equations] == [{"x", "y"}, {"x", "y", "x z"}, {"z", "x y"}]
assert {proof.status for proof in proofs} == {"proved"}
