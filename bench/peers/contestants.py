# SPDX-License-Identifier: MIT
"""Methods that are compared: those of parafield and those of OpenCV, on the CPU."""

import dataclasses
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

import parafield as pf


@dataclasses.dataclass
class Contestant:
    """A method for one sequence. `call` takes no argument, or the next frame of motion detection."""

    name: str
    library: str
    call: Callable[..., Any]  # returns the result, as `score` takes it


FLOW = {
    "adaptive-ridge": ("default", "fast", "fastest", "accurate", "large-motion"),
    "lucas-kanade": ("default", "accurate", "paper"),
    "direct-interpolation": ("default",),
    "multi-hypothesis": ("default",),
}
FLOW_LABELS = {"winner-takes-all": ("default",), "icm": ("default",), "belief-propagation": ("default",)}
STEREO = {
    "belief-propagation": ("quality", "fast", "accurate"),
    "winner-takes-all": ("default", "paper"),
    "icm": ("default",),
}
DETECTION = {
    "icm": ("default", "paper"),
    "annealing": ("default",),
    "winner-takes-all": ("default",),
    "icm-background": ("default",),
    "annealing-background": ("default",),
    "winner-takes-all-background": ("default",),
}


def values(task, table):
    """Names and values of methods."""
    known = {method.name: method for method in task.methods()}
    for name, presets in table.items():
        for preset in presets:
            yield f"{name} {preset}", known[name].preset(preset)


def flow_contestants(sequence, threads):
    first, second = sequence.frames
    search = {} if sequence.group == "large motion" else FLOW_LABELS  # they search 10 px far
    for name, method in values(pf.flow, FLOW | search):
        estimator = pf.FlowEstimator(method, device="cpu", threads=threads)
        yield Contestant(name, "parafield", lambda estimator=estimator: estimator(first, second))

    def dense(algorithm):
        return lambda: algorithm.calc(first, second, None)

    for preset in "ultrafast", "fast", "medium":
        value = getattr(cv2, f"DISOPTICAL_FLOW_PRESET_{preset.upper()}")
        yield Contestant(f"DIS {preset}", "OpenCV", dense(cv2.DISOpticalFlow.create(value)))
    yield Contestant("Farneback", "OpenCV", dense(cv2.FarnebackOpticalFlow.create()))
    height, width = first.shape
    y, x = np.mgrid[:height, :width].astype(np.float32)
    points = np.stack([x, y], -1).reshape(-1, 1, 2)

    def lucas_kanade():
        """At every pixel, with the parameters of the preset `paper` of lucas-kanade."""
        moved = cv2.calcOpticalFlowPyrLK(first, second, points, None, winSize=(11, 11), maxLevel=3,
                                         criteria=(cv2.TERM_CRITERIA_COUNT, 3, 0))[0]
        return (moved - points).reshape(height, width, 2)

    yield Contestant("dense pyramidal LK", "OpenCV", lucas_kanade)


def stereo_contestants(sequence, threads):
    left, right = sequence.frames
    disparities = sequence.disparities
    for name, method in values(pf.stereo, STEREO):
        estimator = pf.StereoEstimator(method.replace(disparities=disparities), device="cpu", threads=threads)
        yield Contestant(name, "parafield", lambda estimator=estimator: estimator(left, right))

    def matched(matcher, frames):
        return lambda: matcher.compute(*frames)

    grays = [cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in (left, right)]
    blocks = cv2.StereoBM.create(disparities, 15)
    blocks.setUniquenessRatio(0)
    blocks.setTextureThreshold(0)
    yield Contestant("StereoBM", "OpenCV", matched(blocks, grays))
    colors = [np.ascontiguousarray(frame[..., ::-1]) for frame in (left, right)]
    for name, mode in ("SGBM 3WAY", cv2.STEREO_SGBM_MODE_SGBM_3WAY), ("SGBM", cv2.STEREO_SGBM_MODE_SGBM), \
            ("SGBM HH", cv2.STEREO_SGBM_MODE_HH):
        # P1 and P2 as OpenCV's documentation has them: 8 and 32 times channels times the window's pixels.
        matcher = cv2.StereoSGBM.create(numDisparities=disparities, blockSize=5, P1=8 * 3 * 25, P2=32 * 3 * 25,
                                        mode=mode)
        yield Contestant(name, "OpenCV", matched(matcher, colors))


def detection_contestants(sequence, threads):
    for name, method in values(pf.detection, DETECTION):
        detector = pf.MotionDetector(method, device="cpu", threads=threads)
        yield Contestant(name, "parafield", detector.push)

    def masks(subtractor):
        """With a median of 5x5; shadows are static."""
        return lambda frame: cv2.medianBlur((subtractor.apply(frame) == 255).astype(np.uint8), 5)

    yield Contestant("KNN", "OpenCV", masks(cv2.createBackgroundSubtractorKNN()))
    yield Contestant("MOG2", "OpenCV", masks(cv2.createBackgroundSubtractorMOG2()))


CONTESTANTS = {"flow": flow_contestants, "stereo": stereo_contestants, "detection": detection_contestants}


def score_flow(result, sequence):
    scores = pf.evaluate(result, sequence.truth, mask=sequence.mask)
    return {"epe_px": scores.epe, "aae_degrees": scores.aae}


def score_stereo(result, sequence):
    """A pixel without a disparity is wrong in `bad_1`. The first columns, in which OpenCV has none, do not count."""
    if isinstance(result, np.ndarray):
        d = np.where(result < 0, np.nan, result / 16).astype(np.float64)
    else:
        d = np.asarray(result.d, np.float64)
    counts = np.isfinite(sequence.truth) & sequence.mask
    counts[:, :sequence.disparities] = False
    right = np.abs(d - sequence.truth) <= 1
    known = counts & np.isfinite(d)
    return {"bad_1": 1 - float(right[counts].mean()), "density": float(known.sum() / counts.sum()),
            "bad_1_where_known": 1 - float(right[known].mean())}


class MaskCounts:
    """F1 by CDnet's rules: 255 moves, 0 and 50 do not, others do not count."""

    def __init__(self):
        self.right = self.false = self.missed = 0

    def add(self, mask, labels):
        mask = (np.asarray(mask) if isinstance(mask, np.ndarray) else np.asarray(mask.moving)).astype(bool)
        self.right += int((mask & (labels == 255)).sum())
        self.false += int((mask & ((labels == 0) | (labels == 50))).sum())
        self.missed += int((~mask & (labels == 255)).sum())

    def scores(self):
        return {"f1": 2 * self.right / max(1, 2 * self.right + self.false + self.missed)}
