# SPDX-License-Identifier: MIT
"""Estimators that take messages."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

import parafield as pf

from .cameras import calibration_of, geometry_of, image_shape_of, plan_of
from .images import Picture, picture_of

_Estimator = TypeVar("_Estimator", pf.FlowEstimator, pf.StereoEstimator, pf.MotionDetector)


@dataclass(frozen=True)
class Disparities:
    """Disparities of a rectified pair. `view` is the left view, and `shown` its values of black and white."""

    disparity: pf.DisparityField
    view: Picture
    shown: tuple[float, float]
    geometry: pf.StereoGeometry
    min_disparity: int
    disparities: int

    @cached_property
    def depth(self) -> NDArray[np.float32]:
        """H x W, meters; NaN where the disparity is not valid."""
        g = self.geometry
        depth = pf.depth_of(self.disparity, g.focal, g.baseline, g.doffs)
        depth[~np.isfinite(depth)] = np.nan
        return depth

    @cached_property
    def colors(self) -> NDArray[np.uint8]:
        """Colors of the left view: H x W x 3, red, green, blue."""
        return self.view.rgb8(self.shown)


@dataclass(frozen=True)
class Motion:
    """Flow from one image of a topic to the next.

    `header` is the first one's, because its pixels have the flow.
    """

    flow: pf.FlowField
    header: Any
    next_header: Any

    @property
    def seconds(self) -> float:
        """The time between the two images."""
        return (stamp_of(self.next_header) - stamp_of(self.header)) * 1e-9


@dataclass(frozen=True)
class Detected:
    """What moves in the newest image, and boxes around it: N x 5, x, y, width, height, area (px)."""

    mask: pf.MotionMask
    boxes: NDArray[np.int32]


def stamp_of(header: Any) -> int:
    """The time of a header, ns."""
    return int(header.stamp.sec) * 1_000_000_000 + int(header.stamp.nanosec)


class _Solver(Generic[_Estimator]):
    """Keeps an estimator as long as images have one size, type and order of colors.

    `range` are the values of black and white (by default found in the first images); the other arguments
    are those of the estimator.
    """

    def __init__(
        self, kind: type[_Estimator], range: tuple[float, float] | None, arguments: dict[str, Any]
    ) -> None:
        self.estimator: _Estimator | None = None
        self._kind: type[_Estimator] = kind
        self._range, self._arguments = range, arguments
        self._made_for: Any = None
        kind(**arguments)  # checks them

    def _estimator_for(self, picture: Picture, range: tuple[float, float] | None = None) -> _Estimator:
        made_for = picture.pixels.shape, picture.pixels.dtype, picture.channels
        if self.estimator is None or made_for != self._made_for:
            self.estimator = self._kind(
                **self._arguments, range=range or self._range, channels=picture.channels
            )
            self._made_for = made_for
        return self.estimator

    def reset(self) -> None:
        """Forgets the images before the next one."""
        if self.estimator is not None:
            self.estimator.reset()


class StereoSolver(_Solver[pf.StereoEstimator]):
    """Disparities of pairs of images.

    With `rectify`, images are those of the cameras, and are undistorted and rectified by R and P of
    camera_info, as image_proc does it. Otherwise they must be rectified. `range` are the values of black
    and white; the other arguments are those of StereoEstimator.
    """

    def __init__(
        self, rectify: bool = False, range: tuple[float, float] | None = None, **arguments: Any
    ) -> None:
        super().__init__(pf.StereoEstimator, range, arguments)
        self._rectify = rectify
        self._rectifier: pf.Rectifier | None = None
        self._geometry: pf.StereoGeometry | None = None
        self._cameras: Any = None

    def __call__(self, left: Any, right: Any, left_info: Any, right_info: Any) -> Disparities:
        """The disparities of two sensor_msgs/Image, with their sensor_msgs/CameraInfo. Raises Error."""
        first, second = picture_of(left), picture_of(right)
        self._set_cameras(left_info, right_info, first.pixels.shape[:2])
        assert self._geometry is not None
        pixels, others, channels, shown = first.pixels, second.pixels, first.channels, self._range
        if first.channels != second.channels and None not in (first.channels, second.channels):
            others = others[..., 2::-1]
        if self._rectifier is not None:
            if shown is None and pixels.dtype != np.uint8 and self.estimator is not None:
                shown = self.estimator.range
            views = self._rectifier(pixels, others, range=shown, channels=channels)
            pixels, others, shown = views.left, views.right, views.range
            channels = None if channels is None else "rgb"
        view = Picture(pixels, channels)
        estimator = self._estimator_for(view, shown)
        field = estimator.push(pixels, others)
        method = estimator.method
        return Disparities(
            field, view, estimator.range or (0, 255), self._geometry, method.min_disparity, method.disparities
        )

    def _set_cameras(self, left: Any, right: Any, shape: tuple[int, ...]) -> None:
        cameras = shape, *(_content_of(info) for info in (left, right))
        if cameras == self._cameras:
            return
        for side, info in (("left", left), ("right", right)):
            if image_shape_of(info) != tuple(shape):
                expected = image_shape_of(info)
                raise pf.Error(
                    f"{side} camera_info is for images of {expected[1]}x{expected[0]} px, the images are "
                    f"{shape[1]}x{shape[0]} px"
                )
        self._geometry, self._rectifier = geometry_of(left, right), None
        if self._rectify:
            self._rectifier = pf.Rectifier(
                calibration_of(left, right),
                plan=plan_of(left, right),
                device=self._arguments.get("device"),
                threads=self._arguments.get("threads"),
            )
        self.reset()
        self._cameras = cameras


def _content_of(info: Any) -> Any:
    lists = [
        tuple(getattr(info, name) if hasattr(info, name) else getattr(info, name.upper())) for name in "dkrp"
    ]
    roi = info.roi
    return (
        *lists,
        info.distortion_model,
        info.height,
        info.width,
        info.binning_x,
        info.binning_y,
        roi.x_offset,
        roi.y_offset,
        roi.height,
        roi.width,
    )


class FlowSolver(_Solver[pf.FlowEstimator]):
    """Flow from each image of a topic to the next.

    `range` and the other arguments are those of FlowEstimator.
    """

    def __init__(self, range: tuple[float, float] | None = None, **arguments: Any) -> None:
        super().__init__(pf.FlowEstimator, range, arguments)
        self._headers: deque[Any] = deque()

    def __call__(self, message: Any) -> Motion | None:
        """Adds a sensor_msgs/Image.

        Returns the flow of the newest images, once there are enough. Raises Error.
        """
        picture = picture_of(message)
        before = self.estimator
        estimator = self._estimator_for(picture)
        if estimator is not before or (
            self._headers and stamp_of(message.header) < stamp_of(self._headers[-1])
        ):
            self.reset()
        self._headers.append(message.header)
        frames = estimator.method.frames
        while len(self._headers) > frames:
            self._headers.popleft()
        flow = estimator.push(picture.pixels)
        if flow is None:
            return None
        middle = (frames - 1) // 2
        return Motion(flow, self._headers[middle], self._headers[middle + 1])

    def reset(self) -> None:
        super().reset()
        self._headers.clear()


class DetectionSolver(_Solver[pf.MotionDetector]):
    """What moves in the images of a still camera.

    Boxes are of regions of `min_area` px or more. `range` and the other arguments are those of
    MotionDetector.
    """

    def __init__(
        self, min_area: int = 50, range: tuple[float, float] | None = None, **arguments: Any
    ) -> None:
        super().__init__(pf.MotionDetector, range, arguments)
        self._min_area = min_area

    def __call__(self, message: Any) -> Detected | None:
        """Adds a sensor_msgs/Image. Returns what moves in it; None for the first image. Raises Error."""
        picture = picture_of(message)
        mask = self._estimator_for(picture).push(picture.pixels)
        if mask is None:
            return None
        return Detected(mask, pf.find_boxes(mask.moving, min_area=self._min_area))
