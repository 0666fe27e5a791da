# SPDX-License-Identifier: MIT
"""The node flow: optical flow from each image of a topic to the next."""

from __future__ import annotations

from typing import Any

from sensor_msgs.msg import Image

import parafield as pf
from parafield.ros import FlowSolver
from parafield.ros.messages import flow_message, image_message, mask_message

from .node import SolverNode, make, run, wanted


class FlowNode(SolverNode):
    """Takes image.

    Results have the header of the image whose pixels move, which is the one before the newest.
    """

    def __init__(self) -> None:
        super().__init__("flow", pf.flow, "default")
        self._per_second = self.fixed(
            "per_second", False, "Flow in px/s by the images' stamps, instead of px."
        )
        self._max_motion = self.fixed("max_motion", 0.0, "Motion with full color, px; 0: each image's own.")
        self._flow = self.output(Image, "flow")
        self._valid = self.output(Image, "flow/valid")
        self._color = self.output(Image, "flow/color")
        self.subscribe(Image, "image", self._on_image)

    def make_solver(self, arguments: dict[str, Any]) -> FlowSolver:
        return FlowSolver(**arguments)

    def _on_image(self, image: Image) -> None:
        self.received += 1
        self.mailbox.put(image)

    def solve(self, solver: FlowSolver, message: Any) -> bool:
        if not self.has_subscribers():
            solver.reset()
            return False
        motion = solver(message)
        if motion is None:
            return False
        flow, header = motion.flow, motion.header
        if wanted(self._flow):
            self._flow.publish(flow_message(make, header, flow, motion.seconds if self._per_second else None))
        if wanted(self._valid):
            self._valid.publish(mask_message(make, header, flow.valid))
        if wanted(self._color):
            picture = pf.color_flow(flow, max_motion=self._max_motion)
            self._color.publish(image_message(make, header, picture, "rgb8"))
        return True


def main(args: list[str] | None = None) -> int:
    return run(FlowNode, args)
