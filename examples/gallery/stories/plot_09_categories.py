"""
Categories enter as a whole
===========================

The dummy columns of one category are one decision. ``table_pipeline`` prepares the table and hands the groups to the
model, so that k counts columns of the table.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pursuit import SparseRegressor, table_pipeline

rng = np.random.default_rng(0)
n = 600
table = pd.DataFrame(
    {
        "district": rng.choice(["north", "south", "east", "west", "centre"], n),
        "heating": rng.choice(["gas", "oil", "district heat"], n),
        "energy class": rng.choice(list("ABCDE"), n),
        "size": rng.uniform(20, 150, n),
        "year": rng.integers(1900, 2020, n),
        "floor": rng.integers(0, 9, n),
    }
)
district = table["district"].map({"north": 0, "south": 40, "east": 15, "west": 30, "centre": 90})
rent = 9 * table["size"] + district + 25 * (table["energy class"] == "A") + rng.normal(0, 30, n)

# %%
models = {k: table_pipeline(SparseRegressor(k=k)).fit(table, rent) for k in range(1, 7)}
for k, model in models.items():
    print(k, ", ".join(model[-1].get_feature_names_out()))

# %%
columns = list(table.columns)
chosen = np.zeros((len(columns), len(models)))
for k, model in models.items():
    for name in model[-1].get_feature_names_out():
        chosen[columns.index(name.split("=")[0]), k - 1] += 1
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.imshow(chosen > 0, cmap="Blues", vmin=0, vmax=1.3, aspect="auto")
for (i, j), count in np.ndenumerate(chosen):
    if count:
        ax.text(j, i, f"{count:.0f}", ha="center", va="center", color="white")
ax.set_yticks(range(len(columns)), columns)
ax.set_xticks(range(len(models)), models)
ax.set_xlabel("k, columns of the table")
ax.set_title("number of dummy columns in the model", fontsize=10)

# %%
# **Story 9.** All dummies of a column, or none:

levels = {"district": 5, "heating": 3, "energy class": 5, "size": 2, "year": 2, "floor": 2}
for k in models:
    counts = chosen[:, k - 1]
    assert np.count_nonzero(counts) <= k
    assert all(count in (0, levels[name] - 1) for name, count in zip(columns, counts, strict=True))
assert {"size", "district"} == {columns[i] for i in np.flatnonzero(chosen[:, 1])}
