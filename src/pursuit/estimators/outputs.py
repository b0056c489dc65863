"""What a fitted linear model can be turned into: a report, an explanation, a model of scikit-learn, SQL."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._utils.docs import describe_export
from .._utils.types import Array, ArrayLike, Callback, Columns, FilePath, HasShape, Intercept, MatrixLike
from ..designs import as_design
from ..reports.explanation import Explanation, check_one_row, make_explanation
from ..reports.model_summary import Summary
from .inputs import read_chosen

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def one_row(row: MatrixLike) -> HasShape:
    """The row that is explained, as a table of one row."""
    table = cast(HasShape, row) if hasattr(row, "columns") or hasattr(row, "tocsr") else np.asarray(row)
    if isinstance(table, np.ndarray) and table.ndim == 1:
        table = table.reshape(1, -1)
    check_one_row(table.shape[0] if len(table.shape) == 2 else f"an array of shape {table.shape}")
    return table


class ModelReport:
    """``report`` and ``to_sklearn``, of linear and of additive models."""

    def report(
        self,
        path: FilePath,
        X: MatrixLike | None = None,
        y: ArrayLike | None = None,
        *,
        title: str | None = None,
        target: str = "y",
        certificate: bool = True,
        stability: bool = True,
        intervals: bool = True,
        baseline: bool = True,
        n_pairs: int = 25,
        time_limit: float = 10.0,
        random_state: int = 0,
        command: str | None = None,
        progress: Callback = None,
    ) -> Path:
        """Write a report about the fitted model: one HTML file that needs no network and no other file.

        It holds the features in words and numbers (of an additive model with their curves), the score on held-out
        rows beside the lasso's and the null model's, the model of every size with a slider, stability, intervals (of
        curves: bootstrap bands), rivals, optimality and diagnostics. What cannot be computed is named on the page with
        the reason.

        Parameters
        ----------
        path : str or path-like
            The file to write; it must end in .html.
        X, y : array-like, default None
            The rows of the fit. Needed only where the model no longer refers to them (after pickling).
        title : str, default None
            Heading of the page.
        target : str, default "y"
            What the target is called on the page.
        certificate, stability, intervals, baseline : bool, default True
            Whether the page has a lower bound or proof, half-samples, intervals, and the l1 model.
        n_pairs : int, default 25
            Pairs of half-samples for the stability of the features.
        time_limit : float, default 10.0
            Seconds at most for each of the path, the half-samples and the proof.
        random_state : int, default 0
            Seed of folds, half-samples and splits.
        command : str, default None
            The command that made the model, for the section on reproduction.
        progress : bool or callable, default None
            True shows a bar; a function is called with (parts done, parts).

        Returns
        -------
        pathlib.Path
            The file that was written.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = SparseRegressor(k=3).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = model.report(pathlib.Path(folder, "model.html"), n_pairs=2)
        ...     "bmi" in page.read_text()
        True
        """
        check_is_fitted(self)
        return import_module("pursuit.html").write_report(
            self,
            path,
            X,
            y,
            title=title,
            target=target,
            certificate=certificate,
            stability=stability,
            intervals=intervals,
            baseline=baseline,
            n_pairs=n_pairs,
            time_limit=time_limit,
            random_state=random_state,
            command=command,
            progress=progress,
        )

    @describe_export
    def to_sklearn(self) -> "BaseEstimator":
        """Return scikit-learn's linear model with the same predictions.

        {to_sklearn}

        Raises
        ------
        ValueError
            Where scikit-learn has no such model: another loss, several responses of a loss that is not squared.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> SparseRegressor(k=3).fit(X, y).to_sklearn()
        LinearRegression()
        """
        check_is_fitted(self)
        return import_module("pursuit.io.files").as_model(self).to_sklearn()


class ModelOutputs(ModelReport):
    """Methods of estimators that hand a fitted linear model on."""

    if TYPE_CHECKING:  # defined by SparseModel and below it
        support_: Columns

        def predict(self, X: MatrixLike) -> Array: ...

        def summary(self) -> Summary: ...

        def _on_support(self) -> tuple[Array, Intercept]: ...

        def _outputs(self, outputs: tuple[str, ...]) -> tuple[str, ...]: ...

    @describe_export
    def to_sql(self, output: str = "prediction") -> str:
        """Return the model as one SQL expression over its columns.

        {to_sql}

        Returns
        -------
        str
            For ``SELECT expression FROM table``. Names are quoted; columns without names are x0, x1, ... A rate or a
            probability needs the function ``EXP``.

        Raises
        ------
        ValueError
            For several classes or responses, and for curves.

        Examples
        --------
        >>> import pandas as pd
        >>> from pursuit import SparseRegressor
        >>> model = SparseRegressor(k=1).fit(pd.DataFrame({"size": [1.0, 2.0, 4.0]}), [3.0, 5.0, 9.0])
        >>> model.to_sql().count('* "size"')
        1
        """
        check_is_fitted(self)
        return import_module("pursuit.io.files").as_model(self).to_sql(output)

    def explain(self, row: MatrixLike) -> Explanation:
        """Split one prediction into the contributions of the features.

        Parameters
        ----------
        row : array-like of shape (n_features,) or (1, n_features), or a data frame of one row
            The row to explain.

        Returns
        -------
        Explanation
            Contributions that add up, with the intercept, to the linear predictor of the row.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = SparseRegressor(k=2).fit(X, y)
        >>> explanation = model.explain(X.iloc[:1])
        >>> bool(abs(explanation.eta - model.predict(X.iloc[:1])[0]) < 1e-9)
        True
        """
        check_is_fitted(self)
        X = one_row(row)
        prediction = np.ravel(self.predict(X))
        X, places = read_chosen(self, X, self.support_)
        coef, intercept = self._on_support()
        values = np.asarray(as_design(X).block(places).dense(), dtype=np.float64)[0]
        names = self.summary().names
        return make_explanation(
            names,
            values,
            coef,
            intercept,
            None if len(prediction) > 1 else prediction[0],
            self._outputs(()),
        )
