"""What ``pip install .`` gives: a wheel with every file of the package, whose commands start outside the checkout."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import pursuit

pytest.importorskip("scikit_build_core")
ROOT = Path(__file__).parents[2]
SOURCES = {
    path.relative_to(ROOT / "src").as_posix()
    for path in (ROOT / "src" / "pursuit").rglob("*")
    if path.is_file() and path.suffix not in (".pyc", ".so", ".pyd")
}


def run(*command, cwd, **more):
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | more
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(kind, checkout, folder, settings=None, **more):
    """The wheel or sdist that the backend builds, without a download."""
    code = f"from scikit_build_core.build import build_{kind}; print(build_{kind}({str(folder)!r}, {settings!r}))"
    return folder / run(sys.executable, "-c", code, cwd=checkout, **more).split()[-1]


def files_in(wheel):
    with zipfile.ZipFile(wheel) as opened:
        return {name for name in opened.namelist() if name.startswith("pursuit/")}


def test_commands_of_the_wheel_start_in_a_clean_environment(tmp_path):
    compiled = ROOT / "build" / f"{Path(sys.prefix).name}-{sys.implementation.cache_tag}"  # as in the Makefile
    if not compiled.exists():
        pytest.skip(f"{compiled} is not there (make test builds it), and compiling the core again takes minutes")
    wheel = build("wheel", ROOT, tmp_path, {"build-dir": str(compiled)})
    experiments = build("wheel", ROOT / "experiments", tmp_path)
    assert {name for name in files_in(wheel) if "_core." not in name or name.endswith(".pyi")} == SOURCES

    # the dependencies come from here; a folder that a .pth names is searched, but its own .pth (the editable finder) is
    # not read, and it comes after the environment's own packages
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env", cwd=tmp_path)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    home = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))", cwd=tmp_path).strip())
    here = [path for path in sys.path if path.endswith("site-packages")]
    (home / "dependencies.pth").write_text("\n".join(here))
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "-qq", "--no-index", "--no-deps", "--ignore-installed", wheel, experiments, cwd=tmp_path)

    modules = ("pursuit", "pursuit._core", "pursuit_experiments")
    code = f"from importlib import import_module as at; print(*(at(name).__file__ for name in {modules}))"
    assert all(Path(name).is_relative_to(home) for name in run(python, "-c", code, cwd=tmp_path).split())
    assert run(python.parent / "pursuit", "--version", cwd=tmp_path).strip() == pursuit.__version__
    assert "grahtp" in run(python.parent / "pursuit", "solvers", cwd=tmp_path)
    assert "grasp/figure1" in run(python.parent / "pursuit-experiments", "list", cwd=tmp_path)


def test_the_sdist_builds_the_same_wheel(tmp_path):
    checkout = tmp_path / "checkout"  # without the environments and builds beside the sources, which take long to list
    for name in ("src", "core"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for name in ("CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, checkout)
    for name in ("benchmarks", "experiments", "docs"):
        (checkout / name).mkdir()
        (checkout / name / "large.csv").write_text("1")

    sdist = build("sdist", checkout, tmp_path)
    safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # from Python 3.11.4 on
    shutil.unpack_archive(sdist, tmp_path, **safely)
    unpacked = tmp_path / sdist.name.removesuffix(".tar.gz")
    core = [path.relative_to(ROOT) for path in (ROOT / "core").iterdir()]
    assert all((unpacked / name).is_file() for name in (*core, "CMakeLists.txt", "README.md", "LICENSE"))
    assert not list(unpacked.rglob("large.csv"))
    pure = {"SKBUILD_WHEEL_CMAKE": "false", "SKBUILD_WHEEL_PY_API": "py3"}  # all but the compiled core
    assert files_in(build("wheel", unpacked, tmp_path, **pure)) == SOURCES
