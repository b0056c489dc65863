"""
Track an index with at most 50 assets
=====================================

Weights between 0 and 10 percent that sum to one, for an index of 200 assets. Half of the days estimate, the other half
judge.
"""

import matplotlib.pyplot as plt
import numpy as np

import pursuit

rng = np.random.default_rng(0)
days, assets = 1500, 200
factors = rng.normal(0, 0.008, (days, 5))
returns = factors @ rng.normal(0.6, 0.5, (5, assets)) + rng.normal(0, 0.012, (days, assets))
capital = rng.pareto(1.5, assets) + 0.1
index = returns @ (capital / capital.sum())
past, future = slice(0, days // 2), slice(days // 2, days)


def objective(R, target):
    return pursuit.Quadratic(R.T @ R, R.T @ target, target @ target, len(target))


def tracking_error(weights, when):
    return np.sqrt(252) * np.std(returns[when] @ weights - index[when])


# %%
# One portfolio of each size; 50 is the request.

f = objective(returns[past], index[past])
sizes = [12, 15, 20, 30, 40, 50]
portfolios = {k: pursuit.solve(f, k, bounds=(0, 0.1), sum_to=1.0, time_limit=3) for k in sizes}
weights = portfolios[50].x
print(f"{np.count_nonzero(weights)} assets, largest weight {weights.max():.3f}, sum {weights.sum():.9f}")
print(portfolios[50].optimality, "-", portfolios[50].reason)

# %%
fig, axes = plt.subplots(1, 2, figsize=(7.5, 3), layout="constrained")
for when, label in ((past, "days that estimate"), (future, "days that follow")):
    axes[0].plot(sizes, [100 * tracking_error(portfolios[k].x, when) for k in sizes], "o-", label=label)
axes[0].set_xlabel("assets at most")
axes[0].set_ylabel("tracking error, percent a year")
axes[0].set_ylim(bottom=0)
axes[0].legend()
axes[1].plot(np.cumsum(returns[future] @ weights), label="50 assets")
axes[1].plot(np.cumsum(index[future]), label="index")
axes[1].set_xlabel("days that follow")
axes[1].set_ylabel("sum of returns")
axes[1].legend()

# %%
# A lower bound
# -------------
#
# ``certify`` takes the better of two bounds: one for at most k assets without the box, and one inside the box with the
# sum. Tracking is bounded by the first. Its gap stays open: it is not known whether
# another 50 assets track better.

proof = pursuit.certify(f, portfolios[50])
print(f"tracking: value {proof.upper:.3g}, no portfolio is below {proof.lower:.3g} (gap {proof.rel_gap:.0%})")
print(proof.status, "-", proof.reason)

# %%
# The least variance without a sum is zero, so only the bound inside the box says something: 20 assets are within about
# one percent of the best, 50 are proved.

covariance = np.cov(returns[past], rowvar=False)
variance = pursuit.Quadratic(len(index[past]) * covariance, np.zeros(assets), 0.0, len(index[past]))
quiet, bounds = {}, {}
for k in (12, 20, 50):
    quiet[k] = pursuit.solve(variance, k, bounds=(0, 0.1), sum_to=1.0, time_limit=3)
    bounds[k] = pursuit.certify(variance, quiet[k])
    print(f"least variance, {k} assets: gap {bounds[k].rel_gap:.1%}, {bounds[k].status}")

# %%
# What cannot be met is an error: nine assets of at most 10 percent do not sum to one.

try:
    pursuit.solve(f, 9, bounds=(0, 0.1), sum_to=1.0)
except ValueError as error:
    sentence = str(error)
print(sentence)

# %%
# **Story 15.** At most 50 assets, weights in [0, 0.1] that sum to one:

assert np.count_nonzero(weights) <= 50
assert weights.min() >= 0
assert weights.max() <= 0.1
assert abs(weights.sum() - 1) < 1e-9
assert tracking_error(weights, future) < tracking_error(portfolios[12].x, future)
assert "sum_to" in sentence
assert 0 < proof.lower < proof.upper
assert np.isclose(proof.upper, portfolios[50].value, rtol=1e-9)
assert 0 < proof.rel_gap < 0.6
assert all(0 < bounds[k].lower <= quiet[k].value * (1 + 1e-9) for k in bounds)
assert bounds[20].rel_gap < 0.05
assert bounds[50].status == "proved"
