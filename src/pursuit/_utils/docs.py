"""Docstrings that share paragraphs, and links from scikit-learn's HTML picture of an estimator to its page."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import metadata
from inspect import cleandoc
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])


def fill_docstring(paragraphs: Mapping[str, str]) -> Callable[[F], F]:
    """A decorator that replaces each line ``{name}`` of a docstring by the paragraph of that name."""

    def fill(function: F) -> F:
        if function.__doc__:  # python -OO has none
            lines = cleandoc(function.__doc__).splitlines()
            function.__doc__ = "\n".join(
                paragraphs[line[1:-1]].strip() if line.startswith("{") and line.endswith("}") else line
                for line in lines
            )
        return function

    return fill


describe_export = fill_docstring(
    {
        "to_sklearn": """
It is the way to formats that know scikit-learn: ONNX (``skl2onnx.to_onnx``; not of curves), or skops without types
that have to be trusted. Its parameters are scikit-learn's defaults, not those that it was fitted with.

Returns
-------
LinearRegression, PoissonRegressor, LogisticRegression or LinearSVC
    By the loss: squared and Huber, Poisson, logistic, hinges. Of an additive model a Pipeline of
    :class:`pursuit.SmoothEffects` and one of these.""",
        "to_sql": """Parameters
----------
output : {"prediction", "probability", "decision"}, default "prediction"
    What the expression gives: the class or the mean response; the probability of the second class (logistic
    loss); the linear predictor.""",
    }
)  # of models that were fitted, and that were loaded


@cache
def declared_url(label: str) -> str:
    """An address in the metadata of the installed package (``[project.urls]``), or "" where none is declared."""
    try:
        urls = metadata.metadata("pursuit").get_all("Project-URL") or ()
    except metadata.PackageNotFoundError:
        return ""
    pairs = (url.split(", ", 1) for url in urls)
    return next((address.rstrip("/") for name, address in pairs if name.lower() == label.lower()), "")


class DocLink:
    """Makes the question mark in scikit-learn's picture lead to the estimator's page of the documentation.

    The address is the project's ``Documentation``; there is no link where the metadata declares none.
    """

    def _get_doc_link(self) -> str:
        site = declared_url("Documentation")
        if not site or type(self).__module__.split(".")[0] != "pursuit":  # a class of the user's has no page
            return ""
        return f"{site}/api/generated/pursuit.{type(self).__name__}.html"
