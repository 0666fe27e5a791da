# SPDX-License-Identifier: MIT
"""Sequences with truth: rendered ones always, real ones where the data folder has them."""

import dataclasses
import pathlib
from typing import Any

import cv2
import numpy as np

import parafield as pf


@dataclasses.dataclass
class Sequence:
    """Frames with their truth. `group`: sequences whose errors are averaged."""

    name: str
    group: str
    frames: list[np.ndarray]  # two of flow, left and right of stereo, all of detection
    truth: Any  # a FlowField; disparities, NaN where unknown; labels of CDnet or None for each frame
    mask: np.ndarray | None = None  # pixels that count
    disparities: int = 0  # stereo: the truth lies below, a multiple of 16
    first: int = 0  # detection: the first frame that counts
    around: list[np.ndarray] = dataclasses.field(default_factory=list)  # five gray frames around the pair
    file: pathlib.Path | None = None  # stereo: of the true disparities, in units of 1 / scale px
    scale: int = 1

    @property
    def size(self):
        height, width = self.frames[0].shape[:2]
        return f"{width}x{height}"


def gray(frame):
    return frame if frame.ndim == 2 else cv2.cvtColor(np.ascontiguousarray(frame), cv2.COLOR_RGB2GRAY)


def flow_sequences(data, quick=False, color=False):
    """Pairs in gray or, with `color`, as they are."""
    shape = (60, 80) if quick else (480, 640)
    for scene in ("layers",) if quick else ("layers", "flythrough"):
        rendered = pf.render_scene(scene, shape=shape)
        yield Sequence(f"rendered {scene}", "rendered", list(rendered.frames[:2]), rendered.flow[0])
    if quick or not data:
        return
    real = [(name, "Middlebury", f"middlebury-flow/{name}", "frame{:02}.png", 10, "flow10.flo", None)
            for name in ("RubberWhale", "Grove2", "Dimetrodon", "Venus")]
    real += [("Yosemite, no clouds", "Yosemite", "yosemite/noclouds", "yos{:02}.png", 8, "yos08_nosky.flo", None),
             ("Yosemite, ground", "Yosemite", "yosemite/clouds", "yos{:02}.png", 9, "flow09.flo", "mask_ground.png"),
             ("KITTI 000010", "large motion", "kitti-flow/k_000010", "frame{:02}.png", 10, "flow_occ.png", None)]
    if color:
        real.append(("KITTI 000010, seen twice", "street", "kitti-flow/k_000010", "frame{:02}.png", 10, "flow_noc.png", None))
    real += [(f"Sintel, {kind}", "large motion", "sintel/hard", kind + "/frame_{:04}.png", 2, "flow_0002.flo",
              "mask_valid.png") for kind in ("clean", "final")]
    for name, group, folder, pattern, first, truth, mask in real:
        folder = data / folder
        if (folder / truth).exists():
            frames = [pf.read_frame(folder / pattern.format(first + i)) for i in range(2)]
            grays = folder / "gray" if (folder / "gray").exists() else folder
            around = [grays / pattern.format(first + i) for i in range(-2, 3)]
            yield Sequence(name, group, frames if color else list(map(gray, frames)), pf.read_flow(folder / truth),
                           mask and pf.read_mask(folder / mask),
                           around=[pf.read_frame(file) for file in around] if all(f.exists() for f in around) else [])


def stereo_sequences(data, quick=False):
    rendered = pf.render_scene("stereo", shape=(60, 160) if quick else (480, 640))
    yield with_disparities("rendered stereo", "rendered", rendered.frames[:2], np.array(rendered.disparity[0].d),
                           ~np.asarray(rendered.occluded[0]).astype(bool))
    if quick or not data:
        return
    for name, scale in ("tsukuba", 16), ("venus", 8), ("cones", 4), ("art", 3), ("aloe", 3), ("midd2", 3):
        folder = data / "middlebury-stereo" / name
        if (folder / "disp_left.png").exists():
            field = pf.read_disparity(folder / "disp_left.png", scale=scale)
            frames = [pf.read_frame(folder / file) for file in ("left.png", "right.png")]
            sequence = with_disparities(name.capitalize(), "Middlebury", frames, np.where(field.valid, field.d, np.nan),
                                        np.asarray(pf.read_mask(folder / "nonocc_derived.png")).astype(bool))
            yield dataclasses.replace(sequence, file=folder / "disp_left.png", scale=scale)


def with_disparities(name, group, frames, truth, mask):
    frames = [np.ascontiguousarray(frame if frame.ndim == 3 else np.repeat(frame[..., None], 3, 2)) for frame in frames]
    disparities = int(np.nanmax(truth)) + 1
    return Sequence(name, group, frames, truth, mask, disparities=-(-disparities // 16) * 16)


CONDITIONS = ("steady", "swaying", "drifting", "jumping", "stopping", "noisy")


def detection_sequences(data, quick=False, seeds=4):
    for seed in range(1, 2 if quick else seeds + 1):
        for conditions in CONDITIONS[:1] if quick else CONDITIONS:
            rendered = pf.render_scene("square", shape=(60, 80) if quick else (240, 320), frames=40 if quick else 400,
                                       seed=seed, conditions=conditions)
            labels = [None] + [np.where(np.asarray(moving), 255, 0).astype(np.uint8) for moving in rendered.moving]
            yield Sequence(f"square, {conditions}, seed {seed}", "rendered", list(rendered.frames), labels, first=30)
    if quick or not data:
        return
    # Frame 701 (CDnet's number) is the first of `highway` that counts, after learning from 470 on.
    for name, frames, first in ("highway", "highway/input_jpg", 231), ("highway_a", "highway_a/gray", 3):
        files = files_in(data / "cdnet" / frames)
        labels = files_in(data / "cdnet" / name / "groundtruth")
        if files and len(files) == len(labels):
            yield Sequence(name, "CDnet's highway" if name == "highway" else "highway, 40 frames",
                           [np.array(pf.read_frame(file)) for file in files],
                           [cv2.imread(str(file), cv2.IMREAD_GRAYSCALE) for file in labels], first=first)


def files_in(folder: pathlib.Path):
    return sorted(folder.iterdir()) if folder.is_dir() else []


SEQUENCES = {"flow": flow_sequences, "stereo": stereo_sequences, "detection": detection_sequences}
