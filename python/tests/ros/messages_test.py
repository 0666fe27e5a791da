# SPDX-License-Identifier: MIT
"""Messages of ROS as arrays and calibrations, and results as messages. Neither ROS nor rosbags is needed."""

import array
import ast
import re
import sys
import threading
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import parafield as pf
from parafield.ros import (
    DetectionSolver,
    FlowSolver,
    Mailbox,
    StereoSolver,
    Synchronizer,
    calibration_of,
    camera_of,
    geometry_of,
    picture_of,
    plan_of,
)
from parafield.ros.messages import (
    depth_message,
    disparity_message,
    flow_message,
    image_message,
    mask_message,
    points_message,
)

PACKAGE = Path(__file__).parents[3] / "ros"
GRAY8 = np.arange(35, dtype=np.uint8).reshape(5, 7)
COLOR8 = np.arange(105, dtype=np.uint8).reshape(5, 7, 3)


@pytest.mark.parametrize(
    ("encoding", "pixels", "channels"),
    [
        ("mono8", GRAY8, None),
        ("8UC1", GRAY8, None),
        ("rgb8", COLOR8, "rgb"),
        ("bgr8", COLOR8, "bgr"),
        ("8UC3", COLOR8, "bgr"),
        ("rgba8", np.arange(140, dtype=np.uint8).reshape(5, 7, 4), "rgb"),
        ("mono16", GRAY8.astype(np.uint16) * 500, None),
        ("16UC1", GRAY8.astype(np.uint16) * 500, None),
        ("bgr16", COLOR8.astype(np.uint16) * 500, "bgr"),
        ("32FC1", GRAY8.astype(np.float32) / 7, None),
    ],
)
@pytest.mark.parametrize("pad", [0, 3, 8])
@pytest.mark.parametrize("big", [False, True])
def test_images(messages, encoding, pixels, channels, pad, big):
    message = messages.image(pixels, encoding, pad=pad, big=big)
    for data in (message.data, array.array("B", message.data), np.frombuffer(message.data, np.uint8)):
        picture = picture_of(SimpleNamespace(**(vars(message) | {"data": data})))
        assert picture.channels == channels and picture.pixels.dtype == pixels.dtype
        assert picture.pixels.dtype.isnative and np.array_equal(picture.pixels, pixels)


def test_images_are_not_copied(messages):
    message = messages.image(COLOR8, "rgb8", pad=5)
    message.data = np.array(np.frombuffer(message.data, np.uint8))
    assert np.shares_memory(picture_of(message).pixels, message.data)


def test_the_last_row_needs_no_padding(messages):
    message = messages.image(GRAY8, "mono8", pad=5)
    message.data = message.data[:-5]
    assert np.array_equal(picture_of(message).pixels, GRAY8)


