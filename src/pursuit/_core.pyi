"""The C++ kernels: arrays in, arrays out; no state but the calling thread's thread count.

A ``Matrix`` and ``Samples`` hold references to the arrays they are made of, and read them where they lie at every call.
They cannot be pickled: who holds one makes it anew.

Rules that hold for every kernel
--------------------------------
- Every other vector or matrix is float64; columns ``cols`` are int64. Sums are float64 whatever X is.
- Inputs may be read-only; nothing is converted silently (a wrong dtype is a TypeError); the GIL is released.
- A NaN or infinity anywhere in X reaches the result of every full pass: no kernel skips a zero weight.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

F: TypeAlias = NDArray[np.float64]
I: TypeAlias = NDArray[np.int64]
Real: TypeAlias = NDArray[np.float64] | NDArray[np.float32]
Index: TypeAlias = NDArray[np.int32] | NDArray[np.int64]

def set_threads(n: int) -> int:
    """Set the calling thread's thread count for later kernels; returns the old one."""

def get_threads() -> int: ...
def top_k(v: Real, k: int) -> I:
    """Sorted indices of the k largest ``|v|``; ties go to the lowest index; NaN counts as smallest."""

class Samples:
    """Targets, weights (they sum to one) and an offset with their loss: ``loss`` is a code of ``pursuit.losses``
    (core/losses.hpp), ``param`` its delta or gamma."""

    def __init__(self, y: F, c: F, offset: F | None, loss: int, param: float) -> None: ...
    def terms(self, eta: F) -> tuple[float, F, F]:
        """``sum c phi``, ``c phi'`` and ``c phi''`` (0 for hinge) at eta with the offset in it, safe at eta = +-1e4."""

