# SPDX-License-Identifier: MIT
"""The node stereo: disparities, depth and points of a pair of cameras."""

from __future__ import annotations

from functools import partial
from typing import Any

from sensor_msgs.msg import CameraInfo, Image, PointCloud2
from stereo_msgs.msg import DisparityImage

import parafield as pf
from parafield.ros import StereoSolver, Synchronizer
from parafield.ros.messages import (
    depth_message,
    disparity_message,
    image_message,
    mask_message,
    points_message,
)
from parafield.ros.solvers import stamp_of

from .node import SolverNode, make, run, wanted


class StereoNode(SolverNode):
    """Takes left/image_rect and right/image_rect, or image_raw with `rectify`, with their camera_info."""

    def __init__(self) -> None:
        super().__init__("stereo", pf.stereo, "fast")
        approximate = self.fixed("approximate_sync", False, "Pair images whose stamps differ slightly.")
        tolerance = self.fixed(
            "approximate_sync_tolerance_seconds", 0.01, "Largest difference of their stamps."
        )
        self._rectify = self.fixed("rectify", False, "Take image_raw and rectify it by camera_info.")
        self._color = self.fixed("use_color", True, "Points with colors.")
        self._padded = not self.fixed("avoid_point_cloud_padding", False, "Points without alignment.")
        self._pairs = Synchronizer(2, self.queue_size, round(tolerance * 1e9) if approximate else 0)
        self._infos: list[Any] = [None, None]
        self._disparity = self.output(DisparityImage, "disparity")
        self._depth = self.output(Image, "depth")
        self._valid = self.output(Image, "valid")
        self._points = self.output(PointCloud2, "points2")
        self._view = self.output(Image, "left/image_rect") if self._rectify else None
        for channel, side in enumerate(("left", "right")):
            self.subscribe(
                Image,
                f"{side}/image_raw" if self._rectify else f"{side}/image_rect",
                partial(self._on_image, channel),
            )
            self.subscribe(CameraInfo, f"{side}/camera_info", partial(self._on_info, channel))

    def make_solver(self, arguments: dict[str, Any]) -> StereoSolver:
        return StereoSolver(rectify=self._rectify, **arguments)

    def unmatched(self) -> int:
        return self._pairs.unmatched

    def _on_info(self, channel: int, info: CameraInfo) -> None:
        self._infos[channel] = info

    def _on_image(self, channel: int, image: Image) -> None:
        self.received += 1
        pair = self._pairs.add(channel, stamp_of(image.header), image)
        if pair is None:
            return
        if None in self._infos:
            self.get_logger().warning(
                "images arrive, but no camera_info of both cameras yet", throttle_duration_sec=5.0
            )
            return
        self.mailbox.put([*pair, *self._infos])

    def solve(self, solver: StereoSolver, messages: Any) -> bool:
        if not self.has_subscribers():
            return False
        result, header = solver(*messages), messages[0].header
        if wanted(self._disparity):
            self._disparity.publish(disparity_message(make, header, result))
        if wanted(self._depth):
            self._depth.publish(depth_message(make, header, result))
        if wanted(self._valid):
            self._valid.publish(mask_message(make, header, result.disparity.valid))
        if wanted(self._points):
            self._points.publish(points_message(make, header, result, self._color, self._padded))
        if self._view is not None and wanted(self._view):
            gray = result.view.channels is None
            self._view.publish(
                image_message(
                    make,
                    header,
                    result.colors[..., 0] if gray else result.colors,
                    "mono8" if gray else "rgb8",
                )
            )
        return True


def main(args: list[str] | None = None) -> int:
    return run(StereoNode, args)
