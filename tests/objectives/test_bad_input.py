"""Input that cannot be used is named in one sentence, by GLM and by the estimators; odd arrays that can be are."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from problems import problem
from pursuit import GLM, SparseClassifier, SparseRegressor, solve

N, P = 20, 6


def good(rng):
    X = rng.standard_normal((N, P))
    return X, X[:, 1] + 0.1 * rng.standard_normal(N)


def through_glm(X, y, **settings):
    return solve(GLM(X, y, **settings), 2)


def through_regressor(X, y, sample_weight=None, **settings):
    return SparseRegressor(k=2, **settings).fit(X, y, sample_weight=sample_weight)


def through_classifier(X, y, sample_weight=None, **settings):
    labels = np.asarray(y)
    if labels.dtype.kind == "f" and np.isfinite(labels).all():
        labels = labels > np.median(labels)
    return SparseClassifier(k=2, **settings).fit(X, labels, sample_weight=sample_weight)


DOORS = {"glm": through_glm, "regressor": through_regressor, "classifier": through_classifier}
every_door = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
KINDS = {"dense": np.asarray, "fortran": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@pytest.mark.parametrize("standardize", [False, True])
@every_kind
@every_door
def test_nan_and_infinity_in_X(door, kind, standardize, rng):
    for row, column in ((0, 0), (7, 3), (N - 1, P - 1)):
        for bad in (np.nan, np.inf, -np.inf):
            X, y = good(rng)
            X[row, column] = bad
            with pytest.raises(ValueError, match="X contains NaN or infinity"):
                door(kind(X), y, standardize=standardize)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_in_an_operator(bad, rng):
    X, y = good(rng)
    X[3, 2] = bad
    with pytest.raises(ValueError, match="X contains NaN or infinity"):
        through_glm(aslinearoperator(X), y)


@pytest.mark.parametrize("standardize", [False, True])
def test_nan_in_a_row_of_weight_zero_is_still_nan(standardize, rng):
    X, y = good(rng)
    X[4, 5] = np.nan
    weight = np.ones(N)
    weight[4] = 0.0
    with pytest.raises(ValueError, match="X contains NaN or infinity"):
        through_glm(X, y, sample_weight=weight, standardize=standardize)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("door", [through_glm, through_regressor])
def test_nan_and_infinity_in_y(door, bad, rng):
    X, y = good(rng)
    y[3] = bad
    with pytest.raises(ValueError, match=r"\by\b.*(NaN|infinity)"):
        door(X, y)


def test_nan_in_the_labels(rng):
    X, _ = good(rng)
    y = np.repeat([0.0, 1.0], N // 2)
    y[3] = np.nan
    with pytest.raises(ValueError, match=r"\by\b.*NaN"):
        SparseClassifier(k=2).fit(X, y)


BAD_WEIGHTS = {
    "nan": (lambda w: np.where(np.arange(N) == 2, np.nan, w), "sample_weight contains NaN or infinity"),
    "inf": (lambda w: np.where(np.arange(N) == 2, np.inf, w), "sample_weight contains NaN or infinity"),
    "negative": (lambda w: np.where(np.arange(N) == 2, -0.5, w), "sample_weight must be non-negative, got -0.5"),
    "zero": (lambda w: 0 * w, "sample_weight is zero for every row"),
    "short": (lambda w: w[:-1], r"sample_weight must have one entry per row of X, shape \(20,\), got shape \(19,\)"),
    "matrix": (lambda w: np.ones((N, 2)), r"sample_weight must have one entry per row of X.*got shape \(20, 2\)"),
    "complex": (lambda w: w * 1j, "Complex data not supported: sample_weight"),
    "strings": (lambda w: np.full(N, "heavy"), "sample_weight must be numeric"),
}


@pytest.mark.parametrize("bad", BAD_WEIGHTS)
@every_door
def test_weights_that_are_not(door, bad, rng):
    change, message = BAD_WEIGHTS[bad]
    with pytest.raises(ValueError, match=message):
        door(*good(rng), sample_weight=change(np.ones(N)))


@pytest.mark.parametrize(
    ("offset", "message"),
    [
        (np.zeros(N - 1), "offset must have one entry per row"),
        (np.full(N, np.nan), "offset contains NaN or infinity"),
        (np.full(N, "x"), "offset must be numeric"),
        (0.5, "offset must have one entry per row"),
    ],
)
def test_offsets_that_are_not(offset, message, rng):
    with pytest.raises(ValueError, match=message):
        GLM(*good(rng), offset=offset)
    with pytest.raises(ValueError, match=message):
        SparseRegressor(k=2).fit(*good(rng), offset=offset)


@pytest.mark.parametrize("k", [0, -2])
def test_k_below_one(k, rng):
    X, y = good(rng)
    for attempt in (
        lambda: solve(GLM(X, y), k),
        lambda: SparseRegressor(k=k).fit(X, y),
        lambda: SparseClassifier(k=k).fit(X, y > 0),
    ):
        with pytest.raises(ValueError, match=f"k must be a positive integer, got {k}"):
            attempt()


@pytest.mark.parametrize("k", [2.0, 1.5, "3", None, True, np.float64(3)])
def test_k_not_an_integer(k, rng):
    X, y = good(rng)
    for attempt in (
        lambda: solve(GLM(X, y), k),
        lambda: SparseRegressor(k=k).fit(X, y),
        lambda: SparseClassifier(k=k).fit(X, y > 0),
    ):
        with pytest.raises(TypeError, match="k must be a positive integer, got"):
            attempt()


def test_k_above_the_columns_is_capped_and_said(rng):
    X, y = good(rng)
    for model in (SparseRegressor(k=50).fit(X, y), SparseClassifier(k=50, l2=0.1).fit(X, y > 0)):
        assert "k=50 was capped at the 6 columns" in model.result_.reason
        assert model.k == 50
        assert len(model.support_) <= P


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_empty_X(kind, shape):
    with pytest.raises(ValueError, match="X must have at least one row and one column, got shape"):
        GLM(kind(np.zeros(shape)), np.zeros(shape[0]))
    for model in (SparseRegressor(k=1), SparseClassifier(k=1)):
        with pytest.raises(ValueError, match=r"minimum of 1 is required|at least one row and one column"):
            model.fit(kind(np.zeros(shape)), np.arange(shape[0]) % 2)


@pytest.mark.parametrize("shape", [(5,), (5, 2, 2), ()])
def test_X_that_is_no_matrix(shape):
    with pytest.raises(ValueError, match=r"X must be a 2-D array .*got shape"):
        GLM(np.zeros(shape), np.zeros(5))
    with pytest.raises(ValueError, match=r"2D array|dim"):
        SparseRegressor(k=1).fit(np.zeros(shape), np.zeros(5))


def test_one_row():
    result = solve(GLM([[1.0, 2.0]], [3.0]), 1)
    assert result.intercept + np.array([1.0, 2.0]) @ result.x == pytest.approx(3.0)
    model = SparseRegressor(k=1).fit([[1.0, 2.0]], [3.0])
    assert model.predict([[1.0, 2.0]]) == pytest.approx([3.0])
    with pytest.raises(ValueError, match="y holds only one class"):
        SparseClassifier(k=1).fit([[1.0, 2.0]], ["a"])


def test_y_of_one_class(rng):
    X, _ = good(rng)
    with pytest.raises(ValueError, match=r"y holds only one class \(.*yes.*\); a classifier needs two"):
        SparseClassifier(k=2).fit(X, np.full(N, "yes"))


@pytest.mark.parametrize(
    "y",
    [np.zeros(N - 1), np.zeros(N + 1), np.zeros(()), 3.0, np.zeros((N, 2)), np.zeros((N, 1))],
    ids=["short", "long", "scalar", "number", "matrix", "column"],
)
def test_y_of_another_length(y, rng):
    X, _ = good(rng)
    with pytest.raises(ValueError, match=r"y must have one entry per row of X, shape \(20,\), got shape"):
        GLM(X, y, "huber")


@pytest.mark.parametrize("length", [N - 1, N + 1])
@pytest.mark.parametrize("model", [SparseRegressor(k=2), SparseClassifier(k=2)])
def test_estimators_name_inconsistent_lengths(model, length, rng):
    X, _ = good(rng)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, np.arange(length) % 2)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array])
@every_door
def test_complex_X(door, kind, rng):
    X, y = good(rng)
    with pytest.raises(ValueError, match="Complex data not supported"):
        door(kind(X * (1 + 1j)), y)


def test_complex_operator(rng):
    X, y = good(rng)
    with pytest.raises(ValueError, match="Complex data not supported: X"):
        GLM(aslinearoperator(X * 1j), y)


@pytest.mark.parametrize(
    "X",
    [[["a", "b"]] * 4, np.array([["1.5x", "2"]] * 4), np.array([[object(), 1]] * 4, dtype=object)],
    ids=["strings", "half_numbers", "objects"],
)
def test_X_that_is_not_numeric(X):
    with pytest.raises(ValueError, match="X must be numeric, got"):
        GLM(X, np.arange(4.0))
    for model in (SparseRegressor(k=1), SparseClassifier(k=1)):
        with pytest.raises((ValueError, TypeError), match=r"could not convert|must be|numeric|float"):
            model.fit(X, [0, 1, 0, 1])


def test_dates_are_not_numbers():
    with pytest.raises(ValueError, match="X must be numeric, got dtype datetime64"):
        GLM(np.array([["2020-01-01", "2020-01-02"]] * 3, dtype="datetime64[D]"), np.arange(3.0))


def test_values_too_large_to_add_up_are_not_silent(rng):
    X, y = good(rng)
    with pytest.raises(ValueError, match="X contains NaN or infinity"):
        through_glm(X * 1e307, y * 1e5)
    with pytest.raises(ValueError, match="X contains NaN or infinity"):
        through_glm(X * 1e200, y, standardize=True)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"l2": -1.0}, ValueError, "l2 must be a finite number at least 0, got -1.0"),
        ({"l2": np.nan}, ValueError, "l2 must be a finite number"),
        ({"l2": "big"}, TypeError, "l2 must be a number at least 0, got 'big'"),
        ({"l2": True}, TypeError, "l2 must be a number"),
        ({"loss": "sqared"}, ValueError, "loss 'sqared' is unknown; did you mean 'squared'"),
        ({"loss": 7}, TypeError, "loss must be a name or an instance"),
    ],
)
def test_settings_are_named(settings, error, message, rng):
    X, y = good(rng)
    with pytest.raises(error, match=message):
        GLM(X, y, **settings)
    with pytest.raises(error, match=message):
        SparseRegressor(k=2, **settings).fit(X, y)


def test_hinge_needs_a_ridge(rng):
    X, y = good(rng)
    with pytest.raises(ValueError, match="loss 'hinge' needs l2 > 0"):
        GLM(X, y > 0, "hinge")
    with pytest.raises(ValueError, match="loss 'hinge' needs l2 > 0"):
        SparseClassifier(k=2, loss="hinge", l2=0.0).fit(X, y > 0)


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        ("logistic", np.arange(N), "y must hold labels 0 and 1, or -1 and 1"),
        ("squared_hinge", np.arange(N) % 3, "y must hold labels"),
        ("poisson", -np.arange(N), "y must be non-negative for loss 'poisson'"),
        ("squared", np.full(N, "tall"), "y must be numeric for loss 'squared'"),
        ("squared", np.arange(N) * 1j, "Complex data not supported: y"),
    ],
)
def test_targets_that_the_loss_cannot_have(loss, y, message, rng):
    X, _ = good(rng)
    with pytest.raises(ValueError, match=message):
        GLM(X, y, loss)


# Odd arrays that are fine.


def _misaligned(X):
    raw = np.zeros(X.nbytes + 1, np.uint8)
    odd = raw[1:].view(np.float64).reshape(X.shape) if X.nbytes % 8 == 0 else None
    odd[...] = X
    return odd


def _readonly(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def _readonly_sparse(X):
    X = sp.csr_array(X)
    for part in (X.data, X.indices, X.indptr):
        part.setflags(write=False)
    return X


def _unsorted(X):
    """Each row's entries in reverse order."""
    X = sp.csr_array(X)
    for low, high in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[low:high] = X.indices[low:high][::-1].copy()
        X.data[low:high] = X.data[low:high][::-1].copy()
    X.has_sorted_indices = False
    return X


