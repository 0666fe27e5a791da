# SPDX-License-Identifier: MIT
"""Results of extractions: they are the flow of each pair alone, in every format, however the work is cut."""

import json
import os

import numpy as np
import pytest

import parafield as pf
from parafield.archives import extract

pytest.importorskip("av")


def results(folder):
    """Arrays of all .npz files below a folder, by name."""
    found = {}
    for top, _, files in os.walk(folder):
        for file in files:
            if file.endswith(".npz"):
                path = os.path.join(top, file)
                with np.load(path) as data:
                    found[os.path.relpath(path, folder)[:-4]] = {name: data[name] for name in data}
    return found


def info_of(result):
    return json.loads(str(result["info"]))


def test_flow_is_that_of_each_pair_alone(archive, make, tmp_path):
    top, frames = archive
    report = extract(top, tmp_path, dtype="float32", valid=True, device="cpu", workers=0, quiet=True)
    assert report.ok and len(report.done) == len(frames)
    found = results(tmp_path)
    assert found.keys() == frames.keys()
    for name, some in frames.items():
        u, v = make.flows_alone(some)
        assert np.array_equal(found[name]["u"], u) and np.array_equal(found[name]["v"], v)
        assert found[name]["valid"].dtype == bool and found[name]["valid"].shape == u.shape
        info = info_of(found[name])
        assert (info["frames"], info["flows"], info["complete"]) == (len(some), len(some) - 1, True)
    assert not (tmp_path / ".parts").exists()
    assert json.loads((tmp_path / "report.json").read_text())["counts"]["done"] == len(frames)


def test_float16_is_the_default(archive, make, tmp_path):
    top, frames = archive
    extract(top / "images", tmp_path, device="cpu", workers=0, quiet=True)
    u, v = make.flows_alone(frames["images"])
    found = results(tmp_path)["images"]
    assert found["u"].dtype == np.float16 and np.array_equal(found["u"], u.astype(np.float16))


def test_jpeg_pairs(archive, make, tmp_path):
    top, frames = archive
    extract(top, tmp_path, format="jpeg", bound=4, device="cpu", workers=0, quiet=True)
    name, some = next(iter(frames.items()))
    folder = tmp_path / name
    numbers = range(1, len(some))
    expected = {f"flow_{axis}_{number:05d}.jpg" for axis in "xy" for number in numbers} | {"flow.json"}
    assert set(os.listdir(folder)) == expected
    u, v = make.flows_alone(some)
    for number in numbers:
        for axis, plane in (("x", u), ("y", v)):
            values = np.rint((np.clip(plane[number - 1].astype(float), -4, 4) + 4) * 255 / 8)
            picture = pf.read_frame(str(folder / f"flow_{axis}_{number:05d}.jpg"))
            assert picture.dtype == np.uint8 and np.abs(picture - values).mean() < 1.5
    assert json.loads((folder / "flow.json").read_text())["bound"] == 4


def test_zarr_groups(archive, make, tmp_path):
    zarr = pytest.importorskip("zarr")
    top, frames = archive
    store = tmp_path / "flow.zarr"
    extract(top, store, dtype="float32", valid=True, device="cpu", workers=0, quiet=True)
    root = zarr.open_group(str(store), mode="r")
    for name, some in frames.items():
        u, v = make.flows_alone(some)
        assert np.array_equal(root[name]["u"][:], u) and np.array_equal(root[name]["v"][:], v)
        assert root[name]["valid"].dtype == bool and root[name].attrs["info"]["flows"] == len(u)
    assert (tmp_path / "flow.report.json").exists()
    assert extract(top, store, dtype="float32", valid=True, workers=0, quiet=True).skipped


@pytest.mark.parametrize(("step", "stride", "start", "stop"),
                         [(1, 1, 2, None), (2, 2, 0, None), (2, 1, 1, 9), (1, 3, 0, None), (3, 2, 1, 10)])
