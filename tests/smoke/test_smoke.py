"""One use of every room of the library, on problems whose answer is known: does this installation work at all?

``make smoke`` runs these, ``make wheel`` runs them on the installed wheel, without and with extras: what needs an extra
that is not there is skipped. The folders of tests/README.md hold the real tests.
"""

import itertools
import subprocess
import sys
import zlib

import numpy as np
import pytest

import pursuit

pytestmark = pytest.mark.smoke
TRUTH = [1, 4, 7]
BINARY = ("logistic", "smoothed_hinge", "hinge", "squared_hinge")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((90, 12))
    return X, X[:, TRUTH] @ [2.0, -1.5, 1.0] + 0.1 * rng.standard_normal(90)


def brute_force(X, y, k):
    """The least mean of squares / 2 over all supports of size k, with an intercept."""
    X, y = X - X.mean(0), y - y.mean()
    losses = (
        np.linalg.lstsq(X[:, list(S)], y, rcond=None)[1].sum() for S in itertools.combinations(range(X.shape[1]), k)
    )
    return min(losses) / (2 * len(y))


@pytest.mark.parametrize("solver", pursuit.list_solvers())
def test_every_solver_finds_the_support(table, solver):
    X, y = table
    l2 = 1e-3 if solver in ("diht", "sdiht") else 0.0  # on the dual
    result = pursuit.solve(pursuit.GLM(X, y, l2=l2), 3, solver=solver, random_state=0)
    assert sorted(result.support) == TRUTH


@pytest.mark.parametrize("loss", pursuit.list_losses())
def test_every_loss_gains_by_a_feature(table, loss):
    X, y = table
    if loss == "multinomial":
        y = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    elif loss in BINARY:
        y = (y > 0).astype(float)
    elif loss == "poisson":
        y = np.floor(np.exp(y / 3))
    objective = pursuit.GLM(X, y, loss, l2=0.01)
    assert pursuit.solve(objective, 3).value < 0.95 * objective.null.value


def test_best_subsets_paths_and_proofs_agree_with_brute_force(table):
    X, y = table
    objective, best = pursuit.GLM(X, y), {k: brute_force(X, y, k) for k in (1, 2, 3)}
    sizes, listed = pursuit.path(objective, [1, 2, 3]), pursuit.best_subsets(X, y, 3)
    for k, result in zip(best, sizes, strict=True):
        assert result.value == pytest.approx(best[k], rel=1e-9)
        assert next(one for one in listed if one.k == k).value == pytest.approx(best[k], rel=1e-9)
    assert pursuit.certify(objective, sizes[-1], time_limit=20).status == "proved"


def test_estimators_predict_and_survive_a_file(table, tmp_path):
    X, y = table
    for model in (pursuit.SparseRegressor(k=3), pursuit.SparseRegressorCV(cv=3)):
        model.fit(X[:60], y[:60])
        assert model.score(X[60:], y[60:]) > 0.95
        pursuit.save_model(model, tmp_path / "model.json")
        np.testing.assert_allclose(pursuit.load_model(tmp_path / "model.json").predict(X), model.predict(X))
    classes = np.where(y > 0, "up", "down")
    for model in (pursuit.SparseClassifier(k=3), pursuit.SparseClassifierCV(cv=3)):
        assert model.fit(X, classes).score(X, classes) > 0.9
        assert set(model.predict(X)) == {"up", "down"}


def test_what_is_said_about_a_model(table):
    X, y = table
    model = pursuit.SparseRegressor(k=3).fit(X, y)
    assert all(f"x{i}" in str(model.summary()) for i in TRUTH)
    assert sorted(pursuit.stability(model, X, y, n_pairs=5, random_state=0).stable) == TRUTH
    intervals = pursuit.split_intervals(pursuit.SparseRegressor(k=3), X, y, random_state=0)
    assert np.all(intervals.low < intervals.high)


def test_graph_of_a_chain():
    rng = np.random.default_rng(0)
    K = np.eye(6) + 0.45 * (np.eye(6, k=1) + np.eye(6, k=-1))
    X = rng.multivariate_normal(np.zeros(6), np.linalg.inv(K), 800)
    graph = pursuit.SparsePrecision(n_edges=5).fit(X)
    assert set(zip(*np.nonzero(np.triu(graph.precision_, 1)), strict=True)) == {(i, i + 1) for i in range(5)}