class Matrix:
    """X, dense or sparse.

    A dense one is float32 or float64 with unit stride along one axis (C- or F-like, any leading dimension). A sparse one
    has float32 or float64 data and int32 or int64 indices (both index arrays of one type); ``rows=True`` says CSR,
    ``rows=False`` CSC. Indices need not be sorted; duplicates add up.
    """

    @overload
    def __init__(self, X: Real) -> None: ...
    @overload
    def __init__(self, data: Real, indices: Index, indptr: Index, n: int, p: int, rows: bool) -> None: ...
    def matmat(self, cols: I, coef: F) -> F:
        """X[:, cols] @ coef, coef is m x q; the result is C-order."""

    def rmatmat(self, d: F) -> F:
        """X.T @ d, d is n x q; the result is C-order."""

    def gather(self, cols: I) -> F:
        """X[:, cols] in F-order."""

    def gather_rows(self, cols: I) -> tuple[F, NDArray[np.int32], NDArray[np.int32]]:
        """The columns of a CSR X, again as CSR: data, indices (positions in ``cols``), indptr."""

    def gather_csc(self, cols: I) -> tuple[F, I, I]:
        """The columns of a sparse X as CSC with int64 indices, sorted within a column when X's rows are."""

    def narrow(self, cols: I, out: NDArray[np.float32]) -> None:
        """X[:, cols] of a dense X into ``out``, in single precision."""

    def cross(self, w: F, shift: F | None = None) -> F:
        """w.T @ (X - shift), w is n x m (F-order), the result m x p (C-order)."""

    def first_pass(self, c: F, d: F) -> tuple[F, F, F]:
        """Weighted means and variances of the columns of a dense X, and X.T @ d about the means, in one pass; c sums to
        one."""

    def stats(self, c: F) -> tuple[F, F]:
        """Weighted column means and variances in one pass (variances by a shifted sum, never negative)."""

    def row_hashes(self, first: int) -> NDArray[np.uint64]:
        """A hash of every row, by keys of the columns ``first``, ``first + 1``, ...; equal numbers give equal hashes,
        whatever the layout and precision they are stored in, and columns of zeros count nothing."""

    def value_gradient(self, samples: Samples, cols: I, coef: F, b: float) -> tuple[float, F, float]:
        """``sum c phi`` at eta = X[:, cols] coef + b + offset, its gradient over all p columns, its derivative in b.
        A dense or CSR X is read once."""

    def dual_sweep(
        self, samples: Samples, order: I, gain: F, cols: I, pairs: bool, damp: float, a: F, v: F
    ) -> None:
        """Coordinate ascent on the dual with the support ``cols`` held (core/dual.hpp); X is dense or CSR, and no row
        stores an entry twice.

        ``a`` (n) and ``v`` (p) are CHANGED in place: a copy of p numbers per block would cost more than the block.
        v = scale * z, gain = scale^2 / ridge, so that eta = X[:, cols] v[cols] and a move d = c_i (a_i' - a_i) adds
        -d x_i * gain to v. Samples ``order`` are visited one by one or, with ``pairs``, two by two with sum_i c_i a_i
        kept; each moves ``damp`` times as far as is best for it.
        """

    # On all columns of a small X; float64 in F-order or CSC with int64 indices is read in place, all else is copied.
    def gram(self, w: F) -> F:
        """X.T @ diag(w) @ X, both triangles filled."""

    def centred_gram(self, w: F) -> tuple[F, F]:
        """The same of columns less their weighted means, and these means; constant columns give exactly zero. A copy of
        X is made."""

    def turn(self, w: F, v: F, a: float) -> tuple[F, float]:
        """X.T @ d and the sum of d = w * (X @ v + a), for a sparse X."""

    def between(self, w: F, other: Matrix) -> F:
        """X.T @ diag(w) @ Y in C-order, for two CSC matrices with int64 indices."""

    def newton(self, samples: Samples, coef: F, b: float, hessian: bool) -> tuple[float, F, F | None]:
        """Value, gradient (m, then b) and Hessian ((m+1) x (m+1), or None)."""

    def fit(
        self, samples: Samples, l2: F, intercept: bool, z: F, floor: float, lower: float, converged: float,
        singular: float, seconds: float = ...,
    ) -> tuple[F, float, bool]:
        """Newton's method (squared loss: one refined step) on (columns, intercept): z, value, and whether it came to its
        end.

        It stops where more care is needed: at a value of ``floor``, a condition below ``singular``, a step that fails;
        and after so many ``seconds``. A smoothed hinge with a ridge goes on with a search, where its columns are dense.
        ``lower`` is a lower bound of f (or -inf): ``converged`` is relative to the height above it.
        """

    def fit_columns(
        self, samples: Samples, ridge: F, intercept: bool, start: float, floor: float, scale: float, curve: float,
        best: F,
    ) -> tuple[F, F, F, NDArray[np.uint8]]:
        """Every column fitted alone: values, coefficients, intercepts, and how each ended.

        0: above the second of ``best``, the two lowest values so far; its value is a lower bound. 1: at its minimum, by a
        dual bound. 2: at the ``floor``. 3: undecided. Constant columns: 3, with a value of infinity.
        ``start`` is the intercept of the null model, ``scale`` the least that differences are relative to, ``curve`` a
        bound of phi'' or 0.
        """

# Twice the digits (core/exactly.hpp).
def orthonormal(A: F, w: F, ridge: F, intercept: bool, nothing: float) -> tuple[F, F, F]:
    """Q, T and the shares left: columns of [A; I] orthonormal under the weights [w; ridge] (and to 1, with an
    intercept), T in terms of A's. A share up to ``nothing`` becomes 0: there Q_j is zero and T_j a combination that
    vanishes."""

def exact_eta(A: F, coef: F, b: float, offset: F | None) -> F:
    """A @ coef + b + offset, rounded once."""

# Dual coordinate descent for min sum_i c_i max(0, 1 - y_i (A x + offset)_i) + l2/2 ||x||^2 + rho/2 (b - centre)^2,
# eta = A x + b + offset; alpha in [0, 1] is the start and is not changed. Rows are A.T's contiguous columns.
def hinge_dual(
    At: F, samples: Samples, l2: float, rho: float, centre: float, alpha: F, tol: float, max_epochs: int, seed: int
) -> tuple[F, F, float, int]:
    """alpha, x, b and the epochs used. ``At`` is F-order m x n (each sample contiguous), ``rho > 0``;
    x = sum_i c_i y_i alpha_i a_i / l2, b = centre + sum_i c_i y_i alpha_i / rho; stops when the largest
    projected-gradient violation over an epoch is at most ``tol``."""

def rounded_hinge(
    A: F, samples: Samples, l2: F, intercept: bool, z: F, widths: F, tol: float
) -> tuple[F, F, bool]:
    """Newton's method on the hinge rounded over each of ``widths`` in turn: z, alpha = phi' at the last width, and
    whether it came to its end (a decrement of ``tol`` times the value)."""

