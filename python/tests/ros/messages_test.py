# SPDX-License-Identifier: MIT
"""Messages of ROS as arrays and calibrations. Neither ROS nor rosbags is needed."""

import array
from types import SimpleNamespace

import numpy as np
import pytest

import parafield as pf
from parafield.ros import StereoSolver, calibration_of, camera_of, geometry_of, picture_of, plan_of

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
