# SPDX-License-Identifier: MIT
"""The node detect: what moves in the images of a still camera."""

from __future__ import annotations

import importlib
from typing import Any

from sensor_msgs.msg import Image

import parafield as pf
from parafield.ros import DetectionSolver
from parafield.ros.messages import mask_message

from .node import SolverNode, make, run, wanted


def boxes_message(messages: Any, header: Any, boxes: Any) -> Any:
    """A Detection2DArray of rows x, y, width, height, area. `messages` is the module vision_msgs.msg."""
    found = messages.Detection2DArray(header=header)
    for x, y, width, height, _ in boxes.tolist():
        detection = messages.Detection2D(header=header)
        center = detection.bbox.center
        position = getattr(center, "position", center)  # a geometry_msgs/Pose2D before Humble
        position.x, position.y = x + (width - 1) / 2, y + (height - 1) / 2
        detection.bbox.size_x, detection.bbox.size_y = float(width), float(height)
        found.detections.append(detection)
    return found


class DetectNode(SolverNode):
    """Takes image. Boxes need the package vision_msgs."""

    def __init__(self) -> None:
        super().__init__("detect", pf.detection, "default")
        self._min_area = self.fixed("min_area", 50, "Least area of a box's region, px.")
        self._background = self.fixed(
            "background", "", "File of a learned background to start from, of the same method. Empty: none."
        )
        self._mask = self.output(Image, "mask")
        self._boxes: Any = None
        try:
            self._messages = importlib.import_module("vision_msgs.msg")
            self._boxes = self.output(self._messages.Detection2DArray, "boxes")
        except ImportError:
            self.get_logger().info("no boxes, because the package vision_msgs is not installed")
        self.subscribe(Image, "image", self._on_image)

    def make_solver(self, arguments: dict[str, Any]) -> DetectionSolver:
        return DetectionSolver(self._min_area, background=self._background or None, **arguments)

    def _on_image(self, image: Image) -> None:
        self.received += 1
        self.mailbox.put(image)

    def solve(self, solver: DetectionSolver, message: Any) -> bool:
        found = solver(message)  # without subscribers, too, because methods learn
        if found is None:
            return False
        if wanted(self._mask):
            self._mask.publish(mask_message(make, message.header, found.mask.moving))
        if self._boxes is not None and wanted(self._boxes):
            self._boxes.publish(boxes_message(self._messages, message.header, found.boxes))
        return True


def main(args: list[str] | None = None) -> int:
    return run(DetectNode, args)
