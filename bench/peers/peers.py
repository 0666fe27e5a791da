#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""parafield's methods next to OpenCV's on the CPU: errors and times on the same frames, in the same run.

    bench/peers/peers.py [--tasks TASK...] [--data FOLDER] [--threads N] [--json FILE] [--plots FOLDER]

It needs the Python package and opencv-python-headless, and for --plots matplotlib. Tasks: flow, stereo, detection.
Rendered scenes always, real sequences where --data, PARAFIELD_DATA or ../shared/data has them. --gpu FILE takes times of
`parafield bench --json` on a GPU for the plots: errors there are the same, bit for bit.

flow: endpoint error in px over all pixels with known truth. All methods get the same 8-bit gray frames. Defaults of
Farneback and DIS; pyramidal LK at every pixel has the parameters of `lucas-kanade paper`: window 11, 4 levels, 3
iterations. Label fields search 10 px far, so they are left out where motion is larger.
stereo: share of the pixels seen in both views whose disparity is not within 1 px of the truth; a pixel without a
disparity is wrong. All methods get the number N of disparities; the first N columns, in which OpenCV finds none, do not
count. All get color, StereoBM gray. StereoBM has a window of 15; SGBM one of 5, with P1 and P2 as its documentation
advises. Both without checks.
detection: F1 by CDnet's rules. Defaults; OpenCV's masks get a median of 5x5, and shadows are static. The scene `square`
counts from frame 30 on.
"""

import json
import os
import pathlib
import platform
import sys

import cv2
import numpy as np

import parafield as pf
from contestants import CONTESTANTS, MaskCounts, score_flow, score_stereo
from sequences import SEQUENCES

sys.path.append(str(pathlib.Path(__file__).parents[1] / "common"))
import measuring  # noqa: E402
from measuring import milliseconds, statistics_of, time_in_turn  # noqa: E402

SCORES = {"flow": "epe_px", "stereo": "bad_1", "detection": "f1"}
# Panels of the plots: the group whose errors are averaged, and the sequence whose time is shown.
PANELS = {
    "flow": [("Middlebury", "Grove2", "Middlebury, four pairs"),
             ("large motion", "KITTI 000010", "KITTI and Sintel, up to 132 px")],
    "stereo": [("Middlebury", "Cones", "Middlebury, six pairs")],
    "detection": [("rendered", "square, steady, seed 1", "rendered squares"),
                  ("CDnet's highway", "highway", "CDnet's highway")],
}
RENDERED = {"flow": "rendered layers", "stereo": "rendered stereo"}  # where there are no real sequences
LABELS = {"flow": "mean endpoint error, px", "stereo": "mean share of wrong pixels, %", "detection": "1 - mean F1"}

def measure_pairs(task, sequence, threads, quick):
    contestants = list(CONTESTANTS[task](sequence, threads))
    times, results = time_in_turn([one.call for one in contestants], 0 if quick else 1.5, 1 if quick else 5)
    score = score_flow if task == "flow" else score_stereo
    return [(one, statistics_of(own), score(result, sequence))
            for one, own, result in zip(contestants, times, results)]


def measure_detection(task, sequence, threads, quick):
    """Frames in groups of 20, so that each method has its turn."""
    contestants = list(CONTESTANTS[task](sequence, threads))
    times, counts = [[] for _ in contestants], [MaskCounts() for _ in contestants]
    for begin in range(0, len(sequence.frames), 20):
        for i, one in enumerate(contestants):
            for j in range(begin, min(begin + 20, len(sequence.frames))):
                elapsed, mask = milliseconds(one.call, sequence.frames[j])
                if mask is not None and j >= sequence.first:
                    times[i].append(elapsed)
                    if sequence.truth[j] is not None:
                        counts[i].add(mask, sequence.truth[j])
    return [(one, statistics_of(own), count.scores()) for one, own, count in zip(contestants, times, counts)]


def measure(options):
    for task in options.tasks:
        for sequence in SEQUENCES[task](options.data, options.quick):
            print(f"{task}: {sequence.name}", file=sys.stderr)
            measured = (measure_detection if task == "detection" else measure_pairs)(task, sequence, options.threads,
                                                                                    options.quick)
            for one, times, scores in measured:
                row = {"task": task, "sequence": sequence.name, "group": sequence.group, "size": sequence.size}
                if sequence.disparities:
                    row["disparities"] = sequence.disparities
                yield row | {"library": one.library, "method": one.name} | times | scores


def size_text(row):
    return row["size"] + (f" and {row['disparities']} disparities" if "disparities" in row else "")


def mean_errors(rows, task, group):
    """The mean error of each method over the sequences of a group."""
    errors = {}
    for row in rows:
        if row["group"] == group:
            score = row[SCORES[task]]
            error = {"flow": score, "stereo": 100 * score, "detection": 1 - score}[task]
            errors.setdefault(row["method"], []).append(error)
    return {method: sum(values) / len(values) for method, values in errors.items()}


def gpu_times(file):
    """Times on a GPU from a file of `parafield bench --json`: of a call, and of a pushed frame of motion detection."""
    bench = json.loads(file.read_text())
    rows = []
    for row in bench["results"]:
        way = row.get("streaming" if row["task"] == "detection" else "resident")
        if row["device"].startswith("cuda") and way:
            rows.append({"task": row["task"], "method": f"{row['method']} {row['preset']}",
                         "device": row["device_name"], "size": f"{row['width']}x{row['height']}",
                         "milliseconds": way["median_milliseconds"]})
            if "disparities" in row:
                rows[-1]["disparities"] = row["disparities"]
    return {"commit": bench.get("commit", "unknown"), "results": rows}


def gpu_points(report, task, reference, errors):
    """Points of the GPU: its times at the size of the reference sequence, and the errors from here."""
    for row in report.get("gpu", {"results": []})["results"]:
        same = all(row.get(key) == reference.get(key) for key in ("task", "size", "disparities"))
        if same and row["method"] in errors:
            yield {"name": row["method"], "library": "parafield", "device": row["device"],
                   "time": row["milliseconds"], "error": errors[row["method"]]}


def panels_of(report, task):
    rows = [row for row in report["results"] if row["task"] == task]
    sequences = {row["sequence"]: row for row in rows}
    panels = [panel for panel in PANELS[task] if panel[1] in sequences]
    if not panels and RENDERED.get(task) in sequences:
        panels = [("rendered", RENDERED[task], "rendered scenes")]
    for group, name, title in panels:
        reference = sequences[name]
        errors = mean_errors(rows, task, group)
        points = [{"name": row["method"], "library": row["library"], "device": "cpu", "time": row["median_milliseconds"],
                   "error": errors[row["method"]]} for row in rows if row["sequence"] == name]
        # The default's time depends on the motion, of which a bench's scene has little; and highway has
        # color.
        if group not in ("large motion", "CDnet's highway"):
            points += gpu_points(report, task, reference, errors)
        yield {"title": title, "x": f"ms ({name}, {size_text(reference)})", "y": LABELS[task], "log": task != "stereo",
               "points": points}


def draw_plots(report, folder):
    from drawing import draw

    device = report["devices"][0]
    for task in SEQUENCES:
        panels = list(panels_of(report, task))
        if panels:
            title = (f"{task}: error over time, {device['device_name']}, {device['threads']} threads, "
                     f"commit {report['commit']}")
            folder.mkdir(parents=True, exist_ok=True)
            draw(panels, title, folder / f"scatter-{task}.png")


def main():
    parser = measuring.parser_of(__doc__)
    parser.add_argument("--tasks", nargs="*", choices=list(SEQUENCES), default=list(SEQUENCES))
    parser.add_argument("--data", help="folder of real sequences")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of parafield and of OpenCV")
    parser.add_argument("--gpu", type=pathlib.Path, metavar="FILE", help="times of `parafield bench --json` on a GPU")
    parser.add_argument("--quick", action="store_true", help="small rendered scenes, a run of each: a test")
    parser.add_argument("--plots", type=pathlib.Path, metavar="FOLDER", help="scatter-<task>.png")
    options = parser.parse_args()
    options.data = measuring.data_folder(options.data)
    cv2.setNumThreads(options.threads)
    quietness = measuring.Quietness()
    devices = [measuring.device_json(pf.devices()[0], options.threads)]
    report = measuring.header("parafield's methods and OpenCV's", options, devices)
    report["packages"] = {"OpenCV": f"{cv2.__version__}, opencv-python-headless", "NumPy": np.__version__,
                          "Python": platform.python_version()}
    report["results"] = list(measure(options))
    report["machine"] = quietness.text()
    if options.gpu:
        report["gpu"] = gpu_times(options.gpu)
    measuring.write(report, options)
    if options.plots:
        draw_plots(report, options.plots)


if __name__ == "__main__":
    main()
