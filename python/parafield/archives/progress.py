# SPDX-License-Identifier: MIT
"""Progress on standard error: one changing line on a terminal, otherwise a new line now and then."""

import shutil
import sys
import time
from typing import TextIO

from .report import duration

_SECONDS_AT_TERMINAL, _SECONDS_ELSEWHERE = 0.2, 30


class Progress:
    """Shows how much of the work is done, and the remaining time."""

    def __init__(self, sequences: int, weight: int, quiet: bool = False,
                 stream: TextIO | None = None) -> None:
        self._sequences, self._weight, self._quiet = sequences, max(1, weight), quiet
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._begin = self._shown = time.monotonic()
        self._width = 0
        self.done = self.failed = self.flows = 0
        self.weight: float = 0  # of the completed work, in the unit of the total weight

    def update(self, force: bool = False) -> None:
        """Shows the state, unless it was shown recently."""
        now = time.monotonic()
        pause = _SECONDS_AT_TERMINAL if self._terminal else _SECONDS_ELSEWHERE
        if self._quiet or not force and now - self._shown < pause:
            return
        self._shown = now
        line = self._line(now - self._begin)
        if self._terminal:
            columns = shutil.get_terminal_size().columns - 1
            self._stream.write("\r" + line[:columns].ljust(min(self._width, columns)))
            self._width = len(line[:columns])
        else:
            self._stream.write(line + "\n")
        self._stream.flush()

    def clear(self) -> None:
        """Removes the changing line."""
        if self._terminal and self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._width = 0

    def _line(self, seconds: float) -> str:
        share = min(1.0, self.weight / self._weight)
        text = f"{self.done} of {self._sequences}, {100 * share:.0f} %, {self.flows} flows"
        if seconds > 0 and self.flows:
            text += f", {self.flows / seconds:.1f} a second"
        if self.failed:
            text += f", {self.failed} failed"
        if share > 0:
            text += f", {duration(seconds * (1 - share) / share)} left"
        return text
