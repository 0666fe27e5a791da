# SPDX-License-Identifier: MIT
"""Nodes of ROS 2 for parafield: stereo, flow, detect."""
