"""Every loss says which targets it takes, and refuses others in one sentence, wherever the rows are.

The multinomial loss has no lower bound unless every row of Y holds shares of the classes: they must be checked before
anything is minimised.
"""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from engines.loopback import Loopback
from pursuit import GLM, InParts, MultiGLM, SparseClassifier, SparseRegressor, best_subsets, convert, open_data
from pursuit.data.remote import Bundle, RemoteSource
from pursuit.losses import Multinomial

N, P = 40, 5
RNG = np.random.default_rng(7)
X = RNG.standard_normal((N, P))
LABELS = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
REAL = RNG.standard_normal((N, 3))
SHARES = np.exp(REAL) / np.exp(REAL).sum(axis=1, keepdims=True)


def in_parts(X, y):
    return InParts([(X[:15], y[:15]), (X[15:], y[15:])])


def elsewhere(X, y):
    """Bundles of rows behind a transport, as on workers."""
    return RemoteSource(Loopback([Bundle([(X[:15], y[:15])]), Bundle([(X[15:], y[15:])], 1)]).each)


DOORS = {
    "arrays": lambda y, **more: MultiGLM(X, y, **more),
    "lists": lambda y, **more: MultiGLM(X.tolist(), np.asarray(y).tolist(), **more),
    "parts": lambda y, **more: MultiGLM(in_parts(X, y), **more),
    "elsewhere": lambda y, **more: MultiGLM(elsewhere(X, y), **more),
    "one part": lambda y, **more: MultiGLM(InParts([(X, y)]), **more),
}
every_door = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)


def replaced(Y, i, row):
    Y = Y.copy()
    Y[i] = row
    return Y


NO_SHARES = {
    "real": (REAL, "row 0 is"),
    "negative": (replaced(SHARES, 20, [-0.2, 0.6, 0.6]), r"row (20|5) is \[-0\.2, 0\.6, 0\.6\]"),
    "counts": (replaced(SHARES, 20, [2.0, 1.0, 0.0]), r"row (20|5) is \[2, 1, 0\]"),
    "percentages": (100 * SHARES, "row 0 is"),
    "zero row": (replaced(SHARES, 20, 0.0), r"row (20|5) is \[0, 0, 0\]"),
}


@every_door
@pytest.mark.parametrize("case", NO_SHARES)
def test_targets_that_are_neither_labels_nor_shares(door, case):
    Y, where = NO_SHARES[case]
    with pytest.raises(ValueError, match=rf"y must hold labels.*shares of the classes.*{where}.*loss='squared'"):
        door(Y)
    assert door(Y, loss="squared").loss.name == "squared"


@pytest.mark.parametrize("door", [DOORS["arrays"], DOORS["parts"], DOORS["elsewhere"]])
def test_numbers_that_are_no_labels(door):
    with pytest.raises(
        ValueError, match=r"y must hold labels \(text or whole numbers\).*use GLM\(X, y, loss='squared'\)"
    ):
        door(REAL[:, 0])
    assert door(np.round(REAL[:, 0])).width == len(np.unique(np.round(REAL[:, 0])))


@pytest.mark.parametrize("door", [DOORS["arrays"], DOORS["parts"], DOORS["elsewhere"]])
@pytest.mark.parametrize("y", [np.zeros(N), np.full(N, "a"), np.ones((N, 1))])
def test_one_class_is_none(door, y):
    with pytest.raises(ValueError, match="only one class"):
        door(y)


@every_door
def test_one_target_per_row_is_one_response(door):
    """In parts, real targets were taken for labels and one-hot encoded."""
    one, column = (door(y, loss="squared") for y in (REAL[:, 0], REAL[:, :1]))
    assert one.width == column.width == 1
    every = np.arange(one.dim)
    assert one.refit(every).value == column.refit(every).value == pytest.approx(GLM(X, REAL[:, 0]).refit(every).value)


@cache
def minimum():
    """Of the ridge objective with the shares as targets, by SciPy."""

    def objective(z):
        C, b = z[: 3 * P].reshape(P, 3), z[3 * P :]
        eta = X @ C + b
        apart = (softmax(eta, axis=1) - SHARES) / N
        value = np.mean(logsumexp(eta, axis=1) - (SHARES * eta).sum(axis=1)) + 0.005 * (C**2).sum()
        return value, np.concatenate([(X.T @ apart + 0.01 * C).ravel(), apart.sum(axis=0)])

    return minimize(objective, np.zeros(3 * P + 3), jac=True, method="BFGS", options={"gtol": 1e-7}).fun


