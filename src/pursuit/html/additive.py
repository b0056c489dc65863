"""The page of an additive model: the curves of its features in place of coefficients."""

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import is_classifier

from .._utils.text import format_number
from .._utils.types import Array, Keywords, Vector
from ..effects import Effect
from ..estimators.additive.bands import bootstrap_bands
from ..estimators.additive.summary import proof_sentence
from ..objectives.sparse_set import SparseSet
from ..paths import path
from ..solving.result import Result
from .content import Subject, count_of, json_number, question, reproduction
from .held_out_content import cross_validation, half_samples, held_out
from .model_content import MAX_PATH_SIZE, MAX_SENTENCES, MAX_SUMMARY_ROWS, rival_sentences
from .page import Cell, bullets, caveats, paragraphs, section, table
from .page import cross_validation as cross_validation_section
from .page import diagnostics as diagnostics_section
from .page import heading as heading_section
from .page import held_out as held_out_section
from .page import optimality as optimality_section
from .page import path as path_section
from .page import reproduction as reproduction_section
from .page import stability as stability_section
from .pictures import curve_legend, curve_picture

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

MAX_CURVES = 24  # features whose curve is drawn, those with the largest ranges
CURVE_POINTS = 61  # of a curve in the page
MAX_FEW_VALUES = 8  # distinct values up to which the effects at these values are drawn as dots
MAX_RUG = 80  # ticks that show where rows lie
N_BOOTSTRAP = 60
RANGE_MARGIN = 0.08  # of the training rows' range that is drawn beyond it
TABLE_QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
CAVEATS = (
    "The features were chosen on the same rows that estimate their curves: among {sets} sets of features this one fits"
    " best, so bands that take the choice as given are too narrow.",
    "A curve says what goes together in these data, not what would happen if a feature were changed.",
    "Effects add up: the curve of a feature is the same whatever the other features are.",
    "Beyond the values of these rows every curve goes on as a straight line, which no row supports.",
)


def effects(content: Keywords, about: Subject) -> None:
    """What every chosen feature does, in numbers, and its curve."""
    model, summary = about.model, about.model.summary()
    inner = model.model_.summary()
    drop, costs = summary.drop, summary.rival_cost
    found = list(model.effects_.values())
    rows = [
        {
            "name": effect.name,
            "kind": effect.kind,
            "range": json_number(effect.range),
            "shape": summary.shapes[i],
            "drop": None if drop is None else json_number(drop[i]),
            "rival": summary.rivals[i],
            "rival_cost": None if costs is None or not summary.rivals[i] else json_number(costs[i]),
        }
        for i, effect in enumerate(found)
    ]
    order = sorted(range(len(rows)), key=lambda i: -(rows[i]["range"] or 0.0))
    content["features"] = [rows[i] for i in order[:MAX_SUMMARY_ROWS]]
    content["unit"], content["costs"] = summary.unit, inner.how
    content["intercept"] = [json_number(v) for v in np.ravel(model.intercept_)]
    content["in_sample"] = None if summary.score is None else [summary.unit, json_number(summary.score)]
    content["words"] = [_sentence(content, found[i]) for i in order[:MAX_SENTENCES] if np.ndim(model.intercept_) == 0]
    content["rivals"] = rival_sentences(content["features"], summary.unit)
    known = {content["question"]["reason"], summary.optimality.rstrip(".")}
    content["notes"] = [note for note in summary.found if note.rstrip(".") not in known]
    content["sets"] = str(inner.sets) if inner.sets < 10**7 else f"about 10^{len(str(inner.sets)) - 1}"
    content["caveats"] = list(CAVEATS)
    content["effect_unit"] = _effect_unit(content)
    content["outputs"] = _outputs(model)
    content["curves_of_features"] = [_curve(about, found[i]) for i in order[:MAX_CURVES]]
    if len(rows) > MAX_CURVES:
        content["left_out"].append(f"The {MAX_CURVES} curves with the largest ranges are drawn.")
    if len(rows) > MAX_SUMMARY_ROWS:
        content["left_out"].append(f"The table shows the {MAX_SUMMARY_ROWS} features with the largest ranges.")


