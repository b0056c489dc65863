"""
Rules that a model must obey
============================

A modeller in a regulated trade has features that must be in, that must not, signs that must hold and coefficients with
limits. All of them hold strictly; a request that cannot be met is an error.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from pursuit import SparseRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True)
free = SparseRegressor(k=5).fit(X, y)
ruled = SparseRegressor(
    k=5,
    include=["age"],  # always in
    exclude=["sex"],  # never in
    bounds={"age": (0, None), "s1": (0, None), "bmi": (0, 400)},  # signs, and a limit
).fit(X, y)
for name, model in {"free": free, "with rules": ruled}.items():
    print(f"{name:10} R2 {model.score(X, y):.3f}", model.get_feature_names_out())

# %%
place = np.arange(X.shape[1])
fig, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
ax.bar(place - 0.2, free.coef_, 0.38, label="free")
ax.bar(place + 0.2, ruled.coef_, 0.38, label="with rules")
ax.axhline(0, color="0.3", linewidth=0.8)
ax.plot([1.8, 2.6], [400, 400], "k--", linewidth=1)
ax.set_xticks(place, X.columns)
ax.set_ylabel("coefficient")
ax.legend()

# %%
# What cannot be met:

try:
    SparseRegressor(k=1, include=["age", "bmi"]).fit(X, y)
except ValueError as error:
    sentence = str(error)
print(sentence)

# %%
# **Story 5.** Every rule holds strictly, and an infeasible request is an error:

coef = dict(zip(X.columns, ruled.coef_, strict=True))
assert "age" in ruled.get_feature_names_out()
assert coef["sex"] == 0
assert coef["age"] >= 0
assert coef["s1"] >= 0
assert 0 <= coef["bmi"] <= 400
assert len(ruled.support_) <= 5
assert "include" in sentence
