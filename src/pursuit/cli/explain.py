"""``pursuit explain``: what a model uses and why; what each feature contributes to one prediction."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pursuit.cli import OK
from pursuit.cli.predict import _read
from pursuit.cli.show import console, format_number, make_table, print_text
from pursuit.io import Model, Table, load_model

if TYPE_CHECKING:
    from rich.table import Table as RichTable


def run(model_path: Path, data: Path | None, row: int) -> int:
    model = load_model(model_path)
    print_text(_heading(model) + "\n")
    console().print(_features(model))
    for sentence in _sentences(model):
        print_text(sentence)
    if data is not None:
        _explain_row(model, model_path, data, row)
    return OK


def _heading(model: Model) -> str:
    rows = f", fitted on {model.card['rows']} rows" if "rows" in model.card else ""
    return f"{len(model.support)} of {model.n_features} features, {model.loss.name} loss{rows}"


def _features(model: Model) -> "RichTable":
    """A row a feature, the most costly to drop first."""
    found, unit = model.card.get("features"), str(model.card.get("unit", ""))
    worth = found if isinstance(found, list) and len(found) == len(model.support) else []
    lost = f"{unit} lost" if unit in ("R2", "D2") else "objective gained"
    sides, columns = _effects(model) if model.effects is not None else _coefficients(model)
    if worth:
        sides |= {f"{lost} if dropped": "right", "closest rival": "left", f"{lost} with it": "right"}
    rows = []
    for i, name in enumerate(model.selected):
        cells, cost = [name, *columns[i]], 0.0
        if worth:
            drop, rival, with_rival = (worth[i].get(key) for key in ("drop", "rival", "rival_cost"))
            cells += [_number(drop, "must stay"), str(rival or ""), _number(with_rival)]
            cost = np.inf if drop is None else float(drop)
        rows.append((cost, cells))
    return make_table(sides, [cells for _, cells in sorted(rows, key=lambda row: -row[0])])


def _coefficients(model: Model) -> tuple[dict[str, str], list[list[str]]]:
    """Headings with their sides, and the cells of every feature."""
    coef = model.coef if model.coef.ndim == 2 else model.coef[:, None]
    sides = {"feature": "left", **dict.fromkeys(_outputs(model, coef.shape[1]), "right")}
    return sides, [list(map(format_number, row)) for row in coef]


def _effects(model: Model) -> tuple[dict[str, str], list[list[str]]]:
    """The same of an additive model, whose features have curves."""
    sides = {"feature": "left", "effect": "left", "range": "right", "shape": "left"}
    return sides, [[curve.kind, format_number(curve.range), curve.describe()] for curve in model.curves]


def _outputs(model: Model, count: int) -> list[str]:
    if count == 1:
        return ["coefficient"]
    if model.classes is None:
        return [f"response {r}" for r in range(count)]
    return [str(label) for label in model.classes]


def _number(value: object, missing: str = "") -> str:
    return format_number(float(value)) if isinstance(value, int | float) else missing


def _sentences(model: Model) -> list[str]:
    """Why these features, and how sure that is."""
    held_out, words = model.card.get("held_out"), [f"{model.reason}."]
    if isinstance(held_out, dict):
        name, score, folds = (held_out.get(key) for key in ("name", "score", "folds"))
        words.append(f"On held-out rows: {name} {_number(score)} over {folds} folds.")
    if model.card.get("optimality"):
        words.append(str(model.card["optimality"]))
    if "features" not in model.card:
        words.append(
            "What each feature is worth is not in this file: an older pursuit wrote it, or the data were large."
        )
    return words


def _explain_row(model: Model, model_path: Path, data: Path, row: int) -> None:
    table, _, offset = _read(model, data, ())
    count = table.X.shape[0] if isinstance(table, Table) else len(table)
    if row > count:
        raise ValueError(f"--row {row}: {data} has {count} rows")
    some = slice(row - 1, row)
    one = Table(table.X[some], None, table.feature_names) if isinstance(table, Table) else table.iloc[some]
    try:
        explanation = model.explain(one, None if offset is None else offset[some])
    except ValueError as error:
        raise ValueError(f"{model_path} and {data}: {error}") from error
    print_text(f"\nrow {row} of {data}\n\n{explanation}")
