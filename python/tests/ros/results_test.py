# SPDX-License-Identifier: MIT
"""Results as messages of ROS. Neither ROS nor rosbags is needed."""

import numpy as np
import pytest

import parafield as pf
from parafield.ros import DetectionSolver, FlowSolver, StereoSolver, picture_of
from parafield.ros.messages import (
    depth_message,
    disparity_message,
    flow_message,
    image_message,
    mask_message,
    points_message,
)

COLOR8 = np.arange(105, dtype=np.uint8).reshape(5, 7, 3)


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
