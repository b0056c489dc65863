"""Means and standard errors over replications, and the judgements that rest on them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .experiment import Comparison

if TYPE_CHECKING:
    from pandas import DataFrame, Series


def summed(rows: "DataFrame", by: Sequence[str], values: Sequence[str]) -> "DataFrame":
    """One line per group: ``copies``, and of each value its mean and ``<value>_se``, the standard error of the mean."""
    groups = rows.groupby(list(by), sort=False, dropna=False)
    table = groups.size().rename("copies").to_frame()
    for value in values:
        table[value] = groups[value].mean()
        table[f"{value}_se"] = groups[value].std(ddof=1) / np.sqrt(groups[value].count())
    return table.reset_index()


def paired(
    rows: "DataFrame", by: Sequence[str], copy: str, method: str, value: str, ours: str, other: str
) -> "DataFrame":
    """Mean and standard error of ``ours`` minus ``other`` over the same replications, per group."""
    wide = rows.pivot_table(index=[*by, copy], columns=method, values=value)
    gaps = (wide[ours] - wide[other]).dropna().groupby(level=list(by), sort=False)
    return gaps.agg(copies="size", gap="mean", se=lambda gap: gap.std(ddof=1) / np.sqrt(len(gap))).reset_index()


def compared(about: str, leads: "Series", errors: "Series", copies: int) -> list[Comparison]:
    """A comparison for each line of a series, named by its index; a missing standard error counts as none."""
    names = leads.index.names
    found = []
    for key, lead, error in zip(leads.index, leads, errors.reindex(leads.index), strict=True):
        keys = key if isinstance(key, tuple) else (key,)
        where = ", ".join(f"{name}={value}" for name, value in zip(names, keys, strict=True))
        found.append(Comparison(f"{about}, {where}", float(lead), float(np.nan_to_num(error)), copies))
    return found
