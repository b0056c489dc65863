"""What tells data apart: every kind of objective and of data, by one pass over the rows where they are."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import pursuit
from pursuit import _core
from pursuit.cli import main
from pursuit.data.rows import Data
from pursuit.data.sketch import N_SUMS
from pursuit.designs import Dense, Operator, Sparse
from pursuit.losses import Loss
from pursuit.solving.checkpoint import _agree


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((300, 40))
    return X, X[:, 0] + rng.standard_normal(300)


def agree(mine, theirs):
    return len(mine) == len(theirs) and all(_agree(*a, *b) for a, b in zip(mine, theirs, strict=True))


CHANGES = {
    "y + 100": lambda X, y: {"X": X, "y": y + 100},
    "X + 273": lambda X, y: {"X": X + 273, "y": y},
    "offset + 5": lambda X, y: {"X": X, "y": y, "offset": np.full(len(y), 5.0)},
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("loss", ["squared", "huber", "logistic"])
def test_shifted_data_are_other_data(loss, change, rows, tmp_path):
    """The issue's cases: with an intercept the null model sees none of these."""
    X, y = rows
    y = (y > 0).astype(float) if loss == "logistic" else y
    other = CHANGES[change](X, y)
    if loss == "logistic" and change == "y + 100":
        other["y"] = 1 - y
    for kind in ("solve", "path"):
        ask = (
            (lambda f, c: pursuit.solve(f, 4, solver="grahtp", checkpoint=c))
            if kind == "solve"
            else (lambda f, c: pursuit.path(f, [1, 2], checkpoint=c))
        )
        ask(pursuit.GLM(X, y, loss), tmp_path / kind)
        before = (tmp_path / kind).read_bytes()
        with pytest.raises(ValueError, match=f"{kind} is of another problem: "):
            ask(pursuit.GLM(loss=loss, **other), tmp_path / kind)
        ask(pursuit.GLM(X.copy(), y.copy(), loss), tmp_path / kind)
        assert (tmp_path / kind).read_bytes() == before


def test_estimators_and_the_command_refuse_other_rows(rows, tmp_path, capsys):
    X, y = rows
    pursuit.SparseRegressor(4, solver="grahtp").fit(X, y, checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match="of another problem: of other data"):
        pursuit.SparseRegressor(4, solver="grahtp").fit(X, y + 100, checkpoint=tmp_path / "c")
    data, command = tmp_path / "d.npz", ["-k", "4", "--checkpoint", tmp_path / "run", "-o", tmp_path / "m.json"]
    for shift, code in ((0, 0), (0, 0), (100, 2)):
        np.savez(data, X=X, y=y + shift)
        (tmp_path / "m.json").unlink(missing_ok=True)
        assert main([str(word) for word in ("fit", data, *command, "--resume")]) == code
    assert "of other data" in capsys.readouterr().err
    assert not (tmp_path / "m.json").exists()


def test_how_rows_are_stored_does_not_matter(rows, rng):
    X = np.where(rng.random((300, 40)) < 0.5, rows[0], 0.0).astype(np.float32).astype(np.float64)
    y, w, o, order = rows[1], rng.random(300), rng.standard_normal(300), rng.permutation(300)

    def sketch(X, y=y, w=w, o=o):
        return pursuit.GLM(X, y, sample_weight=w, offset=o).data.raw.sketch()

    base = sketch(X)
    assert base.shape == (N_SUMS, 2)
    stored = [np.asfortranarray(X), X.astype(np.float32), sp.csr_array(X), sp.csc_array(X), X[:, ::-1].copy()[:, ::-1]]
    for other in stored:
        assert sketch(other).tobytes() == base.tobytes()
    parts = [(X[cut], y[cut], w[cut], o[cut]) for cut in np.array_split(order, 7)]
    for other in (
        sketch(X[order], y[order], w[order], o[order]),
        sketch(X, w=1e-6 * w),
        sketch(np.vstack([X, X]), np.tile(y, 2), np.tile(w, 2), np.tile(o, 2)),
        pursuit.GLM(pursuit.InParts(parts)).data.raw.sketch(),
    ):
        np.testing.assert_allclose(other[:, 0], base[:, 0], rtol=0, atol=base[0, 1])


