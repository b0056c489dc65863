"""The GLM whose default loss is that of several classes."""

from typing import Any

from .._utils.validation import match_name, unknown_name_message
from ..losses import Loss
from .glm import GLM

NAMES = ("multinomial", "squared")


class MultiGLM(GLM):
    """A GLM with q outputs and one shared support.

    ``loss`` is "multinomial" or "squared". For "multinomial" ``Y`` is a vector of labels (text or whole numbers), or a
    matrix of shares of the classes (at least 0, every row sums to 1); for "squared" it is n x q numbers. The other
    parameters are those of :class:`pursuit.GLM`.
    """

    def __init__(
        self,
        X: Any,
        Y: Any = None,
        loss: str | Loss = "multinomial",
        *,
        l2: Any = 0.0,
        fit_intercept: bool = True,
        sample_weight: Any = None,
        offset: Any = None,
        standardize: bool = False,
    ) -> None:
        if isinstance(loss, str) and match_name(loss, NAMES) is None:
            raise ValueError(f"loss {loss!r} does not take several outputs; {unknown_name_message(loss, NAMES)}")
        if not (isinstance(loss, str) or getattr(loss, "several", False)):
            raise TypeError(f"loss of MultiGLM must be 'multinomial' or 'squared', got {type(loss).__name__}")
        super().__init__(
            X, Y, loss, l2=l2, fit_intercept=fit_intercept, sample_weight=sample_weight, offset=offset,
            standardize=standardize,
        )  # fmt: skip
