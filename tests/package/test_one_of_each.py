"""What there must be only once in src: a second one is a copy that will drift."""

import ast
from collections import defaultdict
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


COPY = 10  # lines in a row that stand twice


def code_lines(text):
    """Line numbers and lines of code, without docstrings, comments, imports and signatures, as pylint compares them."""
    left_out = set()
    for node in ast.walk(ast.parse(text)):
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if docstring or isinstance(node, ast.Import | ast.ImportFrom):
            left_out.update(range(node.lineno, node.end_lineno + 1))
        elif isinstance(node, ast.FunctionDef):
            left_out.update(range(node.lineno, node.body[0].lineno))
    numbered = ((n, line.partition("  # ")[0].strip()) for n, line in enumerate(text.splitlines(), 1))
    return [(n, line) for n, line in numbered if n not in left_out and line and not line.startswith("#")]


def copies(texts):
    """Places of equal blocks of ``COPY`` lines in these texts, by name."""
    places = defaultdict(list)
    for name, text in texts.items():
        lines = code_lines(text)
        for i in range(len(lines) - COPY + 1):
            places[tuple(line for _, line in lines[i : i + COPY])].append(f"{name}:{lines[i][0]}")
    return [found for found in places.values() if len(found) > 1]


def test_no_block_of_ten_lines_stands_twice():
    assert copies({path.relative_to(SRC).as_posix(): path.read_text() for path in SRC.rglob("*.py")}) == []


def test_the_check_sees_copies():
    block = "\n".join(f"    x{i} = f(x{i})  # {{0}}" for i in range(COPY))
    first, second = (f"import {name}\n\n\ndef {name}():\n{block.format(name)}\n" for name in "ab")
    assert copies({"a": first, "b": second}) == [["a:5", "b:5"]]
    assert copies({"a": first, "b": second.replace("x4", "y")}) == []
    assert copies({"a": first + second}) == [["a:5", "a:19"]]
