# SPDX-License-Identifier: MIT
"""The command parafield-extract."""

import argparse
import os
import re
import signal
import sys
from types import FrameType
from typing import Any

import parafield as pf
from parafield.arguments import range_of

from .extraction import extract
from .settings import DTYPES, FORMATS, resolve_method

_DONE, _FAILED, _WRONG_WORDS, _INTERRUPTED, _TERMINATED = 0, 1, 2, 130, 143

_EPILOG = """\
Every parameter of the method is also an option (--iterations 5, --fb-check 0.5, --fill);
`parafield methods NAME` lists them. @FILE stands for the arguments in a file, one per line.

examples:
  parafield-extract videos -o flow                          # one .npz for each video in the folder and below
  parafield-extract videos -o flow -f jpeg --short-side 256 # pairs of JPEG files for action recognition
  parafield-extract 'frames/*/' -o flow.zarr                # folders of images, one Zarr store
  parafield-extract videos -o flow --scheduler tcp://10.0.0.1:8786

Run the command again to continue an interrupted run. Exit codes: 0 done; 1 failed (see report.json);
2 wrong arguments; 130 Ctrl-C, 143 SIGTERM."""


def main(arguments: list[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    signal.signal(signal.SIGTERM, _terminate)
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        given, parameters = _parse(arguments)
        report = extract(**given, **parameters)
    except pf.Error as error:
        sys.stderr.write(f"parafield-extract: {error}\n")
        return _WRONG_WORDS if error.code == "invalid_argument" else _FAILED
    except KeyboardInterrupt:
        sys.stderr.write("parafield-extract: interrupted; run the same command to continue\n")
        return _INTERRUPTED
    except _Terminated:
        return _TERMINATED
    except OSError as error:
        sys.stderr.write(f"parafield-extract: {error}\n")
        return _FAILED
    return _DONE if report.ok else _FAILED


class _Terminated(BaseException):
    pass


def _terminate(number: int, frame: FrameType | None) -> None:
    raise _Terminated


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="parafield-extract",
        description="Optical flow of many videos and image folders, written as files.",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter, fromfile_prefix_chars="@",
        allow_abbrev=False)
    add = parser.add_argument
    add("inputs", nargs="+", metavar="INPUT",
        help="video, folder of images, pattern (frame%%05d.png), glob, or folder with many of them")
    add("-o", "--output", required=True, metavar="PATH", help="folder of the results, or Zarr store")
    add("-f", "--format", choices=FORMATS, help="by default zarr if the output ends in .zarr, otherwise npz")
    add("-m", "--method", default="adaptive-ridge", metavar="NAME")
    add("--preset", metavar="NAME", help="named values of the method's parameters")
    add("-d", "--device", metavar="DEVICE", help="auto, cpu, cuda or cuda:N; by default all GPUs, or the CPU")
    add("--dtype", choices=DTYPES, default="float16", help="type of npz and zarr (default: %(default)s)")
    add("--bound", type=float, default=20, metavar="PX",
        help="for jpeg: motion that becomes 255 (default: %(default)s)")
    add("--valid", action="store_true", help="also write where the flow is valid (npz and zarr)")
    add("--step", type=int, default=1, metavar="N", help="distance between the two frames of a pair")
    add("--stride", type=int, default=1, metavar="N",
        help="distance between the first frames of consecutive pairs")
    add("--start", type=int, default=0, metavar="N", help="first frame to use, from 0")
    add("--stop", type=int, metavar="N", help="first frame not to use")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--short-side", type=int, metavar="PX", help="shrink larger frames to this short side")
    size.add_argument("--size", dest="shape", type=_size, metavar="WxH", help="resize all frames to this")
    add("--color", choices=("gray", "rgb"),
        help="decode videos to luma or RGB; by default what the method uses")
    add("--range", type=range_of, metavar="LOW,HIGH", help="black and white of 16-bit and float frames")
    add("--workers", type=int, metavar="N", help="processes; 0: this one; by default one per GPU or core")
    add("--threads", type=int, metavar="N", help="threads of each process on the CPU")
    add("--scheduler", metavar="ADDRESS", help="Dask cluster that does the work, such as tcp://10.0.0.1:8786")
    add("--segment", type=int, default=1000, metavar="N",
        help="flows per segment when several processes share a long video (default: %(default)s)")
    add("--overwrite", action="store_true", help="replace results that were made with other settings")
    add("--report", metavar="PATH", help="JSON file of the report; by default report.json in the output")
    add("-q", "--quiet", action="store_true", help="no progress and no summary")
    add("--version", action="version", version=f"parafield-extract {pf.__version__}")
    return parser


def _size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text} is not WIDTHxHEIGHT, such as 340x256")
    return int(match[2]), int(match[1])


def _parse(arguments: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments of `extract`, and the method's parameters among them."""
    parser = _parser()
    known: list[str] = []
    others: dict[str, Any] = {}
    waiting = list(arguments)
    method, preset = _method_of(arguments)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            known += [word, *waiting]
            break
        name, equals, value = word.partition("=")
        if not name.startswith("--") or name in parser._option_string_actions:
            known.append(word)
            continue
        if not equals:
            takes_value = _takes_value(method, preset, name, waiting[0] if waiting else "")
            value = waiting.pop(0) if takes_value and waiting else "true"
        others[name[2:].replace("-", "_")] = _number(value)
    return vars(parser.parse_args(known)), others


def _method_of(arguments: list[str]) -> tuple[str, str | None]:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("-m", "--method", default="adaptive-ridge")
    parser.add_argument("--preset")
    found, _ = parser.parse_known_args(arguments)
    return found.method, found.preset


def _takes_value(method: str, preset: str | None, name: str, following: str) -> bool:
    """Whether an option of the method has a value: all have but those that are on or off."""
    value, _ = resolve_method(method, preset, {})
    field = getattr(value, name[2:].replace("-", "_"), None)
    if isinstance(field, bool):
        return following in ("true", "false", "on", "off")
    if field is not None:
        return True
    return isinstance(_number(following), (int, float)) and not os.path.exists(following)


def _number(text: str) -> bool | int | float | str:
    """Converts a text to a number or, for true, false, on and off, to a bool, if possible."""
    if text in ("true", "on"):
        return True
    if text in ("false", "off"):
        return False
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


if __name__ == "__main__":
    sys.exit(main())
