# SPDX-License-Identifier: MIT
"""Bad input is an Error that names the argument: never a crash, never a guess."""

import re
from pathlib import PosixPath

import numpy as np
import pytest

import parafield as pf

GRAY = np.zeros((48, 64), np.uint8)
CALLS = {
    "estimate_flow": (pf.estimate_flow, ("frame0", "frame1")),
    "estimate_disparity": (pf.estimate_disparity, ("left", "right")),
    "detect_motion": (pf.detect_motion, ("frame0", "frame1")),
    "find_tracks": (pf.find_tracks, ("frame0", "frame1")),
    "FlowEstimator": (lambda *frames, **options: pf.FlowEstimator(**options)(*frames), ("frame0", "frame1")),
    "StereoEstimator": (lambda *frames, **options: pf.StereoEstimator(**options)(*frames), ("left", "right")),
    "MotionDetector": (lambda *frames, **options: pf.MotionDetector(**options)(*frames),
                       ("frame0", "frame1")),
}


@pytest.fixture(params=CALLS)
def call(request):
    return CALLS[request.param]


def fails(match, function, *arguments, **options):
    """Checks that a call raises Error, whose text is one line and matches."""
    with pytest.raises(pf.Error) as caught:
        function(*arguments, **options)
    text = str(caught.value)
    assert re.search(match, text), text
    assert "\n" not in text and len(text) < 500 and caught.value.code
    return text


TYPES = """float64 float16 int8 int16 int32 int64 uint32 uint64 bool complex64 object >u2 >f4 U3 S3 M8[s]
           u1,u1""".split()


@pytest.mark.parametrize("dtype", TYPES)
def test_types_of_values(dtype, call):
    function, (name0, name1) = call
    wrong = np.zeros((48, 64), dtype)
    fails(f"^{name0}\\b", function, wrong, GRAY)
    text = fails(f"^{name1}\\b", function, GRAY, wrong)
    if dtype not in ("M8[s]", "u1,u1"):
        assert str(wrong.dtype) in text and "uint8, uint16 or float32" in text
    fails(f"^{name0}\\b", function, wrong[:, ::-1], GRAY)
    if dtype not in ("M8[s]", "U3", "S3", "u1,u1"):
        fails(f"^{name1}\\b", function, GRAY, np.ma.masked_array(wrong, GRAY > 3))


@pytest.mark.parametrize("shape", [(), (48,), (48 * 64,), (0, 64), (48, 0), (0, 0), (48, 64, 0), (48, 64, 2),
                                   (48, 64, 5), (3, 48, 64), (5, 48, 64), (2, 2, 48, 64), (1, 1, 1, 1, 1),
                                   (1,) * 9, (2, 0, 48, 64)])
def test_shapes(shape, call):
    function, (name0, name1) = call
    wrong = np.zeros(shape, np.uint8)
    fails(f"^{name0} has ", function, wrong, wrong)
    fails(f"^{name1} has ", function, GRAY, wrong)


@pytest.mark.parametrize("axes, shape", [("hw", (48, 64, 3)), ("hwc", (48, 64)), ("hwc", (48, 64, 2)),
                                         ("chw", (48, 64, 3)), ("nhw", (48, 64)), ("nhwc", (2, 48, 64)),
                                         ("nchw", (2, 48, 64, 3)), ("nhw", (0, 48, 64))])
def test_axes_that_do_not_fit(axes, shape):
    fails("^frame0 has the shape", pf.estimate_flow, np.zeros(shape, np.uint8), np.zeros(shape, np.uint8),
          axes=axes)


NO_FRAMES = [None, 5, 1.5, "a.png", b"", b"abc", [1, 2], [[1, 2], [3, 4]], {}, {1, 2}, iter([]), object(), 1j,
             np.uint8(3), lambda: 0, pf, pf.LucasKanade(), slice(3), pf.FlowField(GRAY, GRAY)]


