"""``pursuit graph``: which columns are joined given all others, as a table, a file and a picture."""

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from pursuit._utils.files import write_text
from pursuit._utils.types import Keywords
from pursuit.cli import INTERRUPTED, NOT_CONVERGED, OK
from pursuit.cli.graph_data import Nodes, read_nodes
from pursuit.cli.show import (
    PICTURE_SUFFIXES,
    REPORT_SUFFIXES,
    check_writable,
    command_line,
    console,
    format_number,
    make_table,
    print_facts,
    print_text,
    save_picture,
)
from pursuit.engines import threads

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from pursuit.estimators.graph.base import GraphModel

FORMAT, VERSION = "pursuit-graph", 1
MAX_PRINTED_EDGES = 20  # edges that are printed; the file holds all
TUNING = ("n_edges", "shrinkage", "l1")


@dataclass(frozen=True, kw_only=True)
class GraphOptions:
    """The options; None is to be chosen."""

    n_edges: int | None
    shrinkage: float | None
    l1: float | None
    cv: int | None
    rule: str | None
    include: Sequence[str]
    exclude: Sequence[str]
    time_limit: float | None
    threads: int | None

    @property
    def has_choice(self) -> bool:
        return any(getattr(self, name) is None for name in TUNING)


def run(
    data: Path,
    options: GraphOptions,
    out: Path | None,
    picture: Path | None,
    report: Path | None,
    *,
    drop: Sequence[str],
    label: str | None,
    most: int | None,
    names: str | None,
) -> int:
    check_writable("--out", out, (".json",))
    check_writable("--picture", picture, PICTURE_SUFFIXES)
    check_writable("--report", report, REPORT_SUFFIXES)
    for option, value in (("--cv", options.cv), ("--rule", options.rule)):
        if value is not None and not options.has_choice:
            raise ValueError(
                f"{option} is for a choice, and --edges, --shrinkage and --l1 leave none; one must be auto"
            )
    nodes = read_nodes(data, drop, label, most, names)
    model = _fit(nodes, options)
    with threads(options.threads):
        edges = _edges(model, nodes.names)  # what each is worth takes a refit per edge
    print_text(f"{nodes.heading}\n")
    _print_edges(edges, out)
    facts = _graph_facts(model, options)
    if out is not None:
        write_text(out, json.dumps(_graph_json(model, nodes, edges, options), indent=1) + "\n")
        facts["graph"] = str(out)
    if picture is not None:
        from pursuit.plots import GraphDisplay

        save_picture(picture, GraphDisplay.from_estimator(model, names=nodes.names))
        facts["picture"] = str(picture)
    if report is not None:
        model.report(report, names=nodes.names, command=command_line())
        facts["report"] = str(report)
    print_facts(facts)
    return {"converged": OK, "interrupted": INTERRUPTED}.get(model.result_.status, NOT_CONVERGED)


def _fit(nodes: Nodes, options: GraphOptions) -> "GraphModel":
    """The fitted estimator: with fixed numbers, or with cross-validation where one is to be chosen."""
    import pursuit

    parameters: dict[str, Any] = {
        "include": nodes.pairs("--include", options.include) or None,
        "exclude": nodes.pairs("--exclude", options.exclude) or None,
        "time_limit": options.time_limit,
        **{name: getattr(options, name) for name in TUNING},
    }
    if not options.has_choice:
        with _status(f"at most {options.n_edges} edges"), threads(options.threads):
            return pursuit.SparsePrecision(**parameters).fit(nodes.X)
    how: Keywords = {name: value for name, value in (("cv", options.cv), ("rule", options.rule)) if value is not None}
    with _status("choosing " + ", ".join(name for name in TUNING if parameters[name] is None)):
        try:
            return pursuit.SparsePrecisionCV(**parameters, **how, n_jobs=options.threads).fit(nodes.X)
        except TimeoutError as error:
            raise ValueError(
                f"--time-limit {options.time_limit:g} was over before every fold was fitted; allow more, fewer --cv, or"
                " fix --edges, --shrinkage or --l1"
            ) from error


def _status(doing: str) -> AbstractContextManager[object]:
    """A line on stderr while it works, for a terminal."""
    screen = console(stderr=True)
    return screen.status(f"{doing} ...") if screen.is_terminal else nullcontext()


