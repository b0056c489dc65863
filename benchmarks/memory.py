"""Peak memory of one fit beyond X, measured in a process of its own.

``python benchmarks/memory.py NAME SEED ORDER WAY`` prints the bytes: the largest resident size during the fit, less the
resident size before it, when X and the libraries (a small fit comes first) are there. On Linux the high-water mark is
reset before the fit; elsewhere getrusage's mark has to do.
"""

import contextlib
import json
import resource
import subprocess
import sys
from pathlib import Path

from problems import LINEAR, PROBLEMS, Problem


def resident(mark: str) -> int:
    """VmRSS (now) or VmHWM (the most so far) of this process in bytes; without /proc always the most so far."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith(mark))
        return 1024 * int(line.split()[1])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def beyond_x(problem: Problem, seed: int, order: str) -> dict[str, int]:
    """Bytes beyond X at the peak of the fit, by what was called; each in a fresh process."""
    command = [sys.executable, __file__, problem.name, str(seed), order]
    return {
        way: json.loads(subprocess.run([*command, way], check=True, capture_output=True, text=True).stdout)
        for way in ("solve", "estimator")
    }


def measure(name: str, seed: int, order: str, way: str) -> int:
    from peers import estimator, solver

    fit = estimator if way == "estimator" else solver("grahtp")
    fit(LINEAR[0], LINEAR[0].make(seed, order))()
    problem = next(problem for problem in PROBLEMS if problem.name == name)
    data = problem.make(seed, order)
    call = fit(problem, data)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts again from here
    before = resident("VmRSS")
    call()
    return resident("VmHWM") - before


if __name__ == "__main__":
    print(measure(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]))
