# SPDX-License-Identifier: MIT
"""The package's types: mypy, as strict as it can be, reads a user's program, and all of the package."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import parafield

pytest.importorskip("mypy")

PROGRAM = '''
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import parafield as pf
from parafield.archives import Report, Result

assert_type(pf.__version__, str)

# Frames, flow and its planes
scene = pf.render_scene("layers", shape=(48, 64), frames=5, color=True)
assert_type(scene, pf.Scene)
assert_type(scene.frames, list[NDArray[np.uint8]])
assert_type(scene.flow, list[pf.FlowField])
frame0, frame1 = scene.frames[:2]
flow = pf.estimate_flow(frame0, frame1)
assert_type(flow, pf.FlowField)
assert_type(flow.shape, tuple[int, ...])
assert_type(flow.device, str)
assert_type(flow.cpu(), pf.FlowField)
assert_type(flow.copy(), pf.FlowField)
u: NDArray[np.float32] = flow.u
valid: NDArray[np.bool_] = flow.valid
together: NDArray[np.float32] = np.asarray(flow)
made = pf.FlowField(u, flow.v, valid=valid)

# Methods are values
method = pf.LucasKanade(levels=3, window=15)
assert_type(method, pf.LucasKanade)
assert_type(method.window, int)
assert_type(method.replace(window=21), pf.LucasKanade)
assert_type(pf.AdaptiveRidge.preset("accurate"), pf.AdaptiveRidge)
assert_type(pf.AdaptiveRidge.presets, tuple[str, ...])
assert_type(pf.AdaptiveRidge.parameters, tuple[dict[str, Any], ...])
assert_type(pf.flow.options(), tuple[dict[str, Any], ...])
assert_type(pf.flow.methods(), tuple[type, ...])
assert_type(pf.stereo.BeliefPropagation(), pf.stereo.BeliefPropagation)
assert_type(pf.detection.Icm(sweeps=20).sweeps, int)
pf.estimate_flow(frame0, frame1, method)
pf.estimate_flow(frame0, frame1, "lucas-kanade", "accurate", "cpu", threads=1, window=15, fill=True)
pf.estimate_flow(scene.frames, preset="sequence", start=flow)
stacks = pf.estimate_flow(np.stack(scene.frames), axes="nhwc", range=(0, 255), channels="bgr")
assert_type(stacks[0], pf.FlowField)
assert_type(len(stacks), int)

# Estimators
def show(share: float) -> None:
    print(f"{share:.0%}")

estimator = pf.FlowEstimator(preset="fast", shape=(48, 64), energies="result", progress=show)
for frame in scene.frames:
    pushed = estimator.push(frame)
    assert_type(pushed, pf.FlowField | None)
    if pushed is not None:
        pushed.valid.mean()
assert_type(estimator(frame0, frame1, start=flow), pf.FlowField)
assert_type(estimator.energies(), list[float])
assert_type(estimator.shape, tuple[int, int] | None)
assert_type(estimator.device, str | None)
estimator.cancel()
estimator.reset()

# Stereo, motion detection, tracks
disparity = pf.estimate_disparity(frame0, frame1, disparities=8, lr_check=1)
assert_type(disparity, pf.DisparityField)
assert_type(pf.examine_pair(frame0, frame1), pf.PairFindings)
assert_type(pf.examine_pair(frame0, frame1).disparities, int)
assert_type(pf.StereoEstimator("icm", disparities=8)(frame0, frame1), pf.DisparityField)
assert_type(pf.depth_of(disparity, focal_length=256, baseline=0.2), NDArray[np.float32])
assert_type(pf.detect_motion(frame0, frame1), pf.MotionMask)
assert_type(pf.MotionDetector(pf.detection.Icm()).push(frame0), pf.MotionMask | None)
tracks = pf.find_tracks(frame0, frame1, max_features=100)
assert_type(tracks, NDArray[np.float32])
turn = pf.CameraRotation(0, 0.01, 0, fx=60, fy=60, cx=31.5, cy=23.5)
pf.estimate_flow(frame0, frame1, "multi-hypothesis", tracks=tracks, rotation=turn)

# Calibrated cameras, heights, missing pixels
camera = pf.CalibratedCamera(60, 60, 31.5, 23.5, (0.01, 0, 0, 0))
calibration = pf.StereoCalibration(camera, camera, np.eye(3), (-0.1, 0, 0), (48, 64))
views = pf.rectify(frame0, frame1, calibration, alpha=0.5)
assert_type(views, pf.RectifiedPair)
assert_type(views.range, tuple[float, float])
rectifier = pf.Rectifier(calibration, (48, 64), "cpu")
assert_type(rectifier(frame0, frame1).geometry, pf.StereoGeometry)
assert_type(rectifier.region, tuple[NDArray[np.bool_], NDArray[np.bool_]])
assert_type(rectifier.plan.geometry.focal, float)
assert_type(pf.plan_rectification(calibration).left_rotation, NDArray[np.float64])
assert_type(pf.measure_row_alignment(frame0, frame1).median_error, float)
warnings.simplefilter("ignore", pf.PairWarning)
pf.check_pair(frame0, frame1, 16)
points, colors = pf.points_of(disparity, frame0, views.geometry)
assert_type(points, NDArray[np.float32])
pf.write_points(Path("cloud.ply"), points, colors)
smooth = pf.HeightFilter((48, 64), tolerance=2)
assert_type(smooth(pf.height_of(disparity, 0.5)), NDArray[np.float32])
smooth.move(flow)
assert_type(pf.mark_unknown(flow, pf.known_pixels(frame0)), pf.FlowField)
assert_type(pf.mark_unknown(disparity, None, pf.known_pixels(frame0)), pf.DisparityField)
pf.estimate_flow(pf.filled(frame0), frame1)
assert_type(pf.find_boxes(valid, min_area=9), NDArray[np.int32])
assert_type(pf.with_scale_arrow(pf.draw_arrows(frame0, flow), 20.5, "20 m/s"), NDArray[np.uint8])

# Files, pictures, scores
pf.write_frame("frame.png", frame0)
pf.write_flow(Path("flow.flo"), flow, mark_invalid=True)
assert_type(pf.read_flow("flow.flo"), pf.FlowField)
assert_type(pf.read_frame(Path("frame.png")), NDArray[Any])
for read in pf.read_frames("frame.png", variable=None):
    assert_type(read, NDArray[Any])
assert_type(pf.color_flow(flow, max_motion=3, legend=True), NDArray[np.uint8])
scores: pf.FlowScores = pf.evaluate(flow, scene.flow[0], mask=valid)
assert_type(scores.epe, float)
ranked: pf.DisparityScores = pf.evaluate(disparity, disparity, confidence=True)
assert_type(ranked.auc, float)
assert_type(scores.auc_best, float)
assert_type(pf.devices()[0], pf.DeviceInfo)
assert_type(pf.scenes()[0].name, str)

try:
    pf.read_frame("absent.png")
except pf.Error as error:
    wrong: ValueError = error

# Archives
def archive() -> None:
    report = pf.extract(["videos", Path("more")], "flow", format="npz", workers=2, fb_check=0.5)
    assert_type(report, Report)
    assert_type(report.ok, bool)
    assert_type(report.failed, list[Result])
'''

XARRAY = """
import numpy as np
import xarray as xr
from typing_extensions import assert_type

