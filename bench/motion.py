#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scores motion detection against a learned background, scene by scene: F1, precision and recall by
CDnet's rules (255 moving, 0 and 50 static, other labels do not count).

    bench/motion.py PARAFIELD [--scenes FOLDER] [--only NAME,NAME] [-- OPTIONS OF DETECT...]

PARAFIELD is the command. Scenes are the conditions of `synth square` (320x240, color, 300 frames, scored
from frame 30), CDnet's highway from PARAFIELD_DATA, and with --scenes the subfolders of FOLDER: frame*.png
and gt*.png, one for each frame. A folder may have a file `first` with the number of the first frame that
counts. Needs numpy and OpenCV.
"""
import argparse
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import numpy as np

CONDITIONS = ("steady", "swaying", "drifting", "jumping", "stopping", "noisy",
              "waving", "shadowed", "leaving", "shaking", "lamp", "thermal")


def rendered(program, name, folder):
    """Frames and labels of a rendered scene; labels are None where a frame does not count."""
    subprocess.run([program, "synth", "square", "-o", folder, "--size", "320x240", "--frames", "300",
                    "--conditions", name, "--rgb", "-q"], check=True)
    frames = sorted(Path(folder).glob("frame*.png"))
    return frames, [Path(folder) / f"moving{i:04d}.png" if i >= 30 else None for i in range(len(frames))]


def highway(data, first, last, scored):
    numbers = range(first, last + 1)
    return ([data / f"cdnet/highway/input_jpg/in{i:06d}.jpg" for i in numbers],
            [data / f"cdnet/highway/groundtruth/gt{i:06d}.png" if i >= scored else None for i in numbers])


def own(folder):
    frames, labels = sorted(folder.glob("frame*.png")), sorted(folder.glob("gt*.png"))
    first = int((folder / "first").read_text()) if (folder / "first").exists() else 0
    return frames, [label if i >= first else None for i, label in enumerate(labels)]


def score(program, frames, labels, options):
    """F1, precision and recall."""
    right = wrong = missed = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "detect", *map(str, frames), "--background", "-o", f"{folder}/%04d.png",
                        "-q", *options], check=True)
        for i, label in enumerate(labels):
            if i == 0 or label is None:
                continue
            mask, truth = cv2.imread(f"{folder}/{i:04d}.png", 0) > 0, cv2.imread(str(label), 0)
            moving, static = truth == 255, (truth == 0) | (truth == 50)
            right += int((mask & moving).sum())
            wrong += int((mask & static).sum())
            missed += int((~mask & moving).sum())
    return (2 * right / max(2 * right + wrong + missed, 1), right / max(right + wrong, 1),
            right / max(right + missed, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--scenes", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("options", nargs="*")
    given = parser.parse_args()
    given.program = os.path.abspath(given.program)
    with tempfile.TemporaryDirectory() as room:
        scenes = {f"square {name}": lambda name=name: rendered(given.program, name, f"{room}/{name}")
                  for name in CONDITIONS}
        data = Path(os.environ.get("PARAFIELD_DATA", "../shared/data"))
        if (data / "cdnet/highway").is_dir():
            scenes["highway"] = lambda: highway(data, 470, 880, 701)
            scenes["highway, 50 frames"] = lambda: highway(data, 600, 649, 600)
        for folder in sorted(given.scenes.iterdir()) if given.scenes else []:
            scenes[folder.name] = lambda folder=folder: own(folder)
        names = given.only.split(",") if given.only else list(scenes)
        with ThreadPoolExecutor(given.jobs) as pool:
            found = list(pool.map(lambda name: score(given.program, *scenes[name](), given.options), names))
    for name, (f1, precision, recall) in zip(names, found):
        print(f"{name:20} F1 {f1:.3f}  precision {precision:.3f}  recall {recall:.3f}")
    print(f"{'mean':20} F1 {np.mean([one[0] for one in found]):.4f}")


if __name__ == "__main__":
    main()
