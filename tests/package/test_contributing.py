"""What CONTRIBUTING.md says is enough to add a loss, a solver and a constraint: one file and one line each."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pursuit._core

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()

USE = """
import sys
# without the finder of the editable install
sys.meta_path = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
sys.path.insert(0, {copy!r})
import numpy as np
import pursuit
assert pursuit.__file__.startswith({copy!r}), pursuit.__file__
rng = np.random.default_rng(0)
X = rng.standard_normal((60, 10))
y = X[:, [2, 3, 7]] @ [3.0, 1.5, 1.0] + 0.1 * rng.standard_normal(60)
"""
LOSS = """
from scipy.optimize import minimize
model = pursuit.SparseRegressor(k=3, loss="log_cosh", standardize=False).fit(X, y)
assert model.support_.tolist() == [2, 3, 7]
best = minimize(lambda b: np.log(np.cosh(X[:, [2, 3, 7]] @ b[:3] + b[3] - y)).mean(), np.zeros(4), tol=1e-10)
np.testing.assert_allclose(model.coef_[[2, 3, 7]], best.x[:3], atol=1e-4)
assert "log_cosh" in pursuit.list_losses()
"""
SOLVER = """
result = pursuit.solve(pursuit.GLM(X, y), 3, solver="swap")
assert sorted(result.support) == [2, 3, 7]
assert "swap" in pursuit.list_solvers()
assert pursuit.SparseRegressor(k=3, solver=pursuit.solvers.Swap(max_swaps=2)).fit(X, y).support_.tolist() == [2, 3, 7]
"""
CONSTRAINT = """
from pursuit.solving.driver import run
objective = pursuit.GLM(X, y)
allowed = [S for S in __import__("itertools").combinations(range(10), 2) if S[1] - S[0] > 1]
best = min(objective.refit(np.array(S)).value for S in allowed)
for solver in ("grahtp", "omp"):
    result = run(objective, pursuit.NoNeighbours(2, 10), solver)
    assert sorted(result.support) == [2, 7], (solver, result.support)
    assert abs(result.value - best) < 1e-9
"""


def section(title):
    """The file that a section shows, its path, the line that it names, and the file where that goes."""
    body = re.search(rf"^## {title}\n(.*?)^## ", TEXT, re.MULTILINE | re.DOTALL)[1]
    path, code = re.search(r"```python\n# (\S+)\n(.*?)```", body, re.DOTALL).groups()
    where, line = re.search(r"one line in (?:`_HOMES` of )?`(\S+)`: `(.+?)`\.", body).groups()
    return path, code, where, line


@pytest.fixture
def checkout(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(pursuit._core.__file__, tmp_path / "src" / "pursuit")
    return tmp_path


@pytest.mark.parametrize(
    ("title", "use"), [("Add a loss", LOSS), ("Add a solver", SOLVER), ("Add a constraint", CONSTRAINT)]
)
def test_the_skeleton_works(checkout, title, use):
    path, code, where, line = section(title)
    (checkout / path).write_text(code)
    home = checkout / where
    text = home.read_text()
    if "_HOMES" in text:
        text = text.replace("_HOMES = {\n", f"_HOMES = {{\n    {line}\n", 1)
        assert line in text
    else:
        text += f"{line}\n"
    home.write_text(text)
    script = USE.format(copy=str(checkout / "src")) + use
    done = subprocess.run([sys.executable, "-c", script], cwd=checkout, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
