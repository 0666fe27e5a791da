# SPDX-License-Identifier: MIT
"""Reading and writing in threads, in parallel with the estimation."""

import collections
import contextlib
import queue
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from .write import JpegPart, RawPart

_Item = TypeVar("_Item")

_AHEAD = 8


@contextlib.contextmanager
def read_ahead(items: Iterable[_Item], threads: int) -> Iterator[Iterable[_Item]]:
    """Yields the same items, which another thread takes from their iterator in advance."""
    if threads < 2:
        yield items
        return
    waiting: queue.Queue[tuple[str, Any]] = queue.Queue(_AHEAD)
    stop = threading.Event()

    def put(kind: str, value: Any) -> None:
        while not stop.is_set():
            with contextlib.suppress(queue.Full):
                waiting.put((kind, value), timeout=0.1)
                return

    def read() -> None:
        try:
            for item in items:
                put("item", item)
                if stop.is_set():
                    return
            put("end", None)
        except BaseException as error:
            put("error", error)

    def taken() -> Iterator[_Item]:
        while True:
            kind, value = waiting.get()
            if kind == "error":
                raise value
            if kind == "end":
                return
            yield value

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield taken()
    finally:
        stop.set()
        reader.join()


class WriteBehind:
    """A part of a result that other threads write, several in parallel if the part allows it."""

    def __init__(self, part: RawPart | JpegPart, threads: int) -> None:
        self._part = part
        self._threads = 0 if threads < 2 else threads if part.any_order else 1
        self._pool = ThreadPoolExecutor(self._threads) if self._threads else None
        self._waiting: collections.deque[Future[None]] = collections.deque()

    def add(self, number: int, flow: Any) -> None:
        if self._pool is None:
            self._part.add(number, flow)
            return
        if len(self._waiting) >= _AHEAD + self._threads:
            self._waiting.popleft().result()
        self._waiting.append(self._pool.submit(self._part.add, number, flow))

    def close(self) -> None:
        while self._waiting:
            self._waiting.popleft().result()
        self._end()
        self._part.close()

    def discard(self) -> None:
        self._end()
        self._part.discard()

    def _end(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
