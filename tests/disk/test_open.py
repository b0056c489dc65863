"""Data on a disk: what is fitted is what would be in memory, and what is wrong with a folder is said."""

import json
import os
import pickle
import zlib

import numpy as np
import pandas
import pytest
import scipy.sparse as sp

import pursuit
from problems import random_sparse
from pursuit import GLM, convert, open_data, path, solve


@pytest.fixture
def folder(tmp_path, table, small_blocks):
    X, y, names = table
    np.savez(tmp_path / "a.npz", X=X, y=y, feature_names=np.array(names))
    return convert(tmp_path / "a.npz", tmp_path / "a.pursuit")


def reads(data):
    """How often the whole of X was read."""
    return sum(design.reads for design in data.designs) / len(data.designs)


def problems():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(700, 25)) + rng.normal(size=25)
    X[:, 7] = 4.0
    eta = X[:, :4] @ [1.0, -1.0, 0.5, 0.7]
    S = random_sparse((700, 25), 0.2, rng)
    return {
        "squared": (X, eta + rng.normal(size=700), {}),
        "squared, far": (X + 1e5, eta + rng.normal(size=700), {}),
        "float32": (X.astype(np.float32), eta + rng.normal(size=700), {}),
        "logistic": (X, (eta + rng.logistic(size=700) > 0).astype(float), {"loss": "logistic", "l2": 1e-3}),
        "poisson": (X, rng.poisson(np.exp(0.3 * eta)), {"loss": "poisson"}),
        "sparse": (S, S[:, [0]].toarray()[:, 0] + 0.1 * rng.normal(size=700), {}),
        "sparse logistic": (S, (rng.normal(size=700) > 0).astype(float), {"loss": "logistic", "l2": 1e-2}),
    }


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("case", problems())
def test_a_fit_is_the_fit_in_memory(tmp_path, small_blocks, case, standardize):
    X, y, given = problems()[case]
    arrays = (
        {"X": X} if not sp.issparse(X) else {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    )
    np.savez(tmp_path / "a.npz", y=y, **arrays)
    data = open_data(convert(tmp_path / "a.npz", tmp_path / "a.pursuit"))
    assert len(data.parts) > 3
    here = GLM(X, y, standardize=standardize, **given)
    there = GLM(data, standardize=standardize, **given)
    a, b = solve(here, 4), solve(there, 4)
    np.testing.assert_array_equal(b.support, a.support)
    np.testing.assert_allclose(b.coef, a.coef, rtol=1e-7, atol=1e-9)
    assert b.value == pytest.approx(a.value, rel=1e-9)
    assert b.status == a.status
    k = [1, 3, 6]
    for one, two in zip(path(here, k), path(there, k), strict=True):
        assert two.value == pytest.approx(one.value, rel=1e-8)


@pytest.mark.parametrize("standardize", [True, False])
def test_a_path_reads_the_file_twice(folder, standardize):
    data = open_data(folder)
    found = path(GLM(data, standardize=standardize), range(1, 7))
    assert reads(data) <= 2
    assert found.status == "converged"


def test_a_proof_reads_once_more_for_the_value_of_what_is_proved(folder, table):
    data = open_data(folder)
    f = GLM(data, standardize=True)
    proof = pursuit.certify(f, solve(f, 3))
    assert reads(data) <= 3
    X, y, _ = table
    here = GLM(X, y, standardize=True)
    there = pursuit.certify(here, solve(here, 3))
    assert proof.status == there.status == "proved"
    assert proof.lower == pytest.approx(there.lower, rel=1e-9)


def test_columns_are_not_kept_where_there_is_no_room(tmp_path, small_blocks, monkeypatch):
    """A refit then reads the blocks for each of its steps, and ends where one with all columns in memory does."""
    from pursuit.data.disk import dataset
    from pursuit.designs import MemoryBudget, PagedBlock

    monkeypatch.setattr(dataset.Budget, "room", property(lambda self: MemoryBudget(2.5, 0.0)))
    X, y, given = problems()["logistic"]
    np.savez(tmp_path / "a.npz", X=X, y=y)
    data = open_data(convert(tmp_path / "a.npz", tmp_path / "a.pursuit"))
    f = GLM(data, standardize=True, **given)
    few = f.support_problem(np.arange(4))
    assert all(isinstance(part.block, PagedBlock) for part in few.parts)
    a, b = solve(GLM(X, y, standardize=True, **given), 4), solve(f, 4)
    np.testing.assert_array_equal(a.support, b.support)
    np.testing.assert_allclose(a.coef, b.coef, rtol=1e-7)
    assert all(sum(len(held) for held, _ in part.gathered.last) <= 2 for part in f.data.parts)
    with pytest.raises(ValueError, match="needs its 4 columns in memory, which has room for 0"):
        GLM(data, loss="hinge", l2=0.1).refit(np.arange(4))


def test_a_path_is_taken_for_x(folder, table):
    X, y, _ = table
    assert solve(GLM(str(folder)), 2).value == pytest.approx(solve(GLM(X, y), 2).value)
    assert solve(GLM(folder), 2).names == ("v1", "v4")


def test_blocks_travel_as_names_of_files(folder):
    data = open_data(folder)
    sent = pickle.dumps(data.designs[0])
    assert len(sent) < 1500
    d = np.ones((data.designs[0].shape[0], 1))
    np.testing.assert_array_equal(pickle.loads(sent).rmatmat(d), data.designs[0].rmatmat(d))


def test_parquet_without_converting(tmp_path, table):
    X, y, names = table
    w = 1.0 + np.arange(500) % 2
    pandas.DataFrame(X, columns=names).assign(t=y, w=w, text="x").to_parquet(tmp_path / "a.parquet", row_group_size=90)
    data = open_data(tmp_path / "a.parquet", target="t", weights="w", drop=["text"])
    assert data.shape == (500, 6)
    assert len(data.parts) == 6
    a, b = solve(GLM(X, y, sample_weight=w, standardize=True), 2), solve(GLM(data, standardize=True), 2)
    np.testing.assert_array_equal(a.support, b.support)
    np.testing.assert_allclose(a.coef, b.coef, rtol=1e-10)
    assert b.names == ("v1", "v4")


def test_row_groups_larger_than_a_block_are_read_in_slices(tmp_path, table):
    from pursuit.data.disk.parquet import ParquetFile, blocks

    X, y, names = table
    pandas.DataFrame(X, columns=names).assign(t=y).to_parquet(tmp_path / "a.parquet", row_group_size=300)
    cut = blocks(ParquetFile(tmp_path / "a.parquet", ["t"]), 64 * 48)
    assert [block.many for block in cut] == [60] * 5 + [50] * 4
    for order in (cut, cut[::-1], [cut[3], cut[3], cut[0]]):
        for block in order:
            low = 300 * block.group + block.low
            np.testing.assert_array_equal(block.read().X, X[low : low + block.many])


def test_labels_of_a_parquet_file(tmp_path, table):
    X, _, names = table
    words = np.array(["b", "a", "c"])[np.arange(500) % 3]
    frame = pandas.DataFrame(X, columns=names).assign(t=words, c=pandas.Categorical(words), z=np.arange(500) % 2 == 0)
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=90)
    for target, expected in (("t", words), ("c", words), ("z", np.arange(500) % 2 == 0)):
        data = open_data(tmp_path / "a.parquet", target=target, drop=[name for name in "tcz" if name != target])
        np.testing.assert_array_equal(data.targets(), expected)
        assert list(data.labels) == sorted(set(expected.tolist()))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "name its column"),
        ({"target": "texts"}, "no column 'texts'; did you mean 'text'"),
        ({"target": "t"}, "column 'text' of .* is not numeric"),
        ({"target": "t", "weights": "t"}, "must be different columns"),
        ({"target": "gap", "drop": ["text"]}, "has a missing value"),
        ({"target": "t", "drop": ["text"], "memory": "1kB"}, "too little"),
        ({"target": "t", "memory": "much"}, "memory must be"),
    ],
)
def test_what_a_parquet_file_cannot_be(tmp_path, given, words):
    frame = pandas.DataFrame({"a": [1.0, 2.0], "t": [1.0, 2.0], "text": ["x", "y"], "gap": [1.0, None]})
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=words):
        open_data(tmp_path / "a.parquet", **given)


