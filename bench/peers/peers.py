#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""parafield's methods beside OpenCV's on the CPU: errors and times on the same frames, in the same run.

    bench/peers/peers.py [--tasks TASK...] [--data FOLDER] [--threads N] [--json FILE] [-o FILE.md] [--plots FOLDER]

It needs the Python package and opencv-python-headless, and for --plots matplotlib. Tasks: flow, stereo, detection.
Rendered scenes always, real sequences where --data, PARAFIELD_DATA or ../shared/data has them. A long run can be
divided: --only measures some sequences, and --add takes the results of earlier runs of the same commit. --gpu FILE
takes times of `parafield bench --json` on a GPU for the plots: errors there are those here, bit for bit.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
from importlib.metadata import version

import cv2
import numpy as np

import parafield as pf
from contestants import CONTESTANTS, MaskCounts, score_flow, score_stereo
from sequences import SEQUENCES
from timing import Quietness, milliseconds, statistics_of, time_in_turn

SCORES = {"flow": "epe_px", "stereo": "bad_1", "detection": "f1"}
NOTES = {
    "flow": "Endpoint error in px over all pixels with known truth. All methods get the same 8-bit gray frames. "
            "Defaults of Farneback and DIS; pyramidal LK at every pixel has the parameters of `lucas-kanade paper`: "
            "window 11, 4 levels, 3 iterations. Label fields search 10 px far, so they are left out where motion is "
            "larger.",
    "stereo": "Share of the pixels seen in both views whose disparity is not within 1 px of the truth, in %; a pixel "
              "without a disparity is wrong. All methods get the number N of disparities that is given; the first N "
              "columns, in which OpenCV finds none, do not count. All get color, StereoBM gray. StereoBM has a window "
              "of 15; SGBM one of 5, with P1 and P2 as its documentation advises. Both without checks.",
    "detection": "F1 by CDnet's rules. Defaults; OpenCV's masks get a median of 5x5, and shadows are static. The scene "
                 "`square` counts from frame 30 on.",
}
# Panels of the plots: the group whose errors are averaged, and the sequence whose time is shown.
PANELS = {
    "flow": [("Middlebury", "Grove2", "Middlebury, four pairs"),
             ("large motion", "KITTI 000010", "KITTI and Sintel, up to 132 px")],
    "stereo": [("Middlebury", "Cones", "Middlebury, six pairs")],
    "detection": [("rendered", "square, steady, seed 1", "rendered squares"),
                  ("CDnet's highway", "highway", "CDnet's highway")],
}
LABELS = {"flow": "mean endpoint error, px", "stereo": "mean share of wrong pixels, %", "detection": "1 - mean F1"}
# Where there are no real sequences.
RENDERED = {
    "flow": [("rendered", "rendered layers", "rendered scenes")],
    "stereo": [("rendered", "rendered stereo", "rendered scene")],
    "detection": [],
}


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
            if options.only and not any(text in sequence.name for text in options.only):
                continue
            print(f"{task}: {sequence.name}", file=sys.stderr)
            measured = (measure_detection if task == "detection" else measure_pairs)(task, sequence, options.threads,
                                                                                    options.quick)
            for one, times, scores in measured:
                row = {"task": task, "sequence": sequence.name, "group": sequence.group, "size": sequence.size}
                if sequence.disparities:
                    row["disparities"] = sequence.disparities
                yield row | {"library": one.library, "method": one.name} | times | scores


def conditions(options):
    device = pf.devices()[0]
    return {
        "device": f"{device.name}, {device.instruction_set}",
        "threads": options.threads,
        "parafield": pf.__version__,
        "OpenCV": f"{cv2.__version__}, opencv-python-headless",
        "NumPy": np.__version__,
        "Python": platform.python_version(),
        "commit": options.commit,
        "date": datetime.date.today().isoformat(),
    }


def shown(task, value):
    return f"{100 * value:.2f}" if task == "stereo" else f"{value:.3f}"


def size_text(row):
    return row["size"] + (f" and {row['disparities']} disparities" if "disparities" in row else "")


def times_text(row):
    return f"{row['milliseconds']:.2f}; {row['min_milliseconds']:.2f}"


def table(rows, text):
    """Methods down and sequences across, or the other way round where there are more sequences."""
    libraries = {row["method"]: row["library"] for row in rows}
    names = {method: f"`{method}`" if library == "parafield" else f"{library} {method}"
             for method, library in libraries.items()}
    sequences = list(dict.fromkeys(row["sequence"] for row in rows))
    found = {(row["method"], row["sequence"]): text(row) for row in rows}
    cells = [["", *sequences]]
    cells += [[names[method], *(found.get((method, sequence), "") for sequence in sequences)] for method in names]
    if len(sequences) > len(names):
        cells = [list(line) for line in zip(*cells)]
    lines = ["| " + " | ".join(line) + " |" for line in cells]
    return "\n".join([lines[0], "|---|" + "---:|" * (len(cells[0]) - 1), *lines[1:]])


