"""The four methods of the conference version's logistic experiments."""

from pursuit import FBS, FGraHTP, GraHTP, GraSP, Solver

METHODS = ("GraHTP", "FGraHTP", "GraSP", "FBS")
COLOURS = dict(zip(METHODS, ("tab:blue", "tab:cyan", "tab:orange", "tab:green"), strict=True))
MARKS = dict(zip(METHODS, "osD^", strict=True))
HALT = 1e-4  # relative change of w at which every iteration ends, as in the JMLR version


def methods() -> dict[str, Solver]:
    """GraSP with debiasing (in this version), FGraHTP without a last refit; steps are the library's own."""
    found = (GraHTP(), FGraHTP(halt=HALT, polish=False), GraSP(variant="debias", halt=HALT), FBS())
    return dict(zip(METHODS, found, strict=True))
