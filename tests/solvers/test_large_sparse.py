"""Sparse data with many more columns than can ever be dense: nothing of the size n x k (k in the thousands), p x p or
k x p is written, nobody sorts p numbers, and refits by products are those by Hessians."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import pursuit
from pursuit.data import rows as data_rows
from pursuit.designs import DenseBlock, Sparse, SparseBlock, between, sparse
from pursuit.designs.standardized import StandardizedBlock
from pursuit.refits import columns
from pursuit.refits.columns import LossOnColumns
from pursuit.solvers import exchanges

BATCH = ("grahtp", "fgrahtp", "grasp", "pht", "svrght", "diht", "sdiht")
N, P, K = 1500, 40_000, 2500
WIDE = 300  # columns beyond which nothing may be dense


def text(n=N, p=P, seed=0, per_row=40, form=sp.csr_array):
    """Rows of unit length with words as frequent as words are, and two classes."""
    rng = np.random.default_rng(seed)
    words = np.minimum((p * rng.random((n, per_row)) ** 3).astype(int), p - 1)
    X = sp.csr_array((rng.random(n * per_row) + 0.5, (np.repeat(np.arange(n), per_row), words.ravel())), shape=(n, p))
    X.sum_duplicates()
    X.data /= np.repeat(np.sqrt(np.asarray((X * X).sum(axis=1)).ravel()), np.diff(X.indptr))
    eta = X @ (rng.standard_normal(p) * (rng.random(p) < 0.2)) * 5
    return form(X), np.where(eta + 0.3 * rng.logistic(size=n) > 0, 1.0, -1.0)


@pytest.fixture
def nothing_dense(monkeypatch):
    """Gathered columns that refuse to become a wide array; what counts as large is less than n x k here."""
    monkeypatch.setattr(columns, "MAX_SPARSE_COPY", 1e6)
    monkeypatch.setattr(data_rows, "MAX_SPARSE_COPY", 1e6)
    for kind in (SparseBlock, StandardizedBlock):
        own = kind.dense

        def dense(self, own=own):
            assert self.width <= WIDE, f"{self.width} sparse columns became dense"
            return own(self)

        monkeypatch.setattr(kind, "dense", dense)
    made = DenseBlock.__init__

    def init(self, A):
        assert A.shape[1] <= WIDE, f"{A.shape[1]} columns are held as an array"
        made(self, A)

    monkeypatch.setattr(DenseBlock, "__init__", init)


@pytest.fixture
def nothing_sorted(monkeypatch):
    """NumPy without its ways to order p numbers."""
    for name in ("sort", "argsort", "lexsort", "partition", "argpartition", "unique"):
        own = getattr(np, name)

        def ordered(a, *given, own=own, name=name, **named):
            assert np.size(a) < P // 2, f"np.{name} over {np.size(a)} numbers"
            return own(a, *given, **named)

        monkeypatch.setattr(np, name, ordered)


@pytest.mark.usefixtures("nothing_dense", "nothing_sorted")
@pytest.mark.parametrize("solver", BATCH)
def test_batch_pursuits_choose_thousands(solver):
    X, y = text()
    f = pursuit.GLM(X, y, "logistic", l2=1e-3, fit_intercept=False)
    tracemalloc.start()
    result = pursuit.solve(f, K, solver=solver, max_iter=4)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.value < f.null.value
    assert len(result.support) == K
    assert most < 8 * N * K / 3  # which is what a third of n x k would take


@pytest.mark.usefixtures("nothing_dense")
@pytest.mark.parametrize("standardize", [False, True])
def test_with_an_intercept_on_standardised_columns(standardize):
    X, y = text()
    f = pursuit.GLM(X, y, "logistic", l2=1e-3, standardize=standardize)
    result = pursuit.solve(f, 1600, solver="grahtp", max_iter=2)
    square, mean = np.asarray((X * X).mean(axis=0)).ravel(), np.asarray(X.mean(axis=0)).ravel()
    scale = np.sqrt(square - mean**2) if standardize else np.ones(P)
    eta = X @ result.x + result.intercept
    ridge = 0.5e-3 * np.sum((result.x * scale) ** 2)
    assert result.value == pytest.approx(np.log1p(np.exp(-y * eta)).mean() + ridge, rel=1e-9)


@pytest.mark.usefixtures("nothing_dense")
@pytest.mark.parametrize("solver", ["omp", "ompr", "foba", "fbs", "arht", "local_search"])
def test_unit_by_unit_stays_sparse(solver, monkeypatch):
    """With the limits lowered to where these sizes are large."""
    monkeypatch.setattr(columns, "MAX_SPARSE_COPY", 1e4)
    monkeypatch.setattr(data_rows, "MAX_SPARSE_COPY", 1e4)
    monkeypatch.setattr(exchanges, "MAX_HESSIAN_ENTRIES", 2e4)
    X, y = text(400, 5000)
    f = pursuit.GLM(X, y, "logistic", l2=1e-2)
    want = pursuit.solve(pursuit.GLM(X.toarray(), y, "logistic", l2=1e-2), 12, solver=solver, max_iter=60)
    got = pursuit.solve(f, 12, solver=solver, max_iter=60)
    assert got.value == pytest.approx(want.value, rel=1e-9)
    np.testing.assert_array_equal(got.support, want.support)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("loss", ["logistic", "squared", "huber", "poisson", "squared_hinge"])
@pytest.mark.parametrize("standardize", [False, True])
def test_products_find_what_a_hessian_finds(loss, form, standardize, monkeypatch):
    X, y = text(500, 3000, form=form)
    y = np.maximum(y, 0.0) * 2 if loss == "poisson" else y
    f = pursuit.GLM(X, y, loss, l2=1e-2, standardize=standardize)
    support = np.arange(0, 400, 2)
    want = f.refit_on_data(support)
    monkeypatch.setattr(columns, "MAX_HESSIAN_COLUMNS", 100)
    few = f.support_problem(support)
    assert few.by_products
    got = f.refit_on_data(support)
    assert not got.note
    assert got.value == pytest.approx(want.value, rel=1e-11)
    np.testing.assert_allclose(got.coef, want.coef, atol=2e-6 * np.abs(want.coef).max())
    assert got.free == pytest.approx(want.free, abs=1e-5)


def test_where_products_take_too_long_a_hessian_is_formed(monkeypatch):
    X, y = text(500, 3000)
    f = pursuit.GLM(X, y, "logistic", l2=1e-7)
    support = np.arange(350)
    assert f.support_problem(support).tried_by_products
    monkeypatch.setattr(columns, "MAX_FIRST_PRODUCTS", 5)
    hasty = f.refit_on_data(support)
    monkeypatch.setattr(LossOnColumns, "tried_by_products", False)
    want = f.refit_on_data(support)
    assert hasty.value == pytest.approx(want.value, rel=1e-9)


def test_products_of_blocks():
    X, _ = text(300, 800)
    rng = np.random.default_rng(1)
    w, D = rng.random(300), X.toarray()
    some, others = np.arange(5, 25), np.arange(0, 800, 3)
    for form in (sp.csr_array, sp.csc_array):
        A, C = Sparse(form(X)).block(some), Sparse(form(X)).block(others)
        np.testing.assert_allclose(between(A, w, C), D[:, some].T @ (w[:, None] * D[:, others]), atol=1e-12)
        wide = DenseBlock(np.asfortranarray(D[:, others]))
        np.testing.assert_allclose(between(A, w, wide), D[:, some].T @ (w[:, None] * D[:, others]), atol=1e-12)


@pytest.mark.parametrize("standardize", [True, False])
def test_a_small_wide_csr_matrix_is_read_by_a_csc_copy(standardize, monkeypatch):
    X, y = text(200, 900)
    wide = pursuit.GLM(X, y, "logistic", l2=1e-3, standardize=standardize)
    monkeypatch.setattr(sparse, "MAX_CSC_COPY_BYTES", 0)
    plain = pursuit.GLM(X, y, "logistic", l2=1e-3, standardize=standardize)
    assert X.format == "csr"
    assert wide.data.raw.design.copied_to_csc
    assert not plain.data.raw.design.copied_to_csc
    support = np.arange(3, 43, 4)
    got, want = wide.refit(support), plain.refit(support)
    assert got.value == pytest.approx(want.value, rel=1e-12)
    np.testing.assert_allclose(got.coef, want.coef, rtol=1e-8)
    np.testing.assert_allclose(got.gradient, want.gradient, atol=1e-14)
    for solver in ("grahtp", "local_search", "sdiht"):
        first, second = (pursuit.solve(f, 10, solver=solver) for f in (wide, plain))
        assert first.value == pytest.approx(second.value, rel=1e-9)
    assert pursuit.solve(wide, 10, solver="grahtp").value == pursuit.solve(wide, 10, solver="grahtp").value


def test_a_high_matrix_is_read_as_it_is():
    X, y = text(900, 200)
    assert not pursuit.GLM(X, y, "logistic").data.design.copied_to_csc


@pytest.mark.parametrize("solver", ["omp", "ompr", "foba", "fbs", "arht", "local_search", "auto"])
def test_what_would_take_hours_is_said_in_a_sentence(solver):
    X, y = text(2000, 60_000, per_row=200)
    f = pursuit.GLM(X, y, "logistic", l2=1e-3)
    with pytest.raises(ValueError, match=rf"'{solver}' goes unit by unit: k=50000 takes about \d+ gradients.* hours"):
        pursuit.solve(f, 50_000, solver=solver)


def test_a_limit_is_consent():
    X, y = text(200, 30_000)
    f = pursuit.GLM(X, y, "logistic", l2=1e-3)
    f.seconds = lambda size: 3600.0
    with pytest.raises(ValueError, match="give a time_limit"):
        pursuit.solve(f, 1001, solver="omp")
    assert len(pursuit.solve(f, 1001, solver="omp", time_limit=0.2).support) >= 0
    assert len(pursuit.solve(f, 5, solver="omp").support) == 5
    assert pursuit.solve(f, 1001, solver="grahtp", max_iter=1).n_iter == 1
