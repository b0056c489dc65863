"""
Counts: visits to a doctor
==========================

Poisson regression of the number of visits on at most k features, with the RAND health insurance data that come with
statsmodels. Every size is fitted, and half of the rows judge.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm

import pursuit

data = sm.datasets.randhie.load_pandas()
X, y = data.exog.astype(float), data.endog.astype(float)
rng = np.random.default_rng(0)
train = rng.permutation(len(y)) < len(y) // 2
path = pursuit.path(pursuit.GLM(X[train], y[train], "poisson", standardize=True), range(X.shape[1] + 1))
for k, result in zip(path.ks, path, strict=True):
    print(k, ", ".join(result.names))


# %%
def deviance(result):
    eta = X.to_numpy()[~train] @ result.x + result.intercept
    observed = y.to_numpy()[~train]
    logs = observed * (np.log(np.maximum(observed, 1)) - eta)
    return 2 * np.mean(logs - observed + np.exp(eta))


fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(path.ks, [deviance(result) for result in path], "o-")
ax.set_xlabel("number of features")
ax.set_ylabel("held-out deviance per row")