def test_every_single_entry_counts(rng):
    X, y, w, o = rng.standard_normal((6, 4)), rng.standard_normal(6), rng.random(6) + 0.1, rng.standard_normal(6)
    given = {"X": X, "y": y, "w": w, "o": o}

    def sketch(X, y, w, o):
        return pursuit.GLM(X, y, sample_weight=w, offset=o).data.raw.sketch()

    base = sketch(**given)
    for name, array in given.items():
        for place in np.ndindex(array.shape):
            for change in (
                np.nextafter(array[place], 9.0),
                2 * array[place],
                *(() if name == "w" else (-array[place],)),
            ):
                other = array.copy()
                other[place] = change
                if name == "w" and abs(change - array[place]) < 1e-9:
                    continue  # rounding of weights is not a change
                apart = np.abs(sketch(**{**given, name: other})[:, 0] - base[:, 0])
                assert (apart > 100 * base[:, 1]).all(), (name, place)


@pytest.mark.parametrize("n", [2, 3, 8])
def test_flipped_signs_do_not_cancel(n, rng):
    """Of an even number of rows or columns the topmost bits would, in a plain sum modulo a power of two."""
    X = rng.standard_normal((n, n))
    base = Dense(X).row_hashes()
    for flip in (np.ones((n, n)), np.ones((n, 1)), np.ones((1, n))):
        assert not (Dense(X * -flip).row_hashes() == base).any()
    assert (Dense(X[:, ::-1].copy()).row_hashes() != base).all()


def test_designs_without_a_kernel_hash_alike(rows):
    X = rows[0][:, :37]
    expected = Dense(X).row_hashes()
    assert np.array_equal(super(Dense, Dense(X)).row_hashes(), expected)
    assert np.array_equal(pursuit.designs.base.Design.row_hashes(Operator(aslinearoperator(X))), expected)
    assert np.array_equal(pursuit.designs.base.Design.row_hashes(Sparse(sp.csr_array(X))), expected)
    assert np.array_equal(_core.Matrix(np.asfortranarray(X)).row_hashes(0), expected)


def test_operators_are_told_apart_by_products(rows, tmp_path):
    X, y = rows

    class Counted:
        shape, dtype, products = X.shape, X.dtype, 0

        def __init__(self, A):
            self.A = A

        def matvec(self, v):
            Counted.products += 1
            return self.A @ v

        def rmatvec(self, v):
            return self.A.T @ v

    operators = {"same": X.copy(), "scaled": X * (1 + 1e-6), "columns": X[:, ::-1], "rows": X[::-1], "sign": -X}
    pursuit.recover(Counted(X), y, 3, checkpoint=tmp_path / "c")
    for name, A in operators.items():
        Counted.products = 0
        if name == "same":
            pursuit.recover(Counted(A), y, 3, checkpoint=tmp_path / "c")
        else:
            with pytest.raises(ValueError, match="of other data"):
                pursuit.recover(Counted(A), y, 3, checkpoint=tmp_path / "c")
        assert Counted.products <= 5  # one of them checks the adjoint; not one per column
    with pytest.raises(ValueError, match="of other data"):
        pursuit.recover(Counted(X), y + 1e-3, 3, checkpoint=tmp_path / "c")
    z = X + 1j * X[:, ::-1]
    pursuit.recover(z, y, 2, checkpoint=tmp_path / "complex")
    with pytest.raises(ValueError, match="of other data"):
        pursuit.recover(z.conj(), y, 2, checkpoint=tmp_path / "complex")


