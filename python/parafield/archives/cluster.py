# SPDX-License-Identifier: MIT
"""Work on a Dask cluster."""

import itertools
import queue
import sys
import uuid
from typing import Any

import parafield as pf

from .errors import argument_error, describe, needed
from .local import Died
from .settings import Settings
from .tasks import Outcome, Task
from .work import run_task

_SECONDS_TO_CONNECT = 20


class DaskCluster:
    """Work on the workers of a cluster, which must see inputs and output at the same paths.

    If a worker is lost, Dask repeats its task elsewhere, a few times.
    """

    def __init__(self, settings: Settings, scheduler: Any) -> None:
        distributed = needed("distributed", "scheduler: a Dask cluster", extra="dask")
        self._settings = settings
        self._client, self._is_own = _client_of(scheduler, distributed)
        self._numbers, self._prefix = itertools.count(), f"parafield-extract-{uuid.uuid4().hex[:8]}"
        self._complete: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._futures: dict[str, tuple[Any, Task]] = {}
        try:
            _check_workers(self._client)
        except BaseException:
            self.close()
            raise

    def room(self) -> int:
        return sys.maxsize  # the scheduler keeps the queue, and a cluster may grow with it

    def submit(self, task: Task) -> None:
        key = f"{self._prefix}-{next(self._numbers)}"
        future = self._client.submit(run_task, task, self._settings, key=key, pure=False)
        self._futures[key] = (future, task)
        future.add_done_callback(lambda future: self._complete.put(future.key))

    def wait(self, seconds: float) -> list[tuple[Task, Outcome | Died]]:
        """See LocalProcesses."""
        keys = []
        try:
            keys.append(self._complete.get(timeout=seconds))
            while True:
                keys.append(self._complete.get_nowait())
        except queue.Empty:
            pass
        if not keys and self._client.status not in ("running", "connecting"):
            raise argument_error(f"scheduler: the connection to it is lost ({self._client.status})", "device")
        complete: list[tuple[Task, Outcome | Died]] = []
        for key in keys:
            future, task = self._futures.pop(key)
            try:
                complete.append((task, future.result()))
            except Exception as error:
                if future.status in ("cancelled", "lost"):
                    raise argument_error("scheduler: it has lost or cancelled the work", "device") from error
                complete.append((task, Died(describe(error))))
        return complete

    def close(self) -> None:
        """Cancels tasks that have not begun. Running tasks end by themselves."""
        try:
            self._client.cancel([future for future, _ in self._futures.values()])
        except Exception:
            pass  # the scheduler has ended
        self._futures.clear()
        if self._is_own:
            self._client.close(timeout=5)


def _client_of(scheduler: Any, distributed: Any) -> tuple[Any, bool]:
    """A client, and whether we must close it."""
    if isinstance(scheduler, distributed.Client):
        return scheduler, False
    if not isinstance(scheduler, str):
        raise argument_error(f"scheduler: {scheduler!r} is not an address such as tcp://10.0.0.1:8786, or a "
                             "distributed.Client")
    try:
        client = distributed.Client(scheduler, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise argument_error(f"scheduler: {scheduler} cannot be reached within {_SECONDS_TO_CONNECT} s "
                             f"({describe(error)})", "device") from error
    return client, True


def _version() -> str:
    import parafield
    return str(parafield.__version__)


def _check_workers(client: Any) -> None:
    """Raises an error if a worker lacks this package or has another version."""
    for worker, version in client.run(_version, on_error="return").items():
        if isinstance(version, Exception):
            raise argument_error(f"scheduler: the worker {worker} cannot import parafield: {version}",
                                 "unsupported")
        if version != pf.__version__:
            raise argument_error(f"scheduler: the worker {worker} has parafield {version}, and this process "
                                 f"{pf.__version__}", "unsupported")
