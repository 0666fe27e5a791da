# SPDX-License-Identifier: MIT
"""Values of the package go through pickles, copies and other processes with all their fields."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import parafield as pf

CAMERA = pf.CalibratedCamera(60, 60, 31.5, 23.5)
CALIBRATION = pf.StereoCalibration(CAMERA, CAMERA, np.eye(3), (-0.1, 0, 0), (48, 64))


def scene_of(name, **options):
    return lambda sides: pf.render_scene(name, shape=(48, 64), **options)


VALUES = {
    "Scene with disparities": scene_of("stereo"),
    "Scene in color": scene_of("layers", frames=3, color=True),
    "Scene with masks": scene_of("balloons"),
    "Scene without flow": scene_of("square"),
    "SceneInfo": lambda sides: pf.scenes()[3],
    "DeviceInfo": lambda sides: pf.devices()[0],
    "PairFindings": lambda sides: pf.examine_pair(*sides),
    "swapped PairFindings": lambda sides: pf.examine_pair(*sides[::-1]),
    "RowAlignment": lambda sides: pf.measure_row_alignment(*sides),
    "Rectification": lambda sides: pf.plan_rectification(CALIBRATION),
    "RectifiedPair": lambda sides: pf.rectify(*sides, CALIBRATION),
}


def fields_of(value):
    """Names and values of what a user can read of a value."""
    names = [name for name in dir(value) if not name.startswith("_")]
    return {name: getattr(value, name) for name in names if not callable(getattr(value, name))}


def check_equal(first, second):
    """Fails where two values differ: in type, field, or bit of an array."""
    assert type(first) is type(second)
    if isinstance(first, np.ndarray):
        assert (first.dtype, first.shape) == (second.dtype, second.shape)
        assert first.tobytes() == second.tobytes() and not np.shares_memory(first, second)
    elif isinstance(first, (list, tuple)):
        assert len(first) == len(second)
        for one, other in zip(first, second):
            check_equal(one, other)
    elif type(first).__module__.startswith("parafield"):
        assert repr(first) == repr(second) or isinstance(first, (pf.Scene, pf.RectifiedPair))
        fields = fields_of(first)
        assert fields and fields.keys() == fields_of(second).keys()
        for name, value in fields.items():
            check_equal(value, getattr(second, name))
    else:
        assert first == second or (first != first and second != second)


@pytest.mark.parametrize("name", VALUES)
def test_pickles_and_copies_are_equal(name, sides):
    value = VALUES[name](sides)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        check_equal(pickle.loads(pickle.dumps(value, protocol)), value)
    check_equal(copy.deepcopy(value), value)
    assert fields_of(copy.copy(value)).keys() == fields_of(value).keys()


def test_a_device_of_another_machine():
    """A pickle made where there is a GPU is read where there is none."""
    info = pf.devices()[0]
    _, index, most, name, instruction_set, threads, memory = info.__getstate__()
    other = pf.DeviceInfo.__new__(pf.DeviceInfo)
    other.__setstate__((True, 3, 0, "a GPU", "9.0", 132, 85 << 30))
    assert (other.device, other.name, other.instruction_set) == ("cuda:3", "a GPU", "9.0")
    assert (other.threads, other.memory) == (132, 85 << 30)
    assert (index, most, name, instruction_set) == (0, 0, info.name, info.instruction_set)
    assert (threads, memory) == (info.threads, info.memory)
    check_equal(pickle.loads(pickle.dumps(other)), other)


def test_damaged_pickles():
    with pytest.raises(pf.Error, match="scene 'moon'"):
        pf.SceneInfo.__new__(pf.SceneInfo).__setstate__(("moon",))
    for state in [(), (1,), ("a", 1.0, 1.0), None]:
        with pytest.raises(TypeError):
            pf.PairFindings.__new__(pf.PairFindings).__setstate__(state)
    with pytest.raises(TypeError):
        pf.Scene.__new__(pf.Scene).__setstate__(([], [], [], [], [], 3))


def test_values_go_to_another_process(sides):
    values = [VALUES[name](sides) for name in ("Scene with disparities", "DeviceInfo", "PairFindings")]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        check_equal(list(pool.map(copy.copy, values)), values)


def test_what_works_has_no_pickle():
    for worker in (pf.FlowEstimator(), pf.Rectifier(CALIBRATION), pf.HeightFilter((48, 64))):
        with pytest.raises(TypeError, match="pickle"):
            pickle.dumps(worker)