def test_recovery_and_functions():
    rng = np.random.default_rng(1)
    A, x = rng.standard_normal((20, 40)) + 1j * rng.standard_normal((20, 40)), np.zeros(40, complex)
    x[[3, 30]] = 1 + 2j, -1j
    np.testing.assert_allclose(pursuit.recover(A, A @ x, 2).x, x, atol=1e-6)
    target = np.array([0.0, 3, 0, -2, 0.1])
    f = pursuit.Function(lambda x: 0.5 * ((x - target) ** 2).sum(), lambda x: x - target, 5)
    assert sorted(pursuit.solve(f, 2).support) == [1, 3]


def test_rows_in_parts_and_sums_in_place_of_rows(table):
    X, y = table
    whole = pursuit.solve(pursuit.GLM(X, y), 3)
    parts = pursuit.InParts([(X[:30], y[:30]), (X[30:], y[30:])])
    assert pursuit.solve(pursuit.GLM(parts), 3).value == pytest.approx(whole.value)
    sums = pursuit.Quadratic(X.T @ X, X.T @ y, y @ y, len(y), mean=X.mean(0), ymean=y.mean())
    np.testing.assert_allclose(pursuit.solve(sums, 3).x, whole.x, atol=1e-8)


def test_a_wrong_argument_is_named(table):
    X, y = table
    with pytest.raises(ValueError, match="k must be"):
        pursuit.SparseRegressor(k=-1).fit(X, y)
    with pytest.raises(ValueError, match="did you mean"):
        pursuit.solve(pursuit.GLM(X, y), 3, solver="grahpt")


def run_pursuit(*words, cwd):
    code = "import sys; from pursuit.cli import main; sys.exit(main())"
    return subprocess.run([sys.executable, "-c", code, *words], cwd=cwd, capture_output=True, text=True, timeout=120)


def test_command_line(table, tmp_path):
    for package in ("typer", "rich", "pandas"):
        pytest.importorskip(package)
    X, y = table
    header = ",".join([*(f"x{i}" for i in range(12)), "y"])
    np.savetxt(tmp_path / "data.csv", np.column_stack([X, y]), delimiter=",", header=header, comments="")
    done = run_pursuit("fit", "data.csv", "--target", "y", "-k", "3", "--out", "model.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = run_pursuit("predict", "model.json", "data.csv", "--out", "predictions.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    predicted = np.loadtxt(tmp_path / "predictions.csv", skiprows=1, delimiter=",", ndmin=2)[:, -1]
    assert np.corrcoef(predicted, y)[0, 1] > 0.99


def test_pictures(table, tmp_path):
    pytest.importorskip("matplotlib").use("agg")
    X, y = table
    display = pursuit.plots.PathDisplay.from_path(pursuit.path(pursuit.GLM(X, y), [1, 2, 3]))
    display.plot().figure_.savefig(tmp_path / "path.png")
    assert zlib.crc32((tmp_path / "path.png").read_bytes()) != zlib.crc32(b"")


MISSING = {
    "matplotlib": ("plot", "pursuit.plots.plot_trace(result)"),
    "pandas": ("io", "pursuit.path(objective, [1, 2]).to_frame()"),
    "networkx": ("graph", "pursuit.SparsePrecision(n_edges=2).fit(X).to_networkx()"),
    "dask": ("dask", "pursuit.SparseRegressor(k=1).fit(X, y, engine=object())"),
    "jax": ("jax", "pursuit.from_jax(lambda x: (x**2).sum(), 3)"),
    "torch": ("torch", "pursuit.from_torch(lambda x: (x**2).sum(), 3)"),
}


def test_a_missing_extra_is_named():
    """As if none of the packages were installed."""
    code = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {list(MISSING)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
import numpy as np
import pursuit
X = np.random.default_rng(0).standard_normal((30, 4))
y = X[:, 0]
objective = pursuit.GLM(X, y)
result = pursuit.solve(objective, 1)
for call in {[call for _, call in MISSING.values()]!r}:
    try:
        eval(call)
    except ImportError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    lines = done.stdout.splitlines()
    assert len(lines) == len(MISSING), done.stdout + done.stderr
    for line, (extra, _) in zip(lines, MISSING.values(), strict=True):
        assert line.endswith(f'pip install "pursuit[{extra}]"')


def test_command_line_without_its_extra(tmp_path):
    code = "import sys; sys.modules['typer'] = None; from pursuit.cli import main; sys.exit(main(['solvers']))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'pursuit: the command line needs typer: pip install "pursuit[cli]"\n'