def _effect_unit(content: Keywords) -> str:
    """What a curve adds to, in words."""
    loss, classes, target = (content["question"][name] for name in ("loss", "classes", "target"))
    if classes is not None:
        which = f" of {classes[1]}" if len(classes) == 2 else " by class"
        return f"log-odds{which}" if loss in ("logistic", "multinomial") else "decision function"
    return target if loss in ("squared", "huber") else f"logarithm of {target}" if loss == "poisson" else "predictor"


def _outputs(model: "BaseEstimator") -> list[str]:
    """Names of the outputs, where there are several."""
    if np.ndim(model.intercept_) == 0:
        return []
    if is_classifier(model):
        return [str(label) for label in model.classes_]
    return [f"response {r}" for r in range(len(model.intercept_))]


def _sentence(content: Keywords, effect: Effect) -> str:
    """One feature in words: its shape, and how far apart its highest and lowest points lie."""
    target, loss, classes = (content["question"][name] for name in ("target", "loss", "classes"))
    size, name = effect.range, effect.name
    shape = effect.describe()
    shape = "is flat" if shape == "flat" else shape.replace(", ", ", then ").replace(" to ", " until ")
    begin = f"The curve of {name} {shape}"
    if loss == "logistic" and classes is not None:
        factor = format_number(np.exp(min(size, 700.0)), 3)
        return (
            f"{begin}; at its highest point the odds of {target} = {classes[1]} are {factor} times those at its lowest."
        )
    if loss == "poisson":
        factor = format_number(np.exp(min(size, 700.0)), 3)
        return f"{begin}; at its highest point the expected {target} is {factor} times that at its lowest."
    return f"{begin}; its highest and its lowest point differ by {format_number(size)} in {target}."


def _curve(about: Subject, effect: Effect) -> Keywords:
    """The points of a curve on the training rows and a little beyond, and where rows lie."""
    inner = effect.grid(CURVE_POINTS)
    room = RANGE_MARGIN * (effect.high - effect.low)
    grid = np.concatenate([[effect.low - room], inner, [effect.high + room]])
    values = _column(about, effect)
    distinct = np.unique(values)
    few = distinct if 0 < len(distinct) <= MAX_FEW_VALUES else distinct[:0]
    ordered = np.sort(values)
    places = np.linspace(0, len(ordered) - 1, min(len(ordered), MAX_RUG)).astype(int)
    marks = np.quantile(values, TABLE_QUANTILES) if len(values) else np.array([effect.low, effect.high])
    return {
        "name": effect.name,
        "kind": effect.kind,
        "low": json_number(effect.low),
        "high": json_number(effect.high),
        "x": [json_number(v) for v in grid],
        "y": _numbers(effect(grid)),
        "few": [json_number(v) for v in few],
        "few_y": _numbers(effect(few)),
        "rug": [json_number(v) for v in np.unique(ordered[places])] if len(ordered) else [],
        "marks": [json_number(v) for v in np.unique(marks)],
        "marks_y": _numbers(effect(np.unique(marks))),
        "band": None,
    }


def _numbers(values: Array) -> list[float | None] | list[list[float | None]]:
    """A list for every output, of one output the numbers themselves."""
    if values.ndim == 1:
        return [json_number(v) for v in values]
    return [[json_number(v) for v in values[:, r]] for r in range(values.shape[1])]


def _column(about: Subject, effect: Effect) -> Vector:
    """The training rows' values of a feature."""
    X = None if about.rows is None else about.rows.X
    if X is None:
        return np.empty(0)
    column = X.iloc[:, effect.column] if hasattr(X, "iloc") else X[:, effect.column]
    return np.asarray(column, dtype=np.float64)


