"""What docs/paths.md shows is so."""

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "paths.md").read_text()


def test_the_examples(capsys):
    names: dict = {}
    for code in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        for line in code.splitlines():
            shown, _, said = line.partition("  # ")
            if not said:
                exec(line, names)
                continue
            got = eval(shown, names)
            said = eval(said.partition(":")[0])
            assert got == (pytest.approx(said, abs=0.005) if isinstance(said, float) else said), line
    assert names["proofs"].at(10).status == "proved"
    assert "proved" in capsys.readouterr().out
