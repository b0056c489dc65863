"""
Would other rows choose the same?
=================================

Random halves of the rows vote. Two features that replace each other are named as partners.
"""

from sklearn.datasets import load_breast_cancer

from pursuit import SparseClassifier, stability
from pursuit.plots import StabilityDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
votes = stability(SparseClassifier(k=6), X, y, n_pairs=15, random_state=0)
print(votes)
print(votes.partners[:2])

# %%
StabilityDisplay.from_stability(votes)
