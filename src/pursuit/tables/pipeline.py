"""``table_pipeline``: a TablePreparer before an estimator, whose groups are the columns of the table."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .preparer import TablePreparer

if TYPE_CHECKING:
    from joblib import Memory
    from sklearn.base import BaseEstimator


class TablePipeline(Pipeline):
    """A scikit-learn Pipeline that gives its last step the groups of the transformer before it.

    Every ``fit`` sets the ``groups`` of the last step to ``groups_`` of the last transformer that has them, so that the
    columns of one category enter and leave together.

    Parameters
    ----------
    steps : list of (str, object)
        Transformers and an estimator, as in :class:`sklearn.pipeline.Pipeline`.
    transform_input : list of str or None, default None
        As in Pipeline.
    memory : str, object with the joblib.Memory interface, or None, default None
        As in Pipeline.
    verbose : bool, default False
        As in Pipeline.
    """

    def _fit(self, *args: Any, **kwargs: Any) -> Any:
        # the one place that fit, fit_transform and fit_predict share between the transformers and the last step
        X = super()._fit(*args, **kwargs)
        model = self.steps[-1][1]
        if hasattr(model, "groups"):
            labels = [step.groups_ for _, step in self.steps[:-1] if hasattr(step, "groups_")]
            if labels and len(labels[-1]) != X.shape[1]:
                raise ValueError(
                    f"the model gets {X.shape[1]} columns, but groups_ of the transformers before it has "
                    f"{len(labels[-1])} labels; a transformer that makes other columns must have groups_ itself"
                )
            if labels:
                model.set_params(groups=list(labels[-1]))
        return X


def table_pipeline(
    estimator: "BaseEstimator",
    *transformers: "BaseEstimator",
    preparer: "TablePreparer | None" = None,
    memory: "str | Memory | None" = None,
) -> TablePipeline:
    """A pipeline from a table with categories, dates and missing values to a model with at most k of its columns.

    Parameters
    ----------
    estimator : estimator
        The last step, such as ``SparseRegressorCV()``; it is cloned, and its ``groups`` are set at every fit, so that
        its k counts columns of the table.
    *transformers : transformers
        Steps between the preparation and the estimator.
    preparer : TablePreparer or None, default None
        How columns are prepared; None is ``TablePreparer()``.
    memory : str, object with the joblib.Memory interface, or None, default None
        Where fitted transformers are cached, as in scikit-learn's Pipeline.

    Returns
    -------
    Pipeline
        With the steps ``"prepare"``, the others by their class names, and ``"model"``.

    Raises
    ------
    TypeError
        Where the estimator is a class, or no estimator.
    ValueError
        Where the estimator has ``groups``, which the pipeline sets.

    See Also
    --------
    TablePreparer : What it does to each column.

    Examples
    --------
    >>> import pandas as pd
    >>> from pursuit import SparseRegressor, table_pipeline
    >>> table = pd.DataFrame({"city": ["Rome", "Oslo", "Bern"] * 4, "size": [1.0, 2.0, None, 4.0] * 3})
    >>> price = [10 * (city == "Rome") + i % 2 / 10 for i, city in enumerate(table["city"])]
    >>> model = table_pipeline(SparseRegressor(k=1)).fit(table, price)
    >>> model[-1].get_feature_names_out().tolist()
    ['city=Oslo', 'city=Rome']
    """
    if isinstance(estimator, type):
        raise TypeError(f"estimator must be an instance, got the class {estimator.__name__}: {estimator.__name__}()")
    if not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
        raise TypeError(f"estimator must be an estimator such as SparseRegressorCV(), got {type(estimator).__name__}")
    params = estimator.get_params(deep=False)
    if params.get("groups") is not None:
        raise ValueError("the pipeline sets groups of the estimator from the table; leave groups out")
    first = TablePreparer() if preparer is None else clone(preparer)
    names, steps = {"prepare", "model"}, [("prepare", first)]
    for transformer in transformers:
        name = own = type(transformer).__name__.lower()
        while own in names:
            own += "_"
        name = own
        names.add(name)
        steps.append((name, clone(transformer)))
    kind = next((package for package in ("pandas", "polars") if find_spec(package) is not None), None)
    for _, step in steps:
        if kind is not None and hasattr(step, "set_output"):
            step.set_output(transform=kind)  # names of columns reach the model
    return TablePipeline([*steps, ("model", clone(estimator))], memory=memory)
