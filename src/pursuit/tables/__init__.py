"""Tables as people have them, made numeric: categories, dates, missing values and ids."""

from .pipeline import TablePipeline, table_pipeline
from .preparer import TablePreparer

__all__ = ["TablePipeline", "TablePreparer", "table_pipeline"]
