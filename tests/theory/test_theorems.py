"""The papers' conditions and numbers, on problems where they can be worked out by hand."""

from math import ceil, log, sqrt

import numpy as np
import pytest

import pursuit

COUNT = 26  # results that are judged


@pytest.fixture(scope="module")
def easy():
    """Orthonormal columns and a strong target: every condition number is 1 + l2 - l2 = 1."""
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.standard_normal((400, 60)))[0] * np.sqrt(400)
    beta = np.zeros(60)
    beta[:3] = 3.0, -2.0, 2.0
    noise = 0.1 * rng.standard_normal(400)
    return pursuit.GLM(X, X @ beta + noise, fit_intercept=False), X, X @ beta + noise, beta


def test_every_result_is_judged_once_with_its_citation(easy):
    f, _, _, beta = easy
    table = pursuit.theorems(f, 3, target=beta)
    assert len(table) == COUNT == len({s.citation for s in table})
    assert {s.paper for s in table} == {"GraHTP", "GraSP", "DIHT", "ARHT"}
    frame = table.to_frame()
    assert list(frame["citation"]) == [s.citation for s in table]
    assert "GraHTP Theorem 8" in str(table)
    with pytest.raises(KeyError, match="no result is called"):
        table["Theorem 9"]


def test_orthonormal_columns_satisfy_what_condition_number_one_does(easy):
    f, X, y, beta = easy
    table = pursuit.theorems(f, 3, target=beta)
    slope = np.abs(X.T @ (X @ beta - y) / 400).max()
    for name in ("GraHTP Theorem 2(a)", "GraHTP Theorem 2(b)", "GraSP Theorem 1", "ARHT Theorem 3.7 (2)"):
        assert table[name].verdict == "certified"
    two = table["GraHTP Theorem 2(a)"].numbers  # m = M = 1: the steps are 1 +- 1/2, rho = 0 at the best
    assert (two["step from"], two["step to"]) == pytest.approx((0.5, 1.5), abs=1e-4)
    assert two["error"] == pytest.approx(2.83 * sqrt(3) * slope, rel=1e-3)
    assert table["GraHTP Corollary 3(a)"].verdict == "certified"
    # k = k* = 3 is far from the relaxed sizes of Theorems 5 and 8: 2 + 16 and 1 + 16 times k*
    assert table["GraHTP Theorem 5(a)"].verdict == "refuted"
    assert table["GraHTP Theorem 5(a)"].numbers["relaxed k"] == ceil(18 * 3)
    assert table["GraHTP Theorem 8"].numbers["relaxed k"] == ceil(17 * 3)
    assert table["ARHT Theorem 3.3"].numbers["k needed"] == 18 * 3


def test_without_a_target_the_largest_target_size_is_told(easy):
    f = easy[0]
    table = pursuit.theorems(f, 19)
    assert table.target_size is None
    # kappa = 1 up to rounding: k* < 19/6, <= 19/17, <= 19/18
    sizes = {"GraHTP Theorem 5(a)": 3, "GraHTP Theorem 8": 1, "ARHT Theorem 3.3": 1, "GraHTP Theorem 2(a)": 19}
    for name, size in sizes.items():
        assert (table[name].certified_size, table[name].possible_size) == (size, size), name
    assert table["GraHTP Corollary 3(a)"].verdict == "not applicable"


def test_iterations_count_with_the_logarithm_of_the_contraction():
    """mu = 0.4: the iterations of Corollary 3 are ln(2 ||x||/x_min)/ln(1/mu), not 1/mu times it."""
    H = np.diag([1.0, 1.05, 1.1, 1.0, 1.02, 1.0])
    X = np.sqrt(6) * np.linalg.cholesky(H).T
    beta = np.array([0, 2.0, 0, -0.5, 0, 0])
    f = pursuit.GLM(X, X @ beta, fit_intercept=False)
    table = pursuit.theorems(f, 2, target=beta)
    found = table["GraHTP Corollary 3(a)"].numbers
    rho = sqrt(1 - 2 * found["step"] * 1.0 + found["step"] ** 2 * 1.1**2)
    assert table["GraHTP Corollary 3(a)"].verdict == "certified"
    assert found["iterations"] == ceil(log(2 * sqrt(4.25) / 0.5) / log((1 - rho) / rho))


