"""All experiments by name."""

from functools import cache
from importlib import import_module

from pursuit._utils.validation import format_list

from .experiment import Experiment

PAPERS = {
    "grasp": "Bahmani, Raj, Boufounos (2013): Greedy Sparsity-Constrained Optimization. JMLR 14",
    "grahtp": "Yuan, Li, Zhang (2018): Gradient Hard Thresholding Pursuit. JMLR 18",
    "grahtp_icml": "Yuan, Li, Zhang (2014): Gradient Hard Thresholding Pursuit, conference version. ICML",
    "diht": "Liu, Yuan, Wang, Liu, Metaxas (2017): Dual Iterative Hard Thresholding. ICML",
    "arht": "Axiotis, Sviridenko (2020): Sparse Convex Optimization via Adaptively Regularized Hard Thresholding. ICML",
}


@cache
def catalogue() -> dict[str, Experiment]:
    found = [one for paper in PAPERS for one in import_module(f"{__package__}.{paper}").EXPERIMENTS]
    return {one.name: one for one in found}


def named(names: list[str]) -> list[Experiment]:
    """Experiments by name, all of a paper by the paper's, or ``all``."""
    known = catalogue()
    chosen: dict[str, Experiment] = {}
    for name in names:
        pattern = name.strip("/")
        some = {one: known[one] for one in known if pattern in ("all", one, one.partition("/")[0])}
        if not some:
            raise ValueError(f"no experiment is called {name!r}; known are {format_list(known)}, their papers, and all")
        chosen |= some
    return list(chosen.values())