def markdown(report):
    text = "# parafield's methods beside OpenCV's\n\n"
    text += "\n".join(f"- {name}: {value}" for name, value in report["conditions"].items())
    text += "\n\nMilliseconds are medians, then minima; things that are compared are timed in turn, a run of each.\n"
    for task in NOTES:
        rows = [row for row in report["results"] if row["task"] == task]
        if not rows:
            continue
        sizes = {}
        for row in rows:
            sizes.setdefault(size_text(row), {})[row["sequence"]] = None
        text += f"\n## {task}\n\n{NOTES[task]}\n\n"
        if len(sizes) == 1:
            text += f"Frames are {next(iter(sizes))}.\n"
        else:
            text += "; ".join(f"{size}: {', '.join(names)}" for size, names in sizes.items()) + ".\n"
        text += "\n" + table(rows, lambda row: shown(task, row[SCORES[task]])) + "\n"
        text += "\n" + table(rows, times_text) + "\n"
    if "gpu" in report:
        text += (f"\n## GPU\n\nMilliseconds of `parafield bench`, commit {report['gpu']['commit']}, frames and results "
                 "in the GPU's memory: of one call, or of a pushed frame of motion detection. Its frames are gray and "
                 "rendered. Results are those above, bit for bit.\n\n"
                 "| device | task | size | method | ms |\n|---|---|---|---|---:|\n")
        for row in report["gpu"]["results"]:
            text += (f"| {row['device']} | {row['task']} | {size_text(row)} | `{row['method']}` | "
                     f"{row['milliseconds']:.3f} |\n")
    return text


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
    """Times on a GPU from a file of `parafield bench --json`: of a call, and of a pushed frame of motion detection. A
    report of this program may have them, too."""
    bench = json.loads(file.read_text())
    if "gpu" in bench:
        return bench["gpu"]
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
    for group, name, title in panels or [panel for panel in RENDERED[task] if panel[1] in sequences]:
        reference = sequences[name]
        errors = mean_errors(rows, task, group)
        points = [{"name": row["method"], "library": row["library"], "device": "cpu", "time": row["milliseconds"],
                   "error": errors[row["method"]]} for row in rows if row["sequence"] == name]
        # The default's time depends on the motion, of which a bench's scene has little; and highway has color.
        if group not in ("large motion", "CDnet's highway"):
            points += gpu_points(report, task, reference, errors)
        yield {"title": title, "x": f"ms ({name}, {size_text(reference)})", "y": LABELS[task], "log": task != "stereo",
               "points": points}


def draw_plots(report, folder, dpi):
    from drawing import draw

    about = report["conditions"]
    for task in SEQUENCES:
        panels = list(panels_of(report, task))
        if panels:
            title = f"{task}: error over time, {about['device']}, {about['threads']} threads, commit {about['commit']}"
            folder.mkdir(parents=True, exist_ok=True)
            draw(panels, title, folder / f"scatter-{task}.png", dpi)


def added(report, files):
    """The report with the results of earlier ones, which have to be of the same conditions."""
    machines = [report["conditions"]["machine"]]
    for file in files:
        other = json.loads(file.read_text())
        for name, value in report["conditions"].items():
            if name not in ("date", "machine") and other["conditions"][name] != value:
                sys.exit(f"{file}: {name} is {other['conditions'][name]}, not {value}")
        machines.append(other["conditions"]["machine"])
        report["results"] = other["results"] + report["results"]
    report["conditions"]["machine"] = "; ".join(text for text in machines if text)
    return report


def data_folder(given):
    folder = given or os.environ.get("PARAFIELD_DATA") or pathlib.Path(__file__).parents[2] / "../shared/data"
    folder = pathlib.Path(folder)
    if given and not folder.is_dir():
        sys.exit(f"--data: there is no folder {folder}")
    return folder if folder.is_dir() else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="*", choices=list(SEQUENCES), default=list(SEQUENCES))
    parser.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="sequences whose names have one")
    parser.add_argument("--add", nargs="+", type=pathlib.Path, default=[], metavar="FILE", help="earlier --json files")
    parser.add_argument("--data", type=pathlib.Path, help="folder of real sequences")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of parafield and of OpenCV")
    parser.add_argument("--gpu", type=pathlib.Path, metavar="FILE", help="times of `parafield bench --json` on a GPU")
    parser.add_argument("--quick", action="store_true", help="small rendered scenes, a run of each: a test")
    parser.add_argument("--commit", help="commit that is measured; otherwise git says it")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("-o", "--output", type=pathlib.Path, metavar="FILE", help="Markdown; otherwise it is printed")
    parser.add_argument("--plots", type=pathlib.Path, metavar="FOLDER", help="scatter-<task>.png")
    parser.add_argument("--dpi", type=int, default=100, help="of the plots")
    options = parser.parse_args()
    options.data = data_folder(options.data)
    if not options.commit:
        git = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=pathlib.Path(__file__).parent,
                             capture_output=True, text=True)
        options.commit = git.stdout.strip() or "unknown"
    cv2.setNumThreads(options.threads)
    quietness = Quietness()
    report = {"conditions": conditions(options), "results": list(measure(options))}
    measured = list(dict.fromkeys(row["sequence"] for row in report["results"]))
    report["conditions"]["machine"] = f"{', '.join(measured)}: {quietness.text()}" if measured else ""
    report = added(report, options.add)
    if options.gpu:
        report["gpu"] = gpu_times(options.gpu)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    if options.output:
        options.output.write_text(markdown(report))
    else:
        print(markdown(report))
    if options.plots:
        draw_plots(report, options.plots, options.dpi)


if __name__ == "__main__":
    main()
