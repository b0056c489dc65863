"""Out of core: 6 GB of float32 on the disk, fitted within 1 GB of anonymous memory; a Parquet file of 2 GB likewise.

    python benchmarks/scale_disk.py [--gb 6] [--parquet-gb 2] [--columns 1000] [--folder .]

Data are made in a folder that is removed at the end. Anonymous memory is RssAnon of the process, looked at every 20 ms;
where the machine allows a memory cgroup, the fits run in one of 1 GB, page cache and all. The speed of a pass is beside
that of np.sum over the same maps.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

MEMORY = 10**9
K = 10
CGROUPS = Path("/sys/fs/cgroup/memory")


class Watched(threading.Thread):
    """The most anonymous memory that a process has had."""

    def __init__(self, pid: int | str = "self") -> None:
        super().__init__(daemon=True)
        self.status, self.most, self.ended = Path(f"/proc/{pid}/status"), 0, threading.Event()
        self.start()

    def run(self) -> None:
        while not self.ended.wait(0.02):
            with contextlib.suppress(OSError, StopIteration):
                line = next(line for line in self.status.read_text().splitlines() if line.startswith("RssAnon"))
                self.most = max(self.most, 1024 * int(line.split()[1]))


def made(folder: Path, size: float, p: int) -> Path:
    """A data set of so many bytes: ten columns of a thousand matter."""
    from pursuit.data.disk.write import Writer, written

    rng, out = np.random.default_rng(0), folder / "big.pursuit"
    n, x = int(size // (4 * p)), np.zeros(p)
    x[rng.choice(p, K, replace=False)] = rng.uniform(0.3, 1.0, K) * rng.choice([-1, 1], K)
    with written(out) as half:
        writer = Writer(half)
        for low in range(0, n, 8192):
            X = rng.standard_normal((min(8192, n - low), p), dtype=np.float32)
            y = X @ x + rng.standard_normal(len(X))
            writer.add(X, y, None, None)
        writer.finish(target="y", weights=None, offset=None, classes=None, target_dtype="float64")
    return out


def made_parquet(folder: Path, size: float, p: int = 100) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, out = np.random.default_rng(0), folder / "big.parquet"
    names, writer, done = [f"v{j}" for j in range(p)], None, 0.0
    while done < size:
        X = rng.standard_normal((100_000, p))
        y = X[:, :K] @ np.linspace(0.3, 1, K) + rng.standard_normal(len(X))
        table = pa.table([*(pa.array(column) for column in X.T), pa.array(y)], names=[*names, "y"])
        writer = writer or pq.ParquetWriter(out, table.schema, use_dictionary=False, compression="none")
        writer.write_table(table)
        done = out.stat().st_size
    assert writer is not None
    writer.close()
    return out


def best(call: Callable[[], Any], times: int = 3) -> float:
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def measure(out: str) -> dict[str, Any]:
    """In a process of its own."""
    import pursuit
    from pursuit.designs import Paged

    watched, found = Watched(), {}

    def reads(data: Any) -> float:
        return sum(design.reads for design in data.designs) / len(data.designs)

    def timed(name: str, call: Callable[[], Any], data: Any) -> Any:
        before, began = reads(data), time.perf_counter()
        answer = call()
        found[f"{name}, seconds"] = time.perf_counter() - began
        found[f"{name}, reads"] = reads(data) - before
        return answer

    data = pursuit.open_data(out, memory=MEMORY)
    found["GB"] = sum(design.nbytes for design in data.designs) / 1e9
    found["blocks"] = len(data.parts)
    f = pursuit.GLM(data, standardize=True)
    S = np.arange(K)
    timed("first pass, checksums and all", lambda: f.at(S, np.ones(K), 0.0), data)

    def summed(design: Paged) -> None:
        design.source.files["X"].check().sum()  # type: ignore[attr-defined]
        design.source.drop()

    ways = {"np.sum": lambda: [summed(design) for design in data.designs], "pass": lambda: f.at(S, np.ones(K), 0.0)}
    for _ in range(3):  # side by side
        for name, call in ways.items():
            found[f"{name}, seconds"] = min(found.get(f"{name}, seconds", np.inf), best(call, 1))
    found["pass beside np.sum, speed"] = found["np.sum, seconds"] / found["pass, seconds"]
    for loss in ("squared", "huber"):
        data = pursuit.open_data(out, memory=MEMORY)
        call = partial(lambda data, loss: pursuit.solve(pursuit.GLM(data, loss=loss, standardize=True), K), data, loss)
        result = timed(f"fit k={K}, {loss}", call, data)
        found[f"fit k={K}, {loss}, ended"] = f"{result.solver}, {result.status}, {result.optimality}"
    data = pursuit.open_data(out, memory=MEMORY)
    path = timed("path of 50 sizes", lambda: pursuit.path(pursuit.GLM(data, standardize=True), range(1, 51)), data)
    found["path of 50 sizes, ended"] = f"{path.status}: {path.reason}"
    watched.ended.set()
    found["anonymous memory, GB"] = watched.most / 1e9
    return found


@contextlib.contextmanager
def cgroup(limit: int) -> Iterator[Path | None]:
    """A memory cgroup, or None where the machine allows none."""
    place = CGROUPS / f"pursuit-{os.getpid()}"
    try:
        place.mkdir()
        (place / "memory.limit_in_bytes").write_text(str(limit))
    except OSError:
        with contextlib.suppress(OSError):
            place.rmdir()
        yield None
        return
    try:
        yield place
    finally:
        place.rmdir()


def run(command: list[str], place: Path | None = None) -> tuple[str, int]:
    """Standard output, and the most anonymous memory."""

    def join() -> None:
        assert place is not None
        (place / "cgroup.procs").write_text(str(os.getpid()))

    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=None if place is None else join)
    watched = Watched(child.pid)
    printed, _ = child.communicate()
    watched.ended.set()
    if child.returncode:
        raise SystemExit(f"{command} ended with {child.returncode}")
    return printed, watched.most


def forget(out: Path) -> None:
    """Take the files out of the page cache: the next process that reads them pays for it."""
    for file in out.iterdir():
        with file.open("rb") as handle:
            os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def show(title: str, found: dict[str, Any]) -> None:
    print(f"\n{title}")
    for name, value in found.items():
        print(f"  {name:45} {value:.3g}" if isinstance(value, float) else f"  {name:45} {value}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gb", type=float, default=6.0)
    parser.add_argument("--parquet-gb", type=float, default=2.0)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--folder", type=Path, default=Path())
    given = parser.parse_args()
    need = 1e9 * (given.gb + given.parquet_gb) * 1.1
    if shutil.disk_usage(given.folder).free < need:
        raise SystemExit(f"{need / 1e9:.0f} GB must be free in {given.folder.absolute()}")
    folder = Path(tempfile.mkdtemp(prefix="pursuit-scale-", dir=given.folder))
    try:
        if given.gb > 0:
            out = made(folder, 1e9 * given.gb, given.columns)
            for limit in (None, MEMORY):
                with contextlib.nullcontext() if limit is None else cgroup(limit) as place:
                    if limit is not None and place is None:
                        print("\nno memory cgroup is allowed here: RssAnon above has to do")
                        continue
                    forget(out)
                    printed, _ = run([sys.executable, __file__, "--measure", str(out)], place)
                    show(
                        "page cache free" if limit is None else "in a cgroup of 1 GB, page cache and all",
                        json.loads(printed),
                    )
            shutil.rmtree(out)
        if given.parquet_gb > 0:
            big, began = made_parquet(folder, 1e9 * given.parquet_gb), time.perf_counter()
            command = [sys.executable, "-c", "import sys; from pursuit.cli import main; sys.exit(main(sys.argv[1:]))"]
            printed, most = run(
                [*command, "fit", str(big), "--target", "y", "-k", str(K), "-o", str(folder / "model.json")]
            )
            seconds = time.perf_counter() - began
            show(
                f"pursuit fit, {big.stat().st_size / 1e9:.2g} GB of Parquet",
                {"seconds": seconds, "anonymous memory, GB": most / 1e9},
            )
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        main()
