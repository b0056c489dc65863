"""Bounds on coefficients and a sum to keep: every solver, every smooth loss, estimators, portfolios, bad input."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

import pursuit
from problems import Problem, problem, standardised
from pursuit.constraints import AtMost
from pursuit.objectives import ObjectiveDefaults
from pursuit.objectives.bounded import INFEASIBLE, Bounded

P, K = 8, 3
SOLVERS = [name for name in pursuit.list_solvers() if name not in ("diht", "sdiht")]  # dual methods know no bounds
LOSSES = ("squared", "logistic", "huber", "poisson")
SETS = {
    "non-negative": {"bounds": (0, None)},
    "box": {"bounds": (np.linspace(-0.5, -0.1, P), np.linspace(0.1, 0.4, P))},
    "simplex": {"bounds": (0.0, 0.5), "sum_to": 1.0},
    "sum": {"sum_to": 0.3},
}


def limits(wanted, p):
    low, high = wanted.get("bounds", (None, None))
    low, high = (-np.inf if low is None else low), (np.inf if high is None else high)
    return np.broadcast_to(np.asarray(low, float), p), np.broadcast_to(np.asarray(high, float), p)


def referee(given, support, wanted, intercept=True):
    """The constrained minimum over a support, by SLSQP."""
    low, high = limits(wanted, given.X.shape[1])
    m, few = len(support), Problem(given.X[:, support], given.y, given.loss, given.l2, given.weight, given.offset)

    def f(z):
        g, gb = few.gradient(z[:m], z[m])
        return few.value(z[:m], z[m]), np.append(g, gb)

    t = wanted.get("sum_to")
    sums = (
        [] if t is None else [{"type": "eq", "fun": lambda z: z[:m].sum() - t, "jac": lambda z: np.arange(m + 1) < m}]
    )
    sums = [{**s, "jac": lambda z: (np.arange(m + 1) < m).astype(float)} for s in sums]
    box = [*zip(low[support], high[support], strict=True), (-np.inf, np.inf) if intercept else (0.0, 0.0)]
    box = [(None if np.isinf(lo) else lo, None if np.isinf(hi) else hi) for lo, hi in box]
    start = np.clip(
        np.append(np.full(m, 0.0 if t is None else t / m), 0.0),
        *np.array([(-np.inf if lo is None else lo, np.inf if hi is None else hi) for lo, hi in box]).T,
    )
    return minimize(
        f, start, jac=True, method="SLSQP", bounds=box, constraints=sums, options={"ftol": 1e-13, "maxiter": 500}
    ).fun


def strictly_kept(x, wanted):
    low, high = limits(wanted, len(x))
    assert (x >= low).all()
    assert (x <= high).all()
    if "sum_to" in wanted:
        assert abs(x.sum() - wanted["sum_to"]) <= 1e-10


def stationary(given, x, b, support, wanted, tol=1e-6):
    """Karush, Kuhn and Tucker on the support."""
    low, high = limits(wanted, len(x))
    g, slope = given.gradient(x, b)
    g, x, low, high = g[support], x[support], low[support], high[support]
    assert abs(slope) <= tol
    above, below = g[x > low], g[x < high]  # may fall, may rise: the multiplier must lie between
    if "sum_to" in wanted:
        assert above.max(initial=-np.inf) <= below.min(initial=np.inf) + tol
    else:
        assert (above <= tol).all()
        assert (below >= -tol).all()


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_keeps_the_set_and_minimises_over_its_support(solver, loss, name):
    given, wanted = problem(loss, n=50, p=P), SETS[name]
    result = pursuit.solve(pursuit.GLM(**given.glm()), K, solver=solver, max_iter=40, random_state=3, **wanted)
    assert len(result.support) <= K
    assert result.status != "failed"
    assert result.optimality != "swap_optimal"  # bounds make every exchange a model
    strictly_kept(result.x, wanted)
    assert result.value == pytest.approx(given.value(result.x, result.intercept), rel=1e-10)
    if result.point.refitted:
        stationary(given, result.x, result.intercept, result.support, wanted)
        assert result.value <= referee(given, result.support, wanted) + 1e-8


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_auto_finds_the_best_of_all_supports(loss, name):
    given, wanted = problem(loss, n=50, p=P), SETS[name]
    f = Bounded(pursuit.GLM(**given.glm()), **wanted)
    best = min(f.refit(np.array(s)).value for s in combinations(range(P), K))
    assert pursuit.solve(f.f, K, **wanted).value == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("loss", ["smoothed_hinge", "squared_hinge", "squared", "huber"])
@pytest.mark.parametrize("standardize", [False, True])
def test_refits_against_slsqp(loss, name, standardize):
    given, wanted = problem(loss, n=60, p=P, weights=True, offset=True), SETS[name]
    f = Bounded(pursuit.GLM(**given.glm(standardize=standardize)), **wanted)
    view = given
    if standardize:  # the objective is that of the view, the bounds are in the units of X
        Z, _, s = standardised(given.X, given.c)
        view = Problem(Z, given.y, loss, given.l2, given.weight, given.offset)
    for support in ([0, 1, 4], [2, 3, 5, 6], [1], [4, 6]):
        support = np.array(support)
        point = f.refit(support)
        if point.value >= INFEASIBLE:
            assert name == "simplex"
            assert len(support) == 1
            continue
        coef, _ = f.in_units(point)
        x = np.zeros(P)
        x[support] = coef
        strictly_kept(x, wanted)
        assert point.value == pytest.approx(view.value(point.x, point.free), rel=1e-11)
        if not standardize:
            assert point.value <= referee(given, support, wanted) + 1e-8
        elif "sum_to" not in wanted:
            low, high = limits(wanted, P)
            assert point.value <= referee(view, support, {"bounds": (low * s, high * s)}) + 1e-8


def test_one_step_and_many_agree(monkeypatch):
    given = problem("squared", p=P, weights=True)
    for wanted in SETS.values():
        f = Bounded(pursuit.GLM(**given.glm()), **wanted)
        fast = f.refit(np.array([1, 4, 6]))
        monkeypatch.setattr("pursuit.objectives.bounded._one_step", lambda *_: None)
        slow = f.refit(np.array([1, 4, 6]))
        monkeypatch.undo()
        np.testing.assert_allclose(fast.coef, slow.coef, atol=1e-12)
        np.testing.assert_allclose(fast.gradient, slow.gradient, atol=1e-12)
        assert fast.value == pytest.approx(slow.value, rel=1e-12)
        assert fast.free == pytest.approx(slow.free, abs=1e-12)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("name", SETS)
def test_answers_do_not_depend_on_what_was_asked_before(loss, name):
    """The same questions in two orders, and to a point that has been detached: the same bits."""
    S, C = np.array([1, 4, 6]), np.array([0, 2, 3, 5, 7])

    def model(f, point, others):
        model = f.exchange_model(point, S, others)
        return [model.rows, model.small, model.diagonal(), model.block(slice(1, 3))]

    questions = {
        "gradient": lambda f: [f.refit(S).gradient],
        "others": lambda f: [f.refit(np.array(s)).coef for s in combinations(range(P), 2)],
        "outside": lambda f: model(f, f.refit(S), C),
        "all": lambda f: model(f, f.refit(S), None),
        "detached": lambda f: model(f, f.refit(S).detached(), C),
        "rows": lambda f: [f.hessian_rows(f.refit(S), S, C)],
        "curvatures": lambda f: [f.curvatures(f.refit(S), C)],
        "refit": lambda f: [f.refit(S).coef, f.refit(S).value, f.refit(S).free],
    }
    if loss == "squared":  # the GLM's own second derivatives come from its Gram matrix, once that is there
        for kept in ("outside", "detached", "rows", "curvatures"):
            del questions[kept]

    def answers(names):
        f = Bounded(pursuit.GLM(**problem(loss, p=P).glm()), **SETS[name])
        answers = {key: questions[key](f) for key in names}
        return {key: [np.asarray(part).tobytes() for part in answers[key]] for key in questions}

    first = answers(list(questions))
    assert first == answers(list(questions)[::-1])
    if loss == "logistic":
        assert first["outside"] == first["detached"]


@pytest.mark.parametrize("loss", LOSSES)
def test_loose_bounds_change_nothing(loss):
    given = problem(loss, p=P)
    plain = pursuit.solve(pursuit.GLM(**given.glm()), K)
    loose = pursuit.solve(pursuit.GLM(**given.glm()), K, bounds=(-100, 100))
    np.testing.assert_array_equal(plain.support, loose.support)
    np.testing.assert_allclose(plain.coef, loose.coef, atol=1e-7)
    assert "zero" not in loose.reason


@pytest.mark.parametrize("intercept", [False, True])
def test_non_negative_least_squares_is_scipys(rng, intercept):
    X, y = rng.standard_normal((40, 15)), rng.standard_normal(40)
    result = pursuit.solve(pursuit.GLM(X, y, fit_intercept=intercept), 15, bounds=(0, None))
    centred = (X - X.mean(axis=0), y - y.mean()) if intercept else (X, y)
    np.testing.assert_allclose(result.x, nnls(*centred)[0], atol=1e-12)
    whole = Bounded(pursuit.GLM(X, y, fit_intercept=intercept), (0, None)).refit(np.arange(15))
    np.testing.assert_allclose(whole.coef, result.x, atol=1e-12)
    assert "chosen columns stay at zero, held there by bounds" in whole.note


@pytest.fixture(scope="module")
def assets():
    """Daily returns of 30 assets with three factors, and an index of all of them."""
    rng = np.random.default_rng(5)
    returns = 0.01 * (rng.standard_normal((250, 3)) @ rng.uniform(0.3, 1.2, (3, 30)) + rng.standard_normal((250, 30)))
    return returns, returns @ rng.dirichlet(np.ones(30))


def test_portfolio(assets):
    """Track an index with 12 of 30 assets, weights in [0, 0.1] that sum to one."""
    returns, index = assets
    wanted = {"bounds": (0, 0.1), "sum_to": 1}
    f = pursuit.GLM(returns, index, fit_intercept=False)
    result = pursuit.solve(f, 12, **wanted)
    strictly_kept(result.x, wanted)
    assert len(result.support) <= 12
    assert result.optimality == "swap_stationary"
    scaled = Problem(1e3 * returns, 1e3 * index, "squared")  # SLSQP stops early on tiny values
    assert 1e6 * result.value == pytest.approx(referee(scaled, result.support, wanted, False), rel=1e-6)
    bounded = Bounded(f, **wanted)
    outside = np.setdiff1d(np.arange(30), result.support)
    swaps = [
        bounded.refit(np.sort(np.append(np.delete(result.support, i), j))).value for i in range(12) for j in outside
    ]
    assert min(swaps) >= result.value * (1 - 1e-9)  # no exchange of one asset would track better


def test_a_portfolio_of_ten_equal_weights(assets):
    """Ten weights of at most 0.1 that sum to one are all 0.1: the end of the reach."""
    returns, index = assets
    for solver in ("omp", "grahtp", "local_search"):
        result = pursuit.solve(pursuit.GLM(returns, index), 10, solver=solver, bounds=(0, 0.1), sum_to=1)
        np.testing.assert_allclose(result.coef, np.full(10, 0.1), rtol=1e-15)
        assert len(result.support) == 10


@pytest.mark.parametrize("solver", SOLVERS)
def test_only_few_supports_reach_the_sum(solver):
    """Two columns may be large and are the worst predictors: a search that ends without them restarts from them."""
    given = problem("squared", p=P)
    high = np.full(P, 0.01)
    high[[2, 5]] = 0.5
    result = pursuit.solve(pursuit.GLM(**given.glm()), K, solver=solver, max_iter=50, bounds=(0, high), sum_to=1)
    strictly_kept(result.x, {"bounds": (0, high), "sum_to": 1})
    assert result.value < 1e3
    early = pursuit.solve(pursuit.GLM(**given.glm()), K, solver=solver, max_iter=1, bounds=(0, high), sum_to=1)
    strictly_kept(early.x, {"bounds": (0, high), "sum_to": 1})


def test_groups_and_forced_columns():
    given = problem("squared", p=P)
    groups = np.repeat([2, 0, 1, 3], 2)
    wanted = {"bounds": (-0.2, 0.3), "sum_to": 0.5}
    result = pursuit.solve(pursuit.GLM(**given.glm()), 2, groups=groups, include=[7], exclude=[0], **wanted)
    strictly_kept(result.x, wanted)
    assert {6, 7} <= set(result.support)
    f = Bounded(pursuit.GLM(**given.glm()), **wanted)
    choices = [np.union1d([6, 7], np.flatnonzero(groups == g)) for g in (0, 1)]
    assert result.value == pytest.approx(min(f.refit(c).value for c in choices), rel=1e-10)


def test_a_forced_column_may_be_kept_from_zero():
    given = problem("squared", p=P)
    low = np.zeros(P)
    low[3] = 0.25
    for solver in SOLVERS:
        result = pursuit.solve(
            pursuit.GLM(**given.glm()), K, solver=solver, max_iter=50, include=[3], bounds=(low, None)
        )
        strictly_kept(result.x, {"bounds": (low, None)})
        assert result.x[3] >= 0.25


def test_start_is_projected_and_results_restart():
    given, wanted = problem("squared", p=P), SETS["simplex"]
    f = pursuit.GLM(**given.glm(standardize=True))
    x = np.zeros(P)
    x[[1, 4]] = 9.0, -3.0
    first = pursuit.solve(f, K, solver="grahtp", start=x, **wanted)
    again = pursuit.solve(f, K, solver="grahtp", start=first, **wanted)
    assert again.value <= first.value * (1 + 1e-12)
    strictly_kept(again.x, wanted)
    tight = pursuit.solve(f, K, bounds=(0, 0.4), sum_to=1, start=first)
    strictly_kept(tight.x, {"bounds": (0, 0.4), "sum_to": 1})


def test_the_gradient_points_only_where_the_set_allows():
    given = problem("squared", p=P)
    raw = pursuit.GLM(**given.glm())
    f = Bounded(raw, (0, None))
    S = np.array([1, 4])
    point = f.refit(S)
    g = given.gradient(point.x, point.free)[0]
    outside = np.setdiff1d(np.arange(P), S)
    np.testing.assert_allclose(point.gradient[outside], np.minimum(g, 0)[outside], atol=1e-10)
    assert not point.gradient[S].any()
    assert point.coef[1] == 0.0  # the true coefficient of column 4 is negative
    summed = Bounded(raw, None, 1.0)
    point = summed.refit(S)
    g = given.gradient(point.x, point.free)[0]
    assert g[1] == pytest.approx(g[4])  # the multiplier
    np.testing.assert_allclose(point.gradient[outside], (g - g[1])[outside], atol=1e-10)


def test_points_off_the_set_never_win():
    given = problem("squared", p=P)
    f = Bounded(pursuit.GLM(**given.glm()), (0, 0.2), 1.0)
    values = [f.refit(np.arange(m)).value for m in range(6)]
    assert np.isfinite(values).all()
    assert (np.diff(values) < 0).all()  # the more of the sum is reached the better
    assert values[4] >= INFEASIBLE > values[5]
    np.testing.assert_allclose(f.null.gradient, np.minimum(f.f.null.gradient, 0))
    point = f.refit(np.arange(3))
    assert (point.gradient[3:] < 0).all()  # every newcomer helps
    assert np.argmin(point.gradient[3:]) == np.argmin(given.gradient(point.x, point.free)[0][3:])


def test_an_objective_that_is_no_glm():
    """Newton on f's own gradient and Hessian rows; here a quadratic written by hand, non-convex outside the box."""

    class Saddle(ObjectiveDefaults):
        dim = 4

        def at(self, support, coef, intercept=None):
            x = np.zeros(4)
            x[support] = coef
            value = float(np.cos(x).sum() + 0.1 * x @ x - 0.2 * x[0])
            gradient = -np.sin(x) + 0.2 * x - 0.2 * np.eye(4)[0]
            return pursuit.Point(4, support, coef, 0.0, value, lambda: gradient)

        def refit(self, support, start=None):
            return self.at(support, np.zeros(len(support)))

    f = Bounded(Saddle(), (-1.0, 1.5))
    point = f.refit(np.array([0, 2]), start=f.at(np.array([0, 2]), np.array([0.5, -0.5])))
    np.testing.assert_allclose(point.coef, [1.5, -1.0])
    result = pursuit.solve(Saddle(), 2, solver="grahtp", bounds=(-1.0, 1.5), start=[0.1, 0, 0.1, 0])
    assert result.x[0] == 1.5


