"""``TablePreparer``: from a table as people have it to numbers in groups of columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_array, check_is_fitted, validate_data

from .._utils.column_names import get_column_names, refuse_duplicates
from .._utils.docs import DocLink
from .._utils.types import Array, ArrayLike, MatrixLike
from .._utils.validation import check_count, check_fraction, format_list
from .columns import CategoryColumn, DateColumn, LeftOut, NumberColumn, Rules, fit_column, warn_notes
from .dates import readable_format
from .values import iterate_arrays

if TYPE_CHECKING:
    from pandas import DataFrame
    from sklearn.utils import Tags

MAX_NOTED_COLUMNS = 6  # columns of a kind that a note names


class TablePreparer(DocLink, TransformerMixin, BaseEstimator):
    """Make a table numeric: dummies of categories, days of dates, medians for missing numbers.

    Text, booleans beside text and columns of a categorical type are categories. Each becomes one group of dummies,
    without one for its most frequent level; a missing category is a level. Dates, and texts that are dates, become days
    since the first one. Missing numbers become the median, with an indicator column in the same group where they are
    frequent. Ids, constants and columns without a value are left out; ``notes_`` names them. A column of
    texts of which at least 90% are numbers is numeric, and its other texts count as missing.

    Parameters
    ----------
    max_levels : int, default 50
        At most this many levels of a category are kept; the less frequent ones are pooled as ``other``.
    min_share : float, default 0.01
        Levels in a smaller share of the rows are pooled as ``other`` too.
    indicator_share : float, default 0.01
        Columns with a larger share of missing numbers have an indicator column, ``age=missing``.
    drop_ids : bool, default True
        Whether to leave ids out: text or whole numbers, all different, in a column named ``id``, ``key``, ``uuid`` or
        with such an ending (``customer_id``), and whole numbers that count the rows (at least 10) from 0 or 1.
    drop_constants : bool, default True
        Whether to leave out columns with one value.

    Attributes
    ----------
    columns_ : list
        How each input column is prepared.
    groups_ : list of str
        The input column of every output column: ``groups`` for an estimator, so that the columns of one category
        enter and leave together and k counts input columns.
    notes_ : tuple of str
        What was done, in sentences for people.
    n_features_in_ : int
        The number of input columns.
    feature_names_in_ : ndarray of str
        Their names, where they have any.

    See Also
    --------
    table_pipeline : This transformer before an estimator, with its groups.

    Notes
    -----
    ``transform`` warns once, with counts, of levels that were not there at ``fit`` (they count as ``other``, or all
    dummies of the column are zero), of numbers missing in a column that had none missing, and of dates in another
    format. A date before the first one is a negative number of days.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit import TablePreparer
    >>> X = np.array([["Rome", 1.0], ["Oslo", 2.5], ["Rome", None], ["Rome", 4.0]], dtype=object)
    >>> preparer = TablePreparer().fit(X)
    >>> preparer.get_feature_names_out(["city", "size"]).tolist()
    ['city=Oslo', 'size', 'size=missing']
    >>> preparer.transform(X)
    array([[0. , 1. , 0. ],
           [1. , 2.5, 0. ],
           [0. , 2.5, 1. ],
           [0. , 4. , 0. ]])
    >>> preparer.groups_
    ['x0', 'x1', 'x1']
    """

    def __init__(
        self,
        *,
        max_levels: int = 50,
        min_share: float = 0.01,
        indicator_share: float = 0.01,
        drop_ids: bool = True,
        drop_constants: bool = True,
    ) -> None:
        self.max_levels = max_levels
        self.min_share = min_share
        self.indicator_share = indicator_share
        self.drop_ids = drop_ids
        self.drop_constants = drop_constants

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> "TablePreparer":
        """Learn levels, medians and first dates.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_columns)
            The table: numbers, text, dates, missing values.
        y : None
            Not used.

        Returns
        -------
        TablePreparer
            Itself, fitted.

        Examples
        --------
        >>> import pandas as pd
        >>> from pursuit import TablePreparer
        >>> X = pd.DataFrame({"city": ["Rome", "Oslo", "Rome"], "size": [1.0, 2.5, 4.0]})
        >>> TablePreparer().fit(X).groups_
        ['city', 'size']
        """
        rules = Rules(
            check_count(self.max_levels, "max_levels", 1),
            check_fraction(self.min_share, "min_share"),
            check_fraction(self.indicator_share, "indicator_share"),
            bool(self.drop_ids),
            bool(self.drop_constants),
        )
        table = self._validate(X, reset=True)
        names = _check_feature_names_in(self)
        arrays = iterate_arrays(table)
        self.columns_ = [fit_column(*held, str(name), rules) for name, held in zip(names, arrays, strict=True)]
        self.groups_ = [str(name) for name, column in zip(names, self.columns_, strict=True) for _ in column.suffixes]
        self.notes_ = describe(self.columns_, [str(name) for name in names])
        return self

    def transform(self, X: MatrixLike) -> Array:
        """The numeric columns of a table.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_columns)
            A table with the columns that ``fit`` has seen.

        Returns
        -------
        array or data frame of shape (n_rows, n_features)
            Numbers, as ``set_output`` says.

        Examples
        --------
        >>> import pandas as pd
        >>> from pursuit import TablePreparer
        >>> X = pd.DataFrame({"city": ["Rome", "Oslo", "Rome"], "size": [1.0, 2.5, 4.0]})
        >>> TablePreparer().fit(X).transform(X).tolist()
        [[0.0, 1.0], [1.0, 2.5], [0.0, 4.0]]
        """
        check_is_fitted(self)
        table = self._validate(X, reset=False)
        names = [str(name) for name in _check_feature_names_in(self)]
        single = True
        found: list[Array] = []
        notes: list[str] = []
        for column, name, (array, _) in zip(self.columns_, names, iterate_arrays(table), strict=True):
            single &= array.dtype == np.float32
            found += column.transform(array, name, notes)
        warn_notes(notes)
        out = np.empty((table.shape[0], len(found)), dtype=np.float32 if single else np.float64, order="F")
        for j, values in enumerate(found):
            out[:, j] = values
        return out

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Array:
        """Name the output columns: ``age``, ``age=missing``, ``city=Rome``.

        Parameters
        ----------
        input_features : list of str or None, default None
            Names of the input columns, where ``fit`` has seen none.

        Returns
        -------
        ndarray of str
            One name per output column, all different.

        Examples
        --------
        >>> import pandas as pd
        >>> from pursuit import TablePreparer
        >>> X = pd.DataFrame({"city": ["Rome", "Oslo", "Rome"], "size": [1.0, 2.5, 4.0]})
        >>> TablePreparer().fit(X).get_feature_names_out().tolist()
        ['city=Oslo', 'size']
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.asarray(output_names(self.columns_, [str(name) for name in names]), dtype=object)

    def _validate(self, X: MatrixLike, reset: bool) -> "Array | DataFrame":
        get_column_names(X)  # of which no two may be the same
        if hasattr(X, "__dask_graph__"):
            raise TypeError(f"X must hold its rows, got a {type(X).__name__} of Dask; call compute() first")
        if not hasattr(X, "columns"):
            array: Array = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
            if not hasattr(X, "dtype") and array.dtype.kind in "US":  # a list, whose numbers NumPy made text
                array = check_array(X, dtype=object, ensure_all_finite=False)
            return array
        frame: DataFrame = validate_data(self, X, reset=reset, skip_check_array=True)
        if frame.shape[0] == 0 or frame.shape[1] == 0:
            raise ValueError(f"X has shape {tuple(frame.shape)}; at least one row and one column are required")
        return frame

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def output_names(columns: Sequence[NumberColumn | CategoryColumn | LeftOut], names: list[str]) -> list[str]:
    """Names of the features of prepared columns; a name that is taken already gets an underscore."""
    taken = {name for name, column in zip(names, columns, strict=True) if "" in column.suffixes}
    refuse_duplicates(names)
    found: list[str] = []
    for name, column in zip(names, columns, strict=True):
        for suffix in column.suffixes:
            own = name + suffix
            while suffix and own in taken:
                own += "_"
            taken.add(own)
            found.append(own)
    return found


