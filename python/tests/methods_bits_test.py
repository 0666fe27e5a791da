# SPDX-License-Identifier: MIT
"""Every method of every task, with every preset, gives the bits of the command."""

import numpy as np
import pytest

import parafield as pf

TASKS = {pf.flow: "flow", pf.stereo: "stereo", pf.detection: "detect"}
CASES = [(task, method, preset) for task in TASKS for method in task.methods()
         for preset in (None, *method.presets)]


def name_of(case):
    task, method, preset = case
    return f"{TASKS[task]}-{method.name}-{preset or 'defaults'}"


def quick(value):
    """The method with fewer sweeps, where it has sweeps: small frames do not need 500."""
    return value.replace(sweeps=10) if getattr(value, "sweeps", 0) > 10 else value


@pytest.fixture(scope="module")
def files(frames, sides, tmp_path_factory):
    folder = tmp_path_factory.mktemp("frames")
    for name, images in (("f", frames), ("s", sides)):
        for i, image in enumerate(images):
            pf.write_frame(folder / f"{name}{i}.pgm", image)
    return folder


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_command_has_the_same_bits(case, frames, sides, files, command, planes, tmp_path):
    task, method, preset = case
    value = quick(method.preset(preset) if preset else method())
    changes = ["--sweeps", value.sweeps] if hasattr(value, "sweeps") else []
    options = ["-m", method.name, *(["--preset", preset] if preset else []), *changes, "-d", "cpu", "-q"]
    if task is pf.flow:
        result = pf.estimate_flow(frames[:value.frames], method=value, device="cpu")
        command("flow", *(files / f"f{i}.pgm" for i in range(value.frames)), *options,
                "-o", tmp_path / "out.npy", "--valid", tmp_path / "valid.pgm")
        main = np.asarray(result)
    elif task is pf.stereo:
        result = pf.estimate_disparity(*sides, value, device="cpu")
        command("stereo", files / "s0.pgm", files / "s1.pgm", *options,
                "-o", tmp_path / "out.npy", "--valid", tmp_path / "valid.pgm")
        main = result.d
    else:
        result = pf.detect_motion(*frames[:2], value, device="cpu")
        command("detect", files / "f0.pgm", files / "f1.pgm", *options, "-o", tmp_path / "out.pgm")
        assert np.array_equal(pf.read_mask(tmp_path / "out.pgm"), result.moving)
        return
    expected = np.load(tmp_path / "out.npy")
    assert expected.dtype == main.dtype == np.float32
    assert expected.tobytes() == main.tobytes()
    assert np.array_equal(pf.read_mask(tmp_path / "valid.pgm"), result.valid)
    assert np.isfinite(main).all() and len(np.unique(main)) > 1  # it found something
    assert set(planes(result)) >= {"valid", "confidence"}


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_name_preset_and_value_are_the_same(case, frames, sides, same):
    task, method, preset = case
    value = quick(method.preset(preset) if preset else method())
    call = {pf.flow: pf.estimate_flow, pf.stereo: pf.estimate_disparity, pf.detection: pf.detect_motion}[task]
    images = list(sides) if task is pf.stereo else frames[:value.frames]
    fewer = {"sweeps": value.sweeps} if hasattr(value, "sweeps") else {}
    by_value = call(images, method=value)
    assert same(by_value, call(images, method=method.name, preset=preset, **fewer))
    assert same(by_value, call(images, method=value, threads=1))


@pytest.mark.parametrize("task, options", [
    *[(pf.flow, options) for options in (
        {}, {"fb_check": 1}, {"speckle": 20}, {"fill": True}, {"final_median": 5},
        {"fb_check": 0.5, "speckle": 9, "fill": True, "final_median": 3})],
    *[(pf.stereo, options) for options in (
        {"lr_check": 1}, {"speckle": 20}, {"fill": True}, {"final_median": 3})],
], ids=lambda value: "-".join(value) or "none" if isinstance(value, dict) else TASKS[value])
def test_options(task, options, frames, sides, files, command, tmp_path):
    out, valid = tmp_path / "out.npy", tmp_path / "valid.pgm"
    if task is pf.flow:
        result = pf.estimate_flow(*frames[:2], "lucas-kanade", **options)
        command("flow", files / "f0.pgm", files / "f1.pgm", "-m", "lucas-kanade", "-q", "-o", out, "--valid",
                valid, **options)
    else:
        result = pf.estimate_disparity(*sides, **options)
        command("stereo", files / "s0.pgm", files / "s1.pgm", "-q", "-o", out, "--valid", valid, **options)
    assert np.load(out).tobytes() == np.asarray(result).tobytes()
    assert np.array_equal(pf.read_mask(valid), result.valid)


@pytest.mark.parametrize("kind", ["uint16", "float32", "color", "wide range"])
def test_formats_of_frames(kind, frames, color_frames, command, tmp_path):
    extra, given, extension = [], {}, "pgm"
    if kind == "color":
        images, extension = color_frames, "ppm"
    elif kind == "uint16":
        images = [frame.astype(np.uint16) * 40 for frame in frames[:2]]
    else:
        images, extension = [frame.astype(np.float32) / 255 for frame in frames[:2]], "pfm"
        if kind == "wide range":
            extra, given = ["--range=-1,3"], {"range": (-1, 3)}
    paths = [tmp_path / f"{i}.{extension}" for i in range(2)]
    for path, image in zip(paths, images):
        pf.write_frame(path, image)
    flow = pf.estimate_flow(*images, **given)
    command("flow", *paths, *extra, "-q", "-o", tmp_path / "out.npy", "--valid", tmp_path / "valid.pgm")
    assert np.load(tmp_path / "out.npy").tobytes() == np.asarray(flow).tobytes()
    assert np.array_equal(pf.read_mask(tmp_path / "valid.pgm"), flow.valid)
