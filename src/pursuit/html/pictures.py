"""The report's pictures, from its content: each function gives SVG text."""

from collections.abc import Sequence
from html import escape

import numpy as np

from .._utils.types import Keywords, Vector
from .svg import Chart, name_margin, number, padded, shorten

MAX_PATH_LINES = 30  # features whose line is drawn, those with the largest coefficients
N_COLOURS = 7  # classes c0 .. c6 of the style sheet
ROW_HEIGHT = 22  # pixels a row of names
CURVE_WIDTH, CURVE_HEIGHT = 400, 260  # pixels of the picture of one curve


def path_picture(path: Keywords) -> str:
    """Coefficients per standard deviation (or another measure of features) against the number of features."""
    sizes = path["sizes"]
    ks = np.array([size["k"] for size in sizes], dtype=float)
    lines: dict[str, np.ndarray] = {}
    for i, size in enumerate(sizes):
        for name, coef in size["features"]:
            lines.setdefault(name, np.full(len(sizes), np.nan))[i] = np.nan if coef is None else coef
    shown = sorted(lines, key=lambda name: -np.nanmax(np.abs(lines[name]), initial=0.0))[:MAX_PATH_LINES]
    every = np.concatenate([lines[name] for name in shown]) if shown else np.zeros(1)
    low, high = padded(np.append(every[np.isfinite(every)], 0.0))
    measure = path.get("measure", "per standard deviation")
    title = f"Coefficients {measure}" if "measure" not in path else measure.capitalize()
    chart = Chart(
        (ks.min(), ks.max()),
        (low, high),
        f"{title}, by number of features",
        height=340,
        right=140,
    )
    chart.axes("number of features", measure, whole=True)
    chart.segment((ks.min(), 0.0), (ks.max(), 0.0), "zero")
    places: list[float] = []
    for i, name in enumerate(shown):
        css = f"c{i % N_COLOURS} d{i // N_COLOURS % 3}"
        chart.line(ks, lines[name], css, name)
        for k, coef in zip(ks, lines[name], strict=True):
            if np.isfinite(coef) and len(ks) * len(shown) < 1200:
                chart.point(k, coef, f"f{i % N_COLOURS}", f"{name}, k = {k:.0f}: {number(coef)}", 2.2)
        last = np.flatnonzero(np.isfinite(lines[name]))
        if len(last) and last[-1] == len(ks) - 1 and len(places) < 18:
            at = chart.py(lines[name][-1])
            if all(abs(at - other) > 11 for other in places):
                places.append(at)
                chart.note(
                    ks.max(),
                    lines[name][-1],
                    shorten(name, 18),
                    right=8,
                    down=4,
                    css=f"label t{i % N_COLOURS}",
                    title=name,
                )
    at = float(np.clip(path["chosen"], ks.min(), ks.max()))
    chart.segment((at, low), (at, high), "cursor", "path-cursor")
    return chart.render()


def cv_picture(cv: Keywords) -> str:
    """The held-out loss against the number of features, with the choice."""
    ks, loss, error = np.array(cv["k"], dtype=float), finite(cv["loss"]), finite(cv["error"])
    good = np.isfinite(loss)
    best = float(np.nanmin(loss))
    # the null model is often so bad that the rest of the curve would be flat: it is cut, and a note says so
    rest = loss[good & (ks > 0)] if (ks > 0).any() else loss[good]
    high = float(np.max(rest + np.nan_to_num(error[good & (ks > 0)]))) if len(rest) else best
    chart = Chart(
        (ks.min(), ks.max()),
        padded(np.array([best - np.nanmax(np.nan_to_num(error)), high])),
        "Held-out loss by number of features",
    )
    chart.axes("number of features", f"held-out loss, {cv['folds']} folds", whole=True)
    inside = good & (loss <= chart.y[1])
    chart.line(ks, np.where(inside, loss, np.nan), "c0")
    for k, value, e in zip(ks[inside], loss[inside], np.nan_to_num(error[inside]), strict=True):
        chart.segment((k, max(value - e, chart.y[0])), (k, min(value + e, chart.y[1])), "whisker")
        chart.point(k, value, "f0", f"k = {k:.0f}: {number(value)}, standard error {number(e)}")
    for k, css, words, line in ((cv["one_se"], "mark2", "one standard error", 2), (cv["chosen"], "mark", "chosen", 1)):
        if k is None or not ks.min() <= k <= ks.max() or (css == "mark2" and k == cv["chosen"]):
            continue
        chart.segment((k, chart.y[0]), (k, chart.y[1]), css)
        left = k > ks.mean()
        chart.note(
            k,
            chart.y[1],
            f"{words}: k = {k}",
            right=-6 if left else 6,
            down=14 * line,
            anchor="end" if left else "start",
        )
    if (good & ~inside).any():
        cut = ", ".join(f"k = {k:.0f}" for k in ks[good & ~inside])
        chart.note(ks.min(), chart.y[0] + 0.03 * (chart.y[1] - chart.y[0]), f" above the frame: {cut}", css="tick")
    return chart.render()


