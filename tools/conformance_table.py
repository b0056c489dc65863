"""Writes docs/conformance.md: which solver takes which objective and which constraint, found out by running them all.

``python tools/conformance_table.py`` (or ``make docs-table``) runs every solver on a tiny seeded problem for every
objective and constraint, and checks the promise: budget and sets kept, a finite value that belongs to the coefficients,
a status. ``--check`` compares with the committed page instead of writing it.
"""

import argparse
import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.linalg import aslinearoperator

import pursuit

PAGE = Path(__file__).parents[1] / "docs" / "conformance.md"
N, P, K, RIDGE = 60, 10, 3, 1 / 64
KEPT, BROKEN = "yes", "BROKEN"
GROUPS = np.repeat(["salt", "bread", "oil", "wine", "figs"], 2)
CONSTRAINTS: dict[str, dict[str, Any]] = {
    "at most k": {},
    "include, exclude": {"include": [P - 1], "exclude": [0, 6]},
    "groups": {"groups": GROUPS},
    "groups, include, exclude": {"groups": GROUPS, "include": [4], "exclude": [9]},
    "bounds": {"bounds": (-0.3, 0.4)},
    "sum_to": {"sum_to": 0.5},
    "bounds, sum_to": {"bounds": (0.0, 0.4), "sum_to": 1.0},
}


