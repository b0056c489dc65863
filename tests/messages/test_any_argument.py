"""Any value in any argument of the public functions: it works, or the library itself says what is wrong.

An exception counts as said where its last frame is a ``raise`` of this library or of scikit-learn; anything else (NumPy
converting text, Python iterating over a number) comes from the depths and helps nobody.
"""

import inspect
import traceback
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import pursuit
from pursuit import (
    GLM,
    LogDet,
    MultiGLM,
    Quadratic,
    SparseClassifier,
    SparseLDA,
    SparsePrecision,
    SparseRegressor,
    solve,
)

N, P = 16, 4
RNG = np.random.default_rng(2)
X = RNG.standard_normal((N, P))
Y = X[:, 0] - X[:, 2] + 0.3 * RNG.standard_normal(N)
C = (np.median(Y) < Y).astype(int)
F = GLM(X, Y)
SOLVED = solve(F, 2)
VALUES = {
    "None": None,
    "text": "abc",
    "-1": -1,
    "2.5": 2.5,
    "nan": float("nan"),
    "inf": float("inf"),
    "1e30": 10**30,
    "True": True,
    "complex": 1j,
    "bytes": b"x",
    "NA": pd.NA,
    "time": pd.Timestamp("2020"),
    "[]": [],
    "{}": {},
    "{1}": {1},
    "words": ["a", "b"],
    "ragged": [[1, 2], [3]],
    "object": object(),
    "type": int,
    "0-d": np.array(3.0),
    "3-d": np.zeros((2, 2, 2)),
    "frame": pd.DataFrame(),
    "sparse": sp.csr_array(np.eye(3)),
    "series": pd.Series([1.0]),
}
SPARED = {  # functions of the user's, which may raise what they like; text that is a path; y that is never read
    "callback": ("type",),
    "checkpoint": ("text",),
    "progress": ("type",),
    "n_pairs": (),
    "engine": (),
}


def fit(kind, target, *settings):
    """An estimator's parameters and the arguments of its ``fit`` as one function."""

    def made(given):
        own = {name: value for name, value in given.items() if name in inspect.signature(kind).parameters}
        return kind(**{**dict(settings), **own}).fit(
            **{"X": X, "y": target, **{name: value for name, value in given.items() if name not in own}}
        )

    names = [*inspect.signature(kind).parameters, *inspect.signature(kind.fit).parameters]
    return made, [name for name in names if name not in ("self", "engine")]


def call(function, **usual):
    names = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD and name != "engine"
    ]
    return lambda given: function(**{**usual, **given}), names


FUNCTIONS = {
    "GLM": call(GLM, X=X, y=Y),
    "MultiGLM": call(MultiGLM, X=X, Y=C),
    "Quadratic": call(Quadratic, gram=X.T @ X, xy=X.T @ Y, yy=float(Y @ Y), n=N),
    "LogDet": call(LogDet, covariance=np.cov(X.T)),
    "solve": call(solve, objective=F, k=2, solver="omp"),
    "path": call(pursuit.path, objective=F, ks=[1, 2]),
    "certify": call(pursuit.certify, objective=F, result=SOLVED),
    "best_subsets": call(pursuit.best_subsets, X=X, y=Y, kmax=2),
    "stability": call(pursuit.stability, estimator=SparseRegressor(2), X=X, y=Y, n_pairs=1),
    "bootstrap": call(pursuit.bootstrap_intervals, estimator=SparseRegressor(2), X=X, y=Y, n_boot=2),
    "split": call(pursuit.split_intervals, estimator=SparseRegressor(2), X=X, y=Y),
    "recover": call(pursuit.recover, A=X, y=Y, k=2),
    "summary": call(pursuit.summary, objective=F, result=SOLVED),
    "SparseRegressor": fit(SparseRegressor, Y, ("k", 2), ("solver", "omp")),
    "SparseClassifier": fit(SparseClassifier, C, ("k", 2), ("solver", "omp")),
    "SparsePrecision": fit(SparsePrecision, None, ("n_edges", 2)),
    "SparseLDA": fit(SparseLDA, C, ("n_edges", 2)),
}


def from_the_depths(error):
    last = traceback.extract_tb(error.__traceback__)[-1]
    ours = "/pursuit/" in last.filename and (last.line or "").startswith("raise")
    return not ours and "/sklearn/" not in last.filename


@pytest.mark.parametrize(
    ("name", "argument"), [(name, argument) for name, (_, arguments) in FUNCTIONS.items() for argument in arguments]
)
def test_any_value_is_taken_or_refused_in_a_sentence(name, argument):
    raw = {}
    for label, value in VALUES.items():
        if label in SPARED.get(argument, ()):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                FUNCTIONS[name][0]({argument: value})
            except Exception as error:
                if from_the_depths(error):
                    raw[label] = f"{type(error).__name__}: {error}"
    assert not raw
