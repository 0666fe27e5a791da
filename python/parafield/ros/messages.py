# SPDX-License-Identifier: MIT
"""Results as messages. `make(name, **fields)` makes a message of a type such as "sensor_msgs/msg/Image"."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import parafield as pf

from .solvers import Disparities

Make = Callable[..., Any]
_BIG_ENDIAN = sys.byteorder == "big"


def image_message(make: Make, header: Any, pixels: NDArray[Any], encoding: str) -> Any:
    """A sensor_msgs/Image of an array H x W or H x W x channels."""
    pixels = np.ascontiguousarray(pixels)
    return make(
        "sensor_msgs/msg/Image",
        header=header,
        height=pixels.shape[0],
        width=pixels.shape[1],
        encoding=encoding,
        is_bigendian=int(_BIG_ENDIAN),
        step=pixels.strides[0],
        data=pixels.reshape(-1).view(np.uint8),
    )


def mask_message(make: Make, header: Any, mask: NDArray[np.bool_]) -> Any:
    """A mono8 image: 255 where the mask is true."""
    return image_message(make, header, mask.view(np.uint8) * np.uint8(255), "mono8")


def flow_message(make: Make, header: Any, flow: pf.FlowField, seconds: float | None = None) -> Any:
    """A 32FC2 image of u and v, px, or px/s if `seconds` between the frames are given.

    NaN where it is not valid.
    """
    pixels = np.array(flow, np.float32)
    if seconds is not None:
        if not seconds > 0:
            raise pf.Error(
                f"flow per second needs images with later stamps than the ones before; these are {seconds} s"
                " apart"
            )
        pixels /= np.float32(seconds)
    pixels[~flow.valid] = np.nan
    return image_message(make, header, pixels, "32FC2")


def disparity_message(make: Make, header: Any, result: Disparities) -> Any:
    """A stereo_msgs/DisparityImage, with Z = f t / d. Pixels that are not valid have min_disparity - 1.

    As in stereo_image_proc, disparities are those of equal principal points.
    """
    field, g, low = result.disparity, result.geometry, result.min_disparity
    d = np.where(field.valid, field.d + np.float32(g.doffs), np.float32(low + g.doffs - 1))
    height, width = d.shape
    window = make(
        "sensor_msgs/msg/RegionOfInterest",
        x_offset=0,
        y_offset=0,
        height=height,
        width=width,
        do_rectify=False,
    )
    return make(
        "stereo_msgs/msg/DisparityImage",
        header=header,
        image=image_message(make, header, d.astype(np.float32, copy=False), "32FC1"),
        f=float(g.focal),
        t=float(g.baseline),
        valid_window=window,
        min_disparity=float(low + g.doffs),
        max_disparity=float(low + result.disparities - 1 + g.doffs),
        delta_d=1 / 16,
    )


def depth_message(make: Make, header: Any, result: Disparities) -> Any:
    """A 32FC1 image of depths in meters, NaN where they are not valid (REP 118)."""
    return image_message(make, header, result.depth, "32FC1")


def points_message(
    make: Make, header: Any, result: Disparities, use_color: bool = True, padded: bool = True
) -> Any:
    """A sensor_msgs/PointCloud2 with a point for each pixel, meters, NaN where it is not valid.

    Fields are x, y, z and, with `use_color`, rgb. `padded` aligns them to 16 bytes, as in stereo_image_proc.
    """
    z, g = result.depth, result.geometry
    height, width = z.shape
    step, rgb = (8 if use_color else 4, 4) if padded else (4 if use_color else 3, 3)  # in floats
    cloud = np.zeros((height, width, step), np.float32)
    cloud[..., 0] = z * ((np.arange(width, dtype=np.float32) - np.float32(g.cx)) / np.float32(g.focal))
    cloud[..., 1] = (
        z * ((np.arange(height, dtype=np.float32) - np.float32(g.cy)) / np.float32(g.focal))[:, None]
    )
    cloud[..., 2] = z
    names = {"x": 0, "y": 1, "z": 2}
    if use_color:
        red, green, blue = np.moveaxis(result.colors.astype(np.uint32), 2, 0)
        cloud.view(np.uint32)[..., rgb] = red << 16 | green << 8 | blue
        names["rgb"] = rgb
    fields = [
        make("sensor_msgs/msg/PointField", name=name, offset=4 * at, datatype=7, count=1)
        for name, at in names.items()
    ]
    return make(
        "sensor_msgs/msg/PointCloud2",
        header=header,
        height=height,
        width=width,
        fields=fields,
        is_bigendian=_BIG_ENDIAN,
        point_step=4 * step,
        row_step=4 * step * width,
        data=cloud.reshape(-1).view(np.uint8),
        is_dense=False,
    )
