"""Rows on Dask workers: bundles are futures, which Dask rebuilds; beside each an actor runs requests, remade if lost.

A task per request would take three times as long, and copies rows between healthy workers now and then; actors move
none, but die with their worker. Bundles are not bound to workers: those of a worker that is gone would wait for it.
"""

import time
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._utils.validation import check_number, require_package
from .remote import Delivery, RemoteMap, RowServer

if TYPE_CHECKING:
    from distributed import Actor, Client, Future, Scheduler

    from ..engines.dask import Dask as Engine

DEFAULT_PATIENCE = 60.0  # seconds without a sign of life
POLL_SECONDS = 1.0  # between two checks, while waiting, that the scheduler is alive
DIRECT_TIMEOUT = 3.0  # seconds within which a worker that can be reached directly answers
MAX_HEARTBEAT_GAP = 1.5  # seconds between signs of life that a healthy worker may take
MAX_ATTEMPTS = 8  # servers that may be lost in a row under one request
FIRST_PAUSE, MAX_PAUSE = 0.05, 1.0  # seconds before the next attempt; doubled each time, up to the second


class Dask:
    """An engine: a Dask client, and how long a worker may be silent before an error is raised.

    Parameters
    ----------
    client : dask.distributed.Client
    patience : seconds; a worker that computes is not silent
    """

    def __init__(self, client: "Client", patience: float = DEFAULT_PATIENCE) -> None:
        self.client, self.patience = _check_client(client), check_number(patience, "patience")
        if not self.patience > 0:
            raise ValueError(f"patience must be a number of seconds above 0, got {patience!r}")

    def __repr__(self) -> str:
        return f"Dask({self.client!r}, patience={self.patience:g})"

    def workers(self) -> dict[str, int]:
        """The workers there are, and their threads; waits for the first one."""
        from dask.distributed import TimeoutError as Late

        self._alive()
        try:
            self.client.wait_for_workers(1, timeout=self.patience)
        except (Late, TimeoutError):
            raise TimeoutError(
                f"the Dask cluster has had no worker for {self.patience:g} s: start one, or give more patience"
            ) from None
        return self.client.nthreads()

    def placed(self, make: Callable[[int], "Future"], places: int) -> RemoteMap:
        """Bundles that ``make(i)`` submits as futures; it is called again for what Dask cannot rebuild."""
        return RemoteMap(_Bundles(self, make, places), places)

    def _alive(self) -> None:
        if self.client.status != "running":
            raise ConnectionError(
                f"the Dask client is {self.client.status}: its scheduler is gone or it was closed; "
                "make a new client and fit again"
            )


def as_engine(engine: "Engine") -> Dask:
    """A Dask engine, or the client of one."""
    return engine if isinstance(engine, Dask) else Dask(engine)


def _check_client(client: "Client") -> "Client":
    if not isinstance(client, require_package("dask.distributed", "dask", "an engine", "dask.distributed").Client):
        raise TypeError(
            f"engine must be a dask.distributed.Client or a pursuit.engines.Dask, got {type(client).__name__}"
        )
    if client.asynchronous:
        raise TypeError("engine must be a synchronous client: Client(asynchronous=True) cannot be waited for here")
    return client


