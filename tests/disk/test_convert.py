"""From files to data sets: the same numbers, whole or not at all."""

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from problems import random_sparse
from pursuit import SparseRegressor, convert, open_data
from pursuit.io import conversion


def dense(data):
    return np.concatenate([design.source.read().block(np.arange(data.shape[1])).dense() for design in data.designs])


@pytest.fixture
def files(tmp_path, table):
    """The same table in every kind of file, with what its target is called there."""
    X, y, names = table
    frame = pandas.DataFrame(X, columns=names).assign(t=y)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv.gz", index=False, sep="\t")
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=130)
    np.savez(tmp_path / "a.npz", X=X, t=y, feature_names=np.array(names))
    np.savez_compressed(tmp_path / "f.npz", X=np.asfortranarray(X), t=y)
    return {tmp_path / name: "t" for name in ("a.csv", "a.tsv.gz", "a.parquet", "a.npz", "f.npz")}


def test_every_kind_of_file_gives_the_same_numbers(files, table, tmp_path, small_blocks):
    X, y, names = table
    for i, (path, target) in enumerate(files.items()):
        data = open_data(convert(path, tmp_path / f"{i}.pursuit", target))
        assert len(data.parts) > 3
        np.testing.assert_array_equal(dense(data), X)
        np.testing.assert_array_equal(data.targets(), y)
        assert data.names == (None if path.name == "f.npz" else tuple(names))
        np.testing.assert_allclose(data.moments.mean, X.mean(axis=0), rtol=1e-14)
        np.testing.assert_allclose(data.moments.square, X.var(axis=0), rtol=1e-12)


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_libsvm_keeps_its_zeros_out_and_its_last_columns_in(tmp_path, small_blocks, packed):
    rng = np.random.default_rng(1)
    X = random_sparse((400, 30), 0.1, rng)
    X = sp.vstack([X, sp.csr_array(([7.0], ([0], [29])), shape=(1, 30))], format="csr")  # a column that comes late
    y = rng.integers(0, 2, 401)
    path = tmp_path / f"a.svm{packed}"
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    dump_svmlight_file(X, y, str(tmp_path / "plain"), zero_based=False)
    path.write_bytes((gzip.compress if packed else bytes)((tmp_path / "plain").read_bytes()))
    data = open_data(convert(path, tmp_path / "a.pursuit"))
    assert len(data.parts) > 3
    assert data.designs[0].source.read().X.format == "csr"
    np.testing.assert_allclose(dense(data), X.toarray(), rtol=1e-15)  # the file has 16 digits
    np.testing.assert_allclose(data.moments.mean, X.toarray().mean(axis=0), atol=1e-16)
    np.testing.assert_allclose(data.moments.square, X.toarray().var(axis=0), atol=1e-15)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array], ids=["csr", "csc"])
def test_sparse_npz(tmp_path, small_blocks, make):
    X = random_sparse((400, 30), 0.1, np.random.default_rng(1), make).astype(np.float32)
    sp.save_npz(tmp_path / "x.npz", X)
    with np.load(tmp_path / "x.npz") as held:
        np.savez(tmp_path / "a.npz", **held, y=np.arange(400.0))
    data = open_data(convert(tmp_path / "a.npz", tmp_path / "a.pursuit"))
    assert data.dtype == np.float32
    np.testing.assert_array_equal(dense(data), X.toarray())


def test_weights_offset_columns_left_out_and_single_precision(tmp_path, table, small_blocks):
    X, y, names = table
    frame = pandas.DataFrame(X, columns=names).assign(t=y, w=np.arange(500) % 3, o=0.5, text="no number")
    frame.to_csv(tmp_path / "a.csv", index=False)
    out = convert(
        tmp_path / "a.csv", tmp_path / "a.pursuit", "t", weights="w", offset="o", drop=["text", "v0"], dtype="float32"
    )
    data = open_data(out)
    assert data.dtype == np.float32
    assert data.names == tuple(names[1:])
    np.testing.assert_array_equal(np.concatenate([part[2] for part in data.parts]), np.arange(500) % 3)
    np.testing.assert_array_equal(np.concatenate([part[3] for part in data.parts]), 0.5)
    w = np.arange(500) % 3 / np.sum(np.arange(500) % 3)
    np.testing.assert_allclose(data.moments.mean, w @ X[:, 1:].astype(np.float32), rtol=1e-6)


