"""docs/conformance.md says what the solvers do: some of its rows are made again."""

import importlib.util
import re
from pathlib import Path

import pytest

import pursuit

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "conformance.md").read_text()


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("conformance_table", ROOT / "tools" / "conformance_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def notes(tool):
    """The footnotes as the page numbers them."""
    known = tool.Notes()
    known.numbers = {sentence: int(number) for number, sentence in re.findall(r"^(\d+)\. `(.*)`$", PAGE, re.M)}
    return known


@pytest.mark.parametrize("solver", ["omp", "grasp", "diht"])
def test_rows_over_objectives(tool, notes, solver):
    assert tool.by_objective(solver, notes) in PAGE.splitlines()


@pytest.mark.parametrize("solver", ["grahtp", "local_search", "sdiht"])
def test_rows_over_constraints(tool, notes, solver):
    assert tool.by_constraint(solver, notes) in PAGE.splitlines()


def test_the_page_names_everyone_and_nobody_breaks_a_promise(tool):
    assert tool.BROKEN not in PAGE
    for solver in pursuit.list_solvers():
        assert PAGE.count(f"\n| {solver} |") == 2
    for name in (*tool.OBJECTIVES, *tool.CONSTRAINTS):
        assert name in PAGE


def test_a_broken_promise_is_seen(tool):
    f = tool.OBJECTIVES["GLM squared"](0.0)
    result = pursuit.solve(f, tool.K, solver="omp")
    assert tool.broken(f, result, {}) == ""
    outside = next(j for j in range(tool.P) if j not in result.support)
    assert tool.broken(f, result, {"include": [outside]}) == "include is not kept"
    assert tool.broken(f, result, {"exclude": [int(result.support[0])]}) == "exclude is not kept"
    assert tool.broken(f, result, {"bounds": (0.0, 1e-3)}) == "bounds are not kept"
    assert tool.broken(f, result, {"sum_to": 50.0}) == "the sum is not kept"
    assert tool.broken(f, pursuit.solve(f, tool.K + 1), {}) == "more than k"
