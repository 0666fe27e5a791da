# SPDX-License-Identifier: MIT
"""Many calls take no memory that they do not give back: neither of the process nor of Python.

They are calls of the CPU: a driver keeps memory as it likes.
"""

import gc
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

import parafield as pf

FRAME = np.random.default_rng(1).integers(0, 256, (16, 16), np.uint8)
METHOD = pf.LucasKanade(levels=1, iterations=1, window=3)
CPU = {"device": "cpu", "threads": 1}


def resident():
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def growth(work, calls):
    """Bytes, objects, and references of common objects that `calls` calls of work added."""
    watched = [None, True, 0, "lucas-kanade", FRAME, METHOD, pf.FlowField, pf.LucasKanade, pf.FlowEstimator,
               pf.Error,
               np.ndarray, np.dtype(np.float32), np.dtype(np.uint8), np.ma.MaskedArray, ValueError, ()]
    def measure():
        gc.collect()
        return resident(), len(gc.get_objects()), [sys.getrefcount(one) for one in watched]

    for _ in range(max(50, calls // 10)):
        work()
    before = measure()
    for _ in range(calls):
        work()
    after = measure()
    references = [b - a for a, b in zip(before[2], after[2])]
    return after[0] - before[0], after[1] - before[1], max(map(abs, references))


def check(work, calls, megabytes=1):
    """Nothing grows with the number of calls. A block of 32 bytes for each of 50 000 would be 1.6 MB.

    The allocator returns pages when it likes, so a round without a leak can end with more of them than it
    began with. A leak takes its memory in every round: one of three that takes little is enough.
    """
    for _ in range(3):
        size, objects, references = growth(work, calls)
        if size < megabytes * 2**20:
            break
    assert size < megabytes * 2**20
    assert abs(objects) < 50
    assert references < max(50, calls // 4)  # the interpreter keeps some in its caches


@pytest.fixture(autouse=True)
def empty():
    yield
    pf.clear_cache()


def test_calls():
    check(lambda: pf.estimate_flow(FRAME, FRAME, METHOD, **CPU), 50_000)


def test_calls_with_all_arguments():
    masked = np.ma.masked_array(FRAME, FRAME > 250)
    start = pf.estimate_flow(FRAME, FRAME, METHOD)
    check(lambda: pf.estimate_flow(FRAME[:, ::-1], masked[:, ::-1], "lucas-kanade", "paper", "cpu", axes="hw",
                                   range=(0, 255), channels="rgb", threads=1, start=start, window=np.int64(3),
                                   levels=1), 1_500)


def test_rectification():
    camera = pf.CalibratedCamera(16, 16, 7.5, 7.5)
    calibration = pf.StereoCalibration(camera, camera, np.eye(3), (-1, 0, 0), (16, 16))
    rectifier = pf.Rectifier(calibration, **CPU)
    check(lambda: rectifier(FRAME, FRAME).left, 5_000)

    def work():
        views = pf.rectify(FRAME, FRAME, calibration, **CPU)
        pf.points_of(np.ones((16, 16)), views.left, views.geometry, range=views.range)

    check(work, 500)


def test_missing_pixels_and_heights():
    broken, known = FRAME.astype(np.float32), FRAME > 20
    broken[~known] = np.nan
    flow = pf.estimate_flow(FRAME, FRAME, METHOD)
    smooth = pf.HeightFilter((16, 16))

    def work():
        pf.filled(broken, known), pf.known_pixels(broken), pf.mark_unknown(flow, known)
        smooth(pf.height_of(broken, 2))
        smooth.move(flow)

    check(work, 3_000)


def test_results():
    def work():
        flow = pf.estimate_flow(FRAME, FRAME, METHOD, **CPU)
        flow.u, flow.v, flow.uv, flow.valid, flow.confidence, np.asarray(flow), flow.copy(), repr(flow)

    check(work, 5_000)


def test_stacks():
    stack = np.stack([FRAME] * 3)

    def work():
        flows = pf.estimate_flow(stack, method=METHOD, axes="nhw", **CPU)
        [flow.u for flow in flows]

    check(work, 3_000)


def test_estimators_that_stay():
    estimator = pf.FlowEstimator(METHOD, **CPU)
    check(lambda: (estimator(FRAME, FRAME), estimator.push(FRAME)), 10_000)


@pytest.mark.parametrize("make, method", [(pf.FlowEstimator, METHOD), (pf.MotionDetector, "icm"),
                                          (pf.StereoEstimator, pf.stereo.Icm(disparities=8))])
def test_estimators_that_go(make, method):
    check(lambda: make(method, **CPU)(FRAME, FRAME), 1_000)


def test_estimators_in_cycles():
    """An estimator whose progress refers to its owner is collected."""

    class Owner:
        def __init__(self):
            self.estimator = pf.FlowEstimator(pf.flow.Icm(sweeps=1), progress=self.report, **CPU)
            self.estimator(FRAME, FRAME)

        def report(self, share):
            self.share = share

    def work():
        owners = [weakref.ref(Owner()) for _ in range(5)]
        gc.collect()
        assert not any(owner() for owner in owners)

    check(work, 30)


BAD = {
    "method": lambda: pf.estimate_flow(FRAME, FRAME, "nothing"),
    "parameter": lambda: pf.estimate_flow(FRAME, FRAME, METHOD, levls=3),
    "value": lambda: pf.LucasKanade(levels=np.zeros(3)),
    "values of frames": lambda: pf.estimate_flow(FRAME, FRAME.astype(np.int32)),
    "masked frame": lambda: pf.estimate_flow(FRAME, np.ma.masked_array(FRAME.astype(np.int32))),
    "shape": lambda: pf.estimate_flow(FRAME[0], FRAME),
    "sizes": lambda: pf.estimate_flow(FRAME[1:], FRAME),
    "no array": lambda: pf.estimate_flow(object(), FRAME),
    "start": lambda: pf.estimate_flow(FRAME, FRAME, METHOD, start=FRAME),
    "list": lambda: pf.estimate_flow([FRAME] * 3, method=METHOD),
    "solve": lambda: pf.estimate_flow(FRAME, FRAME, METHOD, tracks=np.zeros((3, 4))),
    "estimator": lambda: pf.FlowEstimator(METHOD)(FRAME, FRAME[1:]),
    "file": lambda: pf.read_flow("/nothing/there.flo"),
    "field": lambda: pf.FlowField(FRAME, FRAME[1:]),
    "color": lambda: pf.color_flow(FRAME),
}


@pytest.mark.parametrize("kind", BAD)
def test_errors(kind):
    def work():
        try:
            BAD[kind]()
        except pf.Error:
            return
        raise AssertionError("no error")

    check(work, 5_000)


def test_types_that_come_and_go():
    """The package keeps nothing of the types of frames."""

    def work():
        kind = type("Frame", (), {"__array__": lambda self, dtype=None, copy=None: FRAME})
        pf.estimate_flow(kind(), FRAME, METHOD, **CPU)
        array = type("Array", (np.ndarray,), {})
        pf.estimate_flow(FRAME.view(array), FRAME, METHOD, **CPU)

    check(work, 1_000)


def test_files_and_pictures(tmp_path):
    flow = pf.estimate_flow(FRAME, FRAME, METHOD)
    path = tmp_path / "flow.flo"

    def work():
        pf.write_flow(path, flow)
        field = pf.read_flow(path)
        pf.color_flow(field), pf.evaluate(field, flow), pf.render_scene("layers", shape=(8, 8))

    check(work, 200)


def test_methods():
    check(lambda: (pf.LucasKanade(levels=2), METHOD.replace(levels=3), repr(METHOD), hash(METHOD),
                   METHOD == 3,
                   METHOD.levels, pf.flow.Icm.preset("accurate")), 3_000)