# All single exchanges of a quadratic at its minimiser x over S: HS = H[S, :] (k x m), B = H_SS^-1, gradient g and
# diagonal h on the m columns. Per column: the best change of f, the row to drop (-1: none), the gain of adding alone, and
# the share of the column that S does not explain.
def exchange(HS: F, B: F, g: F, h: F, x: F, droppable: NDArray[np.uint8]) -> tuple[F, I, F, F]: ...
def group_exchange(
    HS: F, B: F, g: F, HJ: F, x: F, rows: I, cols: I, droppable: NDArray[np.uint8]
) -> tuple[F, I, F, F]:
    """The same for groups: ``rows`` and ``cols`` hold where each group begins (and the end), rows and columns ordered
    by group; ``HJ`` the blocks H_JJ one after another. Answers are per group of columns."""

# Whole searches for k units (core/search.hpp, core/working_set.hpp).
class SearchRequest:
    """The request of a search: k units, which are ``forced`` in and ``allowed`` (one number per unit), where to start.

    At most ``restarts``, of which ``patience`` in a row may be unsuccessful, that cost up to ``effort`` times what went
    before; ``widest`` times k units are added before all but k are dropped; differences of values are relative to at
    least ``scale``. ``stop`` is called every few milliseconds and ends the search by returning True or by raising.
    """

    def __init__(
        self, k: int, forced: NDArray[np.uint8], allowed: NDArray[np.uint8], start: I, *, restarts: int, patience: int,
        widest: int, effort: float, seed: int, scale: float, stop: Callable[[], bool] | None,
    ) -> None: ...
    def take_error(self) -> BaseException | None:
        """What ``stop`` (or another callback) raised; the request forgets it."""

class FoundPoint:
    """A support, its coefficients (for likelihoods the intercepts last) and its value."""

    @property
    def support(self) -> I: ...
    @property
    def coef(self) -> F: ...
    @property
    def value(self) -> float: ...

class SearchSolution:
    """Points, each better than the one before, and what is known of the last.

    ``nearest`` is the exchange (leave, enter, change) of the least change. Likelihoods: ``unjudged`` of ``total``
    exchanges are not known to be of no help (-1: none was judged), ``doubtful`` supports need more digits. Quadratics:
    no exchange changes f by less than ``change`` (-inf: not all were judged) but those with columns of ``doubtful[0]``,
    whose share that the chosen ones do not explain is below 1e-7; ``share`` is the least among the others,
    ``condition`` a lower bound of the reciprocal condition number; ``contested`` columns survived the test.
    """

    @property
    def points(self) -> list[FoundPoint]: ...
    @property
    def nearest(self) -> tuple[int, int, float]: ...
    @property
    def doubtful(self) -> list[I]: ...
    unjudged: int
    total: int
    change: float
    condition: float
    share: float
    contested: int

def quadratic_search(H: F, C: F, ridge: F, f0: float, floor: float, request: SearchRequest) -> SearchSolution:
    """f0 + the sum over the rows c of C (one per response) of c'x + x'(H + ridge)x/2, with one support."""

class LeastSquares:
    """The squared loss on columns sqrt(c) (x - mean) scale of length 1 (with the ``ridge``'s share of its square).

    ``residual`` is sqrt(c) times that of the null model, ``gradient`` minus its products with the columns, a row of
    both for each response; ``length`` is that of the columns in the objective's units. ``far``: means are subtracted before columns are multiplied.
    """

    def __init__(
        self, X: Matrix, c: F, residual: F, mean: F, scale: F, ridge: F, gradient: F, length: F, *, f0: float,
        floor: float, far: bool,
    ) -> None: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    def path(
        self,
        request: SearchRequest,
        *,
        thorough: bool,
        claims: bool,
        reached: Callable[[int, float], object] | None,
        room: float,
    ) -> PathSolution:
        """The best support of every size, with ``room`` numbers for Gram rows; ``claims``: tested against all columns."""

    def search(self, request: SearchRequest, *, all_columns: int, room: float) -> SearchSolution:
        """Search on a working set; on all columns, with ``room`` numbers for Gram rows, 0 never, 1 where the test leaves
        more than a few columns, 2 always."""

