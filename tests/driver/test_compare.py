import numpy as np
import pytest

import pursuit
from pursuit import GLM, OMP, compare, solve

RNG = np.random.default_rng(2)
X = RNG.standard_normal((60, 20)) + RNG.standard_normal((60, 1))
Y = X[:, [2, 9, 11]] @ [1.0, -2.0, 0.7] + RNG.standard_normal(60)


def test_results_are_those_of_solve_in_order_of_their_values():
    found = compare(GLM(X, Y), 3, solvers=["omp", "grahtp", "auto", "local_search"])
    assert set(found.results) == {"omp", "grahtp", "auto", "local_search"}
    for name, result in found.results.items():
        assert result.value == pytest.approx(solve(GLM(X, Y), 3, solver=name).value, rel=1e-12)
    values = [result.value for result in found.results.values()]
    assert values == pytest.approx(sorted(values), rel=1e-9)
    assert found.best.value == pytest.approx(min(values))
    frame = found.to_frame()
    assert frame["solver"].tolist() == list(found.results)
    np.testing.assert_allclose(frame["above_best"], frame["value"] / frame["value"].min() - 1, atol=1e-9)
    text = str(found)
    assert all(name in text for name in found.results)
    assert "<td>omp</td>" in found._repr_html_()


def test_every_solver_is_a_row_or_a_reason():
    found = compare(GLM(X, Y), 2, warm_up=False, max_iter=20)
    assert {*found.results, *found.refusals} == set(pursuit.list_solvers())
    assert "l2 > 0" in found.refusals["diht"]
    assert "diht was not used" in str(found)


def test_labels():
    assert set(compare(GLM(X, Y), 2, {"pursuit": OMP(), "all": "auto"}).results) == {"pursuit", "all"}
    assert set(compare(GLM(X, Y), 2, ["omp", OMP()]).results) == {"omp", "omp 2"}


@pytest.mark.parametrize(
    ("solvers", "error", "words"),
    [
        ("omp", TypeError, "list of names"),
        ([], ValueError, "solvers is empty"),
        (["opm"], ValueError, "omp"),
        (["diht"], ValueError, "l2 > 0"),
    ],
)
def test_wrong_solvers(solvers, error, words):
    with pytest.raises(error, match=words):
        compare(GLM(X, Y), 2, solvers)


def test_wrong_calls():
    with pytest.raises(TypeError, match="takes an objective"):
        compare(X, Y, 2)
    with pytest.raises(TypeError, match="solvers, a list"):
        compare(GLM(X, Y), 2, solver="omp")


def test_compilation_is_outside_the_clock(monkeypatch):
    jax = pytest.importorskip("jax")
    monitoring = pytest.importorskip("jax.monitoring")
    A, b = jax.numpy.asarray(X, dtype="float32"), jax.numpy.asarray(Y, dtype="float32")
    f = pursuit.from_jax(lambda x: jax.numpy.mean(jax.numpy.logaddexp(0.0, A @ x - b)), 20)
    compiled, per_run = [], []

    def counted(*args, **kwargs):
        before = len(compiled)
        result = solve(*args, **kwargs)
        per_run.append(len(compiled) - before)
        return result

    monkeypatch.setattr("pursuit.solving.compare.solve", counted)
    monitoring.register_event_duration_secs_listener(
        lambda event, *_, **__: compiled.append(event) if "backend_compile" in event else None
    )
    try:
        compare(f, 2, ["omp"])
    finally:
        monitoring.clear_event_listeners()
    warm_up, timed = per_run
    assert warm_up > 0
    assert timed == 0


def test_picture():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = compare(GLM(X, Y), 3, solvers=["omp", "auto"])
    left, right = found.plot()
    assert [label.get_text() for label in left.get_yticklabels()] == list(found.results)
    assert right.get_xlabel() == "seconds"
    ends = [bar.get_x() + bar.get_width() for bar in right.patches]
    assert ends == pytest.approx([result.seconds for result in found.results.values()])
    matplotlib.pyplot.close(left.figure)
