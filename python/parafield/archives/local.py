# SPDX-License-Identifier: MIT
"""Work on processes of this machine."""

import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Mapping
from multiprocessing import connection
from typing import Any

import parafield as pf

from .errors import argument_error
from .settings import Settings
from .tasks import Outcome, Task
from .work import run_task


class Died(Exception):
    """The process of a task has ended unexpectedly."""


class InProcess:
    """Work in this process, one task after the other."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._tasks: list[Task] = []

    def room(self) -> int:
        """Number of tasks that may be submitted now."""
        return 1 - len(self._tasks)

    def submit(self, task: Task) -> None:
        self._tasks.append(task)

    def wait(self, seconds: float) -> list[tuple[Task, Outcome | Died]]:
        """Pairs of complete tasks and their outcomes. A lost task has the outcome Died."""
        del seconds
        done, self._tasks = self._tasks, []
        return [(task, run_task(task, self._settings)) for task in done]

    def close(self) -> None:
        pass


class LocalProcesses:
    """Work on several new processes. They are not forked, because CUDA does not survive a fork."""

    def __init__(self, settings: Settings, count: int, devices: list[str] | None = None) -> None:
        self._settings = settings
        self._devices = devices or []
        self._workers: list[_Worker] = []
        try:
            for number in range(count):
                self._workers.append(self._start(number))
            for worker in self._workers:
                worker.wait_for_start()
        except BaseException:
            self.close()
            raise

    def _start(self, number: int) -> "_Worker":
        environment = dict(os.environ)
        if self._devices:
            environment["CUDA_VISIBLE_DEVICES"] = self._devices[number % len(self._devices)]
        return _Worker(number, self._settings, environment)

    def room(self) -> int:
        return sum(worker.task is None for worker in self._workers)

    def submit(self, task: Task) -> None:
        next(worker for worker in self._workers if worker.task is None).begin(task)

    def wait(self, seconds: float) -> list[tuple[Task, Outcome | Died]]:
        busy: dict[Any, _Worker] = {
            worker.connection: worker for worker in self._workers if worker.task is not None}
        complete: list[tuple[Task, Outcome | Died]] = []
        for ready in connection.wait(list(busy), seconds):
            worker = busy[ready]
            task, worker.task = worker.task, None
            assert task is not None
            try:
                outcome, texts = worker.connection.recv()
                complete.append((task, outcome))
                for text in texts:  # every worker sends it, and Python shows it once
                    warnings.warn(text, pf.RangeWarning, _level_of_caller())
            except (EOFError, OSError, pickle.UnpicklingError):
                complete.append((task, Died(worker.end(patience=5))))
                self._workers[worker.number] = self._start(worker.number)
                self._workers[worker.number].wait_for_start()
        return complete

    def close(self) -> None:
        """Ends all processes, even while they work."""
        for worker in self._workers:
            worker.end(patience=0)


class _Worker:
    """A worker process. It ends when its connection is closed."""

    def __init__(self, number: int, settings: Settings, environment: Mapping[str, str]) -> None:
        self.number = number
        self.task: Task | None = None
        self.connection, theirs = connection.Pipe()
        with theirs:
            # Not multiprocessing: it would run the user's main module again.
            code = (f"import sys; sys.path[:] = {sys.path!r}\n"
                    f"from parafield.archives.local import serve; serve({theirs.fileno()})")
            self._process = subprocess.Popen([sys.executable, "-c", code], env=environment,
                                             pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self.connection.send(settings)

    def wait_for_start(self) -> None:
        try:
            self.connection.recv()
        except EOFError:
            raise argument_error(f"workers: {self.end(patience=5)} when it started", "device") from None

    def begin(self, task: Task) -> None:
        self.task = task
        try:
            self.connection.send(task)
        except OSError:
            pass  # the process has ended, which `wait` notices

    def end(self, patience: float) -> str:
        """Ends the process, by force after `patience` seconds, and returns how it ended."""
        self.connection.close()
        try:
            code = self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        if code < 0:
            return f"its process was ended by signal {-code}" + (" (is memory short?)" if code == -9 else "")
        return f"its process ended with code {code}"


def _level_of_caller() -> int:
    """The stack level, for warnings.warn in the calling function, of the code that called the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and str(frame.f_globals["__name__"]).startswith("parafield."):
        frame, level = frame.f_back, level + 1
    return level


def serve(file: int) -> None:
    """Runs a worker process: receives the settings, then task after task, and sends the outcomes.

    Warnings of a guessed range are sent with the outcome.
    """
    import signal
    texts: list[str] = []
    show = warnings.showwarning

    def keep(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if issubclass(category, pf.RangeWarning):
            texts.append(str(message))
        else:
            show(message, category, *place)

    warnings.showwarning = keep  # type: ignore[assignment]
    warnings.simplefilter("default", pf.RangeWarning)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process ends this one
    with connection.Connection(file) as main:
        try:
            settings = main.recv()
            main.send("ready")
            while True:
                texts.clear()
                outcome = run_task(main.recv(), settings)
                main.send((outcome, texts))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            pass