def test_labels_stay_what_they_were(tmp_path, table, small_blocks):
    X, _, names = table
    for kind, values in {
        "words": np.array(["yes", "no", "maybe"])[np.arange(500) % 3],
        "truth": np.arange(500) % 2 == 0,
        "whole": np.arange(500) % 2 + 1,
    }.items():
        for suffix in ("csv", "parquet"):
            frame = pandas.DataFrame(X, columns=names).assign(t=values)
            path = tmp_path / f"{kind}.{suffix}"
            frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
            data = open_data(convert(path, tmp_path / f"{kind}-{suffix}.pursuit", "t"))
            np.testing.assert_array_equal(data.targets(), values)
            assert data.targets().dtype.kind == values.dtype.kind


BAD = {
    "no rows": ("a,t\n", "t", "no rows"),
    "no target": ("a,t\n1,2\n", None, "name its column"),
    "unknown target": ("a,t\n1,2\n", "tt", "did you mean 't'"),
    "text": ("a,t\n1,2\nx,3\n", "t", "column 'a'.*not numeric.*'x'"),
    "missing": ("a,t\n1,2\n,3\n", "t", "missing values"),
    "missing target": ("a,t\n1,2\n3,\n", "t", "missing value"),
    "long row": ("a,t\n1,2\n3,4,5\n", "t", "cannot be read as CSV"),
    "empty": ("", "t", "empty"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_told_and_leaves_nothing(tmp_path, case):
    text, target, words = BAD[case]
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=words):
        convert(tmp_path / "a.csv", tmp_path / "a.pursuit", target)
    assert os.listdir(tmp_path) == ["a.csv"]


def test_what_is_there_is_never_written_over(tmp_path, files):
    (tmp_path / "a.pursuit").mkdir()
    with pytest.raises(FileExistsError, match="there already"):
        convert(next(iter(files)), tmp_path / "a.pursuit", "t")


def test_a_target_of_numbers_and_words_is_told(tmp_path, small_blocks):
    pandas.DataFrame({"a": np.arange(900.0), "t": [*range(899), "x"]}).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ValueError, match="numbers in some rows, and text in others"):
        convert(tmp_path / "a.csv", tmp_path / "a.pursuit", "t")


FULL = """
import resource, signal, sys
from pursuit.data.disk import write
from pursuit.cli import main
write.BLOCK_BYTES = 1 << 16
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 15, 1 << 15))
sys.exit(main(["convert", sys.argv[1], sys.argv[2], "--target", "t"]))
"""


