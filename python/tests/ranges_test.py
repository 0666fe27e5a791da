# SPDX-License-Identifier: MIT
"""A warning says which range was guessed: where the command prints a note, but for floats to 1, and once."""

import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

import parafield as pf

COMMAND = Path(pf.__file__).parent / "bin" / "parafield"


def scaled(factor, dtype=np.float32, offset=0):
    return lambda frame: (frame.astype(np.float64) * factor + offset).astype(dtype)


# Frames of 8 bits as others, and the range that is told: None = no warning, "" = their own.
KINDS = {
    "8 bits": (lambda frame: frame, None),
    "8 of 16 bits": (scaled(1, np.uint16), "0 255"),
    "10 of 16 bits": (scaled(4, np.uint16), "0 1023"),
    "12 of 16 bits": (scaled(16, np.uint16), "0 4095"),
    "14 of 16 bits": (scaled(64, np.uint16), "0 16383"),
    "16 bits": (scaled(257, np.uint16), None),
    "floats to 255": (scaled(1), None),
    "floats to 1": (scaled(1 / 255), None),
    "floats from -1 to 1": (scaled(2 / 255, offset=-1), "-1 1"),
    "floats to 4095": (scaled(16), "0 4095"),
    "floats to 65535": (scaled(257), "0 65535"),
    "floats of no known range": (scaled(1e4), ""),
    "faint floats": (scaled(1e-4), ""),
}


