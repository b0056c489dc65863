"""
A gene panel from sparse counts
===============================

A sparse matrix of expression counts, genes that must be in the panel, and a panel that is filled up. The request was
100,000 cells x 30,000 genes, 140 preselected, 500 in all; here everything is smaller: 4000 cells x 3000 genes, 14
preselected, 50 in all. The matrix is never made dense.
"""

import tracemalloc

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from pursuit import SparseClassifier

rng = np.random.default_rng(0)
cells, genes = 4000, 3000
counts = sp.random(cells, genes, density=0.05, format="csr", random_state=2, data_rvs=lambda m: rng.poisson(3, m) + 1.0)
kind = rng.integers(0, 2, cells)
markers = rng.choice(genes, 40, replace=False)
lift = sp.random(cells, genes, density=0.05, format="csr", random_state=3, data_rvs=lambda m: rng.poisson(3, m) + 1.0)
mask = sp.diags_array(kind.astype(float)) @ lift
keep = np.zeros(genes)
keep[markers] = 1
counts = sp.csr_matrix(counts + mask @ sp.diags_array(keep))  # markers are expressed more often in one kind of cell
print(f"{counts.nnz} of {cells * genes} entries are stored: {(counts.data.nbytes * 1.5) / 1e6:.0f} MB")

# %%
preselected = rng.choice(genes, 14, replace=False)
tracemalloc.start()  # what Python and NumPy allocate
model = SparseClassifier(k=50, include=preselected, effort="fast").fit(counts, kind)
peak = tracemalloc.get_traced_memory()[1]
tracemalloc.stop()
found = np.intersect1d(model.support_, markers)
print(f"{len(model.support_)} genes, {len(found)} of the 40 markers; {peak / 1e6:.0f} MB beside the data")
print(f"a dense matrix would take {8 * cells * genes / 1e6:.0f} MB")

# %%
size = np.abs(model.coef_.ravel()[model.support_])
order = np.argsort(-size)
colours = np.where(np.isin(model.support_[order], markers), "C0", "C3")
colours = np.where(np.isin(model.support_[order], preselected), "C7", colours)
fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
ax.bar(range(len(order)), size[order], color=colours)
ax.set_xlabel("genes of the panel")
ax.set_ylabel("size of the coefficient")
for colour, label in {"C0": "marker", "C7": "preselected", "C3": "neither"}.items():
    ax.bar(0, 0, color=colour, label=label)
ax.legend()

# %%
# **Story 8.** The preselected genes are in, the panel has its size, and nothing was made dense:

assert set(preselected) <= set(model.support_)
assert len(model.support_) == 50
assert peak < 0.5 * 8 * cells * genes
assert len(found) >= 30
