# SPDX-License-Identifier: MIT
"""sensor_msgs/CameraInfo as calibrations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import parafield as pf

_PERSPECTIVE, _FISHEYE = ("plumb_bob", "rational_polynomial"), ("equidistant", "fisheye")
_NEAR = 1e-6  # relative


def camera_of(info: Any) -> pf.CalibratedCamera:
    """The camera of the image before rectification: K and D, for the image's binning and region of interest.

    Distortion models are plumb_bob, rational_polynomial, equidistant and fisheye; an empty D means no
    distortion. Raises Error.
    """
    k = _in_image(info, _values(info, "k", 9).reshape(3, 3))
    model, lens = str(info.distortion_model), _values(info, "d")
    if not lens.any():
        return pf.CalibratedCamera(k[0, 0], k[1, 1], k[0, 2], k[1, 2])
    if model not in _PERSPECTIVE + _FISHEYE:
        raise pf.Error(
            f"distortion_model {model!r} of camera_info is not supported; supported: "
            + ", ".join(_PERSPECTIVE + _FISHEYE),
            "unsupported",
        )
    if lens.size > 8 and model in _PERSPECTIVE and lens[8:].any():
        raise pf.Error(
            f"D of camera_info has {lens.size} coefficients; those after the eighth must be 0", "unsupported"
        )
    return pf.CalibratedCamera(k[0, 0], k[1, 1], k[0, 2], k[1, 2], lens[:8], fisheye=model in _FISHEYE)


def calibration_of(left: Any, right: Any) -> pf.StereoCalibration:
    """The calibration of images that are not rectified, from both cameras' K, D, R and P. Lengths are meters.

    Raises Error, also for cameras that were not calibrated as a pair.
    """
    rotations = [_values(info, "r", 9).reshape(3, 3) for info in (left, right)]
    baseline = geometry_of(left, right).baseline
    # A point X of the left camera is at R1 X in its rectified view, and at R1
    # X - (baseline, 0, 0) in the right one.
    return pf.StereoCalibration(
        camera_of(left),
        camera_of(right),
        rotations[1].T @ rotations[0],
        rotations[1].T @ np.array([-baseline, 0, 0]),
        image_shape_of(left),
    )


def plan_of(left: Any, right: Any) -> pf.Rectification:
    """The rectified views that both cameras' R and P describe, as image_proc makes them. Raises Error."""
    return pf.Rectification(
        image_shape_of(left),
        geometry_of(left, right),
        _values(left, "r", 9).reshape(3, 3),
        _values(right, "r", 9).reshape(3, 3),
    )


def geometry_of(left: Any, right: Any) -> pf.StereoGeometry:
    """The geometry of rectified images, from both cameras' P. The baseline is in meters. Raises Error."""
    first, second = (_in_image(info, _values(info, "p", 12).reshape(3, 4)) for info in (left, right))
    focal = first[0, 0]
    if not focal > 0 or not second[0, 0] > 0:
        raise pf.Error(
            f"camera_info has focal lengths of {focal} and {second[0, 0]} px in P; they must be above 0: "
            "calibrate both cameras as a pair"
        )
    lengths = [first[1, 1], second[0, 0], second[1, 1]]
    if (
        max(abs(np.subtract(lengths, focal))) > _NEAR * focal
        or abs(second[1, 2] - first[1, 2]) > _NEAR * focal
    ):
        raise pf.Error(
            "P of both camera_info must have one focal length and one cy: left fx, fy, cy are "
            f"{focal}, {first[1, 1]}, {first[1, 2]}, right {second[0, 0]}, {second[1, 1]}, {second[1, 2]}"
        )
    baseline = (first[0, 3] - second[0, 3]) / focal
    if not baseline > 0:
        raise pf.Error(
            f"the baseline in P of both camera_info is {baseline} m; it must be above 0. Are left and right "
            "swapped, or not calibrated as a pair?"
        )
    return pf.StereoGeometry(focal, baseline, first[0, 2], first[1, 2], second[0, 2] - first[0, 2])


def image_shape_of(info: Any) -> tuple[int, int]:
    """Height and width of the images that camera_info describes, with its region of interest and binning."""
    roi = info.roi
    height, width = (roi.height, roi.width) if roi.height and roi.width else (info.height, info.width)
    return int(height) // max(int(info.binning_y), 1), int(width) // max(int(info.binning_x), 1)


def _values(info: Any, name: str, count: int = 0) -> NDArray[np.float64]:
    """A list of numbers, whose name ROS 2 writes with a small letter and ROS 1 with a capital."""
    values = np.array(getattr(info, name) if hasattr(info, name) else getattr(info, name.upper()), np.float64)
    if (count and values.size != count) or not np.isfinite(values).all():
        raise pf.Error(
            f"{name.upper()} of camera_info is {values.tolist()}; expected {count or 'finite'} numbers",
            "format",
        )
    if name == "r" and not values.any():
        raise pf.Error("R of camera_info is 0: the camera is not calibrated")
    return values


def _in_image(info: Any, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """A camera or projection matrix of the full image, for its region of interest and binning."""
    inside = matrix.copy()
    inside[0, 2] -= info.roi.x_offset
    inside[1, 2] -= info.roi.y_offset
    inside[0] /= max(int(info.binning_x), 1)
    inside[1] /= max(int(info.binning_y), 1)
    return inside
