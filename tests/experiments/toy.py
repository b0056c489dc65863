"""A small experiment: the mean of noise around a slope, with two claims."""

import json

import numpy as np

from pursuit_experiments import Experiment, Judgement, Row, Size
from pursuit_experiments.experiment import Comparison
from pursuit_experiments.sums import summed

CLAIMS = {
    "where": "Figure 0",
    "claims": {"positive": {"says": "The mean is positive | always."}, "large": {"says": "The mean exceeds 100."}},
}


class Toy(Experiment):
    """Counts its runs in a file, since they may happen in other processes."""

    name = "grasp/toy"
    title = "a toy"
    about = "Nothing was translated."
    expected_in = "toy.json"
    expected = CLAIMS
    why = "the slope is small"
    compares = True  # whether judgements name the comparison that they rest on

    def __init__(self, log=None, fails_at=None):
        self.log, self.fails_at = log, fails_at

    def cells(self, size: Size):
        return [{"copy": copy, "slope": slope} for copy in size.copies(6, 2) for slope in size.pick([1.0, 2.0], [1.0])]

    def run(self, cell) -> list[Row]:
        if cell["copy"] == self.fails_at:
            raise KeyboardInterrupt
        if self.log is not None:
            with self.log.open("a") as file:
                file.write(json.dumps(cell) + "\n")
        rng = np.random.default_rng(cell["copy"])
        return [{"method": "mean", "value": cell["slope"] + rng.standard_normal() / 100, "size": np.int64(3)}]

    def table(self, rows):
        return summed(rows, ["method", "slope"], ["value"])

    def draw(self, table):
        from matplotlib.figure import Figure

        figure = Figure()
        figure.subplots().plot(table["slope"], table["value"])
        return figure

    def judge(self, table):
        line = table.loc[table["value"].idxmin()]
        low = line["value"]
        least = Comparison("the mean", low, np.nan_to_num(line["value_se"]), line["copies"]) if self.compares else None
        yield Judgement.of("positive", low > 0, f"{low:.2f}", rests_on=least)
        yield Judgement.of("large", low > 100, f"{low:.2f}", self.why, rests_on=least)
