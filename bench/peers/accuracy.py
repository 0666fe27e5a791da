#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Errors of parafield's flow and stereo on real sequences, in color, as the command runs the methods. It needs the
Python package and the real sequences. scripts/tables makes the tables of docs/accuracy.md from its JSON.

    bench/peers/accuracy.py [--data FOLDER] [--json FILE]
"""

import sys
from pathlib import Path

import numpy as np

import parafield as pf
import sequences

sys.path.append(str(Path(__file__).parents[1] / "common"))
import measuring  # noqa: E402

# Method, presets, and parameters that differ from the preset's.
FLOW = [
    ("adaptive-ridge", ["default", "fast", "fastest", "precise", "accurate", "large-motion", "sequence"], {}),
    ("adaptive-ridge", ["default"], {"sharpen": "one-way"}),
    ("adaptive-ridge", ["default"], {"sharpen": "two-way"}),
    ("adaptive-ridge", ["default"], {"matches": "never"}),
    ("lucas-kanade", ["default", "accurate", "paper"], {}),
    ("direct-interpolation", ["default", "accurate", "paper"], {}),
    ("direct-interpolation", ["default"], {"features": "matches", "model": "affine"}),
    ("multi-hypothesis", ["default", "accurate", "thin", "paper"], {}),
]
FLOW_LABELS = [  # they search 10 px far
    ("winner-takes-all", ["default", "accurate", "paper"], {}),
    ("icm", ["default", "accurate", "paper"], {}),
    ("annealing", ["default"], {}),
    ("belief-propagation", ["default", "accurate", "paper"], {}),
]
STEREO = [
    ("belief-propagation", ["quality", "fast", "accurate"], {}),
    ("belief-propagation", ["quality"], {"texture_aware": False}),
    ("winner-takes-all", ["default"], {}),
    ("icm", ["default"], {}),
    ("annealing", ["default"], {}),
]


def methods(task, table):
    """Names, as options of the command, and values of methods."""
    known = {method.name: method for method in task.methods()}
    for name, presets, changes in table:
        for preset in presets:
            words = [f"--preset {preset}"] * (preset not in ("default", "quality"))
            words += [f"--no-{key.replace('_', '-')}" if value is False else f"--{key} {value}"
                      for key, value in changes.items()]
            yield " ".join([name, *words]), known[name].preset(preset).replace(**changes)


def flow_scores(method, sequence):
    frames = sequence.around if method.frames > 2 else sequence.frames
    if len(frames) < method.frames:
        return None
    try:
        flow = pf.FlowEstimator(method, device="cpu")(list(frames))
    except pf.Error as error:  # more labels than the preset allows
        print(error, file=sys.stderr)
        return None
    every = pf.evaluate(flow, sequence.truth, mask=sequence.mask)
    valid = pf.evaluate(flow, sequence.truth, mask=sequence.mask, valid_only=True)
    rest = (every.epe - every.density * valid.epe) / (1 - every.density) if every.density < 1 else None
    return {"aae_degrees": every.aae, "epe_px": every.epe, "valid": every.density, "epe_valid_px": valid.epe,
            "epe_invalid_px": rest}


def stereo_scores(method, sequence):
    disparity = pf.StereoEstimator(method, device="cpu")(*sequence.frames)
    truth = pf.read_disparity(sequence.file, scale=sequence.scale)
    return {"bad_1": pf.evaluate(disparity, truth, mask=sequence.mask.astype(np.uint8)).bad_1,
            "bad_1_all": pf.evaluate(disparity, truth).bad_1}


def results(data):
    real = [sequence for sequence in sequences.flow_sequences(data, color=True) if sequence.group != "rendered"]
    for sequence in real:
        labels = FLOW_LABELS if sequence.group == "Middlebury" else []
        for name, method in methods(pf.flow, FLOW + labels):
            yield "flow", sequence, name, flow_scores(method, sequence)
    for sequence in [sequence for sequence in sequences.stereo_sequences(data) if sequence.file]:
        for name, method in methods(pf.stereo, STEREO):
            yield "stereo", sequence, name, stereo_scores(method, sequence)


def main():
    parser = measuring.parser_of(__doc__)
    parser.add_argument("--data", help="folder of real sequences")
    options = parser.parse_args()
    data = measuring.data_folder(options.data) or sys.exit("The real sequences are missing: --data")
    report = measuring.header("Errors on real sequences", options, [measuring.device_json(pf.devices()[0])])
    report["results"] = []
    for task, sequence, method, scores in results(data):
        if scores:
            print(task, sequence.name, method, file=sys.stderr)
            about = {"task": task, "sequence": sequence.name, "size": sequence.size, "method": method}
            report["results"].append(about | scores)
    measuring.write(report, options)


if __name__ == "__main__":
    main()