@pytest.mark.parametrize("wrong", NO_FRAMES, ids=lambda wrong: type(wrong).__name__)
def test_objects_that_are_no_frames(wrong, call):
    function, (name0, name1) = call
    fails(f"^{name0}\\b", function, wrong, GRAY)
    if wrong is not None:
        fails(f"^{name1}\\b", function, GRAY, wrong)
    fails("^frame\\b", pf.FlowEstimator().push, wrong)


def test_what_would_be_right_is_said(call):
    function, (name0, _) = call
    for kind in ("float64", "int16", ">u2"):
        fails(f"^{name0} has values of type {kind}; .*, as {name0}.astype\\('float32'\\)$", function,
              GRAY.astype(kind), GRAY)
    fails(f"^{name0} is of type str; read_frame makes", function, "a.png", "b.png")
    fails(f"^{name0} is of type pathlib.PosixPath; read_frame makes", function, PosixPath("a.png"), PosixPath("b.png"))


def test_parameters_that_are_no_whole_numbers():
    for wrong in (15.5, 15.0, "x"):
        fails(f"window cannot be {wrong}; allowed: whole numbers, 1 to 31$", pf.LucasKanade, window=wrong)
    fails("window cannot be 99; allowed: 1 to 31$", pf.LucasKanade, window=99)
    fails("window cannot be x; allowed: 0.3 to 2$", pf.AdaptiveRidge, window="x")


def test_frames_that_do_not_match(call):
    function, (name0, name1) = call
    fails(f"^{name1} has 47 x 64 pixels, {name0} has 48 x 64", function, GRAY, GRAY[1:])
    fails(f"^{name1} has 64 x 48 pixels, {name0} has 48 x 64", function, GRAY, GRAY.T)
    fails(f"{name0} .*uint16 .*{name1} .*float32", function, GRAY.astype(np.uint16), GRAY.astype(np.float32))


def test_numbers_of_frames(frames):
    stack = np.stack(frames)
    flow = pf.estimate_flow
    fails("^frame1 is missing", flow, GRAY)
    fails("^frame1 is missing", pf.FlowEstimator(), GRAY)
    fails("^right is missing", pf.estimate_disparity, GRAY)
    fails("^right is missing", pf.estimate_disparity, stack, axes="nhw")  # its frames are no pairs
    fails("^frame0 is an empty list", flow, [])
    fails("^frame0 is a list of 1 frame", flow, [GRAY])
    fails("adaptive-ridge takes 2 frames, not 3", flow, [GRAY] * 3)
    fails("gradient-tensor takes 5 frames, not 2", flow, GRAY, GRAY, "gradient-tensor")
    fails("gradient-tensor takes 5 frames, not 2", pf.FlowEstimator("gradient-tensor"), GRAY, GRAY)
    fails(r"^frame0\[1\] has values of type int32", flow, [GRAY, GRAY.astype(np.int32)])
    fails(r"^frame0\[2\] has 47 x 64", flow, [GRAY, GRAY, GRAY[1:]], method="adaptive-ridge", frames=3)
    fails("^frame0 is a stack of 1 frame; adaptive-ridge takes 2", flow, stack[:1], axes="nhw")
    fails("^frame0 is a stack of 4 frames; gradient-tensor takes 5", flow, stack[:4], axes="nhw",
          method="gradient-tensor")
    fails("^frame1 is a stack of 2 frames, frame0 one of 3", flow, stack[:3], stack[:2], axes="nhw")
    fails("^frame1 has the shape 48 x 64", flow, stack[:3], GRAY, axes="nhw")
    fails("is a stack", flow, stack[:3, ..., None], GRAY)
    fails("stack", pf.FlowEstimator(), stack[:2, ..., None], stack[:2, ..., None])
    fails("stack", pf.find_tracks, stack, stack, axes="nhw")
    fails("fb_check.* 2 frames", flow, [GRAY] * 5, method="gradient-tensor", fb_check=1)
    fails("frame0", flow, [GRAY, GRAY], GRAY)


