# SPDX-License-Identifier: MIT
"""Results: FlowField, DisparityField and MotionMask."""

import copy
import gc
import pickle

import numpy as np
import pytest

import parafield as pf


@pytest.fixture
def flow(frames):
    return pf.estimate_flow(*frames[:2], "lucas-kanade")


@pytest.fixture
def flows(frames):
    return pf.estimate_flow(np.stack(frames[:4]), axes="nhw", method="lucas-kanade")


@pytest.fixture(params=["flow", "disparity", "mask"])
def result(request, frames, sides):
    if request.param == "flow":
        return pf.estimate_flow(*frames[:2])
    return pf.estimate_disparity(*sides) if request.param == "disparity" else pf.detect_motion(*frames[:2])


@pytest.fixture(params=["flow", "disparity", "mask"])
def stack(request, frames, sides):
    if request.param == "flow":
        return pf.estimate_flow(np.stack(frames[:4]), axes="nhw")
    if request.param == "disparity":
        return pf.estimate_disparity(*(np.stack([side] * 3) for side in sides), axes="nhw")
    return pf.detect_motion(np.stack(frames[:4]), axes="nhw")


def test_planes_of_flow(flow):
    assert flow.shape == (48, 64) and flow.device == "cpu"
    for plane, dtype in [(flow.u, np.float32), (flow.v, np.float32), (flow.confidence, np.float32),
                         (flow.valid, np.bool_)]:
        assert type(plane) is np.ndarray and plane.dtype == dtype and plane.shape == (48, 64)
    assert flow.uv.shape == (2, 48, 64) and flow.uv.flags.c_contiguous
    assert np.shares_memory(flow.uv, flow.u) and np.shares_memory(flow.uv, flow.v)
    assert np.array_equal(flow.uv[0], flow.u) and np.array_equal(flow.uv[1], flow.v)
    assert (flow.confidence >= 0).all() and flow.valid.any()


def test_planes_of_disparities_and_masks(frames, sides):
    field = pf.estimate_disparity(*sides)
    assert field.d.dtype == np.float32
    assert field.d.shape == field.valid.shape == field.confidence.shape == (48, 64)
    mask = pf.detect_motion(*frames[:2])
    assert mask.moving.dtype == mask.valid.dtype == np.bool_ and mask.moving.shape == (48, 64)
    assert mask.confidence.dtype == np.float32 and 0 < mask.moving.sum() < mask.moving.size


def test_planes_of_stacks(flows):
    assert flows.shape == (3, 48, 64) and flows.uv.shape == (3, 2, 48, 64)
    assert flows.u.shape == flows.v.shape == flows.valid.shape == flows.confidence.shape == (3, 48, 64)
    assert np.shares_memory(flows.uv, flows.u)
    assert np.array_equal(flows.uv[:, 1], flows.v)
    assert np.asarray(flows).shape == (3, 48, 64, 2)


def test_planes_are_always_the_same_memory(result):
    for name in ("valid", "confidence"):
        assert np.shares_memory(getattr(result, name), getattr(result, name))
    result.valid[3, 4] = not result.valid[3, 4]
    assert np.array_equal(result.valid, result.copy().valid)
    assert result.valid.flags.writeable


def test_numpy_asarray(flow, frames, sides):
    array = np.asarray(flow)
    assert array.shape == (48, 64, 2) and array.dtype == np.float32
    assert np.array_equal(array, np.stack([flow.u, flow.v], axis=-1))
    assert np.shares_memory(array, flow.uv)
    assert not np.shares_memory(np.array(flow), flow.uv)
    assert np.asarray(flow, dtype=np.float64).dtype == np.float64
    assert np.shares_memory(np.asarray(flow, dtype=np.float32), flow.uv)
    assert np.mean(flow) == np.mean(array)
    field, mask = pf.estimate_disparity(*sides), pf.detect_motion(*frames[:2])
    assert np.shares_memory(np.asarray(field), field.d)
    assert np.asarray(mask).dtype == np.bool_ and np.shares_memory(np.asarray(mask), mask.moving)


@pytest.mark.skipif(int(np.__version__.split(".")[0]) < 2, reason="copy=False has this meaning since NumPy 2")
def test_numpy_array_without_a_copy(flow):
    assert np.shares_memory(np.array(flow, copy=False), flow.uv)
    with pytest.raises(ValueError, match="copy"):
        np.array(flow, dtype=np.float64, copy=False)


def test_results_own_their_memory(frames, same):
    copies = [frame.copy() for frame in frames[:2]]
    estimator = pf.FlowEstimator("lucas-kanade")
    field, flow = estimator(*copies), pf.estimate_flow(*copies, "lucas-kanade")
    uv = pf.estimate_flow(*copies, "lucas-kanade").uv
    array = np.asarray(pf.estimate_flow(*copies, "lucas-kanade"))
    expected = pf.estimate_flow(*frames[:2], "lucas-kanade")
    for later in (estimator(*frames[3:5]), pf.estimate_flow(*frames[3:5], "lucas-kanade")):
        assert not same(later, expected)
    del estimator
    for values in copies:
        values[:] = 0
    del copies, later
    pf.clear_cache()
    gc.collect()
    churn = [pf.estimate_flow(*frames[3:5], "lucas-kanade") for _ in range(5)]
    assert same(field, expected) and same(flow, expected)
    assert uv.tobytes() == expected.uv.tobytes() and array.tobytes() == np.asarray(expected).tobytes()
    assert not any(np.shares_memory(uv, one.uv) for one in churn)


