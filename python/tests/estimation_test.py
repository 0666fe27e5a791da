# SPDX-License-Identifier: MIT
"""Functions and estimators: their arguments, stacks, options, known motion, energies and progress."""

import sys

import numpy as np
import pytest

import parafield as pf

FUNCTIONS = {pf.estimate_flow: pf.FlowEstimator, pf.estimate_disparity: pf.StereoEstimator,
             pf.detect_motion: pf.MotionDetector}


@pytest.fixture(params=FUNCTIONS, ids=lambda function: function.__name__)
def function(request):
    return request.param


@pytest.fixture
def pair(function, frames, sides):
    return tuple(sides) if function is pf.estimate_disparity else tuple(frames[:2])


def methods_of(function):
    return {pf.estimate_flow: pf.flow, pf.estimate_disparity: pf.stereo, pf.detect_motion: pf.detection}[
        function].methods()


def test_positions_and_keywords(function, pair, same):
    method = methods_of(function)[-1]
    expected = function(*pair, method.preset("accurate"), device="cpu")
    names = ("left", "right") if function is pf.estimate_disparity else ("frame0", "frame1")
    assert same(function(*pair, method.name, "accurate", "cpu"), expected)
    keywords = dict(zip(names, pair), method=method.name, preset="accurate", device="cpu")
    assert same(function(**keywords), expected)
    assert same(function(list(pair), method=method.name, preset="accurate"), expected)
    with pytest.raises(TypeError):
        function(*pair, method.name, "accurate", "cpu", "hw")


def test_defaults(function, pair, same):
    method = methods_of(function)[0]
    for same_call in (function(*pair, None), function(*pair, method.name), function(*pair, method()),
                      function(*pair, preset=None, device=None, axes=None, range=None, channels=None,
                               threads=None, start=None), FUNCTIONS[function]()(*pair)):
        assert same(same_call, function(*pair))


@pytest.mark.parametrize("device", ["cpu", "auto", None])
@pytest.mark.parametrize("threads", [0, 1, 3, np.int64(2), None])
def test_devices_and_threads(function, pair, device, threads, same):
    result = function(*pair, device=device, threads=threads)
    assert same(result, function(*pair)) and result.device == "cpu"


def test_parameters_change_a_value(frames, same):
    method = pf.LucasKanade(levels=2)
    assert same(pf.estimate_flow(*frames[:2], method, window=7, fb_check=1),
                pf.estimate_flow(*frames[:2], "lucas-kanade", levels=2, window=7, fb_check=1))
    assert method == pf.LucasKanade(levels=2)
    with pytest.raises(pf.Error, match=r"preset .* LucasKanade.preset\(\)"):
        pf.estimate_flow(*frames[:2], method, "accurate")


def test_calls_that_alternate(frames, same):
    """What a call keeps for the next one never shows."""
    calls = [{}, {"preset": "fast"}, {"method": "lucas-kanade"}, {"method": pf.LucasKanade(levels=1)},
             {"threads": 1}, {"method": pf.LucasKanade(levels=2)}, {"fill": True, "fb_check": 0.2},
             {"device": "cpu"}, {"levels": 2}]
    expected = [pf.FlowEstimator(**options)(*frames[:2]) for options in calls]
    for order in np.random.default_rng(3).integers(len(calls), size=60):
        assert same(pf.estimate_flow(*frames[:2], **calls[order]), expected[order])
    for levels in (1, 2, 3) * 5:  # values that come and go, maybe at one address
        assert same(pf.estimate_flow(*frames[:2], pf.LucasKanade(levels=levels)),
                    pf.estimate_flow(*frames[:2], "lucas-kanade", levels=levels))
    for _ in range(3):
        with pytest.raises(pf.Error, match="threads cannot be -1"):
            pf.estimate_flow(*frames[:2], threads=-1)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_batches(function, pair, count, same):
    rng = np.random.default_rng(5)
    stacks = [np.stack([np.roll(frame, rng.integers(9), axis=1) for _ in range(count)]) for frame in pair]
    for method in methods_of(function):
        if method.name in ("annealing", "belief-propagation"):  # they are slow
            continue
        value = method()
        if value.frames != 2:
            continue
        batch = function(*stacks, value, axes="nhw")
        assert batch.shape == (count, 48, 64) == (len(batch), 48, 64)
        for i, one in enumerate(batch):
            assert same(one, function(stacks[0][i], stacks[1][i], value)), method
        for threads in (1, 2):
            assert same(function(*stacks, value, axes="nhw", threads=threads), batch)


