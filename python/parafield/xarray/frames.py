# SPDX-License-Identifier: MIT
"""From the values of a stack to frames, and from frames to flow."""

from __future__ import annotations

import builtins
import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

import parafield as pf

from .missing import Missing, fill_values

PLANES = ("u", "v", "valid", "confidence")  # of a solved block, in this order
GROUP = 16  # flows of a call: enough for several cores or streams, few copies of frames


@dataclass(frozen=True)
class Solver:
    """Solves the blocks of a stack: the method, its options, and how values become frames."""

    frames: int  # that the method takes
    range: tuple[float, float]
    fills: Missing | None  # values that stand for missing pixels
    arguments: Mapping[str, Any]  # of parafield.estimate_flow

    @property
    def before(self) -> int:
        """Number of frames that the method takes before the frame whose flow it returns."""
        return (self.frames - 1) // 2

    @property
    def after(self) -> int:
        """Number of frames that the method takes after the frame whose flow it returns."""
        return self.frames - 1 - self.before

    def __call__(self, block: np.ndarray) -> np.ndarray:
        """The planes of the flow of a block of frames, T x H x W: 4 x (T - frames + 1) x H x W, float32.

        Each flow depends only on its own frames. Therefore results do not depend on the chunks in time."""
        count = block.shape[0] - self.frames + 1
        planes = np.empty((len(PLANES), count, *block.shape[1:]), np.float32)
        for first in builtins.range(0, count, GROUP):
            last = min(first + GROUP, count)
            frames = as_frames(block[first : last + self.frames - 1], self.fills)
            field = pf.estimate_flow(frames, axes="nhw", range=self.range, **self.arguments)
            for plane, name in zip(planes, PLANES):
                plane[first:last] = getattr(field, name)
        return planes


def as_frames(images: np.ndarray, fills: Missing | None) -> np.ndarray:
    """Images as frames that the library reads: as they are, or float32 with NaN where a pixel is missing."""
    mask = np.ma.getmaskarray(images) if isinstance(images, np.ma.MaskedArray) else None
    images = np.ma.getdata(images)
    if not fills and mask is None and images.dtype in (np.uint8, np.uint16, np.float32):
        return images.astype(images.dtype.newbyteorder("="), copy=False)
    frames = (fills or Missing()).frames(images)
    if mask is not None:
        frames[mask] = np.nan
    return frames


def extremes(block: np.ndarray, fills: Missing | None) -> tuple[float, float]:
    """The smallest and the largest value of a block, without missing and infinite ones."""
    black, white = math.inf, -math.inf
    for image in block:
        values = as_frames(image, fills)
        values = values[np.isfinite(values)]
        if values.size:
            black, white = min(black, float(values.min())), max(white, float(values.max()))
    return black, white


def value_range(stack: xr.DataArray) -> tuple[float, float]:
    """The range of a stack's values, (black, white), by which `flow` scales images if none is given.

    It is (0, 255) for uint8, otherwise the smallest and the largest value of the whole stack. Missing values
    (NaN, masked, infinite, fill values) are ignored. A Dask array is read once, block by block."""
    check_dtype(stack)
    if stack.dtype == np.uint8:
        return 0.0, 255.0
    fills = fill_values(stack)
    if stack.chunks is None:
        found = [extremes(as_3d(stack.data), fills)]
    else:
        dask: Any = importlib.import_module("dask")  # its functions have no types
        blocks = stack.data.to_delayed().ravel()
        found = dask.compute(*[dask.delayed(extremes)(dask.delayed(as_3d)(block), fills) for block in blocks])
    black, white = min(low for low, _ in found), max(high for _, high in found)
    if black > white:
        return 0.0, 1.0  # no pixel has a value
    return black, white if white > black else black + 1


def as_3d(values: Any) -> np.ndarray:
    """An array as a stack of images."""
    array: np.ndarray = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    return array.reshape((-1, *array.shape[-2:])) if array.ndim > 1 else array.reshape((1, 1, -1))


def check_dtype(stack: xr.DataArray) -> None:
    """Raises Error unless the stack is a DataArray of numbers."""
    if not isinstance(stack, xr.DataArray):
        raise pf.Error(f"stack cannot be a {type(stack).__name__}; allowed: an xarray.DataArray")
    if stack.dtype.kind not in "iuf":
        raise pf.Error(f"stack: its type cannot be {stack.dtype}; allowed: integers and floats")


def check_range(given: Any) -> tuple[float, float]:
    """Converts the argument `range` to two floats."""
    try:
        black, white = (float(value) for value in given)
    except (TypeError, ValueError):
        raise pf.Error(f"range cannot be {given!r}; allowed: two numbers, (black, white)") from None
    if not (math.isfinite(black) and math.isfinite(white) and black < white):
        raise pf.Error(f"range cannot be {given!r}; allowed: (black, white), finite, black < white")
    return black, white
