"""Tables in, models out: ``read_table``, ``convert``, ``save_model``, ``load_model``."""

from pursuit.io.conversion import convert
from pursuit.io.files import load_model, save_model
from pursuit.io.model import Model
from pursuit.io.tables import Table, read_column, read_labels, read_table

__all__ = ["Model", "Table", "convert", "load_model", "read_column", "read_labels", "read_table", "save_model"]
