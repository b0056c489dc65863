"""The five greedy methods of the paper's experiments as the library has them, and Algorithm 1 with constant steps.

The printed five are GraHTP and FGraHTP (Algorithm 1), GraSP (Bahmani et al. 2013), FBS (Yuan and Yan 2013) and FoBa
(Zhang 2008).
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pursuit import Solver

METHODS = ("GraHTP", "FGraHTP", "GraSP", "FBS", "FoBa")
SHORT, HALF = "step 1/(2M)", "step 1/2"  # constant steps, in the paper's units
CONSTANT = tuple(f"{name}, {step}" for step in (SHORT, HALF) for name in METHODS[:2])
PRINTED_FBS = "FBS, coordinates"  # its atoms as the paper has them
HALT = 1e-4  # section 6.2.2: relative change of w at which every iteration ends
LONGEST = 500  # iterations of a constant step, which may not converge

COLOURS = dict(zip(METHODS, ("tab:blue", "tab:cyan", "tab:orange", "tab:green", "tab:red"), strict=True))
MARKS = dict(zip(METHODS, "osD^v", strict=True))


def methods(halt: float = 1e-5) -> dict[str, "Solver"]:
    """The printed five, each with the library's own step; GraSP without the refit after its cut, as it is printed.

    ``halt`` is FGraHTP's, the library's own by default.
    """
    from pursuit import FBS, FGraHTP, FoBa, GraHTP, GraSP

    found = (GraHTP(), FGraHTP(halt=halt), GraSP(variant="plain", halt=HALT), FBS(), FoBa())
    return dict(zip(METHODS, found, strict=True))


def constant_steps(short: float, half: float) -> dict[str, "Solver"]:
    """Algorithm 1 as printed: a constant step, no safeguard, no last refit of FGraHTP."""
    from pursuit import FGraHTP, GraHTP

    pairs = [(GraHTP(step=step), FGraHTP(step=step, halt=HALT, polish=False)) for step in (short, half)]
    return dict(zip(CONSTANT, [one for pair in pairs for one in pair], strict=True))


def sparse_eigenvalue(H: np.ndarray, size: int, starts: int = 3) -> float:
    """The largest ``size``-sparse eigenvalue by the truncated power method (Yuan and Zhang 2013), of a few starts."""
    best = 0.0
    for first in np.argsort(-np.diag(H))[:starts]:
        v, value, gained = H[first], 0.0, np.inf
        while gained > 1e-6 * value:
            kept = np.argsort(-np.abs(v))[:size]
            short = v[kept] / np.linalg.norm(v[kept])
            v = H[:, kept] @ short
            value, gained = float(short @ v[kept]), float(short @ v[kept]) - value
        best = max(best, value)
    return best
