# SPDX-License-Identifier: MIT
"""Threads and Ctrl-C."""

import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import parafield as pf

SLOW = pf.flow.Annealing(sweeps=400)


def on_threads(count, work):
    """Runs work(i) on threads that begin together, and gives what they return."""
    barrier = threading.Barrier(count)

    def begin(i):
        barrier.wait()
        return work(i)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


def test_other_threads_work_during_a_call(frames):
    for call in (lambda: pf.estimate_flow(*frames[:2], SLOW, device="cpu"),
                 pf.FlowEstimator(SLOW, device="cpu").push,
                 lambda: pf.FlowEstimator(SLOW, device="cpu")(*frames[:2])):
        ticks, stop = [], threading.Event()

        def tick():
            while not stop.wait(0.002):
                ticks.append(time.perf_counter())

        ticker = threading.Thread(target=tick)
        ticker.start()
        began = time.perf_counter()
        if getattr(call, "__name__", "") == "push":
            call(frames[0])
            began = time.perf_counter()
            call(frames[1])
        else:
            call()
        ended = time.perf_counter()
        stop.set()
        ticker.join()
        assert ended - began > 0.03 and sum(began < tick < ended for tick in ticks) >= 3


METHODS = [pf.AdaptiveRidge(), pf.LucasKanade(), pf.flow.Icm(sweeps=3), pf.DirectInterpolation(),
           pf.flow.BeliefPropagation(levels=2, iterations=2)]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_functions_on_many_threads(method, frames, same):
    expected = [pf.estimate_flow(*frames[i:i + 2], method) for i in range(6)]
    found = on_threads(6, lambda i: [pf.estimate_flow(*frames[i:i + 2], method) for _ in range(5)])
    assert all(same(flow, expected[i]) for i, flows in enumerate(found) for flow in flows)


def test_estimators_on_many_threads(frames, same):
    def work(i):
        estimator = pf.FlowEstimator(METHODS[i])
        return [flow for _ in range(3) for flow in map(estimator.push, frames) if flow]

    expected = list(map(work, range(5)))
    for ours, theirs in zip(expected, on_threads(5, work)):
        assert len(ours) == len(theirs) == 20 and all(map(same, ours, theirs))


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_one_estimator_on_many_threads(method, frames, same):
    """Calls take turns, also the first ones."""
    expected = [pf.estimate_flow(*frames[i:i + 2], method) for i in range(6)]
    for _ in range(3):
        estimator = pf.FlowEstimator(method)
        found = on_threads(6, lambda i: [estimator(*frames[i:i + 2]) for _ in range(3)])
        assert all(same(flow, expected[i]) for i, flows in enumerate(found) for flow in flows)


def test_first_frames_of_two_sizes(frames):
    """One thread gives the estimator its size; the other one gets an error."""
    small = [frame[:20, :20] for frame in frames[:2]]
    for _ in range(20):
        estimator = pf.FlowEstimator(pf.LucasKanade(levels=1, iterations=1))

        def work(i):
            try:
                return estimator(*(frames[:2] if i % 2 else small)).shape
            except pf.Error as error:
                assert "the estimator is for" in str(error)

        shapes = {shape for shape in on_threads(4, work) if shape}
        assert shapes == {estimator.shape}


def test_batches_and_files_on_many_threads(frames, same, tmp_path):
    stack = np.stack(frames)
    expected = pf.estimate_flow(stack, axes="nhw")
    found = on_threads(3, lambda i: pf.estimate_flow(stack, axes="nhw", threads=2))
    assert all(same(flows, expected) for flows in found)
    with open(tmp_path / "frames.pgm", "wb") as file:
        for i, frame in enumerate(frames * 4):
            pf.write_frame(tmp_path / "one.pgm", frame)
            file.write((tmp_path / "one.pgm").read_bytes())
    iterator = pf.read_frames(tmp_path / "frames.pgm")  # one for all threads
    found = [frame.tobytes() for part in on_threads(4, lambda i: list(iterator)) for frame in part]
    assert sorted(found) == sorted(frame.tobytes() for frame in frames * 4)


def test_cancel_from_another_thread(frames, same):
    estimator = pf.FlowEstimator(SLOW.replace(sweeps=20000), device="cpu")
    began = threading.Event()

    def work():
        began.set()
        with pytest.raises(pf.Error, match="cancelled"):
            estimator(*frames[:2])
        return True

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(work)
        began.wait()
        time.sleep(0.05)
        estimator.cancel()
        assert running.result(timeout=20)
    with pytest.raises(pf.Error, match="cancelled"):
        estimator(*frames[:2])
    estimator.reset()


def test_reset_waits_for_the_running_call(frames, same):
    estimator = pf.FlowEstimator(SLOW, device="cpu")
    expected = pf.estimate_flow(*frames[:2], SLOW)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(estimator, *frames[:2])
        while not running.done():
            estimator.reset()
            time.sleep(0.005)
        assert same(running.result(), expected)


def interrupt(call):
    """Sends Ctrl-C to a process during a call, and gives the seconds until the call ended."""
    program = textwrap.dedent(f"""
        import os
        import time
        import numpy as np
        import parafield as pf
        frames = pf.render_scene("layers", shape=(96, 128), frames=2).frames
        large = [np.tile(frame, (30, 30)) for frame in frames]
        slow = pf.flow.Annealing(sweeps=20000)
        estimator = pf.FlowEstimator(slow, device="cpu")
        print("begin", flush=True)
        try:
            {call}
        except KeyboardInterrupt:
            print(time.time(), flush=True)
        assert pf.estimate_flow(*frames).shape == (96, 128)
        fast = pf.FlowEstimator(slow.replace(sweeps=1))
        assert fast(*frames).uv.tobytes() == pf.estimate_flow(*frames, slow, sweeps=1).uv.tobytes()
        if {"estimator" in call}:
            estimator.cancel()  # it was not cancelled before
            try:
                estimator(*frames)
            except pf.Error as error:
                print(error.code)
        """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begin\n"
        time.sleep(0.3)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        ended = float(process.stdout.readline())
        rest = process.stdout.read()
        assert process.wait(timeout=20) == 0
    assert rest == ("cancelled\n" if "estimator" in call else "")
    return ended - sent


@pytest.mark.parametrize("call", ["pf.estimate_flow(*frames, slow, device='cpu')", "estimator(*frames)",
                                  "pf.estimate_flow([frames[0]] * 2, method=slow, device='cpu', threads=1)",
                                  "estimator.push(frames[0]); estimator.push(frames[1])",
                                  "for _ in range(9): pf.find_tracks(*large, features='matches', device='cpu')",
                                  "pf.render_scene('layers', shape=(2000, 3000), frames=40)",
                                  "list(pf.read_frames(f'/dev/fd/{os.pipe()[0]}'))",
                                  "pf.read_frame(f'/dev/fd/{os.pipe()[0]}')"])
def test_interrupts(call):
    assert interrupt(call) < 1.5


def test_handlers_of_signals_run_during_a_call(run_program):
    out = run_program("""
        import signal, sys
        import parafield as pf
        frames = pf.render_scene("layers", shape=(96, 128), frames=2).frames
        signal.signal(signal.SIGALRM, lambda *_: print("handled", flush=True))
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        shares = []
        flow = pf.FlowEstimator("annealing", device="cpu", sweeps=60, progress=shares.append)(*frames)
        print(shares[-1])
    """)
    assert out == "handled\n1.0\n"
