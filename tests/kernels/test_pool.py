"""The pool of threads and the count of CPUs, by a small C++ program that includes the core's own headers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CORE = HERE.parents[1] / "core"
# the core was built from these sources a moment ago, so there is a compiler
COMPILER = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    out = tmp_path_factory.mktemp("pool") / "pool"
    flags = os.environ.get("PURSUIT_POOL_FLAGS", "-O1").split()
    command = [COMPILER, "-std=c++20", "-pthread", *flags, f"-I{CORE}", str(HERE / "pool.cpp"), "-o", str(out)]
    subprocess.run(command, check=True, env={**os.environ, "LD_PRELOAD": ""})
    return out


def run(program, *args):
    env = {**os.environ, "LD_PRELOAD": ""}
    return subprocess.run([program, *map(str, args)], capture_output=True, text=True, timeout=120, env=env)


def test_parts_exceptions_and_callers(program):
    done = run(program)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("files", "group", "cpus"),
    [
        ({}, "", 0),
        ({"cpu.max": "max 100000"}, "", 0),
        ({"cpu.max": "150000 100000"}, "", 2),
        ({"cpu.max": "400000 100000", "a/cpu.max": "max 100000", "a/b/cpu.max": "700000 100000"}, "/a/b", 4),
        ({"a/cpu.max": "50000 100000"}, "/a", 1),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, "", 0),
        ({"cpu/cpu.cfs_quota_us": "250000", "cpu/cpu.cfs_period_us": "100000"}, "", 3),
        ({"cpu,cpuacct/g/cpu.cfs_quota_us": "100000", "cpu,cpuacct/g/cpu.cfs_period_us": "100000"}, "/g", 1),
    ],
)
def test_quota_of_control_groups(program, tmp_path, files, group, cpus):
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    assert int(run(program, tmp_path, group).stdout) == cpus


@pytest.mark.parametrize(
    ("text", "group"),
    [("0::/\n", ""), ("0::/a/b\n", "/a/b"), ("4:memory:/m\n2:cpu,cpuacct:/c\n", "/c"), ("3:cpuset:/s\n", ""), ("", "")],
)
def test_group_of_this_process(program, tmp_path, text, group):
    (tmp_path / "cgroup").write_text(text)
    assert run(program, tmp_path / "cgroup").stdout.strip() == group


@pytest.mark.parametrize(("wanted", "most"), [("1", 1), ("1,4", 1), ("nonsense", None), ("0", None), ("100000", None)])
def test_threads_of_the_environment(wanted, most):
    code = "from pursuit import _core; print(_core.get_threads())"
    env = {**os.environ, "OMP_NUM_THREADS": wanted}
    found = int(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
    )
    assert 1 <= found <= (most or os.cpu_count())
