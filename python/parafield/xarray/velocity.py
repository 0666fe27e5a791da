# SPDX-License-Identifier: MIT
"""Velocities in m/s, from coordinates in meters or degrees and from times."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

import parafield as pf

EARTH_RADIUS = 6371008.8  # m, the mean radius of the Earth
_LENGTHS = {"m": 1.0, "metre": 1.0, "meter": 1.0, "km": 1e3, "kilometre": 1e3, "kilometer": 1e3}
_TIMES = {"ms": 1e-3, "millisecond": 1e-3, "s": 1.0, "sec": 1.0, "second": 1.0, "min": 60.0, "minute": 60.0}
_TIMES |= {"h": 3600.0, "hr": 3600.0, "hour": 3600.0, "d": 86400.0, "day": 86400.0}
_DEGREES = {"degree", "degrees"}
_NORTH = {"degree_north", "degrees_north", "degree_N", "degrees_N", "degreeN", "degreesN"}
_EAST = {"degree_east", "degrees_east", "degree_E", "degrees_E", "degreeE", "degreesE"}


@dataclass(frozen=True)
class Grid:
    """Distances between the pixels of a regular grid."""

    x: NDArray[np.float64]  # m from a pixel to the next to the right, signed; one value a row
    y: float  # m from a pixel to the next below, signed
    earthly: bool  # the axes are longitude and latitude: x is eastward, y northward


def _unit(coordinate: xr.DataArray, units: dict[str, float]) -> float | None:
    """The factor of a coordinate's units in a table, also for plural forms."""
    words = str(coordinate.attrs.get("units", "")).split()
    if not words or (len(words) > 1 and words[1] != "since"):
        return None
    word = words[0]
    return units.get(word, units.get(word.lower().removesuffix("s")) if len(word) > 3 else None)


def _angle(coordinate: xr.DataArray, one_way: set[str], names: tuple[str, str]) -> bool:
    """Whether a coordinate holds degrees of longitude or latitude."""
    units = coordinate.attrs.get("units")
    named = coordinate.attrs.get("standard_name") in names or str(coordinate.name).lower() in (*names, names[0][:3])
    return units in one_way or (named and (units is None or units in _DEGREES))


def _spacing(coordinate: xr.DataArray) -> float:
    """The step of a coordinate, in its units. Raises Error if it is not regular."""
    values = coordinate.values.astype(np.float64)
    step = (values[-1] - values[0]) / (len(values) - 1)
    error = np.abs(values - (values[0] + step * np.arange(len(values)))).max()
    single = coordinate.dtype.kind == "f" and coordinate.dtype.itemsize < 8
    rounding = 4 * np.finfo(np.float32 if single else np.float64).eps * np.abs(values).max()
    if not error <= 0.01 * abs(step) + rounding or step == 0:
        steps = np.diff(values)
        raise pf.Error(
            f"stack: its coordinate {coordinate.name} must be regular for speeds; its steps are "
            f"{steps.min():g} to {steps.max():g} {coordinate.attrs['units']}. "
            "speeds=False gives only flow in px"
        )
    return float(step)


def _axis(stack: xr.DataArray, dim: Hashable) -> xr.DataArray | None:
    """The coordinate of a dimension of the image, if it has one with a step."""
    if dim not in stack.coords or stack.sizes[dim] < 2 or stack[dim].dtype.kind not in "iuf":
        return None
    return stack[dim]


def grid_of(stack: xr.DataArray, y: Hashable, x: Hashable) -> Grid | None:
    """The grid of a stack whose coordinates are lengths or degrees; None for others."""
    ys, xs = _axis(stack, y), _axis(stack, x)
    if ys is None or xs is None:
        return None
    y_unit, x_unit = _unit(ys, _LENGTHS), _unit(xs, _LENGTHS)
    if y_unit is not None and x_unit is not None:
        return Grid(np.full(ys.size, _spacing(xs) * x_unit), _spacing(ys) * y_unit, earthly=False)
    latitudes = _angle(ys, _NORTH, ("latitude", "grid_latitude"))
    if latitudes and _angle(xs, _EAST, ("longitude", "grid_longitude")):
        if not np.abs(ys.values).max() <= 90 + 1e-4:
            raise pf.Error(f"stack: its coordinate {y} must be latitudes, -90 to 90 degrees")
        meters = np.radians(1.0) * EARTH_RADIUS
        across = np.cos(np.radians(ys.values.astype(np.float64))).clip(0)
        rotated = "grid_latitude" in (ys.attrs.get("standard_name"), xs.attrs.get("standard_name"))
        return Grid(across * _spacing(xs) * meters, _spacing(ys) * meters, earthly=not rotated)
    return None


def seconds_of(stack: xr.DataArray, dim: Hashable) -> NDArray[np.float64] | None:
    """The seconds from each frame to the next; None if there are no times."""
    if dim not in stack.coords or stack.sizes[dim] < 2:
        return None
    times = stack[dim]
    values = times.values
    if values.dtype.kind in "mM":
        steps = np.diff(values) / np.timedelta64(1, "s")
    elif values.dtype.kind == "O":  # cftime
        try:
            steps = np.array([step.total_seconds() for step in np.diff(values)])
        except (TypeError, AttributeError):
            return None
    else:
        unit = _unit(times, _TIMES) if values.dtype.kind in "iuf" else None
        if unit is None:
            return None
        steps = np.diff(values.astype(np.float64)) * unit
    return steps


def check_steady(seconds: NDArray[np.float64], frames: int, dim: Hashable) -> None:
    """Raises Error for irregular times if the method assumes the same motion over all its frames."""
    if frames > 2 and seconds.max() > 1.01 * seconds.min():
        raise pf.Error(
            f"stack: its coordinate {dim} must be regular for a method of {frames} frames; steps are "
            f"{seconds.min():g} to {seconds.max():g} s. speeds=False gives only flow in px"
        )
