"""The HTML of a report: sections around pictures and tables, one style sheet, one script, one block of JSON."""

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import TypeAlias

from .._utils.text import format_number
from .._utils.types import Keywords
from . import pictures

Cell: TypeAlias = str | float | None  # of a table

CAVEATS = (
    "The features were chosen on the same rows that estimate their coefficients: among {sets} sets of columns this one"
    " fits best, so p-values that take the choice as given are too small.",
    "A coefficient says what goes together in these data, not what would happen if a feature were changed.",
)


def render(content: Keywords, sections: Sequence[Callable[[Keywords], str]]) -> str:
    """A whole page. Nothing in it asks the network: the policy forbids every request."""
    style, script = (files(__package__).joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    sources = f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    policy = f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"
    body = "\n".join(part for part in (section(content) for section in sections) if part)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(content['title'])}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<button id="theme" type="button" class="needs-script">Dark</button>\n<main>\n{body}\n</main>\n'
        f'<script type="application/json" id="content">{_json(content)}</script>\n<script>{script}</script>\n'
        "</body>\n</html>\n"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def _json(content: Keywords) -> str:
    """JSON that cannot end the element that holds it."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def paragraphs(sentences: Iterable[str]) -> str:
    """A paragraph each."""
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences if sentence)


def bullets(sentences: Sequence[str]) -> str:
    """A list."""
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>" if sentences else ""


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[Cell]], sortable: bool = False) -> str:
    """A table; numbers are rounded for the eye and sorted by their value."""
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    css = ' class="sortable"' if sortable else ""
    return (
        f'<div class="wide"><table{css}><caption><span>{escape(caption)}</span></caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(value: Cell) -> str:
    if isinstance(value, str):
        return f'<td class="name">{escape(value)}</td>'
    if value is None:
        return '<td data-value="-1e308"></td>'
    shown = str(value) if isinstance(value, int) else format_number(value)
    return f'<td data-value="{value}">{shown}</td>'


def section(heading: str, *parts: str) -> str:
    """A section with its heading."""
    return f"<section>\n<h2>{escape(heading)}</h2>\n" + "\n".join(part for part in parts if part) + "\n</section>"


def heading(content: Keywords) -> str:
    """Title, the question, and the answer in a few numbers."""
    question = content["question"]
    facts = [("rows", question["rows"]), ("columns", question["columns"]), ("features chosen", question["features"])]
    known = content.get("held_out", {})
    model = next(iter(known.get("rows", [])), None)
    if known.get("own") is not None:
        facts.append((f"{known['own'][1]} on held-out rows", f"{known['own'][0]:.3f}"))
    elif model is not None and model["explained"] is not None:
        facts.append((f"{content['held_out']['share']} on held-out rows", f"{model['explained']:.3f}"))
    elif content["in_sample"] is not None:
        facts.append((f"{content['in_sample'][0]} on these rows", f"{content['in_sample'][1]:.3f}"))
    if content.get("certificate", {}).get("status") == "proved":
        facts.append(("best set of this size", "proved"))
    cards = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(str(value))}</dd></div>" for name, value in facts)
    words = f"The question: {question['task']} with {question['how']} ({question['loss']} loss)."
    return (
        f"<header><h1>{escape(content['title'])}</h1>{paragraphs([words])}"
        f'<dl class="facts">{cards}</dl><p class="soft">{escape(question["reason"])}.</p></header>'
    )


def features(content: Keywords) -> str:
    """The chosen features: words, then numbers."""
    rows, unit = content["features"], content["unit"]
    if not rows:
        return section("The model", "<p>No feature is used: the model without features predicts best.</p>")
    lost = f"{unit} lost if dropped" if unit in ("R2", "D2") else "objective gained if dropped"
    with_rival = f"{unit} lost with it" if unit in ("R2", "D2") else "objective gained with it"
    size = "norm of coefficients" if content["norms"] else "per unit"
    cells = [(r["name"], r["coef"], r["per_sd"], r["drop"], r["rival"], r["rival_cost"]) for r in rows]
    free = ", ".join(format_number(v) for v in content["intercept"] if v is not None)
    return section(
        "The model",
        bullets(content["words"]),
        table(
            f"Chosen features, the largest effects first. Intercept {free}.",
            ["feature", size, "per standard deviation", lost, "closest rival", with_rival],
            cells,
            sortable=True,
        ),
        paragraphs(content["notes"]),
    )


def held_out(content: Keywords) -> str:
    """Losses on rows that the models did not see."""
    known = content.get("held_out")
    if known is None:
        return ""
    share = known["share"]
    headings = [
        "model",
        "features",
        known["unit"],
        "standard error",
        *([share] if share else []),
        "difference to pursuit",
        "its standard error",
    ]
    rows = [
        (
            r["name"],
            r["features"],
            r["loss"],
            r["error"],
            *([r["explained"]] if share else []),
            *(r["difference"] or (None, None)),
        )
        for r in known["rows"]
    ]
    own = known["own"]
    words = (
        []
        if own is None
        else [
            f"On the rows that its {own[3]} folds left out the model has {own[1]} {own[0]:.4f}"
            f" (standard error {own[2]:.4f})."
            " Its number of features was chosen on the same folds. Below, the choice was made anew in every fold."
        ]
    )
    names = [row["name"] for row in known["rows"]]
    return section(
        "How well it predicts",
        paragraphs(words),
        pictures.held_out_picture(known),
        table(f"{known['folds']}-fold cross-validation; the features are chosen anew in every fold.", headings, rows),
        f'<p class="soft">{escape(_how_compared(names))}</p>',
    )


def _how_compared(names: Sequence[str]) -> str:
    """What was chosen without the rows that are held out, and what was not."""
    words = ["In every fold the features were chosen without the rows that are held out."]
    if any("plain fit" in name for name in names):
        words.append("The number of features is that of the whole, which flatters a little.")
    if any("these folds" in name for name in names):
        words.append("The lasso's penalty was chosen on these folds, which flatters it a little.")
    elif len(names) > 2:
        words.append("So was the penalty of the l1 model.")
    return " ".join(words)


def path(content: Keywords) -> str:
    """Every size, with a slider."""
    known = content.get("path")
    if known is None:
        return ""
    sizes = known["sizes"]
    at = next((i for i, size in enumerate(sizes) if size["k"] == known["chosen"]), len(sizes) - 1)
    rows = [
        (
            size["k"],
            size["explained"],
            ", ".join(name for name, _ in size["features"][:12]) + (", ..." if len(size["features"]) > 12 else ""),
        )
        for size in sizes
    ]
    unit = known["unit"] if known["unit"] in ("R2", "D2") else "explained"
    return section(
        "Every number of features",
        "<p>The best model of each size. Move the slider to see its features.</p>",
        pictures.path_picture(known),
        f'<div class="slider needs-script"><label for="size">number of features</label>'
        f'<input id="size" type="range" min="0" max="{len(sizes) - 1}" value="{at}" step="1"></div>'
        '<p id="size-words" class="lead" aria-live="polite"></p>'
        '<div class="wide"><table><caption>Features of this size, the largest first</caption>'
        f'<thead><tr><th scope="col">feature</th><th scope="col">{escape(_measure(known))}</th></tr></thead>'
        '<tbody id="size-features">'
        + "".join(f"<tr>{_cell(name)}{_cell(coef)}</tr>" for name, coef in sizes[at]["features"])
        + "</tbody></table></div>",
        "<details><summary>All sizes as a table</summary>"
        + table("Best model of each size", ["features", f"{unit} on these rows", "which"], rows)
        + "</details>",
    )


def _measure(known: Keywords) -> str:
    """What the sizes of features on the path are."""
    return str(known.get("measure", "per standard deviation"))


def cross_validation(content: Keywords) -> str:
    """The curve that chose the size."""
    known = content.get("cv")
    if known is None:
        return ""
    return section("Why this many", pictures.cv_picture(known), paragraphs([content["question"]["reason"] + "."]))


def stability(content: Keywords) -> str:
    """Would other rows choose the same?"""
    known = content.get("stability")
    if known is None:
        return ""
    stable = ", ".join(known["stable"]) or "none"
    words = (
        f"Features were selected anew on {2 * known['pairs']} random halves of the rows"
        f" (up to {known['largest']} features). "
        f"Selected in at least {100 * known['threshold']:.0f}% of them: {stable}."
    )
    return section(
        "Would other rows choose the same?",
        pictures.stability_picture(known),
        paragraphs([words]),
        '<p class="soft">Blue bars are the features of this model, grey bars others.</p>',
    )


def intervals(content: Keywords) -> str:
    """Intervals on rows that did not select."""
    known = content.get("intervals")
    if known is None or not known["rows"]:
        return ""
    rows = [tuple(row) for row in known["rows"]]
    return section(
        "How large are the effects?",
        pictures.intervals_picture(known),
        table(f"{100 * known['level']:.0f}% intervals", ["feature", "coefficient", "low", "high", "p-value"], rows),
        paragraphs(known["notes"]),
        '<p class="soft">One half of the rows chose these features, the other half estimated them: the list may differ'
        " from the model's, which all rows chose.</p>",
    )


def optimality(content: Keywords) -> str:
    """How good the choice is, and what could replace it."""
    return section("Is there a better set?", paragraphs(content["optimality"]), bullets(content["rivals"]))


def diagnostics(content: Keywords) -> str:
    """Residuals, or ROC, calibration and confusion, of held-out rows."""
    if "residuals" in content:
        known = content["residuals"]
        some = len(known["predicted"])
        note = f"<p class='soft'>{some} of {known['of']} rows are drawn.</p>" if some < known["of"] else ""
        return section("Where it is wrong", pictures.residual_picture(known), note)
    if "confusion" not in content:
        return ""
    parts = []
    if "curves" in content:
        curves = content["curves"]
        parts.append(f'<div class="pair">{pictures.roc_picture(curves)}{pictures.calibration_picture(curves)}</div>')
    known = content["confusion"]
    rows: list[tuple[Cell, ...]] = [
        (f"is {label}", *map(float, counts)) for label, counts in zip(known["labels"], known["counts"], strict=True)
    ]
    words = (
        f"{100 * known['accuracy']:.1f}% of held-out rows are right; always guessing the largest class is right for"
        f" {100 * known['base_rate']:.1f}%."
    )
    parts.append(
        table(
            "Held-out rows by true class and predicted class",
            ["", *(f"predicted {label}" for label in known["labels"])],
            rows,
        )
    )
    return section("Where it is wrong", *parts, paragraphs([words]))


def caveats(content: Keywords) -> str:
    """What to keep in mind, and what is missing."""
    question = content["question"]
    words = [caveat.format(sets=content["sets"]) for caveat in content.get("caveats", CAVEATS)]
    if question["rows"] < 10 * max(question["features"], 1):
        words.append(
            f"{question['rows']} rows for {question['features']} features are few: expect the choice to change with "
            "new rows."
        )
    return section("Keep in mind", bullets([*words, *content["left_out"]]))


def reproduction(content: Keywords) -> str:
    """How to get the same again."""
    known = content["reproduction"]
    rows = [("model", known["model"]), ("random state of this page", str(known["seed"])), ("made", known["date"])]
    rows += [("command", known["command"])] if known["command"] else []
    rows += [("data fingerprint", known["fingerprint"])] if known["fingerprint"] else []
    rows += [("versions", ", ".join(f"{name} {version}" for name, version in known["versions"].items()))]
    body = "".join(
        f'<tr><th scope="row" class="words">{escape(a)}</th><td class="words"><code>{escape(b)}</code></td></tr>'
        for a, b in rows
    )
    return section("How to reproduce it", f'<div class="wide"><table><tbody>{body}</tbody></table></div>')


MODEL_SECTIONS = (
    heading,
    features,
    held_out,
    path,
    cross_validation,
    stability,
    intervals,
    optimality,
    diagnostics,
    caveats,
    reproduction,
)
