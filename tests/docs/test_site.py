"""The site: every public name on one API page, every story with its example, and a checker that sees broken links."""

import ast
import importlib.util
import re
from collections import Counter
from pathlib import Path

import pytest

import pursuit
from pursuit import plots

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "examples" / "gallery"
EXAMPLES = sorted(GALLERY.rglob("plot_*.py"))


@pytest.fixture(scope="module")
def checker():
    spec = importlib.util.spec_from_file_location("check_site", ROOT / "tools" / "check_site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def listed():
    """The names of every autosummary on the API pages, with the module that the page sets."""
    names = Counter()
    for page in sorted((ROOT / "docs" / "api").glob("*.md")):
        for block in re.findall(r"```\{eval-rst\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            module = re.search(r"currentmodule:: (\S+)", block)[1]
            body = block.partition("autosummary::")[2]
            names.update(f"{module}.{name}" for name in re.findall(r"^   (\w+)$", body, re.MULTILINE))
    return names


def test_every_public_name_is_on_exactly_one_api_page():
    public = {f"pursuit.{name}" for name in pursuit.__all__ if name != "__version__"}
    public |= {f"pursuit.plots.{name}" for name in plots.__all__}
    names = listed()
    assert set(names) == public
    assert [name for name, count in names.items() if count > 1] == []
    assert "pursuit.__version__" in (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8")


def test_no_two_api_pages_have_file_names_that_differ_by_case_only():
    spec = importlib.util.spec_from_file_location("conf", ROOT / "docs" / "conf.py")
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    files = Counter(conf.autosummary_filename_map.get(name, name).lower() for name in listed())
    assert [name for name, count in files.items() if count > 1] == []


def test_every_page_is_in_one_table_of_contents():
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).with_suffix("").as_posix() for path in docs.rglob("*.md")}
    pages = {page for page in pages if not page.startswith(("gallery/", "api/generated/", "adr/0"))}
    reached = Counter()
    for path in docs.rglob("*.md"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            for entry in block.splitlines():
                if entry and not entry.startswith(":") and "*" not in entry:
                    target = (path.parent / entry).resolve().relative_to(docs.resolve())
                    reached[target.as_posix()] += 1
    assert pages - set(reached) == {"index"}
    assert max(reached.values()) == 1


def test_every_story_has_its_example():
    text = (ROOT / "docs" / "stories.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \|.*\(gallery/(stories/plot_\w+)\.rst\) \|$", text, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 16))
    for number, name in rows:
        source = (GALLERY / f"{name}.py").read_text(encoding="utf-8")
        assert f"# **Story {number}.**" in source
        heading = source.partition(f"# **Story {number}.**")[0].count("\n")
        asserts = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert)]
        assert any(node.lineno > heading for node in asserts)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_and_a_picture(path):
    source = path.read_text(encoding="utf-8")
    title, line = ast.get_docstring(ast.parse(source)).splitlines()[:2]
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert re.search(r"plt\.|Display|plot_|\.plot\(", source)


def test_the_checker_sees_broken_links(checker, tmp_path):
    (tmp_path / "other.html").write_text('<h1 id="top">x</h1>')
    good = '<a href="other.html#top">a</a> <a href="#here" id="here">b</a> <a href="https://example.org">c</a>'
    (tmp_path / "index.html").write_text(good)
    assert checker.findings(tmp_path) == []
    bad = (
        '<a href="none.html">a</a> <a href="other.html#none">b</a> <script src="https://cdn.example.org/x.js"></script>'
    )
    (tmp_path / "index.html").write_text(bad)
    found = checker.findings(tmp_path)
    assert len(found) == 3
    assert [part in "".join(found) for part in ("none.html", "other.html#none", "another host")] == [True] * 3


def test_the_checker_refuses_an_empty_site(checker, tmp_path):
    assert "has no pages" in checker.findings(tmp_path)[0]
