# SPDX-License-Identifier: MIT
"""The command parafield-bag."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import parafield as pf

from .bag import CAMERA_INFO, IMAGE, BagReader, BagWriter
from .bag_options import parse
from .messages import (
    depth_message,
    disparity_message,
    flow_message,
    image_message,
    mask_message,
    points_message,
)
from .queues import Synchronizer
from .solvers import Detected, DetectionSolver, Disparities, FlowSolver, Motion, StereoSolver, stamp_of

_DONE, _FAILED, _WRONG_WORDS, _INTERRUPTED = 0, 1, 2, 130


def main(arguments: list[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    with warnings.catch_warnings():
        warnings.showwarning = _note
        return _run(list(sys.argv[1:] if arguments is None else arguments))


def _note(message: Warning | str, *_: Any, **__: Any) -> None:
    sys.stderr.write(f"parafield-bag: note: {message}\n")


def _run(arguments: list[str]) -> int:
    try:
        options, parameters = parse(arguments)
        with BagReader(options.bag_in) as bag:
            if options.task == "topics":
                for name, (kind, count) in bag.topics.items():
                    print(f"{name}  {kind}  {count}")
                return _DONE
            with contextlib.ExitStack() as stack:
                counts = _Job(bag, options, parameters, stack).run()
        if not options.quiet:
            sys.stderr.write(f"parafield-bag: {counts}\n")
        return _DONE
    except pf.Error as error:
        sys.stderr.write(f"parafield-bag: {error}\n")
        return _WRONG_WORDS if error.code == "invalid_argument" else _FAILED
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return _FAILED
    except OSError as error:
        sys.stderr.write(f"parafield-bag: {error}\n")
        return _FAILED


class _Job:
    """One job: images of a bag go through a solver to files and to a new bag."""

    def __init__(
        self,
        bag: BagReader,
        options: argparse.Namespace,
        parameters: dict[str, Any],
        stack: contextlib.ExitStack,
    ) -> None:
        self._bag, self._options = bag, options
        self._results = self._unmatched = 0
        common = {
            "method": options.method,
            "preset": options.preset,
            "threads": options.threads,
            "device": None if options.device == "auto" else options.device,
            "range": options.range,
            **parameters,
        }
        outputs = [
            getattr(options, name)
            for name in ("output", "color", "depth", "points", "valid", "boxes", "times", "bag")
            if name in options
        ]
        if not any(outputs):
            raise pf.Error("nothing to write: give -o, --bag or another output")
        self._sets = self._pairs() if options.task == "stereo" else self._images()
        self._solver: Any
        if options.task == "stereo":
            self._solver = StereoSolver(options.rectify, **common)
        elif options.task == "flow":
            self._solver = FlowSolver(**common)
        else:
            self._solver = DetectionSolver(options.min_area, **common)
        self._times = stack.enter_context(open(options.times, "w")) if options.times else None
        boxes = getattr(options, "boxes", None)
        self._boxes = sys.stdout if boxes == "-" else stack.enter_context(open(boxes, "w")) if boxes else None
        self._writer = stack.enter_context(BagWriter(options.bag, options.storage)) if options.bag else None

    def run(self) -> str:
        """Solves everything and returns what was done, in words."""
        write: Any = {"stereo": self._write_stereo, "flow": self._write_flow, "detect": self._write_mask}
        images = 0
        for time, messages in self._sets:
            images += 1
            result = self._solver(*messages)
            if result is None:
                continue
            header = getattr(result, "header", messages[0].header)
            write[self._options.task](time, header, result)
            if self._times:
                stamp = stamp_of(header)
                self._times.write(f"{self._results} {stamp // 10**9}.{stamp % 10**9:09}\n")
            self._results += 1
        if not images:
            raise pf.Error(
                (
                    f"no {'pairs of images' if self._options.task == 'stereo' else 'images'} in "
                    f"{self._bag.path}: {self._unmatched} images have no partner of the same time; "
                    "--tolerance allows a difference"
                    if self._unmatched
                    else f"no images in {self._bag.path}"
                ),
                "file",
            )
        without = f", {self._unmatched} images without a partner" if self._unmatched else ""
        return f"{self._results} results{without}"

    def _images(self) -> Iterator[tuple[int, list[Any]]]:
        topic = self._bag.topic(self._options.image, IMAGE, "--image")
        return ((time, [message]) for _, time, message in self._bag.messages([topic]))

    def _pairs(self) -> Iterator[tuple[int, list[Any]]]:
        options, bag = self._options, self._bag
        images = [
            bag.topic(options.left, IMAGE, "--left", "left"),
            bag.topic(options.right, IMAGE, "--right", "right"),
        ]
        if images[0] == images[1]:
            raise pf.Error(f"--left and --right are the same topic, {images[0]}")
        infos = []
        for side, image, given in zip(("left", "right"), images, (options.left_info, options.right_info)):
            sibling = image.rsplit("/", 1)[0] + "/camera_info"
            name = given or (sibling if sibling in bag.topics else None)
            infos.append(bag.topic(name, CAMERA_INFO, f"--{side}-info", side))
        return self._matched(images, infos)

    def _matched(self, images: list[str], infos: list[str]) -> Iterator[tuple[int, list[Any]]]:
        pairs = Synchronizer(2, 50, round(self._options.tolerance * 1e9))
        cameras: list[Any] = [None, None]
        waiting: list[tuple[int, list[Any]]] = []
        for topic, time, message in self._bag.messages(images + infos):
            if topic in infos:
                cameras[infos.index(topic)] = message
            else:
                pair = pairs.add(images.index(topic), stamp_of(message.header), message)
                if pair is not None:
                    waiting.append((time, pair))
            if None not in cameras:
                for earlier, pair in waiting:
                    yield earlier, [*pair, *cameras]
                waiting.clear()
            elif len(waiting) > 50:
                break
        if waiting:
            raise pf.Error(
                f"{self._bag.path} has images, but no messages of {' and '.join(infos)} at its start", "file"
            )
        pairs.clear()
        self._unmatched = pairs.unmatched

    def _path(self, pattern: str) -> str:
        return pattern % self._results

    def _write_stereo(self, time: int, header: Any, result: Disparities) -> None:
        options, field = self._options, result.disparity
        if options.output:
            pf.write_disparity(self._path(options.output), field)
        if options.color:
            low = result.min_disparity  # all pictures share one scale
            picture = pf.color_disparity(field, low, low + result.disparities - 1)
            pf.write_frame(self._path(options.color), picture)
        if options.valid:
            pf.write_mask(self._path(options.valid), field.valid)
        if options.depth:
            pf.write_depth(self._path(options.depth), np.nan_to_num(result.depth, nan=np.inf))
        if options.points:
            points = pf.points_of(field, result.colors, result.geometry)
            pf.write_points(self._path(options.points), *points)
        if self._writer:
            make, header = self._writer.make, self._writer.header(header)
            self._writer.write("/disparity", time, disparity_message(make, header, result))
            self._writer.write("/depth", time, depth_message(make, header, result))
            self._writer.write("/valid", time, mask_message(make, header, field.valid))
            if options.bag_points:
                self._writer.write("/points2", time, points_message(make, header, result))

    def _write_flow(self, time: int, header: Any, result: Motion) -> None:
        options, flow = self._options, result.flow
        if options.output:
            pf.write_flow(self._path(options.output), flow)
        if options.color:
            pf.write_frame(self._path(options.color), pf.color_flow(flow, max_motion=options.max_motion))
        if options.valid:
            pf.write_mask(self._path(options.valid), flow.valid)
        if self._writer:
            make, header = self._writer.make, self._writer.header(header)
            self._writer.write("/flow", time, flow_message(make, header, flow))
            self._writer.write("/flow/valid", time, mask_message(make, header, flow.valid))
            color = pf.color_flow(flow, max_motion=options.max_motion)
            self._writer.write("/flow/color", time, image_message(make, header, color, "rgb8"))

    def _write_mask(self, time: int, header: Any, result: Detected) -> None:
        options, moving = self._options, result.mask.moving
        if options.output:
            pf.write_mask(self._path(options.output), moving)
        if self._boxes:
            names = ("x", "y", "width", "height", "area")
            line = {
                "time": stamp_of(header) * 1e-9,
                "moving": round(float(moving.mean()), 6),
                "boxes": [dict(zip(names, box)) for box in result.boxes.tolist()],
            }
            self._boxes.write(json.dumps(line) + "\n")
        if self._writer:
            message = mask_message(self._writer.make, self._writer.header(header), moving)
            self._writer.write("/mask", time, message)


if __name__ == "__main__":
    sys.exit(main())