def test_step_stride_and_part_of_a_video(make, tmp_path, step, stride, start, stop):
    frames = make.rendered(12)
    path = make.encode(tmp_path / "v.mkv", frames)
    expected = [pf.estimate_flow(frames[i], frames[i + step], device="cpu")
                for i in range(start, (stop or 12) - step, stride)]
    for segment in (100, 2):
        out = tmp_path / f"out{segment}"
        extract(path, out, dtype="float32", step=step, stride=stride, start=start, stop=stop, segment=segment,
                device="cpu", workers=0, quiet=True)
        found = results(out)["v"]
        assert len(found["u"]) == len(expected) and info_of(found)["first_frame"] == start
        for u, flow in zip(found["u"], expected):
            assert np.array_equal(u, flow.u)


@pytest.mark.parametrize("method", ["ridge-regression", "gradient-tensor", "lucas-kanade",
                                    "direct-interpolation", "adaptive-ridge"])
def test_every_kind_of_method_gives_the_same_bits_in_segments(make, tmp_path, method):
    frames = make.rendered(13, shape=(40, 56))
    make.encode(tmp_path / "in/v.mp4", frames, "libx264", "yuv420p", g="4")
    bits = []
    for segment in (100, 3):
        extract(tmp_path / "in/v.mp4", tmp_path / str(segment), method=method, segment=segment,
                dtype="float32", device="cpu", workers=0, quiet=True)
        bits.append((tmp_path / str(segment) / "v.npz").read_bytes())
    assert bits[0] == bits[1]
    flows = len(results(tmp_path / "100")["v"]["u"])
    assert flows == 13 - {"ridge-regression": 6, "gradient-tensor": 4}.get(method, 1)


def test_lucas_kanade_starts_from_its_last_flow_in_one_piece(make, tmp_path):
    frames = make.rendered(8)
    path = make.encode(tmp_path / "v.mkv", frames)
    extract(path, tmp_path, method="lucas-kanade", segment=2, dtype="float32", device="cpu", workers=0,
            quiet=True)
    estimator = pf.FlowEstimator("lucas-kanade", device="cpu")
    expected = [estimator.push(frame) for frame in frames][1:]
    assert all(np.array_equal(u, flow.u) for u, flow in zip(results(tmp_path)["v"]["u"], expected))


@pytest.mark.parametrize("given", [None, (0, 4095)])
def test_images_of_sixteen_bits_have_one_range(make, tmp_path, given):
    (tmp_path / "in").mkdir()
    frames = [frame.astype(np.uint16) * (5 if number == 0 else 16) for number, frame in
              enumerate(make.rendered(7))]
    for number, frame in enumerate(frames):
        pf.write_frame(str(tmp_path / f"in/{number}.png"), frame)
    estimator = pf.FlowEstimator(device="cpu", range=given)
    expected = [estimator.push(frame) for frame in frames][1:]
    for segment in (100, 2):
        out = tmp_path / f"out{segment}"
        extract(tmp_path / "in", out, range=given, segment=segment, dtype="float32", device="cpu", workers=0,
                quiet=True)
        found = results(out)["in"]["u"]
        assert all(np.array_equal(u, flow.u) for u, flow in zip(found, expected)) and len(found) == 6


def test_gray_videos_of_sixteen_bits_have_one_range(make, tmp_path):
    frames = [frame.astype(np.uint16) + 20000 for frame in make.rendered(7)]
    path = make.encode(tmp_path / "v.mkv", frames, pixels="gray16le")
    estimator = pf.FlowEstimator(device="cpu")
    expected = [estimator.push(frame) for frame in frames][1:]
    for segment in (100, 2):
        out = tmp_path / f"out{segment}"
        extract(path, out, segment=segment, dtype="float32", device="cpu", workers=0, quiet=True)
        found = results(out)["v"]["u"]
        assert all(np.array_equal(u, flow.u) for u, flow in zip(found, expected)) and len(found) == 6


def test_sizes(make, tmp_path):
    path = make.encode(tmp_path / "v.mkv", make.rendered(3))  # 48 x 64
    for options, shape in (({"short_side": 24}, (24, 32)), ({"short_side": 100}, (48, 64)),
                           ({"shape": (30, 50)}, (30, 50))):
        out = tmp_path / f"{options}"
        extract(path, out, device="cpu", workers=0, quiet=True, **options)
        assert results(out)["v"]["u"].shape == (2, *shape)


