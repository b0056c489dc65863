"""What the measured table says of each claim of tables 2 and 3: whether it holds, and the numbers."""

from typing import TYPE_CHECKING

from .methods import SEPARATED

if TYPE_CHECKING:
    from pandas import DataFrame

RIDGE_KEPT, RAW_OMP, BEST = "Gl2d, ridge kept", "OMP, raw columns", "best of pursuit"
GRASP, CONVEX, DEBIASED = ("G", "Gd", "Gl2", "Gl2d"), ("l1", "E-net"), ("Gd", "Gl2d")
SMALL = 1e-5  # a loss that says: separable, and where the minimisation was stopped
NEAR, COMPARABLE = 0.1, 5.0  # relative deviation, factor
Found = tuple[bool, str]


def reach(table: "DataFrame") -> Found:
    """Our best loss against the lowest printed one, for every s."""
    best = table[table["method"] == BEST].groupby("s")["loss"].min()
    lowest = table.groupby("s")["printed"].min()
    behind = [s for s in best.index if best[s] > max(lowest[s], SEPARATED)]
    apart = [s for s in best.index if best[s] <= SEPARATED]
    words = [f"separable at s = {_listed(apart)}"] if apart else []
    words += [f"s={s}: {best[s]:.3g} against {lowest[s]:.3g}" for s in best.index if s not in apart]
    return not behind, f"reached at {len(best) - len(behind)} of {len(best)} s: {'; '.join(words)}"


def grasp_columns(table: "DataFrame") -> Found:
    """Each printed loss of a GraSP variant against the spread of ours."""
    words, outside = [], list[str]()
    for method in GRASP:
        own = table[table["method"] == method]
        spread = own.groupby("s").agg(
            {"printed": "first", "low": "min", "high": "max", "lowest": "min", "highest": "max"}
        )
        ends = spread["printed"].between(spread["low"], spread["high"])
        iterates = spread["printed"].between(spread["lowest"], spread["highest"])
        words.append(
            f"{method} {ends.sum()} of {len(spread)} between the ends of runs, {iterates.sum()} between all iterates"
        )
        outside += [
            f"{method} s={s} ({line.printed:.3g} printed, {line.lowest:.3g} to {line.highest:.3g})"
            for s, line in spread[~(ends | iterates)].iterrows()
        ]
    left = f"; outside: {', '.join(outside)}" if outside else ""
    return not outside, "; ".join(words) + left + f". {_intercepts(table)}"


def _intercepts(table: "DataFrame") -> str:
    """How many of the printed losses lie between the iterates of the runs without and with an intercept."""
    own = table[table["method"].isin(GRASP)]
    inside = own["printed"].between(own["lowest"], own["highest"]).groupby(own["intercept"]).agg(["sum", "size"])
    words = [
        f"{'with' if b else 'without'} an intercept {line['sum']} of {line['size']}" for b, line in inside.iterrows()
    ]
    return "Between the iterates: " + ", ".join(words)


def slip(table: "DataFrame") -> Found:
    """Whether the printed Gl2d can, by the bound, be a ridge refit; what ridge refits reach, and refits without."""
    own = (
        table[table["method"] == "Gl2d"]
        .groupby("s")
        .agg({"printed": "first", "needed": "first", "room": "first", "low": "min"})
    )
    kept = table[table["method"] == RIDGE_KEPT].groupby("s")["lowest"].min()
    excluded = own[own["needed"] > own["room"]]
    small = own[own["printed"] < SMALL]
    bound = ", ".join(f"s={s}: {line.needed:.0f} needed, {line.room:.0f} there" for s, line in excluded.iterrows())
    words = f"by the bound impossible at {len(excluded)} of {len(small)} s with a printed loss below 1e-5"
    words += f" ({bound})" if bound else ""
    if len(small):
        above, below = kept[small.index], own["low"][small.index]
        words += (
            f"; at these s no iterate with the ridge kept is below {above.min():.2g},"
            f" and refits without it come down to {below.min():.2g} to {below.max():.2g}"
        )
    return bool(len(small) and (kept[small.index] > 10 * small["printed"]).all()), words


