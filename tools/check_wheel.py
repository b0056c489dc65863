"""Build sdists and wheels, check what is in them, install them outside the checkout and run the smoke tests there.

    make wheel                  # in .venv; the wheels stay in dist/

The wheel is compiled in the build folder of the environment (`--build-dir`), so nothing is compiled twice. Its
environments are temporary folders outside the checkout: one without extras, one with those that the smoke tests use.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = "cli,plot,io,graph,dask"  # jax and torch are large, and their tests are in the suite
MAX_WHEEL_BYTES = 3_000_000
FORBIDDEN = ("tests", "experiments", "pursuit_experiments", "benchmarks", "docs", "core")
ABI3_FROM = (3, 12)  # tool.scikit-build.wheel.py-api


class WheelError(Exception):
    """What is wrong with a distribution, in a sentence."""


def require(holds: bool, sentence: str) -> None:
    if not holds:
        raise WheelError(sentence)


def sources(package: Path) -> set[str]:
    """The files of a package that its wheel must hold, relative to the folder above it."""
    files = (path for path in package.rglob("*") if path.is_file() and path.suffix not in (".pyc", ".so", ".pyd"))
    return {path.relative_to(package.parent).as_posix() for path in files}


def expected_tag(version: tuple[int, int]) -> str:
    """The Python and ABI tag of a wheel that this version of CPython builds."""
    if version >= ABI3_FROM:
        return f"cp{ABI3_FROM[0]}{ABI3_FROM[1]}-abi3"
    return f"cp{version[0]}{version[1]}-cp{version[0]}{version[1]}"


def check_tag(wheel: str, version: tuple[int, int]) -> None:
    """The name of the file says which Pythons can install it."""
    tag = expected_tag(version)
    require(f"-{tag}-" in wheel, f"{wheel} does not have the tag {tag} of Python {version[0]}.{version[1]}")


def check_contents(wheel: Path, package: str, expected: Iterable[str], size: int = MAX_WHEEL_BYTES) -> None:
    """A wheel holds the files of its package, at most one extension, its metadata, and nothing else."""
    bytes_ = wheel.stat().st_size
    require(bytes_ < size, f"{wheel.name} has {bytes_} bytes, and fewer than {size} are wanted")
    with zipfile.ZipFile(wheel) as opened:
        names = [name for name in opened.namelist() if not name.endswith("/")]
    tops = {name.partition("/")[0] for name in names}
    found = sorted(tops & set(FORBIDDEN) - {package})
    require(not found, f"{wheel.name} holds the folders {found}, which users do not need")
    strange = sorted(top for top in tops if top != package and not top.endswith(".dist-info"))
    require(not strange, f"{wheel.name} holds {strange} beside {package} and its metadata")
    own = {name for name in names if name.startswith(f"{package}/")}
    compiled = {name for name in own if name.endswith((".so", ".pyd"))}
    missing, more = sorted(set(expected) - own), sorted(own - compiled - set(expected))
    require(not missing, f"{wheel.name} lacks {missing[:5]}")
    require(not more, f"{wheel.name} holds {more[:5]}, which are not in the sources")
    check_extension(wheel.name, compiled)


def check_extension(wheel: str, compiled: set[str]) -> None:
    """A wheel that promises the stable ABI has an extension built for it."""
    if "-none-any" in wheel:
        require(not compiled, f"{wheel} is for every platform and holds {sorted(compiled)}")
        return
    require(len(compiled) == 1, f"{wheel} holds the extensions {sorted(compiled)}, and one is wanted")
    (name,) = compiled
    promised = "-abi3-" in wheel
    stable = name.endswith((".abi3.so", "/_core.pyd"))
    require(stable or not promised, f"{wheel} promises abi3 and holds {name}")
    require(promised or not stable, f"{wheel} holds {name}, and its tag does not say abi3")


def run(*command: object, cwd: Path, **more: str) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | more
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=1800
    )
    require(done.returncode == 0, f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def build(kind: str, checkout: Path, folder: Path, settings: dict[str, str] | None = None, **more: str) -> Path:
    """The wheel or sdist that the backend builds, without a download."""
    code = f"from scikit_build_core.build import build_{kind}; print(build_{kind}({str(folder)!r}, {settings!r}))"
    return folder / run(sys.executable, "-c", code, cwd=checkout, **more).split()[-1]


def check_sdist(sdist: Path, checkout: Path, package: Path, needed: Iterable[str], folder: Path) -> None:
    """An sdist holds what its wheel is made from; but for the compiled core, its wheel is that of the checkout."""
    safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # from Python 3.11.4 on
    shutil.unpack_archive(sdist, folder, **safely)  # type: ignore[arg-type]
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    absent = [name for name in needed if not (unpacked / name).is_file()]
    require(not absent, f"{sdist.name} lacks {absent[:5]}")
    large = [name for name in ("benchmarks", "experiments", "docs", "build", ".venv") if (unpacked / name).exists()]
    require(not large, f"{sdist.name} holds {large}, which no build reads")
    pure = {"SKBUILD_WHEEL_CMAKE": "false", "SKBUILD_WHEEL_PY_API": "py3"}
    check_contents(build("wheel", unpacked, folder, **pure), package.name, sources(package))


def environment(folder: Path, *packages: object) -> Path:
    """The Python of a fresh environment with these packages, from the index that pip is set to."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "-qq", *packages, cwd=folder.parent)
    return python