def stability_picture(stability: Keywords) -> str:
    """How often halves of the rows select each feature, as bars."""
    rows = stability["rows"]
    names = [row[0] for row in rows]
    chart = Chart(
        (0.0, 1.0),
        (-len(rows) + 0.5, 0.5),
        "How often halves of the rows select each feature",
        height=60 + ROW_HEIGHT * len(rows),
        left=name_margin(names),
    )
    chart.axes("share of half-samples that select it", "", names=names)
    for i, (name, share, chosen) in enumerate(rows):
        chart.bar(
            0.0, share or 0.0, -i, 0.62 * ROW_HEIGHT, "f0" if chosen else "pale", f"{name}: {100 * (share or 0):.0f}%"
        )
    chart.segment((stability["threshold"], chart.y[0]), (stability["threshold"], chart.y[1]), "mark2")
    return chart.render()


def intervals_picture(intervals: Keywords) -> str:
    """Estimates and intervals, a row a feature, each divided by its own standard error."""
    rows = intervals["rows"]
    names = [row[0] for row in rows]
    half = np.array([max(row[3] - row[2], 1e-300) / 2 for row in rows])
    scaled = [np.array([row[1], row[2], row[3]]) / h for row, h in zip(rows, half, strict=True)]
    ends = np.concatenate([*scaled, [0.0]])
    chart = Chart(
        padded(ends),
        (-len(rows) + 0.5, 0.5),
        "Coefficients with their intervals",
        height=60 + ROW_HEIGHT * len(rows),
        left=name_margin(names),
    )
    chart.axes("coefficient in half-widths of its interval", "", names=names)
    chart.segment((0.0, chart.y[0]), (0.0, chart.y[1]), "zero")
    for i, (row, at) in enumerate(zip(rows, scaled, strict=True)):
        chart.segment((at[1], -i), (at[2], -i), "interval")
        chart.point(at[0], -i, "f0", f"{row[0]}: {number(row[1])}, from {number(row[2])} to {number(row[3])}", 4.5)
    return chart.render()


def held_out_picture(held_out: Keywords) -> str:
    """Losses on held-out rows, with standard errors."""
    rows = held_out["rows"]
    names = [row["name"] for row in rows]
    loss, error = finite([row["loss"] for row in rows]), np.nan_to_num(finite([row["error"] for row in rows]))
    chart = Chart(
        (0.0, float(np.max(loss + error)) * 1.05),
        (-len(rows) + 0.5, 0.5),
        f"Held-out {held_out['unit']}",
        height=60 + 28 * len(rows),
        left=name_margin(names),
    )
    chart.axes(f"{held_out['unit']} on held-out rows (lower is better)", "", names=names)
    for i, (value, e) in enumerate(zip(loss, error, strict=True)):
        chart.bar(
            0.0, value, -i, 15, "f0" if i == 0 else "pale", f"{names[i]}: {number(value)}, standard error {number(e)}"
        )
        chart.segment((value - e, -i), (value + e, -i), "whisker")
    return chart.render()


