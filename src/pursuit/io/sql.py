"""A model as one SQL expression over the columns of a table."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pursuit._utils.validation import check_choice
from pursuit.losses import Loss
from pursuit.tables.columns import CategoryColumn, NumberColumn

if TYPE_CHECKING:
    from pursuit.io.model import Model

OUTPUTS = ("prediction", "probability", "decision")


def sql_expression(model: "Model", output: str) -> str:
    """The expression of a model's prediction, probability of the second class, or linear predictor."""
    check_choice(output, "output", OUTPUTS)
    if model.effects is not None:
        raise ValueError("to_sql needs one coefficient a feature, and the features of an additive model have curves")
    if np.ndim(model.intercept) > 0:
        raise ValueError("to_sql gives one expression, and a model of several classes or responses has several outputs")
    eta = " + ".join([_number(float(model.intercept)), *_terms(model)]).replace("+ -", "- ")
    if model.offset is not None:
        eta += f" + {_name(model.offset)}"
    if output == "decision":
        return eta
    if output == "probability":
        if model.loss.name != "logistic":
            raise ValueError(f"a model with the {model.loss.name} loss gives no probabilities; the logistic loss does")
        return f"1.0 / (1.0 + EXP(-({eta})))"
    if model.classes is not None:
        no, yes = map(_literal, model.classes.tolist())
        return f"CASE WHEN {eta} > 0 THEN {yes} ELSE {no} END"
    if model.loss.name == "poisson":
        return f"EXP({eta})"
    if type(model.loss).predict is not Loss.predict:
        raise ValueError(f"to_sql does not know how the {model.loss.name} loss predicts; output='decision' is linear")
    return eta


def _terms(model: "Model") -> Iterator[str]:
    """The terms of the linear predictor."""
    coef = dict(zip(model.selected, np.asarray(model.coef, dtype=np.float64).tolist(), strict=True))
    if model.preparation is None:
        yield from (f"{_number(value)} * {_name(name)}" for name, value in coef.items())
        return
    for (name, column), features in zip(model.preparation.columns, model.preparation.features, strict=True):
        values = [coef.get(feature, 0.0) for feature in features]
        yield from (
            _category(name, column, values) if isinstance(column, CategoryColumn) else _filled(name, column, values)
        )


def _filled(name: str, column: NumberColumn, coef: list[float]) -> Iterator[str]:
    """The terms of a column of numbers, the median where one is missing."""
    if column.kind != "number" or column.text:
        what = "dates" if column.kind != "number" else "numbers as text"
        raise ValueError(f"to_sql cannot read {what}, which databases read differently: column {name!r} holds them")
    values = iter(coef)
    if column.value:
        yield f"{_number(next(values))} * COALESCE({_name(name)}, {_number(column.median)})"
    if column.indicator:
        yield f"CASE WHEN {_name(name)} IS NULL THEN {_number(next(values))} ELSE 0.0 END"


def _category(name: str, column: CategoryColumn, coef: list[float]) -> Iterator[str]:
    """The term of a category: the coefficient of its level."""
    of = dict(zip(column.dummies, coef, strict=True))
    other = 0.0 if column.other is None else of[column.other]
    missing = other if column.missing is None else of[column.missing]
    level = f"TRIM({_name(name)})"
    cases = [f"WHEN {_name(name)} IS NULL OR {level} = '' THEN {_number(missing)}"]
    cases += [f"WHEN {level} = {_literal(text)} THEN {_number(of[text])}" for text in column.levels]
    if other:
        cases.append(f"WHEN {level} = {_literal(column.reference)} THEN 0.0")
    yield f"CASE {' '.join(cases)} ELSE {_number(other)} END"


def _name(name: str) -> str:
    if "\0" in name:
        raise ValueError(f"to_sql cannot quote the column name {name!r}, which has a null character")
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _literal(value: str | float) -> str:
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError(f"to_sql cannot quote the text {value!r}, which has a null character")
        escaped = value.replace("'", "''")
        return f"'{escaped}'"
    return str(int(value)) if isinstance(value, bool | int) else _number(value)


def _number(value: float) -> str:
    return repr(float(value))
