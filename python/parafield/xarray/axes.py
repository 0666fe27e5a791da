# SPDX-License-Identifier: MIT
"""Which dimensions of a stack are time, rows and columns, by the CF conventions or by name."""

from __future__ import annotations

import re
from collections.abc import Hashable

import numpy as np
import xarray as xr

import parafield as pf

_ROWS = {"y", "lat", "lats", "latitude", "latitudes", "rlat", "yc", "row", "rows", "j", "line", "lines"}
_ROWS |= {"south_north", "northing", "nav_lat", "ydim", "nlat", "ny"}
_COLUMNS = {"x", "lon", "lons", "long", "longitude", "longitudes", "rlon", "xc", "col", "cols", "column", "columns"}
_COLUMNS |= {"i", "pixel", "pixels", "west_east", "easting", "nav_lon", "xdim", "nlon", "nx", "width"}
_TIMES = {"t", "frame", "frames", "image", "images", "step", "steps", "record", "records", "scan", "scans"}
_STANDARD = {"latitude": "rows", "grid_latitude": "rows", "projection_y_coordinate": "rows"}
_STANDARD |= {"longitude": "columns", "grid_longitude": "columns", "projection_x_coordinate": "columns"}
_STANDARD |= {"time": "time"}
_AXES = {"X": "columns", "Y": "rows", "T": "time", "Z": "level"}


def kind_of(stack: xr.DataArray, dim: Hashable) -> str:
    """Kind of a dimension: "time", "rows", "columns", "level", or "" if it is unknown."""
    if dim in stack.coords:
        coordinate = stack[dim]
        units = str(coordinate.attrs.get("units", ""))
        if coordinate.dtype.kind == "M" or " since " in units:
            return "time"
        if kind := _STANDARD.get(str(coordinate.attrs.get("standard_name")), ""):
            return kind
        if units.startswith("degree") and units.endswith(("north", "N")):
            return "rows"
        if units.startswith("degree") and units.endswith(("east", "E")):
            return "columns"
        if kind := _AXES.get(str(coordinate.attrs.get("axis")), ""):
            return kind
    name = str(dim).lower().rstrip("0123456789_-")
    if name in _ROWS:
        return "rows"
    if name in _COLUMNS:
        return "columns"
    return "time" if name in _TIMES or "time" in name or "date" in name else ""


def time_of(stack: xr.DataArray) -> Hashable:
    """The dimension of time of a stack. Raises Error unless there is one."""
    if "time" in stack.dims:
        return "time"
    found = [dim for dim in stack.dims if kind_of(stack, dim) == "time"]
    if len(found) != 1:
        named = ", ".join(map(str, stack.dims))
        raise pf.Error(f"dim is needed: which of the stack's dimensions is time? They are {named}")
    return found[0]


def _are_sortable(values: np.ndarray) -> bool:
    """Whether values that may be text, as 2024-05-01T12:00, rise with time."""
    if not isinstance(values[0], str):
        return True
    layouts = {re.sub(r"\d", "0", str(value)) for value in values}
    return len(layouts) == 1 and layouts.pop().startswith("0000")


def check_rising(stack: xr.DataArray, dim: Hashable) -> None:
    """Raises Error unless the coordinates of the dimension of time rise."""
    if dim not in stack.coords or stack.sizes[dim] < 2:
        return
    values = stack[dim].values
    if values.dtype.kind not in "iufmMOU" or not _are_sortable(values):
        return
    try:
        falls = ~np.asarray(values[1:] > values[:-1], bool)
    except TypeError:
        return
    if falls.any():
        first = int(np.argmax(falls))
        raise pf.Error(
            f"stack: its coordinate {dim} must rise; {values[first]} is followed by {values[first + 1]}. "
            f"stack.sortby({dim!r}) sorts it"
        )