def _duplicated(X):
    """Every entry as two halves."""
    X = sp.coo_array(X)
    halves = np.repeat(X.data / 2, 2), np.repeat(X.row, 2), np.repeat(X.col, 2)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(halves[1], minlength=X.shape[0]))])
    order = np.argsort(halves[1], kind="stable")
    return sp.csr_array((halves[0][order], halves[2][order], indptr), shape=X.shape)


ODD = {
    "read_only": _readonly,
    "read_only_sparse": _readonly_sparse,
    "big_endian": lambda X: X.astype(">f8"),
    "big_endian_float32": lambda X: X.astype(">f4"),
    "non_contiguous": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "negative_rows": lambda X: X[::-1].copy()[::-1],
    "negative_columns": lambda X: X[:, ::-1].copy()[:, ::-1],
    "transposed": lambda X: X.T.copy().T,
    "broadcast_free": lambda X: np.moveaxis(np.stack([X, X], axis=1), 1, 0)[1],
    "misaligned": _misaligned,
    "integers": lambda X: X.astype(np.int64),
    "small_integers": lambda X: X.astype(np.int8),
    "half_floats": lambda X: X.astype(np.float16),
    "long_doubles": lambda X: X.astype(np.longdouble),
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "matrix_subclass": lambda X: X.view(type("Labelled", (np.ndarray,), {})),
    "masked_free": np.ma.asarray,
    "unsorted_indices": _unsorted,
    "duplicated_indices": _duplicated,
    "coo": sp.coo_array,
    "lil": sp.lil_matrix,
    "dok": sp.dok_array,
    "bsr": lambda X: sp.bsr_array(X, blocksize=(2, 2)),
    "sparse_integers": lambda X: sp.csr_array(X.astype(np.int32)),
    "sparse_explicit_zeros": lambda X: _with_zeros(X),
    "sparse_big_endian": lambda X: sp.csr_array((sp.csr_array(X).data.astype(">f8"), *_structure(X)), shape=X.shape),
}


