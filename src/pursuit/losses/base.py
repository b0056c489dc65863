"""The loss protocol, its registry, and what a loss needs to know of its targets.

To add a loss: subclass :class:`Loss`, write ``value`` and ``d1`` in NumPy (``d2`` too, if it has a closed form),
and pass an instance wherever a loss name is accepted; ``register`` gives it a name. A loss with a C++ twin says
so by its ``code``; one without works everywhere, only slower. A loss of several outputs, or one that couples rows,
writes ``row_hessian`` in place of ``d2`` (and ``terms``, if rows couple).
"""

from typing import ClassVar, TypeAlias

import numpy as np

from .. import _core
from .._utils.types import Array, ArrayLike, Intercept, Matrix, Vector
from .._utils.validation import check_array, match_name, resolve_name, unknown_name_message
from .row_hessians import DiagonalHessian, RowHessian

#: A loss, its class, or its name.
LossLike: TypeAlias = "Loss | type[Loss] | str"

_registry: dict[str, type["Loss"]] = {}
CHECKED_ROWS = 32  # rows on which a user's derivative is compared with differences


class Loss:
    """Base class of losses phi(y, eta) of one sample, elementwise over arrays.

    With q outputs y and eta are n x q, else vectors.

    Attributes
    ----------
    smoothness : float
        Supremum of phi'' (inf where there is none).
    targets : str
        "real", "binary" (stored as ``labels``), "nonnegative", or "classes" (a column per class).
    several : bool
        Whether the loss takes several outputs.
    takes_labels : bool
        Whether targets may be labels of any number of classes.
    separable : bool
        False where phi of one row depends on others (risk sets); only weights then make folds.
    whole_strata : bool
        Whether rows of different parts never couple, so that parts of a loss that couples rows add up.
    smooth : bool
        False where phi is not differentiable (the refit is then a dual method).
    quadratic : bool
        True when phi'' is 1 everywhere, so that one Newton step is exact.
    ridge : float
        The l2 of estimators that are given none.
    attained : bool
        False when phi's infimum over eta is not attained (separable data then have no minimiser).
    from_zero : bool
        True when phi's infimum over eta is 0 for every y.
    likelihood : bool
        True when phi is a negative log-likelihood (Gaussian: with the variance that fits best), up to a constant of the
        data, so that there are AIC, BIC and their kin.

    See Also
    --------
    list_losses : What there is.

    Examples
    --------
    Two methods are enough; docs/extending.md has the others.

    >>> import numpy as np, pursuit
    >>> class LogCosh(pursuit.Loss):
    ...     name, smoothness = "log_cosh", 1.0
    ...     def value(self, y, eta):
    ...         return np.log(np.cosh(eta - y))
    ...     def d1(self, y, eta):
    ...         return np.tanh(eta - y)
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.SparseRegressor(k=2, loss=LogCosh(), solver="grahtp").fit(X, y).support_.tolist()
    [3, 7]
    """

    travels: ClassVar[bool] = True  # as an answer of data
    name: ClassVar[str] = ""
    code: ClassVar[int | None] = None
    targets: ClassVar[str] = "real"
    labels: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    smoothness: ClassVar[float] = np.inf
    smooth: ClassVar[bool] = True
    twice_differentiable: ClassVar[bool] = True
    flattens: ClassVar[bool] = False
    quadratic: ClassVar[bool] = False
    attained: ClassVar[bool] = True
    from_zero: ClassVar[bool] = False
    likelihood: ClassVar[bool] = False
    ridge: ClassVar[float] = 0.0
    several: ClassVar[bool] = False
    takes_labels: ClassVar[bool] = False
    separable: ClassVar[bool] = True
    whole_strata: ClassVar[bool] = False

    @property
    def param(self) -> float:
        """The constant that the kernel gets (delta or gamma)."""
        return 0.0

    def value(self, y: Vector, eta: Vector) -> Vector:
        raise NotImplementedError(f"{type(self).__name__} must define value(y, eta)")

    def d1(self, y: Vector, eta: Vector) -> Vector:
        raise NotImplementedError(f"{type(self).__name__} must define d1(y, eta)")

    def d2(self, y: Vector, eta: Vector) -> Vector:
        """phi''; by default the difference quotient of ``d1``."""
        h = 1e-5 * np.maximum(1.0, np.abs(eta))
        return np.maximum((self.d1(y, eta + h) - self.d1(y, eta - h)) / (2 * h), 0.0)

    def conjugate(self, y: Vector, a: Vector) -> Vector:
        """phi*(a) = sup_eta a eta - phi(y, eta); inf outside the dual domain."""
        raise self.no_conjugate

    def conjugate_d1(self, y: Vector, a: Vector) -> Vector:
        """The derivative of phi*, an eta with phi'(y, eta) = a; by default a difference quotient inside the domain."""
        low, high = self.dual_domain(y)
        h = 1e-6 * np.maximum(1.0, np.abs(a))
        left, right = np.maximum(a - h, low), np.minimum(a + h, high)
        return (self.conjugate(y, right) - self.conjugate(y, left)) / (right - left)

    @property
    def has_conjugate(self) -> bool:
        """Whether the loss brings a conjugate, so that there are dual bounds for it."""
        return type(self).conjugate is not Loss.conjugate

    @property
    def no_conjugate(self) -> TypeError:
        """What to raise, or say, where a conjugate is needed and there is none."""
        return TypeError(
            f"loss {self.name or type(self).__name__!r} has no conjugate, so there is no dual bound for it"
        )

    def infimum(self, y: Vector, c: Vector) -> float:
        """The weighted sum of every sample's own infimum over eta, -phi*(0); -inf where that is not known."""
        if self.from_zero or not self.has_conjugate:
            return 0.0 if self.from_zero else -np.inf
        return -float(c @ self.conjugate(y, np.zeros_like(y)))

    def dual_domain(self, y: Vector) -> tuple[Vector, Vector]:
        """Bounds of the a with finite conjugate."""
        raise self.no_conjugate

    def terms(self, y: Vector, eta: Vector, c: Vector) -> tuple[float, Vector, RowHessian]:
        """sum_i c_i phi, its derivative in eta, and its second derivative."""
        if self.code is not None and y.ndim == 1:
            value, first, second = _core.Samples(y, c, None, self.code, self.param).terms(eta)
            return value, first, DiagonalHessian(second)
        return *self.first_order(y, eta, c), self.row_hessian(y, eta, c)

    def first_order(self, y: Vector, eta: Vector, c: Vector) -> tuple[float, Vector]:
        """sum_i c_i phi and its derivative in eta."""
        if self.code is not None and y.ndim == 1:
            return _core.Samples(y, c, None, self.code, self.param).terms(eta)[:2]
        return float(c @ self.value(y, eta)), (c if y.ndim == 1 else c[:, None]) * self.d1(y, eta)

    def row_hessian(self, y: Vector, eta: Vector, c: Vector) -> RowHessian:
        """The second derivative of sum_i c_i phi in eta."""
        return DiagonalHessian((c if y.ndim == 1 else c[:, None]) * self.d2(y, eta))

    def check_classes(self, classes: Array) -> Array:
        """The distinct labels of all rows, or a one-sentence error; for losses that take labels."""
        return classes

    def check_parts(self) -> None:
        """Raise where sums over parts of the rows are not the loss of all of them."""
        if not (self.separable or self.whole_strata):
            raise ValueError(
                f"loss {self.name or type(self).__name__!r} couples rows, so that parts of them do not add up: "
                "give all rows in one piece, or a loss whose whole_strata is True where no stratum lies in two parts"
            )

    def basis(self, q: int) -> Matrix:
        """Orthonormal columns that span the directions of eta (q outputs of a row) in which phi is not constant."""
        return np.eye(q)

    def predict(self, eta: Vector) -> Vector:
        """The mean response at eta (regression losses)."""
        return eta

    def start(self, y: Vector, c: Vector) -> Intercept:
        """A finite guess of the best constant eta."""
        return 0.0

    def intercept(self, y: Vector, c: Vector, offset: Vector) -> Intercept | None:
        """The best constant on top of an offset in closed form; None where there is none."""
        return None

    def encode(self, y: ArrayLike) -> Vector:
        """Targets as float64 in the loss's own labels, or a one-sentence error."""
        values = check_array(y, "y", f" for loss {self.name!r}")
        if self.targets == "nonnegative" and values.min(initial=0.0) < 0:
            raise ValueError(f"y must be non-negative for loss {self.name!r}, got {values.min():g}")
        if self.targets != "binary":
            return values
        levels = np.unique(values)
        if not set(levels.tolist()) <= {-1.0, 0.0, 1.0} or len(levels) > 2 or set(levels.tolist()) == {-1.0, 0.0}:
            shown = ", ".join(f"{v:g}" for v in levels[:5]) + (", ..." if len(levels) > 5 else "")
            raise ValueError(f"y must hold labels 0 and 1, or -1 and 1, for loss {self.name!r}; got {shown}")
        low, high = self.labels
        return np.where(values > 0, high, low)


