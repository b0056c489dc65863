"""Bad input: exit code 2, one line on stderr that names the file or option, no model, no traceback."""

import numpy as np
import pytest

FIT = ("fit", "diabetes.csv", "--target", "y", "--exclude", "town", "-k", 3)
AUTO = ("fit", "diabetes.csv", "--target", "y", "--exclude", "town")
CASES = {
    "no command": (("fitt",), "No such command 'fitt'"),
    "k": ((*FIT[:-1], 0, "--out", "OUT"), "-k must be auto or a whole number at least 1, got '0'"),
    "k text": ((*FIT[:-1], "many", "--out", "OUT"), "-k must be auto or a whole number at least 1, got 'many'"),
    "ks with k": ((*FIT, "--ks", "1-5", "--out", "OUT"), "--ks is for -k auto, which chooses k, and -k is 3"),
    "groups with k": ((*FIT, "--cv-groups", "age", "--out", "OUT"), "--cv-groups is for -k auto"),
    "ks": ((*AUTO, "--ks", "1..5", "--out", "OUT"), "--ks must be sizes such as 1-20 or 1,2,5-8, got '1..5'"),
    "ks down": ((*AUTO, "--ks", "9-2", "--out", "OUT"), "--ks must be sizes such as 1-20 or 1,2,5-8, and 9-2 counts"),
    "ks many": ((*AUTO, "--ks", "1-9999999", "--out", "OUT"), "and 9999999 is more than 1000000"),
    "cv": ((*AUTO, "--cv", 1, "--out", "OUT"), "Invalid value for '--cv'"),
    "rule": ((*AUTO, "--rule", "bick", "--out", "OUT"), "rule 'bick' is unknown; did you mean 'bic'?"),
    "combine": ((*AUTO, "--combine", "avg", "--out", "OUT"), "combine 'avg' is unknown"),
    "rule and cv": ((*AUTO, "--rule", "bic", "--cv", 5, "--out", "OUT"), "--cv is for held-out folds, and --rule bic"),
    "groups": ((*AUTO[:4], "--cv-groups", "twn", "--out", "OUT"), "no --cv-groups column 'twn'; did you mean 'town'?"),
    "one group": ((*AUTO[:4], "--cv-groups", "town", "--out", "OUT"), "--cv-groups town has one value in all rows"),
    "groups target": ((*AUTO, "--cv-groups", "y", "--out", "OUT"), "--cv-groups and --target are both 'y'"),
    "groups libsvm": (
        ("fit", "cancer.libsvm", "--cv-groups", "g", "--out", "OUT"),
        "so there is no --cv-groups column",
    ),
    "too short": (
        (*AUTO, "--time-limit", 0, "--out", "OUT"),
        "--time-limit 0 was over before a single fold was fitted",
    ),
    "path out": (("path", "diabetes.parquet", "-t", "y", "--out", "p.txt"), "--out p.txt must end in .json, .csv"),
    "path folder": (
        ("path", "diabetes.parquet", "-t", "y", "--out", "no/p.csv"),
        "--out no/p.csv: there is no folder no",
    ),
    "path picture": (("path", "diabetes.parquet", "-t", "y", "--picture", "p.doc"), "--picture p.doc must end in .png"),
    "path target": (("path", "cancer.csv"), "name it with --target"),
    "path include": (("path", "diabetes.parquet", "-t", "y", "--ks", "1-3", "--include", "age,sex"), "include names 2"),
    "pairs": (("stability", "diabetes.parquet", "-t", "y", "--pairs", 0), "Invalid value for '--pairs'"),
    "threshold": (("stability", "diabetes.parquet", "-t", "y", "--threshold", 0.5), "threshold must be"),
    "stability 0": (("stability", "diabetes.parquet", "-t", "y", "--ks", "0-3"), "an entry of ks"),
    "threads": ((*FIT, "--threads", 0, "--out", "OUT"), "Invalid value for '--threads'"),
    "option": ((*FIT, "--colour", "--out", "OUT"), "No such option: --colour"),
    "folder": ((*FIT, "--out", "nowhere/m.json"), "--out nowhere/m.json: there is no folder nowhere"),
    "file": (("fit", "none.csv", "--out", "OUT"), "there is no file none.csv"),
    "suffix": (("fit", "t.doc", "--out", "OUT"), "t.doc has no known suffix"),
    "target": (("fit", "diabetes.csv", "--target", "Y", "--out", "OUT"), "no target column 'Y'; did you mean 'y'?"),
    "no target": (("fit", "cancer.csv", "--out", "OUT"), "name it with --target; columns with two values are 'kind'"),
    "text": (("fit", "diabetes.csv", "--no-prepare", "--out", "OUT"), "'town' of diabetes.csv is not numeric"),
    "text, what to do": (("fit", "diabetes.csv", "--no-prepare", "--out", "OUT"), "leave it out with --exclude"),
    "include a constant": (
        (*AUTO[:4], "--include", "town", "--out", "OUT"),
        "--include: 'town' gives no feature (constant)",
    ),
    "loss": ((*FIT, "--loss", "sqared", "--out", "OUT"), "loss 'sqared' is unknown; did you mean 'squared'?"),
    "solver": ((*FIT, "--solver", "ompp", "--out", "OUT"), "solver 'ompp' is unknown; did you mean 'omp'?"),
    "effort": ((*FIT, "--effort", "quick", "--out", "OUT"), "--effort quick is not known; it is fast, default or"),
    "effort, solver": ((*FIT, "--effort", "fast", "--solver", "omp", "--out", "OUT"), "--effort is for --solver auto"),
    "effort, path": (
        ("path", "diabetes.parquet", "-t", "y", "--effort", "fast", "--solver", "omp"),
        "--effort is for --solver auto, and --solver is omp: leave --effort out",
    ),
    "task": ((*FIT, "--task", "ranking", "--out", "OUT"), "--task ranking is not known"),
    "task and loss": (
        (*FIT, "--task", "classification", "--loss", "huber", "--out", "OUT"),
        "--loss huber is for regression, not for --task classification",
    ),
    "classes": ((*FIT, "--loss", "squared_hinge", "--out", "OUT"), "214 classes"),
    "include": (
        (*FIT, "--include", "bmj", "--out", "OUT"),
        "--include: there is no feature 'bmj'; did you mean 'bmi'?",
    ),
    "include excluded": (
        (*FIT, "--include", "age", "--exclude", "age", "--out", "OUT"),
        "--include and --exclude both name 'age'; a column is only one of them",
    ),
    "include target": ((*FIT, "--include", "y", "--out", "OUT"), "--include and --target both name 'y'"),
    "loss of several outputs": ((*FIT, "--loss", "multinomial", "--out", "OUT"), "'multinomial' has several outputs"),
    "exclude": (("fit", "diabetes.csv", "--exclude", "twn", "--out", "OUT"), "no column 'twn' to leave out"),
    "exclude x": (("fit", "cancer.npz", "--exclude", "x30", "--out", "OUT"), "--exclude: there is no feature 'x30'"),
    "include too many": ((*FIT, "--include", "age,sex,bmi,bp", "--out", "OUT"), "include"),
    "offset": ((*FIT, "--offset", "tme", "--out", "OUT"), "diabetes.csv has no column 'tme'; there are"),
    "offset target": ((*FIT, "--offset", "y", "--out", "OUT"), "--offset and --target are both 'y'"),
    "offset libsvm": (("fit", "cancer.libsvm", "--offset", "o", "--out", "OUT"), "so there is no column 'o'"),
    "l2": ((*FIT, "--l2", -1, "--out", "OUT"), "l2 must be"),
    "time limit": ((*FIT, "--time-limit", -1, "--out", "OUT"), "time_limit must be"),
    "libsvm target": (("fit", "cancer.libsvm", "-t", "y", "--out", "OUT"), "is its first column"),
    "model": (("predict", "none.json", "cancer.npz"), "there is no file none.json"),
    "no model": (("predict", "diabetes.csv", "cancer.npz"), "diabetes.csv is not complete JSON"),
}


