# SPDX-License-Identifier: MIT
"""Sequences of clouds: pixels without a value, heights along the motion, arrows with a scale."""

import struct
import zlib

import numpy as np
import pytest

import parafield as pf

SHAPE = 120, 160


@pytest.fixture(scope="module")
def sky():
    """Three pairs of clouds, seen by two satellites."""
    return pf.render_scene("clouds", shape=SHAPE, frames=6, seed=2)


def test_known_pixels():
    frame = np.ones((3, 4), np.float32)
    assert pf.known_pixels(frame).all() and pf.known_pixels(frame.astype(np.uint8)).dtype == bool
    frame[1, 2], frame[0, 0] = np.nan, np.inf
    assert np.argwhere(~pf.known_pixels(frame)).tolist() == [[0, 0], [1, 2]]
    color = np.stack([np.ones((3, 4), np.float32), frame, frame])
    assert np.array_equal(pf.known_pixels(color, axes="chw"), pf.known_pixels(frame))
    masked = np.ma.masked_equal(np.arange(12, dtype=np.uint8).reshape(3, 4), 5)
    assert np.argwhere(~pf.known_pixels(masked)).tolist() == [[1, 1]]


def test_filled():
    ramp = np.tile(np.arange(32, dtype=np.uint8) * 4, (24, 1))
    known = np.ones(ramp.shape, bool)
    known[:, 15] = False
    broken = np.where(known, ramp, 255).astype(np.uint8)
    whole = pf.filled(broken, known)
    assert whole.dtype == np.uint8 and np.array_equal(whole[known], ramp[known])
    assert np.abs(whole.astype(int) - ramp).max() <= 2
    floats = np.where(known, ramp, np.nan).astype(np.float32)
    assert np.abs(pf.filled(floats) - ramp).max() < 2 and np.isnan(floats).any()
    assert np.array_equal(pf.filled(floats), pf.filled(floats, known))
    assert np.array_equal(pf.filled(np.ma.masked_array(broken, ~known)), pf.filled(floats))
    assert np.array_equal(pf.filled(ramp), ramp) and pf.filled(ramp) is not ramp
    deep = pf.filled(np.stack([broken.astype(np.uint16) * 9] * 3), known, axes="chw")
    assert deep.dtype == np.uint16 and deep.shape == (3, 24, 32)
    rgba = np.stack([broken] * 4, axis=-1)
    assert pf.filled(rgba, known).shape == rgba.shape
    for message, call in {
        "the frame has 32x24 pixels, its mask 32x23": lambda: pf.filled(ramp, known[1:]),
        "no pixel of the frame has a value": lambda: pf.filled(ramp, np.zeros_like(known)),
        "but the mask says that it has a value": lambda: pf.filled(floats, ramp > 0),
        "known has the shape 3": lambda: pf.filled(ramp, np.ones(3)),
        "frame is a stack": lambda: pf.filled(ramp[None], axes="nhw"),
    }.items():
        with pytest.raises(pf.Error, match=message):
            call()


def test_mark_unknown(planes):
    flow = pf.FlowField(np.full((4, 6), 2), np.zeros((4, 6)), confidence=np.ones((4, 6)))
    known0, known1 = np.ones((4, 6), bool), np.ones((4, 6), bool)
    known0[1, 1], known1[2, 4] = False, False
    marked = pf.mark_unknown(flow, known0, known1)
    assert np.argwhere(np.isnan(marked.u)).tolist() == np.argwhere(np.isnan(marked.v)).tolist() == [[1, 1]]
    assert (2, 2) in map(tuple, np.argwhere(~marked.valid)) and not marked.valid[1, 1]
    assert marked.confidence[1, 1] == 0 and marked.confidence[2, 2] == 1
    assert flow.valid.all() and not np.isnan(flow.u).any(), "the argument stays as it is"
    assert type(pf.mark_unknown(flow, known0)) is pf.FlowField
    for name, plane in planes(pf.mark_unknown(flow, None)).items():
        assert np.array_equal(plane, planes(flow)[name])
    disparity = pf.mark_unknown(pf.DisparityField(np.full((4, 6), 1)), known0, known1)
    assert np.isnan(disparity.d[1, 1]) and not disparity.valid[2, 5] and disparity.valid.sum() == 22
    stack = pf.estimate_flow(np.zeros((3, 32, 32), np.uint8), axes="nhw", preset="fast")
    for message, call in {
        "result is of type .*ndarray; it must be a FlowField or a DisparityField":
            lambda: pf.mark_unknown(np.zeros((4, 6, 2)), known0),
        "result is a stack of 2 results": lambda: pf.mark_unknown(stack, np.ones((32, 32))),
        "6x4": lambda: pf.mark_unknown(flow, known0[1:]),
    }.items():
        with pytest.raises(pf.Error, match=message):
            call()


