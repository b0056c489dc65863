"""
Ten features of a data frame, by name
=====================================

A model with at most k features of a table, in a pipeline and in a grid search. The data are 442 patients with ten
measurements, their squares and their products: 65 columns.
"""

from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from pursuit import SparseRegressor
from pursuit.plots import plot_coefficients

X, y = load_diabetes(return_X_y=True, as_frame=True)
pipeline = make_pipeline(PolynomialFeatures(2, include_bias=False), SparseRegressor(k=10))
pipeline.set_output(transform="pandas").fit(X, y)
model = pipeline[-1]
print(model.get_feature_names_out())

# %%
# The model is a scikit-learn estimator, so a grid search chooses k as it chooses anything else. (``SparseRegressorCV``
# does it in one fit, with less work.)

search = GridSearchCV(pipeline, {"sparseregressor__k": [2, 5, 10, 20]}, cv=5).fit(X, y)
print(search.best_params_)

plot_coefficients(model)

# %%
# **Story 1.** At most ten features, with their names, in Pipeline and GridSearchCV:

names = set(pipeline[0].get_feature_names_out())
assert 0 < len(model.support_) <= 10
assert set(model.get_feature_names_out()) <= names
assert search.best_params_["sparseregressor__k"] in (2, 5, 10, 20)
