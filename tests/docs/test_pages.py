"""Every Python block of the user pages runs, and prints what the comment beside it promises."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [
    "index.md",
    "start.md",
    "reading-a-result.md",
    "which-solver.md",
    "migration.md",
    *(f"guide/{path.name}" for path in sorted((DOCS / "guide").glob("*.md")) if path.stem != "index"),
]
PROMISE = re.compile(r"print\(.*?\)  # (\S.*)")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    names: dict = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    printed = " ".join(capsys.readouterr().out.split())
    shown = [line for block in re.findall(r"```text\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    for words in (*PROMISE.findall("".join(blocks)), *shown):
        assert " ".join(words.split()) in printed
    assert printed


def test_a_guide_fits_on_a_screen():
    for path in (DOCS / "guide").glob("*.md"):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        assert len(lines) <= 50, path.name
