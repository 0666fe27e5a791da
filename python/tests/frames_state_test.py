# SPDX-License-Identifier: MIT
"""Cuts and frames without texture: warnings, validity and the state."""

import warnings

import numpy as np
import pytest

import parafield as pf


def _wall(seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(128, 2, (120, 160))
    return np.rint(noise).astype(np.uint8)


def _film() -> list[np.ndarray]:
    scenes = [pf.render_scene(name, shape=(120, 160), frames=3) for name in ("layers", "flythrough")]
    return [np.asarray(frame) for scene in scenes for frame in scene.frames]


def test_noise_on_a_wall_is_not_valid() -> None:
    with pytest.warns(pf.FramesWarning, match="no texture") as caught:
        flow = pf.estimate_flow(_wall(1), _wall(2), device="cpu")
    assert caught[0].filename == __file__
    assert not flow.valid.any()
    with pytest.warns(pf.FramesWarning, match="no texture"):
        everything = pf.estimate_flow(_wall(1), _wall(2), device="cpu", min_confidence=0)
    assert everything.valid.mean() > 0.9
    np.testing.assert_array_equal(flow.u, everything.u)
    with pytest.warns(pf.FramesWarning, match="no texture"):
        disparity = pf.estimate_disparity(_wall(1), _wall(2), device="cpu", disparities=16)
    assert not disparity.valid.any()
    with pytest.warns(pf.PairWarning, match="no texture"):
        disparity = pf.estimate_disparity(_wall(1), _wall(2), device="cpu")
    assert not disparity.valid.any()
    assert not pf.examine_pair(_wall(1), _wall(2)).textured


def test_a_stack_names_its_cuts() -> None:
    frames = np.stack(_film())
    with pytest.warns(pf.FramesWarning, match="result 2 show different scenes"):
        flow = pf.estimate_flow(frames, axes="nhw", device="cpu")
    assert [bool(valid.any()) for valid in flow.valid] == [True, True, False, True, True]


@pytest.mark.parametrize("pipelined", [False, True])
def test_an_estimator_has_the_state_of_its_last_result(pipelined: bool) -> None:
    estimator = pf.FlowEstimator(device="cpu", pipelined=pipelined)
    states = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pf.FramesWarning)
        for frame in _film():
            if estimator.push(frame) is not None:
                states.append(estimator.frames_state)
        if estimator.finish() is not None:
            states.append(estimator.frames_state)
    assert states == ["usable", "usable", "cut", "usable", "usable"]


def test_a_cut_learns_a_new_background() -> None:
    detector = pf.MotionDetector("icm-background", device="cpu")
    masks = []
    with pytest.warns(pf.FramesWarning, match="cut"):
        for frame in _film():
            mask = detector.push(frame)
            if mask is not None:
                masks.append(mask)
    assert not masks[2].moving.any()
    assert not masks[2].valid.any()
    assert masks[3].valid.all()
