"""Check that a release is complete: versions agree, the changelog has an entry, the wheels and the site are built.

    make release-check          # after make wheel and make docs, which it runs

Nothing is uploaded. Exit code 1 and one line per finding.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def versions(root: Path) -> dict[str, str]:
    """The version that each file states."""
    patterns = {
        "src/pursuit/__init__.py": r'__version__ = "([^"]+)"',
        "CITATION.cff": r'^version: "?([^"\s]+)"?',
        "recipe/meta.yaml": r'set version = "([^"]+)"',
    }
    found = {"pyproject.toml": "", "experiments/pyproject.toml": ""}
    for name in found:
        found[name] = tomllib.loads((root / name).read_text(encoding="utf-8"))["project"]["version"]
    for name, pattern in patterns.items():
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        found[name] = match[1] if match else "none"
    return found


def findings(root: Path) -> list[str]:
    """One sentence for each thing that a release lacks."""
    stated = versions(root)
    version = stated["pyproject.toml"]
    found = [f"{name} has version {one}, pyproject.toml {version}" for name, one in stated.items() if one != version]
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    entry = re.search(rf"^## \[{re.escape(version)}\](.*?)(?=^## \[|\Z)", changelog, re.MULTILINE | re.DOTALL)
    if entry is None or "- " not in entry[1]:
        found.append(f"CHANGELOG.md has no entry for {version}")
    patterns = (f"pursuit-{version}-*.whl", f"pursuit-{version}.tar.gz", f"pursuit_experiments-{version}-*.whl")
    missing = [pattern for pattern in patterns if not list((root / "dist").glob(pattern))]
    found += [f"dist/ has no {pattern}: run make wheel" for pattern in missing]
    if not (root / "build" / "site" / "index.html").is_file():
        found.append("build/site has no index.html: run make docs")
    return found


def main(root: Path = ROOT) -> int:
    found = findings(root)
    for sentence in found:
        print(sentence, file=sys.stderr)
    if not found:
        print(f"pursuit {versions(root)['pyproject.toml']}: versions, changelog, distributions and site are complete")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
