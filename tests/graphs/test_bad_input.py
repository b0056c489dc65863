"""Input that LogDet or solve cannot use is named in one sentence; odd input that can be used is."""

import numpy as np
import pytest

from graphs.checks import wrongs
from graphs.instances import covariance
from pursuit import LogDet, solve


def good(p=5):
    return covariance(0, p, 30)


def one_sentence(error):
    text = str(error.value)
    assert "\n" not in text
    assert len(text) < 300
    return text


@pytest.mark.parametrize("shape", [(4,), (4, 5), (2, 3, 3), (0, 0)])
def test_what_is_no_square_matrix(shape):
    with pytest.raises(ValueError, match="covariance") as error:
        LogDet(np.ones(shape))
    one_sentence(error)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity(bad):
    for place in ((0, 0), (1, 3)):
        S = good()
        S[place] = S[place[::-1]] = bad
        with pytest.raises(ValueError, match=r"covariance.*(NaN|infinity)") as error:
            LogDet(S)
        one_sentence(error)


def test_words_and_complex_numbers():
    with pytest.raises(ValueError, match="covariance"):
        LogDet([["a", "b"], ["c", "d"]])
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        LogDet(good() * (1 + 1j))


def test_not_symmetric():
    S = good()
    S[1, 3] += 0.1
    with pytest.raises(ValueError, match=r"covariance.*symmetric") as error:
        LogDet(S)
    one_sentence(error)


def test_symmetric_but_for_rounding():
    S = good()
    noisy = S * (1 + 1e-14 * np.random.default_rng(0).standard_normal(S.shape))
    result = solve(LogDet(noisy), 4)
    assert list(wrongs(result, 0.5 * (noisy + noisy.T), 4)) == []


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_indefinite(scale):
    S = np.array([[1, 0.9, 0.9], [0.9, 1, -0.9], [0.9, -0.9, 1]]) * scale
    with pytest.raises(ValueError, match=r"covariance.*(definite|negative)") as error:
        LogDet(S)
    one_sentence(error)


def test_a_negative_variance_and_a_correlation_above_one():
    S = good()
    S[2, 2] = -1.0
    with pytest.raises(ValueError, match=r"covariance|column"):
        LogDet(S)
    with pytest.raises(ValueError, match=r"covariance"):
        LogDet(np.array([[1.0, 2.0], [2.0, 1.0]]))


@pytest.mark.parametrize("names", [None, ["age", "bmi", "dose", "egg", "fat"]])
def test_constant_columns_are_named(names):
    S = good()
    S[2], S[:, 2] = 0.0, 0.0
    with pytest.raises(ValueError, match="dose" if names else r"\b2\b") as error:
        LogDet(S, names=names)
    assert "variance" in one_sentence(error)


def test_names_that_do_not_fit():
    with pytest.raises(ValueError, match="names"):
        LogDet(good(), names=["a", "b"])
    with pytest.raises(ValueError, match="covariance has several columns named 'a'"):
        LogDet(good(), names=["a", "b", "c", "d", "a"])


@pytest.mark.parametrize("shrinkage", [-0.1, 1.1, np.nan, "much", None])
def test_shrinkage_outside_its_range(shrinkage):
    with pytest.raises((ValueError, TypeError), match="shrinkage"):
        LogDet(good(), shrinkage=shrinkage)


def test_full_shrinkage_leaves_the_diagonal():
    result = solve(LogDet(good(), shrinkage=1.0), 3)
    np.testing.assert_allclose(result.x, np.diag(1 / good().diagonal()), atol=1e-12)


@pytest.mark.parametrize("eigenvalues", [(2.0, 1.0), (-1.0, 1.0), (0.0, 0.0), (np.nan, 1.0), 3.0, (1.0,), "paper?"])
def test_eigenvalue_bounds_that_are_none(eigenvalues):
    with pytest.raises((ValueError, TypeError), match="eigenvalues"):
        LogDet(good(), eigenvalues=eigenvalues)


