"""What a notebook shows: small tables, escaped, of every result."""

import io
import re

import numpy as np
import pandas as pd
import pytest

import pursuit
from pursuit._utils.progress import Progress

HOSTILE = "<img src=x onerror=alert(1)>"


def data(p=6):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((60, p)), columns=[HOSTILE, *(f"v{j}" for j in range(1, p))])
    return X, np.asarray(X.iloc[:, 0] - X.iloc[:, 1]) + 0.3 * rng.standard_normal(60)


X, Y = data()
F = pursuit.GLM(X, Y)
RESULT = pursuit.solve(F, 2)
MODEL = pursuit.SparseRegressor(k=2)
OBJECTS = {
    "Result": lambda: RESULT,
    "Path": lambda: pursuit.path(F, range(4)),
    "Summary": lambda: pursuit.summary(F, RESULT),
    "Subsets": lambda: pursuit.best_subsets(X, Y, 3),
    "Stability": lambda: pursuit.stability(MODEL, X, Y, n_pairs=3, random_state=0),
    "Intervals": lambda: pursuit.split_intervals(MODEL, X, Y, random_state=0),
    "Certificate": lambda: pursuit.certify(F, RESULT, time_limit=1),
    "Curvature": lambda: pursuit.curvature(F, 2),
    "Explanation": lambda: MODEL.fit(X, Y).explain(X.iloc[:1]),
    "several responses": lambda: pursuit.solve(pursuit.GLM(X, np.column_stack([Y, -Y])), 2),
    "graph": lambda: pursuit.solve(pursuit.LogDet(np.corrcoef(X.T)), 2),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_tables_are_small_and_escaped(name):
    html = OBJECTS[name]()._repr_html_()
    assert html.startswith("<table>")
    assert "<img" not in html
    assert "array(" not in html
    assert len(html) < 20_000
    assert len(re.findall("<tr>", html)) >= 2


def test_numbers_of_a_result():
    html = RESULT._repr_html_()
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert f"{RESULT.coef[0]:.4g}" in html


def test_contributions_add_up():
    explanation = MODEL.fit(X, Y).explain(X.iloc[3:4])
    assert explanation.contributions.sum() + explanation.intercept == pytest.approx(
        MODEL.predict(X.iloc[3:4])[0], rel=1e-12
    )
    assert "sum" in str(explanation)
    with pytest.raises(ValueError, match="row must be one row, got 2"):
        MODEL.explain(X.iloc[:2])


def test_displays_print_their_name():
    pytest.importorskip("matplotlib").use("Agg")
    display = pursuit.path(F, range(1, 3)).plot()
    assert repr(display) == "PathDisplay()"


def test_a_log_gets_a_line_for_each_twentieth():
    log = io.StringIO()
    bar = Progress("folds", 40, file=log, lines=True)
    for done in range(1, 41):
        bar(done, 40)
    lines = log.getvalue().splitlines()
    assert 20 <= len(lines) <= 21
    assert lines[-1] == "folds: 40 of 40"
    quiet = io.StringIO()
    Progress("folds", 2, file=quiet)(1, 2)
    assert quiet.getvalue() == ""


@pytest.mark.parametrize(
    ("what", "call"),
    [
        ("iterations", lambda: pursuit.solve(F, 2, callback=True)),
        ("sizes", lambda: pursuit.path(F, [1, 2], callback=True)),
        ("folds", lambda: pursuit.SparseRegressorCV(cv=2).fit(X, Y, callback=True)),
        ("sizes", lambda: pursuit.best_subsets(X, Y, 2, progress=True)),
        ("resamples", lambda: pursuit.bootstrap_intervals(MODEL, X, Y, n_boot=4, progress=True)),
        ("half-samples", lambda: pursuit.stability(MODEL, X, Y, n_pairs=2, callback=True)),
    ],
)
def test_long_calls_show_progress(what, call, capsys):
    call()
    assert f"{what}: " in capsys.readouterr().err
