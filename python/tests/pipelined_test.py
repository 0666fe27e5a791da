# SPDX-License-Identifier: MIT
"""Pipelined estimators, results without some planes, and flow in arrays of the caller."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import parafield as pf

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(bool(pf.why_no_cuda()), reason="no CUDA"))]


@pytest.fixture
def sequence(frames):
    return [np.roll(frames[0], shift, axis=1) for shift in range(6)]


def results_of(estimator, frames):
    return [result for result in map(estimator.push, frames) if result]


def results_pipelined(estimator, frames):
    results = []
    for frame in frames:
        own = frame.copy()
        results.append(estimator.push(own))
        own[:] = 7  # the frame has been read
    results.append(estimator.finish())
    return [result for result in results if result]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("estimator", [pf.FlowEstimator, pf.MotionDetector])
def test_the_results_of_push(estimator, device, sequence, same):
    expected = results_of(estimator(device=device), sequence)
    ahead = estimator(device=device, pipelined=True)
    assert ahead.finish() is None
    for _ in range(2):
        results = results_pipelined(ahead, sequence)
        assert len(results) == len(expected) and all(map(same, results, expected))
        assert ahead.finish() is None
        ahead.reset()


@pytest.mark.parametrize("device", DEVICES)
def test_a_call_starts_a_new_sequence(device, sequence, same):
    expected = results_of(pf.FlowEstimator(device=device), sequence)
    estimator = pf.FlowEstimator(device=device, pipelined=True)
    assert estimator.push(sequence[0]) is None
    assert estimator.push(sequence[1]) is None
    assert same(estimator(sequence[1], sequence[2]), expected[1])
    assert estimator.finish() is None
    assert estimator.push(sequence[3]) is None
    assert estimator.push(sequence[4]) is None
    assert same(estimator.finish(), expected[3])
    estimator.push(sequence[5])
    estimator.reset()
    assert estimator.finish() is None


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("estimator", [pf.FlowEstimator, pf.MotionDetector])
def test_throughput_has_the_same_results(estimator, device, sequence, same):
    expected = results_of(estimator(device=device), sequence)
    results = results_of(estimator(device=device, throughput=True), sequence)
    assert len(results) == len(expected) and all(map(same, results, expected))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("empty", [np.empty, pf.pinned_empty])
def test_flow_in_arrays_of_the_caller(device, empty, sequence):
    expected = [flow.uv for flow in results_of(pf.FlowEstimator(device=device), sequence)]
    outs = [empty((2, *sequence[0].shape), "float32") for _ in sequence]
    estimator = pf.FlowEstimator(device=device)
    assert [estimator.push(frame, out) for frame, out in zip(sequence, outs)] == [False] + 5 * [True]
    assert all(map(np.array_equal, outs[1:], expected))
    for out in outs:
        out[:] = 0
    estimator = pf.FlowEstimator(device=device, pipelined=True)
    for i, (frame, out) in enumerate(zip(sequence, outs)):
        assert estimator.push(frame, out=out) == (i > 1)
        assert i < 2 or np.array_equal(outs[i - 1], expected[i - 2])
    assert estimator.finish() is None
    assert np.array_equal(outs[5], expected[4])


def test_arrays_that_flow_does_not_fit_in(sequence):
    estimator = pf.FlowEstimator(device="cpu")
    shape = (2, *sequence[0].shape)
    readonly = np.zeros(shape, "float32")
    readonly.flags.writeable = False
    for out in (np.zeros(shape, "float64"), np.zeros(shape, "float16"), np.zeros(shape, "int32"), np.zeros(shape[1:], "float32"),
                np.zeros((2, shape[2], shape[1] + 1), "float32"), np.zeros((*shape[:2], 2 * shape[2]), "float32")[:, :, ::2],
                readonly, 5):
        with pytest.raises(pf.Error, match="out cannot be .*float32"):
            estimator.push(sequence[0], out)
    assert estimator.push(sequence[0], np.zeros(shape, "float32")) is False


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("valid", [True, False])
@pytest.mark.parametrize("confidence", [True, False])
def test_planes_that_are_left_out(device, valid, confidence, sequence, tmp_path):
    expected = results_of(pf.FlowEstimator(device=device), sequence)
    options = {"device": device, "valid": valid, "confidence": confidence}
    for results in (results_of(pf.FlowEstimator(**options), sequence),
                    results_pipelined(pf.FlowEstimator(**options, pipelined=True), sequence)):
        assert len(results) == 5
        for flow, whole in zip(results, expected):
            assert np.array_equal(flow.uv, whole.uv)
            assert np.array_equal(flow.valid, whole.valid) if valid else flow.valid is None
            assert np.array_equal(flow.confidence, whole.confidence) if confidence else flow.confidence is None
    flow = results[0]
    for copy in (pickle.loads(pickle.dumps(flow)), flow.copy(), flow.cpu()):
        assert np.array_equal(copy.uv, flow.uv) and (copy.valid is not None) == valid
    assert np.array_equal(np.asarray(flow), np.moveaxis(flow.uv, 0, 2))
    pf.color_flow(flow)
    assert pf.evaluate(flow, expected[0]).epe == 0
    pf.write_flow(tmp_path / "a.flo", flow)
    with pytest.raises(pf.Error, match="True or False"):
        pf.FlowEstimator(valid=3.5)


@pytest.mark.parametrize("device", DEVICES)
def test_two_threads(device, sequence, same):
    expected = results_of(pf.FlowEstimator(device=device), sequence)

    def work(_):
        estimator = pf.FlowEstimator(device=device, pipelined=True)
        for _ in range(5):
            estimator.reset()
            results = results_pipelined(estimator, sequence)
            assert all(same(*pair) for pair in zip(results, expected, strict=True))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, range(2)))


def test_pinned_arrays():
    array = pf.pinned_empty((3, 4), np.int16)
    assert array.shape == (3, 4) and array.dtype == np.int16 and array.flags.c_contiguous
    array[:] = 5
    assert array.sum() == 60
    assert pf.pinned_empty(7).shape == (7,) and pf.pinned_empty(7).dtype == np.float32
    with pytest.raises(pf.Error, match="no values"):
        pf.pinned_empty((0, 4))
