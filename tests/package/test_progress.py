"""A bar shows how far things are, on terminals only."""

import copy
import io
import os
import pickle
import sys

import numpy as np
import pytest

from pursuit import GLM, Progress, SparseRegressor, path, stability
from pursuit._utils.progress import progress_callback

X = np.random.default_rng(0).normal(size=(30, 5))
Y = X[:, 0] + 0.1 * X[:, 1]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def without_rich(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.progress", None)


def test_plain_text(without_rich):
    screen = Terminal()
    bar = Progress("sizes", 2, file=screen)
    assert bar(1, 0.25) is None
    bar(2, 0.125)
    bar.close()
    assert "sizes ###############............... 1/2 0.25" in screen.getvalue()
    assert screen.getvalue().endswith("2/2 0.125\033[K\n")


def test_without_a_total(without_rich):
    screen = Terminal()
    with Progress("sizes", file=screen) as bar:
        bar(3)
    assert "sizes: 3" in screen.getvalue()


def test_rich():
    screen = Terminal()
    with Progress("pairs", file=screen) as bar:
        bar(1, 4)
        bar(4, 4)
    assert "pairs" in screen.getvalue()
    assert "4/4" in screen.getvalue()


def test_pipes_and_logs_see_nothing():
    quiet = io.StringIO()
    with Progress("pairs", 3, file=quiet) as bar:
        bar(3, 3)
    assert quiet.getvalue() == ""


def test_what_a_callback_argument_means(capsys):
    with progress_callback(None, "x") as tell:
        assert tell(1, 2) is None
    with progress_callback(True, "x", 2) as tell:
        assert isinstance(tell, Progress)
    with progress_callback(max, "x") as tell:
        assert tell is max
    with (
        pytest.raises(TypeError, match="callback must be a function, True for a bar, or None; got int"),
        progress_callback(1, "x"),
    ):
        pass


def test_paths_and_half_samples_take_one(without_rich):
    screen = Terminal()
    path(GLM(X, Y), [1, 2, 3], callback=Progress("sizes", 3, file=screen))
    assert "3/3" in screen.getvalue()
    assert len(path(GLM(X, Y), [1, 2], callback=True)) == 2
    with pytest.raises(TypeError, match="callback must be a function"):
        path(GLM(X, Y), [1, 2], callback="bar")
    stability(SparseRegressor(k=2), X, Y, n_pairs=2, callback=Progress("pairs", file=screen))
    assert "pairs ############################## 2/2" in screen.getvalue()


def test_a_copy_is_a_bar_of_its_own(without_rich):
    """A terminal cannot be copied or pickled; estimators are cloned by deepcopy."""
    with open(os.devnull, "w") as screen:
        bar = Progress("sizes", 2, file=screen)
        bar(1)
        for twin in (copy.deepcopy(bar), copy.copy(bar)):
            assert (twin.what, twin.total, twin.done, twin.file) == ("sizes", 2, 0, screen)
        far = pickle.loads(pickle.dumps(bar))
    assert (far.what, far.total, far.file) == ("sizes", 2, sys.stderr)
