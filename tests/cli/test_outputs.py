"""No command writes what it reads: every command, every option that is a path, every way to name one file twice.

Commands and options are found in the applications themselves, so that a new one is tried too.
"""

import inspect
import itertools
import os
import shutil
from pathlib import Path
from typing import Annotated, get_args, get_type_hints

import numpy as np
import pandas as pd
import pytest
import typer

import pursuit
from pursuit.cli import command, main
from pursuit.cli.app import app
from pursuit.cli.outputs import READS, WRITES, App
from pursuit_experiments.app import app as experiments

APPS = {"pursuit": ("pursuit.cli.app", app), "pursuit-experiments": ("pursuit_experiments.app", experiments)}
VALUES = {
    "target": "y",
    "k": "1",
    "ks": "1-2",
    "pairs": "1",
    "edges": "1",
    "names": "grasp/table2",
}  # all that is needed


class Parameter:
    """An option or argument of a command, as it is typed."""

    def __init__(self, name, parameter, hint):
        kind, *notes = get_args(hint) if hasattr(hint, "__metadata__") else (hint,)
        info = next(note for note in notes if hasattr(note, "param_decls"))
        self.name, self.is_path = name, kind is Path or Path in get_args(kind)
        self.is_argument = type(info).__name__ == "ArgumentInfo"
        self.required = parameter.default is inspect.Parameter.empty
        self.writes = WRITES in notes
        declared = [info.default, *(info.param_decls or ())]
        spelt = [word for word in declared if isinstance(word, str) and word.startswith("-")]
        self.option = spelt[0] if spelt else f"--{name.replace('_', '-')}"

    def typed(self, value):
        return [str(value)] if self.is_argument else [self.option, str(value)]


def commands():
    for program, (_, application) in APPS.items():
        for held in application.registered_commands:
            function = held.callback
            hints, signature = get_type_hints(function, include_extras=True), inspect.signature(function)
            parameters = [Parameter(name, it, hints[name]) for name, it in signature.parameters.items()]
            yield program, held.name or function.__name__, parameters


COMMANDS = {f"{program} {name}": (program, name, parameters) for program, name, parameters in commands()}
OUTPUTS = [
    (which, it.name) for which, (_, _, parameters) in COMMANDS.items() for it in parameters if it.is_path and it.writes
]
PAIRS = [
    (which, a.name, b.name)
    for which, (_, _, parameters) in COMMANDS.items()
    for a, b in itertools.permutations([it for it in parameters if it.is_path], 2)
]


