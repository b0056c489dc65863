"""Questions to data in parts, and to what is left without one of them, against plain NumPy and one piece."""

import numpy as np
import pytest

import pursuit
from problems import KINDS, problem, standardised
from pursuit.data import InParts, Parts
from pursuit.engines import in_threads, in_turn, total
from pursuit.losses import as_loss
from pursuit.refits import columns

P = 12
TIGHT = {"rtol": 1e-11, "atol": 1e-12}
SUPPORT, COEF = np.array([1, 4, 9]), np.array([0.5, -0.3, 0.2])


def pair(loss, kind="dense_c", **settings):
    """The same objective in one piece and in three parts, and the problem."""
    given = problem(loss, p=P, weights=True, offset=True)
    one = pursuit.GLM(**given.glm(**settings))
    return given, one, pursuit.GLM(InParts(given.parts(kind)), loss=loss, l2=given.l2, **settings)


@pytest.mark.parametrize("settings", [{}, {"fit_intercept": False}, {"standardize": True}])
@pytest.mark.parametrize("kind", ["dense_c", "csc"])
@pytest.mark.parametrize("loss", pursuit.list_losses())
def test_every_question_has_the_answer_of_one_piece(loss, kind, settings):
    _, one, parts = pair(loss, kind, **settings)
    every = np.arange(P)
    for f, g in ((one.null, parts.null), (one.at(SUPPORT, COEF), parts.at(SUPPORT, COEF))):
        assert g.value == pytest.approx(f.value, rel=1e-12)
        assert g.free == pytest.approx(f.free, rel=1e-6, abs=1e-6)
        np.testing.assert_allclose(g.gradient, f.gradient, atol=1e-7)
    here, there = one.at(SUPPORT, COEF, 0.1), parts.at(SUPPORT, COEF, 0.1)
    assert parts.value(SUPPORT, COEF, 0.1) == pytest.approx(one.value(SUPPORT, COEF, 0.1), rel=1e-14)
    v = np.array([0.3, -1.0, 2.0])
    assert parts.curvature(there, SUPPORT, v) == pytest.approx(one.curvature(here, SUPPORT, v), rel=1e-11)
    for cols in (SUPPORT[:1], every):
        np.testing.assert_allclose(parts.curvatures(there, cols), one.curvatures(here, cols), **TIGHT)
    for others in (None, np.array([2, 4, 5])):
        rows = parts.hessian_rows(there, SUPPORT, others)
        np.testing.assert_allclose(rows, one.hessian_rows(here, SUPPORT, others), **TIGHT)
    if loss != "hinge":
        f, g = one.refit_on_data(SUPPORT), parts.refit_on_data(SUPPORT)
        assert g.value == pytest.approx(f.value, rel=1e-12)
        np.testing.assert_allclose(g.coef, f.coef, atol=1e-7)


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("standardize", [False, True])
def test_a_fold_is_the_rest_of_the_rows(shift, standardize):
    """Moments and Gram columns by subtraction, with means up to a million standard deviations."""
    given = problem("squared", p=P, density=1.0, weights=True)
    X = given.X + shift * np.arange(P)
    cuts = (9, 45)
    blocks = [(A, y, w) for A, (_, y, w, _) in zip(np.split(X, cuts), given.parts(cuts=cuts), strict=True)]
    whole = InParts(blocks).bound(as_loss("squared")).folds()
    for j, out in enumerate(np.split(np.arange(len(X)), cuts)):
        keep = np.setdiff1d(np.arange(len(X)), out)
        c = given.weight[keep] / given.weight[keep].sum()
        Z, m, s = standardised(X[keep] - X[0], c)
        fold = whole.train(j)
        moments = fold.moments()
        np.testing.assert_allclose(moments.mean - X[0], m, atol=1e-9 * max(shift, 1e-3))
        np.testing.assert_allclose(moments.square, s**2, rtol=1e-9)
        f = pursuit.GLM(fold, standardize=standardize)
        want = (Z.T * c) @ Z if standardize else ((Z * s).T * c) @ (Z * s)
        np.testing.assert_allclose(f.hessian_rows(f.null, np.arange(P)), want, rtol=1e-8, atol=1e-8)
        plain = pursuit.GLM(X[keep], given.y[keep], sample_weight=given.weight[keep], standardize=standardize)
        assert f.refit(SUPPORT).value == pytest.approx(plain.refit_on_data(SUPPORT).value, rel=1e-8)
        for solver in ("auto", "omp", "grahtp"):
            one, other = pursuit.solve(plain, 3, solver=solver), pursuit.solve(f, 3, solver=solver)
            assert np.array_equal(one.support, other.support)
            assert other.value == pytest.approx(one.value, rel=1e-8)


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_a_fold_of_any_loss(loss):
    given = problem(loss, p=P, weights=True, offset=True)
    whole = InParts(given.parts()).bound(as_loss(loss)).folds()
    keep = np.r_[0:9, 45:70]
    rest = {"sample_weight": given.weight[keep], "offset": given.offset[keep]}
    one = pursuit.GLM(given.X[keep], given.y[keep], loss, l2=0.1, standardize=True, **rest)
    fold = pursuit.GLM(whole.train(1), loss=loss, l2=0.1, standardize=True)
    a, b = (pursuit.solve(f, 3, solver="ompr") for f in (one, fold))
    assert np.array_equal(a.support, b.support)
    assert b.value == pytest.approx(a.value, rel=1e-10)


