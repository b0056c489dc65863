"""Passes over X per fit: what a solver costs where data are large. None may ever rise."""

import numpy as np
import pytest

import pursuit
from pursuit.designs.dense import Dense

N, P, K = 500, 2000, 10


class Counting(Dense):
    """An array that counts how often all of it is read."""

    passes = 0


def counted(name):
    def method(self, *given, **named):
        self.passes += 1
        return getattr(super(Counting, self), name)(*given, **named)

    return method


for name in ("rmatmat", "cross", "stats", "value_gradient"):
    setattr(Counting, name, counted(name))


def objective(loss, standardize):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P))
    y = X[:, :K].sum(axis=1) + rng.standard_normal(N)
    design = Counting(X)
    y = y if loss == "squared" else (y > 0).astype(float)
    return design, pursuit.GLM(design, y, loss, l2=0.01, standardize=standardize)


#: solver: passes for the squared and for the logistic loss, on plain columns; the standardised view takes one more
PASSES = {
    "grahtp": (2, 2),
    "fgrahtp": (10, 21),
    "grasp": (2, 2),
    "pht": (2, 2),
    "omp": (2, 10),
    "ompr": (3, 11),
    "arht": (5, 60),
    "foba": (2, 10),
    "fbs": (2, 10),
    "diht": (123, 123),  # two a step of the ascent, and 60 of them
    "sdiht": (63, 36),
    # two of them rank the rivals that a summary shows; three for each of the ten units, where it is gone
    "local_search": (4, 55),
    "auto": (4, 1),
}


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("solver", PASSES)
def test_no_solver_reads_X_more_often(solver, loss):
    design, f = objective(loss, standardize=False)
    pursuit.solve(f, K, solver=solver, max_iter=60)
    assert design.passes <= PASSES[solver][loss == "logistic"]


def test_auto_on_standardised_columns_takes_two():
    """Moments and the gradient of the null model; what the kernel of the search reads of X is not counted here."""
    design, f = objective("squared", standardize=True)
    pursuit.solve(f, K)
    assert design.passes == 2


@pytest.mark.parametrize("solver", ["omp", "grasp", "foba", "auto"])
def test_a_warm_start_on_the_same_objective_costs_no_pass(solver):
    design, f = objective("squared", standardize=True)
    first = pursuit.solve(f, K, solver=solver)
    before = design.passes
    again = pursuit.solve(f, K, solver=solver, start=first)
    assert design.passes == before
    assert again.value == first.value