def test_grasp_error_is_the_papers(easy):
    f, X, y, beta = easy
    g = np.sort(np.abs(X.T @ (X @ beta - y) / 400))[-9:]
    found = pursuit.theorems(f, 3, target=beta)["GraSP Theorem 1"].numbers
    assert found["error"] == pytest.approx((6 + 2 * sqrt(3)) * np.linalg.norm(g), rel=1e-3)


def test_arht_corollaries_have_the_papers_errors():
    rng = np.random.default_rng(4)
    X = np.linalg.qr(rng.standard_normal((300, 80)))[0] * np.sqrt(300)
    y = 2.0 * X[:, 7] + 0.1 * rng.standard_normal(300)
    f = pursuit.GLM(X, y, fit_intercept=False)
    target = pursuit.solve(f, 1)
    table = pursuit.theorems(f, 20, target=target)
    g = np.abs(X.T @ (X @ target.x - y) / 300)
    zeta = np.linalg.norm(np.sort(g)[-20:])
    assert table["ARHT Theorem 3.3"].verdict == "certified"
    assert table["ARHT Corollary 3.5"].numbers["error"] == pytest.approx(2.1 * zeta, rel=1e-3)
    assert table["ARHT Corollary 3.6"].verdict == "certified"
    x_min = abs(target.x[7])
    assert table["ARHT Corollary 3.6"].numbers["epsilon below"] == pytest.approx(x_min**2 / 2 - zeta**2 / 2, rel=1e-3)


def test_ompr_reaches_the_papers_rip_bound_of_a_third():
    """s = s*: Corollary 3.9's limit is delta < 1/3, Table 1 of the paper has 0.47 at twice the size."""
    f = pursuit.GLM(np.eye(9), np.arange(9.0), fit_intercept=False)
    two, four = np.zeros(9), np.zeros(9)
    two[:2], four[:4] = 1.0, 1.0
    assert pursuit.theorems(f, 2, target=two)["ARHT Corollary 3.9"].numbers["delta below"] == pytest.approx(1 / 3)
    assert pursuit.theorems(f, 4, target=two)["ARHT Corollary 3.9"].numbers["delta below"] == pytest.approx(
        0.478, abs=1e-3
    )


def test_a_point_that_an_exchange_improves_is_refuted_by_lemma_21():
    X = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 6)))[0] * np.sqrt(40)
    y = 3 * X[:, 0] + X[:, 1]
    f = pursuit.GLM(X, y, fit_intercept=False)
    worse, best = np.zeros(6), np.zeros(6)
    worse[1], best[0] = 1.0, 3.0
    assert pursuit.theorems(f, 1, target=worse)["GraHTP Lemma 21"].verdict == "refuted"
    assert pursuit.theorems(f, 1, target=best)["GraHTP Lemma 21"].verdict == "open"


def test_a_saddle_point_is_certified_only_where_the_margin_is_positive():
    X = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 6)))[0] * np.sqrt(40)
    for second, verdict in ((0.5, "certified"), (2.9, "refuted")):
        f = pursuit.GLM(X, 3 * X[:, 0] + second * X[:, 1], fit_intercept=False, l2=0.5)
        target = pursuit.solve(f, 1)
        table = pursuit.theorems(f, 1, target=target)
        # x = 3/1.5 = 2, |f'|_inf / l2 = second / 0.5
        assert table["DIHT Theorem 1"].numbers["margin"] == pytest.approx(2 - second / 0.5)
        assert table["DIHT Theorem 1"].verdict == verdict
        assert table["DIHT Theorem 3"].verdict == ("certified" if verdict == "certified" else "open")


@pytest.mark.parametrize("mean", [0.0, 1e5])
@pytest.mark.parametrize("l2", [1e-6, 1e-9, 1e-12])
def test_rounding_in_the_gradient_refutes_no_saddle_point(l2, mean):
    rng = np.random.default_rng(3)
    Q = np.linalg.qr(np.column_stack([np.ones(40), rng.standard_normal((40, 6))]))[0][:, 1:] * np.sqrt(40)
    X = 0.1 * Q + mean
    f = pursuit.GLM(X, X[:, 1] * 2 - X[:, 4] * 3, l2=l2)
    best = pursuit.solve(f, 2)
    verdict = pursuit.theorems(f, 2, target=best)["DIHT Theorem 1"].verdict
    assert verdict == "certified" if mean == 0 else verdict != "refuted"
    assert pursuit.theorems(f, 2, target=1.001 * best.x)["DIHT Theorem 1"].verdict == "refuted"


