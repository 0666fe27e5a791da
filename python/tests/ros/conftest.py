# SPDX-License-Identifier: MIT
"""Messages of ROS as plain objects, and the messages of a rendered stereo camera."""

from types import SimpleNamespace

import numpy as np
import pytest

import parafield as pf


def make(name, /, **fields):
    """A message with these fields, for parafield.ros.messages."""
    return SimpleNamespace(kind=name, **fields)


def header(seconds=0.0, frame="camera"):
    stamp = round(seconds * 1e9)
    return make(
        "std_msgs/msg/Header",
        frame_id=frame,
        stamp=make("builtin_interfaces/msg/Time", sec=stamp // 10**9, nanosec=stamp % 10**9),
    )


def image(pixels, encoding, seconds=0.0, pad=0, big=False):
    """A sensor_msgs/Image, whose rows have `pad` bytes more than they need."""
    pixels = pixels.astype(pixels.dtype.newbyteorder(">" if big else "<"))
    rows = np.ascontiguousarray(pixels).view(np.uint8).reshape(len(pixels), -1)
    rows = np.pad(rows, ((0, 0), (0, pad)), constant_values=77)
    return make(
        "sensor_msgs/msg/Image",
        header=header(seconds),
        height=pixels.shape[0],
        width=pixels.shape[1],
        encoding=encoding,
        is_bigendian=int(big),
        step=rows.shape[1],
        data=rows.tobytes(),
    )


def camera_info(
    shape=(48, 64), focal=64.0, cx=31.5, cy=23.5, baseline=0.0, d=(), model="plumb_bob", r=None, **others
):
    """A sensor_msgs/CameraInfo of a rectified camera, `baseline` m to the right of the left one."""
    fields = dict(
        header=header(),
        height=shape[0],
        width=shape[1],
        distortion_model=model,
        d=list(d),
        k=[focal, 0, cx, 0, focal, cy, 0, 0, 1],
        r=np.eye(3).ravel() if r is None else np.ravel(r),
        p=[focal, 0, cx, -focal * baseline, 0, focal, cy, 0, 0, 0, 1, 0],
        binning_x=0,
        binning_y=0,
        roi=SimpleNamespace(x_offset=0, y_offset=0, height=0, width=0, do_rectify=False),
    )
    return make("sensor_msgs/msg/CameraInfo", **(fields | others))


@pytest.fixture(scope="session")
def messages():
    """The functions of this file."""
    return SimpleNamespace(make=make, header=header, image=image, camera_info=camera_info)


@pytest.fixture(scope="session")
def rig():
    """Images and camera_info of a rectified stereo camera: left, right, left_info, right_info."""
    left, right = pf.render_scene("stereo", shape=(120, 160), seed=3, color=True).frames
    info = dict(shape=(120, 160), focal=128.0, cx=79.5, cy=59.5)
    return SimpleNamespace(
        left=image(left, "rgb8"),
        right=image(right, "rgb8"),
        left_info=camera_info(**info),
        right_info=camera_info(baseline=0.17, **info),
    )
