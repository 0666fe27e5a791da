# SPDX-License-Identifier: MIT
"""Messages of ROS in and out of parafield, without ROS: for the nodes of parafield_ros and for parafield-bag.

Messages are objects with the fields of ROS's definitions, from rclpy or from rosbags. Errors are
parafield.Error.
"""

from .cameras import calibration_of, camera_of, geometry_of, plan_of
from .images import Picture, picture_of
from .queues import Mailbox, Synchronizer
from .solvers import Detected, DetectionSolver, Disparities, FlowSolver, Motion, StereoSolver

__all__ = [
    "Detected",
    "DetectionSolver",
    "Disparities",
    "FlowSolver",
    "Mailbox",
    "Motion",
    "Picture",
    "StereoSolver",
    "Synchronizer",
    "calibration_of",
    "camera_of",
    "geometry_of",
    "picture_of",
    "plan_of",
]
