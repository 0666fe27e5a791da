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

PLANES = ("u", "v", "valid", "confidence")  # of a solved block, in this order; error bars follow
BARS = {  # planes by the option that asks for them
    "covariance": ("u_variance", "uv_covariance", "v_variance"),
    "outlier": ("outlier", "outlier3"),
    "cause": ("cause",),
}
TYPES = {"valid": bool, "cause": np.uint8}  # of planes that are not float32
GROUP = 16  # flows of a call: enough for several cores or streams, few copies of frames
MOST_IMAGES = 16  # that decide the range


@dataclass(frozen=True)
class Solver:
    """Solves the blocks of a stack: the method, its options, and how values become frames."""

    frames: int  # that the method takes
    range: tuple[float, float]
    fills: Missing | None  # values that stand for missing pixels
    arguments: Mapping[str, Any]  # of parafield.estimate_flow

    @property
    def planes(self) -> tuple[str, ...]:
        """The names of the planes of a solved block."""
        asked = (names for option, names in BARS.items() if self.arguments.get(option))
        return PLANES + tuple(name for names in asked for name in names)

    @property
    def before(self) -> int:
        """Number of frames that the method takes before the frame whose flow it returns."""
        return (self.frames - 1) // 2

    @property
    def after(self) -> int:
        """Number of frames that the method takes after the frame whose flow it returns."""
        return self.frames - 1 - self.before

    def __call__(self, block: np.ndarray) -> np.ndarray:
        """The planes of the flow of a block of frames, T x H x W: P x (T - frames + 1) x H x W, float32.

        Each flow depends only on its own frames. Therefore results do not depend on the chunks in time."""
        count = block.shape[0] - self.frames + 1
        planes = np.empty((len(self.planes), count, *block.shape[1:]), np.float32)
        for first in builtins.range(0, count, GROUP):
            last = min(first + GROUP, count)
            frames = as_frames(block[first : last + self.frames - 1], self.fills)
            field = pf.estimate_flow(frames, axes="nhw", range=self.range, **self.arguments)
            for plane, name in zip(planes, self.planes):
                covariances = BARS["covariance"]
                values = (
                    field.covariance[..., covariances.index(name)] if name in covariances else getattr(field, name)
                )
                plane[first:last] = values
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


def value_range(stack: xr.DataArray) -> tuple[float, float]:
    """The range of a stack's values, (black, white), by which `flow` scales images if none is given.

    It is what `parafield.find_range` finds in at most 16 images, evenly spread over the stack, or (0, 255)
    for uint8. Missing values (NaN, masked, infinite, fill values) are ignored. The last two dimensions are
    those of the images. Of a Dask array, only these images are read."""
    check_dtype(stack)
    if stack.dtype == np.uint8:
        return 0.0, 255.0
    fills = fill_values(stack)
    count = math.prod(stack.shape[:-2])
    places = sorted({index * count // MOST_IMAGES for index in builtins.range(MOST_IMAGES)})
    chosen = [stack.data[np.unravel_index(place, stack.shape[:-2])] for place in places]
    if stack.chunks is not None:
        dask: Any = importlib.import_module("dask")  # its functions have no types
        chosen = dask.compute(*chosen)
    images = [as_frames(image if isinstance(image, np.ma.MaskedArray) else np.asarray(image), fills)
              for image in chosen]
    black, white = pf.find_range(images, axes="hw")
    return black, white


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