@cache
def data(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """X and y: real, binary, counts, labels of three classes, or two responses."""
    rng = np.random.default_rng(20)
    X = rng.standard_normal((N, P))
    eta = X[:, [1, 5, 8]] @ [1.2, -0.9, 0.7] + 0.3
    noise = rng.standard_normal(N)
    if kind == "binary":
        return X, (eta + noise > 0).astype(float)
    if kind == "nonnegative":
        return X, rng.poisson(np.exp(0.5 * eta)).astype(float)
    if kind == "classes":
        return X, np.digitize(eta + noise, [-0.7, 0.9])
    if kind == "responses":
        return X, np.column_stack([eta + noise, 0.5 * noise - eta])
    return X, eta + 0.5 * noise


def glm(loss: str, l2: float) -> pursuit.GLM:
    kind = getattr(getattr(pursuit, "".join(part.title() for part in loss.split("_"))), "targets", "real")
    X, y = data(kind)
    return pursuit.GLM(X, y, loss, l2=max(l2, RIDGE if kind == "binary" else 0.0))


def function(l2: float) -> pursuit.Function:
    X, y = data("real")

    def value(x: np.ndarray) -> float:
        return 0.5 * float(np.mean((X @ x - y) ** 2) + l2 * (x @ x))

    return pursuit.Function(value, lambda x: X.T @ (X @ x - y) / N + l2 * x, P)


@cache
def jax(l2: float) -> Any:
    import jax.numpy as jnp

    X, y = data("binary")

    def value(x: Any) -> Any:
        eta = jnp.asarray(X) @ x
        return jnp.mean(jnp.logaddexp(0.0, eta) - y * eta) + 0.5 * max(l2, RIDGE) * x @ x

    return pursuit.from_jax(value, P)


def operator(l2: float) -> pursuit.GLM:
    X, y = data("real")
    return pursuit.GLM(aslinearoperator(X), y, l2=l2)


def quadratic(l2: float) -> pursuit.Quadratic:
    X, y = data("real")
    return pursuit.Quadratic(X.T @ X, X.T @ y, y @ y, N, mean=X.mean(axis=0), ymean=float(y.mean()), l2=l2)


OBJECTIVES: dict[str, Callable[[float], Any]] = {
    **{f"GLM {loss}": (lambda l2, loss=loss: glm(loss, l2)) for loss in pursuit.list_losses()},
    "GLM squared, LinearOperator": operator,
    "Quadratic": quadratic,
    "MultiGLM multinomial": lambda l2: pursuit.MultiGLM(*data("classes"), "multinomial", l2=max(l2, RIDGE)),
    "MultiGLM squared": lambda l2: pursuit.MultiGLM(*data("responses"), "squared", l2=l2),
    "Function": function,
    "JAX": jax,
}


def broken(f: Any, result: pursuit.Result, wanted: dict[str, Any]) -> str:
    """The first promise that a result breaks, or nothing."""
    groups = wanted.get("groups", np.arange(P))
    chosen = np.unique(groups[result.support])
    total, (low, high) = result.coef.sum(), wanted.get("bounds", (-np.inf, np.inf))
    point = result.point
    tests = {
        "more than k": len(chosen) <= K,
        "groups are not whole": np.array_equal(np.flatnonzero(np.isin(groups, chosen)), result.support),
        "include is not kept": set(groups[wanted.get("include", [])]) <= set(chosen),
        "exclude is not kept": not set(groups[wanted.get("exclude", [])]) & set(chosen),
        "not finite": bool(np.isfinite(result.coef).all()) and abs(result.value) < 1e100,
        "bounds are not kept": bool(np.all((result.coef >= low - 1e-9) & (result.coef <= high + 1e-9))),
        "the sum is not kept": "sum_to" not in wanted or abs(total - wanted["sum_to"]) <= 1e-7,
        "the value is another's": np.isclose(
            f.at(point.support, point.coef, point.free).value, result.value, rtol=1e-9, atol=1e-12
        ),
        f"status {result.status}": result.status in ("converged", "max_iter") and " " in result.reason,
    }
    return next((name for name, kept in tests.items() if not kept), "")


@cache
def cell(solver: str, objective: str, constraint: str) -> tuple[str, str]:
    """What happens: kept, kept with a ridge, refused or broken; and the sentence that goes with it."""
    said = ""
    for ridge, word in ((0.0, KEPT), (RIDGE, "l2 > 0")):
        try:
            f = OBJECTIVES[objective](ridge)
            result = pursuit.solve(f, K, solver=solver, max_iter=100, random_state=7, **CONSTRAINTS[constraint])
        except (TypeError, ValueError) as error:
            said = said or f"{type(error).__name__}: {error}"
            continue
        trouble = broken(f, result, CONSTRAINTS[constraint])
        return (f"{BROKEN}: {trouble}", "") if trouble else (word, said)
    return "no", said


class Notes:
    """Footnotes, numbered as they come."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def mark(self, sentence: str) -> str:
        return f"[{self.numbers.setdefault(sentence, len(self.numbers) + 1)}]" if sentence else ""

    def lines(self) -> list[str]:
        return [f"{number}. `{sentence}`" for sentence, number in self.numbers.items()]


def row(name: str, cells: list[list[tuple[str, str, str]]], notes: Notes) -> str:
    """One line: each cell sums up (partner, word, sentence) over the partners on the third axis."""
    texts = []
    for some in cells:
        kinds: dict[str, list[str]] = {}
        for partner, word, _ in some:
            kinds.setdefault(word, []).append(partner)
        parts = [
            word if word == KEPT or len(kinds) == 1 else f"{word}: {', '.join(who)}" for word, who in kinds.items()
        ]
        marks = dict.fromkeys(notes.mark(sentence) for _, _, sentence in some if sentence)
        texts.append(" ".join(["; ".join(parts), *marks]))
    return f"| {' | '.join([name, *texts])} |"


def by_objective(solver: str, notes: Notes) -> str:
    """One solver over all objectives, at most k only."""
    plain = next(iter(CONSTRAINTS))
    return row(solver, [[(o, *cell(solver, o, plain))] for o in available()], notes)


def by_constraint(solver: str, notes: Notes) -> str:
    """One solver over all constraints, on the squared loss."""
    return row(solver, [[(c, *cell(solver, "GLM squared", c))] for c in CONSTRAINTS], notes)


def crossed(objective: str, notes: Notes) -> str:
    """One objective over all constraints, for all solvers at once."""
    return row(objective, [[(s, *cell(s, objective, c)) for s in pursuit.list_solvers()] for c in CONSTRAINTS], notes)


def available() -> list[str]:
    return [name for name in OBJECTIVES if name != "JAX" or importlib.util.find_spec("jax")]


def table(corner: str, columns: list[str], rows: list[str]) -> str:
    head = [corner, *columns]
    return "\n".join([f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *rows])


def page() -> str:
    solvers, notes = list(pursuit.list_solvers()), Notes()
    constraints, objectives = list(CONSTRAINTS), available()
    parts = [
        table("solver", objectives, [by_objective(solver, notes) for solver in solvers]),
        table("solver", constraints, [by_constraint(solver, notes) for solver in solvers]),
        table("objective", constraints, [crossed(objective, notes) for objective in objectives]),
    ]
    runs = len(solvers) * len(objectives) * len(constraints)
    return TEXT.format(runs, *parts, "\n".join(notes.lines()))


TEXT = """# What works with what

Written by `make docs-table`, which runs all {} combinations on tiny seeded problems and checks each result: at most k
units, forced-in and forbidden columns, whole groups, bounds and the sum kept, a finite value that is that of the
coefficients, a status. `yes`: kept. `l2 > 0`: kept with a ridge, and without one the error of the note. `no`: refused,
with the error of the note.

## Solvers and objectives

{}

## Solvers and constraints, on the squared loss

{}

## Objectives and constraints, over all solvers

`yes; no: diht, sdiht` says that all solvers but these two keep the promise.

{}

## Notes

{}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the committed page, write nothing")
    given = parser.parse_args()
    if "JAX" not in available():
        print("JAX is not installed: its column would be missing, so nothing is written", file=sys.stderr)
        return 2
    text = page()
    if given.check:
        same = PAGE.read_text() == text
        print("docs/conformance.md is up to date" if same else "docs/conformance.md differs: make docs-table")
        return int(not same)
    PAGE.write_text(text)
    return int(BROKEN in text)


if __name__ == "__main__":
    sys.exit(main())
