#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""F1 of motion detection on rendered scenes and on CDnet's highway: `parafield detect` by differences and against a
learned background, beside OpenCV's KNN and MOG2 with a median of 5x5, on the same frames.

    motion.py [--parafield COMMAND] [--seeds 1 2 3] [--frames 400] [--data FOLDER] [-o FILE.md]

Needs OpenCV for Python (opencv-python-headless) and the command. Masks are scored from frame 30 on; those of highway
from frame 701 (CDnet's number) of 880, after learning from 470 on. All have their default parameters.
"""
import argparse
import pathlib
import subprocess
import tempfile

import cv2
import numpy as np

CONDITIONS = ["steady", "swaying", "drifting", "jumping", "stopping", "noisy"]
METHODS = ["icm", "icm-background", "annealing-background", "winner-takes-all-background"]


def opencv_masks(make, frames):
    """Masks of a background subtractor; shadows count as static."""
    subtractor = make()
    for frame in frames:
        yield cv2.medianBlur((subtractor.apply(frame) == 255).astype(np.uint8), 5) > 0


def parafield_masks(command, method, files):
    """Masks of `parafield detect`; the first frame has none."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([command, "detect", *files, "-m", method, "-q", "-o", f"{folder}/%06d.png"], check=True,
                       stdout=subprocess.DEVNULL)
        yield None
        for file in sorted(pathlib.Path(folder).iterdir()):
            yield cv2.imread(str(file), cv2.IMREAD_GRAYSCALE) > 0


def f1(masks, labels, first):
    """F1 by CDnet's rules: 255 moves, 0 and 50 do not, others do not count. `labels` may have None."""
    right = false = missed = 0
    for i, (mask, label) in enumerate(zip(masks, labels)):
        if i < first or mask is None or label is None:
            continue
        right += int((mask & (label == 255)).sum())
        false += int((mask & ((label == 0) | (label == 50))).sum())
        missed += int((~mask & (label == 255)).sum())
    return 2 * right / (2 * right + false + missed)


def row(name, command, files, labels, first):
    frames = [cv2.imread(str(file)) for file in files]
    scores = [f1(parafield_masks(command, method, files), labels, first) for method in METHODS]
    for make in (cv2.createBackgroundSubtractorKNN, cv2.createBackgroundSubtractorMOG2):
        scores.append(f1(opencv_masks(make, frames), labels, first))
    return f"| {name} | " + " | ".join(f"{score:.3f}" for score in scores) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parafield", default="parafield", help="the command")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--data", type=pathlib.Path, help="folder with cdnet/highway and cdnet/highway_a")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="write the table there, too")
    options = parser.parse_args()
    head = ["frames", *(f"`{method}`" for method in METHODS), "KNN", "MOG2"]
    table = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    print("\n".join(table))

    def add(*arguments):
        table.append(row(*arguments))
        print(table[-1], flush=True)

    for seed in options.seeds:
        for conditions in CONDITIONS:
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([options.parafield, "synth", "square", "--size", "320x240", "--frames",
                                str(options.frames), "--seed", str(seed), "--conditions", conditions, "-o", folder,
                                "-q"], check=True)
                files = sorted(pathlib.Path(folder).glob("frame*"))
                labels = [None, *(cv2.imread(str(file), cv2.IMREAD_GRAYSCALE)
                                  for file in sorted(pathlib.Path(folder).glob("moving*")))]
                add(f"square, {conditions}, seed {seed}", options.parafield, files, labels, 30)
    if options.data:
        for name, folder, first in [("highway", "highway/input_jpg", 231), ("highway_a", "highway_a/gray", 3)]:
            files = sorted((options.data / "cdnet" / folder).iterdir())
            labels = [cv2.imread(str(file), cv2.IMREAD_GRAYSCALE)
                      for file in sorted((options.data / "cdnet" / name / "groundtruth").iterdir())]
            add(name, options.parafield, files, labels, first)
    if options.output:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=pathlib.Path(__file__).parent,
                                capture_output=True, text=True, check=True).stdout.strip()
        facts = ["device: cpu (F1 is the same on every device)", f"OpenCV: {cv2.__version__}",
                 "parameters: the defaults of all methods; a median of 5x5 on OpenCV's masks, whose shadows are static",
                 f"frames: {options.frames} of 320x240 for `square`, scored from frame 30 on", f"commit: {commit}"]
        options.output.write_text("# F1 of motion detection beside OpenCV's background subtractors\n\n- "
                                  + "\n- ".join(facts) + "\n\n" + "\n".join(table) + "\n")


if __name__ == "__main__":
    main()
