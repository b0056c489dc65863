"""
Which pixels tell digits apart?
===============================

One multinomial model for ten classes on at most 20 of 64 pixels. A pixel counts once, whatever the number of classes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from pursuit import SparseClassifier

X, y = load_digits(return_X_y=True)
train = np.arange(len(y)) % 2 == 0
sizes = [5, 10, 20]
models = {k: SparseClassifier(k=k, effort="fast", l2=0.01).fit(X[train], y[train]) for k in sizes}

# %%
fig, axes = plt.subplots(1, len(sizes) + 1, figsize=(8, 2.5), layout="constrained")
axes[0].imshow(X.mean(axis=0).reshape(8, 8), cmap="Greys")
axes[0].set_title("mean digit", fontsize=10)
for ax, (k, model) in zip(axes[1:], models.items(), strict=True):
    chosen = np.zeros(64)
    chosen[model.support_] = np.linalg.norm(model.coef_[:, model.support_], axis=0)
    ax.imshow(chosen.reshape(8, 8), cmap="Blues")
    ax.set_title(f"{k} pixels: {model.score(X[~train], y[~train]):.0%} right", fontsize=10)
for ax in axes:
    ax.set_xticks([])
    ax.set_yticks([])
