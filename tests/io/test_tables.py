"""Every format gives the same table; every bad file gives one sentence that names the file and what is wrong."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from pursuit.io import read_table

X = np.array([[1.5, 0.0, 3.0], [0.1, 2.0, 1e-17], [0.0, -7.25, 0.0], [1 / 3, 0.0, 1e300]])
Y = np.array([1.0, 0.0, 2.5, -1.0])
NAMES = ("a", "b b", "c")


def frame() -> pd.DataFrame:
    return pd.DataFrame(X, columns=list(NAMES)).assign(y=Y)[["a", "y", "b b", "c"]]


def write(path: Path) -> None:
    name = path.name
    if ".csv" in name:
        frame().to_csv(path, index=False)
    elif ".tsv" in name:
        frame().to_csv(path, index=False, sep="\t")
    elif ".parquet" in name:
        frame().to_parquet(path)
    elif name == "dense.npz":
        np.savez(path, X=X, y=Y)
    elif name == "csc.npz":
        sparse.save_npz(path, sparse.csc_array(X))
    elif name == "csr.npz":
        held = sparse.csr_array(X)
        np.savez(path, data=held.data, indices=held.indices, indptr=held.indptr, shape=held.shape, y=Y)
    else:
        plain = path.with_suffix("") if name.endswith(".gz") else path
        dump_svmlight_file(X, Y, str(plain), zero_based=False)
        if plain != path:
            path.write_bytes(gzip.compress(plain.read_bytes()))


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.TSV", "t.tsv.gz", "t.parquet"])
def test_named_formats_agree_to_the_last_bit(tmp_path, name):
    path = tmp_path / name
    write(tmp_path / name.lower())
    (tmp_path / name.lower()).rename(path)
    table = read_table(path, target="y")
    assert np.array_equal(table.X, X)
    assert np.array_equal(table.y, Y)
    assert table.feature_names == NAMES


@pytest.mark.parametrize("name", ["dense.npz", "csr.npz", "csc.npz", "t.libsvm", "t.svm.gz", "t.svmlight"])
def test_nameless_formats_agree(tmp_path, name):
    path = tmp_path / name
    write(path)
    table = read_table(path)
    dense = table.X if name == "dense.npz" else table.X.toarray()
    assert np.allclose(dense, X, rtol=1e-15, atol=0)  # the text of a LIBSVM file has 16 digits
    assert table.feature_names is None
    assert (table.y is None) if name == "csc.npz" else np.array_equal(table.y, Y)


def test_sparse_formats_stay_sparse(tmp_path):
    for name in ("csr.npz", "csc.npz", "t.libsvm"):
        write(tmp_path / name)
        assert sparse.issparse(read_table(tmp_path / name).X)


def test_without_a_target_every_column_is_a_feature(tmp_path):
    write(tmp_path / "t.csv")
    table = read_table(tmp_path / "t.csv")
    assert table.y is None
    assert table.feature_names == ("a", "y", "b b", "c")


def test_columns_are_given_in_the_order_asked_and_others_are_not_looked_at(tmp_path):
    path = tmp_path / "t.csv"
    frame().assign(text="x", hole=np.nan).to_csv(path, index=False)
    table = read_table(path, columns=["c", "a"])
    assert np.array_equal(table.X, X[:, [2, 0]])
    assert read_table(path, target="y", drop=["text", "hole"]).feature_names == NAMES


def test_names_in_an_npz(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=X, y=Y, feature_names=np.array(NAMES))
    assert read_table(path).feature_names == NAMES
    assert np.array_equal(read_table(path, columns=["c"]).X, X[:, [2]])


def test_names_in_another_array_of_an_npz(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=X, y=Y, probes=np.array(NAMES))
    assert read_table(path).feature_names is None
    assert read_table(path, names="probes").feature_names == NAMES
    with pytest.raises(ValueError, match="it has no array 'probe' of names; did you mean 'probes'"):
        read_table(path, names="probe")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("labels", [["no", "yes", "no", "yes"], [True, False, True, True], [3, 1, 3, 1]])
def test_targets_keep_their_type(tmp_path, suffix, labels):
    path = tmp_path / f"t.{suffix}"
    held = frame().assign(y=labels)
    held.to_csv(path, index=False) if suffix == "csv" else held.to_parquet(path)
    y = read_table(path, target="y").y
    assert y.tolist() == labels
    assert type(y.tolist()[0]) is type(labels[0])


def test_float32_stays_float32_and_everything_else_is_float64(tmp_path):
    np.savez(tmp_path / "t.npz", X=X[:, :2].astype(np.float32), y=Y)
    assert read_table(tmp_path / "t.npz").X.dtype == np.float32
    np.savez(tmp_path / "i.npz", X=np.arange(6).reshape(3, 2))
    assert read_table(tmp_path / "i.npz").X.dtype == np.float64
    frame().drop(columns="c").astype(np.float32).assign(y=Y).to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet", target="y").X.dtype == np.float32


def test_booleans_and_integers_are_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("flag,count,y\nTrue,3,1\nFalse,4,2\n")
    assert np.array_equal(read_table(path, target="y").X, [[1, 3], [0, 4]])


def test_a_libsvm_file_with_empty_last_columns_takes_its_width_from_the_model(tmp_path):
    path = tmp_path / "t.libsvm"
    path.write_text("1 1:2\n0 2:1\n")
    assert read_table(path, n_features=7).X.shape == (2, 7)


CSV_ERRORS = {
    "empty": ("", "y", "is empty"),
    "no rows": ("a,y\n", "y", "has no rows"),
    "only the target": ("y\n1\n", "y", "has no feature columns"),
    "target far": ("a,b\n1,2\n", "outcome", "has no target column 'outcome'; there are 'a', 'b'"),
    "target near": ("a,Target\n1,2\n", "target", "did you mean 'Target'?"),
    "text": ("a,town,y\n1,Rome,2\n", "y", "column 'town' of .* is not numeric .for example 'Rome' in 'town'."),
    "texts": ("u,v,y\n1,x,2\nz,q,2\n", "y", "columns 'u', 'v' of .* are not numeric .for example 'z' in 'u'."),
    "hole": ("a,b,y\n1,2,3\n1,,3\n", "y", "column 'b' of .* has missing values; .*, or leave the column out$"),
    "holes": ("a,b,c,y\n,2,inf,3\n1,,3,3\n", "y", "columns 'a', 'b' of .* have missing values; .* the columns out$"),
    "infinite": ("a,b,y\n1,2,3\n1,inf,3\n", "y", "column 'b' of .* has infinite values"),
    "target hole": ("a,b,y\n1,2,3\n1,1,\n", "y", "target column 'y' of .* has a missing value; drop those rows$"),
    "semicolons": ("a;b;y\n1;2;3\n", "y", "has one column, 'a;b;y': separate columns with commas"),
    "row numbers": (",a,y\n0,1,2\n", "y", "column 1 of .* has no name"),
    "one row too long": ("a,y\n1,2\n1,2,3,4\n", "y", "cannot be read as CSV"),
    "all rows too long": ("a,y\n1,2,3\n4,5,6\n", "y", "cannot be read as CSV"),
    "a row too short": ("a,y,c\n1,2\n4,5,6\n", "y", "line 2 of .* has 2 fields, but the header has 3"),
}


@pytest.mark.parametrize("case", CSV_ERRORS)
def test_bad_csv(tmp_path, case):
    text, target, message = CSV_ERRORS[case]
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_table(path, target=target)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("held", "message"),
    [
        ({"y": Y}, "it holds y, not X or data, indices, indptr, shape"),
        ({"X": Y, "y": Y}, "two dimensions, not 1"),
        ({"X": X, "y": Y[:2]}, r"target in .* has shape \(2,\), but there are 4 rows"),
        ({"X": X.astype(str), "y": Y}, "must be numeric"),
        ({"X": np.array([[None, 1]], dtype=object)}, "Python objects"),
        ({"X": np.where(X == 2, np.nan, X), "y": Y}, "column 1 of .* missing values"),
        ({"X": np.where(X > 1, np.nan, X), "y": Y}, "columns 0, 1, 2 of .* have missing values"),
        ({"X": X[:0], "y": Y[:0]}, "no rows"),
        ({"X": X, "feature_names": np.array(["a"])}, "1 feature_names for 3 columns"),
        ({"data": [1.0], "indices": [5], "indptr": [0, 1], "shape": [1, 2], "y": [1.0]}, "cannot be used"),
        ({"data": [np.nan], "indices": [1], "indptr": [0, 1], "shape": [1, 2], "y": [1.0]}, "column 1 of .* missing"),
        ({"data": [1.0], "indices": [1], "indptr": [0, 1], "shape": [1], "y": [1.0]}, "shape has 1 entries"),
        ({"data": [1.0], "indices": [1], "indptr": [0, 1], "shape": [1, 2], "format": "coo"}, "not csr or csc"),
        ({"X": X, "y": Y * 1j}, "must be numbers, booleans or strings"),
    ],
)
def test_bad_npz(tmp_path, held, message):
    path = tmp_path / "bad.npz"
    np.savez(path, **held)
    with pytest.raises(ValueError, match=message) as caught:
        read_table(path)
    assert str(path) in str(caught.value)


def test_the_target_array_of_an_npz_is_looked_for_by_name(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=X, label=Y)
    assert np.array_equal(read_table(path, target="label").y, Y)
    with pytest.raises(ValueError, match="has no target array 'labels'; did you mean 'label'"):
        read_table(path, target="labels")


@pytest.mark.parametrize("name", ["bad.npz", "bad.parquet", "bad.libsvm", "bad.csv.gz", "bad.svm.gz"])
def test_garbage_is_a_value_error_that_names_the_file(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\x93\x00this is no table: at all\n")
    with pytest.raises(ValueError, match="cannot be") as caught:
        read_table(path)
    assert str(path) in str(caught.value)


def test_truncated_files(tmp_path):
    for name in ("dense.npz", "t.parquet", "t.csv.gz"):
        path = tmp_path / name
        write(path)
        path.write_bytes(path.read_bytes()[:-25])
        with pytest.raises(ValueError, match="cannot be"):
            read_table(path)


def test_libsvm_counts_from_one(tmp_path):
    path = tmp_path / "t.libsvm"
    path.write_text("1 0:2 1:3\n")
    with pytest.raises(ValueError, match="indices start at 0, and LIBSVM counts from 1"):
        read_table(path)
    path.write_text("")
    with pytest.raises(ValueError, match="no rows"):
        read_table(path)
    with pytest.raises(ValueError, match=r"target of .* is its first column"):
        read_table(path, target="y")


def test_missing_file_unknown_suffix_and_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(ValueError, match=r"no known suffix; what can be read: \.csv, .*\.npz"):
        read_table(tmp_path / "t.doc")
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(ValueError, match="is not a file"):
        read_table(tmp_path / "d.csv")


def test_unknown_columns(tmp_path):
    write(tmp_path / "t.csv")
    with pytest.raises(ValueError, match="no column 'aa'; did you mean 'a'"):
        read_table(tmp_path / "t.csv", columns=["c", "aa"])
    with pytest.raises(ValueError, match="no column 'bb' to leave out; did you mean 'b b'"):
        read_table(tmp_path / "t.csv", drop=["bb"])
    np.savez(tmp_path / "t.npz", X=X)
    with pytest.raises(ValueError, match="no column names, so 'a' cannot be left out"):
        read_table(tmp_path / "t.npz", drop=["a"])


@pytest.mark.parametrize(("name", "package"), [("t.csv", "pandas"), ("t.parquet", "pyarrow")])
def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch, name, package):
    write(tmp_path / name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf'needs {package}: pip install "pursuit\[io\]"'):
        read_table(tmp_path / name)
