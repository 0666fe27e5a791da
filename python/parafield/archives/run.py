# SPDX-License-Identifier: MIT
"""Schedules the work on sequences, and handles failures."""

import collections
import time
from typing import Any, Protocol

from . import parts
from .local import Died
from .plan import Sequence
from .progress import Progress
from .report import Report, Result
from .settings import Settings
from .tasks import Outcome, Task
from .write import format_of

_ATTEMPTS = 2  # for a task whose process was killed


class Runner(Protocol):
    """Runs tasks."""

    def room(self) -> int:
        """Number of tasks that may be submitted now."""

    def submit(self, task: Task) -> None:
        """Starts a task."""

    def wait(self, seconds: float) -> list[tuple[Task, Outcome | Died]]:
        """Waits for at most so many seconds, and returns the complete tasks."""

    def close(self) -> None:
        """Ends the work."""


class Run:
    """The work on sequences."""

    def __init__(self, sequences: list[Sequence], settings: Settings, quiet: bool = False) -> None:
        path = format_of(settings).path
        self.report = Report([Result(sequence.name, sequence.source, path(sequence.name))
                              for sequence in sequences])
        self._settings, self._quiet = settings, quiet
        self._results = {result.name: result for result in self.report.results}
        self._ready = collections.deque(Task(sequence) for sequence in sequences)
        self._progress = Progress(len(sequences), sum(sequence.weight for sequence in sequences), quiet)
        self._waiting: dict[str, tuple[set[int], Task]] = {}  # segments that a join waits for, by name
        self._whole: set[str] = set()  # sequences whose segments are ignored from now on
        self._at_work = 0
        self._lost: collections.Counter[Task] = collections.Counter()

    def skip(self, done: dict[str, dict[str, Any]]) -> None:
        """Leaves out sequences that have results. `done` holds the results' infos by name."""
        for name, info in done.items():
            result = self._results[name]
            result.status, result.frames, result.flows = "skipped", info["frames"], info["flows"]
        self._ready = collections.deque(task for task in self._ready if task.sequence.name not in done)
        weight = sum(task.sequence.weight for task in self._ready)
        self._progress = Progress(len(self._ready), weight, self._quiet)

    def work(self, runner: Runner) -> None:
        """Does the work. The report is correct at any time, even after an exception."""
        begin = time.monotonic()
        try:
            while self._ready or self._at_work:
                while self._ready and runner.room() > 0:
                    runner.submit(self._ready.popleft())
                    self._at_work += 1
                for task, outcome in runner.wait(0.2):
                    self._at_work -= 1
                    if task.sequence.name not in self._whole or task.is_whole:
                        self._take(task, outcome)
                self._progress.update()
        except KeyboardInterrupt:
            self.report.interrupted = True
            raise
        except Exception as error:
            self.report.problem = str(error)
            raise
        finally:
            self.report.seconds = time.monotonic() - begin
            self._progress.clear()
            for result in self.report.done:
                parts.remove(result.name, self._settings)  # in case a worker was killed before it did so

    def _take(self, task: Task, outcome: Outcome | Died) -> None:
        result = self._results[task.sequence.name]
        if isinstance(outcome, Died):
            self._lost[task] += 1
            if self._lost[task] < _ATTEMPTS:
                self._ready.appendleft(task)
            else:
                self._fail(task, f"{outcome}, {_ATTEMPTS} times")
            return
        result.seconds = round(result.seconds + outcome.seconds, 3)
        result.frames = max(result.frames, outcome.frames)
        getattr(self, "_take_" + outcome.kind)(task, outcome, result)

    def _take_done(self, task: Task, outcome: Outcome, result: Result) -> None:
        result.status, result.flows = "done", outcome.flows
        self._progress.done += 1
        if task.kind == "sequence":
            self._progress.flows += outcome.flows
            self._progress.weight += task.sequence.weight

    def _take_failed(self, task: Task, outcome: Outcome, result: Result) -> None:
        if task.kind == "sequence":
            result.flows = outcome.flows
        self._fail(task, outcome.error)
        if outcome.is_disk_full and self._ready:
            self.report.problem = "the disk is full"
            self._ready.clear()

    def _fail(self, task: Task, error: str | None) -> None:
        result = self._results[task.sequence.name]
        result.status, result.error = "failed", error
        self._whole.add(result.name)
        self._ready = collections.deque(other for other in self._ready if other.sequence.name != result.name)
        self._progress.failed += 1
        self._progress.weight += task.sequence.weight

    def _take_cut(self, task: Task, outcome: Outcome, result: Result) -> None:
        assert outcome.join is not None
        self._waiting[result.name] = ({segment.first for segment in outcome.tasks}, outcome.join)
        self._ready.extendleft(reversed(outcome.tasks))

    def _take_part(self, task: Task, outcome: Outcome, result: Result) -> None:
        segments, join = self._waiting[result.name]
        segments.remove(task.first)
        self._progress.flows += outcome.flows
        self._progress.weight += task.sequence.weight * outcome.flows / join.flows
        if not segments:
            self._ready.appendleft(join)

    def _take_whole(self, task: Task, outcome: Outcome, result: Result) -> None:
        self._whole.add(result.name)
        self._ready = collections.deque(other for other in self._ready if other.sequence.name != result.name)
        whole = self._waiting[result.name][1]
        self._ready.appendleft(Task(whole.sequence, is_whole=True))


