# SPDX-License-Identifier: MIT
"""Motion fields for nowcasts with pysteps.

`motion` has the interface of pysteps' motion methods: it takes a (T, m, n) array and returns a (2, m, n)
field of px per time step that is smooth and complete, even where there is no rain. After `register`,
`pysteps.motion.get_method("parafield")` returns it. Only `register` imports pysteps. """

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import parafield as pf

_SHRINKAGE = 50.0  # for adaptive-ridge: rain grows and decays, so a pixel is less reliable than its region
_CONFIDENCE = 1.0  # the confidence with half the full weight
_PRIOR = 0.005  # weight of the wider area's flow, at each level


def motion(
    input_images: ArrayLike,
    method: Any = "adaptive-ridge",
    preset: str | None = None,
    device: str | None = None,
    *,
    smoothing: float = 20.0,
    range: tuple[float, float] | None = None,
    **parameters: Any,
) -> NDArray[np.float64]:
    """The motion field of a sequence of radar images, px per time step: a (2, m, n) array, first x, then y.

    All pairs of consecutive images are pooled, as in pysteps' own Lucas-Kanade: give it the last two or
    three. The field is the mean of their flow, weighted by its confidence and by a gaussian of distance.
    Where no flow nearby is reliable, such as far from rain, it blends into the mean of a wider area. It is 0
    if no motion is found.

    input_images: (T, m, n), in decibels (dBR, dBZ) rather than rates, as for pysteps' methods. NaN, infinite
        and masked pixels have no weight.
    method, preset, device, **parameters: as in `parafield.estimate_flow`. The default method has a shrinkage
        of 50 unless a preset or a value is given, because rain changes while it moves.
    smoothing: sigma of the gaussian, px. 10 or less suits motion without change.
    range: (black, white). By default what `parafield.find_range` finds.

    Raises parafield.Error, which names the argument.
    """
    for name in ("covariance", "outlier", "cause"):
        if name in parameters:
            raise pf.Error(f"{name} cannot be given here: a motion field has no error bars; parafield.xarray.flow has")
    frames = _frames(input_images)
    if not isinstance(smoothing, (int, float, np.number)) or not 0 < smoothing < 1e4:
        raise pf.Error(f"smoothing cannot be {smoothing!r}; allowed: above 0, below 10000 px")
    if isinstance(method, str) and method == "adaptive-ridge" and preset is None:
        parameters.setdefault("shrinkage", _SHRINKAGE)
    taken = pf.FlowEstimator(method, preset, "cpu", **parameters).method.frames
    if len(frames) < taken:
        raise pf.Error(f"input_images cannot be {len(frames)} images; the method needs at least {taken}")
    if range is None:
        range = pf.find_range(frames, axes="nhw")
    field = pf.estimate_flow(
        frames, axes="nhw", method=method, preset=preset, device=device, range=range, **parameters
    )
    trust = np.where(field.valid, field.confidence / (field.confidence + np.float32(_CONFIDENCE)), 0)
    trust = trust.astype(np.float64)
    flow = np.stack([(trust * field.u).sum(0), (trust * field.v).sum(0)])
    return _spread(flow, trust.sum(0), smoothing)


def register(name: str = "parafield") -> None:
    """Adds `motion` to pysteps' motion methods, so that `pysteps.motion.get_method(name)` returns it."""
    interface: Any = importlib.import_module("pysteps.motion.interface")
    interface._methods[name.lower()] = motion


def _frames(images: ArrayLike) -> NDArray[np.float32]:
    """The images as frames: NaN where a pixel is masked or not finite."""
    values = images if isinstance(images, np.ma.MaskedArray) else np.asarray(images)
    if values.ndim != 3 or len(values) < 2 or 0 in values.shape:
        raise pf.Error(f"input_images cannot have the shape {values.shape}; allowed: (T, m, n), T at least 2")
    if values.dtype.kind not in "iuf":
        raise pf.Error(f"input_images cannot be of {values.dtype}; allowed: integers and floats")
    frames = np.ma.filled(values.astype(np.float32), np.nan)
    return np.where(np.isfinite(frames), frames, np.float32(np.nan))


def _spread(flow: NDArray[np.float64], weight: NDArray[np.float64], smoothing: float) -> NDArray[np.float64]:
    """Turns weighted flow and its weights into a smooth field of flow at every pixel."""
    shape = weight.shape
    cell = 1
    while 2 * cell <= smoothing / 2 and cell < min(shape):
        cell *= 2
    sums = _cells(np.concatenate([flow, weight[np.newaxis]]), cell)
    field = _levels(sums, smoothing / cell)
    return np.stack([_enlarged(plane, shape, cell) for plane in field])


def _levels(sums: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """The flow of cells, from coarse to fine: the mean around a cell, with the coarser flow as a prior."""
    coarser = np.zeros((2, *sums.shape[1:]))
    if max(sums.shape[1:]) > 1:
        coarser = _levels(_cells(sums, 2), sigma)
        coarser = np.stack([_enlarged(plane, sums.shape[1:], 2) for plane in coarser])
    elif sums[2].any():
        coarsest: NDArray[np.float64] = sums[:2] / sums[2]
        return coarsest
    around = np.stack([_blurred(_blurred(plane, sigma).T, sigma).T for plane in sums])
    mean: NDArray[np.float64] = (around[:2] + _PRIOR * coarser) / (around[2] + _PRIOR)
    return mean


def _cells(planes: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """Means over cells of side x side; pixels beyond the edge count as 0."""
    rows, columns = (-size % side for size in planes.shape[1:])
    planes = np.pad(planes, ((0, 0), (0, rows), (0, columns)))
    count, height, width = planes.shape
    means: NDArray[np.float64] = planes.reshape(count, height // side, side, width // side, side).mean((2, 4))
    return means


def _blurred(plane: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """A plane, blurred along its columns by a gaussian that ends at 3 sigma; beyond the edge are zeros."""
    radius = min(int(np.ceil(3 * sigma)), len(plane) - 1)
    taps = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    taps /= taps.sum()
    padded = np.pad(plane, ((radius, radius), (0, 0)))
    blurred = np.zeros_like(plane)
    for i, tap in enumerate(taps):
        blurred += tap * padded[i : i + len(plane)]
    return blurred


def _enlarged(plane: NDArray[np.float64], shape: tuple[int, ...], side: int) -> NDArray[np.float64]:
    """Cells as pixels, linear between the centers of cells."""
    for size in shape:  # rows first, then columns: each turn transposes
        place = np.clip((np.arange(size) + 0.5) / side - 0.5, 0, len(plane) - 1)
        below = place.astype(np.intp)
        share = (place - below)[:, np.newaxis]
        plane = (plane[below] * (1 - share) + plane[np.minimum(below + 1, len(plane) - 1)] * share).T
    return plane