def spellings(file, folder):
    """Ways to a file that is there."""
    yield file
    yield os.path.relpath(file)
    yield folder / "sub" / ".." / file.name
    for make, name in ((os.symlink, "soft"), (os.link, "hard")):
        for suffix in (file.suffix, ".json", ".svg"):  # what options want their files to end in
            link = folder / "sub" / f"{name}{suffix}"
            if not link.exists():
                make(file, link)
            yield link
    through = folder / "through"
    if not through.exists():
        through.symlink_to(folder, target_is_directory=True)
    yield through / file.name


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A table, a model and a folder of rows; every test works on a copy."""
    place = tmp_path_factory.mktemp("inputs")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((30, 3)), columns=["a", "b", "y"])
    frame.to_csv(place / "data.csv", index=False)
    model = pursuit.SparseRegressor(1).fit(frame[["a", "b"]], frame["y"])
    pursuit.save_model(model, place / "model.json")
    pursuit.convert(place / "data.csv", place / "data.pursuit", "y")
    return place


@pytest.fixture
def folder(inputs, tmp_path, monkeypatch):
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    return tmp_path


def contents(folder):
    return {str(file): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def run(which, given, folder):
    """A command with some of its parameters given, the others by files and words that would do."""
    program, name, parameters = COMMANDS[which]
    words = [name]
    for it in parameters:
        if it.name in given:
            words += it.typed(given[it.name])
        elif it.is_path and it.required:
            words += it.typed(
                folder / ("new" if it.writes else f"{it.name}.json" if it.name == "model" else "data.csv")
            )
        elif it.name in VALUES and not (it.name == "ks" and name == "fit"):  # which has -k
            words += it.typed(VALUES[it.name])
        else:
            assert not it.required, f"say in VALUES what {which} may have as {it.name}"
    words += ["--resume"] if "checkpoint" in given else []
    return main(words) if program == "pursuit" else command(program, APPS[program][0], "cli", words)


def test_every_command_is_looked_at():
    assert {"pursuit fit", "pursuit path", "pursuit predict", "pursuit convert", "pursuit-experiments report"} <= {
        *COMMANDS
    }
    assert ("pursuit fit", "out", "data") in PAIRS
    assert ("pursuit path", "checkpoint", "picture") in PAIRS
    assert len(PAIRS) >= 40


@pytest.mark.parametrize(("which", "a", "b"), PAIRS)
def test_no_output_is_an_input(which, a, b, folder, capsys):
    roles = {it.name: it.writes for it in COMMANDS[which][2]}
    file = folder / ("model.json" if "model" in (a, b) else "data.csv")
    for way in spellings(file, folder):
        before = contents(folder)
        code = run(which, {a: way, b: file}, folder)
        assert contents(folder) == before, way
        if roles[a] or roles[b]:
            assert code == 2, way
            assert "are the same file; give" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("which", "a", "b"), [pair for pair in PAIRS if {(pair[0], pair[1]), (pair[0], pair[2])} <= {*OUTPUTS}]
)
def test_two_outputs_are_not_one_new_file(which, a, b, folder, capsys):
    for one, other in (("new.svg", "new.svg"), ("new.svg", folder / "sub" / "new.svg"), ("new.svg", "../sub/new.svg")):
        assert run(which, {a: one, b: other}, folder) == 2
        assert "are the same file; give" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("which", "a", "b"), [pair for pair in PAIRS if pair[2] in ("data", "root") and pair[1] != "model"]
)
def test_no_output_lies_in_a_folder_that_is_read(which, a, b, folder, capsys):
    place = folder / "data.pursuit"
    for way in (place / "manifest.json", place / "new.json", Path("..") / "data.pursuit" / "deep" / "new.svg"):
        before = contents(folder)
        assert run(which, {a: way, b: place}, folder) == 2
        assert contents(folder) == before
        assert "which is read; give" in capsys.readouterr().err


def test_a_path_without_a_role_cannot_be_a_parameter():
    new = App()
    with pytest.raises(TypeError, match="parameter out is a path: say in its annotation whether"):

        @new.command()
        def draw(out: Annotated[Path | None, typer.Option(help="Where.")] = None) -> None: ...

    @new.command()
    def copy(it: Annotated[Path, typer.Argument(), READS], out: Annotated[Path, typer.Option(), WRITES]) -> None: ...


def test_other_outputs_are_written_over(folder, capsys):
    """What is there already and no input is what one wants to replace."""
    out = folder / "old.json"
    out.write_text("old")
    for _ in range(2):
        assert run("pursuit fit", {"out": out}, folder) == 0
    assert "coef" in out.read_text()
    assert not [name for name in os.listdir(folder) if "part" in name]


@pytest.mark.parametrize(
    ("which", "name"), [pair for pair in OUTPUTS if pair[0] not in ("pursuit demo", "pursuit-experiments run")]
)
def test_a_folder_is_no_file_to_write(which, name, folder, capsys):
    """The demo and the experiments write into folders."""
    (folder / "sub" / "x.json").mkdir()
    for way in (".", folder, "x.json"):
        before = contents(folder)
        code = run(which, {name: way}, folder)
        said = capsys.readouterr().err
        assert code == 2, said
        assert str(way) in said
        assert "unexpected" not in said
        assert "Errno" not in said
        assert contents(folder) == before
