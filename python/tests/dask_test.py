# SPDX-License-Identifier: MIT
"""Lazy flow of Dask arrays: the bits of the eager one, tiles of large images, processes of a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parafield as pf

xr = pytest.importorskip("xarray")
da = pytest.importorskip("dask.array")

from parafield.xarray import flow, value_range  # noqa: E402


def images(scene: str = "rotation", shape: tuple[int, int] = (72, 96), count: int = 7) -> xr.DataArray:
    rendered = pf.render_scene(scene, shape=shape, frames=count).frames
    times = np.datetime64("2024-06-01", "ns") + np.arange(count) * np.timedelta64(300, "s")
    return xr.DataArray(np.stack(rendered), dims=("time", "y", "x"), coords={"time": times})


@pytest.mark.parametrize("chunks", [1, 2, 4, -1, (1, 5, 1), (6, 1), (1, 6)])
@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"frames": 3},
        {"preset": "sequence"},
        {"covariance": True, "outlier": True, "cause": True},
        {"method": "gradient-tensor"},
        {"method": "ridge-regression"},
    ],
)
def test_chunks_in_time_change_no_bit(chunks: Any, chosen: dict[str, Any]) -> None:
    stack = images()
    expected = flow(stack, **chosen)
    lazy = flow(stack.chunk(time=chunks), **chosen)
    assert all(lazy[name].chunks is not None for name in ("u", "v", "valid", "confidence"))
    assert 0 not in lazy.u.chunks[0] and lazy.u.sizes == expected.u.sizes
    assert lazy.compute().identical(expected)


def test_chunks_of_outputs_are_those_of_the_images() -> None:
    assert flow(images().chunk(time=1)).u.chunks[0] == (1, 1, 1, 1, 1, 1)
    assert flow(images().chunk(time=3)).u.chunks[0] == (3, 3)
    assert flow(images().chunk(time=(3, 4)), frames=3).u.chunks[0] == (2, 3)


def test_nothing_is_read_before_it_is_asked_for() -> None:
    def explode(block: np.ndarray) -> np.ndarray:
        raise RuntimeError("read")

    stack = images().chunk(time=2)
    stack.data = stack.data.map_blocks(explode, dtype=np.uint8, meta=np.empty((0, 0, 0), np.uint8))
    estimated = flow(stack)
    with pytest.raises(RuntimeError, match="read"):
        estimated.compute()


def test_only_what_is_asked_for_is_read() -> None:
    read = []

    def note(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        read.append(block_info[0]["chunk-location"][0])
        return block

    stack = images().chunk(time=1)
    stack.data = stack.data.map_blocks(note, dtype=np.uint8, meta=np.empty((0, 0, 0), np.uint8))
    flow(stack).u[2].compute(scheduler="synchronous")
    assert sorted(read) == [2, 3]


def test_range_is_asked_for() -> None:
    stack = images().astype(np.float64) * 0.5 - 20
    lazy = stack.chunk(time=2, y=30)
    with pytest.raises(pf.Error, match="range is needed for a Dask array of float64"):
        flow(lazy)
    assert value_range(lazy) == value_range(stack)
    given = flow(stack.chunk(time=2), range=value_range(lazy))
    assert given.compute().identical(flow(stack))


def test_masked_blocks() -> None:
    stack = images().astype(np.float32)
    missing = stack.copy()
    missing[:, 20:30, 30:40] = np.nan
    masked = stack.chunk(time=2)
    masked.data = da.ma.masked_array(masked.data, np.isnan(missing.values))
    estimated = flow(masked, range=(0, 255)).compute()
    np.testing.assert_array_equal(estimated.u, flow(missing, range=(0, 255)).u)
    assert not estimated.valid[:, 20:30, 30:40].any()


def test_speeds_are_lazy() -> None:
    stack = images().assign_coords(
        y=("y", 500.0 * np.arange(72), {"units": "m"}), x=("x", 500.0 * np.arange(96), {"units": "m"})
    )
    lazy = flow(stack.chunk(time=3))
    assert lazy.x_velocity.chunks == lazy.u.chunks
    assert lazy.compute().identical(flow(stack))


def test_tiles_agree_with_the_whole_image() -> None:
    stack = images("layers", (640, 900), 3)
    whole = flow(stack)
    for chunks, limit in [({"y": 320, "x": 450}, 0.002), ({"y": 300, "x": 401}, 0.002)]:
        tiled = flow(stack.chunk(time=1, **chunks), max_motion=16)
        assert len(tiled.u.chunks[1]) > 1 and len(tiled.u.chunks[2]) > 1
        tiled = tiled.compute()
        difference = np.hypot(tiled.u - whole.u, tiled.v - whole.v)
        assert difference.mean() < limit
        assert (tiled.valid != whole.valid).mean() < 1e-3


def test_tiles_of_a_local_method_have_the_bits_of_the_whole_image() -> None:
    stack = images("layers", (320, 480), 2)
    chosen = {"method": "winner-takes-all", "max_displacement": 4}
    whole = flow(stack, **chosen)
    tiled = flow(stack.chunk(time=1, y=100, x=200), max_motion=8, **chosen)
    assert tiled.u.chunks[1:] == ((200, 120), (200, 280))
    assert tiled.compute().identical(whole)


def test_flow_beyond_the_largest_motion_is_not_valid_in_tiles() -> None:
    stack = images("rotation", (320, 480), 2)
    whole = flow(stack)
    length = np.hypot(whole.u, whole.v)
    tiled = flow(stack.chunk(time=1, y=160, x=240), max_motion=3).compute()
    assert length.max() > 3.1
    assert not tiled.valid.values[length.values > 3.1].any()
    assert tiled.valid.values[(length.values < 2.9) & whole.valid.values].mean() > 0.99


def test_narrow_chunks_are_merged() -> None:
    stack = images("translation", (320, 480), 2).chunk(time=1, y=20, x=20)
    assert min(flow(stack, max_motion=8).u.chunks[1]) >= 64
    assert flow(stack, max_motion=100).u.chunks[1:] == ((320,), (480,))
    assert flow(stack, max_motion=100).compute().identical(flow(stack.compute()))


def test_chunks_of_unknown_size_are_an_error() -> None:
    stack = images().chunk(time=1)
    data = stack.data[da.from_array(np.ones(7, bool), chunks=1)]
    with pytest.raises(pf.Error, match="time cannot have the size nan"):
        flow(xr.DataArray(data, dims=("time", "y", "x")))


def test_processes_of_a_cluster() -> None:
    distributed = pytest.importorskip("distributed")
    stack = images()
    expected = flow(stack)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
    )
    with cluster, distributed.Client(cluster) as client:
        lazy = flow(stack.chunk(time=1)).persist()
        distributed.wait(lazy)
        places = {worker for workers in client.who_has(lazy).values() for worker in workers}
        assert len(places) == 2
        assert lazy.compute().identical(expected)