def told(call):
    """The texts of a call's warnings, all of which are of this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert all(warning.category is pf.RangeWarning and warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


def flow_of(frame0, frame1, **options):
    return pf.estimate_flow(frame0, frame1, "lucas-kanade", levels=1, **options)


@pytest.fixture
def bright(frames):
    """Two frames with black and white pixels."""
    pair = [frame.copy() for frame in frames[:2]]
    for frame in pair:
        frame[0, :2] = 0, 255
    return pair


@pytest.fixture
def deep(bright):
    """Two frames of 10 bits."""
    return [frame.astype(np.uint16) * 4 for frame in bright]


@pytest.mark.parametrize("kind", KINDS)
def test_warnings_are_the_notes_of_the_command(kind, bright, tmp_path):
    convert, expected = KINDS[kind]
    pair = [convert(frame) for frame in bright]
    texts = told(lambda: flow_of(*pair))
    assert len(texts) == (expected is not None)
    if expected:
        black, white = expected.split()
        assert texts[0].startswith(f"{black} is black and {white} is white, ")
        assert f"give range=({black}, {white})" in texts[0]
        assert told(lambda: flow_of(*pair, range=(float(black), float(white)))) == []
    elif expected == "":
        assert " is white, from the bulk of the values; give range=(-" in texts[0]
    if not COMMAND.exists():
        pytest.skip("this build has no command")
    names = [tmp_path / f"{number}.npy" for number in range(2)]
    for name, frame in zip(names, pair):
        np.save(name, frame)
    done = subprocess.run([COMMAND, "flow", *names, "-m", "lucas-kanade", "-o", tmp_path / "flow.flo"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    note = " is white, from the bulk of the values"
    assert (note in done.stderr) == (expected is not None or kind == "floats to 1"), done.stderr
    if expected:
        assert f"{black} is black and {white}{note}" in done.stderr


def test_a_line_warns_once(deep):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for factor in (1, 1, 1):
            flow_of(*(frame * np.uint16(factor) for frame in deep))
        assert len(caught) == 1
        for factor in (1, 1, 2):  # these fit no range, and have their own
            flow_of(*(frame * np.float32(1e4 * factor) for frame in deep))
        assert len(caught) == 3


@pytest.mark.parametrize("pipelined", [False, True])
def test_an_estimator_warns_of_its_first_frame(pipelined, deep):
    estimator = pf.FlowEstimator("lucas-kanade", pipelined=pipelined)
    take = estimator.push
    assert len(told(lambda: [take(deep[0]), take(deep[1]), estimator(*deep)])) == 1
    estimator.reset()
    assert len(told(lambda: take(deep[0]))) == 1
    given = pf.FlowEstimator("lucas-kanade", pipelined=pipelined, range=(0, 1023))
    assert told(lambda: [given.push(frame) for frame in deep]) == []


def test_warnings_may_be_errors(deep, same):
    estimator = pf.FlowEstimator("lucas-kanade")
    with warnings.catch_warnings():
        warnings.simplefilter("error", pf.RangeWarning)
        for _ in range(2):
            with pytest.raises(pf.RangeWarning, match="1023"):
                flow_of(*deep)
            with pytest.raises(pf.RangeWarning, match="1023"):
                estimator(*deep)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pf.RangeWarning)
        assert same(estimator(*deep), pf.estimate_flow(*deep, "lucas-kanade", range=(0, 1023)))


@pytest.fixture
def thermal():
    """Two frames of a thermal camera: a contrast of 150 counts, moved by (2.5, -1.25) px, and a hot pixel."""
    y, x = np.mgrid[:120, :160].astype(float)
    pair = []
    for number in range(2):
        px, py = x - 2.5 * number, y + 1.25 * number
        image = 0.5 + 0.2 * np.sin(0.31 * px) * np.cos(0.27 * py) + 0.2 * np.sin(0.11 * px + 0.17 * py)
        image += 0.1 * np.cos(0.5 * py - 0.4 * px)
        pair.append((30000 + 150 * image).astype(np.uint16))
        pair[-1][60, 80] = 65535
    return pair


def error_of(flow):
    return np.hypot(flow.u - 2.5, flow.v + 1.25)[10:-10, 10:-10].max()


def test_the_bulk_of_the_values_decides(thermal):
    black, white = pf.find_range(thermal)
    assert 29930 < black < 30010 and 30140 < white < 30210
    assert (black, white) == pf.find_range(np.stack(thermal), axes="nhw")
    estimator = pf.FlowEstimator()
    assert estimator.range is None
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        assert error_of(pf.estimate_flow(*thermal)) < 0.1
        assert error_of(pf.estimate_flow(*(frame.astype(np.float32) / 65535 for frame in thermal))) < 0.1
        assert error_of(estimator(*thermal)) < 0.1
    assert estimator.range == (black, white)
    assert estimator.range == pf.FlowEstimator(range=(black, white)).range
    texts = told(lambda: pf.estimate_flow(*thermal))
    assert len(texts) == 1 and f"{black:.0f} is black and {white:.0f} is white" in texts[0]


def test_values_far_from_all_others_are_told(thermal):
    pair = [frame.astype(np.float32) for frame in thermal]
    for frame in pair:
        frame[20:60, 30:80] = -9999
    texts = told(lambda: pf.estimate_flow(*pair))
    assert len(texts) == 2 and "10.4 % of the values are -9999, far from all others" in texts[1]


def test_low_contrast_of_8_bits_is_stretched(thermal):
    weak = [(np.clip(frame, 30000, 30150) - 30000).astype(np.uint8) // 6 + 100 for frame in thermal]
    found = pf.find_range(weak)
    assert found[1] - found[0] < 60
    assert len(told(lambda: pf.estimate_flow(*weak))) == 1
    assert told(lambda: pf.estimate_flow(*weak, range=(0, 255))) == []
    assert told(lambda: pf.detect_motion(*weak)) == told(lambda: pf.FlowEstimator()(*weak)) == []


def test_types_do_not_mix(deep):
    single = deep[0].astype(np.float32)
    with pytest.raises(pf.Error, match="frame0 has values of type uint16 and frame1 of type float32"):
        pf.estimate_flow(deep[0], single)
    estimator = pf.FlowEstimator("lucas-kanade", range=(0, 1023))
    estimator.push(deep[0])
    with pytest.raises(pf.Error, match="has values of type float32, the frames before had uint16"):
        estimator.push(single)
    estimator.reset()
    estimator.push(single)


def test_all_calls_with_a_range_warn(deep):
    left, right = deep
    camera = pf.CalibratedCamera(60, 60, 31.5, 23.5)
    calibration = pf.StereoCalibration(camera, camera, np.eye(3), (-0.1, 0, 0), left.shape)
    disparity = pf.DisparityField(np.ones(left.shape))
    for call in [lambda: pf.estimate_disparity(left, right, "winner-takes-all", disparities=4),
                 lambda: pf.detect_motion(left, right), lambda: pf.find_tracks(left, right),
                 lambda: pf.examine_pair(left, right), lambda: pf.measure_row_alignment(left, right),
                 lambda: pf.rectify(left, right, calibration), lambda: pf.Rectifier(calibration)(left, right),
                 lambda: pf.points_of(disparity, left, pf.StereoGeometry(60, 0.1, 31.5, 23.5)),
                 lambda: pf.estimate_flow(np.stack(deep), axes="nhw")]:
        assert len(told(call)) == 1


def test_calls_without_a_range_do_not_warn(deep, tmp_path):
    flow = pf.FlowField(*np.ones((2, *deep[0].shape)))
    mask = pf.MotionMask(np.ones(deep[0].shape, bool))
    assert told(lambda: [pf.draw_arrows(deep[0], flow), pf.overlay_mask(deep[0], mask), pf.beside(*deep),
                         pf.known_pixels(deep[0]), pf.filled(deep[0]),
                         pf.write_frame(tmp_path / "frame.pgm", deep[0])]) == []


def test_modules_of_the_package_warn_at_the_line_of_their_caller(deep, tmp_path):
    pytest.importorskip("av")
    folder = tmp_path / "images"
    folder.mkdir()
    for number, frame in enumerate(deep):
        np.save(folder / f"{number}.npy", frame)
    texts = told(lambda: pf.extract(folder, tmp_path / "flow", device="cpu", workers=0, quiet=True))
    assert len(texts) == 1 and "range=(0, 1023)" in texts[0]


def test_processes_of_an_extraction_warn_once(deep, tmp_path):
    for name in ("a", "b", "c"):
        folder = tmp_path / "images" / name
        folder.mkdir(parents=True)
        for number, frame in enumerate(deep):
            np.save(folder / f"{number}.npy", frame)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        assert pf.extract(tmp_path / "images", tmp_path / "flow", device="cpu", workers=2, quiet=True).ok
    assert [(warning.category, warning.filename) for warning in caught] == [(pf.RangeWarning, __file__)]
