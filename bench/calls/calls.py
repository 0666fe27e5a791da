#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what a call of Python costs beside the same call of C++.

    bench/calls/calls.py [--program build/release/bench/calls] [--calls N] [--rounds N] [--json FILE]

Each round times C++ (bench/calls/calls.cpp, another process) and then Python; figures are medians of rounds,
in microseconds for one call:
- issue: time of the thread that calls. The device may still be at work.
- call: from call to call, with the device's work.
On CUDA it also measures a batch, and memory after many calls. It needs the Python package, and on CUDA torch.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time

import numpy as np

import parafield as pf

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


def batches(kind, shape, count, rounds):
    """Pairs a second of batches with default flow: of pairs of frames, and of a sequence of frames. Each batch
    alone, and five that wait in line."""
    import torch

    first, second = frames_of(shape, kind)
    stack = torch.stack if kind == "torch" else __import__("cupy").stack
    firsts, seconds = stack([first] * count), stack([second] * count)
    sequence = stack([(first, second)[i % 2] for i in range(count + 1)])
    ways = {
        "pairs": lambda: pf.estimate_flow(firsts, seconds, axes="nhw"),
        "sequence": lambda: pf.estimate_flow(sequence, axes="nhw"),
    }
    found = {f"{name}, {line}": [] for name in ways for line in ("alone", "five in line")}
    for _ in range(rounds + 1):
        for name, way in ways.items():
            for line, repeat in (("alone", 1), ("five in line", 5)):
                begin = time.perf_counter()
                for _ in range(repeat):
                    flow = way()
                torch.cuda.synchronize()
                found[f"{name}, {line}"].append(repeat * count / (time.perf_counter() - begin))
                del flow
    rates = {name: round(statistics.median(each[1:])) for name, each in found.items()}
    return {"arrays": kind, "shape": list(shape), "pairs": count, "pairs/s": rates}


def growth(kind, calls):
    """Memory before and after many calls of a small size."""
    first, second = frames_of((48, 64), kind)
    device = "cpu" if kind == "numpy" else "cuda"

    def memory():
        found = {"host": int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()}
        if device == "cuda":
            import torch

            torch.cuda.synchronize()
            free, total = torch.cuda.mem_get_info()
            found["device"] = total - free
        return found

    def run(count):
        for _ in range(count):
            flow = pf.estimate_flow(first, second, method="lucas-kanade", device=device, threads=1)
            with_arrays(flow)

    run(calls // 10)
    before = memory()
    run(calls)
    after = memory()
    return {"arrays": kind, "calls": calls, "growth in bytes": {key: after[key] - before[key] for key in before}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="build/release/bench/calls", help="the C++ side")
    parser.add_argument("--calls", type=int, default=1000, help="calls of a round")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--growth", type=int, default=100_000, help="calls after which memory is looked at")
    parser.add_argument("--commit", default="unknown", help="commit that is measured")
    parser.add_argument("--json", default="-", help="the file to write; -: standard output")
    options = parser.parse_args()
    if options.rounds < 2:
        sys.exit("--rounds: at least 2")
    program = Program(options.program)
    report = {"commit": options.commit, "devices": [device.name for device in pf.devices()]}
    kinds = ["numpy"]
    if not pf.why_no_cuda():
        kinds += [kind for kind in ("torch", "cupy") if __import__("importlib").util.find_spec(kind)]
    report["calls"] = []
    for kind in kinds:
        cases = [("lucas-kanade", "paper", (16, 16)), ("adaptive-ridge", "default", (16, 16))]
        if kind != "numpy":
            cases += [("adaptive-ridge", "default", (480, 640)), ("adaptive-ridge", "default", (1080, 1920))]
        for method, preset, shape in cases:
            report["calls"].append(
                compare(program, kind, method, preset, shape, options.calls, options.rounds, threads=1))
    report["batches"] = [batches(kind, (480, 640), 64, options.rounds) for kind in kinds if kind != "numpy"]
    report["growth"] = [growth(kind, options.growth) for kind in kinds]
    text = json.dumps(report, indent=1)
    if options.json == "-":
        print(text)
    else:
        with open(options.json, "w") as stream:
            stream.write(text + "\n")


if __name__ == "__main__":
    main()
