# SPDX-License-Identifier: MIT
"""NetCDF: images that Python's netCDF4 writes, and motion that it reads."""

import numpy as np
import pytest

import parafield as pf

netCDF4 = pytest.importorskip("netCDF4")
if pf.why_no_netcdf():
    pytest.skip(pf.why_no_netcdf(), allow_module_level=True)

FORMATS = ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]


@pytest.fixture(scope="module")
def kelvin():
    """Three images of 20 x 30 pixels with a gap."""
    images = 180 + np.random.default_rng(1).integers(0, 12000, (3, 20, 30)) / 100
    return np.ma.masked_array(images, images > 298)


def dataset(path, form="NETCDF4", shape=(3, 20, 30)):
    file = netCDF4.Dataset(path, "w", format=form)
    for name, length in zip(("time", "y", "x"), (None, *shape[1:])):
        file.createDimension(name, length)
    return file


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["i2", "f4", "f8"])
def test_images_of_every_format(tmp_path, kelvin, form, kind):
    with dataset(tmp_path / "images.nc", form) as file:
        options = {"zlib": True} if form.startswith("NETCDF4") else {}
        images = file.createVariable("CMI", kind, ("time", "y", "x"), fill_value=-1, **options)
        if kind == "i2":
            images.scale_factor, images.add_offset = 0.01, 180.0
        images[:] = kelvin
    frames = list(pf.read_frames(tmp_path / "images.nc"))
    assert len(frames) == 3
    for frame, image in zip(frames, kelvin):
        assert frame.dtype == np.float32 and np.array_equal(np.isnan(frame), image.mask)
        assert np.allclose(frame[~image.mask], image.compressed(), atol=1e-3)


def test_a_variable_of_several(tmp_path):
    with dataset(tmp_path / "bands.nc") as file:
        for i, name in enumerate(("C13", "C02")):
            file.createVariable(name, "u2", ("time", "y", "x"))[:] = np.full((2, 20, 30), i)
        flags = file.createVariable("DQF", "u1", ("time", "y", "x"))
        flags.flag_meanings = "good bad"
        flags[:] = 0
    with pytest.raises(pf.Error, match="bands.nc: .*name one of them .*: C13, C02"):
        next(pf.read_frames(tmp_path / "bands.nc"))
    assert [frame.max() for frame in pf.read_frames(tmp_path / "bands.nc", "C02")] == [1, 1]
    with pytest.raises(pf.Error, match="without images in the variable C14; it has C13, C02"):
        next(pf.read_frames(tmp_path / "bands.nc", "C14"))
    with pytest.raises(pf.Error, match="holds more than one frame|name one of them"):
        pf.read_frame(tmp_path / "bands.nc")


def test_damaged_files(tmp_path, kelvin):
    with dataset(tmp_path / "images.nc") as file:
        file.createVariable("image", "f4", ("time", "y", "x"), zlib=True)[:] = kelvin
    whole = (tmp_path / "images.nc").read_bytes()
    for length in range(0, len(whole), 97):
        (tmp_path / "cut.nc").write_bytes(whole[:length])
        with pytest.raises(pf.Error):
            list(pf.read_frames(tmp_path / "cut.nc"))


def test_the_command_reads_and_writes(tmp_path, command):
    sky = pf.render_scene("clouds", shape=(80, 96), frames=6, seed=2)
    with dataset(tmp_path / "left.nc", shape=(3, 80, 96)) as left:
        images = left.createVariable("image", "u1", ("time", "y", "x"))
        images.set_auto_mask(False)
        images[:] = np.stack(sky.frames[::2])
    for i, frame in enumerate(sky.frames):
        pf.write_frame(tmp_path / f"{i}.png", frame)
    rights = [tmp_path / f"{i}.png" for i in (1, 3, 5)]
    units = ("--km-per-pixel", 4, "--minutes", 15, "--start", "2017-09-06T12:00", "-q", "-d", "cpu")
    lefts = [tmp_path / f"{i}.png" for i in (0, 2, 4)]
    command("clouds", *lefts, "--stereo", *rights, "--disparities", 16, "--netcdf", tmp_path / "motion.nc",
            "-o", tmp_path / "flow%d.npy", "--height", tmp_path / "height%d.npy", "--height-unit", "km",
            *units)
    command("clouds", tmp_path / "left.nc", "--range", "0,255", "--netcdf", tmp_path / "again.nc", *units)
    with netCDF4.Dataset(tmp_path / "motion.nc") as motion, netCDF4.Dataset(tmp_path / "again.nc") as again:
        assert motion.Conventions == "CF-1.8"
        names = {name: getattr(motion[name], "standard_name", None) for name in motion.variables}
        assert names == {
            "x": "projection_x_coordinate", "y": "projection_y_coordinate", "time": "time", "image": None,
            "u": None, "v": None, "valid": "quality_flag", "x_wind": "x_wind", "y_wind": "y_wind",
            "height": "height_at_cloud_top"}
        assert "height" not in again.variables and motion["height"].units == "km"
        dates = netCDF4.num2date(motion["time"][:], motion["time"].units, only_use_cftime_datetimes=False)
        assert [str(date) for date in dates] == ["2017-09-06 12:00:00", "2017-09-06 12:15:00"]
        assert motion["x"][:3].tolist() == [0, 4, 8] and motion["y"][:3].tolist() == [0, -4, -8]
        for i in range(2):
            flow = np.load(tmp_path / f"flow{i + 1}.npy")
            assert np.array_equal(motion["u"][i], flow[..., 0])
            assert np.array_equal(motion["v"][i], flow[..., 1])
            assert np.array_equal(again["u"][i], flow[..., 0]), "the same images"
            assert np.allclose(motion["x_wind"][i], flow[..., 0] * 4000 / 900)
            assert np.allclose(motion["y_wind"][i], -flow[..., 1] * 4000 / 900)
            height = np.load(tmp_path / f"height{i + 1}.npy")
            assert np.array_equal(motion["height"][i].filled(np.nan), height, equal_nan=True)
        assert 0.5 < motion["valid"][:].mean() <= 1
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset(tmp_path / "motion.nc") as opened:
        assert str(opened.time.values[1])[:16] == "2017-09-06T12:15" and opened.u.shape == (2, 80, 96)
