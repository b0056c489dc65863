"""Pieces are done once, in any number of processes, and what they found becomes a folder that can be judged again."""

import json

import pandas as pd
import pytest

from experiments.toy import Toy
from pursuit_experiments import Size
from pursuit_experiments.claims import read_verdict, verify
from pursuit_experiments.folders import PIECES, read_table
from pursuit_experiments.reproduce import reproduce
from pursuit_experiments.sums import paired, summed


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


def test_the_folder_holds_table_verdict_picture_and_page(tmp_path):
    verdict = reproduce(Toy(), Size(), tmp_path)
    folder = tmp_path / "grasp/toy"
    assert {one.name for one in folder.iterdir()} == {
        "table.csv",
        "verdict.json",
        "figure.png",
        "README.md",
        "expected.json",
        PIECES,
    }
    assert read_verdict(folder / "verdict.json") == verdict
    assert [(one.claim, one.outcome) for one in verdict.judgements] == [("positive", "agrees"), ("large", "differs")]
    assert verdict.mode == "full"
    assert verdict.replications == 6
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "README.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith("| The mean exceeds 100. | 1.00 ("))
    assert row.endswith("6 replications) | **differs** | the slope is small |")
    assert "positive \\| always" in page, "a bar in a cell would end it"


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    log = tmp_path / "log"
    with pytest.raises(KeyboardInterrupt):
        reproduce(Toy(log, fails_at=3), Size(), tmp_path)
    assert len(lines(log)) == 6, "three replications of two slopes"
    with (tmp_path / "grasp/toy" / PIECES).open("a") as file:
        file.write('{"cell": {"copy": 3, "slo')  # the line in which it was killed
    stopped = reproduce(Toy(log), Size(), tmp_path)
    assert len(lines(log)) == 12, "no piece is done twice, and the torn one is done"
    reproduce(Toy(log), Size(), tmp_path)
    assert len(lines(log)) == 12, "what came after the torn line is read too"
    whole = reproduce(Toy(), Size(), tmp_path / "other")
    assert stopped.judgements == whole.judgements
    tables = [read_table(root / "grasp/toy/table.csv") for root in (tmp_path, tmp_path / "other")]
    pd.testing.assert_frame_equal(*tables)


def test_processes_give_the_same_table(tmp_path):
    reproduce(Toy(), Size(), tmp_path / "one")
    reproduce(Toy(), Size(), tmp_path / "two", jobs=2)
    assert (tmp_path / "one/grasp/toy/table.csv").read_text() == (tmp_path / "two/grasp/toy/table.csv").read_text()


def test_more_replications_keep_the_first_ones(tmp_path):
    log = tmp_path / "log"
    assert reproduce(Toy(log), Size(replications=2), tmp_path).replications == 2
    assert reproduce(Toy(log), Size(replications=5), tmp_path).replications == 5
    assert len(lines(log)) == 10


def test_a_table_of_more_replications_is_not_replaced_unasked(tmp_path):
    reproduce(Toy(), Size(replications=5), tmp_path)
    (tmp_path / "grasp/toy" / PIECES).unlink()
    before = (tmp_path / "grasp/toy/table.csv").read_text()
    with pytest.raises(ValueError, match="rest on 10 replications in all, and what is done so far would be 4"):
        reproduce(Toy(), Size(replications=2), tmp_path)
    assert (tmp_path / "grasp/toy/table.csv").read_text() == before
    assert reproduce(Toy(), Size(replications=2), tmp_path, replace_table=True).replications == 2


def test_a_view_of_another_experiment_does_nothing_twice(tmp_path):
    class View(Toy):
        name = "grasp/view"
        view_of = "grasp/toy"

    log = tmp_path / "log"
    reproduce(Toy(log), Size(), tmp_path)
    assert reproduce(View(log), Size(), tmp_path).replications == 6
    assert len(lines(log)) == 12
    assert not (tmp_path / "grasp/view" / PIECES).exists()


def test_no_time_at_all_is_an_error_and_little_time_a_partial_result(tmp_path):
    verdict = reproduce(Toy(), Size(), tmp_path, minutes=0)
    assert verdict.replications == 1, "the piece that was begun is finished"


def test_verify_finds_what_is_missing(tmp_path):
    toy = Toy()
    assert verify([toy], tmp_path).open == ["grasp/toy: positive: not run", "grasp/toy: large: not run"]
    reproduce(toy, Size(), tmp_path)
    account = verify([toy], tmp_path)
    assert account.open == []
    assert account.outcomes == {"agrees": 1, "differs": 1}


@pytest.mark.parametrize("note", ["", "the machine was lent for an hour"])
def test_a_quick_verdict_needs_a_note(tmp_path, note):
    reproduce(Toy(), Size(quick=True), tmp_path, note=note)
    assert bool(verify([Toy()], tmp_path).open) == (not note)


def test_an_unexplained_difference_is_open(tmp_path):
    toy = Toy()
    toy.why = ""
    reproduce(toy, Size(), tmp_path)
    assert verify([toy], tmp_path).open == ["grasp/toy: large: differs, and nothing says why"]


def test_a_verdict_that_its_table_does_not_bear_out_is_open(tmp_path):
    reproduce(Toy(), Size(), tmp_path)
    path = tmp_path / "grasp/toy/verdict.json"
    held = json.loads(path.read_text())
    held["judgements"][1]["outcome"] = "agrees"
    path.write_text(json.dumps(held))
    account = verify([Toy()], tmp_path)
    assert account.outcomes["agrees"] == 1
    assert "not what table.csv gives" in account.open[0]


@pytest.mark.parametrize(("file", "text"), [("verdict.json", "{"), ("verdict.json", "{}"), ("table.csv", "x\n1\n")])
def test_verify_names_what_is_damaged_and_goes_on(tmp_path, file, text):
    reproduce(Toy(), Size(), tmp_path)
    (tmp_path / "grasp/toy" / file).write_text(text)
    account = verify([Toy()], tmp_path)
    assert len(account.open) == 1
    assert account.open[0].startswith(f"{tmp_path / 'grasp/toy'}: verdict.json or table.csv is damaged")


def test_damaged_pieces_are_done_again(tmp_path):
    whole = reproduce(Toy(), Size(), tmp_path)
    path = tmp_path / "grasp/toy" / PIECES
    path.write_text('{"cell": {"copy": 0, "slope": 1.0}}\n3\n' + path.read_text()[:200])
    assert reproduce(Toy(), Size(), tmp_path).judgements == whole.judgements


def test_means_and_standard_errors_over_replications():
    rows = pd.DataFrame(
        [
            {"k": 1, "copy": c, "method": m, "value": v}
            for c, pair in enumerate([(1, 2), (3, 5), (5, 6)])
            for m, v in zip("ab", pair, strict=True)
        ]
    )
    table = summed(rows, ["k", "method"], ["value"]).set_index("method")
    assert table.loc["a", ["copies", "value"]].tolist() == [3, 3]
    assert table.loc["a", "value_se"] == pytest.approx(2 / 3**0.5)
    gap = paired(rows, ["k"], "copy", "method", "value", "a", "b").iloc[0]
    assert gap["gap"] == pytest.approx(-4 / 3)
    assert gap["se"] == pytest.approx(1 / 3)