def describe(columns: Sequence[NumberColumn | CategoryColumn | LeftOut], names: list[str]) -> tuple[str, ...]:
    """What is done to columns, a line per kind of preparation."""
    lines: dict[str, list[str]] = {
        "categories as dummies, one group each": [],
        "dates as days since the first": [],
        "missing numbers as the median": [],
        "texts read as numbers": [],
        "left out": [],
    }
    categories, dates, missing, texts, left_out = lines.values()
    for column, name in zip(columns, names, strict=True):
        if isinstance(column, LeftOut):
            left_out.append(f"{name} ({column.reason})")
        elif isinstance(column, CategoryColumn):
            pooled = f", {column.n_pooled} pooled as {column.other or column.reference}" if column.n_pooled else ""
            categories.append(f"{name} ({len(column.dummies) + 1} levels{pooled})")
        elif isinstance(column, DateColumn):
            dates.append(f"{name} ({column.first[:10]}{f', {readable_format(column.form)}' if column.form else ''})")
        if isinstance(column, NumberColumn):
            if column.text and not isinstance(column, DateColumn):
                texts.append(name)
            if column.missing:
                what = "" if column.value else ", of which only the indicator is kept"
                what = what or (", and an indicator" if column.indicator else "")
                missing.append(f"{name} ({column.missing} rows{what})")
    return tuple(f"{what}: {format_list(held, MAX_NOTED_COLUMNS)}" for what, held in lines.items() if held)
