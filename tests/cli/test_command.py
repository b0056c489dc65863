"""The installed command: what it imports, lists and says without its extra; and the status line."""

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import pursuit
from pursuit import SparseRegressor
from pursuit.cli import progress


def python(code, *args):
    return subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    "args", [("--help",), ("fit", "--help"), ("path", "--help"), ("graph", "--help"), ("--version",), ()]
)
def test_help_imports_nothing_heavy(args):
    code = """
import sys
from pursuit.cli import main
code = main(sys.argv[1:])
heavy = {"numpy", "scipy", "sklearn", "pandas", "matplotlib"} & set(sys.modules)
sys.exit(f"imports {heavy}" if heavy else code)
"""
    done = python(code, *args)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{pursuit.__version__}\n" if args == ("--version",) else "Usage: pursuit" in done.stdout


def test_exit_codes_are_documented(run):
    for command in ((), ("fit",), ("path",), ("stability",), ("graph",), ("predict",)):
        code, out, _ = run(*command, "--help")
        assert code == 0
        assert "Exit codes: 0 done" in out


def test_the_help_says_which_ridge_is_used(run):
    said = " ".join(run("fit", "--help")[1].split())
    assert "0.001 of the null model's curvature for the logistic loss, 0.001 for hinges, else 0" in said


def test_without_typer_the_command_says_what_to_install():
    done = python("import sys; sys.modules['typer'] = None; from pursuit.cli import main; sys.exit(main(['solvers']))")
    assert done.returncode == 2
    assert done.stderr == 'pursuit: the command line needs typer: pip install "pursuit[cli]"\n'
    assert done.stdout == ""


@pytest.mark.parametrize(("package", "extra"), [("rich", "cli"), ("pyarrow", "io")])
def test_a_missing_package_is_bad_input(run, tmp_path, monkeypatch, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    code, _, err = run("fit", "diabetes.parquet", "-t", "y", "--out", tmp_path / "m.json")
    assert code == 2
    assert f'needs {package}: pip install "pursuit[{extra}]"' in err


def test_the_installed_script():
    script = Path(sys.executable).parent / "pursuit"
    done = subprocess.run([script, "losses"], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[0] for line in done.stdout.splitlines() if line[0] != " "] == list(pursuit.list_losses())


def test_a_closed_pipe_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    code = "import sys; from pursuit.cli import main; sys.exit(main(['losses']))"
    done = subprocess.run([sys.executable, "-c", code], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_solvers_are_listed_from_the_registry(run):
    code, out, _ = run("solvers")
    assert code == 0
    for name, line in pursuit.list_solvers().items():
        assert name in out
        assert line.replace("``", "")[:30] in out


def test_a_terminal_sees_each_iteration(monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=True)
    monkeypatch.setattr(progress, "console", lambda stderr: screen)
    X = np.random.default_rng(0).normal(size=(50, 9))
    estimator = progress.fit_with_progress(SparseRegressor(k=3), X, X[:, 0] + 0.1 * X[:, 1] ** 2)
    last = estimator.result_.trace[-1]
    assert (
        f"selecting at most 3 of 9 features: iteration {last.iteration}, best {last.best:.6g}" in screen.file.getvalue()
    )


def test_a_pipe_sees_no_progress(monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=False)
    monkeypatch.setattr(progress, "console", lambda stderr: screen)
    progress.fit_with_progress(SparseRegressor(k=1), np.eye(4), np.arange(4))
    assert screen.file.getvalue() == ""