@pytest.mark.parametrize("pattern", ["rggb", "bggr", "gbrg", "grbg"])
def test_bayer_patterns(messages, pattern):
    y, x = np.mgrid[:20, :30]
    truth = np.stack([4 * x + 20, 3 * y + 2 * x + 30, 5 * y + 40], axis=2).astype(np.uint8)  # planes
    raw = np.empty((20, 30), np.uint8)
    for place, letter in enumerate(pattern):
        rows, columns = slice(place // 2, None, 2), slice(place % 2, None, 2)
        raw[rows, columns] = truth[rows, columns, "rgb".index(letter)]
    picture = picture_of(messages.image(raw, f"bayer_{pattern}8"))
    assert picture.channels == "rgb" and picture.pixels.shape == truth.shape
    error = np.abs(picture.pixels.astype(int) - truth)
    assert error[1:-1, 1:-1].max() <= 1 and error.max() <= 5


def test_wrong_images(messages):
    with pytest.raises(pf.Error, match="encoding 'yuv422' of an image is not supported; .* bayer_rggb8"):
        picture_of(messages.image(GRAY8, "yuv422"))
    message = messages.image(GRAY8, "mono8")
    message.data = message.data[:-1]
    with pytest.raises(
        pf.Error, match="image of 7x5 px, mono8, needs rows of 7 bytes .* step of 7 and 34 bytes"
    ):
        picture_of(message)
    message = messages.image(COLOR8, "rgb8")
    message.step = 20
    with pytest.raises(pf.Error, match="needs rows of 21 bytes or more; the message has a step of 20"):
        picture_of(message)
    message.height = 0
    with pytest.raises(pf.Error, match="an image of 7x0 px"):
        picture_of(message)


def test_cameras(messages):
    info = messages.camera_info
    assert camera_of(info()) == pf.CalibratedCamera(64, 64, 31.5, 23.5)
    assert camera_of(info(d=[0.1, 0.2, 0.3, 0.4, 0.5])).distortion.tolist() == [
        0.1,
        0.2,
        0.3,
        0.4,
        0.5,
        0,
        0,
        0,
    ]
    eight = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    assert camera_of(info(d=eight, model="rational_polynomial")).distortion.tolist() == eight
    assert camera_of(info(d=eight + [0] * 6, model="rational_polynomial")).distortion.tolist() == eight
    fisheye = camera_of(info(d=eight[:4], model="equidistant"))
    assert fisheye.fisheye and fisheye.distortion.tolist() == eight[:4]
    ros1 = SimpleNamespace(
        **{name.upper() if name in "kdrp" else name: value for name, value in vars(info()).items()}
    )
    assert camera_of(ros1) == camera_of(info())
    part = SimpleNamespace(x_offset=10, y_offset=4, width=32, height=20, do_rectify=False)
    assert camera_of(info(roi=part, binning_x=2, binning_y=4)) == pf.CalibratedCamera(32, 16, 10.75, 4.875)
    with pytest.raises(
        pf.Error, match="distortion_model 'omni' .* supported: plumb_bob, rational_polynomial, equid"
    ):
        camera_of(info(d=[0.1] * 4, model="omni"))
    with pytest.raises(
        pf.Error, match="D of camera_info has 12 coefficients; those after the eighth must be 0"
    ):
        camera_of(info(d=[0.1] * 12, model="rational_polynomial"))
    with pytest.raises(pf.Error, match="K of camera_info is .*; expected 9 numbers"):
        camera_of(info(k=[1, 2]))


def test_geometry(messages):
    left, right = messages.camera_info(), messages.camera_info(baseline=0.12, cx=36.5)
    assert geometry_of(left, right) == pf.StereoGeometry(64, 0.12, 31.5, 23.5, 5)
    with pytest.raises(
        pf.Error, match="baseline .* is -0.12 m; it must be above 0. Are left and right swapped"
    ):
        geometry_of(right, left)
    with pytest.raises(pf.Error, match="one focal length and one cy"):
        geometry_of(left, messages.camera_info(baseline=0.12, cy=20))
    with pytest.raises(pf.Error, match="focal lengths of 0.0 and 64.0 px in P"):
        geometry_of(messages.camera_info(p=[0] * 12), right)
    with pytest.raises(pf.Error, match="R of camera_info is 0: the camera is not calibrated"):
        calibration_of(messages.camera_info(r=np.zeros(9)), right)


def test_calibrations_are_those_of_the_cameras(messages):
    """From a calibration to camera_info and back."""
    lens = (-0.08, 0.01, 0.0005, -0.0003)
    camera = pf.CalibratedCamera(128, 130, 79.5, 49.9, lens)
    turn = np.array([[np.cos(0.03), -np.sin(0.03), 0], [np.sin(0.03), np.cos(0.03), 0], [0, 0, 1]])
    calibration = pf.StereoCalibration(camera, camera, turn, turn @ [-0.17, 0.01, 0], (120, 160))
    plan = pf.plan_rectification(calibration)
    g = plan.geometry
    infos = [
        messages.camera_info(
            (120, 160),
            d=lens,
            r=rotation,
            k=camera.matrix.ravel(),
            p=[g.focal, 0, g.cx, -g.focal * shift, 0, g.focal, g.cy, 0, 0, 0, 1, 0],
        )
        for rotation, shift in ((plan.left_rotation, 0), (plan.right_rotation, g.baseline))
    ]
    again = calibration_of(*infos)
    assert again.left == camera and again.right == camera and again.shape == (120, 160)
    assert np.allclose(again.rotation, turn) and np.allclose(again.translation, calibration.translation)
    assert np.isclose(plan_of(*infos).geometry.baseline, g.baseline)
    # Raw images are rectified as the plan says; a mono8 pair gives the same as the functions of the package.
    left, right = (frame for frame in pf.render_scene("stereo", shape=(120, 160), seed=3).frames)
    result = StereoSolver(rectify=True, preset="fast")(
        messages.image(left, "mono8"), messages.image(right, "mono8"), *infos
    )
    views = pf.Rectifier(again, plan=plan_of(*infos))(left, right)
    assert np.array_equal(result.view.pixels, views.left, equal_nan=True)
    expected = pf.estimate_disparity(views.left, views.right, range=views.range, preset="fast")
    assert np.array_equal(result.disparity.d, expected.d) and result.geometry == plan_of(*infos).geometry
    assert result.colors.shape == (120, 160, 3) and result.colors.dtype == np.uint8
    assert np.abs(result.colors[..., 1] - np.nan_to_num(views.left)).max() <= 0.5


@pytest.mark.parametrize("model", ["plumb_bob", "rational_polynomial", "equidistant"])
def test_rectification_is_that_of_opencv(messages, model):
    """OpenCV's maps from K, D, R and P, which image_proc uses."""
    cv2 = pytest.importorskip("cv2")
    lens = [-0.08, 0.01, 0.0005, -0.0003]
    d = lens + [0.002, 0.01, -0.003, 0.001] if model == "rational_polynomial" else lens
    turn = cv2.Rodrigues(np.array([0.02, -0.03, 0.01]))[0]
    infos = [
        messages.camera_info(
            (120, 160), 140.0, cx, 57.0, baseline, d, model, r, k=[128, 0, 79.5, 0, 130, 50, 0, 0, 1]
        )
        for cx, baseline, r in ((83.0, 0, turn), (80.0, 0.2, turn.T))
    ]
    frames = pf.render_scene("stereo", shape=(120, 160), seed=3).frames
    views = pf.Rectifier(calibration_of(*infos), plan=plan_of(*infos))(*frames)
    undistort = cv2.fisheye if model == "equidistant" else cv2
    for frame, view, info in zip(frames, (views.left, views.right), infos):
        k, p = np.reshape(info.k, (3, 3)).astype(float), np.reshape(info.p, (3, 4))
        maps = undistort.initUndistortRectifyMap(
            k, np.array(d), np.reshape(info.r, (3, 3)), p[:, :3], (160, 120), cv2.CV_32FC1
        )
        expected = cv2.remap(frame.astype(np.float32), *maps, cv2.INTER_LINEAR, borderValue=np.nan)
        both = np.isfinite(view) & np.isfinite(expected)
        assert both.mean() > 0.8 and np.isfinite(view).mean() - both.mean() < 0.02
        assert np.abs(view - expected)[both].max() < 2.5 and np.abs(view - expected)[both].mean() < 0.1


def test_disparities_depth_and_points(messages, rig):
    result = StereoSolver(preset="fast")(rig.left, rig.right, rig.left_info, rig.right_info)
    left, right = picture_of(rig.left).pixels, picture_of(rig.right).pixels
    expected = pf.estimate_disparity(left, right, preset="fast")
    valid = expected.valid
    assert np.array_equal(result.disparity.d, expected.d) and valid.mean() > 0.5

    header = messages.header(3)
    message = disparity_message(messages.make, header, result)
    d = picture_of(message.image).pixels
    assert message.header is header and message.image.encoding == "32FC1"
    assert np.array_equal(d[valid], expected.d[valid]) and (d[~valid] == message.min_disparity - 1).all()
    assert message.f == 128 and np.isclose(message.t, 0.17) and message.min_disparity == 0
    assert d[valid].max() <= message.max_disparity

    depth = picture_of(depth_message(messages.make, header, result)).pixels
    seen = valid & (expected.d > 0)  # the sky is valid and infinitely far
    assert np.isnan(depth[~seen]).all() and np.allclose(depth[seen], 128 * 0.17 / expected.d[seen])

    points, colors = pf.points_of(expected, left, result.geometry)
    for color, padded, step, at in [
        (True, True, 32, 16),
        (True, False, 16, 12),
        (False, True, 16, 0),
        (False, False, 12, 0),
    ]:
        cloud = points_message(messages.make, header, result, color, padded)
        assert (cloud.point_step, cloud.row_step, cloud.width, cloud.height) == (step, step * 160, 160, 120)
        names = {field.name: field.offset for field in cloud.fields}
        assert names == {"x": 0, "y": 4, "z": 8} | ({"rgb": at} if color else {})
        rows = cloud.data.tobytes()
        values = np.ndarray((120, 160, step // 4), np.float32, rows)
        finite = np.isfinite(values[..., 2])
        assert np.array_equal(finite, seen) and np.allclose(
            values[finite][:, :3], points, rtol=1e-4, atol=1e-5
        )
        if color:
            packed = values.view(np.uint32)[finite][:, at // 4]
            assert np.array_equal(np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=1), colors)


def test_offset_principal_points(messages, rig):
    """Published disparities are those of equal principal points: Z = f t / d."""
    right = messages.camera_info((120, 160), 128.0, 82.5, 59.5, baseline=0.17)
    result = StereoSolver(preset="fast")(rig.left, rig.right, rig.left_info, right)
    message = disparity_message(messages.make, messages.header(), result)
    d, valid = picture_of(message.image).pixels, result.disparity.valid
    assert np.allclose(d[valid], result.disparity.d[valid] + 3) and message.min_disparity == 3
    assert np.allclose(result.depth[valid], message.f * message.t / d[valid])


def test_other_sizes_colors_and_cameras(messages, rig):
    solver = StereoSolver(preset="fast")
    first = solver(rig.left, rig.right, rig.left_info, rig.right_info)
    made = solver.estimator
    assert solver(rig.left, rig.right, rig.left_info, rig.right_info).geometry == first.geometry
    assert solver.estimator is made
    swapped = [messages.image(picture_of(side).pixels[..., ::-1], "bgr8") for side in (rig.left, rig.right)]
    again = solver(*swapped, rig.left_info, rig.right_info)
    assert np.array_equal(again.disparity.d, first.disparity.d) and np.array_equal(again.colors, first.colors)
    mixed = solver(swapped[0], rig.right, rig.left_info, rig.right_info)
    assert np.array_equal(mixed.disparity.d, first.disparity.d)
    with pytest.raises(
        pf.Error, match="left camera_info is for images of 64x48 px, the images are 160x120 px"
    ):
        solver(rig.left, rig.right, messages.camera_info(), rig.right_info)
    with pytest.raises(pf.Error, match="nothing"):
        StereoSolver(preset="nothing")


def test_flow(messages):
    frames = pf.render_scene("layers", shape=(48, 64), frames=4, seed=3).frames
    solver, estimator = FlowSolver(preset="fast"), pf.FlowEstimator(preset="fast")
    for i, frame in enumerate(frames):
        motion, expected = solver(messages.image(frame, "mono8", seconds=1 + i / 10)), estimator.push(frame)
        if i == 0:
            assert motion is None
            continue
        assert np.array_equal(motion.flow.uv, expected.uv)
        assert motion.header.stamp.nanosec == (i - 1) * 100_000_000 and np.isclose(motion.seconds, 0.1)
    valid = expected.valid
    message = flow_message(messages.make, motion.header, motion.flow)
    uv = np.ndarray((48, 64, 2), np.float32, message.data.tobytes())
    assert message.encoding == "32FC2" and message.step == 512
    assert np.array_equal(uv[valid], np.asarray(expected)[valid]) and np.isnan(uv[~valid]).all()
    fast = flow_message(messages.make, motion.header, motion.flow, 0.1)
    assert np.allclose(
        np.ndarray((48, 64, 2), np.float32, fast.data.tobytes())[valid], 10 * uv[valid], rtol=1e-5
    )
    with pytest.raises(pf.Error, match="these are 0 s apart"):
        flow_message(messages.make, motion.header, motion.flow, 0)
    assert solver(messages.image(frames[0], "mono8", seconds=1)) is None  # a bag starts again


def test_flow_of_five_frames_has_the_header_of_the_middle_one(messages):
    frames = pf.render_scene("layers", shape=(48, 64), frames=6, seed=3).frames
    solver = FlowSolver(preset="sequence")
    for i, frame in enumerate(frames):
        motion = solver(messages.image(frame, "mono8", seconds=i))
        assert (motion is None) == (i < 4)
        if motion:
            assert motion.header.stamp.sec == i - 2 and motion.seconds == 1


def test_detection(messages):
    frames = pf.render_scene("balloons", shape=(48, 64), frames=3, seed=3).frames
    solver, detector = DetectionSolver(min_area=5), pf.MotionDetector()
    for frame in frames:
        found, mask = solver(messages.image(frame, "mono8")), detector.push(frame)
    assert np.array_equal(found.mask.moving, mask.moving) and mask.moving.any()
    assert np.array_equal(found.boxes, pf.find_boxes(mask.moving, min_area=5))
    message = mask_message(messages.make, messages.header(), mask.moving)
    assert message.encoding == "mono8" and np.array_equal(
        picture_of(message).pixels, np.where(mask.moving, 255, 0)
    )


def test_pictures_as_messages(messages):
    message = image_message(messages.make, messages.header(), COLOR8[:, ::-1], "rgb8")
    assert message.step == 21 and np.array_equal(picture_of(message).pixels, COLOR8[:, ::-1])


def test_exact_synchronization():
    pairs = Synchronizer(2, queue_size=3)
    assert pairs.add(0, 10, "l1") is None and pairs.add(0, 20, "l2") is None
    assert pairs.add(1, 20, "r2") == ["l2", "r2"] and pairs.unmatched == 1
    assert pairs.add(1, 31, "r3") is None and pairs.add(0, 30, "l3") is None
    for stamp in (40, 50, 60):
        assert pairs.add(0, stamp, f"l{stamp}") is None
    assert pairs.unmatched == 2  # l3 left the queue
    assert pairs.add(1, 50, "r50") == ["l50", "r50"] and pairs.unmatched == 4  # l40, r3
    pairs.clear()
    assert pairs.unmatched == 5


def test_approximate_synchronization():
    pairs = Synchronizer(3, tolerance=5)
    assert pairs.add(0, 100, "a1") is None and pairs.add(1, 104, "b1") is None
    assert pairs.add(2, 107, "c1") is None  # 7 from a1
    assert pairs.add(0, 106, "a2") == ["a2", "b1", "c1"] and pairs.unmatched == 1
    assert pairs.add(2, 200, "c2") is None and pairs.add(0, 201, "a3") is None
    assert pairs.add(1, 203, "b2") == ["a3", "b2", "c2"]


def test_synchronization_after_a_jump_back():
    pairs = Synchronizer(2)
    pairs.add(0, 9_000_000_000, "late")
    pairs.add(0, 1_000_000_000, "early")
    assert pairs.unmatched == 1 and pairs.add(1, 1_000_000_000, "right") == ["early", "right"]


def test_mailboxes_drop_the_oldest():
    box = Mailbox(2)
    for item in range(5):
        box.put(item)
    assert box.dropped == 3 and [box.take(), box.take()] == [3, 4]
    got = []
    thread = threading.Thread(target=lambda: got.extend(iter(box.take, None)))
    thread.start()
    box.put("a")
    while not got:
        pass
    box.close()
    thread.join(10)
    assert got == ["a"] and not thread.is_alive()


def test_the_package_of_nodes(monkeypatch):
    """Its setup names modules that exist, and its launch file builds with stand-ins for ROS's modules."""
    setup = (PACKAGE / "setup.py").read_text()
    for line in setup.splitlines():
        if " = parafield_ros." in line:
            module, function = line.strip(' ",').split(" = parafield_ros.")[1].split(":")
            tree = ast.parse((PACKAGE / "parafield_ros" / f"{module}.py").read_text())
            assert function in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    version = (PACKAGE / "package.xml").read_text().split("<version>")[1].split("<")[0]
    assert version == pf.__version__ and f'version="{version}"' in setup

    def stand_in(*arguments, **options):
        return SimpleNamespace(arguments=arguments, **options)

    for name in (
        "launch",
        "launch.actions",
        "launch.substitutions",
        "launch_ros",
        "launch_ros.actions",
        "launch_ros.parameter_descriptions",
    ):
        module = ModuleType(name)
        for member in (
            "LaunchDescription",
            "DeclareLaunchArgument",
            "LaunchConfiguration",
            "Node",
            "ParameterValue",
        ):
            setattr(module, member, stand_in)
        monkeypatch.setitem(sys.modules, name, module)
    scope = {}
    exec((PACKAGE / "launch" / "stereo.launch.py").read_text(), scope)
    *arguments, node = scope["generate_launch_description"]().arguments[0]
    assert {argument.arguments[0] for argument in arguments} >= {"namespace", "preset", "approximate_sync"}
    assert node.executable == "stereo" and "left/image_raw" in dict(node.remappings)
    nodes = [(PACKAGE / "parafield_ros" / name).read_text() for name in ("node.py", "stereo.py")]
    declared = set(re.findall(r'fixed\(\s*"(\w+)"', "".join(nodes)))
    assert set(node.parameters[0]) <= declared
