"""tools/check_wheel.py, which ``make wheel`` runs, refuses a wheel that is not what its name promises."""

import importlib.util
import zipfile
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "tools" / "check_wheel.py"
SOURCES = {"pursuit/__init__.py", "pursuit/py.typed"}


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("check_wheel", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wheel_of(folder, tag, *names):
    path = folder / f"pursuit-0.1.0-{tag}-linux_x86_64.whl"
    with zipfile.ZipFile(path, "w") as opened:
        for name in (*SOURCES, "pursuit-0.1.0.dist-info/METADATA", *names):
            opened.writestr(name, "")
    return path


@pytest.mark.parametrize(
    ("tag", "extension"), [("cp312-abi3", "_core.abi3.so"), ("cp311-cp311", "_core.cpython-311-x86_64-linux-gnu.so")]
)
def test_a_good_wheel(tool, tmp_path, tag, extension):
    wheel = wheel_of(tmp_path, tag, f"pursuit/{extension}")
    tool.check_contents(wheel, "pursuit", SOURCES)
    tool.check_tag(wheel.name, (3, 13) if "abi3" in tag else (3, 11))


ABI3 = "pursuit/_core.abi3.so"


@pytest.mark.parametrize(
    ("tag", "names", "why"),
    [
        ("cp312-abi3", ["pursuit/_core.cpython-312-x86_64-linux-gnu.so"], "promises abi3"),
        ("cp311-cp311", [ABI3], "does not say abi3"),
        ("cp312-abi3", [], "one is wanted"),
        ("cp312-abi3", [ABI3, "tests/test_x.py"], "users do not need"),
        ("cp312-abi3", [ABI3, "pursuit_experiments/__init__.py"], "users do not need"),
        ("cp312-abi3", [ABI3, "setup.py"], "beside pursuit"),
        ("cp312-abi3", [ABI3, "pursuit/experiments/app.py"], "not in the sources"),
    ],
)
def test_a_bad_wheel(tool, tmp_path, tag, names, why):
    with pytest.raises(tool.WheelError, match=why):
        tool.check_contents(wheel_of(tmp_path, tag, *names), "pursuit", SOURCES)


def test_a_wheel_that_lacks_a_file_or_is_large(tool, tmp_path):
    wheel = wheel_of(tmp_path, "cp312-abi3", ABI3)
    with pytest.raises(tool.WheelError, match=r"lacks \['pursuit/solve.py'\]"):
        tool.check_contents(wheel, "pursuit", {*SOURCES, "pursuit/solve.py"})
    with pytest.raises(tool.WheelError, match="fewer than 10 are wanted"):
        tool.check_contents(wheel, "pursuit", SOURCES, size=10)


def test_the_tag_is_that_of_the_python(tool):
    assert tool.expected_tag((3, 11)) == "cp311-cp311"
    assert tool.expected_tag((3, 12)) == tool.expected_tag((3, 13)) == "cp312-abi3"
    with pytest.raises(tool.WheelError, match=r"does not have the tag cp312-abi3 of Python 3\.12"):
        tool.check_tag("pursuit-0.1.0-cp312-cp312-linux_x86_64.whl", (3, 12))
