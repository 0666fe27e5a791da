# SPDX-License-Identifier: MIT
"""Timing, conditions of a run and JSON for the Python programs of bench/: what apps/parafield/measure.hpp is for the
command and the studies, with the same statistics and the same keys."""

import argparse
import datetime
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import parafield as pf

HERE = Path(__file__).parent


def milliseconds(call, *arguments):
    begin = time.perf_counter()
    result = call(*arguments)
    return (time.perf_counter() - begin) * 1e3, result


def time_in_turn(calls, seconds, least):
    """Milliseconds of each call, and its last result. The calls take turns, so that other load on the machine affects
    all of them, until each has run for `seconds`, but at least `least` times. In a turn a short call runs twice and the
    second run counts: the first one wakes its threads."""
    times = [[] for _ in calls]
    results = [call() for call in calls]  # allocates
    while True:
        waiting = [i for i, own in enumerate(times) if len(own) < least or sum(own) < seconds * 1e3 and len(own) < 200]
        if not waiting:
            return times, results
        for i in waiting:
            if not times[i] or times[i][-1] < 250:
                calls[i]()
            elapsed, results[i] = milliseconds(calls[i])
            times[i].append(elapsed)


def quantile(values, q):
    """Quantile q of values, 0 to 1, interpolated linearly."""
    values = sorted(values)
    position = q * (len(values) - 1)
    below = int(position)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (position - below)


def statistics_of(times):
    found = {f"{name}_milliseconds": quantile(times, q) for name, q in (("median", 0.5), ("p10", 0.1), ("p90", 0.9))}
    return found | {"min_milliseconds": min(times), "repeats": len(times)}


class Quietness:
    """The load of other processes while it lives."""

    def __init__(self):
        self.load = os.getloadavg()[0]
        self.begin = self.ticks()

    def ticks(self):
        with open("/proc/stat") as stream:
            user, nice, system, idle, wait, *rest = map(int, stream.readline().split()[1:9])
        busy = user + nice + system + sum(rest)
        return busy, busy + idle + wait, sum(os.times()[:4]) * os.sysconf("SC_CLK_TCK")

    def text(self):
        busy, total, own = (after - before for after, before in zip(self.ticks(), self.begin))
        others = max(0, busy - own) / max(1, total)
        note = " (not quiet: trust the minima, not the medians)" if others > 0.05 else ""
        return (f"load average {self.load:.1f} at the start; other processes had {others:.0%} of the processors' "
                f"time{note}")


def device_json(device, threads=None):
    found = {"device": device.device, "device_name": device.name, "instruction_set": device.instruction_set}
    return found | ({"threads": threads or device.threads} if found["device"] == "cpu" else {})


def parser_of(program_doc):
    """A parser with the options that all programs have."""
    parser = argparse.ArgumentParser(description=program_doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", help="commit that is measured; default: what git says")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write JSON to FILE; default: print it")
    return parser


def header(title, options, devices):
    """The conditions of a run, with which its JSON begins."""
    git = ["git", "describe", "--always", "--dirty"]
    commit = options.commit or subprocess.run(git, cwd=HERE, capture_output=True, text=True).stdout.strip()
    return {"title": title, "version": pf.__version__, "commit": commit or "unknown",
            "date": datetime.date.today().isoformat(), "devices": devices}


def json_text(value, indent="\n"):
    """JSON in which a list or object of plain values takes one line."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else [])
    if not any(isinstance(item, (dict, list)) for _, item in items):
        return json.dumps(value)
    lines = [(json.dumps(key) + ": " if isinstance(value, dict) else "") + json_text(item, indent + " ")
             for key, item in items]
    text = ",".join(indent + " " + line for line in lines) + indent
    return "{" + text + "}" if isinstance(value, dict) else "[" + text + "]"


def write(report, options):
    if options.json:
        options.json.write_text(json_text(report) + "\n")
    else:
        print(json_text(report))


def data_folder(given):
    """The folder of real sequences: `given`, otherwise PARAFIELD_DATA or ../shared/data; None if there is none."""
    folder = Path(given or os.environ.get("PARAFIELD_DATA") or HERE.parents[1] / "../shared/data")
    if given and not folder.is_dir():
        sys.exit(f"--data: there is no folder {folder}")
    return folder if folder.is_dir() else None
