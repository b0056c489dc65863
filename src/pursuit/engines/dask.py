"""Rows on Dask workers: bundles are futures, which Dask rebuilds; beside each one an actor answers, made anew if lost.

A task per question would take three times as long, and copies rows between healthy workers now and then; actors move
none, but die with their worker. Bundles are not bound to workers: those of a worker that is gone would wait for it.
"""

import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from .._errors import check_number
from .far import FarMap, Keeper

PATIENCE = 60.0  # seconds without a sign of life
LOOK = 1.0  # seconds after which whoever waits looks whether the scheduler is still there
REACHED = 3.0  # seconds within which a worker that can be reached directly answers
SILENT = 1.5  # seconds between signs of life that a healthy worker may take
ATTEMPTS = 8  # keepers that may be lost one after the other under one question
FIRST_PAUSE, PAUSE = (
    0.05,
    1.0,
)  # seconds before a lost keeper is sought again; twice as long each time, up to the second


class Dask:
    """An engine: a Dask client, and for how long a worker may be silent before a sentence says so.

    Parameters
    ----------
    client : dask.distributed.Client
    patience : seconds; a worker that computes is not silent
    """

    def __init__(self, client: Any, patience: float = PATIENCE) -> None:
        self.client, self.patience = _checked(client), check_number(patience, "patience")
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

    def placed(self, make: Callable[[int], Any], places: int) -> FarMap:
        """Bundles that ``make(i)`` submits as futures; it is called again for what Dask cannot rebuild."""
        return FarMap(_Bundles(self, make, places), places)

    def _alive(self) -> None:
        if self.client.status != "running":
            raise ConnectionError(
                f"the Dask client is {self.client.status}: its scheduler is gone or it was closed; "
                "make a new client and fit again"
            )


def as_engine(engine: Any) -> Dask:
    """A Dask engine, or the client of one."""
    return engine if isinstance(engine, Dask) else Dask(engine)


def _checked(client: Any) -> Any:
    try:
        from dask.distributed import Client
    except ImportError:
        raise ImportError("rows on Dask need dask.distributed: pip install 'pursuit[dask]'") from None
    if not isinstance(client, Client):
        raise TypeError(
            f"engine must be a dask.distributed.Client or a pursuit.engines.Dask, got {type(client).__name__}"
        )
    if client.asynchronous:
        raise TypeError("engine must be a synchronous client: Client(asynchronous=True) cannot be waited for here")
    return client


class _Bundles:
    """Delivers letters to keepers: their answers, in the order of the letters, however many workers are lost."""

    def __init__(self, engine: Dask, make: Callable[[int], Any], places: int) -> None:
        self.engine, self.make, self.id = engine, make, uuid.uuid4().hex[:12]
        self.count = min(engine.workers().values())
        self.rows = [make(place) for place in range(places)]
        self.keepers: list[Any] = [None] * places
        self.homes: list[str] = [""] * places
        self.direct = True  # whether workers are reached from here without a detour by the scheduler
        self.made: list[Any] = [None] * places  # the keepers' own futures: nobody else holds them

    def __call__(self, letters: Sequence[tuple[int, tuple[Any, ...]]]) -> list[Any]:
        try:
            return self._answers(letters)
        except _FinalError as final:
            raise final.error from None

    def _answers(self, letters: Sequence[tuple[int, tuple[Any, ...]]]) -> list[Any]:
        answers: list[Any] = [None] * len(letters)
        left, pause, why = list(range(len(letters))), FIRST_PAUSE, None
        for _ in range(ATTEMPTS):
            asked, failed = [], []
            for i in left:
                place, letter = letters[i]
                try:
                    keeper = self.keepers[place] or self._keeper(place)
                    asked.append((i, keeper, keeper.ask(*letter)))
                except (OSError, ValueError, RuntimeError) as error:  # Dask's ways to say that an actor is gone
                    why = self._lost(place, error, self.keepers[place])
                    failed.append(i)
            for i, keeper, future in asked:
                place = letters[i][0]
                try:
                    answers[i] = self._wait(place, future)
                except (OSError, ValueError, RuntimeError) as error:
                    why = self._lost(place, error, keeper)
                    failed.append(i)
            if not failed:
                return answers
            left = failed
            time.sleep(pause)
            pause = min(2 * pause, PAUSE)
        raise ConnectionError(f"bundle {letters[left[0]][0]} was lost {ATTEMPTS} times under one question: {why}")

    def _keeper(self, place: int) -> Any:
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
            Keeper, rows, self.count, actor=True, pure=False, workers=home[:1],
            key=f"pursuit-keeper-{self.id}-{place}-{uuid.uuid4().hex[:6]}",
        )  # fmt: skip
        keeper = made.result(timeout=self.engine.patience)
        keeper._client, keeper._worker = client, None  # else it is asked through whichever client is the current one
        if self.direct:
            keeper._client = _Direct(client)
            try:
                keeper.present().result(timeout=REACHED)
            except (Late, OSError, TimeoutError):
                keeper._client, self.direct = client, False
        self.keepers[place], self.homes[place], self.made[place] = keeper, home[0], made
        return keeper

    def _wait(self, place: int, future: Any) -> Any:
        """An answer; while its worker is heard of it may take its time."""
        from dask.distributed import TimeoutError as Late

        patience = self.engine.patience
        late = time.monotonic() + patience
        while True:
            try:
                return future.result(timeout=min(LOOK, patience))
            except (Late, TimeoutError):
                self.engine._alive()
                if time.monotonic() < late and self.made[place].status == "finished":
                    continue
                late = time.monotonic() + patience
                silent = self.engine.client.run_on_scheduler(_silence, self.homes[place])
                if silent is None or self.made[place].status != "finished":
                    raise OSError(f"worker {self.homes[place]} is gone, or has lost its keeper") from None
                if silent > max(0.5 * patience, SILENT):
                    hung = TimeoutError(
                        f"bundle {place} of the rows has not answered for {patience:g} s, and its worker "
                        f"{self.homes[place]} gives no sign of life: is it hung?"
                    )
                    raise _FinalError(hung) from None

    def _lost(self, place: int, error: Exception, keeper: Any) -> Exception:
        """A keeper that is gone; no second look at what another thread has replaced meanwhile."""
        self.engine._alive()
        if self.keepers[place] is keeper:
            self.keepers[place] = None
        return error


def _silence(address: str, dask_scheduler: Any = None) -> float | None:
    """Seconds since the scheduler heard of a worker; None where there is no such worker."""
    known = dask_scheduler.workers.get(address)
    return None if known is None else time.time() - known.last_seen


class _Direct:
    """A client whose questions go to workers without a detour by the scheduler: half the way for long answers."""

    direct_to_workers = True

    def __init__(self, client: Any) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)


class _FinalError(Exception):
    """Holds an ``error`` for the user: of whatever type it is, it is not Dask's way to say that an actor is gone."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
