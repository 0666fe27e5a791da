# SPDX-License-Identifier: MIT
from glob import glob

from setuptools import setup

setup(
    name="parafield_ros",
    version="0.1.0",
    description="Stereo, optical flow and motion detection of image topics by parafield",
    license="MIT",
    packages=["parafield_ros"],
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/parafield_ros"]),
        ("share/parafield_ros", ["package.xml"]),
        ("share/parafield_ros/launch", glob("launch/*.launch.py")),
    ],
    install_requires=["parafield"],
    zip_safe=True,
    entry_points={
        "console_scripts": [
            "stereo = parafield_ros.stereo:main",
            "flow = parafield_ros.flow:main",
            "detect = parafield_ros.detect:main",
        ]
    },
)