def _structure(X):
    X = sp.csr_array(X)
    return X.indices, X.indptr


def _with_zeros(X):
    """Every zero stored."""
    full = sp.csr_array(np.ones_like(X))
    full.data = X.ravel().copy()
    return full


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_odd_arrays_give_the_plain_answer(odd, loss, standardize):
    rng = np.random.default_rng(5)
    X = rng.integers(-4, 5, (40, 8)).astype(float)  # int8 and float16 hold them
    eta = X[:, 2] - X[:, 5] + rng.standard_normal(40)
    y = eta if loss == "squared" else eta > 0
    given = ODD[odd](X)
    before = given.toarray().copy() if sp.issparse(given) else np.array(given, dtype=float)
    plain = solve(GLM(X, y, loss, l2=0.01, standardize=standardize), 3, solver="grahtp")
    other = solve(GLM(given, y, loss, l2=0.01, standardize=standardize), 3, solver="grahtp")
    assert np.array_equal(before, X)
    assert np.array_equal(other.support, plain.support)
    np.testing.assert_allclose(other.coef, plain.coef, rtol=1e-9)
    after = given.toarray() if sp.issparse(given) else np.array(given, dtype=float)
    assert np.array_equal(before, after)  # the user's data are not touched


@pytest.mark.parametrize("odd", ODD)
def test_estimators_take_odd_arrays_too(odd):
    rng = np.random.default_rng(5)
    X = rng.integers(-4, 5, (40, 8)).astype(float)
    y = X[:, 2] - X[:, 5] + rng.standard_normal(40)
    given = ODD[odd](X)
    plain, other = (SparseRegressor(k=3, solver="grahtp").fit(data, y) for data in (X, given))
    assert np.array_equal(other.support_, plain.support_)
    np.testing.assert_allclose(other.coef_, plain.coef_, rtol=1e-5)
    np.testing.assert_allclose(other.predict(given), plain.predict(X), rtol=1e-4, atol=1e-5)


