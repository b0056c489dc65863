"""``graph``: Python's numbers in the table, the file and the picture; bad input in one line."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f_oneway, ttest_ind

from pursuit import SparsePrecision, SparsePrecisionCV
from pursuit.cli.graph_data import read_nodes

GRAPH = ("graph", "cancer.csv", "--label", "kind", "--edges", 20)


@pytest.fixture
def cancer(files):
    return pd.read_csv(files / "cancer.csv").drop(columns="kind")


def matrix(held):
    """The precision matrix that a file holds."""
    place = {node["name"]: j for j, node in enumerate(held["nodes"])}
    W = np.diag([node["precision"] for node in held["nodes"]])
    for edge in held["edges"]:
        i, j = place[edge["source"]], place[edge["target"]]
        W[i, j] = W[j, i] = edge["precision"]
    return W


def test_the_file_and_the_picture(run, cancer, tmp_path):
    model = SparsePrecision(n_edges=20).fit(cancer)
    files = tmp_path / "g.json", tmp_path / "g.png"
    code, out, err = run(*GRAPH, "--out", files[0], "--picture", files[1])
    assert (code, err) == (0, "")
    assert "569 rows, 30 columns" in out
    assert all(str(file) in out for file in files)
    assert files[1].read_bytes().startswith(b"\x89PNG")
    held = json.loads(files[0].read_text())
    np.testing.assert_allclose(matrix(held), model.precision_, rtol=1e-9)
    assert [node["name"] for node in held["nodes"]] == list(cancer.columns)
    np.testing.assert_allclose([node["mean"] for node in held["nodes"]], cancer.mean())
    assert sum(node["degree"] for node in held["nodes"]) == 40
    assert (held["settings"]["n_edges"], held["settings"]["chosen"], held["held_out"]) == (20, [], None)
    assert held["reason"] == model.reason_
    for edge in held["edges"]:
        assert edge["sign"] == np.sign(edge["partial_correlation"]) == -np.sign(edge["precision"])
        assert edge["gain"] > 0
    strongest = max(held["edges"], key=lambda edge: abs(edge["partial_correlation"]))
    first = next(line for line in out.splitlines() if "0." in line)
    assert strongest["source"] in first
    assert f"{strongest['partial_correlation']:.3f}" in first


def test_edges_that_must_and_must_not_be_there(run, cancer, tmp_path):
    def pairs(*options):
        assert run(*GRAPH, *options, "--drop", "mean radius,worst radius", "--out", tmp_path / "g.json")[0] == 0
        held = json.loads((tmp_path / "g.json").read_text())
        assert len(held["nodes"]) == 28
        return {frozenset((edge["source"], edge["target"])) for edge in held["edges"]}

    plain = pairs()
    gone = sorted(map(sorted, plain))[:2]
    come = sorted({"mean texture", "area error"})
    assert frozenset(come) not in plain
    exclude = [part for pair in gone for part in ("--exclude", ",".join(pair))]
    changed = pairs(*exclude, "--include", ", ".join(come))
    assert frozenset(come) in changed
    assert not changed & {frozenset(pair) for pair in gone}


def test_the_choice(run, files, tmp_path):
    table = pd.read_parquet(files / "diabetes.parquet")
    model = SparsePrecisionCV(cv=3, shrinkage=0.0).fit(table)
    options = ("--cv", 3, "--shrinkage", 0, "--out", tmp_path / "g.json")
    code, out, err = run("graph", "diabetes.parquet", *options)
    assert (code, err) == (0, "")
    held = json.loads((tmp_path / "g.json").read_text())
    assert held["settings"]["chosen"] == ["n_edges", "l1"]
    assert (held["settings"]["n_edges"], held["settings"]["l1"]) == (model.n_edges_, model.l1_)
    np.testing.assert_allclose(matrix(held), model.precision_, rtol=1e-6)
    assert held["held_out"]["log_likelihood"] == pytest.approx(np.max(model.cv_results_["mean_test_score"]), rel=1e-6)
    assert model.reason_ in out
    assert "log-likelihood per row" in out


def test_the_columns_that_differ_most(files):
    cancer = pd.read_csv(files / "cancer.csv")
    kinds = [part for _, part in cancer.drop(columns="kind").groupby(cancer["kind"])]
    t = np.abs(ttest_ind(*kinds).statistic)
    found = read_nodes(files / "cancer.csv", ["mean area"], "kind", 7, None)
    order = [name for name in cancer.columns[np.argsort(-t)] if name != "mean area"][:7]
    assert set(found.names) == set(order)
    assert "of 29, those that differ most between the values of kind" in found.heading
    three = np.digitize(cancer["mean area"], [400, 700])
    cancer.drop(columns="kind").assign(size=three).to_csv(files / "three.csv", index=False)
    F = f_oneway(*[part for _, part in cancer.drop(columns="kind").groupby(three)]).statistic
    assert set(read_nodes(files / "three.csv", [], "size", 5, None).names) == set(cancer.columns[np.argsort(-F)[:5]])
    spread = read_nodes(files / "cancer.csv", ["kind"], None, 4, None)
    assert set(spread.names) == set(cancer.drop(columns="kind").var().nlargest(4).index)


def test_files_without_names(run, files, tmp_path):
    options = ("--edges", 3, "--label", "y", "--most", 6, "--out", tmp_path / "g.json")
    assert run("graph", "cancer.npz", *options)[0] == 0
    kept = {node["name"] for node in json.loads((tmp_path / "g.json").read_text())["nodes"]}
    dense = read_nodes(files / "cancer.npz", [], "y", 6, None)
    assert kept == set(dense.names)
    assert all(name[0] == "x" for name in kept)
    sparse = read_nodes(files / "cancer.libsvm", [], None, 6, None)
    assert set(sparse.names) == set(read_nodes(files / "cancer.npz", [], None, 6, None).names)
    held = np.load(files / "cancer.npz")
    np.savez(tmp_path / "named.npz", X=held["X"], y=held["y"], probes=[f"probe {j}" for j in range(30)])
    named = read_nodes(tmp_path / "named.npz", [], "y", 6, "probes")
    assert set(named.names) == {f"probe {name[1:]}" for name in dense.names}


CASES = {
    "edges": (
        ("graph", "cancer.csv", "--edges", "many"),
        "--edges must be auto or a whole number at least 0, got 'many'",
    ),
    "shrinkage": ((*GRAPH, "--shrinkage", "-1"), "--shrinkage must be auto or a number at least 0, got '-1'"),
    "l1": ((*GRAPH, "--l1", "little"), "--l1 must be auto or a number at least 0, got 'little'"),
    "cv": ((*GRAPH, "--cv", 4), "--cv is for a choice, and --edges, --shrinkage and --l1 leave none"),
    "rule": ((*GRAPH[:-1], "auto", "--rule", "minn"), "rule 'minn' is unknown; did you mean 'min'?"),
    "out": ((*GRAPH, "--out", "g.csv"), "--out g.csv must end in .json"),
    "picture": ((*GRAPH, "--picture", "g.doc"), "--picture g.doc must end in .png"),
    "text": (("graph", "cancer.csv"), "leave it out with --drop"),
    "label": (("graph", "cancer.csv", "--label", "kin"), "no --label column 'kin'; did you mean 'kind'?"),
    "label of numbers": (("graph", "diabetes.parquet", "--label", "s2"), "and it must tell classes apart"),
    "pair": ((*GRAPH, "--exclude", "mean area"), "--exclude is an edge, two columns such as a,b, and got 'mean area'"),
    "no column": (
        (*GRAPH, "--include", "mean area,mean are"),
        "there is no column 'mean are'; did you mean 'mean area'?",
    ),
    "most": ((*GRAPH, "--most", 1), "Invalid value for '--most'"),
    "names": ((*GRAPH, "--names", "probes"), "cancer.csv is no npz file, so no array 'probes' of it can hold names"),
    "array": (("graph", "cancer.npz", "--names", "z"), "it has no array 'z' of names"),
    "both": (
        (*GRAPH, "--include", "mean area,mean radius", "--exclude", "mean radius,mean area"),
        "clude",
    ),
    "shrinkage above 1": ((*GRAPH, "--shrinkage", 2), "shrinkage"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input(run, tmp_path, case):
    args, message = CASES[case]
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert message in err
    assert err.startswith("pursuit: ")
    assert err.count("\n") == 1


def test_a_constant_column_is_named(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 3))
    pd.DataFrame(X, columns=list("abc")).assign(same=1.0).to_csv(tmp_path / "t.csv", index=False)
    code, _, err = run("graph", tmp_path / "t.csv", "--edges", 2)
    assert code == 2
    assert "same" in err


def test_limits_have_their_exit_codes(run, tmp_path):
    code, out, _ = run(*GRAPH, "--time-limit", 0, "--out", tmp_path / "g.json")
    assert code == 3
    assert "the time limit of 0 s was reached" in out
    assert json.loads((tmp_path / "g.json").read_text())["status"] == "time_limit"
    code, out, err = run(*GRAPH[:-1], "auto", "--time-limit", 0)
    assert (code, out) == (2, "")
    assert err.startswith("pursuit: --time-limit 0 was over before every fold was fitted")