class _Bundles:
    """The transport: delivers requests to servers and returns the responses in order, however many workers are lost."""

    def __init__(self, engine: Dask, make: Callable[[int], "Future"], places: int) -> None:
        self.engine, self.make, self.id = engine, make, uuid.uuid4().hex[:12]
        self.count = min(engine.workers().values())
        self.rows = [make(place) for place in range(places)]
        self.servers: list[Actor | None] = [None] * places
        self.homes: list[str] = [""] * places
        self.direct = True  # whether workers are reached from here without a detour by the scheduler
        self.made: dict[int, Future] = {}  # the futures of the servers: no other reference holds them

    def __call__(self, requests: Sequence[Delivery]) -> list[object]:
        try:
            return self._deliver(requests)
        except _FinalError as final:
            raise final.error from None

    def _deliver(self, requests: Sequence[Delivery]) -> list[object]:
        answers: list[object] = [None] * len(requests)
        left, pause, why = list(range(len(requests))), FIRST_PAUSE, None
        for _ in range(MAX_ATTEMPTS):
            pending, failed = [], []
            for i in left:
                place, request = requests[i]
                try:
                    server = self.servers[place] or self._server(place)
                    pending.append((i, server, server.handle(*request)))
                except (OSError, ValueError, RuntimeError) as error:  # Dask's ways to say that an actor is gone
                    why = self._mark_lost(place, error, self.servers[place])
                    failed.append(i)
            for i, server, future in pending:
                place = requests[i][0]
                try:
                    answers[i] = self._wait(place, future)
                except (OSError, ValueError, RuntimeError) as error:
                    why = self._mark_lost(place, error, server)
                    failed.append(i)
            if not failed:
                return answers
            left = failed
            time.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE)
        raise ConnectionError(f"bundle {requests[left[0]][0]} was lost {MAX_ATTEMPTS} times under one request: {why}")

    def _server(self, place: int) -> "Actor":
        """The actor beside a bundle, on the worker that holds it."""
        from dask.distributed import TimeoutError as Late

        client, late = self.engine.client, time.monotonic() + self.engine.patience
        while True:
            self.engine._alive()
            for future in self.rows:  # whichever fails first: this one may still be computed
                if future.status == "error":
                    raise _FinalError(future.exception())
            rows = self.rows[place]
            if rows.status in ("cancelled", "lost"):
                try:
                    self.engine.workers()  # sending rows would wait for one by Dask's own patience
                except TimeoutError as none:
                    raise _FinalError(none) from None
                rows = self.rows[place] = self.make(place)
            home = list(client.who_has([rows]).get(rows.key, ())) if rows.status == "finished" else []
            if home:
                break
            if time.monotonic() > late and not client.processing(list(client.nthreads())):
                raise _FinalError(
                    TimeoutError(
                        f"bundle {place} of the rows has had no worker for {self.engine.patience:g} s: start one, or "
                        "give more patience"
                    )
                )
            time.sleep(0.01)
        made = client.submit(
            RowServer,
            rows,
            self.count,
            actor=True,
            pure=False,
            workers=home[:1],
            key=f"pursuit-server-{self.id}-{place}-{uuid.uuid4().hex[:6]}",
        )
        server = made.result(timeout=self.engine.patience)
        server._client, server._worker = client, None  # else it is called through the current client
        if self.direct:
            server._client = _Direct(client)
            try:
                server.present().result(timeout=DIRECT_TIMEOUT)
            except (Late, OSError, TimeoutError):
                server._client, self.direct = client, False
        self.servers[place], self.homes[place], self.made[place] = server, home[0], made
        return server

    def _wait(self, place: int, future: "Future") -> object:
        """A response; there is no time limit while its worker sends heartbeats."""
        from dask.distributed import TimeoutError as Late

        patience = self.engine.patience
        late = time.monotonic() + patience
        while True:
            try:
                return future.result(timeout=min(POLL_SECONDS, patience))
            except (Late, TimeoutError):
                self.engine._alive()
                if time.monotonic() < late and self.made[place].status == "finished":
                    continue
                late = time.monotonic() + patience
                silent = self.engine.client.run_on_scheduler(_seconds_since_heartbeat, self.homes[place])
                if silent is None or self.made[place].status != "finished":
                    raise OSError(f"worker {self.homes[place]} is gone, or has lost its server") from None
                if silent > max(0.5 * patience, MAX_HEARTBEAT_GAP):
                    hung = TimeoutError(
                        f"bundle {place} of the rows has not answered for {patience:g} s, and its worker "
                        f"{self.homes[place]} gives no sign of life: is it hung?"
                    )
                    raise _FinalError(hung) from None

    def _mark_lost(self, place: int, error: Exception, server: "Actor | None") -> Exception:
        """Forget a server that is gone, unless another thread has replaced it meanwhile."""
        self.engine._alive()
        if self.servers[place] is server:
            self.servers[place] = None
        return error


def _seconds_since_heartbeat(address: str, dask_scheduler: "Scheduler" = None) -> float | None:
    """Seconds since the scheduler heard of a worker; None where there is no such worker."""
    known = dask_scheduler.workers.get(address)
    return None if known is None else time.time() - known.last_seen


class _Direct:
    """A client whose requests go to workers without a detour by the scheduler: half the way for long responses."""

    direct_to_workers = True

    def __init__(self, client: "Client") -> None:
        self.client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)


class _FinalError(Exception):
    """Carries an ``error`` for the user through code that takes errors of its type for a lost actor."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
