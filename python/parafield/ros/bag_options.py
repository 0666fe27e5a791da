# SPDX-License-Identifier: MIT
"""The options of the command parafield-bag."""

from __future__ import annotations

import argparse
from typing import Any

import parafield as pf
from parafield.arguments import range_of

from .bag import STORAGES

_TASKS = {"stereo": pf.stereo, "flow": pf.flow, "detect": pf.detection}
_HELP = {
    "stereo": "disparities, depths and points of two cameras",
    "flow": "the motion of each pixel to the next image",
    "detect": "what moves in front of a still camera",
    "topics": "list the topics of a bag",
}
_EPILOG = """\
BAG is a folder of ROS 2, an .mcap, a .db3, or a .bag of ROS 1. PATTERN has a number: d%%04d.pfm.
Every parameter of the method is also an option; `parafield methods NAME` lists them.

examples:
  parafield-bag topics drive.mcap
  parafield-bag stereo drive.mcap -o d%%04d.pfm --depth z%%04d.png --times times.txt
  parafield-bag stereo drive.mcap --rectify --left /left/image_raw --right /right/image_raw --bag depth
  parafield-bag flow drive.mcap --image /left/image_rect --preset fast --bag motion --storage sqlite3
  parafield-bag detect gate.mcap -m icm-background --boxes boxes.jsonl

Exit codes: 0 done; 1 failed; 2 wrong arguments; 130 Ctrl-C."""


def _pattern(text: str) -> str:
    try:
        if text % 1 != text % 2:
            return text
    except (TypeError, ValueError):
        pass
    raise argparse.ArgumentTypeError(f"{text} has no pattern of numbers such as %04d")


def _parser(method: Any) -> argparse.ArgumentParser:
    """The command's parser.

    `method` is a function: the class of a task's method of that name, None if unknown.
    """
    parser = argparse.ArgumentParser(
        prog="parafield-bag",
        description="Stereo, optical flow and motion detection of images in bags of ROS, without ROS.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"parafield-bag {pf.__version__}")
    tasks = parser.add_subparsers(dest="task", required=True, metavar="|".join(_HELP))
    for task, text in _HELP.items():
        own = tasks.add_parser(task, help=text, description=text, allow_abbrev=False)
        add = own.add_argument
        add("bag_in", metavar="BAG", help="folder of ROS 2, .mcap, .db3, or .bag of ROS 1")
        if task == "topics":
            continue
        if task == "stereo":
            for side in ("left", "right"):
                add(
                    f"--{side}",
                    metavar="TOPIC",
                    help=(
                        f"images of the {side} camera; by default the only topic of "
                        f"images with '{side}' in its name"
                    ),
                )
            for side in ("left", "right"):
                add(
                    f"--{side}-info",
                    metavar="TOPIC",
                    help="camera_info; by default the one next to the images",
                )
            add(
                "--rectify",
                action="store_true",
                help="rectify the images by camera_info; otherwise they must be rectified",
            )
            add(
                "--tolerance",
                type=float,
                default=0,
                metavar="SECONDS",
                help="largest difference of the stamps of a pair (default: 0)",
            )
        else:
            add("--image", metavar="TOPIC", help="images; by default the only topic of images")
        add(
            "-o",
            "--output",
            type=_pattern,
            metavar="PATTERN",
            help={
                "stereo": "disparities: .pfm, .png, .npy",
                "flow": "flow: .flo, .pfm, .npy, .png",
                "detect": "masks: .png",
            }[task],
        )
        if task == "detect":
            add(
                "--boxes",
                metavar="FILE",
                help="boxes of what moves, a line of JSON for each image; - for standard output",
            )
            add(
                "--min-area",
                type=int,
                default=50,
                metavar="PX",
                help="least area of a box's region (default: 50)",
            )
        else:
            add("--color", type=_pattern, metavar="PATTERN", help="pictures in colors")
            add("--valid", type=_pattern, metavar="PATTERN", help="masks of reliable pixels")
        if task == "flow":
            add(
                "--max-motion",
                type=float,
                default=0,
                metavar="PX",
                help="motion with full color; by default each picture's own",
            )
        if task == "stereo":
            add("--depth", type=_pattern, metavar="PATTERN", help="depths: .png in mm, .pfm or .npy in m")
            add("--points", type=_pattern, metavar="PATTERN", help="colored points: .ply")
            add("--bag-points", action="store_true", help="write points2 into the new bag, too")
        add("--times", metavar="FILE", help="a line for each result: its number, and its stamp in s")
        add("--bag", metavar="FOLDER", help="a new bag of ROS 2 with the topics of the node")
        add("--storage", choices=STORAGES, default="mcap", help="storage of the new bag (default: mcap)")
        add("-m", "--method", metavar="NAME")
        add("--preset", metavar="NAME", help="named values of the method's parameters")
        add("-d", "--device", default="auto", metavar="DEVICE", help="auto, cpu, cuda or cuda:N")
        add("--threads", type=int, metavar="N", help="threads on the CPU")
        add("--range", type=range_of, metavar="LOW,HIGH", help="black and white of 16-bit and float images")
        add("-q", "--quiet", action="store_true", help="no summary")
        group = own.add_argument_group("parameters of the method")
        for entry in (*method(task).parameters, *_TASKS[task].options()):
            name = "--" + entry["name"].replace("_", "-")
            kind = {"int": int, "float": float, "str": str}.get(entry["type"])
            if kind is None:
                group.add_argument(
                    name,
                    action=argparse.BooleanOptionalAction,
                    default=argparse.SUPPRESS,
                    help=argparse.SUPPRESS,
                )
            else:
                group.add_argument(name, type=kind, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    return parser


def parse(arguments: list[str]) -> tuple[argparse.Namespace, dict[str, Any]]:
    """The options, and the values of the method's parameters."""
    early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument("-m", "--method")
    name = early.parse_known_args(arguments)[0].method

    def method(task: str) -> Any:
        methods = _TASKS[task].methods()
        return next((method for method in methods if method.name == name), methods[0])

    options = _parser(method).parse_args(arguments)
    if options.task == "topics":
        return options, {}
    names = {entry["name"] for entry in (*method(options.task).parameters, *_TASKS[options.task].options())}
    return options, {name: value for name, value in vars(options).items() if name in names}
