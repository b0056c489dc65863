"""The experiments of the five papers: ``pursuit-experiments list``, ``run``, ``verify``.

One file per table or figure, next to the ``.json`` of what the paper printed. An experiment says which pieces of work
it has, does one, sums them up, draws them and judges the paper's claims by the table; `running` owns the loop over
pieces, `reproduce` and `pages` what is written, `claims` the verdicts.
"""

from .experiment import Cell, Experiment, Judgement, Row, Size

__all__ = ["Cell", "Experiment", "Judgement", "Row", "Size"]