def test_frames_of_a_stack(stack, same):
    assert len(stack) == 3 and stack.shape == (3, 48, 64)
    assert [one.shape for one in stack] == [(48, 64)] * 3
    assert same(stack[-1], stack[2]) and same(stack[np.int64(1)], stack[1])
    assert np.shares_memory(stack[1].valid, stack.valid)
    last = stack[2]
    expected = last.copy()
    del stack
    pf.clear_cache()
    assert same(last, expected)


@pytest.mark.parametrize("index", [3, -4, 10**9])
def test_index_out_of_range(index, flows):
    with pytest.raises(IndexError):
        flows[index]


@pytest.mark.parametrize("index", [1.0, "1", slice(0, 2), (0, 1), 10**30])
def test_index_of_a_wrong_type(index, flows):
    with pytest.raises(pf.Error, match="index"):
        flows[index]


def test_results_of_one_frame_are_no_stack(result):
    with pytest.raises(TypeError):
        len(result)
    says = r"cannot be indexed or unpacked, unless it belongs to a stack\. Its arrays? [a-z ]+ can$"
    with pytest.raises(pf.Error, match=says):
        result[0]
    with pytest.raises(pf.Error, match=says):
        list(result)
    assert result


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol, result, stack, same):
    for field in (result, stack, stack[1]):
        again = pickle.loads(pickle.dumps(field, protocol))
        assert same(again, field) and again.shape == field.shape and type(again) is type(field)
    assert len(pickle.dumps(stack[1])) < len(pickle.dumps(stack)) / 2


def test_damaged_pickles(flow):
    width, height, *rest = flow.__getstate__()
    for state in [(), (1, 2, 3), ("a", height, *rest), (width + 1, height, *rest), (-width, -height, *rest),
                  (0, 0, *rest[:-1], b"")]:
        with pytest.raises(pf.Error, match="damaged"):
            pf.FlowField.__new__(pf.FlowField).__setstate__(state)


def test_copies(result, stack, same):
    for field in (result, stack, stack[0]):
        for made in (field.copy(), copy.copy(field), copy.deepcopy(field)):
            assert same(made, field) and not np.shares_memory(made.valid, field.valid)
    assert np.shares_memory(result.cpu().valid, result.valid)


def test_texts(flow, flows, frames, sides):
    assert repr(flow) == "<parafield.FlowField 48 x 64 on cpu>"
    assert repr(flows) == "<parafield.FlowField 3 x 48 x 64 on cpu>"
    assert repr(pf.estimate_disparity(*sides)) == "<parafield.DisparityField 48 x 64 on cpu>"
    assert repr(pf.detect_motion(*frames[:2])) == "<parafield.MotionMask 48 x 64 on cpu>"
    assert type(flow).__module__ == "parafield"


def test_pictures_in_notebooks(result, stack, tmp_path):
    picture = result._repr_png_()
    if picture is None:
        pytest.skip("this build has no PNG")
    path = tmp_path / "picture.png"
    path.write_bytes(picture)
    shown = pf.read_frame(path)
    expected = {pf.FlowField: pf.color_flow, pf.DisparityField: pf.color_disparity,
                pf.MotionMask: lambda mask: mask.moving * np.uint8(255)}[type(result)](result)
    assert np.array_equal(shown, expected)
    assert stack._repr_png_() is None


def test_dlpack_of_planes(flow, flows):
    for plane in (flow.u, flow.uv, flow.valid, flow.confidence, flows.v):
        assert np.shares_memory(np.from_dlpack(plane), plane)


def test_fields_of_arrays(same):
    u = np.arange(6).reshape(2, 3)
    made = pf.FlowField(u, -u[::-1], valid=u > 2, confidence=u / 2)
    assert made.u.dtype == np.float32 and np.array_equal(made.v, -u[::-1])
    assert np.array_equal(made.valid, u > 2)
    assert made.confidence.tolist() == (u / 2).tolist()
    u[0, 0] = 9
    assert made.u[0, 0] == 0
    bare = pf.FlowField(u.tolist(), u)
    assert bare.valid.all() and bare.confidence is None
    assert same(bare.copy(), bare) and pickle.loads(pickle.dumps(bare)).confidence is None
    assert pf.DisparityField(u).d.tolist() == u.tolist()
    assert pf.MotionMask(u > 3).moving.tolist() == (u > 3).tolist()


@pytest.mark.parametrize("make, match", [
    (lambda: pf.FlowField(np.zeros((2, 3)), np.zeros((3, 2))), "v has 3 x 2 .* u has 2 x 3"),
    (lambda: pf.FlowField(np.zeros((2, 3)), np.zeros((2, 3)), valid=np.zeros((1, 3))), "valid has 1 x 3"),
    (lambda: pf.FlowField(np.zeros((2, 3, 4)), np.zeros((2, 3))),
     "u has the shape 2 x 3 x 4; expected H x W"),
    (lambda: pf.FlowField("abc", np.zeros((2, 3))), "^u: "),
    (lambda: pf.DisparityField(np.zeros((0, 3))), "d has 0 x 3"),
    (lambda: pf.DisparityField(np.zeros((2, 3)), confidence=[[1]]), "confidence has 1 x 1"),
    (lambda: pf.MotionMask(np.zeros(3)), "moving has the shape 3; expected H x W"),
])
def test_fields_of_wrong_arrays(make, match):
    with pytest.raises(pf.Error, match=match):
        make()


def test_attributes_cannot_be_set(result):
    for name in ("valid", "shape", "anything"):
        with pytest.raises(AttributeError):
            setattr(result, name, 1)