def test_colors_for_methods_that_use_them(make, tmp_path):
    gray = make.rendered(2)
    frames = [np.stack([frame, 255 - frame, frame], 2) for frame in gray]
    path = make.encode(tmp_path / "v.mkv", frames, pixels="bgr0")
    extract(path, tmp_path, method="multi-hypothesis", dtype="float32", device="cpu", workers=0, quiet=True)
    flow = pf.estimate_flow(*frames, method="multi-hypothesis", device="cpu")
    found = results(tmp_path)["v"]
    assert info_of(found)["color"] == "rgb" and np.array_equal(found["u"][0], flow.u)


def test_parameters_and_options(make, tmp_path):
    frames = make.rendered(2)
    path = make.encode(tmp_path / "v.mkv", frames)
    extract(path, tmp_path, iterations=1, fb_check=0.5, dtype="float32", valid=True, device="cpu", workers=0,
            quiet=True)
    flow = pf.estimate_flow(*frames, iterations=1, fb_check=0.5, device="cpu")
    found = results(tmp_path)["v"]
    assert np.array_equal(found["u"][0], flow.u) and np.array_equal(found["valid"][0], flow.valid)
    assert info_of(found)["options"] == {"fb_check": 0.5} and "iterations=1" in info_of(found)["method"]


def test_local_processes_give_the_same_bits(archive, tmp_path):
    top, _ = archive
    extract(top, tmp_path / "here", device="cpu", workers=0, quiet=True)
    report = extract(top, tmp_path / "there", device="cpu", workers=2, segment=2, quiet=True)
    assert report.ok
    here, there = results(tmp_path / "here"), results(tmp_path / "there")
    assert here.keys() == there.keys()
    for name in here:
        assert all(np.array_equal(here[name][plane], there[name][plane]) for plane in ("u", "v"))


@pytest.mark.parametrize("form", ["npz", "jpeg"])
def test_threads_beside_the_estimation_change_no_bit(archive, tmp_path, form):
    top, _ = archive
    for threads in (1, 4):
        extract(top / "images", tmp_path / f"{threads}", format=form, threads=threads, device="cpu",
                workers=0, quiet=True)
    files = sorted(path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*.[nj]p*"))
    assert len(files) == (1 if form == "npz" else 8)
    for file in files:
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "4" / file).read_bytes()


@pytest.mark.parametrize(("changes", "words"), [
    ({"format": "tiff"}, "format: 'tiff' is not one of npz, jpeg, zarr"),
    ({"dtype": "int8"}, "dtype"), ({"bound": 0}, "bound"), ({"bound": True}, "bound"), ({"step": 0}, "step"),
    ({"stride": 1.5}, "stride"), ({"start": -1}, "start"), ({"start": 5, "stop": 5}, "stop"),
    ({"short_side": 0}, "short_side"), ({"shape": 5}, "shape"), ({"shape": (5, 0)}, "shape"),
    ({"shape": (5, 5), "short_side": 5}, "shape: it is given together with short_side"), ({"color": "hsv"}, "color"),
    ({"range": (5, 5)}, "range"), ({"range": 3}, "range"), ({"workers": -1}, "workers"),
    ({"threads": "all"}, "threads"), ({"segment": 0}, "segment"), ({"method": "none"}, "none"),
    ({"windw": 3}, "windw"), ({"valid": True, "format": "jpeg"}, "valid"),
    ({"workers": 1, "scheduler": "tcp://localhost:1"}, "workers"),
])
def test_wrong_arguments_are_named(archive, tmp_path, changes, words):
    with pytest.raises(pf.Error, match=words):
        extract(archive[0], tmp_path / "out", quiet=True, **changes)
    assert not (tmp_path / "out").exists()


def test_wrong_outputs(archive, make, tmp_path):
    top, _ = archive
    for output in (top, top / "flow", top / "images/flow"):
        with pytest.raises(pf.Error, match="output: .* is inside the input"):
            extract(top, output, quiet=True)
    with pytest.raises(pf.Error, match="lies in the output"):
        extract([str(top / "images/8.png"), str(top / "images/9.png")], top, quiet=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(pf.Error, match="output: .* is a file"):
        extract(top, tmp_path / "file", quiet=True)
    with pytest.raises(pf.Error, match="output: cannot make .*file"):
        extract(top, tmp_path / "file/folder", quiet=True)
