"""A Dask cluster of two workers, started when a test first asks for it."""

import os
import signal

import pytest

CONFIG = {
    "distributed.worker.daemon": False,
    "distributed.admin.tick.limit": "60s",  # a busy machine is no news
    "distributed.comm.timeouts.connect": "5s",
    "distributed.scheduler.allowed-failures": 20,  # kills are what these tests do
    "distributed.deploy.lost-worker-timeout": "1h",  # a cluster closes nannies that take longer to bring a worker back
}


@pytest.fixture(scope="session")
def cluster():
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("dask.distributed")
    settings = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": ":0",
        "silence_logs": 50,
        "memory_limit": 0,
    }
    with dask.config.set(CONFIG), distributed.LocalCluster(**settings) as started:
        yield started


@pytest.fixture
def client(cluster):
    distributed = pytest.importorskip("dask.distributed")
    with distributed.Client(cluster, set_as_default=True) as made:
        try:
            made.wait_for_workers(2, timeout=20)
        except (TimeoutError, distributed.TimeoutError):  # a nanny that did not bring its killed worker back
            cluster.scale(len(cluster.worker_spec) + 1)
            made.wait_for_workers(2, timeout=60)
        yield made


@pytest.fixture
def kill(client):
    """Kills workers with SIGKILL: the first ``many`` of those there are."""

    def kill(many):
        for pid in list(client.run(os.getpid).values())[:many]:
            os.kill(pid, signal.SIGKILL)

    return kill
