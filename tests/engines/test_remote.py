"""Remote rows: the same bits as local ones, whatever is lost on the way, and no object outlives its last reference."""

import gc
from itertools import product

import numpy as np
import pytest

import pursuit
from engines.loopback import Loopback
from problems import DUAL, problem
from pursuit.data import InParts
from pursuit.data.parts import Parts
from pursuit.losses import as_loss

LOSSES = list(pursuit.list_losses())
SOLVERS = [name for name in pursuit.list_solvers() if name not in DUAL]
PAIRS = [*product(SOLVERS, ["squared", "logistic"]), *product(["grahtp", "omp"], LOSSES)]


def here_and_there(loss, lose=0, standardize=True):
    """The same objective on parts in this process and on parts elsewhere."""
    given = problem(loss, weights=True, offset=True)
    parts = InParts(given.parts()).bound(as_loss(loss))
    far = Loopback(parts.parts, lose)
    there = Parts(far.each.rows, far.each)
    settings = {"loss": loss, "l2": given.l2, "standardize": standardize}
    near = Parts(parts.parts)
    near.__class__ = Settled  # which rows elsewhere are not either: a search of small data would copy them
    return pursuit.GLM(near, **settings), pursuit.GLM(there, **settings), far


class Settled(Parts):
    near = False

    def _like(self, parts):
        return Settled(parts, self.each)


def assert_bits(one, other):
    assert np.array_equal(one.support, other.support)
    assert np.array_equal(one.coef, other.coef)
    assert (one.value, one.intercept, one.status, one.optimality) == (
        other.value,
        other.intercept,
        other.status,
        other.optimality,
    )


@pytest.mark.parametrize(("solver", "loss"), PAIRS)
def test_the_same_bits(solver, loss):
    near, there, far = here_and_there(loss)
    one, other = (pursuit.solve(f, 3, solver=solver, max_iter=50, random_state=0) for f in (near, there))
    assert far.requests > 0
    assert_bits(one, other)


@pytest.mark.parametrize("lose", [1, 2, 3, 7])
@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
@pytest.mark.parametrize("solver", ["grahtp", "auto"])
def test_what_is_lost_is_made_again(solver, loss, lose):
    near, there, _ = here_and_there(loss, lose)
    assert_bits(*(pursuit.solve(f, 3, solver=solver, max_iter=50) for f in (near, there)))


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_paths_and_folds(loss):
    near, there, _ = here_and_there(loss, lose=5)
    for one, other in zip(*(pursuit.path(f, range(1, 5)) for f in (near, there)), strict=True):
        assert_bits(one, other)
    for j in range(3):
        folds = [pursuit.GLM(f.data.raw.folds().train(j), loss=loss, l2=near.ridge) for f in (near, there)]
        assert_bits(*(pursuit.solve(f, 3, solver="grahtp") for f in folds))


def test_parts_of_parts():
    given = problem("logistic", weights=True)
    flat = InParts(given.parts()).bound(as_loss("logistic"))
    nested = Parts([Parts(flat.parts[:2]), flat.parts[2]])
    for solver in ("grahtp", "omp", "auto"):
        one, other = (
            pursuit.solve(pursuit.GLM(data, loss="logistic", l2=0.1, standardize=True), 3, solver=solver)
            for data in (flat, nested)
        )
        assert np.array_equal(one.support, other.support)
        np.testing.assert_allclose(other.coef, one.coef, rtol=1e-9)


def test_nothing_is_kept_that_nobody_needs():
    _, there, far = here_and_there("logistic")
    for k in (1, 2, 3):
        pursuit.solve(there, k, solver="grahtp")
    gc.collect()
    there.data.value(np.array([0]), np.array([0.5]), 0.0)  # releases travel with the next request
    assert all(len(server.objects) <= 8 for server in far.servers)


def test_a_typo_is_no_request():
    _, there, far = here_and_there("squared")
    part, before = there.data.raw.parts[0], far.requests
    with pytest.raises(AttributeError, match="'wieght'"):
        part.wieght
    assert far.requests == before


def test_proofs_without_rows():
    near, there, _ = here_and_there("squared")
    proofs = [pursuit.certify(f, pursuit.solve(f, 3), time_limit=20) for f in (near, there)]
    assert proofs[0].status == proofs[1].status == "proved"
    assert proofs[0].lower == proofs[1].lower


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_fingerprint_is_made_where_the_rows_are(loss):
    here, there, far = here_and_there(loss)
    answers, real = [], far.each.transport
    far.each.transport = lambda requests: [answers.append(answer) or answer for answer in real(requests)]
    assert there.data.raw.sketch().tobytes() == here.data.raw.sketch().tobytes()
    assert len(answers) == len(far.parts)
    assert all(answer.nbytes < 100 for answer in answers)
