"""``Model``: what a saved estimator needs to predict, and what is known of how it was found."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, softmax

from pursuit._utils.column_names import refuse_duplicates, refuse_kinds, refuse_missing, refuse_text
from pursuit._utils.docs import describe_export
from pursuit._utils.row_order import warn_row_order
from pursuit._utils.types import JSON, Array, ArrayLike, Columns, MatrixLike, StoredMatrix, Vector
from pursuit._utils.validation import check_offset, format_list
from pursuit.effects import ColumnBasis, Effect, split_effects
from pursuit.io.sklearn_model import sklearn_model
from pursuit.io.sql import sql_expression
from pursuit.io.tables import Table
from pursuit.losses import Loss
from pursuit.reports.explanation import Explanation, check_one_row, explain_contributions, make_explanation
from pursuit.tables.preparation import Preparation

if TYPE_CHECKING:
    from pandas import DataFrame
    from sklearn.base import BaseEstimator


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted model as read from its JSON file; predicts like the estimator that was saved."""

    kind: str  # "regressor" or "classifier"
    loss: Loss
    k: int
    l2: float
    standardize: bool
    n_features: int
    feature_names: tuple[str, ...] | None
    support: Columns
    coef: Vector = field(repr=False)  # one row per column of the support where there are several outputs
    intercept: float | Vector
    classes: Array | None
    value: float
    status: str
    reason: str
    optimality: str | None
    solver: str
    offset: str | None = None  # what the column with the offset was called, where there was one
    effects: tuple[ColumnBasis, ...] | None = field(default=None, repr=False)  # of the features, in an additive model
    preparation: Preparation | None = None  # of raw columns, where the model was fitted to a table
    card: JSON = field(default_factory=dict, repr=False)  # version, date, rows, score, fingerprint

    @property
    def selected(self) -> tuple[str, ...]:
        """Names of the features on the support (``x7`` for column 7 where there are none)."""
        names = self.feature_names
        return tuple(f"x{j}" if names is None else names[j] for j in self.support.tolist())

    @property
    def curves(self) -> list[Effect]:
        """The curves of the selected features, in an additive model."""
        return split_effects(self.selected, self.support.tolist(), self.effects or (), self.coef)

    def decision_function(self, X: "MatrixLike | Table", offset: ArrayLike | None = None) -> Vector:
        """Return eta = X x + b (+ offset), one column per output where there are several.

        X is a Table or a data frame, of which the model takes its columns by name, or an array with all columns. A
        model that was saved with the preparation of its table takes a data frame of raw columns.
        """
        warn_row_order(X, offset=offset)
        on_support = self._gather(X)
        if self.effects is not None:
            columns = [effect.evaluate(on_support[:, j]) for j, effect in enumerate(self.effects)]
            on_support = np.hstack([np.empty((len(on_support), 0)), *columns])
        eta = np.asarray(on_support @ self.coef, dtype=np.float64) + self.intercept
        shift = check_offset(offset, len(eta), 0 if eta.ndim == 1 else eta.shape[1])
        return eta if shift is None else eta + shift

    def predict(self, X: "MatrixLike | Table", offset: ArrayLike | None = None) -> Array:
        """Return the mean of y for a regressor, a class for a classifier."""
        eta = self.decision_function(X, offset)
        if self.classes is not None:
            return self.classes[(eta > 0).astype(np.intp) if eta.ndim == 1 else eta.argmax(axis=1)]
        return self.loss.predict(eta)

    def predict_proba(self, X: "MatrixLike | Table", offset: ArrayLike | None = None) -> Vector:
        """Return one column of probabilities per class; for the logistic loss."""
        if self.loss.name != "logistic":
            raise ValueError(f"a model with the {self.loss.name} loss gives no probabilities; the logistic loss does")
        eta = self.decision_function(X, offset)
        return np.column_stack([expit(-eta), expit(eta)]) if eta.ndim == 1 else np.asarray(softmax(eta, axis=1))

    def explain(self, row: "MatrixLike | Table", offset: ArrayLike | None = None) -> Explanation:
        """Split the prediction of one row into the contributions of the features.

        Parameters
        ----------
        row : data frame, Table or array of one row
            The row, as ``predict`` takes it.
        offset : float or array, default None
            The row's offset; it has a line of its own.

        Returns
        -------
        Explanation
            Contributions that add up, with the intercept, to the linear predictor.
        """
        on_support = self._gather(row)
        on_support = on_support.toarray() if hasattr(on_support, "toarray") else np.asarray(on_support)
        check_one_row(len(on_support))
        prediction = np.ravel(self.predict(row, offset))
        outputs = () if self.classes is None else tuple(map(str, self.classes))
        shown = prediction[0] if len(prediction) == 1 else None
        shift = 0.0 if offset is None else offset
        if self.effects is None:
            return make_explanation(self.selected, on_support[0], self.coef, self.intercept, shown, outputs, shift)
        parts = [effect(on_support[0, j]) for j, effect in enumerate(self.curves)]
        added = np.reshape(parts, (len(parts), *self.coef.shape[1:]))
        return explain_contributions(self.selected, on_support[0], added, self.intercept, shown, outputs, shift)

    @describe_export
    def to_sklearn(self) -> "BaseEstimator":
        """Return scikit-learn's linear model with the same predictions.

        {to_sklearn}

        Raises
        ------
        ValueError
            Where scikit-learn has no such model: an offset, the preparation of raw columns, another loss.
        """
        return sklearn_model(self)

    @describe_export
    def to_sql(self, output: str = "prediction") -> str:
        """Return the model as one SQL expression over its columns.

        {to_sql}

        Returns
        -------
        str
            For ``SELECT expression FROM table``. Names are quoted. A model that was saved with the preparation of its
            table has categories and medians in it; dates are refused, since databases read them differently. A
            missing number gives NULL elsewhere. A rate or a probability needs the function ``EXP``.

        Raises
        ------
        ValueError
            For several outputs, curves and dates.
        """
        return sql_expression(self, output)

    def _gather(self, X: "MatrixLike | Table") -> StoredMatrix:
        """Gather the columns of the support: by name where both sides have names, else by position."""
        names: Sequence[str] | None = None
        if self.preparation is not None:
            if hasattr(X, "columns"):
                return self.preparation.transform(X, self.selected)
            if not self.preparation.is_plain:
                raise ValueError(f"X must be a data frame with the raw columns of the table, got {type(X).__name__}")
        if isinstance(X, Table):
            names, X = X.feature_names, X.X
        elif hasattr(X, "columns"):
            refuse_duplicates(X.columns)
            names = [str(name) for name in X.columns]
        if self.feature_names is not None and names is not None:
            place = {name: j for j, name in enumerate(names)}
            absent = [name for name in self.selected if name not in place]
            if absent:
                raise ValueError(f"X has no column {format_list(map(repr, absent))}, which the model needs")
            columns = [place[name] for name in self.selected]
        else:
            X = X if hasattr(X, "shape") else np.asarray(X)
            shape: tuple[int, ...] = X.shape
            if len(shape) != 2 or shape[1] != self.n_features:
                raise ValueError(f"X has shape {shape}, but the model needs {self.n_features} columns")
            columns = self.support.tolist()
        if hasattr(X, "columns"):
            frame: DataFrame = X
            frame = frame[[frame.columns[j] for j in columns]]
            refuse_kinds(frame)
            refuse_text(frame)
            kept = np.asarray(frame, dtype=np.float64).reshape(len(frame), len(columns))
        else:
            kept = X.tocsc()[:, columns] if hasattr(X, "tocsc") else np.asarray(X)[:, columns]
            if self.effects is not None and hasattr(kept, "toarray"):
                kept = kept.toarray()
            try:
                kept = kept.astype(np.float64)
            except (TypeError, ValueError):
                raise ValueError(f"X must be numeric, got dtype {kept.dtype}") from None
        refuse_missing(kept, self.selected if self.feature_names is not None else None)
        return kept