@pytest.mark.parametrize("options, match", [
    ({"method": "lukas-kanade"}, "no method 'lukas-kanade'.*lucas-kanade"),
    ({"method": 5}, "method cannot be 5"),
    ({"method": pf.LucasKanade}, "method cannot be <class"),
    ({"method": pf.stereo.Icm()}, "method cannot be Icm()"),
    ({"preset": "slowest"}, "no preset of adaptive-ridge 'slowest'.*accurate"),
    ({"preset": 5}, "preset.*'5'"),
    ({"device": "tpu"}, "device 'tpu'.*cpu, cuda"),
    ({"device": 0}, "device '0'"),
    ({"device": "cuda:99"}, r"no cuda:99|cuda:\d+ cannot be used"),
    ({"device": "\udcff"}, "device"),
    ({"threads": -1}, "threads cannot be -1"),
    ({"threads": 2.5}, "threads cannot be 2.5"),
    ({"threads": 10**30}, "threads cannot be 1000"),
    ({"threads": "2"}, "threads cannot be '2'"),
    ({"axes": "whc"}, "axes cannot be 'whc': hw, hwc, chw"),
    ({"axes": 3}, "axes cannot be '3'"),
    ({"channels": "gbr"}, "channels cannot be 'gbr': rgb or bgr"),
    ({"range": 5}, "range cannot be 5: two numbers"),
    ({"range": (0, 1, 2)}, r"range cannot be \(0, 1, 2\): two numbers"),
    ({"range": "ab"}, "range cannot be 'ab'"),
    ({"range": {0, 255}}, "range cannot be {"),
    ({"range": (1, 1)}, r"range cannot be \(1, 1\): black must be below white"),
    ({"range": (0, float("nan"))}, "range cannot be .*nan"),
    ({"range": (0, float("inf"))}, "range cannot be .*inf"),
    ({"range": (-1e38, 3e38)}, "range cannot be"),
    ({"range": (0, 10**400)}, "range cannot be"),
    ({"levls": 3}, "no parameter of adaptive-ridge 'levls'.*did you mean 'levels'"),
    ({"levels": 99}, "levels cannot be 99; allowed: 0 to 16"),
    ({"fb_check": -1}, "fb_check cannot be -1"),
    ({"threads": GRAY}, r"threads cannot be array\(\[\[0, 0, .*\.\.\.: a number"),
    ({"range": GRAY}, "range cannot be array.*: two numbers"),
    ({"device": GRAY}, "device"), ({"axes": GRAY}, "axes cannot be"),
    ({"method": GRAY}, "method cannot be array"),
    ({"device": "a\nb"}, "device 'a b'"), ({"method": "\n" * 999}, "no method ''"),
    ({"method": "\u00e4" * 999}, "no method '\u00e4+...'"), ({"a\nb" * 99: 3}, "no parameter"),
    ({"speckle": "many"}, "speckle cannot be many"),
])
def test_options(options, match):
    fails(match, pf.estimate_flow, GRAY, GRAY, **options)
    fails(match, lambda: pf.FlowEstimator(**options)(GRAY, GRAY))


@pytest.mark.parametrize("options, match", [
    ({"shape": 3}, "shape cannot be 3: height and width"), ({"shape": (48,)}, r"shape cannot be \(48,\)"),
    ({"shape": (0, 64)}, r"shape cannot be \(0, 64\)"), ({"shape": (48.5, 64)}, "shape cannot be"),
    ({"shape": "ab"}, "shape cannot be 'ab'"), ({"axes": "nhw"}, "axes cannot be 'nhw'"),
    ({"energies": "all"}, "energies cannot be 'all': none, result or sweeps"),
    ({"progress": 3}, "progress is of type int"),
])
def test_options_of_estimators(options, match):
    for estimator in (pf.FlowEstimator, pf.StereoEstimator, pf.MotionDetector):
        fails(match, estimator, **options)


def test_sizes(frames):
    """Every method gives a result or an Error for frames of any size."""
    for task, function in [(pf.flow, pf.estimate_flow), (pf.stereo, pf.estimate_disparity),
                           (pf.detection, pf.detect_motion)]:
        for method in task.methods():
            value = method().replace(sweeps=2) if hasattr(method, "sweeps") else method()
            for shape in [(1, 1), (1, 64), (64, 1), (2, 2), (5, 5), (9, 3)]:
                try:
                    result = function([np.ones(shape, np.uint8)] * value.frames, method=value)
                    assert result.shape == shape
                except pf.Error as error:
                    assert re.search(r"\d", str(error))
    huge = np.broadcast_to(np.uint8(0), (200_000, 200_000))
    fails(".", pf.estimate_flow, huge[:, :1].T, huge[:, :1])