def test_other_objectives_are_told_apart(rows, tmp_path):
    X, y = rows[0][:, :6], rows[1]
    S = np.cov(X.T)
    labels = np.digitize(y, [-0.5, 0.7])

    def sums(X, y):
        return pursuit.Quadratic(X.T @ X, X.T @ y, y @ y, len(y), mean=X.mean(axis=0), ymean=y.mean())

    curved = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    g = np.arange(1.0, 7.0)

    def quadratic(H):
        return pursuit.Function(lambda x: 0.5 * x @ H @ x - g @ x, lambda x: H @ x - g, 6)

    pairs = {
        "classes": (lambda: pursuit.MultiGLM(X, labels, l2=0.1), lambda: pursuit.MultiGLM(X + 1, labels, l2=0.1)),
        "responses": (
            lambda: pursuit.MultiGLM(X, np.column_stack([y, y]), "squared"),
            lambda: pursuit.MultiGLM(X, np.column_stack([y, y + 1]), "squared"),
        ),
        "graph": (lambda: pursuit.LogDet(S), lambda: pursuit.LogDet(S[::-1, ::-1])),
        "units": (lambda: pursuit.LogDet(S), lambda: pursuit.LogDet(4 * S)),
        "shrinkage": (lambda: pursuit.LogDet(S), lambda: pursuit.LogDet(S, shrinkage=0.1)),
        "eigenvalues": (lambda: pursuit.LogDet(S), lambda: pursuit.LogDet(S, eigenvalues=(0.1, 2.0))),
        "sums": (lambda: sums(X, y), lambda: sums(X, y + 1)),
        "sums of X": (lambda: sums(X, y), lambda: sums(2 * X, y)),
        "function": (lambda: quadratic(curved), lambda: quadratic(curved[::-1, ::-1])),
    }
    for name, (mine, other) in pairs.items():
        for ask in (
            lambda f, c: pursuit.solve(f, 2, solver="omp", checkpoint=c),
            lambda f, c: pursuit.path(f, [1, 2], checkpoint=c),
        ):
            file = tmp_path / name
            file.unlink(missing_ok=True)
            ask(mine(), file)
            ask(mine(), file)
            with pytest.raises(ValueError, match="of another problem"):
                ask(other(), file)


def test_relabelled_columns_of_sums_are_others(rows):
    X, y = rows[0][:, :12], rows[1]
    S = np.cov(X.T)

    def numbers(order):
        sums = pursuit.Quadratic(X.T[order] @ X[:, order], X.T[order] @ y, y @ y, len(y))
        return pursuit.LogDet(S[np.ix_(order, order)]).fingerprint(), sums.fingerprint()[3:]

    base = numbers(np.arange(12))
    for i, j in zip(*np.triu_indices(12, 1), strict=True):
        order = np.arange(12)
        order[[i, j]] = j, i
        assert not any(agree(mine, theirs) for mine, theirs in zip(base, numbers(order), strict=True))


class Lopsided(Loss):
    """Squared above, and ``below`` times that below; its settings are in a closure."""

    name, targets, smooth, smoothness = "lopsided", "real", True, np.inf

    def __init__(self, below):
        self._side = lambda r: np.where(r > 0, 1.0, below)

    def value(self, y, eta):
        return 0.5 * self._side(eta - y) * (eta - y) ** 2

    def d1(self, y, eta):
        return self._side(eta - y) * (eta - y)

    def d2(self, y, eta):
        return self._side(eta - y)


def test_a_loss_of_the_users(rows, tmp_path):
    X, y = rows[0][:, :6], rows[1]
    for _ in range(2):
        first = pursuit.solve(pursuit.GLM(X, y, Lopsided(2.0)), 2, solver="omp", checkpoint=tmp_path / "c")
    assert first.converged
    with pytest.raises(ValueError, match="another loss"):
        pursuit.solve(pursuit.GLM(X, y, Lopsided(3.0)), 2, solver="omp", checkpoint=tmp_path / "c")


def test_a_file_that_lies_about_its_value_is_refused(rows, tmp_path, monkeypatch):
    """Whatever the fingerprint says: the value of a point is computed anew before it is believed."""
    X, y = rows
    monkeypatch.setattr(pursuit.GLM, "fingerprint", lambda self: [])
    for kind in ("solve", "limit", "path"):
        ask = {
            "solve": lambda f, c: pursuit.solve(f, 3, solver="omp", checkpoint=c),
            "limit": lambda f, c: pursuit.solve(f, 3, solver="omp", max_iter=2, checkpoint=c),
            "path": lambda f, c: pursuit.path(f, range(4), checkpoint=c),
        }[kind]
        ask(pursuit.GLM(X, y), tmp_path / kind)
        with pytest.raises(ValueError, match=r"of other data \(its point has the value"):
            ask(pursuit.GLM(X, y + 1), tmp_path / kind)
        ask(pursuit.GLM(X, y), tmp_path / kind)


