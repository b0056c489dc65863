"""The report without a browser: what the page says is what the model has."""

import json
import pickle
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pursuit
from pursuit.html.svg import MAX_MARKS, Chart, nice_ticks

HOSTILE = "</script><img src=x onerror=alert(1)>"  # a column of the fixtures is called that
MAX_BYTES = 400_000
MAX_SCRIPT_BYTES = 15_000


def content(page):
    block = re.search(r'<script type="application/json" id="content">(.*?)</script>', page.read_text(), re.S)
    return json.loads(block.group(1))


class Elements(HTMLParser):
    """Every element with its attributes, and a check that all are closed."""

    VOID = ("meta", "input", "br", "img", "link")

    def __init__(self, text):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("which", ["page", "class_page", "additive_page", "additive_class_page"])
def test_one_file_that_asks_for_nothing(which, request):
    page = request.getfixturevalue(which)
    text, elements = page.read_text(), Elements(page.read_text()).found
    assert len(text.encode()) < MAX_BYTES
    assert not [tag for tag, _ in elements if tag in ("img", "link", "iframe", "object", "a")]
    assert not [a for _, attrs in elements for a in attrs if a in ("src", "href", "style") or a.startswith("on")]
    policies = [attrs["content"] for tag, attrs in elements if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1
    assert policies[0].startswith("default-src 'none'")
    assert "unsafe" not in policies[0]
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    assert len(scripts) == 1
    assert len(scripts[0].encode()) <= MAX_SCRIPT_BYTES
    for picture in re.findall(r"<svg.*?</svg>", text, re.S):
        assert 'role="img"' in picture
        assert re.search(r'aria-label="[^"]+"', picture)
        assert len(re.findall(r"<(circle|rect|line|polyline|polygon)", picture)) <= MAX_MARKS


def test_names_are_escaped(page):
    assert HOSTILE not in page.read_text()
    assert HOSTILE in [feature["name"] for feature in content(page)["features"]]


def test_numbers_are_the_model_s(page, regression):
    model, X, y = regression
    contents, summary = content(page), model.summary()
    for feature in contents["features"]:
        i = summary.names.index(feature["name"])
        assert feature["coef"] == pytest.approx(summary.coef[i], rel=1e-6)
        assert feature["drop"] == pytest.approx(summary.drop[i], rel=1e-6)
    assert contents["cv"]["chosen"] == model.k_
    assert contents["held_out"]["own"][0] == pytest.approx(model.held_out_.score, rel=1e-6)
    plain = pursuit.path(pursuit.SparseRegressor().objective(X, y), range(len(contents["path"]["sizes"])))
    for size, result in zip(contents["path"]["sizes"], plain, strict=True):
        assert {name for name, _ in size["features"]} == set(result.names or ())
        assert size["explained"] >= 1 - (result.value - plain.lower) / (plain.null - plain.lower) - 1e-6


def test_held_out_losses_are_those_of_folds(page, regression):
    model, X, y = regression
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    rows = content(page)["held_out"]["rows"]
    error = (cross_val_predict(clone(model), X, y, cv=folds) - y) ** 2
    assert rows[0]["loss"] == pytest.approx(np.mean([error[test].mean() for _, test in folds]), rel=1e-6)
    lasso = make_pipeline(StandardScaler(), LassoCV(cv=5))
    error = (cross_val_predict(lasso, X, y, cv=folds) - y) ** 2
    assert rows[1]["name"] == "lasso"
    assert rows[1]["loss"] == pytest.approx(np.mean([error[test].mean() for _, test in folds]), rel=1e-6)
    assert rows[2]["explained"] == pytest.approx(0, abs=1e-12)


def test_classes(class_page, classification):
    model, _, y = classification
    contents = content(class_page)
    counts = np.array(contents["confusion"]["counts"])
    assert counts.sum(axis=1).tolist() == [(y == label).sum() for label in model.classes_]
    assert contents["confusion"]["accuracy"] == pytest.approx(np.trace(counts) / len(y))
    assert 0.5 < contents["curves"]["area"] <= 1
    assert "multiplies the odds of answer = yes" in contents["words"][0]


def test_several_classes(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    page = pursuit.SparseClassifier(k=2).fit(X, y).report(tmp_path / "iris.html", n_pairs=2)
    contents = content(page)
    assert len(contents["confusion"]["labels"]) == 3
    assert "curves" not in contents
    assert any("l1 model" in sentence for sentence in contents["left_out"])


def test_null_model(tmp_path):
    rng = np.random.default_rng(0)
    model = pursuit.SparseRegressorCV(cv=3, goal="explain").fit(rng.standard_normal((40, 5)), rng.standard_normal(40))
    page = model.report(tmp_path / "null.html", n_pairs=2)
    assert model.k_ == 0
    assert "No feature is used" in page.read_text()


def test_other_losses_weights_and_several_responses(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 5))
    counts = rng.poisson(np.exp(0.5 * X[:, 0]))
    poisson = pursuit.SparseRegressor(k=2, loss="poisson").fit(X, counts, sample_weight=rng.uniform(0.5, 2, 60))
    assert "multiplies the expected y" in content(poisson.report(tmp_path / "counts.html", n_pairs=2))["words"][0]
    both = pursuit.SparseRegressor(k=2).fit(X, np.column_stack([X[:, 0], X[:, 1] - X[:, 0]]) + 0.1)
    assert content(both.report(tmp_path / "both.html", n_pairs=2))["norms"]


def test_data_of_another_model(regression, tmp_path):
    model, X, y = regression
    for other, target, sentence in (
        (X.iloc[:, :3], y, r"X has 3 columns, but the model was fitted on 8"),
        (X.iloc[:50], y[:50], r"X has 50 rows, but the model was fitted on 90"),
        (X + 1.0, y - 3.0, r"the model's loss on X and y is .* but it was"),
        (X.rename(columns={"v0": "w0"}), y, r"X has other column names"),
    ):
        with pytest.raises(ValueError, match=sentence):
            model.report(tmp_path / "other.html", other, target)
    assert not list(tmp_path.iterdir())


def test_a_model_without_data(regression, tmp_path):
    model, X, y = regression
    copy = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match=r"the model no longer refers to its data"):
        copy.report(tmp_path / "model.html")
    with pytest.raises(ValueError, match=r"report needs X and y together, and y is missing"):
        copy.report(tmp_path / "model.html", X)
    contents = content(copy.report(tmp_path / "model.html", X, y, n_pairs=2))
    assert {"held_out", "path", "stability"} <= set(contents)


