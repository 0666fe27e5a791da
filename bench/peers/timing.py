# SPDX-License-Identifier: MIT
"""Times of things that are compared: in turn, a run of each, so that other load on the machine meets all alike."""

import os
import statistics
import time


def milliseconds(call, *arguments):
    begin = time.perf_counter()
    result = call(*arguments)
    return (time.perf_counter() - begin) * 1e3, result


def time_in_turn(calls, seconds, least):
    """Milliseconds of each call, and its last result. A call has its turns until it has run for `seconds`, but at least
    `least` of them. In a turn a short call runs twice and the second run counts: the first one wakes its threads."""
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


def statistics_of(times):
    return {"milliseconds": statistics.median(times), "min_milliseconds": min(times), "turns": len(times)}


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