def test_a_hinge_minimiser_at_the_kink_is_not_refuted_by_the_wrong_subgradient():
    """f(w) = max(0, 1 - w) + w^2/4 on the first column: w = 1, where the subgradient that vanishes is not a sign's."""
    y = np.tile([1.0, -1.0], 10)
    X = np.column_stack([y, 0.3 * np.repeat([1.0, -1.0], 10)])
    f = pursuit.GLM(X, y, "hinge", l2=0.5, fit_intercept=False)
    best, worse = pursuit.solve(f, 1), f.refit(np.array([1]))
    assert best.support.tolist() == [0]
    assert best.coef == pytest.approx([1.0], abs=1e-6)
    assert worse.value > best.value
    table = pursuit.theorems(f, 1, target=best)
    assert table["DIHT Theorem 1"].verdict in ("certified", "open")
    assert pursuit.theorems(f, 1, target=best.x)["DIHT Theorem 1"].verdict in ("certified", "open")
    assert pursuit.theorems(f, 1, target=np.array([0.0, 0.5]))["DIHT Theorem 1"].verdict == "open"


def test_corollary_36_is_refuted_by_the_printed_level_and_certified_by_the_safe_one():
    """Orthonormal columns, a gradient of equal entries everywhere: zeta_s = e sqrt(s).

    With y = X(target - e) the best x without column 0 is below f(target) + (1 - 2e - 20 e^2)/2 by nothing: the printed
    condition e sqrt(20) < 1 is not enough, (1 + sqrt(21)) e < 1 is what the certified bound needs.
    """
    p, k = 40, 20
    X = np.linalg.qr(np.random.default_rng(0).standard_normal((50, p)))[0] * np.sqrt(50)
    target = np.zeros(p)
    target[0] = 1.0
    for e, verdict in ((0.99 / (1 + sqrt(21)), "certified"), (0.99 / sqrt(20), "open"), (1.01 / sqrt(20), "refuted")):
        f = pursuit.GLM(X, X @ (target - e), fit_intercept=False)
        statement = pursuit.theorems(f, k, target=target)["ARHT Corollary 3.6"]
        assert statement.verdict == verdict
        without = f.refit(np.arange(1, k + 1)).value - f.at(np.array([0]), np.array([1.0])).value
        assert without == pytest.approx((1 - 2 * e - 20 * e**2) / 2)
        if verdict == "certified":
            assert statement.numbers["epsilon below"] == pytest.approx(without)
        elif verdict == "open":
            assert without < 0
            assert "epsilon below" not in statement.numbers


def test_a_target_without_columns_is_certified_only_where_its_size_does_not_matter(easy):
    f = easy[0]
    table = pursuit.theorems(f, 3, target=np.zeros(60))
    certified = {s.citation for s in table if s.verdict == "certified"}
    assert certified == {"GraHTP Theorem 2(a)", "GraHTP Theorem 2(b)", "GraSP Theorem 1"}
    for name in ("GraHTP Corollary 3(a)", "GraHTP Theorem 8", "GraHTP Theorem 10(1)", "ARHT Theorem 3.3"):
        assert table[name].verdict == "not applicable"
        assert table[name].note == "the target has no columns"
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 8)) + 2.0
    hard = pursuit.theorems(pursuit.GLM(X, X[:, 0], fit_intercept=False), 2, target=np.zeros(8))
    assert {s.verdict for s in hard} <= {"refuted", "open", "not applicable"}


def test_fgrahtps_steps_stop_where_its_contraction_factor_is_one(easy):
    """m = M = 1: rho = |1 - eta|, and 1.62 rho = 1 at eta = 1 +- 1/1.62; the paper's rho < 0.62 would go beyond."""
    numbers = pursuit.theorems(easy[0], 3)["GraHTP Theorem 2(b)"].numbers
    assert (numbers["step from"], numbers["step to"]) == pytest.approx((1 - 1 / 1.62, 1 + 1 / 1.62), abs=1e-6)