def check_squares(y: Vector) -> Vector:
    """The targets, or an error where a sum of their squares may overflow."""
    if np.abs(y).max(initial=0.0) > 1e152:
        raise ValueError("y has values that are too large to square; rescale it")
    return y


def _check_elementwise(loss: Loss, y: Vector) -> None:
    """Raise where value, d1 or d2 of a user's loss do not give one number per row."""
    for method in ("value", "d1", "d2"):
        returned = getattr(loss, method)(y, np.zeros_like(y))
        shape = getattr(returned, "shape", None)
        if shape == y.shape and np.asarray(returned).dtype.kind in "fiub":
            continue
        got = f"an array of shape {shape}" if shape else f"{type(returned).__name__} {repr(returned)[:40]}"
        raise ValueError(
            f"loss {loss.name or type(loss).__name__!r}: {method}(y, eta) must return an array with one real "
            f"number per row, shape {y.shape} for {len(y)} rows (not their sum or mean), got {got}"
        )


def check_derivative(loss: Loss, y: Vector) -> None:
    """Compare d1 of a user's loss with differences of its value on a few targets; ValueError where they differ."""
    rng = np.random.default_rng(0)
    few = y[rng.permutation(len(y))[:CHECKED_ROWS]]
    _check_elementwise(loss, few)
    spread = float(few.std()) or 1.0
    for eta in (np.zeros_like(few), spread * rng.standard_normal(len(few)), few + 0.3 * spread):
        h = 1e-6 * np.maximum(spread, np.abs(eta))
        slope = (loss.value(few, eta + h) - loss.value(few, eta - h)) / (2 * h)
        d1, size = np.asarray(loss.d1(few, eta)), np.abs(np.asarray(loss.value(few, eta)))
        beside = [np.asarray(loss.d1(few, eta + s * h)) for s in (-1, 1)]  # a kink may lie between them
        room = 1e-4 * (np.abs(d1) + np.abs(slope)) + 1e-9 * size / h + 1e-12
        off = (slope < np.minimum(*beside) - room) | (slope > np.maximum(*beside) + room)
        if (off & np.isfinite(slope) & np.isfinite(d1)).any():
            i = int(np.flatnonzero(off & np.isfinite(slope) & np.isfinite(d1))[0])
            raise ValueError(
                f"loss {loss.name or type(loss).__name__!r}: d1 disagrees with value at y={few[i]:g}, eta={eta[i]:g}: "
                f"d1 gives {d1[i]:.6g}, differences of value {slope[i]:.6g}"
            )