@pytest.mark.parametrize("method", [pf.LucasKanade(), pf.GradientTensor(), pf.RidgeRegression(),
                                    pf.AdaptiveRidge(frames=3), pf.AdaptiveRidge.preset("sequence")],
                         ids=repr)
def test_stacks_in_time(method, frames, same):
    taken = method.frames
    stack = np.stack(frames)
    flows = pf.estimate_flow(stack, method=method, axes="nhw")
    assert len(flows) == 7 - taken + 1
    estimator = pf.FlowEstimator(method)
    for i, flow in enumerate(flows):
        window = frames[i:i + taken]
        assert same(flow, pf.estimate_flow(window, method=method))
        assert same(flow, pf.estimate_flow(tuple(window), method=method))
        assert same(flow, estimator(window))
    assert same(pf.estimate_flow([stack[i:7 - taken + 1 + i] for i in range(taken)], method=method,
                                 axes="nhw"), flows)


@pytest.mark.parametrize("method", pf.flow.methods(), ids=lambda method: method.name)
@pytest.mark.parametrize("threads", [1, 3])
def test_frames_of_a_sequence(method, threads, same):
    """Results of a sequence are those of calls, also where each frame is prepared only once."""
    value = method(sweeps=2) if hasattr(method, "sweeps") else method()
    stack = np.stack(pf.render_scene("rotation", shape=(24, 32), frames=12).frames)
    count = 12 - value.frames + 1
    expected = [pf.estimate_flow(list(stack[i:i + value.frames]), method=value) for i in range(count)]
    whole = pf.estimate_flow(stack, method=value, axes="nhw", threads=threads)
    parts = [stack[k:k + count] for k in range(value.frames)]
    in_parts = pf.estimate_flow(parts, method=value, axes="nhw", threads=threads)
    of_copies = pf.estimate_flow([part.copy() for part in parts], method=value, axes="nhw", threads=threads)
    for i, flow in enumerate(expected):
        assert same(whole[i], flow) and same(in_parts[i], flow) and same(of_copies[i], flow)
    changed = parts[:-1] + [parts[-1][::-1]]  # the last frame is not the next one
    for i, flow in enumerate(pf.estimate_flow(changed, method=value, axes="nhw", threads=threads)):
        assert same(flow, pf.estimate_flow([part[i] for part in changed], method=value))


@pytest.mark.parametrize("method", [pf.AdaptiveRidge(), pf.LucasKanade(temporal=False), pf.GradientTensor(),
                                    pf.RidgeRegression(), pf.AdaptiveRidge(frames=3), pf.flow.Icm(sweeps=2)],
                         ids=repr)
def test_push(method, frames, same):
    estimator = pf.FlowEstimator(method)
    for _ in range(2):
        results = [estimator.push(frame) for frame in frames]
        assert results[:method.frames - 1] == [None] * (method.frames - 1)
        for i, flow in enumerate(results[method.frames - 1:]):
            assert same(flow, pf.estimate_flow(frames[i:i + method.frames], method=method))
        estimator.reset()


def test_pushed_frames_use_the_last_result(frames, same):
    """Lucas-Kanade starts from the last flow, motion detection from the last mask; reset() forgets it."""
    for estimator, function in [(pf.FlowEstimator(pf.LucasKanade(temporal=True, levels=1)), pf.estimate_flow),
                                (pf.MotionDetector("icm", temporal=2), pf.detect_motion)]:
        first = [estimator.push(frame) for frame in frames[:4]]
        assert same(first[1], function(*frames[:2], estimator.method))
        assert not same(first[3], function(*frames[2:4], estimator.method))
        estimator.reset()
        again = [estimator.push(frame) for frame in frames[:4]]
        assert all(same(a, b) for a, b in zip(first[1:], again[1:]))
        assert same(estimator(*frames[2:4]), function(*frames[2:4], estimator.method))


def test_start(frames, same):
    truth = pf.estimate_flow(*frames[:2], "lucas-kanade", levels=4)
    one_level = pf.LucasKanade(levels=1, iterations=1)
    started = pf.estimate_flow(*frames[:2], one_level, start=truth)
    assert not same(started, pf.estimate_flow(*frames[:2], one_level))
    assert same(pf.estimate_flow(*frames[:2], one_level, start=np.asarray(truth)), started)
    assert same(pf.estimate_flow(*frames[:2], one_level, start=np.asarray(truth).tolist()), started)
    assert same(pf.FlowEstimator(one_level)(*frames[:2], start=truth), started)
    stacks = np.stack(frames[:2]), np.stack(frames[1:3])
    starts = pf.estimate_flow(*stacks, "lucas-kanade", axes="nhw")
    both = pf.estimate_flow(*stacks, one_level, axes="nhw", start=starts)
    assert all(same(both[i], pf.estimate_flow(*frames[i:i + 2], one_level, start=starts[i]))
               for i in range(2))