ODD_VECTORS = {
    "read_only": _readonly,
    "big_endian": lambda v: v.astype(">f8"),
    "float32": lambda v: v.astype(np.float32),
    "integers": lambda v: v.astype(np.int16),
    "strided": lambda v: np.repeat(v, 3)[::3],
    "reversed": lambda v: v[::-1].copy()[::-1],
    "list": list,
    "objects": lambda v: v.astype(object),
}


@pytest.mark.parametrize("odd", ODD_VECTORS)
def test_odd_vectors_give_the_plain_answer(odd):
    given = problem("squared", weights=True)
    y, offset = np.round(given.y * 10), np.round(given.X[:, 0] * 10)
    plain = solve(GLM(given.X, y, sample_weight=given.weight, offset=offset), 3, solver="grahtp")
    change = ODD_VECTORS[odd]
    other = solve(
        GLM(given.X, change(y), sample_weight=change(given.weight), offset=change(offset)), 3, solver="grahtp"
    )
    assert np.array_equal(other.x, plain.x)


def test_bool_columns(rng):
    X = rng.random((60, 5)) < 0.5
    y = X[:, 1] * 2.0 + 0.1 * rng.standard_normal(60)
    plain, other = (solve(GLM(data, y), 2, solver="grahtp") for data in (X.astype(float), X))
    assert np.array_equal(plain.x, other.x)


def test_frames_are_matrices():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    given = problem("squared")
    plain = solve(GLM(given.X, given.y), 3, solver="grahtp")
    names = [f"c{j}" for j in range(given.X.shape[1])]
    for frame, y in (
        (pd.DataFrame(given.X, columns=names), pd.Series(given.y)),
        (pl.DataFrame(given.X, schema=names), pl.Series(given.y)),
    ):
        np.testing.assert_allclose(solve(GLM(frame, y), 3, solver="grahtp").x, plain.x, rtol=1e-12)