@every_door
def test_shares_have_a_minimum_and_it_is_found(door):
    """Shares in single precision, whose rows do not sum to exactly 1."""
    f = door(SHARES.astype(np.float32), l2=0.01)
    assert f.refit(np.arange(f.dim)).value == pytest.approx(minimum(), rel=1e-6)


def test_best_subsets_and_disk(tmp_path):
    with pytest.raises(ValueError, match="shares of the classes"):
        best_subsets(X, REAL, 2, loss="multinomial")
    np.savez(tmp_path / "d.npz", X=X, y=REAL[:, 0])
    held = open_data(convert(tmp_path / "d.npz", tmp_path / "d.pursuit"))
    with pytest.raises(ValueError, match="y must hold labels"):
        MultiGLM(held)
    assert MultiGLM(held, loss="squared").width == 1


MIXED = {
    "text and numbers": (["a", 1], r"mixed type, such as 'a' \(text\) and 1 \(numbers\)"),
    "text and None": (["a", None], "missing labels"),
    "text and NaN": (["a", np.nan], "missing labels|NaN"),
    "text and truth": ([True, "a"], r"mixed type, such as True \(numbers\) and 'a' \(text\)"),
    "objects": ([{1}, "a"], "mixed type"),
}


@pytest.mark.parametrize("as_list", [False, True])
@pytest.mark.parametrize("case", MIXED)
def test_labels_of_mixed_type(case, as_list):
    pair, message = MIXED[case]
    y = np.empty(N, dtype=object)
    y[:] = pair * (N // 2)
    y = y.tolist() if as_list else y
    for attempt in (
        lambda: MultiGLM(X, y),
        lambda: MultiGLM(in_parts(X, y)),
        lambda: SparseClassifier(2).fit(X, y),
        lambda: SparseClassifier(2).fit(in_parts(X, y)),
        lambda: MultiGLM(elsewhere(X, y)),
        lambda: SparseClassifier(2).fit(elsewhere(X, y)),
    ):
        with pytest.raises(ValueError, match=message):
            attempt()


def test_text_in_one_part_and_numbers_in_another():
    parts = [(X[:20], LABELS[:20]), (X[20:], np.arange(20) % 3)]
    far = RemoteSource(Loopback([Bundle([part], i) for i, part in enumerate(parts)]).each)
    for rows in (InParts(parts), far):
        with pytest.raises(ValueError, match="mixed type: part 1 has numbers, and part 0 has text"):
            MultiGLM(rows)
    with pytest.raises(ValueError, match="mixed type: part 1 has numbers"):
        SparseClassifier(2).fit(far)


def test_objects_that_all_are_numbers_are_labels():
    y = (X[:, 0] > 0).astype(int)
    model = SparseClassifier(2).fit(X, y.astype(object))
    assert model.classes_.dtype.kind == "i"
    assert np.array_equal(model.coef_, SparseClassifier(2).fit(X, y).coef_)


@pytest.mark.parametrize("loss", ["squared", "huber", "poisson", "logistic", "hinge", "responses", Multinomial()])
@pytest.mark.parametrize("kind", ["datetime64[D]", "timedelta64[s]", "complex", "numeric text", "mixed objects"])
def test_what_is_no_number(loss, kind):
    vector = loss == "responses" or isinstance(loss, Multinomial)
    loss = "squared" if loss == "responses" else loss
    shape = (N, 2) if vector else (N,)
    if kind == "complex":
        y = np.ones(shape) * (1 + 0j)
    elif kind == "numeric text":
        y = np.full(shape, "1")
    elif kind == "mixed objects":
        y = np.full(shape, "1", dtype=object)
        y[0] = 0.0
    else:
        y = np.ones(shape, dtype=int).astype(kind)
    with pytest.raises(ValueError, match=r"Complex data not supported: y|y must be numeric for loss"):
        MultiGLM(X, y, loss) if vector else GLM(X, y, loss, l2=1.0)
    if not vector and isinstance(loss, str) and loss in ("squared", "huber", "poisson"):
        with pytest.raises((ValueError, TypeError), match=r"Complex data|y must be numeric|float"):
            SparseRegressor(2, loss=loss).fit(X, y)
