"""The reach figures, each with what was measured: (figure, wanted, measured, met)."""

from rows import Row

from problems import Problem

Line = tuple[str, str, str, str]
OURS = "pursuit grahtp"
AUTO = "pursuit auto"
# Times faster than abess that auto should be, and floors of a search that it may take.
FASTER = {
    "linear-500x1000-k10": 4,
    "linear-1000x5000-k50": 9,
    "linear-2000x10000-k100": 8,
    "linear-500x50000-k20": 14,
    "logistic-500x1000-k10": 2,
    "logistic-1000x5000-k30": 7,
    "logistic-2000x10000-k50": 8,
}
FLOORS = 3  # on the large ones


def line(figure: str, wanted: str, measured: str, met: bool) -> Line:
    return figure, wanted, measured, "met" if met else "NOT MET"


def verdict(problem: Problem, rows: list[Row]) -> list[Line]:
    """Objective, speed and floor of GraHTP on one linear problem."""
    by_name = {row.contender: row for row in rows if row.seconds is not None}
    ours = by_name.get(OURS)
    if ours is None:
        return [(problem.name, "", "not measured", "-")]
    lines = []
    peers = [row for row in by_name.values() if not row.ours]
    if peers:
        best = min(peers, key=lambda row: row.objective)
        excess = ours.objective / best.objective - 1
        lines.append(
            line(
                f"{problem.name}: objective against the best peer's ({best.contender})",
                "<= +1e-9",
                f"{excess:+.1e}",
                excess <= 1e-9,
            )
        )
    for peer, factor in (("abess", 20), ("sklearn OMP", 3)):
        factor = 1 if problem.size == "small" else factor
        if peer not in by_name:
            lines.append((f"{problem.name}: times faster than {peer}", f">= {factor}", "not measured", "-"))
            continue
        ratio = by_name[peer].seconds / ours.seconds
        figure = f"{problem.name}: times faster than {peer}"
        lines.append(line(figure, f">= {factor}", f"{ratio:.2f}", ratio >= factor))
    if ours.vs_floor is not None:
        lines.append(line(f"{problem.name}: times the floor", "<= 3", f"{ours.vs_floor:.2f}", ours.vs_floor <= 3))
    return lines


def search_verdict(problem: Problem, rows: list[Row]) -> list[Line]:
    """Objective, speed and floor (linear) of auto on one problem, next to abess. One thread each: OMP_NUM_THREADS=1."""
    by_name = {row.contender: row for row in rows if row.seconds is not None}
    ours, abess, lines = by_name.get(AUTO), by_name.get("abess"), list[Line]()
    if ours is None:
        return []
    if abess is not None:
        excess, ratio = ours.objective / abess.objective - 1, abess.seconds / ours.seconds
        lines.append(
            line(f"{problem.name}: auto's objective against abess's", "<= +1e-9", f"{excess:+.1e}", excess <= 1e-9)
        )
        if problem.name in FASTER:
            wanted = FASTER[problem.name]
            figure = f"{problem.name}: auto, times faster than abess"
            lines.append(line(figure, f">= {wanted}", f"{ratio:.2f}", ratio >= wanted))
    if ours.vs_search_floor is not None:
        figure, measured = f"{problem.name}: auto, times the search floor", f"{ours.vs_search_floor:.2f}"
        if problem.size == "large":
            lines.append(line(figure, f"<= {FLOORS}", measured, ours.vs_search_floor <= FLOORS))
        else:
            lines.append((figure, "reported", measured, "-"))
    return lines


def memory_verdict(problem: Problem, extra: dict[str, int]) -> list[Line]:
    """A quarter of X, plus four float64 arrays of p + n k numbers for the O(p + n k)."""
    x = 8 * problem.n * problem.p
    allowed = 0.25 * x + 4 * 8 * (problem.p + problem.n * problem.k)
    return [
        line(
            f"{problem.name}: peak memory beyond X ({way})",
            f"<= {allowed / x:.1%} of X",
            f"{size / x:.1%}",
            size <= allowed,
        )
        for way, size in extra.items()
    ]