def test_theorem_5b_has_the_steps_whose_rho_meets_its_condition(easy):
    f, _, _, beta = easy
    numbers = pursuit.theorems(f, 20, target=beta)["GraHTP Theorem 5(b)"].numbers
    for end in ("step from", "step to"):
        rho = abs(1 - numbers[end])
        assert rho * 3 / (1 - rho) ** 2 == pytest.approx(20, rel=1e-4)


def test_theorem_10_is_about_the_best_point(easy):
    f, X, y, beta = easy
    table = pursuit.theorems(f, 15, target=beta)
    slope = np.abs(X.T @ (X @ beta - y) / 400).max()
    first, second = table["GraHTP Theorem 10(1)"], table["GraHTP Theorem 10(2)"]
    assert first.load.certified == pytest.approx(4.59 * sqrt(15) * slope / 2, rel=1e-6)
    assert first.verdict == "certified"
    assert second.numbers["relaxed k"] == 15
    best = np.zeros(60)
    best[np.argsort(-np.abs(X.T @ y))[:15]] = (X.T @ y / 400)[np.argsort(-np.abs(X.T @ y))[:15]]
    assert pursuit.exact_recovery(beta, best)
    assert pursuit.theorems(f, 14, target=beta)["GraHTP Theorem 10(2)"].verdict == "refuted"
    weak = beta.copy()
    weak[10] = 1e-3  # an entry far below what separates values from the best
    assert pursuit.theorems(f, 20, target=weak)["GraHTP Theorem 10(2)"].verdict == "refuted"


def test_steps_and_counts_of_the_dual_theorems():
    rng = np.random.default_rng(1)
    X = np.linalg.qr(rng.standard_normal((50, 4)))[0] * np.sqrt(50)
    y = np.sign(X[:, 0])
    f = pursuit.GLM(X, y, pursuit.SmoothedHinge(0.25), fit_intercept=False, l2=1.0)
    target = pursuit.solve(f, 1)
    table = pursuit.theorems(f, 1, target=target)
    four, five = table["DIHT Theorem 4"], table["DIHT Theorem 5"]
    assert four.numbers["step at t = 0"] == 50 * 4
    assert five.numbers["step at t = 0"] == 10 * 50 * 4
    assert four.verdict == "certified"
    B = np.sqrt((X**2).sum(axis=1).max())
    lam, mu, margin = 1.0 / B**2, 0.25, B * table["DIHT Theorem 1"].numbers["margin"]
    sigma2 = np.linalg.svd(X / B, compute_uv=False)[0] ** 2
    c1 = 50**3 * (1 + lam * 1) ** 2 / (lam * 50 * mu) ** 2  # r = rho = 1 for the smoothed hinge, sigma_min = 0
    x = 12 * c1 * sigma2 / (lam**2 * 50**2 * margin**2)
    assert four.numbers["t0"] == pytest.approx(ceil(x * log(x)), rel=1e-6)
    c2 = (1 + lam * 1) ** 2 * (1 + sigma2 / (mu * lam * 50)) ** 2  # sigma_max squared: the paper prints sigma_max
    x = 3 * c1 * c2 / (lam**2 * 50 * (1e-3 * target.value) ** 2)
    assert four.numbers["t1"] == pytest.approx(ceil(x * log(x)), rel=1e-6)
    x = 12 * 10 * c1 * sigma2 / (lam**2 * 0.05**2 * 50**2 * margin**2)
    assert five.numbers["t2"] == pytest.approx(ceil(x * log(x)), rel=1e-6)
    assert five.numbers["t2 for the gap"] == pytest.approx(ceil(4 * x * log(4 * x)), rel=1e-6)
    x = 12 * 10 * c1 * c2 / (lam**2 * 0.05**2 * 50 * (1e-3 * target.value) ** 2)
    assert five.numbers["t3"] == pytest.approx(ceil(x * log(x)), rel=1e-6)
    assert "max(t0, t1)" in four.note
    assert "max(t2 for the gap, t3)" in five.note
    huge = pursuit.theorems(pursuit.GLM(X, X[:, 0], fit_intercept=False, l2=1.0), 1, target=[1.0, 0, 0, 0])
    assert "infinite" in huge["DIHT Theorem 4"].note