class EvenColumns:
    """Columns of mean square 1 whose own sizes are ``unit``: A (a column after the other), or (X - mean) scale, the mean
    of a sparse X being zero. ``ridge`` is that of the columns of mean square 1."""

    @overload
    def __init__(self, A: F, ridge: F, unit: F, intercept: bool) -> None: ...
    @overload
    def __init__(self, X: Matrix, mean: F, scale: F, ridge: F, unit: F, intercept: bool) -> None: ...
    @property
    def shape(self) -> tuple[int, int]: ...

def likelihood_search(
    samples: Samples, curve: float, columns: EvenColumns, floor: float, prove: int, beam: int, request: SearchRequest
) -> SearchSolution:
    """The best support of a loss; coefficients end with the intercept. ``prove``: 0 fits the best-ranked exchanges at the
    end, 1 judges all as long as that takes no longer than the search, 2 all. ``beam``: how many supports are extended
    at once, 0 for the starts of search.hpp, -1 for none but the request's."""

def working_set_search(
    samples: Samples, curve: float, X: Matrix, mean: F, scale: F, ridge: F, unit: F, gradient: F, intercept: bool,
    floor: float, sweep_above: int, request: SearchRequest,
) -> SearchSolution:
    """The best support of a loss by a search on a working set of the columns (X - mean) scale of mean square 1, whose own
    sizes are ``unit``; ``gradient`` is that of the null model. ``contested`` is -1 where it did not come to its end."""

def multinomial_search(
    label: I, c: F, offset: F | None, E: F, columns: EvenColumns, floor: float, prove: int, beam: int,
    request: SearchRequest,
) -> SearchSolution:
    """The same for classes; E (q x q-1) is a basis of what changes probabilities, a unit has q-1 coefficients."""

def class_search(
    label: I, c: F, offset: F | None, E: F, columns: EvenColumns, floor: float, prove: int, beam: int,
    request: SearchRequest, outside: int,
) -> SearchSolution:
    """The same on the columns that models choose, which have ``outside`` of them beside the support;
    ``prove`` must be 0."""

def multinomial_fit(
    label: I, c: F, offset: F | None, E: F, A: F, ridge: F, intercept: bool, floor: float, z: F
) -> tuple[F, float, bool, bool]:
    """A refit on the columns of A from z ((m + 1)(q - 1) numbers, the intercepts last), its value, whether it is the
    minimiser, and whether coefficients grow without end."""

class SubsetSolution(FoundPoint):
    """The best support of a size, on which no exchange helps but perhaps those with ``doubtful`` newcomers.

    ``exchange`` (leave, enter, change) changes f least; ``condition`` is a lower bound of the reciprocal condition number,
    ``noise`` what rounding may have made of the value; ``tilt`` is the derivative of the null model's value in its
    intercept.
    """

    @property
    def exchange(self) -> tuple[int, int, float]: ...
    @property
    def doubtful(self) -> I: ...
    intercept: float
    condition: float
    noise: float
    null_intercept: float
    null_value: float
    tilt: float

def best_subset(
    X: Matrix, y: F, c: F, offset: F | None, l2: float, ridge: F | None, view: F | None, intercept: bool,
    request: SearchRequest, judged: int, small_share: float, rounded: float,
) -> SubsetSolution | None:
    """Least squares on small dense data from its rows, in one call. ``judged`` >= 0: the point of that size on a path to
    the request's k with a search at every size; -1: one search for k columns. ``ridge`` takes the place of ``l2``;
    ``view`` has what is subtracted from the columns in its first row, and what they are divided by in its second. None
    where numbers need more care, or not every exchange could be judged."""

def far_origin(X: Matrix, sampled: int, far: float) -> F | None:
    """Per column the middle of ``sampled`` rows where it is more than ``far`` times their spread away from zero, else 0;
    None where no column is."""

# Paths, core/path_search.hpp.
class PathPoint(FoundPoint):
    """The best point of a size; ``settled``: no exchange was found that helps. For quadratics a lower bound of the
    reciprocal condition number, the least share left of a column outside, the change by the nearest exchange; without
    the ``doubtful`` columns, whose share is below 1e-7. At the size that was to be ``judged`` also the ``exchange``
    (leave, enter, change) of the least change (elsewhere leave is -1)."""

    settled: bool
    condition: float
    share: float
    nearest: float
    @property
    def exchange(self) -> tuple[int, int, float]: ...
    @property
    def doubtful(self) -> I: ...
    def claimed(self, f0: float, rounded: float) -> bool:
        """Whether no exchange helps, for certain, where H_ij is known to within a share ``rounded``."""

