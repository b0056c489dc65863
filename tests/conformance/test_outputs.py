"""Every solver on one output, three responses and three classes: in one piece, in parts, on a disk."""

from itertools import combinations

import numpy as np
import pytest

import pursuit
from pursuit import GLM, InParts
from pursuit.data.disk import write
from pursuit.io import _chunks
from pursuit.refits import ColumnsInParts
from registries import PRIMAL

N, P, K = 90, 7, 2
rng = np.random.default_rng(5)
X = rng.standard_normal((N, P))
RESPONSES = X[:, [1, 4]] @ rng.standard_normal((2, 3)) + 0.3 * rng.standard_normal((N, 3)) + [1.0, 0.0, -2.0]
WEIGHT = rng.integers(1, 4, N).astype(float)
TARGETS = {
    "one": (RESPONSES[:, 0], "squared"),
    "responses": (RESPONSES, "squared"),
    "classes": ((RESPONSES + 0.4 * rng.standard_normal((N, 3)) - [1.0, 0.0, -2.0]).argmax(axis=1), "multinomial"),
}
CUTS = [20, 55]


def objective(kind, place=None, **settings):
    y, loss = TARGETS[kind]
    if place is None:
        return GLM(X, y, loss, l2=0.01, sample_weight=WEIGHT, **settings)
    return GLM(place(y), loss=loss, l2=0.01, **settings)


def three_parts(y):
    return InParts(list(zip(np.split(X, CUTS), np.split(y, CUTS), np.split(WEIGHT, CUTS), strict=True)))


def best(f):
    q = f.width
    supports = [np.concatenate([np.arange(q * j, q * j + q) for j in some]) for some in combinations(range(P), K)]
    return min(f.refit_on_data(support).value for support in supports)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("solver", PRIMAL)
def test_every_solver(solver, kind, standardize):
    f = objective(kind, standardize=standardize)
    result = pursuit.solve(f, K, solver=solver, random_state=0)
    point = result.point
    assert len(result.support) <= K
    assert result.coef.shape == (len(result.support), 3)[: 1 if f.width == 1 else 2]
    assert f.value_at(point) == pytest.approx(result.value, rel=1e-9)
    assert best(f) * (1 - 1e-9) <= result.value < f.null.value
    if point.refitted:
        assert np.abs(f.at(point.support, point.coef, point.free).gradient[point.support]).max() < 1e-6
    if solver in ("auto", "local_search"):
        assert result.value == pytest.approx(best(f), rel=1e-9)


@pytest.fixture(params=["parts", "disk"])
def place(request, tmp_path, monkeypatch):
    """Targets to rows that lie in three parts, or in several blocks of a folder."""

    def folder(y):
        np.savez(tmp_path / "rows.npz", X=X, y=y, w=WEIGHT)
        monkeypatch.setattr(write, "BLOCK_BYTES", 1 << 10)
        monkeypatch.setattr(write, "MIN_VECTORS_PER_BLOCK", 1)
        monkeypatch.setattr(_chunks, "CHUNK_BYTES", 1 << 11)
        data = pursuit.open_data(pursuit.convert(tmp_path / "rows.npz", tmp_path / "rows.pursuit", weights="w"))
        assert len(data.parts) > 2
        return data

    return three_parts if request.param == "parts" else folder


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("solver", ["auto", "grahtp", "ompr"])
def test_rows_in_parts_and_on_disk_give_the_same_and_stay_there(solver, kind, place, monkeypatch):
    want = pursuit.solve(objective(kind), K, solver=solver)
    f = objective(kind, place)

    def refuse(self):
        raise AssertionError("rows of all parts were brought together")

    monkeypatch.setattr(ColumnsInParts, "gather_columns", refuse)
    refit = f.refit_on_data(np.arange(2 * f.width))
    assert refit.value == pytest.approx(objective(kind).refit_on_data(np.arange(2 * f.width)).value, rel=1e-10)
    got = pursuit.solve(f, K, solver=solver)
    assert np.array_equal(got.support, want.support)
    assert got.value == pytest.approx(want.value, rel=1e-9)
    np.testing.assert_allclose(got.coef, want.coef, rtol=1e-5, atol=1e-7)


def test_dependent_columns_of_several_responses():
    A = np.column_stack([X[:, :2], X[:, 0] + X[:, 1]])
    for f in (GLM(A, RESPONSES), GLM(InParts([(A[:40], RESPONSES[:40]), (A[40:], RESPONSES[40:])]))):
        point = f.refit_on_data(np.arange(9))
        assert "rank 2" in point.note
        assert point.value == pytest.approx(GLM(X, RESPONSES).refit_on_data(np.arange(6)).value, rel=1e-10)
        assert np.abs(f.at(point.support, point.coef, point.free).gradient).max() < 1e-9


