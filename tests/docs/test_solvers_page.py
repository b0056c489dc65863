"""docs/solvers.md is what the registry says, and every solver has a line about when to take it."""

import importlib.util
import re
from pathlib import Path

import pytest

import pursuit

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("solvers_page", ROOT / "tools" / "solvers_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_registry_says(tool):
    import json

    measured = json.loads(tool.MEASURED.read_text(encoding="utf-8"))
    assert tool.page(measured) == tool.PAGE.read_text(encoding="utf-8"), "run tools/solvers_page.py"


def test_every_solver_and_every_option_is_described(tool):
    assert set(tool.GOOD_FOR) == set(pursuit.list_solvers())
    for name, kind in tool.solvers().items():
        for option, _, words in tool.options(kind):
            assert words, f"{name}: {option}"


def test_the_page_names_no_file_that_is_not_there(tool):
    text = tool.PAGE.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert (ROOT / "docs" / target).exists(), target
    assert "mathematics.md" not in text