class PathSolution:
    """The points of all sizes from the forced-in units on, and whether a callback stopped it."""

    @property
    def points(self) -> list[PathPoint]: ...
    @property
    def sizes(self) -> int:
        """How many points there are."""

    def point(self, i: int) -> PathPoint: ...
    def claimed(self, f0: float, rounded: float) -> bool:
        """``PathPoint.claimed`` of all sizes beyond the forced-in units."""

    stopped: bool

Reached: TypeAlias = Callable[[int, float], object]

class Products:
    """Rows of A'A, computed on demand and kept; A is read where it lies (column by column, or copied)."""

    def __init__(self, A: F) -> None: ...
    def solve(self, c: F, ridge: F, supports: list[I]) -> list[tuple[F, float]]:
        """Per support the minimiser of c'x + x'(A'A + ridge)x/2 over it, and the reciprocal condition number there (0
        where there is no factor, and the numbers say nothing)."""

def quadratic_path(
    rows: object, C: F, h: F, ridge: F, f0: float, floor: float, request: SearchRequest, thorough: bool,
    reached: Reached | None, judged: int = -1, rounded: float = 0.0,
) -> PathSolution:
    """f0 + the sum over the rows c of C of c'x + x'(H + ridge)x/2, h its diagonal; ``rows`` is H, or Products,
    or has ``row(j)`` (H_j:, or None where it is not at hand), ``block(cols)`` (H of these columns), ``fetch(cols)`` and
    ``has(j)``. ``thorough``: with a search at every size; ``judged``: a size at which every exchange is judged;
    ``rounded`` > 0: it ends at the first size whose claim rounding error prevents."""

def orthonormal_path(
    A: F, Y: F, length: F, least: F, floor: float, request: SearchRequest, thorough: bool, reached: Reached | None,
    judged: int = -1,
) -> PathSolution:
    """The path of |Y - A z|^2 / 2 for columns of length 1 that may be close to dependent; ``length``: what they were
    divided by, ``least`` the squared length up to which what others leave of one is nothing; Y has a row for each
    response. Nothing is claimed of the points."""

def likelihood_path(
    samples: Samples, curve: float, columns: EvenColumns, floor: float, sizes: NDArray[np.uint8],
    request: SearchRequest, thorough: bool, reached: Reached | None,
) -> PathSolution:
    """The path of a loss; ``sizes``: whether each size from 0 to k is searched for."""

def working_set_path(
    samples: Samples, curve: float, X: Matrix, mean: F, scale: F, ridge: F, unit: F, gradient: F, intercept: bool,
    floor: float, sizes: NDArray[np.uint8], fewest: int, pass_work: float, request: SearchRequest,
    reached: Reached | None,
) -> PathSolution:
    """The path of a loss on a working set of columns, which are those of ``working_set_search``: the support, and at
    least ``fewest`` others. The next pass over X is due when fits and models took ``pass_work`` multiplications."""

def multinomial_path(
    label: I, c: F, offset: F | None, E: F, columns: EvenColumns, floor: float, sizes: NDArray[np.uint8],
    request: SearchRequest, thorough: bool, reached: Reached | None,
) -> PathSolution:
    """The same for classes, as in ``multinomial_search``."""

def class_path(
    label: I, c: F, offset: F | None, E: F, columns: EvenColumns, floor: float, sizes: NDArray[np.uint8],
    outside: int, request: SearchRequest, reached: Reached | None,
) -> PathSolution:
    """The same on a working set: the support and at least ``outside`` other columns. Only the sizes that are wanted
    have points."""

# Graphs, core/graph_fit.hpp and core/graph_search.hpp. R has a unit diagonal; edges are sorted numbers i p + j, i < j;
# ``closed`` (p x p) are pairs that may not be edges. A fit is edges, W on them, its diagonal, its inverse, value, gap.
Fitted: TypeAlias = tuple[I, F, F, F, float, float]
EdgeMoves: TypeAlias = tuple[I, I, F]  # places of edges that leave, edges that enter, changes of the value

def graph_refit(
    R: F, edges: I, lam: float, start: F | None, tol: float, patience: int, ask: Callable[[], bool] | None
) -> tuple[Fitted | None, BaseException | None]:
    """The minimiser of tr(R W) - log det W + lam sum_{i != j} |W_ij| on a graph; None where no start leads to one."""