import parafield.xarray

stack = xr.DataArray(np.zeros((3, 48, 64), np.float32), dims=("time", "lat", "lon"))
assert_type(parafield.xarray.flow(stack, core_dims=("lat", "lon"), preset="fast", speeds=False), xr.Dataset)
assert_type(parafield.xarray.value_range(stack), tuple[float, float])
"""

WRONG = {
    'pf.estimate_flow(1, 2, axes="whc")': 'Argument "axes"',
    "pf.estimate_flow(1, 2).w": 'has no attribute "w"',
    "pf.LucasKanade(windw=3)": 'Unexpected keyword argument "windw"',
    'pf.LucasKanade(window="large")': 'expected "int"',
    "pf.FlowEstimator().push(1).u": '"None" of "FlowField | None"',
    "pf.mark_unknown(1, 2)": 'Value of type variable "_Result"',
    "pf.Rectifier(3)": 'incompatible type "int"',
    "pf.extract(1, 2)": 'incompatible type "int"',
}


def run_mypy(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), *arguments]
    package = str(Path(parafield.__file__).parents[1])
    # mypy says nothing of what it finds in PYTHONPATH, and finds installed packages by itself.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if "site-packages" not in package:
        environment["MYPYPATH"] = package
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def check(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(program)
    return run_mypy(folder, "program.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tests share mypy's cache."""
    return tmp_path_factory.mktemp("mypy")


def skip_without(*names: str) -> None:
    for name in names:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")


def test_program_of_a_user_is_typed(folder: Path) -> None:
    result = check(PROGRAM, folder)
    assert result.returncode == 0, result.stdout + result.stderr


def test_program_with_xarray_is_typed(folder: Path) -> None:
    skip_without("xarray")
    result = check(XARRAY, folder)
    assert result.returncode == 0, result.stdout + result.stderr


def test_program_runs(tmp_path: Path) -> None:
    skip_without("typing_extensions")
    (tmp_path / "program.py").write_text(PROGRAM)
    paths = [str(Path(parafield.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "program.py"]
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_wrong_calls_are_seen(folder: Path) -> None:
    result = check("import parafield as pf\n" + "\n".join(WRONG), folder)
    for line, (call, message) in enumerate(WRONG.items(), 2):
        found = [text for text in result.stdout.splitlines() if text.startswith(f"program.py:{line}: error")]
        assert any(message in text for text in found), f"{call}: {found}"


def test_all_modules_are_typed(folder: Path) -> None:
    skip_without("xarray", "dask")
    result = run_mypy(folder, "-p", "parafield")
    assert result.returncode == 0, result.stdout + result.stderr
