"""tools/check_release.py sees what a release lacks."""

import importlib.util
import shutil
from pathlib import Path

import pytest

import pursuit

ROOT = Path(__file__).parents[2]
FILES = [
    "pyproject.toml",
    "experiments/pyproject.toml",
    "src/pursuit/__init__.py",
    "CITATION.cff",
    "recipe/meta.yaml",
    "CHANGELOG.md",
]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("check_release", ROOT / "tools" / "check_release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def release(tmp_path):
    """A checkout with all that a release has."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    version = pursuit.__version__
    for folder in ("dist", "build/site"):
        (tmp_path / folder).mkdir(parents=True)
    for name in (f"pursuit-{version}-any.whl", f"pursuit-{version}.tar.gz", f"pursuit_experiments-{version}-any.whl"):
        (tmp_path / "dist" / name).touch()
    (tmp_path / "build" / "site" / "index.html").touch()
    return tmp_path


def test_a_complete_release(tool, release):
    assert tool.findings(release) == []


@pytest.mark.parametrize("name", FILES[:-1])
def test_another_version_is_seen(tool, release, name):
    path = release / name
    path.write_text(path.read_text().replace(pursuit.__version__, "9.9.9", 1))
    assert any("9.9.9" in sentence for sentence in tool.findings(release))


def test_what_is_missing_is_seen(tool, release):
    changelog = release / "CHANGELOG.md"
    changelog.write_text(changelog.read_text().replace(f"## [{pursuit.__version__}]", "## [9.9.9]"))
    shutil.rmtree(release / "dist")
    shutil.rmtree(release / "build")
    found = "\n".join(tool.findings(release))
    assert all(words in found for words in ("CHANGELOG.md", "make wheel", "make docs"))