def test_iterations_of_the_dual_theorems_are_for_rows_of_equal_weight():
    X = np.random.default_rng(0).standard_normal((20, 3))
    for weight, verdict in ((np.full(20, 3.0), {"certified", "refuted"}), (np.arange(1.0, 21), {"not applicable"})):
        f = pursuit.GLM(X, X[:, 0], "huber", l2=1.0, fit_intercept=False, sample_weight=weight)
        table = pursuit.theorems(f, 1, target=pursuit.solve(f, 1))
        assert {table[f"DIHT Theorem {number}"].verdict for number in (4, 5)} <= verdict
        assert table["DIHT Theorem 1"].verdict in ("certified", "refuted")


def test_losses_that_are_not_twice_differentiable_fall_under_theorem_2():
    X = np.random.default_rng(0).standard_normal((60, 5))
    smooth = pursuit.theorems(pursuit.GLM(X, X[:, 0] > 0, "logistic", l2=0.1), 1)
    huber = pursuit.theorems(pursuit.GLM(X, X[:, 0], "huber", l2=0.1), 1)
    assert smooth["GraSP Theorem 2"].verdict == huber["GraSP Theorem 1"].verdict == "not applicable"
    assert smooth["GraSP Corollary 1"].numbers["rows needed"] > 60
    assert huber["GraSP Theorem 2"].verdict != "not applicable"


def test_a_curvature_is_taken_up_and_one_of_another_problem_refused(easy):
    f, X, y, beta = easy
    table = pursuit.theorems(f, 3, curvature=pursuit.curvature(f, 6))
    assert table["GraHTP Theorem 2(a)"].verdict == "certified"
    other = pursuit.GLM(X, y, l2=1.0)
    with pytest.raises(ValueError, match="another objective"):
        pursuit.theorems(f, 3, curvature=pursuit.curvature(other, 6))
    with pytest.raises(ValueError, match="at=target"):
        pursuit.theorems(f, 3, target=beta, curvature=pursuit.curvature(f, 6))
    with pytest.raises(TypeError, match="curvature must be"):
        pursuit.theorems(f, 3, curvature=6)


def test_the_picture_has_a_line_for_every_condition(easy):
    pytest.importorskip("matplotlib")
    f, _, _, beta = easy
    table = pursuit.theorems(f, 3, target=beta)
    ax = table.plot()
    drawn = [s for s in table if s.load is not None and s.verdict != "not applicable"]
    assert len(ax.get_yticklabels()) == len(drawn)


def test_the_dual_slope_at_another_point_is_as_far_as_sigma_max_allows():
    """What DIHT's c_2 rests on: ||l'(Xw) - l'(Xv)|| <= sigma_max / mu ||w - v||, which can be reached; not 1 / mu."""
    X = np.ones((50, 1))  # rows of length one, sigma_max^2 = 50
    y, loss = np.ones(50), pursuit.SmoothedHinge(0.25)
    slopes = [loss.d1(y, X @ [w]) for w in (0.8, 0.9)]
    apart = np.linalg.norm(slopes[1] - slopes[0])
    assert apart == pytest.approx(np.sqrt(50) / 0.25 * 0.1)
    assert apart > 0.1 / 0.25


def test_ompr_beyond_the_first_case_counts_iterations_by_theta():
    X = (
        np.linalg.qr(np.random.default_rng(0).standard_normal((50, 6)))[0]
        * np.sqrt(50)
        * np.array([1.5, 1, 1, 1, 1, 1])
    )
    f = pursuit.GLM(X, X[:, 0] + X[:, 1], fit_intercept=False)  # kappa~ is 2.25
    numbers = pursuit.theorems(f, 4, target=[1.0, 1, 0, 0, 0, 0])["ARHT Theorem 3.7 (2)"].numbers
    used = 2.25 * sqrt(2 / 4)
    assert numbers["theta"] == pytest.approx((2 - used) / 2)
    assert numbers["iterations, order"] == pytest.approx(sqrt(4 * 2) * log(1e3) / numbers["theta"])