def test_separated_classes_have_a_minimiser_inside_a_box_only(rng):
    X = rng.standard_normal((40, 5))
    y = (X[:, 0] > 0).astype(float)
    inside = pursuit.solve(pursuit.GLM(X, y, "logistic"), 2, bounds=(-3, 3))
    assert inside.status == "converged"
    assert inside.x[0] == 3.0
    assert pursuit.solve(pursuit.GLM(X, y, "logistic"), 2, bounds=(0, None)).status == "no_minimiser"


def test_dependent_and_constant_columns(rng):
    X = rng.standard_normal((30, 5))
    X[:, 3] = X[:, 1]
    X[:, 4] = 7.0
    y = X[:, 1] + 0.1 * rng.standard_normal(30)
    for standardize in (False, True):
        result = pursuit.solve(pursuit.GLM(X, y, standardize=standardize), 5, bounds=(0, 0.6), sum_to=1.1)
        strictly_kept(result.x, {"bounds": (0, 0.6), "sum_to": 1.1})
        assert np.isfinite(result.value)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_estimators_keep_bounds_in_the_units_of_X(dtype, standardize, rng):
    X = (rng.standard_normal((80, 6)) * [1, 10, 0.1, 1, 5, 1] + 3).astype(dtype)
    y = X @ [0.5, 0.03, 2.0, -1.0, 0.2, 0.0] + 0.1 * rng.standard_normal(80)
    high = np.array([0.2, 0.1, 1.5, 1.0, 0.1, 1.0])
    model = pursuit.SparseRegressor(4, bounds=(0, high), sum_to=1.2, standardize=standardize).fit(X, y)
    strictly_kept(model.coef_.astype(float), {"bounds": (0, high), "sum_to": 1.2})
    assert model.get_params()["bounds"][1] is high
    given = Problem(X.astype(float), y.astype(float), "squared")
    best = referee(given, model.support_, {"bounds": (0, high), "sum_to": 1.2})
    assert model.result_.value == pytest.approx(best, rel=1e-6)  # without a ridge, units do not matter
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_, rtol=1e-5)
    labels = np.where(y > np.median(y), "high", "low")
    classifier = pursuit.SparseClassifier(3, bounds=(None, 0), standardize=standardize).fit(X, labels)
    assert (classifier.coef_ <= 0).all()
    assert classifier.coef_.min() < 0
    assert pickle.loads(pickle.dumps(classifier)).predict(X).tolist() == classifier.predict(X).tolist()


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({"bounds": (1, 0)}, "bounds must have low <= high, and for column 0 they are 1 and 0"),
        ({"bounds": 3}, "bounds must be a pair"),
        ({"bounds": (0, 1, 2)}, "bounds must be a pair"),
        ({"bounds": "ab"}, "bounds must be a pair"),
        ({"bounds": ("a", 1)}, "bounds must hold numbers, and low is 'a'"),
        ({"bounds": (0, [1, 2])}, r"bounds must be numbers or have shape \(8,\), and high has shape \(2,\)"),
        ({"bounds": (np.nan, 1)}, "bounds must not be NaN, and low holds NaN"),
        ({"bounds": (np.inf, np.inf)}, "bounds must leave finite coefficients"),
        (
            {"bounds": (0.5, 1)},
            "bounds exclude 0 for column 0 .0.5 to 1., so it could never be left out; name it in inc",
        ),
        ({"bounds": (None, -1), "include": [0, 1]}, "bounds exclude 0 for column 2"),
        ({"sum_to": np.inf}, "sum_to must be a finite number or None"),
        ({"bounds": (0, 0.1), "sum_to": 1}, "sum_to=1 is out of reach: 3 columns within bounds sum to at most 0.3"),
        ({"bounds": (0, 1), "sum_to": -1}, "sum_to=-1 is out of reach: 3 columns within bounds sum to at least 0"),
    ],
)
def test_bad_input_is_one_sentence(wanted, sentence):
    f = pursuit.GLM(**problem("squared", p=P).glm())
    with pytest.raises(ValueError, match=sentence) as error:
        pursuit.solve(f, K, **wanted)
    assert "\n" not in str(error.value)


