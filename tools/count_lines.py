"""Lines of code of the search at two revisions: ``python tools/count_lines.py BASE [HEAD]`` (HEAD unless given).

Blank lines, comments and docstrings do not count. The search is what ``SEARCH`` lists, by patterns that also match
where its parts may move to; tests do not count. Below the files stand all of src/pursuit and core, so that code which
moves out of the search is seen. Files are read with ``git show``: what is not committed takes no part.
"""

import argparse
import ast
import io
import re
import subprocess
import tokenize
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
SEARCH = (
    "src/pursuit/solvers/auto.py",
    "src/pursuit/solvers/multistart.py",
    "src/pursuit/solvers/local_search.py",
    "src/pursuit/solvers/exchanges.py",
    "src/pursuit/solvers/rivals.py",
    "src/pursuit/searched.py",
    "src/pursuit/walked.py",
    "src/pursuit/kernels/*.py",
    "src/pursuit/solvers/walk.py",
    "src/pursuit/solvers/path_*.py",
    "src/pursuit/objectives/kernel_path.py",
    "src/pursuit/objectives/glm_path.py",
    "src/pursuit/objectives/few_columns.py",
    "src/pursuit/objectives/one_column.py",
    "src/pursuit/objectives/working_set.py",
    "src/pursuit/objectives/*search*.py",
    "src/pursuit/data/*gram*.py",
    "src/pursuit/data/*moments*.py",
    "core/*search*",
    "core/*path*",
    "core/*exchange*",
    "core/*screen*",
    "core/*working_set*",
    "core/*moments*",
    "core/*gram*",
    "core/basis_state.*",
    "core/quadratic_state.*",
    "core/*search_state*",
    "core/rough.*",
    "core/rounded.*",
)
NOT_SEARCH = ("core/*graph*", "src/pursuit/kernels/graph*.py", "src/pursuit/kernels/__init__.py")
ALL = ("src/pursuit/*.py", "core/*.hpp", "core/*.cpp")
STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)


def python_lines(text: str) -> int:
    """Lines with code: those of tokens that are neither comments nor docstrings."""
    documented = set[int]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            documented.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - documented)


def cpp_lines(text: str) -> int:
    """Lines that are not blank without their comments."""

    def keep(match: re.Match[str]) -> str:
        found = match.group()
        return "\n" * found.count("\n") if found.startswith(("//", "/*")) else found

    return sum(bool(line.strip()) for line in STRING_OR_COMMENT.sub(keep, text).splitlines())


def git(*command: str) -> str:
    return subprocess.run(["git", *command], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(path, pattern) for pattern in patterns)


def count(revision: str) -> tuple[dict[str, int], dict[str, int]]:
    """Lines of every file of the search, and of everything by language."""
    search, total = dict[str, int](), {"all of src/pursuit (Python)": 0, "all of core (C++)": 0}
    for path in git("ls-tree", "-r", "--name-only", revision, "src/pursuit", "core").splitlines():
        if not matches(path, ALL):
            continue
        text, python = git("show", f"{revision}:{path}"), path.endswith(".py")
        lines = python_lines(text) if python else cpp_lines(text)
        total["all of src/pursuit (Python)" if python else "all of core (C++)"] += lines
        if matches(path, SEARCH) and not matches(path, NOT_SEARCH):
            search[path] = lines
    return search, total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base")
    parser.add_argument("head", nargs="?", default="HEAD")
    args = parser.parse_args()
    (base, base_all), (head, head_all) = count(args.base), count(args.head)
    paths = sorted({*base, *head})
    rows = [(path, base.get(path, 0), head.get(path, 0)) for path in paths]
    for language, ending in (("Python", ".py"), ("C++", "pp")):
        some = [row for row in rows if row[0].endswith(ending)]
        rows.append((f"search, {language}", sum(row[1] for row in some), sum(row[2] for row in some)))
    rows.append(("search", sum(base.values()), sum(head.values())))
    rows += [(name, lines, head_all[name]) for name, lines in base_all.items()]
    print(f"{'lines of code':44} {args.base[:10]:>10} {args.head[:10]:>10} {'change':>8}")
    for name, before, after in rows:
        print(f"{name:44} {before or '-':>10} {after or '-':>10} {after - before:>+8}")


if __name__ == "__main__":
    main()