def test_places_that_cannot_be_written(regression, tmp_path):
    with pytest.raises(ValueError, match=r"path must end in \.html"):
        regression[0].report(tmp_path / "model.txt")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        regression[0].report(tmp_path / "nowhere" / "model.html")


def test_many_columns(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3000))
    model = pursuit.SparseRegressor(k=2).fit(X, X[:, 5] + 0.1 * rng.standard_normal(40))
    page = model.report(tmp_path / "wide.html", n_pairs=2, certificate=False)
    assert page.stat().st_size < MAX_BYTES


def test_graph(tmp_path):
    X = load_iris(return_X_y=True, as_frame=True)[0].rename(columns={"sepal length (cm)": HOSTILE})
    model = pursuit.SparsePrecision(n_edges=3).fit(X)
    text = model.report(tmp_path / "graph.html").read_text()
    assert HOSTILE not in text
    Elements(text)
    assert len(re.findall(r'class="edge', text)) == 3


def test_the_fingerprint_is_that_of_the_model_file(page, regression, tmp_path):
    card = json.loads(pursuit.save_model(regression[0], tmp_path / "model.json").read_text())["card"]
    assert content(page)["reproduction"]["fingerprint"] == card["fingerprint"]


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3e-7, 2e-7), (1e6, 1e6 + 1), (5, 5)])
def test_ticks_lie_inside(low, high):
    ticks = nice_ticks(low, high)
    assert 1 <= len(ticks) <= 12
    assert all(low - 1e-9 * (high - low) <= t <= high + 1e-9 * (high - low) for t in ticks)


def test_a_line_breaks_where_a_value_is_missing():
    chart = Chart((0, 3), (0, 1), "line")
    chart.line(np.arange(4.0), np.array([0, 1, np.nan, 1]), "c0")
    assert len([shape for shape in chart.shapes if "polyline" in shape]) == 2


def luminance(colour):
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", [":root {", ":root.dark {"])
def test_colours_have_the_contrast_of_wcag_aa(theme, page):
    colours = dict(re.findall(r"--(\w+): (#\w{6})", page.read_text().partition(theme)[2].partition("}")[0]))
    for name, colour in colours.items():
        if name in ("paper", "panel", "line"):  # grounds, and lines of the grid, which carry nothing
            continue
        for ground in ("paper", "panel"):
            low, high = sorted((luminance(colour), luminance(colours[ground])))
            assert (high + 0.05) / (low + 0.05) >= (3.0 if name == "pale" else 4.5), (name, ground)  # bars need 3
