# SPDX-License-Identifier: MIT
"""Frames of a sequence, one after the other, as arrays."""

import parafield as pf

from .errors import Broken, describe
from .pixels import resized, size_for
from .video import VideoSource


def open_source(sequence, settings):
    """Opens a sequence. Raises Broken if it cannot be read at all."""
    if sequence.is_video:
        return VideoSource(sequence.source, settings.color, settings.threads)
    return ImageSource(sequence)


class ImageSource:
    """Images in the order of time, as read_frame gives them."""

    frame_rate = None

    def __init__(self, sequence):
        self._files, self._first = sequence.files, sequence.first

    def expected_frames(self):
        return len(self._files)

    def frames(self, first=0, index=None):
        """Pairs of number and array, from frame `first` on. Raises Broken at an image that cannot be read."""
        del index  # images are found by their number
        for number in range(first, self._first + len(self._files)):
            try:
                yield number, pf.read_frame(self._files[number - self._first])
            except (pf.Error, OSError) as error:
                raise Broken(describe(error), number) from error

    def close(self):
        pass


def frames_of(source, settings, first, last=None, index=None):
    """Pairs of number and array, resized, from `first` to `last`, which belongs to them. All have one size."""
    stop = settings.stop if last is None else last + 1
    like = shape = None
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


def read_image(path, settings):
    """An image in the size that frames of its sequence have."""
    array = pf.read_frame(path)
    return resized(array, size_for(array.shape[:2], settings))


def _kind(array):
    height, width = array.shape[:2]
    return f"{width}x{height} px{' in color' if array.ndim == 3 else ''}, {array.dtype}"
