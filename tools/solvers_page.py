"""Writes docs/solvers.md from the registry: paper, theorems, options with defaults, what it is good for, measured.

``python tools/solvers_page.py`` writes the page from the code and docs/solvers.json; ``--measure`` runs every solver on
three seeded problems first and writes that file; ``--check`` compares the committed page with what the code says.
"""

import argparse
import dataclasses
import importlib
import inspect
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import pursuit
from pursuit.solvers import base
from pursuit.theory import arht, diht, grahtp, grasp

ROOT = Path(__file__).parents[1]
PAGE, MEASURED = ROOT / "docs" / "solvers.md", ROOT / "docs" / "solvers.json"
SHARED = ("relax", "last")
TURNS = 3  # runs of which the quickest counts

#: What each is good for, and when to take it.
GOOD_FOR = {
    "auto": "Everything: starts, exchanges and restarts, in one kernel call where the data are small. "
    "The default; take another only for a reason.",
    "local_search": "A certificate-like answer at moderate cost: no exchange of one column for another "
    "helps. Take it where `auto` is too eager with time.",
    "grahtp": "Many columns at once, few refits: large k, very wide data, a fast good answer. The backbone of starts.",
    "fgrahtp": "The cheapest iterations (one pass over X, no refits until the end): huge n, matrix-free operators.",
    "grasp": "Strongly correlated signals with enough rows (n above 3k); its iterates may rise and fall.",
    "omp": "Small k and nested supports; the baseline of everything, and the start of the exchange methods.",
    "ompr": "OMP's answer, improved by single exchanges at the price of one refit each.",
    "pht": "Between OMPR (one exchange at a time) and GraHTP (all at once).",
    "arht": "Hard instances where exchanges are trapped: a random regulariser shakes them loose. Slow, "
    "sometimes the best.",
    "foba": "Forward steps that can be taken back; noisy correlated columns at small k.",
    "fbs": "OMP on columns of different scales: atoms of unit curvature, so that units do not decide.",
    "svrght": "Gradients over shares of the rows: very many rows, early approximate answers.",
    "diht": "A lower bound with the solution: needs l2 > 0 and one output. Proves optimality where the dual is tight.",
    "sdiht": "As DIHT, quicker where l2 is small and X is sparse with many rows.",
}
PAPERS = {"GraHTP": grahtp, "GraSP": grasp, "DIHT": diht, "ARHT": arht}
OWN = {  # of no paper
    "auto": "The search of this library, built on the others and on the exact formula for exchanges: "
    "[search.md](search.md).",
}
ALSO = {"pht": "ompr"}  # whose theorems are those of another


def solvers() -> dict[str, type]:
    return dict(base._registry)


def theorems() -> dict[str, list[str]]:
    """The results that are about each solver, as ``pursuit.theorems`` lists them."""
    f = pursuit.GLM(np.eye(6), np.arange(6.0), fit_intercept=False, l2=0.1)
    found: dict[str, list[str]] = {}
    for s in pursuit.theorems(f, 1, target=np.eye(6)[5]):
        found.setdefault(s.solver, []).append(s.citation)
    return found


def options(kind: type) -> list[tuple[str, str, str]]:
    """Option, default and description, from the dataclass and its docstring."""
    words = descriptions(inspect.getdoc(kind) or "")
    rows = []
    for one in dataclasses.fields(kind):
        if one.name in SHARED:
            continue
        default = "required" if one.default is dataclasses.MISSING else repr(one.default)
        rows.append(
            (one.name, default, words.get(one.name, "a seed or generator" if one.name == "random_state" else ""))
        )
    return rows


def descriptions(doc: str) -> dict[str, str]:
    """Of parameters, from a numpydoc section whose entries are ``name, name : text``."""
    body = doc.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    found: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", body):
        names, _, text = entry.partition(" : ")
        text = text.partition("\n")[2] or text  # without the type and the default
        for name in names.split(","):
            found[name.strip()] = " ".join(text.split())
    return found


def citation(kind: type) -> str:
    """The second paragraph of the module's docstring: who published it."""
    doc = inspect.getdoc(importlib.import_module(kind.__module__)) or ""
    parts = [" ".join(part.split()) for part in doc.split("\n\n")]
    return parts[1] if len(parts) > 1 and not parts[1].startswith("|") else parts[0]