def residual_picture(residuals: Keywords) -> str:
    """Residuals of held-out rows against their predictions."""
    x, y = finite(residuals["predicted"]), finite(residuals["residual"])
    chart = Chart(padded(x), padded(y), "Residuals of held-out rows against predictions")
    chart.axes("held-out prediction", "observed - predicted")
    chart.segment((chart.x[0], 0.0), (chart.x[1], 0.0), "zero")
    for a, b in zip(x, y, strict=True):
        chart.point(a, b, "dot", "", 2.2)
    return chart.render()


def roc_picture(curves: Keywords) -> str:
    """The ROC curve of held-out rows."""
    chart = Chart(
        (0.0, 1.0), (0.0, 1.0), f"ROC curve of held-out rows, area {number(curves['area'])}", width=360, height=320
    )
    chart.axes("false positive rate", "true positive rate")
    chart.segment((0.0, 0.0), (1.0, 1.0), "zero")
    chart.line(finite(curves["false_positive"]), finite(curves["true_positive"]), "c0")
    chart.note(0.96, 0.06, f"area {number(curves['area'])}", anchor="end")
    return chart.render()


def calibration_picture(curves: Keywords) -> str:
    """Observed shares against predicted probabilities of held-out rows."""
    chart = Chart((0.0, 1.0), (0.0, 1.0), "Calibration on held-out rows", width=360, height=320)
    chart.axes("predicted probability", f"share with {curves['positive'][:20]}")
    chart.segment((0.0, 0.0), (1.0, 1.0), "zero")
    predicted, observed = finite(curves["predicted"]), finite(curves["observed"])
    chart.line(predicted, observed, "c0")
    for a, b, count in zip(predicted, observed, curves["counts"], strict=True):
        chart.point(a, b, "f0", f"{count} rows: predicted {number(a)}, observed {number(b)}")
    return chart.render()


def curve_picture(curve: Keywords, measure: str, ends: tuple[float, float], outputs: Sequence[str]) -> str:
    """The curve of one feature, with its band, where rows lie, and the areas beyond them."""
    x, low, high = finite(curve["x"]), curve["low"], curve["high"]
    chart = Chart(
        (x[0], x[-1]),
        padded(np.array(ends)),
        f"What {curve['name']} adds to the {measure}",
        width=CURVE_WIDTH,
        height=CURVE_HEIGHT,
        left=52,
        right=20,
    )
    for side in ((x[0], low), (high, x[-1])):
        chart.area(np.array(side), np.full(2, chart.y[0]), np.full(2, chart.y[1]), "beyond")
    chart.axes(shorten(curve["name"], 36), f"adds to {shorten(measure, 22)}")
    inside = (x >= low) & (x <= high)
    if curve["band"] is not None:
        chart.area(x[1:-1], finite(curve["band"][0]), finite(curve["band"][1]), "band")
    chart.segment((x[0], 0.0), (x[-1], 0.0), "zero")
    lines = [finite(line) for line in curve["y"]] if outputs else [finite(curve["y"])]
    dots = [finite(line) for line in curve["few_y"]] if outputs else [finite(curve["few_y"])]
    for r, y in enumerate(lines):
        css = f"c{r % N_COLOURS} d{r // N_COLOURS % 3}"
        chart.line(x, np.where(inside, y, np.nan), css, outputs[r] if outputs else "")
        for side in (x <= low, x >= high):
            chart.line(*chart.inside(x[side], y[side]), "outside")
        for a, b in zip(curve["few"], dots[r], strict=True):
            chart.point(a, b, f"f{r % N_COLOURS}", f"{curve['name']} = {number(a)}: {number(b)}", 4.0)
    floor = chart.y[0] + 0.025 * (chart.y[1] - chart.y[0])
    for a in curve["rug"]:
        chart.segment((a, chart.y[0]), (a, floor), "rug")
    return chart.render()


def curve_legend(outputs: Sequence[str]) -> str:
    """Which line belongs to which output."""
    items = []
    for r, name in enumerate(outputs):
        css = f"c{r % N_COLOURS} d{r // N_COLOURS % 3}"
        key = (
            f'<svg viewBox="0 0 26 10" aria-hidden="true"><line class="line {css}" x1="0" x2="26" y1="5" y2="5"/></svg>'
        )
        items.append(f"<li>{key}{escape(name)}</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def finite(values: list[float | None]) -> Vector:
    """Numbers of a content, NaN where there is none."""
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)
