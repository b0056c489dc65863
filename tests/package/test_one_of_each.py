"""What there must be only once in src: a second one is a copy that will drift."""

from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "pursuit"


def files_with(word):
    return {path.relative_to(SRC).as_posix() for path in SRC.rglob("*.py") if word in path.read_text()}


def test_one_module_opens_parquet():
    assert files_with("pyarrow.parquet") == {"_utils/parquet.py"}


def test_one_module_has_the_rounding_of_doubles():
    assert files_with("finfo(float).eps") == {"_utils/rounding.py"}


def test_one_sentence_about_a_time_limit_that_was_over():
    assert {path for path in files_with("was over before") if not path.startswith("cli/")} == {"engines/deadline.py"}
