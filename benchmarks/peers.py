"""Who takes part. A contender turns (X, y, k) into a support; only that call is timed.

Everyone gets the same arrays and its own defaults. skscope's data are converted to JAX (float64) before the clock
starts, and it has no intercept (the data have mean zero up to noise); the neutral objective refits with one.
"""

import importlib.metadata
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from problems import Data, Problem

Fit = Callable[[], np.ndarray]


@dataclass(frozen=True)
class Contender:
    """``prepare`` does what is not timed (imports, conversions) and returns the call that is."""

    name: str
    package: str
    prepare: Callable[[Problem, Data], Fit]
    sizes: tuple[str, ...] = ("small", "medium", "large")
    kinds: tuple[str, ...] = ("linear", "logistic")
    compiles: bool = False  # its first call waits for a compiler and is reported apart

    @property
    def ours(self) -> bool:
        return self.package == "pursuit"

    @property
    def installed(self) -> bool:
        return importlib.util.find_spec("sklearn" if self.package == "scikit-learn" else self.package) is not None

    @property
    def version(self) -> str:
        return importlib.metadata.version(self.package) if self.installed else "not installed"

    def enters(self, problem: Problem) -> bool:
        if self.compiles and problem.kind == "logistic" and problem.size != "small":
            return False  # up to 40 seconds per call
        return problem.kind in self.kinds and problem.size in self.sizes


def solver(name: str) -> Callable[[Problem, Data], Fit]:
    """``pursuit.solve`` on a fresh objective each time, so that nothing is kept from run to run."""

    def prepare(problem: Problem, data: Data) -> Fit:
        from pursuit import GLM, solve

        loss = "squared" if problem.kind == "linear" else "logistic"
        return lambda: solve(GLM(data.X, data.y, loss, l2=0), problem.k, solver=name).support

    return prepare


def estimator(problem: Problem, data: Data) -> Fit:
    from pursuit import SparseClassifier, SparseRegressor

    kind = SparseRegressor if problem.kind == "linear" else SparseClassifier
    return lambda: kind(problem.k, l2=0).fit(data.X, data.y).support_


def abess(problem: Problem, data: Data) -> Fit:
    from abess import LinearRegression, LogisticRegression

    kind = LinearRegression if problem.kind == "linear" else LogisticRegression
    return lambda: np.flatnonzero(kind(support_size=problem.k).fit(data.X, data.y).coef_)


def sklearn_omp(problem: Problem, data: Data) -> Fit:
    from sklearn.linear_model import OrthogonalMatchingPursuit

    return lambda: np.flatnonzero(OrthogonalMatchingPursuit(n_nonzero_coefs=problem.k).fit(data.X, data.y).coef_)


def skscope(name: str) -> Callable[[Problem, Data], Fit]:
    def prepare(problem: Problem, data: Data) -> Fit:
        import jax

        jax.config.update("jax_enable_x64", True)
        import jax.numpy as jnp
        import skscope as package

        X, y = jnp.asarray(data.X), jnp.asarray(data.y)
        kind = getattr(package, name)

        def loss(coef):  # type: ignore[no-untyped-def]
            eta = X @ coef
            if problem.kind == "linear":
                return 0.5 * jnp.mean((y - eta) ** 2)
            return jnp.mean(jnp.logaddexp(0.0, -(2 * y - 1) * eta))

        return lambda: np.flatnonzero(kind(problem.p, problem.k, problem.n).solve(loss, jit=True))

    return prepare


EVERY = ("small", "medium", "large", "sparse")
SMALL = ("small", "medium")
CONTENDERS = (
    Contender("pursuit grahtp", "pursuit", solver("grahtp"), EVERY),
    Contender("abess", "abess", abess),
    Contender("pursuit omp", "pursuit", solver("omp"), EVERY),
    Contender("sklearn OMP", "scikit-learn", sklearn_omp, kinds=("linear",)),
    Contender("pursuit auto", "pursuit", solver("auto"), EVERY),
    Contender("pursuit estimator", "pursuit", estimator, EVERY),
    Contender("skscope scope", "skscope", skscope("ScopeSolver"), SMALL, compiles=True),
    Contender("skscope htp", "skscope", skscope("HTPSolver"), SMALL, compiles=True),
    Contender("skscope grasp", "skscope", skscope("GraspSolver"), SMALL, compiles=True),
)
# Figures that would take too long to measure again: (problem, contender, seconds, objective).
RECORDED = (("logistic-rcv1_binary-k20", "abess", 906.0, 0.3298),)
