# SPDX-License-Identifier: MIT
"""Processes that fork, and those of multiprocessing."""

import os

import pytest


FORK = """
    import os, sys
    import numpy as np
    import parafield as pf

    frames = pf.render_scene("layers", shape=(48, 64), frames=3).frames
    estimator = pf.FlowEstimator("lucas-kanade", device="cpu")
    estimator.push(frames[0])
    first = pf.estimate_flow(*frames[:2], device="cpu")
    expected = first.uv.tobytes(), estimator.push(frames[1]).uv.tobytes()

    def in_child():
        for _ in range(2):
            assert pf.estimate_flow(*frames[:2], device="cpu").uv.tobytes() == expected[0]
        own = pf.FlowEstimator("lucas-kanade", device="cpu")
        assert own(*frames[:2]).uv.tobytes() == expected[1]
        try:
            estimator.push(frames[2])
        except pf.Error as error:
            assert "process" in str(error)
        else:
            raise AssertionError("the parent's estimator has no threads here")
        pf.clear_cache()
        return True
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork(run_program):
    out = run_program(FORK + """
    if pid := os.fork():
        assert os.waitpid(pid, 0)[1] == 0
        assert pf.estimate_flow(*frames[:2], device="cpu").uv.tobytes() == expected[0]
        assert estimator.push(frames[2]) is not None
        print("parent")
    else:
        in_child()
        del estimator
    """)
    assert out == "parent\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork_while_threads_call(run_program):
    """No child finds a lock that a thread of its parent holds."""
    run_program("""
    import os, signal, threading
    import parafield as pf

    frames = pf.render_scene("layers", shape=(16, 16), frames=2).frames
    method = pf.LucasKanade(levels=1, iterations=1)
    ended = threading.Event()

    def call():
        return pf.estimate_flow(*frames, method, device="cpu", threads=1).uv.tobytes()

    def work():
        while not ended.is_set():
            call()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for i in range(50):
            if pid := os.fork():
                assert os.waitpid(pid, 0)[1] == 0, i
            else:
                signal.alarm(20)  # ends a child that hangs
                if i % 2:
                    pf.clear_cache()
                flow = call()
                pf.clear_cache()
                os._exit(flow != call())
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    """)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(run_program, method):
    run_program(FORK + f"""
    import multiprocessing

    def flow_of(i):
        return pf.estimate_flow(*frames[i:i + 2], "icm", None, "cpu")

    if "{method}" == "fork":
        context = multiprocessing.get_context("fork")
        with context.Pool(2) as pool:
            assert pool.apply(in_child)
            flows = pool.map(flow_of, range(2))
    else:
        with multiprocessing.get_context("{method}").Pool(2) as pool:  # functions of a module, not of -c
            pairs = [(*frames[i:i + 2], "icm", None, "cpu") for i in range(2)]
            flows = pool.starmap(pf.estimate_flow, pairs)
    for i, flow in enumerate(flows):
        assert flow.uv.tobytes() == flow_of(i).uv.tobytes()
    """)
