"""The files of the repository's root: versions agree, forms and workflows follow their schemas, targets exist."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pursuit

yaml = pytest.importorskip("yaml")
pytest.importorskip("check_jsonschema")
ROOT = Path(__file__).parents[2]
SCHEMAS = {
    "vendor.github-workflows": sorted((ROOT / ".github" / "workflows").glob("*.yml")),
    "vendor.github-issue-forms": [ROOT / ".github/ISSUE_TEMPLATE/bug.yml", ROOT / ".github/ISSUE_TEMPLATE/feature.yml"],
    "vendor.github-issue-config": [ROOT / ".github/ISSUE_TEMPLATE/config.yml"],
    "vendor.citation-file-format": [ROOT / "CITATION.cff"],
}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_file_follows_its_schema(schema):
    files = SCHEMAS[schema]
    assert files
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_versions_agree():
    def project(path):
        return tomllib.loads((ROOT / path).read_text())["project"]

    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    versions = {project(path)["version"] for path in ("pyproject.toml", "experiments/pyproject.toml")}
    assert versions == {pursuit.__version__} == {cff["version"]}
    assert f"## [{pursuit.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_papers_are_cited():
    from pursuit_experiments.catalogue import PAPERS

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["references"]
    assert len(cited) == len(PAPERS) == 5
    for paper in PAPERS.values():
        first, year = paper.partition(",")[0], re.search(r"\((\d{4})\)", paper)[1]
        assert any(one["authors"][0]["family-names"] == first and str(one["year"]) == year for one in cited), paper


def test_commands_that_files_name_exist():
    """Targets of the Makefile in workflows and in CONTRIBUTING; files that CONTRIBUTING links to."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    texts = [path.read_text() for path in (ROOT / ".github").rglob("*.yml")]
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    call = re.compile(r"^ *(?:- run: |entry: )?(?:exec )?make (?:--\S+ )?([a-z-]+)", re.MULTILINE)
    used = {name for text in (*texts, contributing, (ROOT / ".ci/run").read_text()) for name in call.findall(text)}
    assert {"test", "wheel", "smoke"} <= used <= targets
    for page in (contributing, (ROOT / "README.md").read_text(), (ROOT / "tests/README.md").read_text()):
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page):
            assert (ROOT / link).exists() or (ROOT / "tests" / link).exists(), link


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120