def test_other_bad_input(rng):
    with pytest.raises(TypeError, match="sum_to must be a finite number or None, got '1'"):
        pursuit.solve(pursuit.GLM(**problem("squared", p=P).glm()), K, sum_to="1")
    with pytest.raises(ValueError, match="bounds and sum_to need a smooth loss"):
        pursuit.solve(pursuit.GLM(**problem("hinge", p=P).glm()), K, bounds=(0, 1))
    with pytest.raises(ValueError, match="several outputs"):
        pursuit.SparseRegressor(2, sum_to=1).fit(rng.standard_normal((20, 4)), rng.standard_normal((20, 2)))
    X = rng.standard_normal((20, 4))
    X[:, 2] = 1.0
    low = np.array([0, 0, 0.5, 0])
    with pytest.raises(ValueError, match="bounds exclude 0 for column 2, which is constant"):
        pursuit.SparseRegressor(2, include=[2], bounds=(low, None)).fit(X, rng.standard_normal(20))


def test_ridged_and_minibatches_pass_through(rng):
    given = problem("squared", p=P)
    f = Bounded(pursuit.GLM(**given.glm()), (0, 0.5), 1.0)
    heavy = f.ridged(np.full(P, 0.7))
    S = np.array([1, 4, 6])
    more = Problem(given.X, given.y, "squared", 0.7)
    assert heavy.refit(S).value == pytest.approx(referee(more, S, SETS["simplex"]), abs=1e-8)
    g, _ = f.minibatch(rng, 0.5)(S, np.zeros(3), 0.0)
    assert g.shape == (P,)
    assert f.lower == f.f.lower
    assert f.floor == f.f.floor
    assert not f.infeasibility(AtMost(3, P))


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("solver", ["auto", "omp", "grahtp"])
def test_nonnegative_fits_of_several_responses(solver, standardize):
    rng = np.random.default_rng(3)
    X = rng.random((60, 7))
    Y = X[:, [1, 4]] @ np.array([[2.0, 0.0, 1.0], [0.5, 1.5, -1.0]]) + 0.05 * rng.standard_normal((60, 3)) + 1.0

    def separate(cols):  # the intercept as the difference of two non-negative columns
        A = np.column_stack([X[:, cols], np.ones(60), -np.ones(60)])
        return sum(nnls(A, y)[1] ** 2 for y in Y.T) / 120

    best = min((separate(list(cols)), cols) for cols in combinations(range(7), 2))
    result = pursuit.solve(pursuit.GLM(X, Y, standardize=standardize), 2, solver=solver, bounds=(0, None))
    assert (result.coef >= 0).all()
    assert result.value == pytest.approx(separate(list(result.support)), rel=1e-9)
    if solver == "auto":
        assert tuple(result.support) == best[1]
    with pytest.raises(ValueError, match="sum_to needs one coefficient per column"):
        pursuit.solve(pursuit.GLM(X, Y), 2, sum_to=1.0)
    with pytest.raises(ValueError, match="not for classes"):
        pursuit.solve(pursuit.GLM(X, Y.argmax(axis=1), "multinomial"), 2, bounds=(0, None))
