"""Every kind of objective, every kind of constraint: complete, monotone, kept to, and what it says is so."""

from itertools import pairwise

import numpy as np
import pytest

import pursuit
from paths.cases import CONSTRAINTS, GROUPS, LOSSES, SETTINGS, P, function, glm, several


def units(wanted, cols):
    return np.unique(wanted.get("groups", np.arange(P))[np.asarray(cols, dtype=int)])


def first(wanted):
    """The smallest size there is: what is forced in; a sum that is not zero needs columns."""
    low = len(units(wanted, wanted.get("include", [])))
    return max(
        low, {"sum_to": 1, "bounds and sum_to": 2}.get(next(n for n, w in CONSTRAINTS.items() if w is wanted), 0)
    )


def check(case, name, top=None):
    wanted = CONSTRAINTS[name]
    there = len(np.unique(GROUPS)) if "groups" in wanted else P
    there -= len(units(wanted, wanted.get("exclude", [])))
    top = there if top is None else min(top, there)
    ks = range(first(wanted), top + 1)
    path = pursuit.path(case.f, ks, **wanted)
    assert path.status == "converged", path.reason
    assert path.ks.tolist() == list(ks)
    for smaller, larger in pairwise(path):
        assert larger.value <= smaller.value
    for k, result in zip(ks, path, strict=True):
        assert result.k == k
        assert result is path.at(k)
        chosen = units(wanted, result.support)
        assert len(chosen) <= k
        assert set(units(wanted, wanted.get("include", []))) <= set(chosen)
        assert not set(units(wanted, wanted.get("exclude", []))) & set(chosen)
        if "groups" in wanted:
            np.testing.assert_array_equal(np.flatnonzero(np.isin(GROUPS, chosen)), result.support)
        low, high = wanted.get("bounds", (-np.inf, np.inf))
        assert (result.coef >= low - 1e-9).all()
        assert (result.coef <= high + 1e-9).all()
        if "sum_to" in wanted:
            assert result.coef.sum() == pytest.approx(wanted["sum_to"], abs=1e-7)
        assert result.value == pytest.approx(case.value(result), rel=1e-9, abs=1e-12)
        if not {"bounds", "sum_to"} & set(wanted):
            fresh = case.f.refit(result.point.support) if len(result.support) else case.f.null
            assert result.value == pytest.approx(fresh.value, rel=1e-8, abs=1e-12)
    if ks[0] == 0:
        assert len(path[0].support) == 0
        assert path[0].value == pytest.approx(path.null, rel=1e-12)
    return path


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_losses_and_constraints(loss, name):
    if loss == "hinge" and {"bounds", "sum_to"} & set(CONSTRAINTS[name]):
        with pytest.raises(ValueError, match="bounds and sum_to need a smooth loss"):
            pursuit.path(glm(loss).f, [2], **CONSTRAINTS[name])
        return
    check(glm(loss), name, top=4 if loss == "hinge" else None)


@pytest.mark.parametrize("setting", list(SETTINGS)[1:])
@pytest.mark.parametrize("loss", LOSSES)
def test_losses_and_settings(loss, setting):
    check(glm(loss, setting), "include and exclude", top=2 if loss == "hinge" and "no intercept" in setting else 4)


@pytest.mark.parametrize("kind", ["dense_f", "float32_c", "csr", "csc", "csr_float32", "operator"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("name", ["plain", "include", "groups", "bounds"])
def test_kinds_of_data_find_the_same(loss, kind, name):
    path, dense = check(glm(loss, kind=kind), name, top=4), check(glm(loss), name, top=4)
    for here, there in zip(path, dense, strict=True):
        assert here.value == pytest.approx(there.value, rel=1e-7)


@pytest.mark.parametrize("kind", ["dense_c", "csr"])
@pytest.mark.parametrize("setting", ["plain", "standardised"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
@pytest.mark.parametrize("name", ["plain", "include", "groups"])
def test_three_parts_find_what_one_piece_does(loss, setting, kind, name):
    path, whole = check(glm(loss, setting, kind, parts=True), name, top=4), check(glm(loss, setting), name, top=4)
    for here, there in zip(path, whole, strict=True):
        assert here.value == pytest.approx(there.value, rel=1e-7)


@pytest.mark.parametrize("name", ["plain", "include", "exclude", "groups"])
@pytest.mark.parametrize("loss", ["squared", "multinomial"])
def test_several_outputs(loss, name):
    check(several(loss), name, top=4)


@pytest.mark.parametrize("name", ["plain", "include", "exclude", "groups"])
def test_functions(name):
    check(function(), name, top=4)
