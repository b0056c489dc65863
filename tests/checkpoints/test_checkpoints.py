"""Checkpoints: a run that was stopped or killed goes on and ends where it would have ended; wrong files are refused."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import pursuit
from problems import problem
from pursuit.cli import main
from pursuit.objectives import GLM, Objective
from pursuit.solving import checkpoint

P, K = 40, 4
RUNS = {name: {"solver": name} for name in pursuit.list_solvers()} | {
    "auto, its starts": {"solver": pursuit.Auto(starts=4)},
    "bounds": {"solver": "omp", "bounds": (-0.5, 0.5)},
    "groups": {"solver": "fgrahtp", "groups": np.arange(P) // 2, "include": [3]},
}


def objective(loss="logistic", l2=0.02, p=P):
    return pursuit.GLM(**problem(loss, n=90, p=p).glm(l2=l2))


def same(mine, theirs):
    assert np.array_equal(mine.support, theirs.support)
    np.testing.assert_allclose(mine.coef, theirs.coef, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(mine.intercept, theirs.intercept, rtol=1e-10, atol=1e-12)
    fields = ("status", "reason", "n_iter", "optimality", "certificate", "solver", "k")
    assert [getattr(mine, name) for name in fields] == [getattr(theirs, name) for name in fields]
    assert [line.value for line in mine.trace] == pytest.approx([line.value for line in theirs.trace], rel=1e-10)


@pytest.mark.parametrize("run", RUNS)
def test_every_solver_goes_on_to_the_same_end(run, tmp_path):
    file, how = tmp_path / "run.npz", {**RUNS[run], "random_state": 3}
    whole = pursuit.solve(objective(), K, max_iter=40, **how)
    half = pursuit.solve(objective(), K, max_iter=max(1, whole.n_iter // 2), checkpoint=file, **how)
    assert half.n_iter <= max(1, whole.n_iter // 2)
    again = pursuit.solve(objective(), K, max_iter=40, checkpoint=file, **how)
    same(again, whole)
    if whole.status == "converged":
        same(pursuit.solve(objective(), K, checkpoint=file, **how), whole)


def test_what_is_in_the_log_is_not_computed_again(tmp_path, monkeypatch):
    calls = []
    refit, at = GLM.refit_on_data, GLM.at
    monkeypatch.setattr(GLM, "refit_on_data", lambda *given: calls.append("refit") or refit(*given))
    monkeypatch.setattr(GLM, "at", lambda *given: calls.append("at") or at(*given))
    pursuit.solve(objective(), 8, solver="omp")
    every = len(calls)
    pursuit.solve(objective(), 8, solver="omp", max_iter=6, checkpoint=tmp_path / "run.npz")
    calls.clear()
    pursuit.solve(objective(), 8, solver="omp", checkpoint=tmp_path / "run.npz")
    assert len(calls) <= every - 5
    calls.clear()
    ended = pursuit.solve(objective(), 8, solver="omp", checkpoint=tmp_path / "run.npz")
    assert ended.converged
    assert not calls


def test_gradients_that_do_not_fit_are_computed_again(tmp_path, monkeypatch):
    monkeypatch.setattr("pursuit.solving.replay.MAX_GRADIENT_BYTES", 3 * 8 * P)
    whole = pursuit.solve(objective(), K, solver="fgrahtp")
    pursuit.solve(objective(), K, solver="fgrahtp", max_iter=whole.n_iter - 2, checkpoint=tmp_path / "run.npz")
    same(pursuit.solve(objective(), K, solver="fgrahtp", checkpoint=tmp_path / "run.npz"), whole)


def quadratic():
    given = problem("squared", n=90, p=P)
    X, y = given.X, given.y
    return pursuit.Quadratic(X.T @ X, X.T @ y, y @ y, 90, mean=X.mean(axis=0), ymean=y.mean())


def multinomial():
    given = problem("squared", n=90, p=P)
    return pursuit.MultiGLM(given.X, np.digitize(given.y, [-0.5, 1.0]), "multinomial", l2=0.05)


def graph():
    X = problem("squared", n=90, p=8).X
    return pursuit.LogDet(np.cov(X.T) + 0.1 * np.eye(8))


def function():
    given = problem("squared", n=90, p=P)
    X, y = given.X, given.y
    return pursuit.Function(lambda x: 0.5 * np.mean((X @ x - y) ** 2), lambda x: X.T @ (X @ x - y) / 90, P)


@pytest.mark.parametrize("make", [quadratic, multinomial, graph, function, lambda: objective("hinge", 0.1)])
def test_other_objectives(make, tmp_path):
    whole = pursuit.solve(make(), K, solver="omp")
    pursuit.solve(make(), K, solver="omp", max_iter=2, checkpoint=tmp_path / "run.npz")
    for _ in range(2):
        same(pursuit.solve(make(), K, solver="omp", checkpoint=tmp_path / "run.npz"), whole)


@pytest.mark.parametrize("how", [{"solver": "auto"}, {"solver": "omp"}, {"solver": "local_search", "bounds": (-1, 1)}])
@pytest.mark.parametrize("stop", [1, 4])
def test_a_path_goes_on_to_the_same_end(how, stop, tmp_path, monkeypatch):
    monkeypatch.setattr(GLM, "quick_path", Objective.quick_path)  # the kernel has all sizes at once
    file = tmp_path / "path.npz"
    whole = pursuit.path(objective(), range(8), **how)
    first = pursuit.path(objective(), range(8), checkpoint=file, callback=lambda k, _: k >= stop, **how)
    assert max(first.ks) == stop
    reached = []
    again = pursuit.path(objective(), range(8), checkpoint=file, callback=lambda k, _: reached.append(k), **how)
    assert min(reached) == stop + 1
    at_once = pursuit.path(objective(), range(8), checkpoint=file, **how)
    for other in (again, at_once):
        assert (other.status, other.reason) == (whole.status, whole.reason)
        for mine, theirs in zip(other, whole, strict=True):
            assert np.array_equal(mine.support, theirs.support)
            np.testing.assert_allclose(mine.coef, theirs.coef, rtol=1e-10, atol=1e-12)
            assert (mine.reason, mine.optimality, mine.k) == (theirs.reason, theirs.optimality, theirs.k)


def test_a_path_in_one_kernel_call(tmp_path):
    whole = pursuit.path(objective("squared", 0.0), range(8), checkpoint=tmp_path / "path.npz")
    again = pursuit.path(objective("squared", 0.0), range(8), checkpoint=tmp_path / "path.npz")
    np.testing.assert_allclose(again.values, whole.values, rtol=1e-12)
    assert [result.optimality for result in again] == [result.optimality for result in whole]


SLOWLY = """
import sys, time
import numpy as np
import pursuit
from pursuit.solving import checkpoint
from pursuit.objectives import GLM, Objective

