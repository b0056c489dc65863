"""The notebook runs from the first cell to the last, and shows tables and pictures."""

from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first_model.ipynb"


@pytest.mark.filterwarnings("default")  # warnings of jupyter's own are not ours
def test_the_notebook_runs(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    preprocessors = pytest.importorskip("nbconvert.preprocessors")
    book = nbformat.read(NOTEBOOK, as_version=4)
    preprocessors.ExecutePreprocessor(timeout=120, kernel_name="python3").preprocess(
        book, {"metadata": {"path": str(tmp_path)}}
    )
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    kinds = [kind for output in outputs for kind in output.get("data", {})]
    assert kinds.count("text/html") >= 6
    assert "image/png" in kinds
    assert any("half-samples: " in output.get("text", "") for output in outputs)
    assert (tmp_path / "first_model.html").exists()