def test_rows_on_a_disk_are_hashed_block_by_block(rows, tmp_path, monkeypatch):
    X, y = rows
    monkeypatch.setattr("pursuit.data.disk.write.BLOCK_BYTES", 20_000)
    monkeypatch.setattr("pursuit.data.disk.write.MIN_VECTORS_PER_BLOCK", 1)
    monkeypatch.setattr("pursuit.io._chunks.CHUNK_BYTES", 10_000)
    for name, shift in (("a", 0.0), ("b", 100.0)):
        np.savez(tmp_path / f"{name}.npz", X=X, y=y + shift)
        pursuit.convert(tmp_path / f"{name}.npz", tmp_path / f"{name}.pursuit")
    a, b = (pursuit.open_data(tmp_path / f"{name}.pursuit") for name in "ab")
    assert len(a.parts) > 3
    monkeypatch.setattr(Data, "copied", None)
    data = pursuit.GLM(a).data.raw
    before = [design.reads for design in a.designs]
    sketch = data.sketch()
    assert [design.reads - old for design, old in zip(a.designs, before, strict=True)] == [1] * len(before)
    np.testing.assert_allclose(sketch[:, 0], pursuit.GLM(X, y).data.raw.sketch()[:, 0], rtol=0, atol=1e-13)
    monkeypatch.undo()
    whole = pursuit.solve(pursuit.GLM(a), 3, solver="grahtp", checkpoint=tmp_path / "c")
    again = pursuit.solve(pursuit.GLM(X, y), 3, solver="grahtp", checkpoint=tmp_path / "c")  # the same rows, here
    np.testing.assert_allclose(again.x, whole.x, rtol=1e-9)
    with pytest.raises(ValueError, match="of other data"):
        pursuit.solve(pursuit.GLM(b), 3, solver="grahtp", checkpoint=tmp_path / "c")


def test_a_run_that_tol_has_ended_goes_on_with_another(rows, tmp_path):
    X, y = rows
    rough = pursuit.solve(pursuit.GLM(X, y), 5, solver="omp", tol=0.9, checkpoint=tmp_path / "c")
    fine = pursuit.solve(pursuit.GLM(X, y), 5, solver="omp", checkpoint=tmp_path / "c")
    assert fine.value == pytest.approx(pursuit.solve(pursuit.GLM(X, y), 5, solver="omp").value)
    assert rough.value >= fine.value


def test_a_result_of_a_standardised_twin_is_converted(rows, tmp_path):
    X, y = rows
    X = X * np.linspace(0.01, 100, 40) + 5
    plain, twin = pursuit.GLM(X, y), pursuit.GLM(X, y, standardize=True)
    for f, other in ((plain, twin), (twin, plain)):
        start = pursuit.solve(other, 4)
        first = []
        end = pursuit.solve(f, 4, solver="grahtp", start=start, callback=first.append)
        assert first[0].value <= start.value * (1 + 1e-9)  # and not that of other units
        assert end.value <= start.value * (1 + 1e-9)
        from pursuit.solving.driver import _start

        point = _start(f, f.sparse_set(4), start)
        eta = X @ start.x + start.intercept
        assert point.value == pytest.approx(0.5 * np.mean((y - eta) ** 2), rel=1e-9)
    several = np.column_stack([y, -y])
    start = pursuit.solve(pursuit.MultiGLM(X, several, "squared", standardize=True), 2)
    f = pursuit.MultiGLM(X, several, "squared")
    point = _start(f, f.sparse_set(2), start)
    assert point.value == pytest.approx(start.value, rel=1e-9)
    z = (X + 1j) * np.exp(1j * np.arange(40))
    start = pursuit.recover(z, y, 2)
    assert pursuit.recover(z, y, 2, start=start).value == pytest.approx(start.value, rel=1e-9)
