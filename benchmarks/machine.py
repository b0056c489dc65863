"""What the figures came from: processor, cores, BLAS, versions. No names of hosts or people."""

import os
import platform
from pathlib import Path

import numpy as np
import scipy
from peers import CONTENDERS
from threadpoolctl import threadpool_info

BUSY = "busy"  # said of a load above one half before the run


def processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def facts() -> dict[str, str]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    pools = sorted(
        f"{pool['internal_api']} {pool['version']} ({pool.get('architecture')}, {pool['num_threads']} threads)"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    )
    versions = {contender.package: contender.version for contender in CONTENDERS}
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    busy = f" ({BUSY})" if load > 0.5 else ""
    return {
        "processor": processor(),
        "cores": str(cores),
        "load before the run": f"{load:.1f}{busy}",
        "BLAS": "; ".join(pools),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        **versions,
    }