def test_tracks_and_rotation(frames, same):
    tracks = pf.find_tracks(*frames[:2])
    assert tracks.dtype == np.float32 and tracks.ndim == 2 and tracks.shape[1] == 4 and len(tracks) > 10
    for method in ("direct-interpolation", "multi-hypothesis"):
        given = pf.estimate_flow(*frames[:2], method, tracks=tracks[:20])
        assert not same(given, pf.estimate_flow(*frames[:2], method))
        for form in (tracks[:20].astype(np.float64), tracks[:20].tolist(), tracks[:20].copy(order="F")):
            assert same(pf.estimate_flow(*frames[:2], method, tracks=form), given)
        assert same(pf.FlowEstimator(method)(*frames[:2], tracks=tracks[:20]), given)
    camera = pf.CameraRotation(0, 0, 0.03, fx=60, fy=60, cx=32, cy=24)
    turned = pf.estimate_flow(*frames[:2], "direct-interpolation", rotation=camera, tracks=np.zeros((0, 4)))
    assert np.isfinite(np.asarray(turned)).all() and np.abs(turned.uv).max() > 0.1
    assert same(pf.FlowEstimator("direct-interpolation")(*frames[:2], rotation=camera,
                                                         tracks=np.zeros((0, 4))),
                turned)


def test_energies(frames, sides):
    for make, images in [(pf.FlowEstimator, frames[:2]), (pf.StereoEstimator, sides),
                         (pf.MotionDetector, frames[:2])]:
        estimator = make("icm", sweeps=5, energies="sweeps")
        assert estimator.energies() == []
        estimator(*images)
        energies = estimator.energies()
        assert 2 <= len(energies) <= 6 and energies[0] > energies[-1] > 0
        estimator = make("icm", sweeps=5, energies="result")
        estimator(*images)
        assert estimator.energies() == energies[-1:]
        estimator = make("icm", sweeps=5)
        estimator(*images)
        assert estimator.energies() == []
    estimator = pf.FlowEstimator("lucas-kanade", energies="sweeps")
    estimator(*frames[:2])
    assert estimator.energies() == []


def test_progress(frames, same):
    shares = []
    estimator = pf.FlowEstimator("annealing", device="cpu", sweeps=30, progress=shares.append)
    flow = estimator(*frames[:2])
    assert shares == sorted(shares) and 2 < len(shares) <= 50 and shares[0] > 0 and shares[-1] == 1
    assert same(flow, pf.estimate_flow(*frames[:2], "annealing", sweeps=30))


def test_errors_in_progress_are_reported(frames, same, monkeypatch):
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reported.append(str(report.exc_value)))

    def fail(share):
        raise KeyError("mine")

    estimator = pf.FlowEstimator("annealing", device="cpu", sweeps=3, progress=fail)
    expected = pf.estimate_flow(*frames[:2], "annealing", sweeps=3)
    assert same(estimator(*frames[:2]), expected) and set(reported) == {"'mine'"}
    reported.clear()
    inner = pf.FlowEstimator("annealing", device="cpu", sweeps=3, progress=lambda share: inner(*frames[:2]))
    assert same(inner(*frames[:2]), expected) and "progress" in reported[0]  # and it does not wait for itself
    inner = pf.FlowEstimator("annealing", device="cpu", sweeps=3,
                             progress=lambda share: pf.estimate_flow(*frames[:2]))
    assert same(inner(*frames[:2]), expected) and len(reported) == 3


def test_cancel(frames, same):
    estimator = pf.FlowEstimator("annealing", device="cpu", sweeps=20,
                                 progress=lambda share: estimator.cancel())
    for _ in range(2):
        with pytest.raises(pf.Error, match="cancel") as caught:
            estimator(*frames[:2])
        assert caught.value.code == "cancelled"
    waiting = pf.FlowEstimator("icm")
    waiting.cancel()  # before it knows a size
    with pytest.raises(pf.Error, match="cancel"):
        waiting.push(frames[0])
    waiting.reset()
    assert same(waiting(*frames[:2]), pf.estimate_flow(*frames[:2], "icm"))


