# SPDX-License-Identifier: MIT
"""Frames of a video, decoded by FFmpeg through PyAV."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import parafield as pf
from parafield._core import missing_part

from .errors import Broken, SeamMismatch, needed
from .pixels import Array, pixels_of

_KEYS_TO_TRY = 3  # number of preceding key frames from which decoding of a frame is tried


@dataclass(frozen=True)
class Index:
    """Times of frames, which locate a frame in the middle of a video."""

    times: tuple[int, ...]  # in order
    keys: tuple[tuple[int, int], ...]  # time of each key frame, and where to seek for it
    first: int = 0  # number of the frame with times[0]

    def part(self, first: int, last: int) -> "Index":
        """The part of the index that decodes the frames from `first` to `last`."""
        keys = [key for key in self.keys if key[0] <= self.times[first]][-_KEYS_TO_TRY:]
        begin = next((number for number, time in enumerate(self.times) if keys and time >= keys[0][0]), first)
        return Index(self.times[begin:last + 2], tuple(keys), begin)


class VideoSource:
    """A video file."""

    def __init__(self, path: str, color: str, threads: int = 1) -> None:
        self._av = needed("av", "decoding of videos")
        self._path, self._color, self._threads = path, color, threads
        self._container: Any = None
        self._untouched = False
        self._is_interlaced = False
        self._rewind()
        rate = self._stream.average_rate
        self.frame_rate: float | None = float(rate) if rate else None
        self.is_gray = str(self._stream.codec_context.pix_fmt).startswith("gray")

    def close(self) -> None:
        if self._container is not None:
            self._container.close()
            self._container = None

    def expected_frames(self) -> int:
        """Number of frames according to the header, or 0. Reads only the header."""
        if self._stream.frames > 0:
            return int(self._stream.frames)
        return int(round((self._container.duration or 0) / self._av.time_base * (self.frame_rate or 0)))

    def frames(self, first: int = 0, index: Index | None = None) -> Iterator[tuple[int, Array]]:
        """Pairs of frame number and array, from frame `first` on. An index tells how to begin in the middle.

        Raises Broken where the video is damaged. Raises SeamMismatch if the index does not lead to the frame.
        """
        if index is not None:
            yield from self._frames_after_seeking(first, index)
            return
        self._rewind()
        end: list[tuple[int, float]] = []
        count = 0
        for _, array in self._decode(end):
            if count >= first:
                yield count, array
            count += 1
        if missing := missing_part(self._path):
            raise Broken(f"after {count} frames: {missing}", count)
        if self._is_cut_off(*end[0]):
            raise Broken(f"the file ends after {count} frames, before its header says", count)

    def _rewind(self) -> None:
        if self._container is not None and self._untouched:
            return
        self.close()
        try:
            self._container = self._av.open(self._path)
        except (self._av.error.FFmpegError, OSError) as error:
            raise Broken(f"it cannot be read: {_reason(error)}") from error
        self._stream = self._container.streams.best("video")
        if self._stream is None:
            raise Broken("it has no video stream")
        self._stream.codec_context.thread_count = self._threads
        if self._threads > 1:
            self._stream.thread_type = "AUTO"
        self._untouched = True

    def _packets(self, end: list[tuple[int, float]] | None = None) -> Iterator[Any]:
        """Packets of the video.

        When there are no more, their number and the time at which the last one of any stream ends are
        appended to `end`.
        """
        self._untouched = False
        count, last = 0, 0.0
        for packet in self._container.demux():
            if packet.dts is not None and packet.time_base:
                last = max(last, float((packet.dts + (packet.duration or 0)) * packet.time_base))
            if packet.stream is self._stream or packet.stream_index == self._stream.index:
                count += packet.size > 0
                yield packet
        if end is not None:
            end.append((count, last))

    def _is_cut_off(self, count: int, last: float) -> bool:
        """Whether the file is shorter than its header says."""
        if self._container.format.name.startswith("mov") and self._stream.frames > 0:
            return bool(count < self._stream.frames)  # these count their packets in a table
        duration = (self._container.duration or 0) / self._av.time_base
        begin = (self._container.start_time or 0) / self._av.time_base
        return bool(duration > 0 and last - begin < duration - min(0.5, 0.1 * duration))

    def index(self) -> Index | None:
        """Times of all frames, from their packets; None if they cannot locate frames."""
        self._rewind()
        times: list[int] = []
        keys: list[tuple[int, int]] = []
        end: list[tuple[int, float]] = []
        try:
            for packet in self._packets(end):
                if packet.size == 0:
                    continue
                if packet.pts is None or packet.is_corrupt or packet.is_discard:
                    return None
                times.append(packet.pts)
                if packet.is_keyframe:
                    keys.append((packet.pts, packet.pts if packet.dts is None else packet.dts))
                elif len(times) == 1:
                    return None
        except self._av.error.FFmpegError:
            return None
        if missing_part(self._path) or self._is_cut_off(*end[0]) or len(set(times)) < len(times):
            return None
        return Index(tuple(sorted(times)), tuple(sorted(keys)))

    def _frames_after_seeking(self, first: int, index: Index) -> Iterator[tuple[int, Array]]:
        numbers = {time: number for number, time in enumerate(index.times, index.first)}
        for _, place in reversed(index.keys):
            self._rewind()
            self._container.seek(place, stream=self._stream)
            expected: int | None = None
            for time, array in self._decode():
                number = numbers.get(time)
                if expected is None and (number is None or number > first):
                    break  # decoding begins too late: an earlier key frame may do
                if number is None or number != (number if expected is None else expected):
                    raise SeamMismatch("times of frames differ from those of packets")
                expected = number + 1
                if number >= first:
                    yield number, array
            if expected is not None:
                return
        raise SeamMismatch(f"frame {first} cannot be found by its time")

    def _decode(self, end: list[tuple[int, float]] | None = None) -> Iterator[tuple[Any, Array]]:
        """Times and arrays of frames, from the container's current position. `end`: see _packets."""
        count = 0
        try:
            for packet in self._packets(end):
                try:
                    frames = packet.decode()
                except self._av.error.FFmpegError as error:
                    if count == 0 and packet.size:
                        continue  # a recording may begin in the middle of a group of pictures
                    raise Broken(f"frame {count} is damaged: {_reason(error)}", count) from error
                for frame in frames:
                    if frame.is_corrupt:
                        raise Broken(f"frame {count} is damaged", count)
                    if frame.interlaced_frame and not self._is_interlaced:
                        self._is_interlaced = True
                        warnings.warn(f"{self._path}: it is interlaced; its rows are read as they are stored",
                                      pf.FileWarning, stacklevel=2)
                    yield frame.pts, pixels_of(frame, self._color)
                    count += 1
        except self._av.error.FFmpegError as error:
            raise Broken(f"after {count} frames: {_reason(error)}", count) from error


def _reason(error: Any) -> str:
    return str(getattr(error, "strerror", None) or error)
