"""
Every number of features at once
================================

``path`` gives the best model of every size. The table of coefficients shows which features come, and which go again.
"""

from sklearn.datasets import load_diabetes

import pursuit
from pursuit.plots import PathDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True)
path = pursuit.path(pursuit.GLM(X, y, standardize=True), range(11))
for k, share, result in zip(path.ks, path.explained, path, strict=True):
    print(f"k = {k:2}  R2 {share:.3f}  {', '.join(result.names)}")

# %%
PathDisplay.from_path(path)

# %%
# The smallest size that reaches a target, and a proof for every size:

print(path.smallest(score=0.5).names)
print(path.certify(pursuit.GLM(X, y, standardize=True), time_limit=10))
