# SPDX-License-Identifier: MIT
"""Flow of a stack of images as a Dataset."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr

import parafield as pf

from . import velocity
from .axes import check_rising, kind_of, time_of
from .frames import BARS, PLANES, TYPES, Solver, check_dtype, check_range, value_range
from .missing import fill_values

_ATTRIBUTES: dict[str, dict[str, Any]] = {
    "u": {"units": "px", "long_name": "motion to the next frame, to the right"},
    "v": {"units": "px", "long_name": "motion to the next frame, down"},
    "valid": {"long_name": "whether the motion is reliable"},
    "confidence": {"long_name": "confidence of the motion, larger where it is more certain"},
    "u_variance": {"units": "px2", "long_name": "variance of the error of u"},
    "uv_covariance": {"units": "px2", "long_name": "covariance of the errors of u and v"},
    "v_variance": {"units": "px2", "long_name": "variance of the error of v"},
    "outlier": {"units": "1", "long_name": "probability that the error of the motion is above 1 px"},
    "outlier3": {"units": "1", "long_name": "probability that the error of the motion is above 3 px"},
    "cause": {
        "long_name": "main reason why the error may be large",
        "flag_values": np.arange(6, dtype=np.uint8),
        "flag_meanings": "fine texture boundary inconsistent hidden left_frame",
    },
}
_VELOCITIES = ("eastward_velocity", "northward_velocity", "x_velocity", "y_velocity")
_RESULTS = {*PLANES, *(name for names in BARS.values() for name in names), *_VELOCITIES}
_RESULTS |= {f"{name}_sigma" for name in _VELOCITIES}
# Attributes of the images' values, which the flow does not inherit.
_OF_VALUES = {"units", "standard_name", "long_name", "_FillValue", "missing_value", "scale_factor"}
_OF_VALUES |= {"add_offset", "valid_min", "valid_max", "valid_range", "actual_range", "flag_values"}
_OF_VALUES |= {"flag_meanings", "flag_masks", "cell_methods", "ancillary_variables", "coordinates"}
_OF_VALUES |= {"grid_mapping"}


def flow(
    stack: xr.DataArray,
    dim: Hashable | None = None,
    method: Any = "adaptive-ridge",
    preset: str | None = None,
    device: str | None = None,
    *,
    core_dims: Sequence[Hashable] | None = None,
    range: tuple[float, float] | None = None,
    max_motion: int = 32,
    speeds: bool | None = None,
    threads: int | None = None,
    **parameters: Any,
) -> xr.Dataset:
    """The flow between the images of a stack, as a Dataset; lazy if the stack holds a Dask array.

    The Dataset has the dimensions (dim, y, x) and the variables `u` and `v` (px to the next frame, toward
    larger indices: right and down), `valid` and `confidence`. N images give N - 1 flows, or fewer with
    methods that take more frames, which give the flow of the middle frames. The time of a flow is the time
    of its first frame; the coordinate `<dim>_next` is the time of its second frame. All other coordinates
    are kept.

    If the stack has times, and regular coordinates in m, km or degrees, there are also velocities in m/s:
    `eastward_velocity` and `northward_velocity` on longitudes and latitudes, otherwise `x_velocity` and
    `y_velocity`. They are positive toward larger coordinates, in whichever direction an axis runs.

    stack: three dimensions; any integers or floats. NaN, masked pixels, fill values and values beyond
        valid_min, valid_max and valid_range have no weight. Its times must rise.
    dim: the dimension of time; by default `time`, or the one that the CF conventions or its name identify.
    core_dims: (y, x); by default the other two, identified in the same way or else in the stack's order.
    method, preset, device, threads, **parameters: as in `parafield.estimate_flow`. For Dask arrays, each call
        uses one thread by default, because Dask runs several calls at once.
    range: (black, white), the same for all images. By default 0 to 255 for uint8, otherwise what
        `value_range` finds. Dask arrays that are not uint8 need it, because `value_range` reads images.
    covariance, outlier, cause: True adds error bars, which methods without them refuse: `u_variance`,
        `uv_covariance` and `v_variance` (px2), and the standard deviations of velocities (m/s), for example
        `x_velocity_sigma`; `outlier` and `outlier3`, probabilities of errors above 1 and 3 px; `cause`, a
        `parafield.ErrorCause`.
    max_motion: the largest motion, px. It only matters if images consist of several chunks: their tiles
        overlap by 32 px more, chunks narrower than 8 times this are merged, and longer flow is invalid.
    speeds: False leaves out velocities; True makes it an error if the coordinates for them are missing.

    Raises parafield.Error, which names the argument.
    """
    check_dtype(stack)
    images, (dim, y, x) = _ordered(stack, dim, core_dims)
    if isinstance(max_motion, bool) or not isinstance(max_motion, (int, np.integer)) or max_motion < 1:
        raise pf.Error(f"max_motion cannot be {max_motion!r}; allowed: whole numbers from 1, px")
    is_lazy = images.chunks is not None
    if threads is None and is_lazy and device in (None, "auto", "cpu"):
        threads = 1
    frames = _frames_of(method, preset, parameters)
    if images.sizes[dim] < frames:
        raise pf.Error(
            f"stack: its dimension {dim} cannot have the size {images.sizes[dim]}; the method needs at least "
            f"{frames} images"
        )
    if range is None and is_lazy and images.dtype != np.uint8:
        raise pf.Error(
            f"range is needed for a Dask array of {images.dtype}, because finding it reads images: "
            "(black, white), or parafield.xarray.value_range(stack), which reads 16 of them now"
        )
    solver = Solver(
        frames=frames,
        range=check_range(range) if range is not None else value_range(images),
        fills=fill_values(images),
        arguments={"method": method, "preset": preset, "device": device, "threads": threads, **parameters},
    )
    factors = _factors(images, (dim, y, x), solver, speeds)
    if is_lazy:
        from . import tiles

        planes = tiles.solve(images.data, solver, int(max_motion))
    else:
        planes = {name: plane.astype(TYPES.get(name, np.float32), copy=False)
                  for name, plane in zip(solver.planes, solver(images.values))}
    return _dataset(images, (dim, y, x), solver, planes, factors)


def _ordered(
    stack: xr.DataArray, dim: Hashable | None, core_dims: Sequence[Hashable] | None
) -> tuple[xr.DataArray, tuple[Hashable, Hashable, Hashable]]:
    """The stack with its dimensions as (time, y, x), and their names."""
    dims = stack.dims
    named = ", ".join(map(str, dims)) or "none"
    if len(dims) != 3:
        raise pf.Error(
            f"stack cannot have {len(dims)} dimensions ({named}); allowed: 3, time and those of the images"
            + ". stack.isel(NAME=0) takes one of several bands or levels" * (len(dims) > 3)
        )
    if dim is None:
        dim = time_of(stack)
    if dim not in dims:
        raise pf.Error(f"dim cannot be {dim!r}; allowed: a dimension of the stack, which has {named}")
    others = [name for name in dims if name != dim]
    if core_dims is not None:
        if isinstance(core_dims, str) or sorted(map(str, core_dims)) != sorted(map(str, others)):
            raise pf.Error(
                f"core_dims cannot be {core_dims!r}; allowed: the stack's other dimensions as (y, x), "
                f"{others[0]!r} and {others[1]!r} in either order"
            )
        others = list(core_dims)
    elif kind_of(stack, others[0]) == "columns" or kind_of(stack, others[1]) == "rows":
        others.reverse()  # longitude, latitude
    check_rising(stack, dim)
    order = (dim, others[0], others[1])
    for name in order:
        if not stack.sizes[name] > 0:  # also a Dask array of unknown size
            raise pf.Error(f"stack: its dimension {name} cannot have the size {stack.sizes[name]}")
    taken = {*_RESULTS, f"{dim}_next"} & {*map(str, stack.coords), *map(str, dims)}
    if taken:
        raise pf.Error(f"stack: a coordinate cannot be called {sorted(taken)[0]}, as a result is; rename it")
    return stack.transpose(*order), order


def _frames_of(method: Any, preset: str | None, parameters: dict[str, Any]) -> int:
    """The number of frames that the method takes. Raises the errors that every block would raise."""
    for name in ("start", "tracks", "rotation", "axes"):
        if name in parameters:
            raise pf.Error(f"{name} cannot be given for a stack; parafield.estimate_flow takes it for a pair")
    frames: int = pf.FlowEstimator(method, preset, "cpu", **parameters).method.frames
    return frames


def _factors(
    images: xr.DataArray, order: tuple[Hashable, Hashable, Hashable], solver: Solver, speeds: bool | None
) -> dict[str, np.ndarray]:
    """Factors that turn u and v into velocities, m/s; they broadcast to T x H x W. Empty without speeds."""
    if speeds is False:
        return {}
    dim, y, x = order
    grid = velocity.grid_of(images, y, x)
    seconds = velocity.seconds_of(images, dim) if grid is not None or speeds else None
    if grid is None or seconds is None:
        if speeds:
            lacking = f"{y} and {x} in m, km or degrees" if grid is None else f"{dim} of times"
            raise pf.Error(f"speeds cannot be True: the stack has no coordinates {lacking}")
        return {}
    velocity.check_steady(seconds, solver.frames, dim)
    seconds = seconds[solver.before : len(seconds) + 1 - solver.after, np.newaxis, np.newaxis]
    names = _VELOCITIES[:2] if grid.earthly else _VELOCITIES[2:]
    across, down = grid.x[np.newaxis, :, np.newaxis] / seconds, grid.y / seconds
    return dict(zip(names, (across.astype(np.float32), down.astype(np.float32))))


def _dataset(
    images: xr.DataArray,
    order: tuple[Hashable, Hashable, Hashable],
    solver: Solver,
    planes: dict[str, Any],
    factors: dict[str, np.ndarray],
) -> xr.Dataset:
    """The planes with coordinates and attributes."""
    dim, y, x = order
    count = images.sizes[dim]
    frame = images.isel({dim: slice(solver.before, count - solver.after)})
    variables = {name: xr.Variable(order, plane, dict(_ATTRIBUTES[name])) for name, plane in planes.items()}
    for (name, factor), plane, axis in zip(factors.items(), ("u", "v"), (x, y)):
        attributes = {"units": "m s-1", "long_name": f"velocity of the motion along {axis}"}
        variables[name] = xr.Variable(order, planes[plane] * factor, attributes)
        variance = planes.get(f"{plane}_variance")
        if variance is not None:
            attributes = {"units": "m s-1", "long_name": f"standard deviation of the error of {name}"}
            sigma = variance**np.float32(0.5) * abs(factor)
            variables[f"{name}_sigma"] = xr.Variable(order, sigma, attributes)
    for variable in variables.values():
        for store, source in ((variable.attrs, images.attrs), (variable.encoding, images.encoding)):
            if "grid_mapping" in source:
                store["grid_mapping"] = source["grid_mapping"]
    attributes = {name: value for name, value in images.attrs.items() if name not in _OF_VALUES}
    result = xr.Dataset(variables, frame.coords, attributes)
    if dim in images.coords:
        following = images[dim].variable.isel({dim: slice(solver.before + 1, count - solver.after + 1)})
        following = xr.Variable(following.dims, following.values, following.attrs, following.encoding)
        for name in ("axis", "bounds"):
            following.attrs.pop(name, None)
        following.attrs["long_name"] = f"{dim} of the frame that the motion leads to"
        result = result.assign_coords({f"{dim}_next": following})
    return result
