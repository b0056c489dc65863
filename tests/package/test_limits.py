"""Sizes that grow unnoticed: long files, modules at the top, layers of imports, ``Any``, hand formatting."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "pursuit"
PYTHON = sorted(SRC.rglob("*.py"))


def count(pattern, files):
    return sum(len(re.findall(pattern, path.read_text())) for path in files)


def test_no_file_has_more_than_500_lines():
    folders = ("src", "core", "tests", "benchmarks", "experiments", "examples", "tools")
    files = [path for folder in folders for kind in ("*.py", "*.hpp", "*.cpp") for path in (ROOT / folder).rglob(kind)]
    assert len(files) > 500
    assert {path.name for path in files if len(path.read_text().splitlines()) > 500} == set()


def test_few_modules_at_the_top():
    assert len([path for path in SRC.glob("*.py") if path.name != "__init__.py"]) <= 6


def test_few_layers_of_imports():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    (contract,) = settings["importlinter"]["contracts"]
    assert contract["type"] == "layers"
    assert len(contract["layers"]) <= 18
    assert settings["mypy"]["warn_unused_ignores"]


def test_few_types_say_nothing():
    assert 0 < count(r"\bAny\b", PYTHON) < 500


def test_the_formatter_has_its_way():
    files = [
        path
        for folder in ("src", "tests", "benchmarks", "experiments", "tools")
        for path in (ROOT / folder).rglob("*.py")
    ]
    assert count(r"# fmt: (skip|off)", files) < 20