@pytest.mark.parametrize("start, match", [
    (3, "^start has the shape"), ("x", "^start: "),
    (np.zeros((48, 64)), "^start has the shape 48 x 64; expected H x W x 2"),
    (np.zeros((47, 64, 2)), "^start has 47 x 64 pixels, the frames have 48 x 64"),
    (pf.DisparityField(GRAY), "^start has the shape"), ([[1, 2], [3]], "^start: "),
])
def test_start(start, match):
    fails(match, pf.estimate_flow, GRAY, GRAY, "lucas-kanade", start=start)
    fails(match, pf.FlowEstimator("lucas-kanade"), GRAY, GRAY, start=start)


def test_start_of_stacks(frames):
    stack = np.stack(frames[:4])
    flows = pf.estimate_flow(stack, axes="nhw")
    fails("^start holds 3 results, but the frames give 1", pf.estimate_flow, *frames[:2], "lucas-kanade",
          start=flows)
    fails("^start is a stack of 3 results", pf.FlowEstimator("lucas-kanade"), *frames[:2], start=flows)
    fails("^start .*FlowField", pf.estimate_flow, stack, axes="nhw", start=np.zeros((3, 48, 64, 2)))
    fails("start", pf.estimate_flow, frames[:5], method="gradient-tensor", start=flows[0])


@pytest.mark.parametrize("options, match", [
    ({"tracks": np.zeros((3, 3))}, r"^tracks has the shape \(3, 3\); expected N x 4"),
    ({"tracks": "abc"}, "^tracks: "), ({"tracks": 5}, "^tracks has the shape"),
    ({"tracks": [[1, 2], [3]]}, "^tracks: "),
    ({"tracks": np.zeros((100_000, 4))}, "100000 tracks.*max_features"),
    ({"rotation": (0, 0, 1)}, "^rotation is of type tuple; it must be a CameraRotation"),
])
def test_known_motion(options, match):
    fails(match, pf.estimate_flow, GRAY, GRAY, "direct-interpolation", **options)
    fails(match, pf.FlowEstimator("direct-interpolation"), GRAY, GRAY, **options)
    fails("tracks|rotation", pf.estimate_flow, GRAY, GRAY, **options)  # adaptive-ridge takes neither


def test_memory_that_is_gone():
    view = memoryview(bytearray(48 * 64)).cast("B", (48, 64))
    view.release()
    fails("^frame1: .*released", pf.estimate_flow, GRAY, view)

    class Broken:
        """An array whose methods give something else than they should."""

        def __init__(self, **methods):
            self.methods = methods

        def __dlpack_device__(self):
            return self.methods.get("device", lambda: (1, 0))()

        def __dlpack__(self, **arguments):
            return self.methods.get("capsule", lambda: GRAY.__dlpack__())()

    used = GRAY.__dlpack__()
    assert pf.estimate_flow(Broken(capsule=lambda: used), GRAY).shape == (48, 64)
    fails("^frame0: .*gave no tensor", pf.estimate_flow, Broken(capsule=lambda: used), GRAY)  # its second use
    for wrong in (Broken(capsule=lambda: None), Broken(capsule=lambda: 5), Broken(device=lambda: None),
                  Broken(device=lambda: (1,)), Broken(device=lambda: ("cpu", 0)),
                  Broken(capsule=lambda: 1 / 0), Broken(device=lambda: {}["x"]),
                  Broken(capsule=lambda: np.zeros(3, np.int32).__dlpack__())):
        fails("^frame1\\b", pf.estimate_flow, GRAY, wrong)


def test_errors_of_users_objects_pass_through():
    class Interrupts:
        def __array__(self, *arguments, **options):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pf.estimate_flow(Interrupts(), GRAY)
