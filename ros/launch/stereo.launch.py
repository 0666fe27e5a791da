# SPDX-License-Identifier: MIT
"""The node stereo, with the arguments that stereo_image_proc.launch.py has for it."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

ARGUMENTS = {  # name: (default, type of the node's parameter, description)
    "approximate_sync": ("False", bool, "Pair images whose stamps differ slightly."),
    "use_system_default_qos": ("False", bool, "Subscribe reliably instead of best effort."),
    "avoid_point_cloud_padding": ("False", bool, "Points without alignment, of half the size."),
    "use_color": ("True", bool, "Points with colors."),
    "rectify": ("False", bool, "Take image_raw and rectify it by camera_info, instead of image_rect."),
    "method": ("", str, "Method of stereo; empty for the default."),
    "preset": ("fast", str, "Preset of the method."),
    "device": ("auto", str, "auto, cpu, cuda or cuda:1."),
}
TOPICS = ("image_rect", "image_raw", "camera_info")


def generate_launch_description():
    sides = {side: LaunchConfiguration(f"{side}_namespace") for side in ("left", "right")}
    return LaunchDescription(
        [
            DeclareLaunchArgument("namespace", default_value="", description="Namespace of the node."),
            *(
                DeclareLaunchArgument(
                    f"{side}_namespace", default_value=side, description=f"Namespace of the {side} camera."
                )
                for side in sides
            ),
            *(
                DeclareLaunchArgument(name, default_value=default, description=text)
                for name, (default, _, text) in ARGUMENTS.items()
            ),
            Node(
                package="parafield_ros",
                executable="stereo",
                namespace=LaunchConfiguration("namespace"),
                parameters=[
                    {
                        name: ParameterValue(LaunchConfiguration(name), value_type=kind)
                        for name, (_, kind, _) in ARGUMENTS.items()
                    }
                ],
                remappings=[
                    (f"{side}/{name}", [namespace, f"/{name}"])
                    for side, namespace in sides.items()
                    for name in TOPICS
                ],
            ),
        ]
    )
