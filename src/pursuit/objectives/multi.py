"""The GLM whose default loss is that of several classes."""

from .._utils.types import ArrayLike, MatrixLike
from .._utils.validation import match_name, unknown_name_message
from ..losses import Loss
from .glm import GLM

LOSSES = ("multinomial", "squared")


class MultiGLM(GLM):
    """A generalised linear model with q outputs and one shared support.

    Parameters
    ----------
    X : array, data frame, SciPy sparse matrix, LinearOperator or data in parts, shape (n, p)
        The columns.
    Y : array of shape (n,) or (n, q), or None
        For "multinomial" labels (text or whole numbers), or a matrix of shares of the classes (at least 0, every row
        sums to 1); for "squared" n x q numbers.
    loss : {"multinomial", "squared"} or Loss, default "multinomial"
        Name or instance of a loss that takes several outputs.
    l2 : float or array of shape (p,), default 0
        Ridge as in :class:`pursuit.GLM`.
    fit_intercept : bool, default True
        Whether each output has an intercept.
    sample_weight : array of shape (n,) or None, default None
        Weights of the rows, normalised to sum to one.
    offset : array of shape (n, q) or None, default None
        What is added to the linear predictors.
    standardize : bool, default False
        Work on the standardised view of X.

    See Also
    --------
    GLM : The same with another default loss.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> Y = X[:, [3, 7]] @ [[1.0, 2.0], [3.0, -1.0]]
    >>> pursuit.solve(pursuit.MultiGLM(X, Y, "squared"), 2).support.tolist()
    [3, 7]
    """

    def __init__(
        self,
        X: MatrixLike,
        Y: ArrayLike | None = None,
        loss: str | Loss = "multinomial",
        *,
        l2: ArrayLike = 0.0,
        fit_intercept: bool = True,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        standardize: bool = False,
    ) -> None:
        if isinstance(loss, str) and match_name(loss, LOSSES) is None:
            raise ValueError(f"loss {loss!r} does not take several outputs; {unknown_name_message(loss, LOSSES)}")
        if not (isinstance(loss, str) or getattr(loss, "several", False)):
            raise TypeError(f"loss of MultiGLM must be 'multinomial' or 'squared', got {type(loss).__name__}")
        super().__init__(
            X,
            Y,
            loss,
            l2=l2,
            fit_intercept=fit_intercept,
            sample_weight=sample_weight,
            offset=offset,
            standardize=standardize,
        )
