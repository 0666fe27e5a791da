# SPDX-License-Identifier: MIT
"""Frames of a sequence, one after the other, as arrays."""

from collections.abc import Iterator
from typing import Any

import parafield as pf

from .errors import Broken, describe
from .pixels import Array, resized, size_for
from .plan import Sequence
from .settings import Settings
from .video import Index, VideoSource


def open_source(sequence: Sequence, settings: Settings) -> "ImageSource | VideoSource":
    """Opens a sequence. Raises Broken if it cannot be read."""
    if sequence.is_video:
        return VideoSource(sequence.source, settings.color, settings.threads)
    return ImageSource(sequence)


class ImageSource:
    """Images in order, as read_frame returns them."""

    frame_rate: float | None = None

    def __init__(self, sequence: Sequence) -> None:
        self._files, self._first = sequence.files, sequence.first

    def expected_frames(self) -> int:
        return len(self._files)

    def frames(self, first: int = 0, index: Index | None = None) -> Iterator[tuple[int, Array]]:
        """Pairs of frame number and array, from frame `first` on. Raises Broken for an unreadable image."""
        del index  # images are found by their number
        for number in range(first, self._first + len(self._files)):
            try:
                yield number, pf.read_frame(self._files[number - self._first])
            except (pf.Error, OSError) as error:
                raise Broken(describe(error), number) from error

    def close(self) -> None:
        pass


def frames_of(source: ImageSource | VideoSource, settings: Settings, first: int, last: int | None = None,
              index: Index | None = None) -> Iterator[tuple[int, Array]]:
    """Pairs of frame number and resized array, from frame `first` to frame `last`, inclusive."""
    stop = settings.stop if last is None else last + 1
    like: Any = None
    for number, array in source.frames(first, index):
        if stop is not None and number >= stop:
            return
        if like is None:
            like, shape = array, size_for(array.shape[:2], settings)
        if array.shape != like.shape or array.dtype != like.dtype:
            raise Broken(f"frame {number} has {_kind(array)}, those before have {_kind(like)}", number)
        yield number, resized(array, shape)
        if stop is not None and number == stop - 1:
            return


def read_image(path: str, settings: Settings) -> Array:
    """An image, resized like the frames of its sequence."""
    array = pf.read_frame(path)
    return resized(array, size_for(array.shape[:2], settings))


def _kind(array: Array) -> str:
    height, width = array.shape[:2]
    return f"{width}x{height} px{' in color' if array.ndim == 3 else ''}, {array.dtype}"
