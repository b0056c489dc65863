"""
A loss of your own
==================

The logarithm of the hyperbolic cosine: a class with the value and two derivatives. It is robust: outliers in y do not
decide which features are chosen.
"""

import matplotlib.pyplot as plt
import numpy as np

import pursuit


class LogCosh(pursuit.Loss):
    """Logarithm of the hyperbolic cosine of the residual."""

    name = "log_cosh"
    smoothness = 1.0

    def value(self, y, eta):
        r = np.abs(eta - y)
        return r + np.log1p(np.exp(-2 * r)) - np.log(2)

    def d1(self, y, eta):
        return np.tanh(eta - y)

    def d2(self, y, eta):
        return 1 - np.tanh(eta - y) ** 2


# %%
losses = {"squared": "squared", "huber": "huber", "log cosh": LogCosh()}
found = {name: [] for name in losses}
shares = [0.0, 0.05, 0.1, 0.2]
truth = np.arange(5)
for share in shares:
    right = {name: [] for name in losses}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((150, 60))
        y = X[:, :5].sum(axis=1) + rng.standard_normal(150)
        bad = rng.random(150) < share
        y[bad] += rng.normal(0, 20, bad.sum())
        for name, loss in losses.items():
            support = pursuit.SparseRegressor(k=5, loss=loss).fit(X, y).support_
            right[name].append(len(np.intersect1d(support, truth)) / 5)
    for name in losses:
        found[name].append(np.mean(right[name]))

# %%
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, values in found.items():
    ax.plot(shares, values, "o-", label=name)
ax.set_xlabel("share of outliers")
ax.set_ylabel("share of true features found")
ax.set_ylim(0, 1.05)
ax.legend()

assert found["log cosh"][-1] > found["squared"][-1]