def bands(content: Keywords, about: Subject) -> None:
    """How far curves vary over bootstrap samples of the rows."""
    model, rows, options = about.model, about.rows, about.options
    if not options.intervals or rows is None or not content["curves_of_features"]:
        return
    grids = {curve["name"]: model.effects_[curve["name"]].grid(CURVE_POINTS) for curve in content["curves_of_features"]}
    try:
        if rows.offset is not None:
            raise ValueError("they are not computed with an offset")
        found = bootstrap_bands(
            about.model,
            np.asarray(rows.X, dtype=np.float64),
            rows.y,
            grids,
            N_BOOTSTRAP,
            options.random_state,
            rows.weights,
            options.time_limit,
        )
    except ValueError as error:
        content["left_out"].append(f"Bands of the curves: {error}.")
        return
    for curve in content["curves_of_features"]:
        curve["band"] = _numbers(found[curve["name"]].T)


def sizes(content: Keywords, about: Subject) -> None:
    """Every size: what it explains, and its features with the standard deviations of their curves."""
    plain, model = about.plain, about.model
    f = getattr(plain, "objective_", None)
    if f is None:
        return
    units = len(np.unique(plain.model_.groups))
    k = int(plain.k)
    allowed = SparseSet.of(plain.model_)
    first = 1 if len(plain.model_.include) else 0
    largest = int(min(MAX_PATH_SIZE, units, max(2 * k, k + 5)))
    try:
        known = path(
            f, range(first, largest + 1), time_limit=about.options.time_limit, effort="fast", **allowed._asdict()
        )
    except ValueError as error:
        content["left_out"].append(f"The path over sizes: {error}.")
        return
    names, basis, spread = model._names(), plain.model_.basis_, _Spread(plain.model_)
    found = []
    for size, result, share in zip(known.sizes, known.results, known.explained, strict=True):
        owner = basis.feature_of[result.support]
        features = [[names[j], json_number(spread(j, result, owner))] for j in np.unique(owner).tolist()]
        features.sort(key=lambda pair: -(pair[1] or 0.0))
        found.append({"k": int(size), "explained": json_number(share), "features": features})
    if found:
        content["path"] = {
            "sizes": found,
            "chosen": int(model.k_),
            "unit": content["unit"],
            "measure": "standard deviation of the curve",
        }


class _Spread:
    """Standard deviations of curves over the training rows."""

    def __init__(self, model: "BaseEstimator") -> None:
        self.model, self.moments = model, dict[int, Array]()

    def __call__(self, j: int, result: Result, owner: Vector) -> float:
        basis = self.model.basis_
        if j not in self.moments:
            cols = np.arange(basis.starts[j], basis.starts[j + 1])
            self.moments[j] = self.model.objective_.data.raw.products(cols, True)
        own = owner == j
        b = np.zeros((basis.columns[j].width, *np.shape(result.coef)[1:]))
        b[result.support[own] - basis.starts[j]] = result.coef[own]
        return float(np.sqrt(max(np.sum(b * (self.moments[j] @ b)), 0.0)))


def optimality(content: Keywords, about: Subject) -> None:
    """Whether another set of features is better."""
    model, plain, options = about.model, about.plain, about.options
    fitted = model if plain is None else plain
    result, names = fitted.result_, model._names()
    noun = "feature" if model.groups is None else "group"
    said = [
        {
            "swap_optimal": f"No exchange of one {noun} for another improves the fit.",
            "swap_stationary": f"No exchange of one {noun} for another was found to improve the fit.",
        }.get(result.optimality, f"Exchanges of {noun}s were not examined.")
    ]
    best = fitted.support_
    if (
        options.certificate
        and plain is not None
        and "proof" in getattr(getattr(plain, "objective_", None), "offers", ())
        and len(best)
    ):
        try:
            proof = plain.certify(options.time_limit)
        except ValueError as error:
            content["left_out"].append(f"Certificate: {error}.")
        else:
            best = np.unique(plain.model_.basis_.feature_of[proof.result.support])
            same = np.array_equal(best, model.support_)
            if proof.status == "proved":
                said = [proof_sentence(plain, proof)]
            else:
                size = count_of(int(result.k), noun)
                said.append(f"No set of {size} fits more than {100 * proof.rel_gap:.3g}% better (a proved bound).")
            content["certificate"] = {
                "status": proof.status if same else "other set",
                "rel_gap": json_number(proof.rel_gap),
                "nodes": int(proof.nodes),
            }
    if not np.array_equal(best, model.support_):
        listed = ", ".join(names[j] for j in best.tolist())
        said = [f"The features that fit these rows best without averaging are {listed}.", *said]
    content["optimality"] = said