def test_boxes():
    mask = np.zeros((20, 30), bool)
    mask[3:6, 4:9] = mask[6, 9] = True  # joined at a corner
    mask[2, 20] = mask[10:12, 20:22] = True
    boxes = pf.find_boxes(mask)
    assert boxes.tolist() == [[20, 2, 1, 1, 1], [4, 3, 6, 4, 16], [20, 10, 2, 2, 4]]
    assert boxes.dtype == np.int32
    assert pf.find_boxes(pf.MotionMask(mask), min_area=4).tolist() == boxes[1:].tolist()
    assert pf.find_boxes(np.zeros((3, 3), bool)).shape == (0, 5)
    stack = pf.detect_motion(np.zeros((3, 32, 32), np.uint8), axes="nhw")
    for message, call in {
        "min_area cannot be 0": lambda: pf.find_boxes(mask, min_area=0),
        "mask": lambda: pf.find_boxes(None),
        "mask is a stack of 2 results": lambda: pf.find_boxes(stack),
    }.items():
        with pytest.raises(pf.Error, match=message):
            call()


def test_alpha(tmp_path):
    pf.write_frame(tmp_path / "gray.png", np.zeros((4, 6), np.uint8))
    assert pf.read_alpha(tmp_path / "gray.png") is None
    picture = np.full((4, 6, 4), 255, np.uint8)
    picture[1, 2, 3] = 0
    rows = b"".join(b"\0" + row.tobytes() for row in picture)
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", 6, 4, 8, 6, 0, 0, 0)), (b"IDAT", zlib.compress(rows)),
              (b"IEND", b"")]
    (tmp_path / "alpha.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks))
    assert np.argwhere(~pf.read_alpha(tmp_path / "alpha.png")).tolist() == [[1, 2]]


def test_heights():
    disparity = pf.DisparityField([[1.0, 2.0], [np.inf, 4.0]], valid=[[True, True, ], [True, False]])
    heights = pf.height_of(disparity, 0.5, 10)
    assert heights.dtype == np.float32
    assert np.array_equal(heights, np.array([[10.5, 11], [np.nan, np.nan]]), equal_nan=True)
    assert np.array_equal(pf.height_of(np.ones((2, 3)), -2), np.full((2, 3), -2))
    with pytest.raises(pf.Error, match="scale of heights cannot be 0"):
        pf.height_of(disparity, 0)


def test_height_filter():
    smooth = pf.HeightFilter((2, 3), frames=2, tolerance=5)
    first = np.array([[1, 2, np.nan], [3, 4, 5]], np.float32)
    assert np.array_equal(smooth(first), first, equal_nan=True)
    smooth.move(np.zeros((2, 3, 2)))
    mean = smooth(np.array([[3, 20, 1], [3, np.nan, 5]], np.float32))
    assert mean.tolist() == [[2, 20, 1], [3, 4, 5]]
    smooth.move(pf.FlowField(np.ones((2, 3)), np.zeros((2, 3))))
    moved = smooth(np.full((2, 3), np.nan))
    assert np.array_equal(moved, [[np.nan, 2, 20], [np.nan, 3, 4]], equal_nan=True)
    assert mean.tolist() == [[2, 20, 1], [3, 4, 5]], "results own their memory"
    assert np.array_equal(smooth(moved), moved, equal_nan=True)
    for message, call in {
        "frames cannot be 0": lambda: pf.HeightFilter((2, 3), 0),
        "tolerance": lambda: pf.HeightFilter((2, 3), tolerance=-1),
        "shape cannot be 3": lambda: pf.HeightFilter(3),
        "3x1|2x3|3x2": lambda: smooth(np.zeros((1, 3))),
        "4x2|3x2": lambda: smooth.move(np.zeros((2, 4, 2))),
        "heights has the shape 3": lambda: smooth(np.zeros(3)),
    }.items():
        with pytest.raises(pf.Error, match=message):
            call()


def test_the_command_gives_the_same(sky, tmp_path, command):
    """The motion and heights of `parafield clouds`, step by step."""
    for i, frame in enumerate(sky.frames):
        pf.write_frame(tmp_path / f"{i}.png", frame)
    known = np.ones(SHAPE, bool)
    known[::24] = False
    pf.write_mask(tmp_path / "known.png", known)
    names = [tmp_path / f"{i}.png" for i in range(6)]
    command("clouds", *names[::2], "--stereo", *names[1::2], "-o", tmp_path / "flow%d.npy", "--height",
            tmp_path / "height%d.npy", "--height-scale", 0.8, "--disparities", 16, "--input-mask",
            tmp_path / "known.png", "-q", "-d", "cpu")
    frames = [pf.filled(frame, known) for frame in sky.frames]
    estimator = pf.FlowEstimator(preset="clouds", device="cpu")
    method = pf.stereo.BeliefPropagation.preset("accurate")
    without = {name: 0 for name in ("fill", "color_median", "final_median") if hasattr(method, name)}
    method = method.replace(disparities=16, lr_check=1.5, speckle=50, **without)
    stereo = pf.StereoEstimator(method, device="cpu")
    flows = pf.FlowEstimator(device="cpu")  # it refines disparities
    smooth = pf.HeightFilter(SHAPE, frames=4, tolerance=1.2)
    for i in range(3):
        disparity = stereo(frames[2 * i], frames[2 * i + 1])
        along = flows(frames[2 * i], frames[2 * i + 1], start=np.dstack([-disparity.d, np.zeros(SHAPE)]))
        agrees = (np.abs(along.u + disparity.d) < 0.6) & (np.abs(along.v) < 0.2)
        disparity.d[agrees] = -along.u[agrees]
        np.maximum(disparity.d, 0, out=disparity.d)
        disparity = pf.mark_unknown(disparity, known, known)
        heights = smooth(pf.height_of(disparity, 0.8))
        assert np.array_equal(heights, np.load(tmp_path / f"height{i + 1}.npy"), equal_nan=True)
        if i == 2:
            break
        flow = pf.mark_unknown(estimator(frames[2 * i], frames[2 * i + 2]), known, known)
        assert np.array_equal(flow, np.load(tmp_path / f"flow{i + 1}.npy"), equal_nan=True)
        smooth.move(flow)


def test_arrows_with_a_scale(sky):
    flow = sky.flow[0]
    scale = pf.arrow_scale(flow, 16)
    length = np.hypot(flow.u, flow.v)[8::16, 8::16].max()
    assert np.isclose(scale * length, 16, rtol=0.05)
    assert pf.arrow_scale(np.zeros((9, 9, 2))) == 1
    picture = pf.draw_arrows(sky.frames[0], flow, step=16, scale=scale)
    marked = pf.with_scale_arrow(picture, 20, "20 m/s")
    assert marked.shape == (*SHAPE, 3) and (marked != picture).any() and (marked[:60] == picture[:60]).all()
    for message, call in {
        "step": lambda: pf.arrow_scale(flow, 0),
        "length": lambda: pf.with_scale_arrow(picture, 0, "20"),
        "label|letter": lambda: pf.with_scale_arrow(picture, 20, "20 \xb5"),
    }.items():
        with pytest.raises(pf.Error, match=message):
            call()
