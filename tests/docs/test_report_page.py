"""What docs/report.md shows is what is printed."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "report.md"


def test_the_examples():
    text = PAGE.read_text().replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, "report.md", str(PAGE), 0)
    assert len(test.examples) > 8
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
