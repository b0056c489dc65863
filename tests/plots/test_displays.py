"""Displays hold what they draw, and their names can be read."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from pursuit import GLM, MultiGLM, SparseRegressor, path, stability
from pursuit.plots import CVDisplay, PathDisplay, StabilityDisplay, SupportDisplay
from pursuit.plots._axes import spread

RNG = np.random.default_rng(1)
NAMES = [f"feature {j}" for j in range(15)]
X = pd.DataFrame(RNG.normal(size=(80, 15)) * np.arange(1, 16), columns=NAMES)
Y = (X / np.arange(1, 16)).to_numpy() @ np.r_[3, -2, 1, 0.5, np.zeros(11)] + RNG.normal(size=80)
FITTED = path(GLM(X, Y, standardize=True), range(13))
FOUND = stability(SparseRegressor(k=6), X, Y, n_pairs=5, random_state=0)
CHOSEN = SimpleNamespace(
    k_=3,
    k_1se_=2,
    rule="min",
    sizes_={
        "k": np.array([2, 1, 3]),
        "mean_loss": np.array([1.0, 2.0, 0.9]),
        "std_error": np.full(3, 0.1),
        "split0_loss": np.array([1.1, 2.1, 1.0]),
        "split1_loss": np.array([0.9, 1.9, 0.8]),
    },
)


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def new_axes():
    return Figure().subplots()


def texts(display):
    return [text.get_text() for text in display.names_]


def test_a_path_is_drawn_per_standard_deviation():
    display = PathDisplay.from_path(FITTED, ax=new_axes())
    lines = {line.get_label(): line for line in display.lines_}
    assert set(lines) == {NAMES[j] for j in FITTED.columns}
    strong = lines["feature 0"].get_ydata()
    assert strong[-1] == pytest.approx(FITTED[-1].x[0] * X["feature 0"].std(ddof=0))
    assert display.ax_.get_ylabel() == "coefficient per standard deviation"
    assert display.ax_.figure is display.figure_
    assert display.explained_ax_ is None
    assert 0 < len(display.names_) <= 10
    assert texts(display)[:2] == ["feature 0", "feature 1"]


def test_units_and_scales():
    raw = path(GLM(X, Y), [1, 2])
    assert PathDisplay.from_path(raw, ax=new_axes()).ax_.get_ylabel() == "coefficient in the units of X"
    scaled = PathDisplay.from_path(raw, scale=X.std(ddof=0), ax=new_axes())
    assert scaled.ax_.get_ylabel() == "coefficient per standard deviation"
    assert scaled.along.coefs[-1, 0] == pytest.approx(raw[-1].x[0] * X["feature 0"].std(ddof=0))


def test_a_feature_that_is_out_has_no_line():
    display = FITTED.plot(ax=new_axes())
    late = display.along.columns.tolist().index(3)
    y, inside = display.lines_[late].get_ydata(), display.along.coefs[:, late] != 0
    first = int(np.argmax(inside))
    assert np.isnan(y[: first - 1]).all()
    assert y[first - 1] == 0
    assert np.array_equal(y[inside], display.along.coefs[inside, late])


def test_a_path_on_its_own_has_what_is_explained_below():
    display = FITTED.plot()
    assert display.explained_ax_.lines[0].get_ydata().tolist() == FITTED.explained.tolist()
    assert display.explained_ax_.get_xlabel() == "k, at most so many features"


def boxes(display):
    display.figure_.canvas.draw()
    return [Text.get_window_extent(text) for text in display.names_]  # without the leader


@pytest.mark.parametrize("draw", [lambda: FITTED.plot(), lambda: FOUND.plot(kind="path")])
def test_names_do_not_overlap_and_are_in_the_picture(draw):
    display = draw()
    found = boxes(display)
    height = display.figure_.bbox.height
    for i, box in enumerate(found):
        assert box.x0 > display.ax_.get_window_extent().x1
        assert 0 <= box.y0 < box.y1 <= height
        assert not any(box.overlaps(other) for other in found[:i])


def test_names_are_moved_as_little_as_it_takes():
    assert spread(np.array([0.0, 1.0, 5.0]), 0.5, 0, 10).tolist() == [0.0, 1.0, 5.0]
    assert spread(np.array([5.0, 5.0, 5.0]), 1.0, 0, 10).tolist() == [4.0, 5.0, 6.0]
    assert spread(np.array([9.9, 9.8]), 1.0, 0, 10).tolist() == pytest.approx([10.0, 9.0])
    assert spread(np.array([0.0]), 1.0, 0, 10).tolist() == [0.0]


def test_several_outputs_and_no_features():
    several = path(MultiGLM(X, np.column_stack([Y, -Y]), "squared"), [1, 2])
    display = PathDisplay.from_path(several, ax=new_axes())
    assert display.along.coefs[0].max() == pytest.approx(np.linalg.norm(several[0].coef))
    empty = PathDisplay.from_path(path(GLM(X, Y), [0]), ax=new_axes())
    assert empty.lines_ == []
    assert SupportDisplay.from_path(path(GLM(X, Y), [0]), ax=new_axes()).rows_.tolist() == []


def test_a_heat_map_has_a_cell_for_every_size_and_feature():
    display = SupportDisplay.from_path(FITTED, ax=new_axes())
    cells = np.asarray(display.image_.get_array()).reshape(len(display.rows_), len(FITTED))
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert names[:2] == ["feature 0", "feature 1"]
    for row, name in zip(cells, names, strict=True):
        j = NAMES.index(name)
        assert (np.sign(row) == [np.sign(result.x[j]) for result in FITTED]).all()
    few = SupportDisplay.from_path(FITTED, ax=new_axes(), max_rows=3)
    assert len(few.rows_) == 3
    assert "more features" in few.ax_.get_title("left")
    gaps = SupportDisplay.from_path(path(GLM(X, Y), [1, 4, 9]))
    assert [tick.get_text() for tick in gaps.ax_.get_xticklabels()] == ["1", "4", "9"]


def test_what_was_held_out():
    display = CVDisplay.from_estimator(CHOSEN, ax=new_axes(), folds=True)
    assert display.line_.get_xdata().tolist() == [1, 2, 3]
    assert display.line_.get_ydata().tolist() == [2.0, 1.0, 0.9]
    assert display.band_ is not None
    assert len(display.fold_lines_) == 2
    assert display.ax_.get_ylabel() == "held-out loss"
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words == ["chosen: k = 3", "smallest within one standard error: k = 2"]


def test_scores_and_criteria():
    table = {"k": [1, 2], "mean_score": [0.1, 0.2], "std_error_score": [0.0, np.nan], "mean_loss": [3, 4]}
    display = CVDisplay.from_estimator(SimpleNamespace(k_=2, k_1se_=2, sizes_=table), ax=new_axes())
    assert display.ax_.get_ylabel() == "held-out score"
    assert len(display.ax_.get_legend().get_texts()) == 1
    bic = SimpleNamespace(k_=2, k_1se_=None, rule="bic", sizes_={"k": [1, 2], "bic": [5.0, 4.0]})
    display = CVDisplay.from_estimator(bic, ax=new_axes())
    assert display.ax_.get_ylabel() == "BIC"
    assert display.band_ is None


def test_frequencies_are_drawn_against_k():
    display = StabilityDisplay.from_stability(FOUND, ax=new_axes(), kind="path")
    lines = {line.get_label(): line for line in display.lines_}
    assert set(lines) == {NAMES[j] for j in FOUND.columns}
    for j in FOUND.columns:
        assert lines[NAMES[j]].get_ydata().tolist() == FOUND.frequencies[:, j].tolist()
    assert any(list(line.get_ydata()) == [0.6, 0.6] for line in display.ax_.lines)
    assert len(display.names_) <= 10


def test_frequencies_as_bars():
    display = FOUND.plot(ax=new_axes(), kind="bars")
    widths = [bar.get_width() for bar in display.bars_]
    assert widths == sorted(FOUND.strength.tolist(), reverse=True)[: len(widths)]
    one = stability(SparseRegressor(k=3), X, Y, n_pairs=2, ks=[3], random_state=0)
    assert one.plot(ax=new_axes()).bars_ is not None
    assert FOUND.plot(kind="bars").figure_ is not None


def test_groups_are_drawn_once():
    groups = np.repeat(list("abcde"), 3)
    found = stability(SparseRegressor(k=2, groups=groups), X, Y, n_pairs=2, random_state=0)
    assert {line.get_label() for line in found.plot(ax=new_axes()).lines_} <= set("abcde")


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: PathDisplay.from_path(3), r"path must be a pursuit\.Path"),
        (lambda: PathDisplay.from_path(FITTED, names=["a"], ax=new_axes()), "names has 1 entries, but the path uses"),
        (lambda: CVDisplay.from_estimator(SparseRegressor()), "estimator must be a fitted SparseRegressorCV"),
        (lambda: CVDisplay.from_estimator(SimpleNamespace(k_=1, sizes_={"k": [1]})), "estimator has no held-out"),
        (lambda: StabilityDisplay.from_stability(FITTED), r"found must be a pursuit\.Stability, got Path"),
        (lambda: FOUND.plot(ax=new_axes(), kind="pie"), "kind 'pie' is unknown"),
    ],
)
def test_bad_arguments(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


@pytest.mark.parametrize(
    "draw", [lambda: FITTED.plot(), lambda: FOUND.plot(), lambda: SupportDisplay.from_path(FITTED)]
)
def test_without_matplotlib(monkeypatch, draw):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'drawing needs matplotlib: pip install "pursuit\[plot\]"'):
        draw()