def problems() -> dict[str, tuple[Any, int]]:
    """Three problems: squared with correlated columns, logistic with a ridge, wide and hard."""
    rng = np.random.default_rng(5)

    def columns(n: int, p: int, rho: float) -> np.ndarray:
        X = rng.standard_normal((n, p))
        for j in range(1, p):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
        return X

    X = columns(300, 500, 0.6)
    y = X[:, ::50] @ rng.choice([-1.0, 1.0], 10) + rng.standard_normal(300)
    Z = columns(400, 200, 0.5)
    t = (Z[:, ::25] @ rng.choice([-1.5, 1.5], 8) + rng.standard_normal(400) > 0).astype(int)
    W = columns(80, 400, 0.9)
    v = W[:, ::40] @ rng.uniform(0.5, 1.5, 10) + 0.5 * rng.standard_normal(80)
    return {
        "squared, 300 x 500, k = 10": (pursuit.GLM(X, y, l2=1e-3), 10),
        "logistic, 400 x 200, k = 8": (pursuit.GLM(Z, t, "logistic", l2=1e-2), 8),
        "squared, 80 x 400, correlation 0.9, k = 10": (pursuit.GLM(W, v, l2=1e-3), 10),
    }


def measure() -> dict[str, Any]:
    """Excess over the best value, as a share of what the best explains, and processor milliseconds."""
    found: dict[str, Any] = {}
    for title, (f, k) in problems().items():
        runs = {name: timed(f, k, name) for name in solvers()}
        best = min(value for value, _ in runs.values())
        scale = f.null.value - best
        found[title] = {name: [(value - best) / scale, seconds] for name, (value, seconds) in runs.items()}
    return found


def timed(f: Any, k: int, name: str) -> tuple[float, float]:
    best = np.inf
    for _ in range(TURNS):
        f.forget()
        began = time.process_time()
        value = pursuit.solve(f, k, solver=name, random_state=0).value
        best = min(best, time.process_time() - began)
    return value, best


def page(measured: dict[str, Any]) -> str:
    known, results = solvers(), theorems()
    aliases: dict[str, list[str]] = {}
    for alias, name in base._aliases.items():
        aliases.setdefault(name, []).append(alias)
    lines = [
        "# Solvers",
        "Written by `tools/solvers_page.py` from the registry: change the code, not this page. Which "
        "objectives and constraints each takes: "
        "[conformance.md](conformance.md); what the theorems say about your data: [theory.md](theory.md).",
        "## Which one",
        table(["solver", "good for"], [(f"[{name}](#{name})", GOOD_FOR[name]) for name in sorted(known, key=order)]),
    ]
    if measured:
        lines += ["## Measured", MEASURE_WORDS, measured_table(measured)]
    lines += [
        "Every solver also takes `relax` (run at `relax` times k, keep the k largest, refit) and `last` "
        "(give the last point, not the "
        "best).",
    ]
    for name in sorted(known, key=order):
        kind = known[name]
        also = f" (also called {', '.join(f'`{a}`' for a in aliases[name])})" if name in aliases else ""
        about = (inspect.getdoc(kind) or "").splitlines()[0]
        lines += [
            f"## {name}",
            f"`pursuit.{kind.__name__}`{also}: {about}",
            f"**Paper.** {OWN.get(name) or citation(kind)}",
        ]
        own = results.get(name, []) + results.get(ALSO.get(name, ""), [])
        if own:
            lines.append(f"**Theorems.** {', '.join(own)} (`pursuit.theorems`).")
        rows = options(kind)
        if rows:
            lines.append(table(["option", "default", "what it does"], [(f"`{n}`", f"`{d}`", w) for n, d, w in rows]))
    return "\n\n".join(lines) + "\n"


MEASURE_WORDS = (
    "Three seeded problems (columns of an autoregressive process). First number: how far the value is "
    "above the best of all solvers, in per "
    "cent of what the best explains; second: processor milliseconds of one thread, the quickest of three "
    "runs, on a machine that was "
    "shared with other work. `tools/solvers_page.py --measure` measures again."
)


def measured_table(measured: dict[str, Any]) -> str:
    names = sorted(next(iter(measured.values())), key=order)
    rows = []
    for name in names:
        cells = (measured[title][name] for title in measured)
        rows.append((name, *(f"{percent(excess)}, {1e3 * seconds:.3g} ms" for excess, seconds in cells)))
    return table(["solver", *measured], rows)


def percent(excess: float) -> str:
    return f"{100 * excess:.2g}%" if excess > 1e-9 else "0%"


def order(name: str) -> int:
    return list(GOOD_FOR).index(name)


def table(headings: list[str], rows: list[Any]) -> str:
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return "\n".join([*lines, *("| " + " | ".join(str(c).replace("|", "\\|") for c in row) + " |" for row in rows)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--check", action="store_true")
    wanted = parser.parse_args()
    if wanted.measure:
        MEASURED.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    measured = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    text = page(measured)
    if wanted.check:
        return 0 if PAGE.read_text(encoding="utf-8") == text else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
