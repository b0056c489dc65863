"""
Ten features for unequal classes, next to the lasso
===================================================

``SparseClassifier(k=10, class_weight="balanced")`` against an l1 logistic regression that is tuned to ten features and
refitted on them. Both are judged by the same function: the balanced log loss with the same ridge.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from pursuit import GLM, SparseClassifier

cancer, malignant = load_breast_cancer(return_X_y=True)
digits, digit = load_digits(return_X_y=True)
squares = PolynomialFeatures(2, include_bias=False).fit_transform(cancer[:, :8])
problems = {
    "breast cancer": (cancer, malignant == 0),
    "with products": (squares, malignant == 0),
    "digit 8": (digits[:, digits.std(axis=0) > 0], digit == 8),
}


def lasso_support(X, y, k):
    """The largest support of at most k features on a bisection over the l1 penalty."""
    low, high, best = 1e-4, 10.0, np.zeros(0, int)
    for _ in range(12):
        C = np.sqrt(low * high)
        lasso = LogisticRegression(solver="liblinear", l1_ratio=1.0, C=C, class_weight="balanced", tol=1e-3).fit(X, y)
        support = np.flatnonzero(lasso.coef_[0])
        low, high = (C, high) if len(support) <= k else (low, C)
        best = support if len(best) <= len(support) <= k else best
    return best


# %%
# Fit, and compute the value of both supports with one objective.

values = {}
for name, (X, y) in problems.items():
    X = StandardScaler().fit_transform(X)
    model = SparseClassifier(k=10, class_weight="balanced").fit(X, y)
    probability = model.predict_proba(X)
    assert probability.shape == (len(y), 2)
    assert len(model.support_) <= 10
    weight = np.where(y, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    f = GLM(X, y, "logistic", sample_weight=weight, l2=model.l2_, standardize=True)
    ours = f.refit(np.sort(model.support_)).value
    theirs = f.refit(lasso_support(X, y, 10)).value
    values[name] = ours, theirs
    print(f"{name:14} at most 10 features: {ours:.4f}, lasso and refit {theirs:.4f}")

# %%
place = np.arange(len(values))
pairs = np.array(list(values.values()))
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.bar(place - 0.2, pairs[:, 0], 0.38, label="SparseClassifier(k=10)")
ax.bar(place + 0.2, pairs[:, 1], 0.38, label="lasso with 10 features, refitted")
ax.set_xticks(place, values)
ax.set_ylabel("balanced log loss")
ax.legend()

# %%
# **Story 2.** With probabilities, and never worse than the lasso:

assert np.all(pairs[:, 0] <= pairs[:, 1] + 1e-9)
