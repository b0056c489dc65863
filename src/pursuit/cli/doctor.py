"""``pursuit doctor``: versions, threads, BLAS and a self-test, for a look at an installation and for bug reports."""

import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from itertools import combinations
from pathlib import Path

import numpy as np

from pursuit._utils.types import Array, Matrix
from pursuit.cli import OK, UNEXPECTED
from pursuit.cli.show import print_facts, print_text

REQUIRED = ("numpy", "scipy", "scikit-learn", "threadpoolctl")
OPTIONAL = {
    "typer": "cli",
    "rich": "cli",
    "pandas": "io",
    "polars": "io",
    "pyarrow": "io",
    "matplotlib": "plot",
    "dask": "dask",
    "distributed": "dask",
    "jax": "jax",
    "torch": "torch",
}


def run() -> int:
    import pursuit
    from pursuit import _core
    from pursuit.engines.threads import available_threads

    facts = {
        "pursuit": f"{pursuit.__version__} in {Path(pursuit.__file__).parent}",
        "core": str(_core.__file__),
        "python": f"{platform.python_version()} in {sys.executable}",
        "machine": f"{platform.platform()}, {os.cpu_count()} processors",
        "threads": f"{available_threads()} (OMP_NUM_THREADS {os.environ.get('OMP_NUM_THREADS', 'not set')})",
        **{f"BLAS {i}" if i else "BLAS": words for i, words in enumerate(_blas())},
        "packages": ", ".join(f"{name} {_version(name) or 'MISSING'}" for name in REQUIRED),
        "optional": ", ".join(f"{name} {found}" for name in OPTIONAL if (found := _version(name))) or "none",
    }
    absent: dict[str, list[str]] = {}
    for name, extra in OPTIONAL.items():
        if _version(name) is None:
            absent.setdefault(extra, []).append(name)
    if absent:
        facts["not installed"] = ", ".join(f"{', '.join(names)} (pursuit[{e}])" for e, names in absent.items())
    print_facts(facts)
    print_text("")
    began, failed = time.perf_counter(), 0
    for what, check in CHECKS.items():
        try:
            wrong = check()
        except Exception as error:  # whatever it is, the report says it
            wrong = f"{type(error).__name__}: {error}"
        failed += bool(wrong)
        print_text(f"{'FAILED' if wrong else 'ok':<7} {what}" + (f": {wrong}" if wrong else ""))
    seconds = time.perf_counter() - began
    summary = f"{failed} of {len(CHECKS)} checks failed" if failed else f"{len(CHECKS)} checks passed"
    print_text(f"\nself-test: {summary}, {seconds:.2g} s")
    return UNEXPECTED if failed else OK


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _blas() -> list[str]:
    """The BLAS libraries that are loaded."""
    from threadpoolctl import threadpool_info

    return [
        f"{blas.get('internal_api')} {blas.get('version')}, {blas.get('architecture', 'unknown architecture')}, "
        f"{blas.get('num_threads')} threads; one while pursuit works"
        for blas in threadpool_info()
        if blas.get("user_api") == "blas"
    ] or ["none that is known"]


def _data(classes: bool = False) -> tuple[Matrix, Array]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 9))
    eta = X[:, 2] - 2 * X[:, 5] + 0.5 * X[:, 7]
    return X, (eta + rng.standard_normal(60) > 0).astype(int) if classes else eta + rng.standard_normal(60)


def _check_subset() -> str:
    """The best three columns, next to all subsets by NumPy."""
    import pursuit

    X, y = _data()
    A, b = X - X.mean(axis=0), y - y.mean()
    squares = {
        columns: float(np.sum((b - A[:, columns] @ np.linalg.lstsq(A[:, columns], b, rcond=None)[0]) ** 2))
        for columns in combinations(range(9), 3)
    }
    best = min(squares, key=lambda columns: squares[columns])
    result = pursuit.solve(pursuit.GLM(X, y), 3)
    if tuple(result.support.tolist()) != best:
        return f"columns {result.support.tolist()} in place of {list(best)}"
    expected = squares[best] / (2 * len(y))
    return "" if abs(result.value - expected) <= 1e-10 * expected else f"value {result.value!r}, not {expected!r}"


def _check_logistic() -> str:
    """A logistic model of all columns, next to scikit-learn's."""
    from sklearn.linear_model import LogisticRegression

    import pursuit

    X, y = _data(classes=True)
    ours = pursuit.SparseClassifier(k=9, l2=0.05, standardize=False).fit(X, y)
    theirs = LogisticRegression(C=1 / (0.05 * len(y)), tol=1e-10, max_iter=1000).fit(X, y)
    apart = float(np.abs(ours.coef_ - theirs.coef_).max())
    return "" if apart <= 1e-4 else f"coefficients differ by {apart:.2g}"


def _check_proof() -> str:
    import pursuit

    f = pursuit.GLM(*_data())
    found = pursuit.certify(f, pursuit.solve(f, 3), time_limit=10)
    return "" if found.status == "proved" else f"the certificate is {found.status!r}"


def _check_file() -> str:
    import pursuit

    X, y = _data()
    model = pursuit.SparseRegressor(k=3).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        read = pursuit.load_model(pursuit.save_model(model, Path(folder) / "model.json"))
    return "" if np.allclose(read.predict(X), model.predict(X), rtol=1e-12) else "its predictions differ"


CHECKS: dict[str, Callable[[], str]] = {
    "the best subset of 3 of 9 columns is that of all 84 fits by NumPy": _check_subset,
    "a logistic regression agrees with scikit-learn": _check_logistic,
    "the best subset is proved": _check_proof,
    "a model file predicts as the model that was saved": _check_file,
}
