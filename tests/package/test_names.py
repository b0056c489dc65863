"""What ``import pursuit`` offers."""

import subprocess
import sys

import pursuit


def test_dir_shows_what_is_public():
    assert dir(pursuit) == sorted([*pursuit.__all__, "plots"])
    for name in dir(pursuit):
        assert getattr(pursuit, name) is not None
    assert not {"Any", "import_module", "TYPE_CHECKING"} & set(dir(pursuit))


def test_plots_need_no_import_of_their_own_and_cost_nothing_before():
    code = (
        "import sys, pursuit; assert 'pursuit.plots' not in sys.modules; pursuit.plots.plot_trace;"
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