def test_attributes_of_estimators(frames):
    estimator = pf.FlowEstimator("lucas-kanade", levels=2)
    assert estimator.method == pf.LucasKanade(levels=2)
    assert (estimator.shape, estimator.device, estimator.workspace_bytes) == (None, None, 0)
    estimator(*frames[:2])
    assert estimator.device == ("cpu" if pf.why_no_cuda() else "cuda:0")
    assert estimator.shape == (48, 64) and estimator.workspace_bytes > 48 * 64
    assert estimator.blocks == 1
    divided = pf.FlowEstimator("belief-propagation", blocks=4)
    assert divided.blocks == 1
    divided(*frames[:2])
    assert divided.blocks == 4
    made = pf.FlowEstimator(pf.LucasKanade(levels=2), device="cpu", shape=(48, 64))
    assert made.shape == (48, 64) and made.device == "cpu"
    assert pf.FlowEstimator(shape=np.zeros((5, 6)).shape).shape == (5, 6)
    with pytest.raises(pf.Error, match="frame1 has 47 x 64 pixels, frame0 has 48 x 64"):
        made(frames[0], frames[1][1:])
    for wrong in (frames[0][1:], frames[0].T):
        with pytest.raises(pf.Error, match=f"frame0 has {wrong.shape[0]} x .* the estimator is for 48 x 64"):
            made(wrong, wrong)


def test_texts_of_estimators(frames):
    estimator = pf.FlowEstimator("lucas-kanade", levels=2)
    assert repr(estimator) == "<parafield.FlowEstimator LucasKanade(levels=2)>"
    estimator(*frames[:2])
    assert repr(estimator) == f"<parafield.FlowEstimator LucasKanade(levels=2), 48 x 64, {estimator.device}>"
    made = pf.StereoEstimator("icm", device="cpu")
    assert repr(made) == f"<parafield.StereoEstimator {made.method!r}, cpu>"
    assert repr(pf.MotionDetector(shape=(5, 6))).endswith(", 5 x 6>")


def test_range_of_the_first_frames_is_kept(frames, same):
    floats = [frame.astype(np.float32) / 255 for frame in frames]
    estimator = pf.FlowEstimator("lucas-kanade")
    estimator(*floats[:2])
    dark = [frame / 400 for frame in floats[2:4]]
    assert same(estimator(*dark), pf.estimate_flow(*dark, "lucas-kanade", range=(0, 1)))
    estimator.reset()
    assert same(estimator(*dark), pf.estimate_flow(*dark, "lucas-kanade"))
    with pytest.raises(pf.Error, match="47 x 64"):
        estimator(*(frame[1:] for frame in floats[:2]))
    assert same(estimator(*dark), pf.estimate_flow(*dark, "lucas-kanade"))  # the wrong frames left no trace


def test_a_saved_background_goes_on(tmp_path):
    scene = pf.render_scene("square", shape=(60, 80), frames=30)
    whole = pf.MotionDetector("icm-background", temporal=0, device="cpu")
    with pytest.raises(pf.Error, match="no background has been learned"):
        whole.save_background(tmp_path / "background")
    for frame in scene.frames[:20]:
        whole.push(frame)
    whole.save_background(tmp_path / "background")
    later = pf.MotionDetector("icm-background", temporal=0, device="cpu", background=tmp_path / "background")
    frozen = pf.MotionDetector("icm-background", background=str(tmp_path / "background"), freeze=True)
    later.push(scene.frames[19])
    frozen.push(scene.frames[19])
    for frame in scene.frames[20:]:
        assert np.array_equal(later.push(frame).moving, whole.push(frame).moving)
        assert frozen.push(frame) is not None
    pair = scene.frames[0], scene.frames[25]
    mask = pf.detect_motion(*pair, "icm-background", background=tmp_path / "background")
    assert mask.moving.shape == (60, 80)
    with pytest.raises(pf.Error, match="has 80x60 pixels, the frames have 79x60"):
        pf.detect_motion(*(frame[:, 1:] for frame in pair), "icm-background", background=tmp_path / "background")
    with pytest.raises(pf.Error, match="learns? a background"):
        pf.detect_motion(*pair, "icm", background=tmp_path / "background")
    with pytest.raises(pf.Error, match="background cannot be 3"):
        pf.MotionDetector("icm-background", background=3)


def test_only_the_region_is_detected():
    scene = pf.render_scene("balloons", shape=(60, 80), frames=2)
    region = np.zeros((60, 80), bool)
    region[:, 40:] = True
    mask = pf.detect_motion(*scene.frames, region=region)
    assert mask.moving.any() and not mask.moving[:, :40].any()
    assert np.array_equal(mask.valid, region)
    with pytest.raises(pf.Error, match="the region has 60x80 pixels"):
        pf.detect_motion(*scene.frames, region=region.T)
