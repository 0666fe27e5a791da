# SPDX-License-Identifier: MIT
"""sensor_msgs/Image as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import parafield as pf

# Encoding: type of a value, values per pixel, order of colors. 8UC3 and 8UC4 are OpenCV's, as in cv_bridge.
_ENCODINGS = {
    "mono8": ("u1", 1, ""),
    "8UC1": ("u1", 1, ""),
    "rgb8": ("u1", 3, "rgb"),
    "bgr8": ("u1", 3, "bgr"),
    "8UC3": ("u1", 3, "bgr"),
    "rgba8": ("u1", 4, "rgb"),
    "bgra8": ("u1", 4, "bgr"),
    "8UC4": ("u1", 4, "bgr"),
    "mono16": ("u2", 1, ""),
    "16UC1": ("u2", 1, ""),
    "rgb16": ("u2", 3, "rgb"),
    "bgr16": ("u2", 3, "bgr"),
    "16UC3": ("u2", 3, "bgr"),
    "32FC1": ("f4", 1, ""),
}
_BAYER = {f"bayer_{pattern}8": pattern for pattern in ("rggb", "bggr", "gbrg", "grbg")}


@dataclass(frozen=True)
class Picture:
    """An image as parafield takes it.

    `pixels` is H x W or H x W x 3 or 4: uint8, uint16 or float32, in the message's memory if it needs no
    conversion. `channels` is the order of colors, "rgb" or "bgr"; None for gray.
    """

    pixels: NDArray[Any]
    channels: Literal["rgb", "bgr"] | None

    def rgb8(self, shown: tuple[float, float]) -> NDArray[np.uint8]:
        """H x W x 3 for displays: red, green, blue. `shown` is black and white of types other than uint8."""
        pixels = self.pixels
        if pixels.dtype != np.uint8:
            black, white = shown
            scaled = np.nan_to_num((pixels.astype(np.float32) - black) * (255 / (white - black)))
            pixels = np.clip(scaled + 0.5, 0, 255).astype(np.uint8)
        if pixels.ndim == 2:
            return np.repeat(pixels[..., None], 3, axis=2)
        return pixels[..., 2::-1] if self.channels == "bgr" else pixels[..., :3]


def picture_of(message: Any) -> Picture:
    """The pixels of a sensor_msgs/Image.

    Encodings are mono8, rgb8, bgr8, rgba8, bgra8, mono16, rgb16, bgr16, 8UC1, 8UC3, 8UC4, 16UC1, 16UC3,
    32FC1 and bayer_*8, whose colors are interpolated. Rows may be padded, and values may be big-endian.
    Raises Error.
    """
    encoding = str(message.encoding)
    kind, count, order = _ENCODINGS.get(encoding, ("u1", 1, ""))
    if encoding not in _ENCODINGS and encoding not in _BAYER:
        raise pf.Error(
            f"encoding {encoding!r} of an image is not supported; supported: "
            + ", ".join([*_ENCODINGS, *_BAYER]),
            "unsupported",
        )
    height, width, step = int(message.height), int(message.width), int(message.step)
    dtype = np.dtype(kind).newbyteorder(">" if message.is_bigendian else "<")
    row = width * count * dtype.itemsize
    data = np.frombuffer(message.data, np.uint8)
    if height < 1 or width < 1 or step < row or data.size < step * (height - 1) + row:
        raise pf.Error(
            f"an image of {width}x{height} px, {encoding}, needs rows of {row} bytes or more; the message "
            f"has a step of {step} and {data.size} bytes",
            "format",
        )
    shape = (height, width) if count == 1 else (height, width, count)
    strides = (step, count * dtype.itemsize, dtype.itemsize)[: len(shape)]
    pixels: NDArray[Any] = np.ndarray(shape, dtype, data, strides=strides)
    if not dtype.isnative or step % dtype.itemsize:
        pixels = pixels.astype(dtype.newbyteorder("="))
    if encoding in _BAYER:
        return Picture(_demosaiced(pixels, _BAYER[encoding]), "rgb")
    return Picture(pixels, "rgb" if order == "rgb" else "bgr" if order else None)


def _demosaiced(raw: NDArray[np.uint8], pattern: str) -> NDArray[np.uint8]:
    """Bilinear interpolation of a Bayer pattern: "rggb" has red at (0, 0) and blue at (1, 1)."""
    colors = np.empty((*raw.shape, 3), np.uint8)
    for channel, letter in enumerate("rgb"):
        known = np.zeros(raw.shape, np.float32)
        for place, name in enumerate(pattern):
            if name == letter:
                known[place // 2 :: 2, place % 2 :: 2] = 1
        mean = _around(known * raw) / np.maximum(_around(known), 1)
        colors[..., channel] = np.where(known > 0, raw, (mean + 0.5).astype(np.uint8))
    return colors


def _around(plane: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sum of each pixel's 3 x 3 neighbors, with weights 1 2 1 in both directions."""
    wide = np.pad(plane, 1)
    rows = wide[:-2] + 2 * wide[1:-1] + wide[2:]
    total: NDArray[np.float32] = rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:]
    return total
