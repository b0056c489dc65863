"""The page of a graph: who is joined to whom given all others."""

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from .._utils.types import Keywords
from ..plots._layout import arranged, fitted
from . import page
from .content import json_number
from .svg import Chart, padded, shorten

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

MAX_EDGES = 1500  # edges that are drawn, the strongest
MAX_NAMES = 150  # nodes that are named
MAX_TABLE = 40  # edges in the table


def build_graph_content(
    model: "BaseEstimator", title: str | None, names: Sequence[str] | None, command: str | None
) -> Keywords:
    """Nodes, edges and the choice of their number, as plain data."""
    from .. import __version__

    W = np.asarray(model.precision_, dtype=np.float64)
    known = names if names is not None else getattr(model, "feature_names_in_", None)
    called = [f"x{j}" for j in range(len(W))] if known is None else [str(name) for name in known]
    scale = np.sqrt(W.diagonal())
    partial = -W / scale / scale[:, None]
    np.fill_diagonal(partial, 0.0)
    edges = np.argwhere(np.triu(partial != 0))
    strength = partial[tuple(edges.T)]
    order = np.argsort(-np.abs(strength), kind="stable")
    places = fitted(arranged(np.abs(partial), 1.4), 600.0, 400.0, (26.0, 14.0))
    content = {
        "title": title or f"A graph of {len(W)} columns with {len(edges)} edges",
        "nodes": [[name, json_number(x), json_number(y)] for name, (x, y) in zip(called, places, strict=True)],
        "edges": [[int(edges[i][0]), int(edges[i][1]), json_number(strength[i])] for i in order],
        "reason": str(getattr(model, "reason_", model.result_.reason)),
        "optimality": str(model.result_.optimality),
        "left_out": [],
        "rows": getattr(model, "n_samples_", None),
        "reproduction": {
            "model": " ".join(repr(model).split()),
            "seed": getattr(model, "random_state", None),
            "command": command,
            "versions": {"pursuit": __version__, "Python": platform.python_version(), "NumPy": np.__version__},
            "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "fingerprint": None,
        },
    }
    tried = getattr(model, "cv_results_", None)
    if tried is not None and "mean_test_score" in tried:
        sizes = np.asarray(tried["n_edges"])
        score = np.asarray(tried["mean_test_score"], dtype=float)
        best = [
            int(np.flatnonzero(sizes == k)[np.nanargmax(score[sizes == k])])
            for k in np.unique(sizes)
            if np.isfinite(score[sizes == k]).any()
        ]
        content["cv"] = {
            "k": [int(sizes[i]) for i in best],
            "loss": [json_number(-score[i]) for i in best],
            "error": [json_number(np.asarray(tried["std_error"], dtype=float)[i]) for i in best],
            "chosen": int(model.n_edges_),
            "one_se": None,
            "folds": sum(name.startswith("split") for name in tried),
        }
    return content


def graph_picture(content: Keywords) -> str:
    """Nodes and edges: blue joins values that rise together, dashed orange those that move apart."""
    nodes, edges = content["nodes"], content["edges"][:MAX_EDGES]
    inside = [i for i, (_, x, y) in enumerate(nodes) if x is not None and y is not None]
    if not inside:
        return "<p>No two columns are joined.</p>"
    x, y = ({i: float(nodes[i][axis]) for i in inside} for axis in (1, 2))
    chart = Chart(
        padded(np.array(list(x.values())), 0.12),
        padded(np.array(list(y.values())), 0.06),
        content["title"],
        width=760,
        height=540,
        left=10,
        right=10,
        top=10,
        bottom=10,
    )
    largest = max(abs(edge[2]) for edge in edges) or 1.0
    for a, b, strength in reversed(edges):
        css = "edge" if strength > 0 else "edge negative"
        wide = 0.8 + 4.2 * abs(strength) / largest
        words = escape(f"{nodes[a][0]} - {nodes[b][0]}: partial correlation {strength:.3f}")
        chart.shapes.append(
            f'<line class="{css}" stroke-width="{wide:.1f}" x1="{chart.px(x[a]):.1f}" y1="{chart.py(y[a]):.1f}" '
            f'x2="{chart.px(x[b]):.1f}" y2="{chart.py(y[b]):.1f}"><title>{words}</title></line>'
        )
    degree = np.bincount(np.array([edge[:2] for edge in content["edges"]]).ravel(), minlength=len(nodes))
    named = set(sorted(inside, key=lambda i: -degree[i])[:MAX_NAMES])
    for i in inside:
        chart.point(x[i], y[i], "node", f"{nodes[i][0]}: {degree[i]} edges", 4)
        if i in named:
            chart.note(x[i], y[i], " " + shorten(nodes[i][0], 18), title=nodes[i][0])
    return chart.render()


def _heading(content: Keywords) -> str:
    alone = sum(node[1] is None for node in content["nodes"])
    facts = [("columns", len(content["nodes"])), ("edges", len(content["edges"])), ("columns without an edge", alone)]
    if content["rows"]:
        facts.insert(0, ("rows", content["rows"]))
    cards = "".join(f"<div><dt>{escape(name)}</dt><dd>{value}</dd></div>" for name, value in facts)
    words = "Two columns are joined where they are correlated given all others (a precision matrix with few entries)."
    return (
        f"<header><h1>{escape(content['title'])}</h1><p>{words}</p>"
        f'<dl class="facts">{cards}</dl><p class="soft">{escape(content["reason"])}.</p></header>'
    )


def _graph(content: Keywords) -> str:
    names = [node[0] for node in content["nodes"]]
    rows = [(names[a], names[b], strength) for a, b, strength in content["edges"][:MAX_TABLE]]
    words = "Solid blue: values rise together. Dashed orange: one falls where the other rises. Wide: strong."
    legend = f'<p class="soft">{words}</p>'
    more = len(content["edges"]) - len(rows)
    note = f"<p>{more} weaker edges are not in the table.</p>" if more > 0 else ""
    return page.section(
        "The graph",
        graph_picture(content),
        legend,
        page.table("Edges, the strongest first", ["column", "joined to", "partial correlation"], rows, sortable=True),
        note,
    )


def _caveats(content: Keywords) -> str:
    return page.section(
        "Keep in mind",
        page.bullets(
            [
                "An edge says that two columns are related given the others, not that one causes the other.",
                "Edges were chosen on the rows that estimate them: partial correlations of weak edges are too large.",
                *content["left_out"],
            ]
        ),
    )


def _choice(content: Keywords) -> str:
    from .pictures import cv_picture

    known = content.get("cv")
    if known is None or len(known["k"]) < 2:
        return ""
    return page.section(
        "Why this many",
        cv_picture(known).replace("number of features", "number of edges"),
        page.paragraphs([content["reason"] + "."]),
    )


GRAPH_SECTIONS = (_heading, _graph, _choice, _caveats, page.reproduction)
