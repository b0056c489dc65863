"""Links from scikit-learn's HTML picture of an estimator to its page."""

SITE = "https://pursuit-developers.github.io/pursuit"


class DocLink:
    """Makes the question mark in scikit-learn's picture lead to the estimator's page of this project."""

    _doc_link_module = "pursuit"
    _doc_link_template = SITE + "/api/generated/pursuit.{estimator_name}.html"