@pytest.mark.parametrize("kind", ["dense_c", "csr"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_scattered_folds_copy_nothing(loss, kind):
    given = problem(loss, p=P, weights=True, offset=True)
    X, labels = KINDS[kind](given.X), np.random.default_rng(5).integers(-1, 4, 70)
    whole = pursuit.GLM(**given.glm(X)).data.folds(labels)
    for j in range(4):
        keep = (labels != j) & (labels >= 0)
        rest = {"sample_weight": given.weight[keep], "offset": given.offset[keep]}
        for settings in ({}, {"standardize": True}, {"fit_intercept": False}):
            fold = pursuit.GLM(whole.train(j), loss=loss, l2=0.1, **settings)
            one = pursuit.GLM(X[keep], given.y[keep], loss, l2=0.1, **rest, **settings)
            a, b = (pursuit.solve(f, 3) for f in (one, fold))
            assert np.array_equal(a.support, b.support)
            assert b.value == pytest.approx(a.value, rel=1e-10)
            design = getattr(fold.data.design, "base", fold.data.design)
            assert design.X is X


def test_a_constant_column_of_a_fold_is_zero():
    given = problem("squared", p=P, density=1.0)
    X = given.X.copy()
    X[9:, 3] = 7.1  # constant once the first part is out
    blocks = [(A, y) for A, y in zip(np.split(X, [9, 45]), np.split(given.y, [9, 45]), strict=True)]
    fold = InParts(blocks).bound(as_loss("squared")).folds().train(0)
    f = pursuit.GLM(fold, standardize=True)
    assert f.hessian_rows(f.null, np.array([3])).any() == np.False_
    assert 3 not in pursuit.solve(f, 5).support


def test_other_weights_are_the_same_rows():
    given, one, parts = pair("logistic", standardize=True)
    c = np.random.default_rng(1).random(70)
    c[50:] = 0.0
    for f in (one, parts):
        twin = f.data.weighted(c / c.sum())
        answer = twin.at(SUPPORT, COEF, 0.1)
        Z = standardised(given.X, given.c)[0]
        want = type(given)(Z, given.y, "logistic", 0.0, c, given.offset)
        x = np.zeros(P)
        x[SUPPORT] = COEF
        assert answer.value == pytest.approx(want.value(x, 0.1), rel=1e-12)
        np.testing.assert_allclose(answer.gradient, want.gradient(x, 0.1)[0], atol=1e-12)


def test_the_order_of_the_sum_is_that_of_the_parts():
    given = problem("logistic", p=P, weights=True)
    slow, fast = (
        pursuit.solve(pursuit.GLM(InParts(given.parts(), each), loss="logistic", l2=0.1), 3)
        for each in (in_turn, in_threads)
    )
    assert np.array_equal(slow.coef, fast.coef)
    assert slow.value == fast.value
    assert total([(1.0, np.ones(2), None), (2.0, np.ones(2), None)])[0] == 3.0


BAD = {
    "another width": (lambda p: [p[0], (p[1][0][:, :5], p[1][1])], "part 1 has 5 columns, and part 0 has 12"),
    "an empty part": (lambda p: [p[0], (p[1][0][:0], p[1][1][:0])], "part 1: X must have at least one row"),
    "other classes": (lambda p: [p[0], (p[1][0], 2 * p[1][1] - 1)], "the parts have different classes"),
    "weights too short": (lambda p: [(*p[0], np.ones(3)), p[1]], "part 0: sample_weight must have one entry per row"),
    "y too short": (lambda p: [p[0], (p[1][0], p[1][1][:4])], r"part 1: y must have one entry per row of X, shape"),
    "no y": (lambda p: [p[0], (p[1][0],)], r"part 1 must be \(X, y\)"),
    "nothing": (lambda p: [], "at least one part"),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_parts_are_named(bad):
    given = problem("logistic", p=P)
    spoil, message = BAD[bad]
    with pytest.raises(ValueError, match=message):
        pursuit.GLM(InParts(spoil([part[:2] for part in given.parts(cuts=(30,))])), loss="logistic")


def test_what_parts_bring_is_not_given_again():
    given = problem("squared", p=P)
    with pytest.raises(TypeError, match="leave y, sample_weight and offset out"):
        pursuit.GLM(InParts(given.parts()), given.y)
    with pytest.raises(ValueError, match="there is no part 3: the parts are 0 to 2"):
        InParts(given.parts()).bound(as_loss("squared")).folds().train(3)


def test_bad_labels_are_told():
    data = pursuit.GLM(*(lambda g: (g.X, g.y))(problem("squared", p=P))).data
    for labels, message in (
        (np.zeros(3, int), r"one entry per row, shape \(70,\), got shape \(3,\)"),
        (np.zeros(70), "labels must be whole numbers"),
        (np.full(70, -1), "at least one of them 0 or more"),
        (np.repeat([0, 2], 35), "every number from 0 to 2, and no row has 1"),
    ):
        with pytest.raises(ValueError, match=message):
            data.folds(labels)
    with pytest.raises(ValueError, match="one part only"):
        data.folds(np.zeros(70, int)).train(0)
    weights = np.repeat([1.0, 0.0], [30, 40])
    whole = data.weighted(weights / 30).folds(np.repeat([0, 1], [30, 40]))
    with pytest.raises(ValueError, match="without part 0 no row has a weight"):
        whole.train(0)


def test_data_belong_to_one_loss_and_its_constants():
    given = problem("squared", p=P)
    data = pursuit.GLM(given.X, given.y, pursuit.Huber(1.0)).data
    assert pursuit.GLM(data, loss=pursuit.Huber(1.0)).loss == pursuit.Huber(1.0)
    for other in (pursuit.Huber(5.0), "squared"):
        with pytest.raises(ValueError, match="these data were made for loss 'huber'"):
            pursuit.GLM(data, loss=other)


def test_a_hinge_on_parts_needs_no_stored_columns(monkeypatch):
    monkeypatch.setattr(columns, "MAX_DENSE_COPY", 100)
    _, one, parts = pair("hinge")
    assert parts.refit(SUPPORT).value == pytest.approx(one.refit(SUPPORT).value, rel=1e-6)


def test_one_part_is_one_piece():
    given = problem("squared", p=P)
    f = pursuit.GLM(InParts(given.parts(cuts=())))
    assert not isinstance(f.data, Parts)
    assert pursuit.solve(f, 3, solver="omp").value > 0


@pytest.mark.parametrize("settings", [{}, {"standardize": True}, {"fit_intercept": False}])
@pytest.mark.parametrize("loss", ["multinomial", "squared"])
def test_several_outputs_in_parts(loss, settings):
    given = problem("squared", p=P, weights=True)
    rng = np.random.default_rng(2)
    offset = 0.1 * rng.standard_normal((70, 3))
    y = np.array(["a", "b", "c"])[np.digitize(given.y, [-0.5, 0.9])]
    if loss == "squared":
        y = np.column_stack([given.y, given.y**2, rng.standard_normal(70)])
    columns = (given.X, y, given.weight, offset)
    blocks = list(zip(*(np.split(values, [9, 45]) for values in columns), strict=True))
    one = pursuit.MultiGLM(given.X, y, loss, l2=0.05, sample_weight=given.weight, offset=offset, **settings)
    parts = pursuit.MultiGLM(InParts(blocks), loss=loss, l2=0.05, **settings)
    support = np.arange(6, 12)
    here, there = (f.at(support, np.linspace(-1, 1, 6)) for f in (one, parts))
    assert there.value == pytest.approx(here.value, rel=1e-12)
    np.testing.assert_allclose(there.gradient, here.gradient, atol=1e-8)
    every = np.arange(3 * P)
    np.testing.assert_allclose(parts.curvatures(there, every), one.curvatures(here, every), **TIGHT)
    np.testing.assert_allclose(parts.hessian_rows(there, support), one.hessian_rows(here, support), **TIGHT)
    H, v = one.hessian_rows(here, support, support), np.linspace(1, 2, 6)
    assert parts.curvature(there, support, v) == pytest.approx(v @ H @ v, rel=1e-10)
    for solver in ("auto", "grahtp", "omp", "ompr", "fbs"):
        a, b = (pursuit.solve(f, 3, solver=solver) for f in (one, parts))
        assert np.array_equal(a.support, b.support)
        assert b.value == pytest.approx(a.value, rel=1e-10)
    whole = parts.data.folds().train(0)
    keep = slice(9, None)
    rest = {"sample_weight": given.weight[keep], "offset": offset[keep]}
    want = pursuit.MultiGLM(given.X[keep], y[keep], loss, l2=0.05, fit_intercept=one.fit_intercept, **rest)
    if "standardize" not in settings:
        fold = pursuit.MultiGLM(whole, loss=loss, l2=0.05, fit_intercept=one.fit_intercept)
        assert pursuit.solve(fold, 3).value == pytest.approx(pursuit.solve(want, 3).value, rel=1e-10)


def test_proofs_of_parts():
    """The squared loss is proved from its Gram matrix; what needs single rows says so."""
    given = problem("squared", p=P, weights=True)
    f = pursuit.GLM(InParts(given.parts()), l2=0.05, standardize=True)
    one = pursuit.GLM(**given.glm(l2=0.05, standardize=True))
    proof = pursuit.certify(f, pursuit.solve(f, 3), time_limit=20)
    assert proof.status == "proved"
    assert proof.upper == pytest.approx(pursuit.certify(one, pursuit.solve(one, 3), time_limit=20).upper, rel=1e-10)
    _, _, g = pair("logistic")
    proof = pursuit.certify(g, pursuit.solve(g, 3), time_limit=5)
    assert proof.status == "bounded"
    assert "the rows lie in parts" in proof.reason
