import subprocess
import sys

import pytest

import pursuit
from pursuit.cli import main
from pursuit.cli.app import app

COMMANDS = [info.name or info.callback.__name__ for info in app.registered_commands]


def test_doctor_reports_versions_and_passes(capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert pursuit.__version__ in out
    assert "scikit-learn" in out
    assert "4 checks passed" in out


def test_doctor_reports_what_fails(capsys, monkeypatch):
    monkeypatch.setattr(pursuit, "certify", lambda *_, **__: 1 / 0)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "FAILED  the best subset is proved: ZeroDivisionError" in out
    assert "1 of 4 checks failed" in out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command, capsys):
    assert main([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"Usage: pursuit {command} ")
    assert f"Example: pursuit {command}" in out


def test_help_is_that_of_typer(capsys):
    main(["predict", "--help"])
    ours = capsys.readouterr().out
    app(["predict", "--help"], prog_name="pursuit", standalone_mode=False)
    assert capsys.readouterr().out == ours


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from pursuit.cli import main; main(['fit', '--help']); "
        "print([name for name in ('numpy', 'scipy', 'sklearn', 'pydantic', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