def changed(folder, **fields):
    file = folder / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))


def rewrite_manifest(folder, change):
    file = folder / "manifest.json"
    held = json.loads(file.read_text())
    change(held)
    file.write_text(json.dumps(held))


WRONG = {
    "newer": (lambda held: held.update(version=2), "written in version 2.*reads up to 1: update"),
    "other format": (lambda held: held.update(format="x"), "does not say format"),
    "shape": (lambda held: held.update(shape=[499, 6]), "500 rows in all, and shape says 499"),
    "dtype": (lambda held: held.update(dtype="object"), "dtype must be float32 or float64"),
    "names": (lambda held: held.update(names=["a"]), "names must be 6 strings"),
    "no blocks": (lambda held: held.update(blocks=[]), "at least one block"),
    "rows": (lambda held: held["blocks"][0].update(rows=-1), "at least 1, got -1"),
    "huge": (lambda held: held["blocks"][0].update(rows=1 << 80), "must have shape"),
    "up": (lambda held: held["blocks"][0]["X"].update(file="../a.npz"), "lies in its folder"),
    "absolute": (lambda held: held["blocks"][0]["X"].update(file="/etc/passwd"), "lies in its folder"),
    "below": (lambda held: held["blocks"][0]["X"].update(file="a/b.npy"), "lies in its folder"),
    "hidden": (lambda held: held["blocks"][0]["X"].update(file=".npy"), "lies in its folder"),
    "no name": (lambda held: held["blocks"][0]["X"].update(file=3), "lies in its folder"),
    "twice": (lambda held: held["blocks"][0].update(X=held["blocks"][1]["X"]), "named twice|must have shape"),
    "crc": (lambda held: held["blocks"][0]["X"].update(crc32="x"), "whole number of 32 bits"),
    "wide": (lambda held: held["blocks"][0]["X"].update(shape=[10, 7]), "must have shape"),
    "classes": (lambda held: held.update(classes=[1, 2]), "classes must be strings"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_manifest_is_told(folder, case):
    change, words = WRONG[case]
    rewrite_manifest(folder, change)
    with pytest.raises(ValueError, match=words):
        open_data(folder)


def test_what_is_no_data_set(tmp_path, folder):
    with pytest.raises(ValueError, match="is not a data set: it has no manifest"):
        open_data(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        open_data(tmp_path / "gone")
    with pytest.raises(ValueError, match="neither a data set nor a Parquet file"):
        open_data(tmp_path / "a.npz")
    with pytest.raises(ValueError, match="knows its target"):
        open_data(folder, target="y")
    (folder / "manifest.json").write_text("{")
    with pytest.raises(ValueError, match="not JSON"):
        open_data(folder)


def first(folder, kind="X"):
    return sorted(folder.glob(f"{kind}-*.npy"))[1]


def test_a_truncated_block_is_named(folder):
    block = first(folder)
    block.write_bytes(block.read_bytes()[:-8])
    with pytest.raises(ValueError, match=f"{block.name} was truncated"):
        open_data(folder)


def test_a_missing_block_is_named(folder):
    first(folder).unlink()
    with pytest.raises(FileNotFoundError, match=f"{first(folder).name[:-7]}.* is missing"):
        open_data(folder)


@pytest.mark.parametrize("kind", ["X", "y"])
def test_an_altered_block_is_named_when_it_is_touched(folder, kind):
    block = first(folder, kind)
    raw = bytearray(block.read_bytes())
    raw[-3] ^= 1
    block.write_bytes(raw)
    with pytest.raises(ValueError, match=f"{block.name} was altered"):
        solve(GLM(open_data(folder)), 2)


def test_a_block_that_changes_meanwhile_is_named(folder):
    f = GLM(open_data(folder))
    solve(f, 2)
    block = first(folder)
    raw = block.read_bytes()
    block.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    os.utime(block, ns=(0, 0))
    with pytest.raises(ValueError, match=f"{block.name} was changed while"):
        f.at(np.arange(2), np.ones(2))


def test_checksums_are_looked_at_once(folder, monkeypatch):
    summed = []
    monkeypatch.setattr(zlib, "crc32", lambda raw, start=0, real=zlib.crc32: summed.append(1) or real(raw, start))
    f = GLM(open_data(folder), standardize=True)
    solve(f, 2)
    once = len(summed)
    f.at(np.arange(2), np.ones(2))
    assert len(summed) == once


@pytest.mark.parametrize("name", ["columns.npy", "X-00000.npy", "y-00000.npy", "manifest.json"])
def test_a_folder_in_place_of_a_file_is_named(folder, name):
    (folder / name).unlink()
    (folder / name).mkdir()
    words = "has no manifest.json" if name == "manifest.json" else f"{name} is not a file; convert the data again"
    with pytest.raises(ValueError, match=words):
        open_data(folder)


def test_a_folder_that_is_called_parquet(tmp_path):
    (tmp_path / "a.parquet").mkdir()
    with pytest.raises(ValueError, match=r"a\.parquet cannot be read as Parquet: .* is a directory"):
        open_data(tmp_path / "a.parquet", target="y")


def test_links_are_refused(folder, tmp_path):
    block = first(folder)
    block.rename(tmp_path / "elsewhere.npy")
    block.symlink_to(tmp_path / "elsewhere.npy")
    with pytest.raises(ValueError, match="is a link"):
        open_data(folder)


def test_indices_that_lead_out_of_the_matrix_are_refused(tmp_path, small_blocks):
    """A manifest may be made to fit: the numbers are looked at too."""
    X = random_sparse((300, 20), 0.3, np.random.default_rng(0))
    np.savez(tmp_path / "a.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=np.arange(300.0))
    out = convert(tmp_path / "a.npz", tmp_path / "a.pursuit")
    block = first(out, "indices")
    indices = np.load(block)
    indices[5] = 10**6
    np.save(block, indices)

    def change(held):
        held["blocks"][1]["indices"]["crc32"] = zlib.crc32(indices.tobytes())

    rewrite_manifest(out, change)
    with pytest.raises(ValueError, match=f"{block.name}: .*indices must lie between"):
        solve(GLM(open_data(out)), 2)


def test_memory_is_a_number_of_bytes(folder):
    from pursuit.data.disk.memory import as_bytes

    assert as_bytes("1GB") == as_bytes("1000 MB") == as_bytes(10**9) == 10**9
    assert as_bytes("1.5GiB") == 3 << 29
    for wrong in ("", "GB", "-1GB", 0, -1, True, None, 1.5, "1PB"):
        with pytest.raises(ValueError, match="memory must be"):
            as_bytes(wrong)
    with pytest.raises(ValueError, match="memory=100 MB is too little"):
        open_data(folder, memory="100MB")


def test_views_of_the_same_rows_share_the_room(folder):
    data = open_data(folder)
    one, other = GLM(data, standardize=True).data, GLM(data, standardize=False).data
    one.column_problem(np.arange(2), 0.0, True, 0.0)
    assert all(part.gathered.last for part in one.parts)
    other.column_problem(np.arange(2), 0.0, True, 0.0)
    assert all(part.gathered.last for part in other.parts)
    assert not any(part.gathered.last for part in one.parts)
