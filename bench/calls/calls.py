#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what a call from Python costs more than the same call from C++.

    bench/calls/calls.py [--program build/release/bench/calls] [--calls N] [--rounds N] [--json FILE]

Each round times C++ (bench/calls/calls.cpp, another process) and then Python; figures are medians of rounds,
in microseconds for one call:
- issue: time of the thread that calls. The device may still be at work.
- call: from call to call, with the device's work.
It needs the Python package, and on CUDA torch.
"""

import importlib.util
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import parafield as pf

sys.path.append(str(Path(__file__).parents[1] / "common"))
import measuring  # noqa: E402

QUEUED = 100  # calls in a row: few enough that none waits for room on the device


class Program:
    """The C++ side."""

    def __init__(self, path):
        self._process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def times(self, device, method, preset, shape, calls, threads):
        self._process.stdin.write(f"{device} {method} {preset} {shape[1]} {shape[0]} {calls} {threads}\n")
        self._process.stdin.flush()
        return [float(word) for word in self._process.stdout.readline().split()]


def times_of(call, synchronize, calls):
    for _ in range(10):
        call()
    synchronize()
    issued = 0.0
    for _ in range(-(-calls // QUEUED)):
        begin = time.perf_counter()
        for _ in range(QUEUED):
            call()
        issued += time.perf_counter() - begin
        synchronize()
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    synchronize()
    return issued / (-(-calls // QUEUED) * QUEUED) * 1e6, (time.perf_counter() - begin) / calls * 1e6


def frames_of(shape, kind):
    frames = pf.render_scene("rotation", shape=shape).frames
    if kind == "numpy":
        return [np.asarray(frame) for frame in frames]
    if kind == "torch":
        import torch

        return [torch.from_numpy(np.asarray(frame)).cuda() for frame in frames]
    import cupy

    return [cupy.asarray(np.asarray(frame)) for frame in frames]


def with_arrays(flow):
    return flow.u, flow.v, flow.valid


def compare(program, kind, method, preset, shape, calls, rounds, threads):
    on_host = kind == "numpy"
    synchronize = (lambda: None) if on_host else __import__("torch").cuda.synchronize
    first, second = frames_of(shape, kind)
    device = "cpu" if on_host else "cuda"
    chosen = dict(method=method, device=device, threads=threads)
    if preset != "default":
        chosen["preset"] = preset
    value = next(one for one in pf.flow.methods() if one.name == method).preset(preset)
    estimator = pf.FlowEstimator(value, device=device, threads=threads)
    ways = {
        "function": lambda: pf.estimate_flow(first, second, **chosen),
        "function, arrays": lambda: with_arrays(pf.estimate_flow(first, second, **chosen)),
        "estimator": lambda: estimator(first, second),
        "estimator, arrays": lambda: with_arrays(estimator(first, second)),
    }
    found = {"C++": []} | {name: [] for name in ways}
    for _ in range(rounds):
        found["C++"].append(program.times(device, method, preset, shape, calls, threads))
        for name, way in ways.items():
            found[name].append(times_of(way, synchronize, calls))
    result = {"arrays": kind, "method": method, "preset": preset, "shape": list(shape), "threads": threads, "us": {}}
    issue, call = (statistics.median(times[i] for times in found["C++"]) for i in range(2))
    for name, times in found.items():
        own = {key: round(statistics.median(time[i] for time in times), 2) for i, key in enumerate(["issue", "call"])}
        if name != "C++":
            own["issue over C++"] = round(own["issue"] - issue, 2)
            own["call over C++"] = round(own["call"] - call, 2)
        result["us"][name] = own
    return result


def main():
    parser = measuring.parser_of(__doc__)
    parser.add_argument("--program", default="build/release/bench/calls", help="the C++ side")
    parser.add_argument("--calls", type=int, default=1000, help="calls of a round")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    if options.rounds < 2:
        sys.exit("--rounds: at least 2")
    program = Program(options.program)
    devices = [measuring.device_json(device) for device in pf.devices()]
    report = measuring.header("Calls from Python and from C++", options, devices) | {"results": []}
    cases = [("lucas-kanade", "paper", (16, 16)), ("adaptive-ridge", "default", (16, 16))]
    large = [("adaptive-ridge", "default", (480, 640)), ("adaptive-ridge", "default", (1080, 1920))]
    kinds = ["numpy"]
    if not pf.why_no_cuda():
        kinds += [kind for kind in ("torch", "cupy") if importlib.util.find_spec(kind)]
    for kind in kinds:
        for method, preset, shape in cases + (large if kind != "numpy" else []):
            report["results"].append(
                compare(program, kind, method, preset, shape, options.calls, options.rounds, threads=1))
    measuring.write(report, options)


if __name__ == "__main__":
    main()
