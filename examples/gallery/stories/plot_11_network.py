"""
A graph with 50 edges from fewer rows than variables
====================================================

Partial correlations of 80 variables from 60 rows. The precision matrix has exactly as many edges as requested and is
positive definite; networkx takes the graph.
"""

import networkx as nx
import numpy as np

from pursuit import SparsePrecision
from pursuit.plots import GraphDisplay

rng = np.random.default_rng(3)
p, n = 80, 60
truth = nx.gnm_random_graph(p, 50, seed=3)
W = np.eye(p)
for i, j in truth.edges:
    W[i, j] = W[j, i] = rng.choice([-0.35, 0.35])
W += (0.1 - min(0.1, np.linalg.eigvalsh(W)[0])) * np.eye(p)
X = rng.multivariate_normal(np.zeros(p), np.linalg.inv(W), n)

# %%
model = SparsePrecision(n_edges=50, shrinkage=0.2).fit(X)
graph = model.to_networkx()
right = sum(truth.has_edge(*edge) for edge in zip(*np.nonzero(np.triu(model.adjacency_, 1)), strict=True))
least = np.linalg.eigvalsh(model.precision_)[0]
print(f"{graph.number_of_edges()} edges, {right} of them true; least eigenvalue {least:.3f}")

# %%
GraphDisplay.from_estimator(model)

# %%
# **Story 11.** 50 edges from n < p rows, positive definite, as a networkx graph:

assert isinstance(graph, nx.Graph)
assert graph.number_of_edges() == 50
assert graph.number_of_nodes() == p > n
assert least > 0
assert right >= 25
