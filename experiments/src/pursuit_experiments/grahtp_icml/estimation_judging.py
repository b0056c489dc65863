"""What the estimation experiment is judged by."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..experiment import DIFFERS, FAILED, Judgement
from .logistic import METHODS

if TYPE_CHECKING:
    from pandas import DataFrame

ALIKE = 0.1  # share of the error within which two methods are comparable, besides two standard errors
OURS, THEIRS = ("GraHTP", "FGraHTP"), ("GraSP", "FBS")
OVERFIT = (
    "GraSP is below only where n is small for k (and once, just, at n = 800): there its loss is the highest "
    "of the four and it hits fewer of the right columns (`loss`, `hit`), but all four overfit, and it least: "
    "at n = 300 its w is 1.3 times as long as the true one, GraHTP's 1.6 times (8 copies). The error measures "
    "that rather than the choice of columns. From n = 400 on all four are alike. The paper's n, k and lambda "
    "are lost and may lie elsewhere."
)
WHY = {
    "n_superior": OVERFIT,
    "k_superior": OVERFIT,
    "fbs_insensitive": (
        "We know no reason: as the text describes it, FBS refits all of its columns, and it overfits with k "
        "as the others do; so it does with lambda = 1e-5 and 1e-3 (4 copies). All errors fall again beyond k "
        "= 30, where the classes are separable and only the ridge decides."
    ),
    "fbs_fastest": (
        "Our GraHTP, with steps from the curvature, is done after about 4 refits at k = 10 and 30 at k = 100, "
        "while FBS takes k of them."
    ),
    "not_slower_than_grasp": (
        "GraHTP is faster throughout. FGraHTP takes 80 to 600 gradients until w moves by less than 1e-4, "
        "GraSP 3 to 17 iterations whose refits are compiled Newton steps; from k = 40 on, where refits on 3 k "
        "columns are dear, FGraHTP is the faster one, by 14 times at k = 100."
    ),
}
UNEXPLAINED = ("fbs_insensitive",)


def judgements(table: "DataFrame", by_n: str, by_k: str) -> Iterator[Judgement]:
    n, k = (table[table["case"] == case] for case in (by_n, by_k))
    yield _told("falls_with_n", *_trend(n, "n", METHODS, -1))
    yield _told("n_alike", *_alike(n, "n"))
    yield _told("n_superior", *_superior(n, "n"))
    yield _told("grows_with_k", *_trend(k, "k", ("GraHTP", "FGraHTP", "GraSP"), 1))
    yield _told("fbs_insensitive", *_insensitive(k))
    small = k[k["k"] <= np.median(k["k"])]
    holds, words = _superior(small, "k")
    alike, more = _alike(k, "k")
    yield _told("k_superior", holds and alike, f"{words}; {more}")
    yield _told("fbs_fastest", *_fastest(table))
    yield _told("not_slower_than_grasp", *_not_slower(table))
    yield _told("fewer_iterations", *_fewer(table))


def _told(claim: str, holds: bool, words: str) -> Judgement:
    otherwise = FAILED if claim in UNEXPLAINED else DIFFERS
    return Judgement.of(claim, bool(holds), words, WHY.get(claim, ""), otherwise)


def _line(table: "DataFrame", method: str, along: str) -> Any:
    return table[table["method"] == method].sort_values(along).set_index(along)


def _trend(table: "DataFrame", along: str, methods: tuple[str, ...], sign: int) -> tuple[bool, str]:
    """From the first to the last place the error changes in this direction by more than two standard errors."""
    words, holds = [], True
    for method in methods:
        line = _line(table, method, along)
        first, last = line.iloc[0], line.iloc[-1]
        noise = 2 * np.hypot(first["error_se"], last["error_se"])
        holds &= sign * (last["error"] - first["error"]) > noise
        words.append(f"{method} {first['error']:.3g} to {last['error']:.3g}, greatest {line['error'].max():.3g}")
    ends = f"{along} = {line.index[0]} to {line.index[-1]}"
    return holds, f"error from {ends}: {'; '.join(words)}"


def _alike(table: "DataFrame", along: str) -> tuple[bool, str]:
    ours, other = (_line(table, method, along) for method in OURS)
    same = (other["gap"].abs() <= 2 * other["gap_se"]) | (other["gap"].abs() <= ALIKE * ours["error"])
    return (
        same.mean() >= 0.8,
        f"GraHTP and FGraHTP within two standard errors or 10% at {same.sum()} of {len(same)} {along}",
    )


def _superior(table: "DataFrame", along: str) -> tuple[bool, str]:
    """Each of ours against each of theirs: never higher by two standard errors, and lower at most places."""
    words, holds = [], True
    for name, gap in zip(OURS, ("gap", "fgap"), strict=True):
        for method in THEIRS:
            line = _line(table, method, along)
            lower = int((line[gap] > 2 * line[f"{gap}_se"]).sum())
            higher = line.index[line[gap] < -2 * line[f"{gap}_se"]]
            holds &= 2 * lower > len(line) and higher.empty
            at = f" ({along} = {', '.join(map(str, higher))})" if len(higher) else ""
            words.append(f"{name} below {method} at {lower}, above at {len(higher)}{at} of {len(line)}")
    return holds, "; ".join(words)


def _insensitive(table: "DataFrame") -> tuple[bool, str]:
    spread = {}
    for method in METHODS:
        error = _line(table, method, "k")["error"]
        spread[method] = error.max() / error.min()
    holds = spread["FBS"] < min(spread[method] for method in METHODS if method != "FBS")
    told = ", ".join(f"{method} {value:.2g}" for method, value in spread.items())
    return holds, f"greatest error over k divided by the least: {told}"


def _wide(table: "DataFrame", value: str) -> Any:
    return table.pivot_table(index=["case", "n", "k"], columns="method", values=value, sort=False)


def _fastest(table: "DataFrame") -> tuple[bool, str]:
    first = _wide(table, "seconds").idxmin(axis=1).value_counts()
    told = ", ".join(f"{method} at {count}" for method, count in first.items())
    return first.get("FBS", 0) > first.sum() / 2, f"fastest of {first.sum()} settings: {told}"


def _not_slower(table: "DataFrame") -> tuple[bool, str]:
    wide = _wide(table, "seconds")
    ratio = {method: wide[method] / wide["GraSP"] for method in OURS}
    told = "; ".join(
        f"{name} {np.median(r):.2g} times GraSP's (median), {r.min():.2g} to {r.max():.2g}" for name, r in ratio.items()
    )
    return all(np.median(r) <= 1.1 for r in ratio.values()), told


def _fewer(table: "DataFrame") -> tuple[bool, str]:
    """At the least k: GraHTP faster than FGraHTP, with fewer iterations."""
    small = table[table["k"] == table["k"].min()]
    time, turns = _wide(small, "seconds"), _wide(small, "iterations")
    holds = (time["GraHTP"] < time["FGraHTP"]).all() and (turns["GraHTP"] < turns["FGraHTP"]).all()
    return bool(holds), (
        f"k = {table['k'].min()}: {turns['GraHTP'].mean():.3g} iterations against {turns['FGraHTP'].mean():.3g},"
        f" {time['GraHTP'].mean():.2g} s against {time['FGraHTP'].mean():.2g} s"
    )