def register(loss: type[Loss]) -> type[Loss]:
    """Give a loss class its name in every place that accepts one."""
    if not loss.name:
        raise ValueError(f"{loss.__name__} needs a class attribute `name` to be registered")
    _registry[loss.name] = loss
    return loss


def list_losses() -> dict[str, str]:
    """List the registered losses.

    Returns
    -------
    dict of str to str
        One line about each, by name.

    See Also
    --------
    list_solvers : The same for solvers.

    Examples
    --------
    >>> import pursuit
    >>> "huber" in pursuit.list_losses()
    True
    """
    return {name: (loss.__doc__ or "").strip().splitlines()[0] for name, loss in _registry.items()}


#: What losses are called elsewhere.
LOSS_SYNONYMS = {
    **dict.fromkeys(("mse", "gaussian", "l2", "ls", "squared_error", "least_squares", "normal", "ols"), "squared"),
    **dict.fromkeys(("binomial", "log_loss", "logloss", "bernoulli", "cross_entropy", "log", "logit"), "logistic"),
    **dict.fromkeys(("svm", "svc"), "hinge"),
    **dict.fromkeys(("count", "counts"), "poisson"),
    **dict.fromkeys(("robust", "mae"), "huber"),
}


def as_loss(loss: LossLike, several: bool = False) -> Loss:
    """A loss from its name (in any case), class or instance; ``several``: losses of several outputs have names too."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, type) and issubclass(loss, Loss):
        return loss()
    if isinstance(loss, str):
        if match_name(loss, ("multinomial",)):
            if several:
                from .multinomial import Multinomial  # which is a loss

                return Multinomial()
            raise ValueError(
                "loss 'multinomial' has several outputs: use MultiGLM(X, y), or loss='logistic' in estimators"
            )
        known = LOSS_SYNONYMS.get(loss.casefold())
        if known is not None and match_name(loss, _registry) is None:
            raise ValueError(f"loss {loss!r} is called {known!r} here; {unknown_name_message(loss, _registry)}")
        return _registry[resolve_name(loss, "loss", _registry)]()
    raise TypeError(f"loss must be a name or an instance of pursuit.Loss, got {type(loss).__name__}")
