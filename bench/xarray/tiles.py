#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what the seams of tiles cost: parafield.xarray.flow of images in chunks against whole images.

    bench/xarray/tiles.py [--size WxH] [--tile PX]

Rendered scenes with true flow. Seams are the 32 px around the edges of tiles. Prints a table: the largest
true motion; there the mean distance of the two flows in px, and the share of pixels where it is above 0.1 px;
the endpoint errors of both there.
"""

import argparse

import numpy as np
import xarray as xr

import parafield as pf
import parafield.xarray

CASES = [
    ("rotation", {}),
    ("flythrough", {}),
    ("layers", {}),
    ("layers", {"preset": "accurate"}),
    ("layers", {"method": "lucas-kanade"}),
    ("layers", {"method": "belief-propagation", "max_displacement": 8}),
    ("layers", {"method": "icm", "max_displacement": 8}),
    ("layers", {"method": "direct-interpolation"}),
    ("layers", {"method": "multi-hypothesis"}),
]


def near_seams(shape, tile, width=16):
    """Where an edge of a tile is within `width` px."""
    near = np.zeros(shape, bool)
    for axis, size in enumerate(shape):
        distance = np.abs(np.arange(size)[:, None] + 0.5 - np.arange(tile, size, tile)).min(axis=1)
        near |= np.expand_dims(distance < width, 1 - axis)
    return near


def measure(name, shape, tile, options):
    scene = pf.render_scene(name, shape, frames=2)
    truth = scene.flow[0]
    stack = xr.DataArray(np.stack(scene.frames), dims=("time", "y", "x"))
    whole = pf.xarray.flow(stack, **options)
    tiles = pf.xarray.flow(stack.chunk(time=1, y=tile, x=tile), **options)
    if tiles.u.chunks[2][0] != tile:
        raise SystemExit(f"tiles of {tile} px are merged to {tiles.u.chunks[2][0]}: take larger ones")
    tiles = tiles.compute()
    near = near_seams(shape, tile)

    def distance(a, b):
        return np.hypot(np.squeeze(a.u) - np.squeeze(b.u), np.squeeze(a.v) - np.squeeze(b.v))

    apart = np.asarray(distance(tiles, whole))[near]
    errors = [float(np.asarray(distance(flow, truth))[near].mean()) for flow in (whole, tiles)]
    method = " ".join(map(str, options.values())) or "adaptive-ridge"
    print(f"| {name} | {method} | {np.hypot(truth.u, truth.v).max():.0f} | {apart.mean():.5f} | "
          f"{100 * (apart > 0.1).mean():.3f} % | {errors[0]:.4f} | {errors[1]:.4f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", default="1536x1024")
    parser.add_argument("--tile", type=int, default=500)
    given = parser.parse_args()
    width, height = map(int, given.size.split("x"))
    print(f"parafield {pf.__version__}, {given.size}, tiles of {given.tile} px, on "
          f"{pf.devices()[-1].name}\n")
    print("| scene | method | largest motion | apart | above 0.1 px | error, whole | tiles |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name, options in CASES:
        measure(name, (height, width), given.tile, options)


if __name__ == "__main__":
    main()