def convex_columns(table: "DataFrame") -> Found:
    """l1 and E-net against the printed losses: all our readings together, and each way of the intercept."""
    words, holds = [], True
    for method in CONVEX:
        for intercept in ((False, True), (False,), (True,)):
            own = table[(table["method"] == method) & table["intercept"].isin(intercept)]
            spread = own.groupby("s").agg({"printed": "first", "low": "min", "high": "max"})
            off = (spread["printed"] / spread["printed"].clip(spread["low"], spread["high"]) - 1).abs()
            way = "either way" if len(intercept) == 2 else "with an intercept" if intercept[0] else "without"
            words.append(f"{method} {way} {off.mean():.1%} in the mean, {off.max():.1%} at most")
            holds = holds and (len(intercept) == 1 or bool(off.max() <= NEAR))
    return holds, "off by: " + "; ".join(words)


def omp_column(table: "DataFrame") -> Found:
    """Logit-OMP's printed losses against ours, columns of length one or raw."""
    own = table[table["method"].isin(("Logit-OMP", RAW_OMP))]
    printed = table[table["method"] == "Logit-OMP"].groupby("s")["printed"].first()
    low, high = own.groupby("s")["low"].min(), own.groupby("s")["high"].max()
    inside = printed.between(low, high)
    unit = table[table["method"] == "Logit-OMP"].groupby("s")["loss"].min()
    words = ", ".join(f"s={s}: {unit[s]:.3g} ({printed[s]:.3g})" for s in printed.index[printed > SMALL])
    return bool(inside.all()), (
        f"{inside.sum()} of {len(inside)} printed losses within our spread over tolerances, intercept and scaling;"
        f" ours on columns of length one (printed in brackets) {words}"
    )


def debiased_best(table: "DataFrame") -> Found:
    """Which of the paper's columns has the smallest loss in our run, for every s."""
    ours = table[table["method"].isin((*GRASP, *CONVEX, "Logit-OMP"))].pivot_table(
        index="s", columns="method", values="loss", aggfunc="min"
    )
    least = ours.min(axis=1).clip(lower=SMALL)
    first = {s: [method for method in ours if ours.loc[s, method] <= least[s]] for s in ours.index}
    debiased = [s for s, best in first.items() if set(best) & set(DEBIASED)]
    omp = [s for s, best in first.items() if s not in debiased and "Logit-OMP" in best]
    others = [s for s in first if s not in debiased and s not in omp]
    words = f"smallest (to {SMALL:g}) with debiasing at s = {_listed(debiased)};"
    words += f" Logit-OMP alone at s = {_listed(omp)}; another at s = {_listed(others)}"
    return not others and len(omp) <= len(debiased), words


def convex_better(table: "DataFrame") -> Found:
    """l1 and E-net against GraSP without debiasing."""
    ours = table.pivot_table(index="s", columns="method", values="loss", aggfunc="min")
    wins = (ours[list(CONVEX)].max(axis=1) < ours[["G", "Gl2"]].min(axis=1)).sum()
    low, high = ours[["G", "Gl2"]].min().min(), ours[["G", "Gl2"]].max().max()
    return bool(wins == len(ours)), (
        f"both convex methods below G and Gl2 at {wins} of {len(ours)} s: {ours[list(CONVEX)].min().min():.3g} to "
        f"{ours[list(CONVEX)].max().max():.3g} against {low:.3g} to {high:.3g}"
    )


def comparable(table: "DataFrame") -> Found:
    """G and Gl2 against l1 and E-net: within a factor."""
    ours = table.pivot_table(index="s", columns="method", values="loss", aggfunc="min")
    ratios = [ours[a] / ours[b] for a in ("G", "Gl2") for b in CONVEX]
    close = sum(int(ratio.between(1 / COMPARABLE, COMPARABLE).sum()) for ratio in ratios)
    total = sum(len(ratio) for ratio in ratios)
    below = sum(int((ratio < 1 / COMPARABLE).sum()) for ratio in ratios)
    return (
        close > total / 2,
        f"{close} of {total} pairs within a factor of {COMPARABLE:g}; in {below} GraSP is lower by more than that",
    )


def _listed(some: list[int]) -> str:
    return ", ".join(map(str, some)) or "none"
