"""examples/choose_k.py runs as it stands, and what README.md shows works."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_example(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / "choose_k.py"))["main"](pairs=3)
    said = capsys.readouterr().out
    for words in ("has the least held-out loss", "closest rival", "complementary pairs", "95% intervals"):
        assert words in said
    pictures = sorted(path.name for path in (tmp_path / "example").glob("*.png"))
    assert pictures == ["coefficients.png", "held_out.png", "path.png", "stability.png"]
    assert (tmp_path / "example" / "model.json").exists()


def test_the_readme(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    names = {}
    for block in blocks:
        exec(block, names)
    said = " ".join(capsys.readouterr().out.split())
    promised = re.findall(r"print\(.*?\)  # (\S.*)", "".join(blocks))
    assert len(promised) >= 4
    for words in promised:
        assert words in said
    assert (tmp_path / "model.json").exists()