class Edge(TypedDict):
    """An edge as JSON holds it."""

    source: str
    target: str
    sign: int
    partial_correlation: float
    precision: float
    gain: float


def _edges(model: "BaseEstimator", names: Sequence[str]) -> list[Edge]:
    """A dict per edge, most gain first."""
    edges = model.edges_
    called = [
        [names[int(end)] if isinstance(end, int | np.integer) else str(end) for end in edges[side]]
        for side in ("source", "target")
    ]
    numbers = (np.asarray(edges[column]).tolist() for column in ("partial_correlation", "precision", "gain"))
    return [
        {
            "source": a,
            "target": b,
            "sign": 1 if partial > 0 else -1,
            "partial_correlation": partial,
            "precision": w,
            "gain": gain,
        }
        for a, b, partial, w, gain in zip(*called, *numbers, strict=True)
    ]


def _print_edges(edges: list[Edge], out: Path | None) -> None:
    edges = sorted(edges, key=lambda edge: -abs(edge["partial_correlation"]))
    rows = [
        (edge["source"], edge["target"], f"{edge['partial_correlation']:.3f}", format_number(edge["gain"]))
        for edge in edges[:MAX_PRINTED_EDGES]
    ]
    if len(edges) > MAX_PRINTED_EDGES:
        rows.append((f"... {len(edges) - MAX_PRINTED_EDGES} more{'' if out is None else f' in {out}'}", "", "", ""))
    if rows:
        sides = {"column": "left", "joined to": "left", "partial correlation": "right", "gain": "right"}
        console().print(make_table(sides, rows))


def _graph_facts(model: "BaseEstimator", options: GraphOptions) -> dict[str, str]:
    """Facts about the graph."""
    alone = int((~model.adjacency_.any(axis=1)).sum())
    facts = {"edges": f"{model.n_edges_}, {alone} column{'s' * (alone != 1)} without"}
    for name in TUNING[1:]:
        value = getattr(model, f"{name}_", getattr(model, name))
        if value or getattr(options, name) is None:
            facts[name] = format_number(value)
    seen = _held_out(model)
    if seen is not None:
        facts["held out"] = "log-likelihood per row {log_likelihood:.5g}, standard error {std_error:.2g}".format(**seen)
    result = model.result_
    facts |= {
        "reason": model.reason_,
        "status": result.status,
        "optimality": str(result.optimality),
        "solver": f"{result.solver}, {result.seconds:.2g} s",
    }
    return facts


def _graph_json(model: "BaseEstimator", nodes: Nodes, edges: list[Edge], options: GraphOptions) -> dict[str, Any]:
    """The graph as JSON holds it: with the nodes' precisions the whole matrix can be built again."""
    diagonal, means = model.precision_.diagonal().tolist(), model.location_.tolist()
    degree = model.adjacency_.sum(axis=1).tolist()
    settings = {name: getattr(model, f"{name}_", getattr(model, name)) for name in TUNING}
    result = model.result_
    return {
        "format": FORMAT,
        "version": VERSION,
        "n_rows": int(nodes.X.shape[0]),
        "nodes": [
            {"name": name, "degree": d, "precision": w, "mean": mean}
            for name, d, w, mean in zip(nodes.names, degree, diagonal, means, strict=True)
        ],
        "edges": edges,
        "settings": {
            **settings,
            "chosen": [name for name in TUNING if getattr(options, name) is None],
            "include": list(options.include),
            "exclude": list(options.exclude),
        },
        "value": float(result.value),
        "status": result.status,
        "reason": model.reason_,
        "optimality": str(result.optimality),
        "held_out": _held_out(model),
    }


def _held_out(model: "BaseEstimator") -> dict[str, float] | None:
    """Of the chosen triple, where rows were held out: the mean log-likelihood of a row."""
    tried = getattr(model, "cv_results_", None)
    if tried is None or model.rule == "ebic":
        return None
    at = np.flatnonzero(np.all([np.asarray(tried[name]) == getattr(model, f"{name}_") for name in TUNING], axis=0))
    if not len(at):
        return None
    at = at[0]
    return {"log_likelihood": float(tried["mean_test_score"][at]), "std_error": float(tried["std_error"][at])}
