# SPDX-License-Identifier: MIT
"""Methods are values: their parameters, presets, texts, comparison and errors."""

import copy
import pickle
import re
from fractions import Fraction

import numpy as np
import pytest

import parafield as pf

TASKS = (pf.flow, pf.stereo, pf.detection)
METHODS = [(task, method) for task in TASKS for method in task.methods()]


@pytest.fixture(params=METHODS, ids=lambda case: f"{case[0].__name__.split('.')[1]}-{case[1].__name__}")
def case(request):
    return request.param


def parameters_of(value):
    """Names of parameters and their values."""
    own = {"name", "source", "presets", "parameters", "preset", "replace"}
    if isinstance(type(value).frames if hasattr(type(value), "frames") else None, int):
        own.add("frames")
    return {name: getattr(value, name) for name in dir(type(value)) if name[0] != "_" and name not in own}


def other_value(value, name):
    """The method with another value of a parameter, or None if neighbors of the value are not allowed."""
    now = getattr(value, name)
    if isinstance(now, bool):
        choices = [not now]
    elif isinstance(now, str):
        lines = type(value).__doc__.splitlines()
        line = next(line for line in lines if line.startswith(f"{name} : "))
        choices = [word for word in re.findall(r"[\w-]+", line.split(":")[1].split("default")[0])
                   if word != now]
    else:
        choices = [now + 1, now - 1, now / 2, now * 2, now + 2, now + 3]
        if isinstance(now, int):
            choices = [int(choice) for choice in choices]
    for choice in choices:
        if choice == now:
            continue
        try:
            return value.replace(**{name: choice})
        except pf.Error:
            continue
    return None


def test_every_task_has_its_methods():
    for task, estimate in zip(TASKS, (pf.estimate_flow, pf.estimate_disparity, pf.detect_motion)):
        methods = task.methods()
        assert isinstance(methods, tuple) and len({method.name for method in methods}) == len(methods) >= 3
        for method in methods:
            assert getattr(task, method.__name__) is method and method.__module__ == task.__name__
        with pytest.raises(pf.Error, match=methods[-1].name):  # it lists them
            estimate(np.zeros((9, 9), np.uint8), np.zeros((9, 9), np.uint8), "nothing")


def test_documentation(case):
    _, method = case
    first, *lines = method.__doc__.splitlines()
    assert first and f"Source: {method.source}" in lines
    defaults = parameters_of(method())
    assert defaults
    for name, value in defaults.items():
        line = next(line for line in lines if line.startswith(f"{name} : "))
        assert line.endswith(f", default {value!r}")
        assert lines[lines.index(line) + 1].startswith("    ")  # what it means
        allowed = line.split(" : ")[1].rsplit(", default", 1)[0]
        if isinstance(value, bool):
            assert allowed == "true or false"
        elif isinstance(value, str):
            assert value in allowed
        else:
            assert re.match(r"-?[\d.e+-]+ to [\d.e+-]+|\d+(, \d+)+|\d+ or \d+", allowed)
        assert f"{name}: {type(value).__name__} = {value!r}" in method.__init__.__doc__
        assert getattr(method, name).__doc__
    for preset in method.presets:
        assert preset in lines


def test_parameters_as_data(case):
    task, method = case
    own, options = method.parameters, task.options()
    assert [entry["name"] for entry in own] == re.findall(r"^(\w+) : ", method.__doc__, re.MULTILINE)
    for entry in own + options:
        default = entry["default"]
        assert type(default).__name__ == entry["type"] and entry["help"] and isinstance(entry["unit"], str)
        if entry["choices"]:
            assert default in entry["choices"]
        elif entry["type"] in ("int", "float"):
            assert entry["min"] <= default <= entry["max"]
    values = {entry["name"]: entry["default"] for entry in own}
    assert method(**values) == method()
    assert {entry["name"] for entry in options} >= ({"freeze"} if task is pf.detection else {"min_confidence"})


def test_texts_evaluate_to_equal_values(case):
    _, method = case
    values = [method(), *map(method.preset, method.presets)]
    values += [value for name in parameters_of(method()) if (value := other_value(method(), name))]
    assert len(values) > len(method.presets) + 1
    for value in values:
        assert eval(repr(value), {method.__name__: method}) == value
    assert repr(method()) == f"{method.__name__}()"


def test_comparison_hash_and_copies(case):
    _, method = case
    first = method()
    for name in parameters_of(first):
        if not (other := other_value(first, name)):
            continue
        assert other != first and not other == first, name
        assert {first: 1, other: 2}[copy.copy(other)] == 2
        for again in (pickle.loads(pickle.dumps(other)), copy.deepcopy(other), other.replace(), method(**{
                name: getattr(other, name)})):
            assert again == other and hash(again) == hash(other) and type(again) is method
        assert other.replace(**{name: getattr(first, name)}) == first
    assert first != 3 and first != "x" and first is not None
    assert all(first != another() for _, another in METHODS if another is not method)


def test_presets(case):
    _, method = case
    for preset in method.presets:
        assert isinstance(method.preset(preset), method)
    assert "accurate" in method.presets
    with pytest.raises(pf.Error, match=f"'slowest'.*{method.presets[-1]}"):
        method.preset("slowest")


