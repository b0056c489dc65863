"""What is drawn is what the numbers say."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from pursuit import GLM, SparseClassifier, SparseRegressor, list_solvers, load_model, save_model, solve
from pursuit.plots import plot_coefficients, plot_scores, plot_trace
from pursuit.plots.trace import AXIS_LABELS

X = np.random.default_rng(3).normal(size=(60, 5))
Y = X[:, 1] - 3 * X[:, 4]
RESULT = SimpleNamespace(support=np.array([1, 4]), coef=np.array([1.0, -3.0]))


def new_axes():
    return Figure().subplots()


def bars(ax):
    """Label and length from top to bottom."""
    return [(tick.get_text(), bar.get_width()) for tick, bar in zip(ax.get_yticklabels(), ax.patches, strict=True)]


def test_bars_are_sorted_by_size_and_named():
    assert bars(plot_coefficients(RESULT, ax=new_axes())) == [("x4", -3.0), ("x1", 1.0)]
    assert bars(plot_coefficients(RESULT, list("abcde"), new_axes())) == [("e", -3.0), ("b", 1.0)]


def test_scale_makes_bars_comparable():
    ax = plot_coefficients(RESULT, ax=new_axes(), scale=[9, 6, 9, 9, 1])
    assert bars(ax) == [("x1", 6.0), ("x4", -3.0)]
    assert "standard deviation" in ax.get_xlabel()


def test_signs_have_their_colours():
    ax = plot_coefficients(RESULT, ax=new_axes())
    down, up = (bar.get_facecolor() for bar in ax.patches)
    assert down != up


def test_estimators_results_and_models_draw_alike(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcde"))
    estimator = SparseRegressor(k=2).fit(frame, Y)
    model = load_model(save_model(estimator, tmp_path / "m.json"))
    drawn = bars(plot_coefficients(estimator.result_, ax=new_axes()))
    assert [name for name, _ in drawn] == ["e", "b"]
    assert [length for _, length in drawn] == pytest.approx([-3.0, 1.0])
    assert bars(plot_coefficients(model, ax=new_axes())) == drawn
    plain = SparseRegressor(k=2, standardize=False).fit(frame, Y)
    assert [length for _, length in bars(plot_coefficients(plain, ax=new_axes()))] == pytest.approx([-3.0, 1.0])
    for held in (estimator.result_, model, plain):
        assert plot_coefficients(held, ax=new_axes()).get_xlabel() == "coefficient in the units of X"
    classifier = SparseClassifier(k=2, l2=0.1).fit(X, Y > 0)
    assert len(bars(plot_coefficients(classifier, ax=new_axes()))) == 2


def test_an_estimator_that_standardised_is_drawn_per_standard_deviation():
    wide = X * [1, 10, 1, 1, 0.1]
    ax = plot_coefficients(SparseRegressor(k=2).fit(wide, Y), ax=new_axes())
    assert [name for name, _ in bars(ax)] == ["x4", "x1"]
    assert [length for _, length in bars(ax)] == pytest.approx([-3 * X[:, 4].std(), X[:, 1].std()])
    assert ax.get_xlabel() == "coefficient per standard deviation"
    bare = plot_coefficients(SparseRegressor(k=2, fit_intercept=False).fit(wide, Y), ax=new_axes())
    assert bars(bare)[0][1] == pytest.approx(-3 * np.sqrt((X[:, 4] ** 2).mean()))
    assert bare.get_xlabel() == "coefficient per root mean square"
    several = plot_coefficients(SparseRegressor(k=2).fit(wide, np.column_stack([Y, 2 * Y])), ax=new_axes())
    assert bars(several)[0] == ("x4", pytest.approx(3 * np.sqrt(5) * X[:, 4].std()))
    assert several.get_xlabel() == "norm of the coefficients per standard deviation"


def test_every_axis_has_a_name():
    run = solve(GLM(X, Y), 2, solver="omp")
    drawn = [plot_coefficients(RESULT, ax=new_axes()), plot_scores([1, 2], {"a": [1, 2]}, ax=new_axes())]
    drawn += [
        plot_trace(run, what=what, against=a, ax=new_axes()) for what in ("distance", "value") for a in AXIS_LABELS
    ]
    for ax in drawn:
        assert ax.get_xlabel()
        assert ax.get_ylabel()


def test_several_outputs_are_drawn_as_norms():
    several = SimpleNamespace(support=np.array([0, 2]), coef=np.array([[1.0, 0.0], [3.0, 4.0]]))
    ax = plot_coefficients(several, ax=new_axes())
    assert bars(ax) == [("x2", 5.0), ("x0", 1.0)]
    assert ax.get_xlabel() == "norm of the coefficients in the units of X"


def test_an_empty_model_is_an_empty_picture():
    empty = SimpleNamespace(support=np.array([], dtype=int), coef=np.array([]))
    assert bars(plot_coefficients(empty, ax=new_axes())) == []


def test_lines_hold_the_scores_and_the_chosen_k():
    ax = plot_scores([1, 2, 5], {"mine": [0.1, 0.2, 0.3], "other": [0, 0, 1]}, chosen=2, ylabel="R2", ax=new_axes())
    lines = {line.get_label(): line for line in ax.lines}
    assert lines["mine"].get_ydata().tolist() == [0.1, 0.2, 0.3]
    assert lines["other"].get_xdata().tolist() == [1, 2, 5]
    assert list(ax.lines[0].get_xdata()) == [2, 2]
    assert ax.get_ylabel() == "R2"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["mine", "other"]


def test_axes_are_made_where_none_are_given(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    import matplotlib.pyplot as plt

    ax = plot_scores([1, 2], {"mine": [1, 2]})
    assert ax.get_legend() is None
    assert plot_coefficients(RESULT) is not ax
    plt.close("all")


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plot_coefficients(3, ax=new_axes()), "must be a fitted estimator, a Result or a Model"),
        (lambda: plot_coefficients(RESULT, ["a"], new_axes()), "names has 1 entries, but the model uses column 4"),
        (lambda: plot_scores([1, 2], {"mine": [1]}, ax=new_axes()), r"scores\['mine'\] has 1 values for 2 ks"),
        (lambda: plot_scores([1, 2], {"mine": [1, 2]}, chosen=3, ax=new_axes()), "chosen is 3"),
    ],
)
def test_bad_arguments(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'needs matplotlib: pip install "pursuit\[plot\]"'):
        plot_coefficients(RESULT)


def heights(line):
    return list(line.get_ydata())


def test_a_trace_is_drawn_as_the_gap_of_dual_methods():
    f = GLM(X, (Y > 0).astype(float), "smoothed_hinge", l2=0.01)
    runs = {name: solve(f, 2, solver=name, random_state=0) for name in ("diht", "sdiht")}
    ax = plot_trace(runs, ax=new_axes())
    assert ax.get_yscale() == "log"
    assert ax.get_ylabel() == "primal-dual gap"
    for line, (name, run) in zip(ax.lines, runs.items(), strict=True):
        assert line.get_label() == name
        assert heights(line) == [record.gap for record in run.trace]
        assert list(line.get_xdata()) == [record.iteration for record in run.trace]
    value = plot_trace(runs["diht"], what="value", against="seconds", ax=new_axes())
    best, lower = value.lines
    assert heights(best) == [record.best for record in runs["diht"].trace]
    assert heights(lower) == [record.lower for record in runs["diht"].trace]


def test_a_trace_without_bounds_is_drawn_as_the_distance_to_the_best():
    noisy = Y + np.random.default_rng(0).normal(size=60)
    runs = {name: solve(GLM(X, noisy), 2, solver=name, max_iter=20) for name in ("iht", "omp", "pht")}
    ax = plot_trace(runs, ax=new_axes())
    assert ax.get_yscale() == "log"
    assert ax.get_ylabel() == "best value so far minus the best of all"
    best = min(run.value for run in runs.values())
    *lines, reached = ax.lines
    bottom = reached.get_ydata()[0]
    for line, run in zip(lines, runs.values(), strict=True):
        for height, record in zip(heights(line), run.trace, strict=True):
            distance = record.best - best
            assert height == (pytest.approx(distance) if distance > 1e-12 * best else bottom)
    drawn = [height for line in lines for height in heights(line)]
    assert min(drawn) == bottom
    assert bottom == pytest.approx(min(height for height in drawn if height > bottom) / 10)
    value = plot_trace(SparseRegressor(k=2, solver="iht").fit(X, Y), what="value", ax=new_axes())
    assert value.get_yscale() == "linear"
    assert value.get_ylabel() == "best value so far"


def test_a_trace_can_be_drawn_on_a_log_axis():
    ax = new_axes()
    ax.set_xscale("log")
    assert plot_trace(solve(GLM(X, Y), 2, solver="omp"), ax=ax) is ax


def test_a_trace_of_one_iteration_can_be_drawn():
    ax = plot_trace(solve(GLM(X, Y), 1, solver="omp"), ax=new_axes())
    assert heights(ax.lines[0]) == [0.0]
    ax.figure.canvas.draw()


def test_every_solver_has_its_own_look():
    runs = {name: solve(GLM(X, Y, l2=0.1), 2, solver=name, max_iter=9, random_state=0) for name in list_solvers()}
    ax = plot_trace(runs, ax=new_axes())
    lines = ax.lines[: len(runs)]
    looks = {(line.get_color(), str(line.get_linestyle()), line.get_marker()) for line in lines}
    assert len(looks) == len(runs) == 14
    assert len({line.get_marker() for line in lines}) == 14
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(runs)
    ax.figure.canvas.draw()


def test_a_gap_of_zero_can_be_drawn():
    run = solve(GLM(X, Y, l2=10.0), 2, solver="diht")
    assert run.trace[-1].gap <= 1e-9
    ax = plot_trace(run, what="gap", ax=new_axes())
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        ({"a": 3}, {}, r"results\['a'\] has no trace"),
        ({}, {}, "results is empty"),
        (RESULT, {}, "results has no trace"),
        (None, {"what": "gap"}, "needs lower bounds"),
        (None, {"what": "gaps"}, "'gap', 'distance' or 'value'"),
        (None, {"against": "time"}, "'iteration' or 'seconds'"),
    ],
)
def test_traces_that_cannot_be_drawn(given, options, said):
    given = solve(GLM(X, Y), 2, solver="omp") if given is None else given
    with pytest.raises(ValueError, match=said):
        plot_trace(given, ax=new_axes(), **options)
