# SPDX-License-Identifier: MIT
"""Flow of a run of frames, written as a part of a result."""

import contextlib
import os
import threading
import zlib
from typing import Any

import numpy as np

import parafield as pf

from . import parts
from .errors import Broken
from .pipeline import WriteBehind, read_ahead
from .pixels import Array
from .read import ImageSource, frames_of, open_source, read_image
from .settings import Settings
from .tasks import Task
from .video import VideoSource
from .write import Part, format_of

_own = threading.local()  # the estimator that this thread used last


def estimate_part(task: Task, settings: Settings,
                  source: ImageSource | VideoSource) -> tuple[Part, str | None]:
    """Estimates the flow of a sequence or segment.

    Returns a description of the part, and the problem that ended it early, if any. Raises Broken if there is
    no flow at all.
    """
    folder = parts.folder_of(task.sequence.name, settings)
    os.makedirs(folder, exist_ok=True)
    part = format_of(settings).part(folder, settings)
    output = WriteBehind(part, settings.threads)
    problem: str | None = None
    walk = _Walk(task, settings, source)
    ordered = frames_of(source, settings, walk.first_frame, walk.last_frame, task.index)
    try:
        try:
            with read_ahead(ordered, settings.threads) as frames:
                for number, array in frames:
                    flow = walk.take(number, array)
                    if flow is not None:
                        output.add(task.first + walk.flows - 1, flow)
        except Broken as error:
            if walk.flows == 0:
                raise
            problem = error.message
        if walk.flows == 0:
            raise Broken(_too_short(walk.frames, settings), walk.frames)
        output.close()
    except BaseException:
        output.discard()
        with contextlib.suppress(OSError):
            os.rmdir(folder)  # unless it holds finished segments
        raise
    return {"first": task.first, "flows": walk.flows, "frames": walk.frames, "shape": walk.shape,
            "first_frame": walk.first_checksum, "next_frame": walk.next_checksum, "file": part.file,
            "source_size": task.source_size, "frame_rate": source.frame_rate}, problem


class _Walk:
    """Takes the frames of a sequence or segment, and returns its flows in order."""

    def __init__(self, task: Task, settings: Settings, source: ImageSource | VideoSource) -> None:
        self._task, self._settings = task, settings
        self._is_gray_video = isinstance(source, VideoSource) and source.is_gray
        self.first_frame = settings.start + task.first * settings.stride
        self.last_frame: int | None = None
        self._next: int | None = None
        if task.kind == "segment":
            self.last_frame = self.first_frame + (task.flows - 1) * settings.stride + settings.reach
            if not task.is_last:
                self._next = self.first_frame + task.flows * settings.stride
                self.last_frame = max(self.last_frame, self._next)
        self._most = task.flows or None
        self.flows, self.frames = 0, 0
        self.shape: list[int] = []
        self.first_checksum: int | None = None
        self.next_checksum: int | None = None
        self._waiting: dict[int, Array] = {}  # frames of flows to come, if step and stride differ

    def take(self, number: int, array: Array) -> Any:
        """Takes the next frame. Returns the flow that it completes, if any."""
        if self.frames == 0:
            self._begin(array)
        if number == self._next:
            self.next_checksum = _checksum(array)
        self.frames += 1
        flow = self._solve(number - self.first_frame, array) if self.flows != self._most else None
        self.flows += flow is not None
        return flow

    def _begin(self, array: Array) -> None:
        self.shape = list(array.shape[:2])
        self.first_checksum = _checksum(array)
        known = self._range(array)
        self._estimator = _estimator_for(self._settings, array, known)
        self._estimator.reset()
        if known is None and array.dtype != np.uint8 and self._task.kind == "segment":
            # The estimator finds the range in its first frame, which must be the same for all segments.
            if self._task.range_from:
                self._estimator.push(read_image(self._task.range_from, self._settings))
            elif self._task.first > 0:
                self._estimator.push(_first_frame(self._task, self._settings))

    def _range(self, array: Array) -> tuple[float, float] | None:
        """Values of black and white; None if the estimator is to find them."""
        if array.dtype == np.uint8:
            return None
        if self._settings.range is not None:
            return self._settings.range
        # The standards of color videos define black and white; gray videos may hold sensor data.
        return (0.0, 65535.0) if self._task.sequence.is_video and not self._is_gray_video else None

    def _solve(self, offset: int, array: Array) -> Any:
        step, stride, reach = self._settings.step, self._settings.stride, self._settings.reach
        if step == stride:
            flow = self._estimator.push(array) if offset % step == 0 else None
            return flow if offset >= reach else None
        self._waiting[offset] = array
        begin = offset - reach
        flow = None
        if begin >= 0 and begin % stride == 0:
            flow = self._estimator([self._waiting[place] for place in range(begin, offset + 1, step)])
        for place in [place for place in self._waiting if place <= begin]:
            del self._waiting[place]
        return flow


def _checksum(array: Array) -> int:
    return zlib.crc32(np.ascontiguousarray(array).data)


def _first_frame(task: Task, settings: Settings) -> Array:
    """The first frame of the sequence of a segment, resized."""
    source = open_source(task.sequence, settings)
    try:
        return next(frames_of(source, settings, settings.start))[1]
    finally:
        source.close()


def _estimator_for(settings: Settings, array: Array, value_range: tuple[float, float] | None) -> Any:
    """An estimator for frames like this one: this thread's last estimator if it fits, otherwise a new one."""
    key = (array.shape, array.dtype.str, value_range, repr(settings.method), settings.options,
           settings.device, settings.threads, settings.throughput)
    if getattr(_own, "key", None) != key:
        _own.key = _own.estimator = None  # frees its memory before the next one takes some
        _own.estimator = pf.FlowEstimator(settings.method, device=settings.device, shape=array.shape[:2],
                                          range=value_range, threads=settings.threads,
                                          throughput=settings.throughput, **settings.options)
        _own.key = key
    return _own.estimator


def _too_short(frames: int, settings: Settings) -> str:
    beyond = f" from frame {settings.start} on" if settings.start else ""
    before = f" before frame {settings.stop}" if settings.stop is not None else ""
    if frames == 0:
        return f"there are no frames{beyond}{before}"
    return f"there are {frames} frames{beyond}{before}; a flow takes {settings.reach + 1}"