def test_a_full_disk_leaves_nothing_and_says_so(tmp_path):
    """The system's own limit on files stands for the disk: the error comes from the same write."""
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "a.npz", X=rng.normal(size=(2000, 8)), t=rng.normal(size=2000))
    csv = tmp_path / "a.csv"
    pandas.DataFrame(rng.normal(size=(2000, 8))).rename(columns=str).assign(t=1.0).to_csv(csv, index=False)
    out = tmp_path / "a.pursuit"
    for data in (csv, tmp_path / "a.npz"):
        done = subprocess.run(
            [sys.executable, "-c", FULL, str(data), str(out)], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 2
        assert f"{out} could not be written, and nothing is left of it: File too large" in done.stderr
        assert sorted(os.listdir(tmp_path)) == ["a.csv", "a.npz"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 1 << 15  # the limit was the child's


def test_of_several_that_write_one_folder_one_wins(tmp_path, table, monkeypatch):
    """All have begun before the first is done; the others say what happened, and leave nothing."""
    np.savez(tmp_path / "a.npz", X=table[0], y=table[1])
    out, begun, said = tmp_path / "a.pursuit", threading.Barrier(3), []
    real = conversion._finish

    def finish(*given):
        begun.wait(30)
        return real(*given)

    monkeypatch.setattr(conversion, "_finish", finish)

    def one():
        try:
            said.append(str(convert(tmp_path / "a.npz", out)))
        except OSError as error:
            said.append(f"{type(error).__name__}: {error}")

    runs = [threading.Thread(target=one) for _ in range(3)]
    for run in runs:
        run.start()
    for run in runs:
        run.join(60)
    words = f"FileExistsError: {out} is there already; remove it first, or choose another name"
    assert sorted(said) == sorted([str(out), words, words])
    assert sorted(os.listdir(tmp_path)) == ["a.npz", "a.pursuit"]
    assert open_data(out).shape == (500, 6)


def test_a_folder_is_not_converted(tmp_path):
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(ValueError, match=r"a\.csv is a folder, not a file to convert"):
        convert(tmp_path / "a.csv", tmp_path / "a.pursuit", "t")


def test_an_error_of_the_input_is_not_the_outputs(tmp_path, table, monkeypatch):
    np.savez(tmp_path / "a.npz", X=table[0], y=table[1])

    def gone(*_):
        raise FileNotFoundError(2, "No such file or directory", str(tmp_path / "a.npz"))

    monkeypatch.setattr(conversion, "_finish", gone)
    with pytest.raises(FileNotFoundError, match=r"a\.npz"):
        convert(tmp_path / "a.npz", tmp_path / "a.pursuit")
    assert os.listdir(tmp_path) == ["a.npz"]


HANGS_AFTER_A_BLOCK = """
import sys, time
from pursuit.cli import main
from pursuit.data.disk import write
from pursuit.io import _chunks

write.BLOCK_BYTES, _chunks.CHUNK_BYTES = 4096, 2048
read_piece = _chunks._chunk_from_frame

def read_or_hang(path, frame, *rest):
    if frame.index[0] > 2000:
        print("hangs", flush=True)
        time.sleep(600)
    return read_piece(path, frame, *rest)

_chunks._chunk_from_frame = read_or_hang
sys.exit(main(sys.argv[1:]))
"""


def test_ctrl_c_leaves_nothing(tmp_path):
    """The child waits for the signal in the middle of the file, however slow the machine is."""
    (tmp_path / "a.csv").write_text("a,b,t\n" + "1.25,2.5,3\n" * 5000)
    command = [sys.executable, "-c", HANGS_AFTER_A_BLOCK, "convert", "a.csv", "a.pursuit", "--target", "t"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as child:
        try:
            assert child.stdout.readline() == "hangs\n"
            (unfinished,) = set(os.listdir(tmp_path)) - {"a.csv"}
            assert len(os.listdir(tmp_path / unfinished)) > 1
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=300)
        finally:
            child.kill()
    assert (child.returncode, out, err) == (130, "", "pursuit: interrupted\n")
    assert os.listdir(tmp_path) == ["a.csv"]


def test_the_manifest_reads_like_one(tmp_path, files, small_blocks):
    out = convert(next(iter(files)), tmp_path / "a.pursuit", "t")
    held = json.loads((out / "manifest.json").read_text())
    assert held["version"] == 1
    assert held["shape"] == [500, 6]
    assert sum(block["rows"] for block in held["blocks"]) == 500
    assert {file.name for file in out.iterdir()} == {
        "manifest.json",
        "columns.npy",
        *(block[key]["file"] for block in held["blocks"] for key in ("X", "y")),
    }


def test_several_responses(tmp_path, small_blocks):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((400, 4)), rng.standard_normal((400, 3))
    np.savez(tmp_path / "a.npz", X=X, y=Y)
    out = convert(tmp_path / "a.npz", tmp_path / "a.pursuit")
    data = open_data(out)
    assert len(data.parts) > 1
    np.testing.assert_array_equal(data.targets(), Y)
    np.testing.assert_allclose(SparseRegressor(2).fit(data).coef_, SparseRegressor(2).fit(X, Y).coef_, atol=1e-12)
    held = json.loads((out / "manifest.json").read_text())
    held["blocks"][0]["y"]["shape"][1] = 2
    (out / "manifest.json").write_text(json.dumps(held))
    with pytest.raises(ValueError, match="y must have the same number of columns in every block"):
        open_data(out)
    np.savez(tmp_path / "b.npz", X=X, y=Y.astype(str))
    with pytest.raises(ValueError, match=r"the target in .* has shape \(400, 3\), but there are 400 rows"):
        convert(tmp_path / "b.npz", tmp_path / "b.pursuit")