def graph_path(
    R: F, sizes: I, include: I, start: I, closed: NDArray[np.uint8], thorough: bool, tol: float,
    ask: Callable[[], bool] | None, reached: Reached | None,
) -> tuple[list[Fitted], bool, BaseException | None]:
    """The best graphs of these sizes, as far as it came; whether ``reached`` stopped it."""

def graph_moves(
    R: F, edges: I, w: F, d: F, Sigma: F, include: I, closed: NDArray[np.uint8], most: int
) -> tuple[EdgeMoves, F]:
    """The exchanges that node bounds rank first, and per edge a bound of what dropping it costs."""

def graph_open(
    R: F, edges: I, w: F, d: F, Sigma: F, include: I, closed: NDArray[np.uint8], least: float, sweeps: int, most: int,
    ask: Callable[[], bool] | None,
) -> tuple[EdgeMoves, int, bool, BaseException | None]:
    """The exchanges that no bound excludes from a value below ``least``; how many were looked at, and whether all."""

# Perspective (k-support) relaxation, core/ksupport.hpp and core/relaxation.hpp. ``relaxation`` and its like return the
# bound, the relaxation's value, x, z and indicators t, the iterations, w = c a of the best bound, and the curvature used.
def ksupport_prox(v: F, k: int, g: float) -> tuple[F, F, float]:
    """Prox of g times half the squared k-support norm: x, the indicators t, and that half squared norm at x."""

def balanced(a: F, c: F, low: F, high: F, total: float) -> F:
    """clip(a - t, low, high) with the t for which its sum, weighted by c, is ``total``."""

def perspective(
    H: F, c: F, k: int, f0: float, mu: float, L: float, unit: float, x: F, target: float, tolerance: float, max_iter: int
) -> tuple[float, float, F, F, F, int, F, float]:
    """Lower bound of min f0 - c'x + x'Hx/2 over k-sparse x, if H - mu I is positive semidefinite: bound, relaxation's
    value, x, z, t, iterations, the y at which the bound was found, curvature used. ``unit`` is the size of what is added
    up, at which values are rounded."""

# Paths of groups of columns, core/group_path.hpp.
def group_path(
    H: F, g: F, starts: I, forced: NDArray[np.uint8], allowed: NDArray[np.uint8], start: I, wanted: NDArray[np.uint8],
    tolerance: float, stop: Callable[[], bool] | None,
) -> tuple[list[I | None], list[float], BaseException | None]:
    """The best groups found for x'Hx/2 - g'x by size (None: not reached), the values, what ``stop`` raised."""

# Leaps and bounds, core/leaps.hpp.
def leaps(
    R: F, z: F, base: float, rounding: float, column_rounding: float, forced: NDArray[np.uint8], kmin: int, kmax: int,
    nbest: int, tolerance: float, smallest: float, exact: float, effort: float, ask: Callable[[], bool] | None,
) -> tuple[list[tuple[list[tuple[I, float, float]], bool]], bool, int, BaseException | None]:
    """The best subsets of base + min ||z - R_S x||^2 / 2 per size (columns, value, rounding; whether none is missing),
    whether columns are too close to dependent for that, nodes, what ``ask`` raised."""

def schur(H: F, W: F, keep: I) -> F:
    """H[keep, keep] - W[:, keep].T @ W[:, keep]."""

def relaxation(
    X: Real, samples: Samples, round: float, intercept: bool, mean: F | None, ends: I, state: NDArray[np.uint8], k: int, mu: float, L: float, unit: float, x: F, target: float,
    tolerance: float, max_iter: int,
) -> tuple[float, float, F, F, F, int, F, float]:
    """Lower bound of a GLM over units of columns: free (state 0), in (1) or out (2), k of the free ones at most."""

def called_relaxation(
    X: F, call: Callable[[F, F], tuple[float, float, F, float]], ends: I, state: NDArray[np.uint8], k: int, mu: float,
    L: float, unit: float, x: F, target: float, tolerance: float, max_iter: int,
) -> tuple[float, float, F, F, F, int, F, float]:
    """The same for a loss without a kernel: ``call`` gives value, value ahead, w and low of two linear predictors."""

VERSION: Literal[1]