checkpoint.WRITE_INTERVAL = checkpoint.MIN_PAUSE_PER_WRITE = 0.0
GLM.quick_path = Objective.quick_path
refit = GLM.refit_on_data
GLM.refit_on_data = lambda *given: time.sleep(float(sys.argv[1])) or refit(*given)
"""
SOLVES = """
sys.path.insert(0, sys.argv[3])
from test_checkpoints import objective
how = {"solver": sys.argv[4], "checkpoint": sys.argv[2]}
pursuit.path(objective(), range(8), **how) if sys.argv[5] == "path" else pursuit.solve(objective(), 8, **how)
"""
COMMANDS = """
from pursuit.cli import main
from pursuit.solving import checkpoint
sys.exit(main(sys.argv[2:]))
"""


def started(code, *args):
    folders = [os.path.dirname(__file__), os.path.dirname(os.path.dirname(__file__))]
    path = os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", SLOWLY + code, *map(str, args)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def killed_after(child, file, changes):
    """SIGKILL when the file has been written so many times; whether it came to that."""
    seen, deadline = set(), time.monotonic() + 600  # the import alone may take minutes on a busy machine
    while len(seen) <= changes and child.poll() is None and time.monotonic() < deadline:
        if file.exists():
            seen.add(file.stat().st_mtime_ns)
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    said, _ = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL, said
    return len(seen) > changes


@pytest.mark.parametrize(("solver", "kind", "kills"), [("omp", "solve", 2), ("grahtp", "path", 1)])
def test_killed_and_taken_up_again(solver, kind, kills, tmp_path):
    file = tmp_path / "run.npz"
    here = os.path.dirname(__file__)
    for _ in range(kills):  # killed, taken up, killed again
        assert killed_after(started(SOLVES, 0.05, file, here, solver, kind), file, 2)
        with np.load(file) as held:  # whole, whenever the kill came
            assert json.loads(bytes(held["header"]))["told"]["end"] is None
    if kind == "path":
        whole, again = (pursuit.path(objective(), range(8), solver=solver, checkpoint=c) for c in (None, file))
        np.testing.assert_allclose(again.values, whole.values, rtol=1e-12)
        for mine, theirs in zip(again, whole, strict=True):
            same(mine, theirs) if mine.trace else np.testing.assert_allclose(mine.x, theirs.x, rtol=1e-10)
    else:
        same(*(pursuit.solve(objective(), 8, solver=solver, checkpoint=c) for c in (file, None)))
    assert not [name for name in os.listdir(tmp_path) if not name.endswith(".npz") and ".part" not in name]


def test_the_command_is_killed_and_resumes(tmp_path, capsys):
    given = problem("logistic", n=90, p=P)
    np.savez(tmp_path / "data.npz", X=given.X, y=given.y)
    file, out = tmp_path / "run.ckpt", tmp_path / "model.json"
    fit = ["fit", tmp_path / "data.npz", "-k", 8, "--solver", "omp", "--checkpoint", file]
    assert killed_after(started(COMMANDS, 0.1, *fit, "-o", out), file, 2)
    assert not out.exists()
    fit = [str(word) for word in fit]
    assert main([*fit, "-o", str(out)]) == 2
    assert "add --resume" in capsys.readouterr().err
    for _ in range(2):
        assert main([*fit, "-o", str(out), "--resume"]) == 0
    assert main([*fit[:-2], "-o", str(tmp_path / "plain.json")]) == 0
    one, other = (json.loads((tmp_path / name).read_text()) for name in ("model.json", "plain.json"))
    assert one.keys() == other.keys()
    assert one["support"] == other["support"]
    np.testing.assert_allclose(one["coef"], other["coef"], rtol=1e-10)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"k": K + 1}, "with another k"),
        ({"f": lambda: objective(l2=0.03)}, "with another l2"),
        ({"f": lambda: objective("huber")}, "with another loss"),
        ({"f": lambda: objective(p=P + 1)}, "with another dim"),
        ({"f": lambda: pursuit.GLM(**problem("logistic", n=90, p=P, seed=1).glm(l2=0.02))}, "of other data"),
        ({"solver": "grahtp"}, "solver"),
        ({"solver": pursuit.OMP(relax=2.0)}, "with another options"),
        ({"exclude": [1]}, "with another exclude"),
        ({"bounds": (0, 1)}, "with another bounds"),
        ({"start": np.zeros(P)}, "with another start"),
    ],
)
def test_a_checkpoint_of_another_problem_is_refused(change, words, tmp_path):
    file = tmp_path / "run.npz"
    pursuit.solve(objective(), K, solver="omp", checkpoint=file)
    before = file.read_bytes()
    how = {"f": objective, "k": K, "solver": "omp", **change}
    with pytest.raises(ValueError, match=f"of another problem: .*{words}"):
        pursuit.solve(how.pop("f")(), how.pop("k"), checkpoint=file, **how)
    with pytest.raises(ValueError, match="of another problem"):
        pursuit.path(objective(), [1, K], solver="omp", checkpoint=file)
    assert file.read_bytes() == before


def test_damaged_and_impossible_files_are_refused(tmp_path):
    file = tmp_path / "run.npz"
    pursuit.solve(objective(), K, solver="omp", max_iter=2, checkpoint=file)
    good = file.read_bytes()
    place = good.index(b'"told"') + 20
    for bad in (b"", b"nothing", good[: len(good) // 2], good[:place] + b"~~~" + good[place + 3 :]):
        file.write_bytes(bad)
        with pytest.raises(ValueError, match="is damaged, or no checkpoint"):
            pursuit.solve(objective(), K, solver="omp", checkpoint=file)
    for where, words in ((tmp_path / "no" / "run.npz", "there is no folder"), (tmp_path, "is a folder")):
        with pytest.raises(ValueError, match=words):
            pursuit.solve(objective(), K, checkpoint=where)
    with pytest.raises(TypeError, match="checkpoint must be a path, got int"):
        pursuit.solve(objective(), K, checkpoint=3)


def test_a_newer_version_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "run.npz"
    monkeypatch.setattr(checkpoint, "VERSION", 3)
    pursuit.solve(objective(), K, checkpoint=file)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="has version 3, and this pursuit reads version 2"):
        pursuit.solve(objective(), K, checkpoint=file)


def test_a_disk_that_is_full_leaves_the_last_file(tmp_path, monkeypatch):
    file = tmp_path / "run.npz"
    pursuit.solve(objective(), K, solver="omp", max_iter=2, checkpoint=file)
    before = file.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        pursuit.solve(objective(), K, solver="omp", checkpoint=file)
    assert file.read_bytes() == before
    assert os.listdir(tmp_path) == ["run.npz"]


def test_estimators_take_it_at_fit_only(tmp_path):
    given = problem("squared", n=90, p=P)
    model = pursuit.SparseRegressor(k=3, solver="omp")
    assert "checkpoint" not in model.get_params()
    first = model.fit(given.X, given.y, checkpoint=tmp_path / "run.npz").result_
    same(
        pursuit.SparseRegressor(k=3, solver="omp").fit(given.X, given.y, checkpoint=tmp_path / "run.npz").result_, first
    )
    with pytest.raises(ValueError, match="of another problem"):
        pursuit.SparseRegressor(k=4, solver="omp").fit(given.X, given.y, checkpoint=tmp_path / "run.npz")
    labels = given.y > 0
    classifier = pursuit.SparseClassifier(k=3).fit(given.X, labels, checkpoint=tmp_path / "classes.npz")
    assert (tmp_path / "classes.npz").exists()
    assert classifier.result_.converged


def test_the_commands_options(tmp_path, capsys):
    given = problem("squared", n=60, p=6)
    data = tmp_path / "data.npz"
    np.savez(data, X=given.X, y=given.y)
    for args, words in (
        (["-k", "2", "--resume"], "--resume needs --checkpoint"),
        (["--checkpoint", tmp_path / "c"], "give -k a number"),
    ):
        assert main([str(a) for a in ["fit", data, "-o", tmp_path / "m.json", *args]]) == 2
        assert words in capsys.readouterr().err
    for _ in range(2):
        assert main([str(a) for a in ["path", data, "--ks", "1-4", "--checkpoint", tmp_path / "p", "--resume"]]) == 0
    assert "converged" in capsys.readouterr().out
