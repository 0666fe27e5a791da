#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures archives: 40 rendered videos on a Dask cluster of this machine.

    bench/archives/archives.py [--videos N] [--frames N] [--size WxH] [--preset NAME] [--repeat N]

1. One worker with one thread against the same work in this process: the overhead of Dask, from the submission
   of the first video to the last result, in % of the time in this process. The two take turns.
2. Two workers, one of which is killed when a third of the videos is done: all results have to be there, with
   the bits of those made in this process.

Prints JSON. Ends with 1 if a result is missing or differs.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time

import av
import distributed
import numpy as np

import parafield as pf
from parafield.archives import extract


def render(folder, count, frames, shape):
    """Videos without loss, small turning scenes."""
    os.makedirs(folder)
    for number in range(count):
        scene = pf.render_scene("rotation", shape=shape, frames=frames, seed=number + 1)
        with av.open(f"{folder}/video{number:03d}.mkv", "w") as container:
            stream = container.add_stream("ffv1", rate=25)
            stream.height, stream.width, stream.pix_fmt = *shape, "gray"
            for frame in scene.frames:
                container.mux(stream.encode(av.VideoFrame.from_ndarray(np.asarray(frame), format="gray")))
            container.mux(stream.encode())


def bytes_of(folder):
    """Contents of all results by name."""
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".npz"):
            with open(os.path.join(folder, name), "rb") as stream:
                found[name] = stream.read()
    return found


def seconds_of(inputs, output, **options):
    shutil.rmtree(output, ignore_errors=True)
    report = extract(inputs, output, device="cpu", threads=options.pop("threads", 1), quiet=True, **options)
    if not report.ok:
        sys.exit(report.summary())
    return report.seconds


def cluster_of(workers):
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True,
                                    dashboard_address=None, silence_logs="CRITICAL")


def measure_overhead(inputs, folder, repeat, options):
    here, there = [], []
    with cluster_of(1) as cluster, distributed.Client(cluster) as client:
        for number in range(repeat + 1):  # the first round is not counted: it loads libraries
            serial = seconds_of(inputs, f"{folder}/here", workers=0, **options)
            on_dask = seconds_of(inputs, f"{folder}/there", scheduler=client, **options)
            if number:
                here.append(serial)
                there.append(on_dask)
    return {"serial_s": [round(value, 3) for value in here], "dask_s": [round(value, 3) for value in there],
            "overhead": round(statistics.median(there) / statistics.median(here) - 1, 4),
            "overhead_of_fastest": round(min(there) / min(here) - 1, 4)}


def measure_kill(inputs, folder, count, options):
    with cluster_of(2) as cluster:
        def kill():
            while len(bytes_of(f"{folder}/killed") if os.path.isdir(f"{folder}/killed") else {}) < count // 3:
                time.sleep(0.005)
            os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        seconds = seconds_of(inputs, f"{folder}/killed", scheduler=cluster.scheduler_address, **options)
        killer.join()
    results, alone = bytes_of(f"{folder}/killed"), bytes_of(f"{folder}/here")
    return {"seconds": round(seconds, 3), "results": len(results), "same_bits": results == alone}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--videos", type=int, default=40)
    parser.add_argument("--frames", type=int, default=20)
    parser.add_argument("--size", default="160x120")
    parser.add_argument("--preset", default=None)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    width, height = map(int, given.size.split("x"))
    options = {"preset": given.preset}
    with tempfile.TemporaryDirectory() as folder:
        render(f"{folder}/videos", given.videos, given.frames, (height, width))
        result = {"videos": given.videos, "frames": given.frames, "size": given.size, "preset": given.preset,
                  "parafield": pf.__version__, "distributed": distributed.__version__}
        result["one_worker"] = measure_overhead(f"{folder}/videos", folder, given.repeat, options)
        result["one_of_two_killed"] = measure_kill(f"{folder}/videos", folder, given.videos, options)
    print(json.dumps(result, indent=1))
    killed = result["one_of_two_killed"]
    sys.exit(not (killed["same_bits"] and killed["results"] == given.videos))


if __name__ == "__main__":
    main()
