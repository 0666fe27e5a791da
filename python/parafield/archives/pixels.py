# SPDX-License-Identifier: MIT
"""Pixels of decoded frames, and frames in another size."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import Broken, needed
from .settings import Settings

Array = NDArray[Any]

_LIMITED, _FULL = 1, 2  # AVColorRange

# Flags of libswscale, which PyAV names only from version 18 on: bicubic, rounded exactly, the same bits on
# every processor. For RGB also chroma for every pixel.
_BICUBIC = 0x4 | 0x40000 | 0x80000
_BICUBIC_RGB = _BICUBIC | 0x2000


def pixels_of(frame: Any, color: str) -> Array:
    """The array of a decoded frame, rotated as a viewer shows it.

    With `color` "gray" it is the video's own luma, H x W, or H x W x 3 if the video has none. With "rgb" it
    is H x W x 3. Values are 0 to 255 (uint8), or 0 to 65535 (uint16) for videos with more than 8 bits.
    Limited range (16 to 235) is stretched to the full range.
    """
    array = _luma(frame) if color == "gray" and _has_luma(frame.format.name) else _rgb(frame)
    turns = round(frame.rotation / 90) % 4
    return np.ascontiguousarray(np.rot90(array, turns)) if turns else array


def size_for(shape: tuple[int, ...], settings: Settings) -> tuple[int, int]:
    """Height and width to which frames of the given shape are resized."""
    if settings.shape is not None:
        return settings.shape
    height, width = shape[:2]
    short = settings.short_side
    if short is None or min(height, width) <= short:
        return height, width
    if height <= width:
        return short, max(1, round(width * short / height))
    return max(1, round(height * short / width)), short


def resized(array: Array, shape: tuple[int, int]) -> Array:
    """A frame in another size: bicubic, with a filter as wide as the frame shrinks."""
    if array.shape[:2] == tuple(shape):
        return array
    if array.dtype.kind == "f":
        raise Broken("frames of float32 cannot be resized; leave short_side and shape out")
    if array.ndim == 3:
        return np.stack([resized(array[..., channel], shape) for channel in range(array.shape[2])], axis=2)
    av = needed("av", "resizing of frames")
    kind = "gray" if array.dtype == np.uint8 else "gray16le"
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(array), format=kind)
    frame = frame.reformat(width=shape[1], height=shape[0], interpolation=_BICUBIC, threads=1)
    return np.asarray(frame.to_ndarray())


def _has_luma(name: str) -> bool:
    """Whether the first plane of a pixel format is luma of 8 bit, or of more bits in little-endian words."""
    return name.startswith(("yuv4", "yuvj", "yuva4", "gray", "nv")) and not name.endswith(("be", "f32le"))


def _depth(frame: Any) -> int:
    return int(max(component.bits for component in frame.format.components))


def _is_limited(frame: Any) -> bool:
    if frame.color_range in (_LIMITED, _FULL):
        return bool(frame.color_range == _LIMITED)
    return not frame.format.name.startswith(("yuvj", "gray"))


def _luma(frame: Any) -> Array:
    plane, depth = frame.planes[0], _depth(frame)
    kind = np.dtype("u1" if depth == 8 else "<u2")
    rows = np.frombuffer(plane, kind).reshape(plane.height, plane.line_size // kind.itemsize)
    values = rows[:, :frame.width]
    if depth in (8, 16) and not _is_limited(frame):
        return values.copy()
    return np.take(_stretch(depth, _is_limited(frame)), values, mode="clip")


@functools.lru_cache
def _stretch(depth: int, limited: bool) -> Array:
    """Table of full-range values for those of `depth` bits."""
    scale = 1 << depth - 8
    black, white = (16 * scale, 235 * scale) if limited else (0, 256 * scale - 1)
    most = 255 if depth == 8 else 65535
    values = (np.arange(1 << depth, dtype=np.int64) - black) * most
    rounded = (2 * values + white - black) // (2 * (white - black))
    return np.clip(rounded, 0, most).astype(np.uint8 if depth == 8 else np.uint16)


def _rgb(frame: Any) -> Array:
    name = frame.format.name
    given: dict[str, Any] = {}
    if name.startswith(("yuv", "nv", "p0", "uyvy", "yvyu")):
        given = {"src_color_range": _LIMITED if _is_limited(frame) else _FULL, "dst_color_range": _FULL}
    kind = "rgb24" if _depth(frame) <= 8 else "rgb48le"
    frame = frame.reformat(format=kind, interpolation=_BICUBIC_RGB, threads=1, **given)
    return np.asarray(frame.to_ndarray())
