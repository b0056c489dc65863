"""Pictures of graphs hold the graphs: every edge with its sign and strength, every name once and legible."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.spatial.distance import squareform

from pursuit import LogDet, SparsePrecision, SparsePrecisionCV, path, stability
from pursuit.plots import CVDisplay, EdgeFrequencyDisplay, EdgePathDisplay, GraphDisplay, SupportDisplay
from pursuit.plots._labels import _inside, _shared
from pursuit.plots._layout import arranged, fitted, parts


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def new_axes():
    return Figure(figsize=(8, 6)).subplots()


def precision(p, edges, seed=0):
    """Some edges of both signs, scaled so that units differ."""
    rng = np.random.default_rng(seed)
    pairs = np.column_stack(np.triu_indices(p, 1))
    W = np.eye(p)
    for i, j in pairs[rng.choice(len(pairs), edges, replace=False)]:
        W[i, j] = W[j, i] = rng.uniform(0.05, 0.5) * rng.choice([-1, 1])
    scale = rng.uniform(0.1, 10, p)
    return W * scale * scale[:, None]


W = precision(20, 24)
PARTIAL = -W / np.sqrt(np.outer(W.diagonal(), W.diagonal()))


def boxes(display):
    display.figure_.canvas.draw()
    return [text.get_window_extent() for text in display.names_]


def test_every_edge_is_drawn_by_sign_and_strength():
    display = GraphDisplay.from_precision(W)
    i, j = display.edges_.T
    assert len(i) == 24
    strength = PARTIAL[i, j]
    assert (np.diff(np.abs(strength)) >= 0).all()  # the strongest on top
    positive, negative = display.lines_
    for lines, sign in ((positive, 1), (negative, -1)):
        mine = np.sign(strength) == sign
        np.testing.assert_allclose(lines.get_segments(), display.places_[display.edges_[mine]])
        assert (np.argsort(lines.get_linewidths(), kind="stable") == np.arange(mine.sum())).all()
    assert (positive.get_edgecolor()[0] != negative.get_edgecolor()[0]).any()
    assert str(positive.get_linestyle()[0]) != str(negative.get_linestyle()[0])  # for those who see no colours
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words[:2] == ["positive", "negative partial correlation"]
    assert words[-1] == f"{np.abs(strength).max():.2f}"


def test_units_do_not_matter():
    a, b = GraphDisplay.from_precision(W), GraphDisplay.from_precision(-PARTIAL)
    np.testing.assert_allclose(a.places_, b.places_, rtol=1e-6)
    np.testing.assert_allclose(a.partial, b.partial)


def test_an_estimator_s_names_and_nodes_without_edges():
    V = W.copy()
    V[3, :3] = V[3, 4:] = V[:3, 3] = V[4:, 3] = 0.0
    names = [f"node {j}" for j in range(20)]
    alone = [names[j] for j in np.flatnonzero(((V != 0).sum(axis=1)) == 1)]
    display = GraphDisplay.from_estimator(SimpleNamespace(precision_=V, feature_names_in_=names), ax=new_axes())
    assert [text.get_text() for text in display.aside_] == alone
    assert {text.get_text() for text in display.names_} == set(names) - set(alone)
    assert np.isnan(display.places_[3]).all()
    renamed = GraphDisplay.from_estimator(SimpleNamespace(precision_=V), names=list("abcdefghijklmnopqrst"))
    assert renamed.aside_[0].get_text() == "abcdefghijklmnopqrst"[names.index(alone[0])]


def test_many_nodes_without_edges_are_counted():
    V = np.eye(300)
    V[0, 1] = V[1, 0] = 0.5
    display = GraphDisplay.from_precision(V)
    said = [text.get_text() for text in display.aside_]
    assert said[-1] == f"and {298 - (len(said) - 1)} more"
    assert GraphDisplay.from_precision(np.eye(4)).edges_.shape == (0, 2)


@pytest.mark.parametrize(("p", "edges"), [(10, 14), (40, 50), (120, 130)])
def test_names_stand_clear_of_each_other(p, edges):
    names = [f"20{j:04}_s_at" for j in range(p)]
    display = GraphDisplay.from_precision(precision(p, edges, seed=p), names=names)
    found = boxes(display)
    page = display.figure_.bbox
    over = sum(a.overlaps(b) for n, a in enumerate(found) for b in found[:n])
    assert over <= 0.05 * len(found)
    for box in found:
        assert page.x0 <= box.x0 + 1
        assert box.x1 - 1 <= page.x1
    places = display.places_[np.isfinite(display.places_[:, 0])]
    apart = np.linalg.norm(places[:, None] - places, axis=2) + 99 * np.eye(len(places))
    assert apart.min() > 6.0  # points


def test_only_the_best_joined_are_named_where_few_may_be():
    display = GraphDisplay.from_precision(W, max_names=3)
    degree = (W != 0).sum(axis=1)
    drawn = [int(text.get_text()[1:]) for text in display.names_]
    assert sorted(degree[drawn]) == sorted(degree)[-3:]


def test_places_can_be_given():
    first = GraphDisplay.from_precision(W)
    fewer = np.where(np.abs(PARTIAL) > 0.2, W, 0.0) + np.diag(W.diagonal() * (np.abs(PARTIAL) <= 0.2).diagonal())
    again = GraphDisplay.from_precision(fewer, places=first.places_)
    joined = np.flatnonzero((fewer != 0).sum(axis=1) > 1)
    a, b = first.places_[joined], again.places_[joined]
    slope = np.ptp(b, axis=0) / np.ptp(a, axis=0)
    np.testing.assert_allclose(b - b.mean(axis=0), (a - a.mean(axis=0)) * slope, atol=1e-6)


def test_parts_are_drawn_apart():
    near = np.zeros((9, 9), dtype=bool)
    for i, j in [(5, 6), (6, 7), (7, 5), (0, 1), (2, 3)]:
        near[i, j] = near[j, i] = True
    assert [part.tolist() for part in parts(near)] == [[5, 6, 7], [0, 1], [2, 3]]
    places = fitted(arranged(near.astype(float), 4 / 3), 400, 300, (10, 10))
    assert np.isnan(places[[4, 8]]).all()
    spans = [(places[part].min(axis=0), places[part].max(axis=0)) for part in parts(near)]
    for n, (low, high) in enumerate(spans):
        for other_low, other_high in spans[:n]:
            assert (high < other_low).any() or (other_high < low).any()
    inside = places[np.isfinite(places[:, 0])]
    assert inside.min() >= -1e-9
    assert (inside.max(axis=0) <= np.array([400, 300]) + 1e-9).all()


def test_a_path_of_nodes_is_drawn_as_a_path():
    near = np.eye(12, k=1, dtype=bool)
    places = arranged((near | near.T).astype(float), 4 / 3)
    order = np.argsort(places[:, 0])
    assert order.tolist() in (list(range(12)), list(range(12))[::-1])


def test_what_a_box_covers():
    low, high = np.array([[0.0, 0.0]]), np.array([[2.0, 1.0]])
    assert _shared(low, high, np.array([[1.0, 0.5], [3.0, 3.0]]), np.array([[9.0, 9.0], [4.0, 4.0]])).tolist() == [
        [0.5, 0]
    ]
    segments = np.array([[[-1.0, 0.5], [5.0, 0.5]], [[0.5, -3.0], [0.5, 0.25]], [[-1.0, 2.0], [5.0, 2.0]]])
    np.testing.assert_allclose(_inside(low, high, segments), [[2.0, 0.25, 0.0]], atol=1e-8)


GRAPHS = [precision(8, 10, seed) for seed in range(5)]


def test_frequencies_of_edges():
    display = EdgeFrequencyDisplay.from_graphs(GRAPHS, truth=GRAPHS[0])
    cells = np.asarray(display.image_.get_array()).reshape(8, 8)
    expected = np.mean([(graph != 0) & ~np.eye(8, dtype=bool) for graph in GRAPHS], axis=0)
    np.testing.assert_allclose(cells, expected)
    np.testing.assert_allclose(display.frequencies, expected)
    marked = {tuple(int(c) for c in at) for at in display.rings_.get_offsets()}
    assert marked == {(int(j), int(i)) for i, j in np.argwhere(GRAPHS[0] - np.diag(GRAPHS[0].diagonal()))}
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == [f"x{j}" for j in range(8)]
    fitted = [SimpleNamespace(adjacency_=graph != 0, feature_names_in_=list("abcdefgh")) for graph in GRAPHS]
    again = EdgeFrequencyDisplay.from_graphs(fitted, order="similar", ax=new_axes())
    shown = np.asarray(again.image_.get_array()).reshape(8, 8)
    np.testing.assert_allclose(shown, expected[np.ix_(again.order_, again.order_)])
    assert [tick.get_text() for tick in again.ax_.get_xticklabels()] == ["abcdefgh"[j] for j in again.order_]


ROWS = np.random.default_rng(7).normal(size=(60, 6)) @ np.linalg.cholesky(np.eye(6) + 0.4 * np.eye(6, k=1) ** 2).T


def test_frequencies_over_half_samples():
    frame = pd.DataFrame(ROWS, columns=list("abcdef"))
    found = stability(SparsePrecision(n_edges=3), frame, n_pairs=4, random_state=0)
    display = EdgeFrequencyDisplay.from_stability(found, k=2, ax=new_axes())
    np.testing.assert_allclose(squareform(display.frequencies), found.frequencies[found.ks.tolist().index(2)])
    assert display.names == list("abcdef")
    assert "k = 2" in display.what
    with pytest.raises(ValueError, match="found has no size k = 9; it has 1, 2, 3"):
        EdgeFrequencyDisplay.from_stability(found, k=9)


def test_a_path_of_graphs():
    S = pd.DataFrame(ROWS, columns=list("abcdef")).cov()
    sizes = path(LogDet(S), range(6))
    display = sizes.plot()
    assert isinstance(display, EdgePathDisplay)
    lines = {line.get_label(): line.get_ydata()[-1] for line in display.lines_}
    W = sizes[-1].x
    for i, j in sizes[-1].support:
        partial = -W[i, j] / np.sqrt(W[i, i] * W[j, j])
        assert lines[f"{'abcdef'[i]} - {'abcdef'[j]}"] == pytest.approx(partial)
    assert display.ax_.get_ylabel() == "partial correlation"
    assert display.explained_ax_.get_xlabel() == "k, at most so many edges"
    np.testing.assert_allclose(display.explained_ax_.lines[0].get_ydata(), sizes[0].value - sizes.values, atol=1e-9)
    renamed = EdgePathDisplay.from_path(sizes, names=list("uvwxyz"), ax=new_axes())
    assert {line.get_label()[0] for line in renamed.lines_} <= set("uvwxyz")
    heat = SupportDisplay.from_path(sizes, ax=new_axes())
    assert heat.ax_.get_ylabel() == "edge"
    with pytest.raises(ValueError, match="names has 2 entries, but the graphs have 6 nodes"):
        EdgePathDisplay.from_path(sizes, names=["a", "b"])


def test_what_was_held_out_for_every_number_of_edges():
    model = SparsePrecisionCV([0, 2, 4], l1=[0.0, 0.1], cv=3).fit(ROWS)
    display = CVDisplay.from_estimator(model, ax=new_axes(), folds=True)
    table = model.cv_results_
    best = [max(s for s, n in zip(table["mean_test_score"], table["n_edges"]) if n == k) for k in (0, 2, 4)]
    assert display.line_.get_xdata().tolist() == [0, 2, 4]
    assert all(drawn <= top + 1e-12 for drawn, top in zip(display.line_.get_ydata(), best))
    assert display.chosen == model.n_edges_
    assert len(display.fold_lines_) == 3
    assert display.ax_.get_xlabel() == "k, at most so many edges"


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (lambda: GraphDisplay.from_precision(W), lambda: EdgeFrequencyDisplay.from_graphs(GRAPHS)):
        with pytest.raises(ImportError, match=r'drawing needs matplotlib: pip install "pursuit\[plot\]"'):
            draw()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: GraphDisplay.from_estimator(3), "estimator must be fitted and have a precision_, got 3"),
        (
            lambda: GraphDisplay.from_precision(np.ones((2, 3))),
            r"square matrix with a positive diagonal, got shape \(2, 3",
        ),
        (lambda: GraphDisplay.from_precision(np.zeros((2, 2))), "positive diagonal"),
        (lambda: GraphDisplay.from_precision(W, names=["a"]), "names has 1 entries, but the graph has 20 nodes"),
        (lambda: GraphDisplay.from_precision(W, places=[[0, 0]]), r"places must have shape \(20, 2\), got \(1, 2\)"),
        (lambda: GraphDisplay.from_precision(W, places=np.full((20, 2), np.nan)), "places must be finite"),
        (lambda: EdgeFrequencyDisplay.from_graphs([]), "graphs is empty"),
        (lambda: EdgeFrequencyDisplay.from_graphs([W, W[:3, :3]]), r"graphs\[1\] has 3 nodes, but graphs\[0\] has 20"),
        (lambda: EdgeFrequencyDisplay.from_graphs([np.triu(W)]), r"graphs\[0\] must be symmetric"),
        (lambda: EdgeFrequencyDisplay.from_graphs(["W"]), r"graphs\[0\] must be a square matrix or a fitted estimator"),
        (lambda: EdgeFrequencyDisplay.from_graphs([W], truth=np.eye(2)), "truth has 2 nodes, but the graphs have 20"),
        (lambda: EdgeFrequencyDisplay.from_graphs([W], names="ab"), "names has 2 entries, but the graphs have 20"),
        (lambda: EdgeFrequencyDisplay.from_graphs([W], order="best"), "order 'best' is unknown"),
        (lambda: EdgeFrequencyDisplay.from_stability(3), r"found must be a pursuit\.Stability of a SparsePrec"),
        (lambda: EdgePathDisplay.from_path(3), r"path must be a pursuit\.Path of graphs"),
    ],
)
def test_bad_arguments(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
