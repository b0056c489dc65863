"""
On the command line: Parquet in, model and report out
=====================================================

``pursuit fit`` reads a Parquet file, writes a JSON model and an HTML report; ``pursuit predict`` reads new rows.
Exit codes say what happened.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

import pursuit

X, y = load_diabetes(return_X_y=True, as_frame=True)
folder = Path(tempfile.mkdtemp())
X.assign(progression=y).to_parquet(folder / "patients.parquet")


def command(*options):
    """Run pursuit with options in the folder; return exit code and output."""
    call = [sys.executable, "-c", "import sys; from pursuit.cli import main; sys.exit(main())", *options]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


fitted, printed = command(
    "fit", "patients.parquet", "--target", "progression", "-k", "4", "--out", "model.json", "--report", "model.html"
)
print(printed)

# %%
predicted, _ = command("predict", "model.json", "patients.parquet", "--out", "predictions.csv")
wrong, message = command("fit", "patients.parquet", "--target", "progresion")
print(wrong, message)

# %%
# The same model in Python predicts the same numbers.

from_file = pd.read_csv(folder / "predictions.csv").iloc[:, -1].to_numpy()
model = pursuit.load_model(folder / "model.json")
in_python = model.predict(X)
fig, ax = plt.subplots(figsize=(4.2, 3.6), layout="constrained")
ax.plot(in_python, from_file, ".", alpha=0.5)
ax.set_xlabel("predict in Python")
ax.set_ylabel("pursuit predict")

# %%
# **Story 13.** Report and model are written, exit codes tell success from misuse, predictions agree to 1e-10:

assert (fitted, predicted, wrong) == (0, 0, 2)
assert (folder / "model.html").stat().st_size > 10_000
assert np.abs(from_file - in_python).max() < 1e-10 * np.abs(in_python).max()
assert "progression" in message  # the nearest name is offered
