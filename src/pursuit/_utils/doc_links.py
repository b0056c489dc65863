"""Links from scikit-learn's HTML picture of an estimator to its page."""

from functools import cache
from importlib import metadata


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