@pytest.mark.parametrize("n_samples", [0, -3, 2.5, "ten"])
def test_numbers_of_samples_that_are_none(n_samples):
    with pytest.raises((ValueError, TypeError), match="n_samples"):
        LogDet(good(), n_samples=n_samples)


@pytest.mark.parametrize("k", [-1, -10])
def test_negative_budgets(k):
    with pytest.raises(ValueError, match=r"\bk\b.*(at least 0|whole)"):
        solve(LogDet(good()), k)


@pytest.mark.parametrize("k", [2.5, "3", None, True])
def test_budgets_that_are_no_numbers(k):
    with pytest.raises(TypeError, match=r"\bk\b"):
        solve(LogDet(good()), k)


def test_include_and_exclude_overlap():
    f = LogDet(good(), names=list("abcde"))
    for pairs in ([(0, 1)], [(1, 0)], [("b", "a")]):
        with pytest.raises(ValueError, match=r"include.*exclude|exclude.*include") as error:
            solve(f, 3, include=pairs, exclude=[(0, 1), (2, 3)])
        one_sentence(error)


def test_more_included_than_the_budget():
    with pytest.raises(ValueError, match="include"):
        solve(LogDet(good()), 1, include=[(0, 1), (2, 3)])


@pytest.mark.parametrize("name", ["include", "exclude"])
def test_pairs_that_are_none(name):
    f = LogDet(good(), names=list("abcde"))
    for pairs in (
        [(0, 9)],
        [(-1, 2)],
        [(1, 1)],
        [("a", "zebra")],
        [("a",)],
        [(0, 1, 2)],
        [0, 1],
        ["ab"],
        3,
        [(0, 1), (2,)],
    ):
        with pytest.raises((ValueError, TypeError), match=name) as error:
            solve(f, 3, **{name: pairs})
        one_sentence(error)


def test_an_unknown_name_is_corrected():
    f = LogDet(good(), names=["age", "bmi", "dose", "egg", "fat"])
    with pytest.raises(ValueError, match="did you mean 'dose'"):
        solve(f, 3, include=[("age", "doze")])


def test_masks_that_do_not_fit():
    f = LogDet(good())
    with pytest.raises(ValueError, match="exclude"):
        solve(f, 3, exclude=np.zeros((4, 4), bool))
    lopsided = np.zeros((5, 5), bool)
    lopsided[0, 3] = True
    result = solve(f, 3, exclude=lopsided | lopsided.T)
    assert (0, 3) not in map(tuple, result.support.tolist())


def test_the_same_pair_twice_counts_once():
    S = good()
    result = solve(LogDet(S), 2, include=[(0, 1), (1, 0)])
    assert len(result.support) == 2
    assert list(wrongs(result, S, 2, include=[(0, 1)])) == []


def test_groups_bounds_and_sums_are_refused():
    f = LogDet(good())
    for options in ({"groups": np.zeros(5, int)}, {"bounds": (0, None)}, {"sum_to": 1.0}):
        with pytest.raises((ValueError, TypeError)) as error:
            solve(f, 2, **options)
        one_sentence(error)


def test_starts_that_do_not_fit():
    S = good()
    with pytest.raises(ValueError, match="start"):
        solve(LogDet(S), 2, start=np.eye(4))
    with pytest.raises(ValueError, match="start"):
        solve(LogDet(S), 2, start=np.full((5, 5), np.nan))
    with pytest.raises(ValueError, match="start"):
        solve(LogDet(S), 2, start=solve(LogDet(good(6)), 2))
    held = solve(LogDet(S), 3, start=np.diag(1 / S.diagonal()))
    assert list(wrongs(held, S, 3)) == []


def test_one_sample_and_rank_one():
    x = np.array([1.0, -2.0, 3.0])
    result = solve(LogDet(np.outer(x, x)), 2)  # all correlations are 1 or -1: no edge has an optimum
    assert len(result.support) == 0
    assert "shrinkage" in result.reason
    shrunk = solve(LogDet(np.outer(x, x), shrinkage=0.3), 2)
    assert len(shrunk.support) == 2
