"""Stochastic dual iterative hard thresholding.

B. Liu, X.-T. Yuan, L. Wang, Q. Liu, D. Metaxas, "Dual Iterative Hard Thresholding: From Non-convex Sparse Minimization
to Non-smooth Concave Maximization", ICML 2017, Algorithm 2.

| paper | here |
|---|---|
| {B_1, ..., B_m}, a partition of the samples | blocks of ``block`` samples, or ``blocks`` of them |
| (S1) ascent on one random block | one move of ``rule.epoch``; an iteration is m of them |
| (S2.1) w~ updated incrementally | ``z`` or, in C++, ``v`` |
| (S2.2) w^(t) = H_k(w~) | ``constraint.top``, after each block |

All else is DIHT's (:mod:`pursuit.solvers.diht`), of which this is the case of several blocks: the support follows z m
times as often, which is what makes it fast where l2 is small.
Cost per iteration: DIHT's, and m times the top of p numbers.
"""

from dataclasses import dataclass

from .._utils.validation import check_k
from ..objectives.dual import Dual
from .ascent import block_size
from .diht import DIHT


@dataclass(frozen=True)
class SDIHT(DIHT):
    """DIHT whose support follows after every block of samples: stochastic DIHT.

    Parameters
    ----------
    step : {"coordinate", "polyak", "paper"}, float or None, default None
        As in DIHT; "paper" is m * smoothness/(t+1), t counting blocks; None is "coordinate" for a dense X too, where
        "polyak" by blocks is far behind.
    refit : bool, default True
        As in DIHT.
    halt : float, default 0.001
        As in DIHT.
    random_state : int, Generator or None, default None
        Seed of the order of samples; ``solve(random_state=...)`` fills it.
    block : int or None, default None
        Samples per block (with an intercept at least two). None: as many as cost what a top of z costs.
    blocks : int or None, default None
        The number of blocks m, in place of ``block``.
    relax : float or None, default None
        Run at ``relax`` times the budget, keep the k largest and refit.
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.
    patience : int, default 10
        As in DIHT.
    from_zero : bool, default False
        As in DIHT.
    relaxation : bool, default True
        As in DIHT.

    See Also
    --------
    DIHT : The form without blocks.

    References
    ----------
    B. Liu, X.-T. Yuan, L. Wang, Q. Liu, D. N. Metaxas (2017): Dual Iterative Hard Thresholding. ICML.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y, l2=0.01), 2, solver=pursuit.SDIHT()).support.tolist()
    [3, 7]
    """

    block: int | None = None
    blocks: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.block is not None:
            check_k(self.block, "block")
        if self.blocks is not None:
            check_k(self.blocks, "blocks")
            if self.block is not None:
                raise ValueError("block and blocks both say how the samples are divided: give one of them")

    def _size(self, dual: Dual) -> float:
        if self.block == 1 and dual.f.fit_intercept:
            raise ValueError("block must be at least 2 with an intercept: a single sample cannot move, got block=1")
        if self.blocks is not None:
            n, least = len(dual.c), 2 if dual.f.fit_intercept else 1
            if least * self.blocks > n:
                raise ValueError(f"blocks must be at most {n // least} for {n} samples, got blocks={self.blocks}")
            return n / self.blocks
        return block_size(dual, self.block)
