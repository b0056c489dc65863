"""l1-penalised logistic regression of scikit-learn, the yardstick of reports and of the demo."""

from typing import Any

import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.utils.fixes import parse_version


def l1_logistic_regression(C: float = 1.0) -> Any:
    """The model of scikit-learn whose penalty is l1 in every version."""
    modern = parse_version(sklearn.__version__) >= parse_version("1.8")  # the penalty follows from l1_ratio
    kind: dict[str, Any] = {"l1_ratio": 1.0} if modern else {"penalty": "l1"}
    return LogisticRegression(C=C, solver="liblinear", max_iter=300, random_state=0, **kind)