def smoke_files(tests: Path) -> list[str]:
    """The test files with a smoke test: only these are read where not every extra is installed."""
    files = (path for path in tests.rglob("test_*.py") if "pytest.mark.smoke" in path.read_text())
    return sorted(path.relative_to(tests.parent).as_posix() for path in files)


def check_installed(python: Path, modules: Iterable[str], tests: Path) -> str:
    """The smoke tests pass on the installed modules; returns pytest's last line."""
    code = f"from importlib import import_module as at; print(*(at(name).__file__ for name in {tuple(modules)}))"
    home = python.parents[1]
    for path in run(python, "-c", code, cwd=tests.parent).split():
        require(Path(path).is_relative_to(home), f"{path} was imported, and not what was installed in {home}")
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "smoke", *smoke_files(tests))
    return run(python, *command, cwd=tests.parent).strip().splitlines()[-1]


def main(build_dir: str | None) -> None:
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    began = time.monotonic()

    def say(what: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {what}", flush=True)

    settings = {"build-dir": build_dir} if build_dir else None
    wheel, sdist = build("wheel", ROOT, dist, settings), build("sdist", ROOT, dist)
    papers, papers_sdist = build("wheel", ROOT / "experiments", dist), build("sdist", ROOT / "experiments", dist)
    check_tag(wheel.name, sys.version_info[:2])
    package, experiments = ROOT / "src" / "pursuit", ROOT / "experiments" / "src" / "pursuit_experiments"
    check_contents(wheel, package.name, sources(package))
    check_contents(papers, experiments.name, sources(experiments))
    say(f"{wheel.name} ({wheel.stat().st_size / 1e6:.1f} MB), {papers.name} ({papers.stat().st_size / 1e6:.1f} MB)")

    with tempfile.TemporaryDirectory(prefix="pursuit-wheel-") as temporary:
        folder = Path(temporary)
        core = [path.relative_to(ROOT).as_posix() for path in (ROOT / "core").iterdir()]
        check_sdist(sdist, ROOT, package, [*core, "CMakeLists.txt", "README.md", "LICENSE"], folder)
        check_sdist(papers_sdist, ROOT / "experiments", experiments, ["pyproject.toml"], folder)
        say(f"{sdist.name}, {papers_sdist.name} build the same wheels")

        shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)  # pytest's options
        bare = environment(folder / "bare", wheel, "pytest>=8")
        say("without extras: " + check_installed(bare, ["pursuit", "pursuit._core"], folder / "tests"))
        full = environment(folder / "full", f"{wheel}[{EXTRAS}]", papers, "pytest>=8")
        modules = ["pursuit", "pursuit._core", "pursuit_experiments"]
        say(f"with [{EXTRAS}]: " + check_installed(full, modules, folder / "tests"))
        require("grahtp" in run(full.parent / "pursuit", "solvers", cwd=folder), "pursuit solvers does not list grahtp")
        listed = run(full.parent / "pursuit-experiments", "list", cwd=folder)
        require("grasp/figure1" in listed, "pursuit-experiments list does not name grasp/figure1")
    say("both commands start outside the checkout")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--build-dir", help="where the core is compiled; what is up to date there is not compiled again"
    )
    try:
        main(parser.parse_args().build_dir)
    except WheelError as error:
        sys.exit(f"make wheel: {error}")