def test_gram_refits_of_several_responses():
    f = GLM(X, RESPONSES, l2=0.02, sample_weight=WEIGHT)
    f.null
    f.gram.columns(np.arange(P))
    for cols in ([0], [1, 4], [0, 2, 3, 6]):
        support = f.coordinates(np.array(cols))
        one, other = f.refit(support), f.refit_on_data(support)
        assert one.value == pytest.approx(other.value, rel=1e-12)
        np.testing.assert_allclose(one.coef, other.coef, atol=1e-12)
        np.testing.assert_allclose(one.free, other.free, atol=1e-12)
        np.testing.assert_allclose(one.gradient, f.at(support, one.coef, one.free).gradient, atol=1e-12)
    point, every = f.refit(f.coordinates(np.array([1, 4]))), np.arange(3 * P)
    c = WEIGHT / WEIGHT.sum()
    Z = X - c @ X
    H = np.kron((Z.T * c) @ Z + 0.02 * np.eye(P), np.eye(3))
    np.testing.assert_allclose(f.hessian_rows(point, every), H, atol=1e-12)
    np.testing.assert_allclose(f.hessian_rows(point, every[2:7], every[::2]), H[2:7, ::2], atol=1e-12)
    np.testing.assert_allclose(f.curvatures(point, every[::4]), H.diagonal()[::4], atol=1e-12)
    v = np.linspace(-1, 1, 5)
    assert f.curvature(point, every[3:8], v) == pytest.approx(v @ H[3:8, 3:8] @ v, rel=1e-10)


BAD = {
    "columns of parts": (
        lambda: InParts([(X[:40], RESPONSES[:40]), (X[40:], RESPONSES[40:, :2])]),
        "in every part: part 0 has 3, part 1 has 2",
    ),
    "rows": (lambda: GLM(X, RESPONSES[:-1]), r"y must have one row per row of X, shape \(90, q\), got shape \(89, 3\)"),
    "no columns": (lambda: GLM(X, RESPONSES[:, :0]), r"y must have one row per row of X, shape \(90, q\)"),
    "a loss of one output": (lambda: GLM(X, RESPONSES, "huber"), "loss 'huber' takes one target per row"),
    "weights per response": (
        lambda: GLM(X, RESPONSES, sample_weight=np.ones((N, 3))),
        r"sample_weight must have .*one.* per row",
    ),
    "weights per response, in a fit": (
        lambda: pursuit.SparseRegressor(K).fit(X, RESPONSES, sample_weight=np.ones((N, 3))),
        r"sample_weight must have one entry per row of X, shape \(90,\)",
    ),
    "weights per response, in a part": (
        lambda: GLM(InParts([(X, RESPONSES, np.ones((N, 3)))])),
        r"part 0: sample_weight must have one entry per row of X, shape \(90,\)",
    ),
    "offsets": (lambda: GLM(X, RESPONSES, offset=np.ones((N, 2))), r"offset must have shape \(90,\) or \(90, 3\)"),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_input(bad):
    make, message = BAD[bad]
    with pytest.raises(ValueError, match=message):
        make()


def test_labels_of_parts_in_any_order_and_a_class_that_one_part_lacks():
    names = np.array(["c", "a", "b"])[TARGETS["classes"][0]]
    order = np.argsort(names, kind="stable")  # the first part has no "c"
    A, y, w = X[order], names[order], WEIGHT[order]
    parts = [(A[s], y[s], w[s]) for s in (slice(60, None), slice(0, 30), slice(30, 60))]
    f, whole = (
        GLM(InParts(parts), loss="multinomial", l2=0.01),
        GLM(X, names, "multinomial", l2=0.01, sample_weight=WEIGHT),
    )
    one, other = pursuit.solve(f, K), pursuit.solve(whole, K)
    assert f.width == 3
    np.testing.assert_allclose(one.x, other.x, atol=1e-8)
    np.testing.assert_allclose(one.intercept, other.intercept, atol=1e-8)


def test_constant_responses():
    Y = RESPONSES.copy()
    Y[:, 1] = 4.0
    f = GLM(X, Y)
    result = pursuit.solve(f, K)
    np.testing.assert_allclose(result.coef[:, 1], 0.0, atol=1e-12)
    assert result.intercept[1] == pytest.approx(4.0)
    flat = pursuit.solve(GLM(X, np.ones((N, 3))), K)
    assert flat.value == pytest.approx(0.0, abs=1e-25)


def test_nonnegative_channels_in_parts_and_on_disk(place, monkeypatch):
    want = pursuit.solve(objective("responses"), K, bounds=(0, None))
    f = objective("responses", place)

    def refuse(self):
        raise AssertionError("rows of all parts were brought together")

    monkeypatch.setattr(ColumnsInParts, "gather_columns", refuse)
    got = pursuit.solve(f, K, bounds=(0, None))
    assert np.array_equal(got.support, want.support)
    assert got.coef.min() == 0
    np.testing.assert_allclose(got.coef, want.coef, rtol=1e-6, atol=1e-9)
    assert got.value == pytest.approx(want.value, rel=1e-9)
