"""What ``pursuit-experiments`` says and how it exits."""

import pytest

from pursuit_experiments import sources
from pursuit_experiments.catalogue import catalogue
from pursuit_experiments.command import main


def test_list_names_every_experiment(capsys):
    assert main(["list"]) == 0
    said = capsys.readouterr().out
    assert [line.split()[0] for line in said.splitlines()] == list(catalogue())


def test_an_unknown_name_is_one_sentence(capsys):
    assert main(["run", "grasp/table9"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("pursuit-experiments: no experiment is called 'grasp/table9'; known are grasp/")
    assert said.count("\n") == 1


def test_missing_data_are_named(capsys, monkeypatch, tmp_path):
    if sources.present("arcene"):
        sources.arrays("arcene")  # an earlier reading from another folder does not count
    monkeypatch.setenv("PURSUIT_DATA", str(tmp_path))
    assert main(["run", "grasp/table2", "--quick", "--out", str(tmp_path)]) == 2
    assert "arcene.npz is not in $PURSUIT_DATA" in capsys.readouterr().err


def test_verify_without_results_says_where_they_should_be(capsys, tmp_path):
    assert main(["verify", "--root", str(tmp_path / "none")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_verify_of_an_empty_folder_counts_nothing_and_fails(capsys, tmp_path):
    assert main(["verify", "--root", str(tmp_path)]) == 1
    said = capsys.readouterr()
    none = "0 agrees, 0 differs, 0 undecided, 0 failed\n"
    assert said.out == f"{none}beside the papers' claims: {none}"
    assert said.err.count("not run") == sum(len(one.expected["claims"]) for one in catalogue().values())


@pytest.mark.parametrize("option", [["--jobs", "0"], ["--replications", "0"], ["--minutes", "-1"]])
def test_bad_options(capsys, option):
    assert main(["run", "all", *option]) == 2
    assert option[0] in capsys.readouterr().err
