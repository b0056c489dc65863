"""Real files to run the commands on, made once."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file, load_breast_cancer, load_diabetes

from pursuit.cli import main


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X.assign(y=y, town="Rome").to_csv(folder / "diabetes.csv", index=False)
    X.assign(y=y).to_parquet(folder / "diabetes.parquet")
    cancer = load_breast_cancer()
    labels = pd.Series(cancer.target_names[cancer.target])
    pd.DataFrame(cancer.data, columns=cancer.feature_names).assign(kind=labels).to_csv(
        folder / "cancer.csv", index=False
    )
    np.savez(folder / "cancer.npz", X=cancer.data, y=cancer.target)
    dump_svmlight_file(cancer.data, cancer.target, str(folder / "cancer.libsvm"), zero_based=False)
    return folder


@pytest.fixture
def run(files, tmp_path, monkeypatch, capsys):
    """Run a command in the folder of the data; gives the exit code, stdout and stderr."""
    monkeypatch.chdir(files)

    def command(*args):
        code = main([str(arg) for arg in args])
        said = capsys.readouterr()
        return code, said.out, said.err

    return command
