# SPDX-License-Identifier: MIT
"""Runs a unit of work: a sequence, a segment of a long sequence, or the joining of its segments."""

import math
import socket
import time
from dataclasses import replace
from typing import Any

import parafield as pf

from . import parts
from .errors import Broken, SeamMismatch, describe, is_disk_full
from .estimate import estimate_part
from .plan import Sequence
from .read import ImageSource, open_source
from .settings import Settings
from .tasks import Outcome, Task
from .video import VideoSource
from .write import format_of


def run_task(task: Task, settings: Settings) -> Outcome:
    """Runs a unit of work. Errors become its outcome."""
    begin = time.monotonic()
    try:
        outcome = {"sequence": _sequence, "segment": _segment, "join": _join}[task.kind](task, settings)
    except SeamMismatch as error:
        outcome = Outcome("whole", error=str(error))
    except Broken as error:
        outcome = Outcome("failed", frames=error.frames, error=error.message)
    except Exception as error:
        # On a cluster, two workers may do the same task if one of them was believed lost.
        place = "" if isinstance(error, pf.Error) else f" (on {socket.gethostname()})"
        outcome = _result(task.sequence, settings) or Outcome(
            "failed", error=describe(error) + place, is_disk_full=is_disk_full(error, settings.output))
    outcome.seconds = time.monotonic() - begin
    return outcome


def is_current(info: dict[str, Any] | None, size: int, settings: Settings) -> bool:
    """Whether a result is complete and has the current settings and source."""
    if not info or not info.get("complete"):
        return False
    return not differences(info, size, settings)


def differences(info: dict[str, Any], size: int, settings: Settings) -> list[str]:
    """Differences between the settings and source of a result and the current ones, as texts."""
    found = []
    for name, value in settings.identity().items():
        if info.get(name) != value:
            found.append(f"{name} {info.get(name)}, now {value}")
    if info.get("source_size") != size:
        found.append(f"size of the source {info.get('source_size')}, now {size}")
    return found


def _result(sequence: Sequence, settings: Settings) -> Outcome | None:
    """The outcome of a sequence that has a current result, or None."""
    try:
        info = format_of(settings).read_info(sequence.name)
        if info is not None and is_current(info, parts.source_size(sequence), settings):
            return Outcome("done", frames=info["frames"], flows=info["flows"])
    except OSError:
        pass
    return None


def _sequence(task: Task, settings: Settings) -> Outcome:
    """Solves a sequence, or cuts it if it is long."""
    if outcome := _result(task.sequence, settings):
        return outcome
    try:
        task = replace(task, source_size=parts.source_size(task.sequence))
    except OSError as error:
        raise Broken(f"it cannot be read: {error.strerror}") from error
    source = open_source(task.sequence, settings)
    try:
        if not task.is_whole and settings.is_cuttable:
            if settings.flows_of(source.expected_frames()) > settings.segment:
                if outcome := _cut(task, settings, source):
                    return outcome
        part, problem = estimate_part(task, settings, source)
    finally:
        source.close()
    frames = settings.start + part["frames"]
    parts.finish(task.sequence, settings, [part], frames, problem)
    return Outcome("failed" if problem else "done", frames=frames, flows=part["flows"], error=problem)


def _cut(task: Task, settings: Settings, source: ImageSource | VideoSource) -> Outcome | None:
    """The segments of a sequence, or None if it stays whole."""
    files = task.sequence.files
    index = source.index() if isinstance(source, VideoSource) else None
    frames = settings.frames_in(len(index.times) if index else len(files))
    flows = settings.flows_of(frames)
    count = math.ceil(flows / settings.segment)
    if count < 2:
        return None
    bounds = [flows * number // count for number in range(count + 1)]
    pieces = tuple((begin, end - begin) for begin, end in zip(bounds, bounds[1:]))
    tasks = []
    for begin, length in pieces:
        first, is_last = settings.start + begin * settings.stride, begin + length == flows
        last = first + length * settings.stride + settings.reach
        tasks.append(replace(
            task, kind="segment", first=begin, flows=length, is_last=is_last,
            sequence=replace(task.sequence, files=files[first:last + 1], first=first if files else 0),
            index=index.part(first, last) if index and first else None,
            range_from=files[settings.start] if files else ""))
    join = replace(task, kind="join", flows=flows, pieces=pieces, frames=frames)
    return Outcome("cut", frames=frames, flows=flows, tasks=tuple(tasks), join=join)


def _segment(task: Task, settings: Settings) -> Outcome:
    """Solves a segment of a sequence, unless an earlier run has done so."""
    folder = parts.folder_of(task.sequence.name, settings)
    if parts.read_marker(folder, task.first, task.flows, task.source_size, settings):
        return Outcome("part", flows=task.flows)
    source = open_source(task.sequence, settings)
    try:
        part, problem = estimate_part(task, settings, source)
    except Broken as error:
        raise SeamMismatch(error.message) from error
    finally:
        source.close()
    if problem or part["flows"] != task.flows:
        raise SeamMismatch(problem or f"segment {task.first} has {part['flows']} flows, not {task.flows}")
    parts.write_marker(folder, part, settings)
    return Outcome("part", flows=task.flows)


def _join(task: Task, settings: Settings) -> Outcome:
    """Joins the segments of a sequence. The frames that segments share must be identical."""
    if outcome := _result(task.sequence, settings):
        return outcome
    folder = parts.folder_of(task.sequence.name, settings)
    found = []
    for first, flows in task.pieces:
        part = parts.read_marker(folder, first, flows, task.source_size, settings)
        if part is None:
            raise SeamMismatch(f"the segment of flow {first} is missing")
        found.append(part)
    for part, following in zip(found, found[1:]):
        if part["next_frame"] != following["first_frame"] or part["shape"] != following["shape"]:
            raise SeamMismatch(f"frames differ where segments meet, at flow {following['first']}")
    parts.finish(task.sequence, settings, found, task.frames, None)
    return Outcome("done", frames=task.frames, flows=task.flows)
