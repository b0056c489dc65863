"""Files of checkpoints: damaged ones, impossible places, a full disk, two runs at once, a killed one."""

import errno
import importlib.util
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

import pursuit
from pursuit._utils import files
from pursuit._utils.files import FileLock, InUseError, atomic_write, write_text
from pursuit.cli import main
from pursuit.solving import checkpoint

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 8))
Y = X[:, 0] + 0.5 * X[:, 1] + rng.standard_normal(60)


def solve(checkpoint, **options):
    return pursuit.solve(pursuit.GLM(X, Y), 3, solver="omp", checkpoint=checkpoint, **options)


def follow(checkpoint, **options):
    return pursuit.path(pursuit.GLM(X, Y), range(4), checkpoint=checkpoint, **options)


DAMAGES = 400


def read_or_refused(run, file):
    """A run's result; None where a sentence that names the file refuses it."""
    try:
        return run(file)
    except ValueError as error:
        if str(error).startswith(f"checkpoint {file} "):
            return None
        raise


@pytest.mark.parametrize("kind", ["ended", "stopped", "path"])
def test_damaged_files_are_refused_or_read_rightly(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    file, run = tmp_path / "run.npz", follow if kind == "path" else solve
    run(file, **({"max_iter": 1} if kind == "stopped" else {}))
    good, draw = file.read_bytes(), np.random.default_rng(len(kind))
    expected = run(None)
    expected = expected.values if kind == "path" else expected.value
    refused = 0
    for i in range(DAMAGES // 3 + 1):
        bad = bytearray(good)
        if i % 4 == 3:
            bad = bad[: draw.integers(len(bad))]
        else:  # bits, a byte in the headers of the archive, a stretch of bytes
            low = 0 if i % 4 == 0 else int(good.rindex(b"PK\x01\x02", 0, len(good) - 50)) if i % 4 == 1 else 0
            for _ in range(1 if i % 4 < 2 else 20):
                bad[draw.integers(low, len(bad))] ^= 1 << draw.integers(8)
        file.write_bytes(bad)
        found = read_or_refused(run, file)
        if found is None:
            refused += 1
            continue
        value = found.values if kind == "path" else found.value
        np.testing.assert_allclose(value, expected, rtol=1e-9, err_msg=str(i))
    assert refused > DAMAGES // 6


@pytest.mark.parametrize("run", [solve, follow])
def test_a_header_that_says_something_else_is_refused(run, tmp_path):
    """Whole, and no checkpoint of this library's."""
    file = tmp_path / "run.npz"
    run(file)
    with np.load(file) as held:
        arrays = dict(held)
    header = bytes(arrays["header"]).decode()
    for old, new in (
        ('"points"', '"paints"'),
        ('"refitted"', '"fitted"'),
        ('"end"', '"start"'),
        ('"dim": 8', '"dim": 9'),
    ):
        assert old in header
        np.savez(file, **{**arrays, "header": np.frombuffer(header.replace(old, new).encode(), np.uint8)})
        with pytest.raises(ValueError, match=r"run\.npz is (damaged|of another problem)"):
            run(file)
    for name in ("supports", "sizes"):
        np.savez(file, **{**arrays, name: arrays[name] + 50})
        with pytest.raises(ValueError, match=r"run\.npz is damaged"):
            run(file)
    np.savez(file, **{**arrays, "coefs": arrays["coefs"] * 1.01})
    with pytest.raises(ValueError, match=r"run.npz is of another problem: of other data \(its point"):
        run(file)


@pytest.mark.parametrize("run", [solve, follow])
def test_impossible_places_are_refused_before_the_work(run, tmp_path, monkeypatch):
    monkeypatch.setattr(pursuit.GLM, "fingerprint", None)  # nothing is computed
    (tmp_path / "file").write_text("")
    places = {
        tmp_path / "no" / "run": "there is no folder",
        tmp_path / "file" / "run": "there is no folder",
        tmp_path: "is a folder; name a file in it",
        "": "is a folder; name a file in it",
        tmp_path / ("x" * 300): "cannot be written: File name too long",
        f"{tmp_path}/a\0b": "cannot be written: the path contains a null character",
    }
    for place, words in places.items():
        with pytest.raises(ValueError, match=words):
            run(place)
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ValueError, match="cannot be written: Permission denied"):
        solve(tmp_path / "run")


# a full disk


def full(_):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("name", ["fit", "path", "predict", "stability", "graph", "picture"])
def test_a_full_disk_leaves_what_was_there_and_names_the_file(name, tmp_path, monkeypatch, capsys):
    data, model = tmp_path / "data.npz", tmp_path / "model.json"
    np.savez(data, X=X, y=Y)
    if name == "predict":
        pursuit.save_model(pursuit.SparseRegressor(1).fit(X, Y), model)
    out = tmp_path / {"path": "o.csv", "stability": "o.csv", "predict": "o.csv", "picture": "o.svg"}.get(name, "o.json")
    words = {
        "fit": ["fit", data, "-k", 1],
        "path": ["path", data, "--ks", "1-2"],
        "predict": ["predict", model, data],
        "stability": ["stability", data, "--pairs", 1, "--ks", "1-2"],
        "graph": ["graph", data, "--edges", 1],
        "picture": ["path", data, "--ks", "1-2"],
    }[name]
    out.write_text("old")
    before = {file: (tmp_path / file).read_bytes() for file in os.listdir(tmp_path)}
    monkeypatch.setattr(os, "fsync", full)
    assert main([str(word) for word in [*words, "--picture" if name == "picture" else "--out", out]]) == 2
    assert capsys.readouterr().err == f"pursuit: {out}: No space left on device\n"
    assert {file: (tmp_path / file).read_bytes() for file in os.listdir(tmp_path)} == before


def test_a_full_disk_and_a_checkpoint(tmp_path, monkeypatch):
    solve(tmp_path / "run", max_iter=2)
    before = (tmp_path / "run").read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    for run in (solve, follow):
        place = tmp_path / ("run" if run is solve else "path")
        with pytest.raises(OSError, match="No space left") as raised:
            run(place)
        assert raised.value.filename == str(place)
    assert (tmp_path / "run").read_bytes() == before
    assert os.listdir(tmp_path) == ["run"]


def test_writes_that_fail_in_the_middle(tmp_path):
    out = tmp_path / "out"
    out.write_text("old")
    with pytest.raises(TypeError), atomic_write(out) as file:
        file.write("text")
    with pytest.raises(FileNotFoundError, match="elsewhere"), atomic_write(out):  # another file's error stays its own
        (tmp_path / "elsewhere").read_bytes()
    assert out.read_text() == "old"
    write_text(out, "new\r\n")
    assert out.read_bytes() == b"new\r\n"
    assert os.listdir(tmp_path) == ["out"]
    long = tmp_path / ("x" * 250)
    write_text(long, "new")
    assert long.read_text() == "new"
    with pytest.raises(IsADirectoryError) as raised:
        write_text(tmp_path, "new")
    assert raised.value.filename == str(tmp_path)


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no such device here")
def test_what_is_no_regular_file_is_written_to_and_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_text(tmp_path / "pipe", "text")
    reader.join(10)
    assert found == [b"text"]
    assert os.listdir(tmp_path) == ["pipe"]


def test_what_a_killed_run_has_left_is_removed(tmp_path):
    left, others = tmp_path / ".run.0123abcd.part", [tmp_path / ".run.x.part", tmp_path / ".other.0123abcd.part"]
    for file in (left, *others):
        file.write_text("half")
    solve(tmp_path / "run")
    assert not left.exists()
    assert all(file.exists() for file in others)


# two runs at once


def test_a_second_run_is_refused_and_the_first_goes_on(tmp_path):
    file, said = tmp_path / "run", []

    def second(record):
        for run in (solve, follow):
            with pytest.raises(
                ValueError, match="run is in use by another run; wait for its end, or name another"
            ) as it:
                run(file)
            said.append(it.value)

    result = solve(file, callback=second)
    assert len(said) == 2 * result.n_iter
    assert solve(file).value == result.value
    assert os.listdir(tmp_path) == ["run"]


HOLDS = """
import sys, time
import numpy as np, pursuit
from pursuit._utils.files import FileLock
from pathlib import Path
lock = FileLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_a_lock_dies_with_its_process(tmp_path):
    file = tmp_path / "run"
    child = subprocess.Popen([sys.executable, "-c", HOLDS, file], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "held\n"
        with pytest.raises(ValueError, match="is in use by another run"):
            solve(file)
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=60)
    assert solve(file).converged  # and it has removed what was left of the lock
    assert os.listdir(tmp_path) == ["run"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork")
def test_a_forked_child_holds_nothing(tmp_path):
    """As workers that outlive the run that started them: the lock is of the process that took it."""
    context = multiprocessing.get_context("fork")
    held, may_end = FileLock(tmp_path / "run"), context.Event()
    child = context.Process(target=may_end.wait, args=(60,))
    child.start()
    held.release()
    try:
        again = FileLock(tmp_path / "run")  # InUseError if the child had it
        assert child.is_alive()
        with pytest.raises(InUseError):
            FileLock(tmp_path / "run")
        again.release()
    finally:
        may_end.set()
        child.join(60)


def test_locks_of_threads_and_of_one_after_the_other(tmp_path):
    for _ in range(3):
        lock = FileLock(tmp_path / "run")
        with pytest.raises(InUseError):
            FileLock(tmp_path / "run")
        lock.release()
        lock.release()
    (tmp_path / ".run.lock").write_text("somebody's")
    FileLock(tmp_path / "run").release()
    assert (tmp_path / ".run.lock").read_text() == "somebody's"


def test_a_refused_file_is_free_for_the_next(tmp_path):
    file = tmp_path / "run"
    file.write_text("no checkpoint")
    for _ in range(2):
        with pytest.raises(ValueError, match="is damaged, or no checkpoint"):
            solve(file)
    file.unlink()
    solve(file)


def test_without_fcntl(tmp_path, monkeypatch):
    """Windows has no such module: byte locks of its own, and open files that cannot be removed."""
    calls = []
    monkeypatch.setitem(sys.modules, "fcntl", None)
    windows = types.SimpleNamespace(LK_NBLCK=2, locking=lambda handle, mode, count: calls.append((mode, count)))
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    spec = importlib.util.spec_from_file_location("files_of_windows", files.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.fcntl is None
    module.FileLock(tmp_path / "run").release()
    assert calls == [(2, 1)]
    assert os.listdir(tmp_path) == []

    def taken(handle, mode, count):
        raise OSError(errno.EACCES, "Permission denied")

    windows.locking = taken
    with pytest.raises(module.InUseError):
        module.FileLock(tmp_path / "run")


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def none(handle, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(files.fcntl, "lockf", none)
    assert solve(tmp_path / "run").converged


def test_the_lock_is_released_whatever_happens(tmp_path, monkeypatch):
    def broken(self, *_):
        raise RuntimeError("no")

    monkeypatch.setattr(checkpoint.Checkpoint, "write", broken)
    for run in (solve, follow):
        with pytest.raises(RuntimeError):
            run(tmp_path / "run")
    monkeypatch.undo()
    solve(tmp_path / "run")
    assert os.listdir(tmp_path) == ["run"]
