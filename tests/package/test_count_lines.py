"""tools/count_lines.py counts code, and neither comments nor docstrings nor blank lines."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "tools" / "count_lines.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("count_lines", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_python(tool):
    text = '"""One.\n\nTwo."""\n\nimport os  # why\n\n# alone\ndef f(\n    a,\n):\n'
    text += '    """Doc."""\n    b = """x\n# y\n"""\n    return a\n'
    assert tool.python_lines(text) == 8


def test_cpp(tool):
    text = "// one\n\n/* two\nthree */\nint a = 1"
    text += '000; // four\nconst char* url = "http://x"; /* five\n*/ int b;\n  // six\n}\n'
    assert tool.cpp_lines(text) == 4


def test_the_search_leaves_graphs_out(tool):
    assert tool.matches("core/path_search.hpp", tool.SEARCH)
    assert tool.matches("core/graph_search.hpp", tool.NOT_SEARCH)
    assert tool.matches("src/pursuit/solvers/auto.py", tool.ALL)