BAD_FILES = {
    "two dates": (
        "t.csv",
        b"a,y\n" + b"2020-01-01,1\n02.01.2020,2\n" * 9,
        "column 'a' has dates in two formats, such as '2020-01-01' and '02.01.2020'; write all of them as YYYY-MM-DD,"
        " or leave the column out with --exclude\n",
    ),
    "infinity": ("t.csv", b"a,y\n1,2\ninf,3\n", "X contains infinity in column 'a'\n"),
    "nothing left": ("t.csv", b"a,b,y\n1,,3\n1,,4\n", "left out: a (constant), b (all values are missing)\n"),
    "short row": ("t.csv", b"y,a,b\n1,2,3\n1,2\n", "line 3 of TMP/t.csv has 2 fields, but the header has 3\n"),
    "long row": ("t.csv", b"y,a\n1,2\n1,2,3\n", "cannot be read as CSV"),
    "same names": ("t.csv", b"y,a,a\n1,2,3\n", "several columns named 'a'"),
    "no CSV": ("t.csv", b"PAR1\x00\xff\xfe\x00", "cannot be read as CSV"),
    "no Parquet": ("t.parquet", b"a,y\n1,2\n", "cannot be read as Parquet"),
    "no Feather": ("t.feather", b"a,y\n1,2\n", "cannot be read as Feather"),
    "no npy": ("t.npy", b"a,y\n1,2\n", "cannot be read as npy"),
    "no rows": ("t.csv", b"a,y\n", "t.csv has no rows"),
    "target alone": ("t.csv", b"y\n1\n2\n", "t.csv has no feature columns"),
    "target hole": ("t.csv", b"a,b,y\n1,2,3\n1,2,\n", "has a missing value; drop those rows\n"),
    "text id": ("t.csv", b"a,y\n" + b"".join(b"%d,customer %d\n" % (i * i, i) for i in range(30)), "an identifier"),
    "libsvm, many columns": ("t.libsvm", b"1 1:2\n0 2000000000:1\n", "2000000000 columns, and at most 100000000 can"),
    "libsvm, too many": ("t.libsvm", b"1 1:2\n0 3000000000:1\n", "t.libsvm cannot be read as LIBSVM: it has an index"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files(run, tmp_path, case):
    name, content, message = BAD_FILES[case]
    (tmp_path / name).write_bytes(content)
    target = ("-t", "y") if name.endswith("csv") else ()
    code, out, err = run("fit", tmp_path / name, *target, "--out", tmp_path / "m.json")
    assert (code, out) == (2, "")
    assert message.replace("TMP", str(tmp_path)) in err
    assert err.startswith("pursuit: ")
    assert err.count("\n") == 1
    assert not (tmp_path / "m.json").exists()


def test_a_hole_without_preparation(run, tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b,y\n1,2,3\n1,,3\n")
    code, _, err = run("fit", tmp_path / "t.csv", "--no-prepare", "--out", tmp_path / "m.json")
    assert code == 2
    assert err.endswith("or leave the column out with --exclude\n")


def test_an_npz_with_more_columns_than_there_can_be(run, tmp_path):
    parts = {"data": [1.0, 2.0], "indices": [0, 2**40 - 1], "indptr": [0, 1, 2], "shape": [2, 2**40]}
    np.savez(tmp_path / "t.npz", **parts, y=[0.0, 1.0])
    code, out, err = run("fit", tmp_path / "t.npz", "--out", tmp_path / "m.json")
    assert (code, out) == (2, "")
    assert err == (
        f"pursuit: {tmp_path / 't.npz'} has 1099511627776 columns, and at most 100000000 can be handled; number those"
        " that are used\n"
    )


def test_a_hole_in_a_file_without_names_gets_no_advice_that_does_not_help(run, tmp_path):
    np.savez(tmp_path / "t.npz", X=[[1.0, np.nan], [2.0, 3.0]], y=[0.0, 1.0])
    code, _, err = run("fit", tmp_path / "t.npz", "--exclude", "x1", "--out", tmp_path / "m.json")
    assert code == 2
    assert "column 1 of" in err
    assert "--exclude" not in err


@pytest.mark.parametrize("case", CASES)
def test_bad_input(run, tmp_path, case):
    args, message = CASES[case]
    code, out, err = run(*[tmp_path / "m.json" if arg == "OUT" else arg for arg in args])
    assert code == 2
    assert message in err
    assert err.startswith("pursuit: ")
    assert err.count("\n") == 1
    assert out == ""
    assert not list(tmp_path.iterdir())


def test_predict_on_the_wrong_data(run, tmp_path):
    model = tmp_path / "m.json"
    assert run(*FIT, "--out", model)[0] == 0
    assert "the model needs 10 columns" in run("predict", model, "cancer.npz")[2]
    code, _, err = run("predict", model, "cancer.csv", "--out", tmp_path / "p.csv")
    assert code == 2
    assert "cancer.csv has no column 'bmi', 'bp', 's5'" in err
    code, _, err = run("predict", model, "diabetes.csv", "--proba", "--out", tmp_path / "p.csv")
    assert code == 2
    assert "gives no probabilities" in err
    assert [path.name for path in tmp_path.iterdir()] == ["m.json"]


def test_an_unwritable_place(run, tmp_path):
    (tmp_path / "m.json").mkdir()
    code, _, err = run(*FIT, "--out", tmp_path / "m.json")
    assert code == 2
    assert "m.json is a folder; name a file in it" in err


def test_a_bug_is_told_from_bad_input(run, tmp_path, monkeypatch):
    from pursuit.cli import fit

    def broken(*args):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(fit, "fit_with_progress", broken)
    code, _, err = run(*FIT, "--out", tmp_path / "m.json")
    assert code == 1
    assert err == "pursuit: unexpected RuntimeError: two lines (PURSUIT_TRACEBACK=1 shows where)\n"
    monkeypatch.setenv("PURSUIT_TRACEBACK", "1")
    with pytest.raises(RuntimeError, match="two"):
        run(*FIT, "--out", tmp_path / "m.json")
