# SPDX-License-Identifier: MIT
"""Flow of xarray's stacks: values, coordinates, speeds, and errors that name the argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parafield as pf

xr = pytest.importorskip("xarray")

from parafield.xarray import flow, value_range  # noqa: E402

HEIGHT, WIDTH = 72, 96


def frames(count: int = 6) -> np.ndarray:
    return np.stack(pf.render_scene("rotation", shape=(HEIGHT, WIDTH), frames=count).frames)


def stack(count: int = 6, values: Any = None, **coordinates: Any) -> xr.DataArray:
    """Images every 5 minutes, with coordinates in km; y falls, as in most maps."""
    known = {
        "time": np.datetime64("2024-06-01", "ns") + np.arange(count) * np.timedelta64(300, "s"),
        "y": ("y", 2.0 * np.arange(HEIGHT)[::-1], {"units": "km"}),
        "x": ("x", 2.0 * np.arange(WIDTH), {"units": "km"}),
    }
    values = frames(count) if values is None else values
    return xr.DataArray(values, dims=("time", "y", "x"), coords=known | coordinates, name="radiance")


def same(estimated: xr.Dataset, i: int, field: Any) -> None:
    for name in ("u", "v", "valid", "confidence"):
        np.testing.assert_array_equal(estimated[name][i], np.asarray(getattr(field, name)), name)


def test_flow_is_that_of_the_pairs() -> None:
    images = stack()
    estimated = flow(images)
    assert dict(estimated.sizes) == {"time": 5, "y": HEIGHT, "x": WIDTH}
    assert [estimated[name].dtype for name in ("u", "v", "valid", "confidence")] == ["f4", "f4", "?", "f4"]
    for i in range(5):
        same(estimated, i, pf.estimate_flow(images.values[i], images.values[i + 1]))


def test_method_preset_and_parameters_reach_the_library() -> None:
    images = stack(2)
    a, b = images.values
    same(flow(images, method="lucas-kanade"), 0, pf.estimate_flow(a, b, "lucas-kanade"))
    same(flow(images, preset="fast", fill=True), 0, pf.estimate_flow(a, b, preset="fast", fill=True))


@pytest.mark.parametrize("chosen, count", [({"frames": 3}, 3), ({"preset": "sequence"}, 5)])
def test_methods_of_more_frames_give_the_middle_ones(chosen: dict[str, Any], count: int) -> None:
    images = stack()
    estimated = flow(images, **chosen)
    assert estimated.sizes["time"] == 6 - count + 1
    middle = count // 2
    np.testing.assert_array_equal(estimated.time, images.time[middle : middle + 6 - count + 1])
    np.testing.assert_array_equal(estimated.time_next, images.time[middle + 1 : middle + 7 - count + 1])
    same(estimated, 1, pf.estimate_flow(list(images.values[1 : 1 + count]), **chosen))


def test_coordinates_and_attributes_are_kept() -> None:
    latitude = np.add.outer(np.linspace(50, 40, HEIGHT), np.linspace(0, 1, WIDTH))
    images = stack(3, orbit=("time", [7, 8, 9]), latitude=(("y", "x"), latitude), band=10.4, crs=0)
    images.attrs = {"units": "K", "long_name": "temperature", "platform": "GOES-16", "grid_mapping": "crs"}
    estimated = flow(images)
    assert estimated.attrs == {"platform": "GOES-16"}
    for name in ("y", "x", "latitude", "band", "crs"):
        np.testing.assert_array_equal(estimated[name], images[name])
        assert estimated[name].dims == images[name].dims and estimated[name].attrs == images[name].attrs
    np.testing.assert_array_equal(estimated.orbit, [7, 8])
    np.testing.assert_array_equal(estimated.time, images.time[:2])
    np.testing.assert_array_equal(estimated.time_next, images.time[1:])
    assert estimated.u.attrs["units"] == "px" and estimated.u.attrs["grid_mapping"] == "crs"


def test_dimensions_may_have_any_names_and_order() -> None:
    images = stack(3).drop_vars(["time", "y", "x"])
    expected = flow(images)
    renamed = images.rename(time="step", y="row", x="column")
    estimated = flow(renamed, "step")
    assert estimated.u.dims == ("step", "row", "column") and "step_next" not in estimated.coords
    np.testing.assert_array_equal(estimated.u, expected.u)
    turned = images.transpose("x", "time", "y")
    np.testing.assert_array_equal(flow(turned, core_dims=("y", "x")).v, expected.v)
    np.testing.assert_array_equal(flow(turned).u, expected.u)
    unknown = turned.rename(x="a", y="b")
    np.testing.assert_array_equal(flow(unknown).u, flow(images, core_dims=("x", "y")).u)


@pytest.mark.parametrize("kind", ["uint16", "int16", "int64", "float32", "float64", ">f4", ">i2", "float16"])
def test_numbers_of_any_type(kind: str) -> None:
    values = frames(3).astype(np.float32)
    given = (0.0, 255.0)
    expected = pf.estimate_flow(values[0], values[1], range=given)
    same(flow(stack(3, values.astype(kind)), range=given), 0, expected)


def test_range_is_that_of_the_whole_stack() -> None:
    values = frames(3).astype(np.float32) * 0.5 + 180
    values[2, 0, 0] = 400
    assert value_range(stack(3, values)) == pf.find_range(values, axes="nhw") == (0, 255)
    expected = pf.estimate_flow(values[0], values[1], range=(0, 255))
    same(flow(stack(3, values)), 0, expected)
    assert value_range(stack(3)) == (0, 255)
    assert value_range(stack(3, np.full((3, HEIGHT, WIDTH), np.nan))) == (0, 255)
    assert value_range(stack(3, np.full((3, HEIGHT, WIDTH), 7.0))) == (0, 255)
    many = np.concatenate([values / 50 + number for number in range(7)])
    assert value_range(stack(21, many)) == pf.find_range([many[i * 21 // 16] for i in range(16)])
    many[:, 3, 4] = 1e4  # a hot pixel
    assert value_range(stack(21, many)) == pf.find_range([many[i * 21 // 16] for i in range(16)])
    assert value_range(stack(21, many))[1] < 30


def test_missing_pixels_have_no_weight() -> None:
    values = frames(3).astype(np.float32)
    values[0, 20:30, 30:50] = np.nan
    values[1, 50, 60] = np.inf
    expected = pf.estimate_flow(values[0], values[1], range=(0, 255))
    assert not np.asarray(expected.valid)[20:30, 30:50].any()
    estimated = flow(stack(3, values), range=(0, 255))
    same(estimated, 0, expected)
    assert np.isfinite(value_range(stack(3, values))).all()
    stored = np.where(np.isfinite(values), values, -999).astype(np.int16)
    for where in ("attrs", "encoding"):
        for name in ("_FillValue", "missing_value"):
            packed = stack(3, stored)
            getattr(packed, where)[name] = np.int16(-999)
            assert value_range(packed)[0] >= 0
            valid = flow(packed, range=(0, 255)).valid[0]
            np.testing.assert_array_equal(valid[20:30, 30:50], False)
            assert valid.mean() > 0.8


@pytest.mark.parametrize(
    "kind, attrs, encoding, hole",
    [
        ("f4", {"missing_value": -9999.9}, {}, np.float32(-9999.9)),
        ("f4", {}, {"missing_value": np.float64(-9999.9)}, np.float32(-9999.9)),
        ("f4", {"missing_value": "-9999.9"}, {}, np.float32(-9999.9)),
        ("f4", {"missing_value": "-999, -9999.9f"}, {}, np.float32(-9999.9)),
        ("f4", {}, {"source": "a.nc"}, np.float32(9.96921e36)),
        ("i2", {"missing_value": -999.0}, {}, -999),
        ("i2", {}, {"source": "a.nc"}, -32767),
        ("u2", {}, {"source": "a.nc", "dtype": np.dtype("u2")}, 65535),
        ("i1", {"_FillValue": 255, "_Unsigned": "true"}, {}, -1),
        ("i2", {"valid_range": np.array([0, 255], "i2")}, {}, 300),
        ("i2", {"valid_min": np.int16(0)}, {}, -5),
        ("f4", {"valid_max": 255.0}, {}, 1e6),
    ],
)
def test_missing_values_as_netcdf_has_them(kind: str, attrs: Any, encoding: Any, hole: float) -> None:
    values = (frames(3) // 2).astype(kind)
    values[:, 20:30, 30:50] = hole
    images = stack(3, values).assign_attrs(attrs)
    images.encoding = encoding
    expected = np.where(np.isin(np.arange(HEIGHT), np.arange(20, 30))[:, np.newaxis]
                        & np.isin(np.arange(WIDTH), np.arange(30, 50)), np.nan, frames(3) // 2).astype(np.float32)
    same(flow(images, range=(0, 127)), 0, pf.estimate_flow(expected[0], expected[1], range=(0, 127)))


def test_packed_values_that_xarray_decoded() -> None:
    packed = frames(3).astype(np.int16)
    packed[:, 20:30, 30:50] = -32767  # never written
    decoded = packed.astype(np.float32)
    decoded *= np.float64(0.01)
    decoded += np.float64(200.0)
    images = stack(3, decoded)
    images.encoding = {"dtype": np.dtype("i2"), "scale_factor": 0.01, "add_offset": 200.0, "source": "a.nc"}
    assert value_range(images)[0] > 199
    images.attrs = {"valid_range": np.array([200.0, 201.0])}  # of unpacked values
    assert value_range(images)[1] < 201.5
    images.attrs = {"valid_range": np.array([0, 100], "i2")}  # of packed ones
    assert 200.9 < value_range(images)[1] < 201.5


@pytest.mark.parametrize("spelling", ["true", "TRUE", "True", 1])
def test_unsigned_in_any_spelling(spelling: Any) -> None:
    values = frames(3).astype(np.uint8)
    images = stack(3, values.view(np.int8)).assign_attrs(_Unsigned=spelling)
    same(flow(images, range=(0, 255)), 0, pf.estimate_flow(values[0], values[1], range=(0, 255)))


def test_longitudes_before_latitudes() -> None:
    images = stack(3, y=np.linspace(50, 40, HEIGHT), x=np.linspace(0, 10, WIDTH)).rename(y="lat", x="lon")
    expected = flow(images)
    assert "eastward_velocity" in expected
    turned = flow(images.transpose("time", "lon", "lat"))
    assert turned.u.dims == ("time", "lat", "lon")
    np.testing.assert_array_equal(turned.u, expected.u)


def test_the_dimension_of_time_is_found() -> None:
    images = stack(3)
    expected = flow(images)
    for name in ("t", "frame", "valid_time"):
        assert flow(images.rename(time=name)).u.dims[0] == name
    np.testing.assert_array_equal(flow(images.rename(time="n")).u, expected.u)  # its coordinate holds times


def test_a_fill_value_in_another_type_is_that_of_the_file() -> None:
    decoded = stack(3, frames(3).astype(np.int32))
    decoded.encoding = {"_FillValue": 100, "dtype": np.dtype("int16"), "scale_factor": 0.1}
    assert flow(decoded, range=(0, 255)).equals(flow(stack(3, frames(3).astype(np.int32)), range=(0, 255)))


def test_speeds_follow_the_axes() -> None:
    estimated = flow(stack(3))
    meters_per_second = 2000 / 300
    np.testing.assert_allclose(estimated.x_velocity, estimated.u * meters_per_second, rtol=1e-6)
    np.testing.assert_allclose(estimated.y_velocity, -estimated.v * meters_per_second, rtol=1e-6)
    assert estimated.x_velocity.attrs["units"] == "m s-1"
    assert "x_velocity" not in flow(stack(3), speeds=False)


def test_error_bars() -> None:
    images = stack(3)
    estimated = flow(images, covariance=True, outlier=True, cause=True)
    field = pf.estimate_flow(images.values[1], images.values[2], covariance=True, outlier=True, cause=True)
    same(estimated, 1, field)
    for i, name in enumerate(("u_variance", "uv_covariance", "v_variance")):
        np.testing.assert_array_equal(estimated[name][1], field.covariance[..., i])
        assert estimated[name].attrs["units"] == "px2"
    for name in ("outlier", "outlier3", "cause"):
        np.testing.assert_array_equal(estimated[name][1], getattr(field, name))
    assert estimated.cause.dtype == np.uint8 and estimated.cause.attrs["flag_meanings"].split()[5] == "left_frame"
    np.testing.assert_allclose(estimated.y_velocity_sigma, np.sqrt(estimated.v_variance) * 2000 / 300, rtol=1e-6)
    assert estimated.y_velocity_sigma.attrs["units"] == "m s-1"
    assert set(flow(images, outlier=True).data_vars) - set(flow(images).data_vars) == {"outlier", "outlier3"}
    with pytest.raises(pf.Error, match="only for adaptive-ridge; lucas-kanade has none"):
        flow(images, method="lucas-kanade", covariance=True)
    with pytest.raises(pf.Error, match="covariance cannot be 1"):
        flow(images, covariance=1)


def test_speeds_take_each_interval() -> None:
    seconds = np.array([0, 60, 180, 200])
    images = stack(4, time=("time", seconds / 60, {"units": "minutes since 2024-01-01"}))
    estimated = flow(images)
    for i, step in enumerate(np.diff(seconds)):
        np.testing.assert_allclose(estimated.x_velocity[i], estimated.u[i] * 2000 / step, rtol=1e-5)
    with pytest.raises(pf.Error, match="time must be regular for a method of 3 frames"):
        flow(images, frames=3)
    np.testing.assert_array_equal(flow(images, frames=3, speeds=False).u, flow(stack(4), frames=3).u)


def test_speeds_of_more_frames_are_those_of_the_middle() -> None:
    estimated = flow(stack(5), frames=3)
    np.testing.assert_allclose(estimated.x_velocity, estimated.u * 2000 / 300, rtol=1e-6)


def test_speeds_on_the_sphere() -> None:
    latitudes = np.linspace(70, 50, HEIGHT).astype(np.float32)
    images = stack(
        3,
        y=("y", latitudes, {"units": "degrees_north"}),
        x=("x", 0.25 * np.arange(WIDTH), {"units": "degree", "standard_name": "longitude"}),
    )
    estimated = flow(images)
    assert "x_velocity" not in estimated
    meters = 6371008.8 * np.pi / 180
    across = 0.25 * meters * np.cos(np.radians(latitudes))[:, np.newaxis]
    down = -20 / (HEIGHT - 1) * meters
    np.testing.assert_allclose(estimated.eastward_velocity, estimated.u * across / 300, rtol=1e-5)
    np.testing.assert_allclose(estimated.northward_velocity, estimated.v * down / 300, rtol=1e-5)


def test_no_speeds_without_units_or_times() -> None:
    for images in (stack(3).drop_vars("time"), stack(3, x=np.arange(WIDTH)), stack(3, time=[1, 2, 3])):
        assert set(flow(images).data_vars) == {"u", "v", "valid", "confidence"}
        with pytest.raises(pf.Error, match="speeds cannot be True"):
            flow(images, speeds=True)


def test_cftime() -> None:
    pytest.importorskip("cftime")
    times = xr.date_range("2000-02-28", periods=3, freq="5min", calendar="360_day", use_cftime=True)
    estimated = flow(stack(3, time=times))
    np.testing.assert_allclose(estimated.x_velocity, estimated.u * 2000 / 300, rtol=1e-6)


def irregular(name: str) -> xr.DataArray:
    return stack(3).isel({name: [0, 1, 3, *range(4, 60)]})


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: flow(frames()), "stack cannot be a ndarray"),
        (lambda: flow(stack()[0]), r"stack cannot have 2 dimensions \(y, x\)"),
        (lambda: flow(stack().expand_dims("band")), "stack cannot have 4 dimensions"),
        (lambda: flow(stack()[:1]), "time cannot have the size 1; the method needs at least 2 images"),
        (lambda: flow(stack()[:4], preset="sequence"), "needs at least 5 images"),
        (lambda: flow(stack()[:, :0]), "y cannot have the size 0"),
        (lambda: flow(stack(), "t"), "dim cannot be 't'"),
        (lambda: flow(stack().drop_vars("time").rename(time="level")), "dim is needed: .* They are level, y, x"),
        (lambda: flow(stack()[::-1], speeds=False), "time must rise; .* is followed by .*sortby"),
        (lambda: flow(stack(), core_dims=("x", "lat")), "core_dims cannot be"),
        (lambda: flow(stack(), core_dims=("x",)), "core_dims cannot be"),
        (lambda: flow(stack(), core_dims="yx"), "core_dims cannot be"),
        (lambda: flow(stack(values=frames() > 9)), "its type cannot be bool"),
        (lambda: flow(stack(values=frames() * 1j)), "its type cannot be complex128"),
        (lambda: flow(stack(values=frames().astype(str))), "its type cannot be <U3"),
        (lambda: flow(stack(u=1)), "a coordinate cannot be called u"),
        (lambda: flow(stack(), range=(1, 0)), r"range cannot be \(1, 0\)"),
        (lambda: flow(stack(), range=(0, np.nan)), "range cannot be"),
        (lambda: flow(stack(), range=5), "range cannot be 5"),
        (lambda: flow(stack(), max_motion=0), "max_motion cannot be 0"),
        (lambda: flow(stack(), max_motion=2.5), "max_motion cannot be 2.5"),
        (lambda: flow(stack(), method="nothing"), "nothing"),
        (lambda: flow(stack(), preset="nothing"), "nothing"),
        (lambda: flow(stack(), windw=3), "windw"),
        (lambda: flow(stack(), device="tpu"), "tpu"),
        (lambda: flow(stack(), start=None), "start cannot be given"),
        (lambda: flow(irregular("x")), "coordinate x must be regular.*steps are 2 to 4 km"),
        (lambda: flow(irregular("y")), "coordinate y must be regular"),
        (lambda: flow(stack().isel(time=[1, 0, 2])), "coordinate time must rise"),
        (lambda: flow(stack().isel(time=[0, 0, 1])), "coordinate time must rise"),
        (lambda: flow(stack().isel(time=[0, 1]).assign_coords(time=["2024-05-02", "2024-05-01"])),
         "coordinate time must rise"),
    ],
)
def test_errors_name_the_argument(call: Any, message: str) -> None:
    with pytest.raises(pf.Error, match=message):
        call()