def test_wrong_names_and_values(case):
    _, method = case
    known = min(parameters_of(method()))
    with pytest.raises(pf.Error, match=f"parameter of {method.name} 'nothing'; there are: .*{known}"):
        method(nothing=1)
    for name, value in parameters_of(method()).items():
        for wrong in (None, [], {}, object(), b"1", 1j, "", "x y", float("nan"), float("inf"), 10**400,
                      -10**9,
                      np.zeros(2), np.array(["a"]), np.array([value]), "\udcff", "a\0b"):
            for make in (method, method().replace):
                with pytest.raises(pf.Error, match=f"^{method.name}: {name} cannot be .*; allowed: "):
                    make(**{name: wrong})
        if type(value) in (int, float):
            with pytest.raises(pf.Error, match=f"{name} cannot be true"):
                method(**{name: True})
        if type(value) is int:
            with pytest.raises(pf.Error, match=f"{name} cannot be"):
                method(**{name: value + 0.5})


def test_parameters_that_do_not_fit_together():
    with pytest.raises(pf.Error, match="t_min cannot be 30; allowed: at most t_max, 0.5"):
        pf.flow.Annealing(t_min=30)
    assert pf.flow.Annealing(t_min=30, t_max=40).replace(t_max=35).t_min == 30
    with pytest.raises(pf.Error, match="neighbors cannot be 8"):
        pf.stereo.BeliefPropagation(neighbors=8)


def test_errors_are_one_line():
    with pytest.raises(pf.Error) as caught:
        pf.LucasKanade(levels="many\nlines " * 1000)
    text = str(caught.value)
    assert "\n" not in text and len(text) < 300
    assert isinstance(caught.value, ValueError) and caught.value.code == "invalid_argument"
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is pf.Error and str(again) == text and again.code == "invalid_argument"


@pytest.mark.parametrize("number", [np.int64(3), np.uint8(3), np.array(3), np.int16(3).reshape(())])
def test_integers_of_numpy(number):
    assert pf.LucasKanade(levels=number) == pf.LucasKanade(levels=3)


@pytest.mark.parametrize("number", [np.float64(0.25), np.float32(0.25), np.float16(0.25), np.array(0.25),
                                    np.longdouble(0.25), Fraction(1, 4)])
def test_floats_of_numpy(number):
    assert pf.LucasKanade(robust=number) == pf.LucasKanade(robust=0.25)
    assert pf.LucasKanade(robust=np.int32(1)) == pf.LucasKanade(robust=1)


def test_truths_of_numpy():
    for truth in (np.True_, np.array(True), True, 1, "true"):
        assert pf.stereo.Icm(sub_pixel=truth) == pf.stereo.Icm(sub_pixel=True)
    with pytest.raises(pf.Error, match="sub_pixel cannot be 2"):
        pf.stereo.Icm(sub_pixel=2)


def test_floats_read_as_they_were_given():
    assert pf.LucasKanade(robust=0.1).robust == 0.1
    assert repr(pf.LucasKanade(robust=0.1, alpha=1e-7)) == "LucasKanade(alpha=1e-07, robust=0.1)"
    negative = pf.LucasKanade(robust=-0.0)
    assert negative == pf.LucasKanade(robust=0) and hash(negative) == hash(pf.LucasKanade(robust=0))


def test_names_with_dashes_and_types_of_text(frames, same):
    class Name(str):
        pass

    expected = pf.estimate_flow(*frames[:2], pf.flow.Icm(sweeps=2, order="colored"))
    assert same(pf.estimate_flow(*frames[:2], Name("icm"), sweeps=np.int8(2), order=np.str_("colored")),
                expected)


def test_values_are_fixed(case):
    _, method = case
    name = next(iter(parameters_of(method())))
    with pytest.raises(AttributeError):
        setattr(method(), name, 1)
    with pytest.raises(TypeError):
        method(3)


def test_no_parameter_hides_an_argument():
    """A parameter's name is never that of an argument of the functions and estimators."""
    arguments = """frame0 frame1 left right method preset device axes range channels threads start tracks
                   rotation shape energies progress parameters self""".split()
    for _, method in METHODS:
        assert not set(arguments) & set(parameters_of(method()))


def test_feature_tracking_is_a_value():
    tracking = pf.FeatureTracking(max_features=500, features="corners")
    assert eval(repr(tracking), {"FeatureTracking": pf.FeatureTracking}) == tracking
    assert pickle.loads(pickle.dumps(tracking)) == tracking != pf.FeatureTracking()
    assert tracking.replace(max_features=5).max_features == 5
    with pytest.raises(pf.Error, match="max_features cannot be -1; allowed"):
        pf.FeatureTracking(max_features=-1)


def test_camera_rotation_is_a_value():
    camera = pf.CameraRotation(0, 0.1, 0.02, fx=50, fy=51, cx=32, cy=24)
    assert eval(repr(camera), {"CameraRotation": pf.CameraRotation}) == camera
    assert pickle.loads(pickle.dumps(camera)) == camera != pf.CameraRotation(0, 0, 0, fx=1, fy=1, cx=0, cy=0)
    assert len({camera, copy.copy(camera)}) == 1 and camera != 3
    with pytest.raises(pf.Error, match="rotation: focal lengths 0, 51"):
        pf.CameraRotation(0, 0, 0, fx=0, fy=51, cx=0, cy=0)
    with pytest.raises(pf.Error, match="rotation: .* at most pi"):
        pf.CameraRotation(0, 4, 0, fx=50, fy=51, cx=0, cy=0)