STEPS = (question, effects, bands, sizes, cross_validation, held_out, half_samples, optimality, reproduction)


def model_section(content: Keywords) -> str:
    """The chosen features: words, curves, numbers."""
    rows, unit, curves = content["features"], content["unit"], content["curves_of_features"]
    if not rows:
        return section("The model", "<p>No feature is used: the model without features predicts best.</p>")
    lost = f"{unit} lost if dropped" if unit in ("R2", "D2") else "objective gained if dropped"
    with_rival = f"{unit} lost with it" if unit in ("R2", "D2") else "objective gained with it"
    shapes = any(r["shape"] for r in rows)
    cells = [
        (r["name"], r["kind"], *((r["shape"],) if shapes else ()), r["range"], r["drop"], r["rival"], r["rival_cost"])
        for r in rows
    ]
    free = ", ".join(format_number(v) for v in content["intercept"] if v is not None)
    outputs, measure = content["outputs"], content["effect_unit"]
    ends = _ends(curves)
    pictures = "".join(curve_picture(curve, measure, ends, outputs) for curve in curves)
    legend = curve_legend(outputs) if outputs else ""
    words = (
        f"Each picture shows what a feature adds to the {measure}, by its value; the mean over the rows is zero."
        " All have the same scale. Grey areas are beyond the rows."
    )
    if any(curve["rug"] for curve in curves):
        words += " Ticks at the bottom show where rows lie."
    if any(curve["band"] is not None for curve in curves):
        words += " Shaded: 5 to 95% of the curves of bootstrap samples of the rows, with the features as chosen."
    return section(
        "The model",
        bullets(content["words"]),
        legend,
        f'<div class="pair">{pictures}</div>',
        f'<p class="soft">{paragraphs([words])[3:-4]}</p>',
        table(
            f"Chosen features, the largest effects first. Intercept {free}.",
            ["feature", "effect", *(["shape"] if shapes else []), "range", lost, "closest rival", with_rival],
            cells,
            sortable=True,
        ),
        _curve_table(curves, outputs, measure),
        paragraphs(content["notes"]),
    )


def _ends(curves: list[Keywords]) -> tuple[float, float]:
    """The range of all curves and bands, so that pictures have one scale."""
    every = [0.0]
    for curve in curves:
        lines = np.atleast_2d(np.array(curve["y"], dtype=float))[:, 1:-1]  # without the points beyond the rows
        for part in (lines, curve["band"] or []):
            every += [v for v in np.ravel(np.array(part, dtype=float)) if np.isfinite(v)]
    return float(min(every)), float(max(every))


def _curve_table(curves: list[Keywords], outputs: list[str], measure: str) -> str:
    """The curves as numbers, for readers who do not see pictures."""
    rows: list[tuple[Cell, ...]] = []
    for curve in curves:
        values = curve["marks_y"] if outputs else [curve["marks_y"]]
        rows += [(curve["name"], x, *(v[i] for v in values)) for i, x in enumerate(curve["marks"])]
    heads = ["feature", "value", *(outputs or [f"adds to the {measure}"])]
    quartiles = ", the quartiles" if any(curve["rug"] for curve in curves) else ""
    caption = f"Effects at the least value{quartiles} and the largest value of the rows"
    return f"<details><summary>The curves as a table</summary>{table(caption, heads, rows)}</details>"


SECTIONS = (
    heading_section,
    model_section,
    held_out_section,
    path_section,
    cross_validation_section,
    stability_section,
    optimality_section,
    diagnostics_section,
    caveats,
    reproduction_section,
)
