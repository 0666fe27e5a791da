# SPDX-License-Identifier: MIT
"""Messages that wait: for partners of the same time, and for a solver that is busy."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Sequence
from typing import Any


class Synchronizer:
    """Finds messages of several topics that were taken at the same time.

    `channels` is the number of topics. Stamps are in ns and may differ by `tolerance` ns; 0 means that they
    are equal. Each topic keeps at most `queue_size` messages. `unmatched` counts the messages that were
    dropped because they had no partner.
    """

    def __init__(self, channels: int, queue_size: int = 5, tolerance: int = 0) -> None:
        self.unmatched = 0
        self._waiting: list[OrderedDict[int, Any]] = [OrderedDict() for _ in range(channels)]
        self._queue_size, self._tolerance = queue_size, tolerance

    def add(self, channel: int, stamp: int, message: Any) -> list[Any] | None:
        """Adds a message. Returns one message of each topic if it completes a set, otherwise None.

        Older messages than those of a set are dropped.
        """
        own = self._waiting[channel]
        if own and stamp < next(reversed(own)) - 1_000_000_000:  # time jumped back: a bag starts again
            self.clear()
        own[stamp] = message
        nearest = [
            min(waiting, key=lambda other: abs(other - stamp), default=None) for waiting in self._waiting
        ]
        stamps = [other for other in nearest if other is not None]
        if len(stamps) == len(nearest) and max(stamps) - min(stamps) <= self._tolerance:
            found = []
            for waiting, match in zip(self._waiting, stamps):
                found.append(waiting.pop(match))
                for older in [other for other in waiting if other < match]:
                    del waiting[older]
                    self.unmatched += 1
            return found
        while len(own) > self._queue_size:
            own.popitem(last=False)
            self.unmatched += 1
        return None

    def clear(self) -> None:
        """Drops all messages."""
        for waiting in self._waiting:
            self.unmatched += len(waiting)
            waiting.clear()


class Mailbox:
    """Work for one thread. At most `capacity` items wait; a new item then replaces the oldest one."""

    def __init__(self, capacity: int = 1) -> None:
        self.dropped = 0
        self._items: deque[Any] = deque()
        self._capacity, self._closed = capacity, False
        self._changed = threading.Condition()

    def put(self, item: Any) -> None:
        """Adds an item. `dropped` counts the items that were replaced."""
        with self._changed:
            self._items.append(item)
            if len(self._items) > self._capacity:
                self._items.popleft()
                self.dropped += 1
            self._changed.notify()

    def take(self) -> Any:
        """Waits for the oldest item and returns it; None once the mailbox is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._closed)
            return None if self._closed else self._items.popleft()

    def close(self) -> None:
        """Ends take() of the waiting thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


def percentile(sorted_values: Sequence[float], share: float) -> float:
    """The value that `share`, 0 to 1, of the sorted values do not exceed; NaN without values."""
    if not sorted_values:
        return float("nan")
    return sorted_values[min(int(share * len(sorted_values)), len(sorted_values) - 1)]
