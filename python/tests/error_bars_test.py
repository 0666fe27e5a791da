# SPDX-License-Identifier: MIT
"""Error bars of flow and disparities."""

import copy
import pickle

import numpy as np
import pytest

import parafield as pf

BARS = {"covariance": True, "outlier": True, "cause": True}


def test_of_flow(frames):
    flow = pf.estimate_flow(*frames[:2], **BARS)
    assert flow.covariance.shape == (48, 64, 3) and flow.covariance.dtype == np.float32
    xx, xy, yy = np.moveaxis(flow.covariance, -1, 0)
    assert (xx > 0).all() and (yy > 0).all() and (xy * xy <= 1.001 * xx * yy).all()
    assert flow.sigma.shape == flow.outlier.shape == flow.outlier3.shape == flow.cause.shape == (48, 64)
    matrices = np.stack([np.stack([xx, xy], -1), np.stack([xy, yy], -1)], -1)
    assert np.allclose(flow.sigma, np.sqrt(np.linalg.eigvalsh(matrices)[..., 1]), rtol=1e-3)
    assert (flow.outlier >= flow.outlier3).all() and (flow.outlier <= 1).all() and (flow.outlier3 >= 0).all()
    assert np.allclose(flow.expected_error, np.sqrt(xx + yy) + 4 * flow.outlier, rtol=1e-5)
    assert flow.cause.dtype == np.uint8 and flow.cause.max() <= pf.ErrorCause.left_frame
    plain = pf.estimate_flow(*frames[:2])
    assert plain.expected_error is plain.covariance is plain.sigma is plain.outlier is plain.outlier3 is plain.cause is None
    assert np.array_equal(plain.uv, flow.uv) and np.array_equal(plain.valid, flow.valid)


def test_can_be_asked_for_one_by_one(frames):
    everything = pf.estimate_flow(*frames[:2], **BARS)
    outlier = pf.estimate_flow(*frames[:2], outlier=True)
    assert outlier.covariance is None and outlier.cause is None
    assert np.array_equal(outlier.outlier, everything.outlier)
    assert pf.estimate_flow(*frames[:2]).outlier is None  # the cached estimator is another one
    with pytest.raises(pf.Error, match="outlier cannot be 'yes': True or False"):
        pf.estimate_flow(*frames[:2], outlier="yes")
    with pytest.raises(pf.Error, match="only for adaptive-ridge; lucas-kanade has none"):
        pf.estimate_flow(*frames[:2], "lucas-kanade", covariance=True)


def test_of_stacks_and_copies(frames):
    stack = pf.estimate_flow(np.stack(frames[:4]), axes="nhw", **BARS)
    assert stack.covariance.shape == (3, 48, 64, 3) and stack.sigma.shape == stack.cause.shape == (3, 48, 64)
    for i in range(3):
        single = pf.estimate_flow(frames[i], frames[i + 1], **BARS)
        for other in (stack[i], copy.copy(stack[i]), pickle.loads(pickle.dumps(stack[i])), stack[i].copy()):
            for name in ("covariance", "sigma", "outlier", "outlier3", "cause", "u", "valid", "confidence"):
                assert np.array_equal(getattr(other, name), getattr(single, name)), name
    assert np.array_equal(pickle.loads(pickle.dumps(stack)).covariance, stack.covariance)


def test_of_estimators(frames):
    estimator = pf.FlowEstimator(**BARS)
    called = estimator(*frames[:2])
    estimator.push(frames[0])
    pushed = estimator.push(frames[1])
    expected = pf.estimate_flow(*frames[:2], **BARS)
    for result in (called, pushed):
        assert np.array_equal(result.covariance, expected.covariance)
        assert np.array_equal(result.outlier3, expected.outlier3)
    assert pf.FlowEstimator()(*frames[:2]).covariance is None


def test_of_disparities(sides):
    field = pf.estimate_disparity(*sides, sigma=True, outlier=True, cause=True)
    assert field.sigma.shape == (48, 64) and (field.sigma > 0).all()
    assert np.allclose(field.expected_error, field.sigma + 4 * field.outlier)
    depth, sigma = pf.depth_of(field, 50, 0.17), pf.depth_sigma_of(field, 50, 0.17)
    known = np.isfinite(depth)
    assert np.allclose(sigma[known], depth[known] ** 2 / (50 * 0.17) * field.sigma[known], rtol=1e-4)
    assert np.isinf(sigma[~known]).all()
    with pytest.raises(pf.Error, match="no sigma"):
        pf.depth_sigma_of(pf.estimate_disparity(*sides), 50, 0.17)


def test_of_points(sides, tmp_path):
    field = pf.estimate_disparity(*sides, sigma=True)
    geometry = pf.StereoGeometry(50, 0.17, 31.5, 23.5)
    points, colors = pf.points_of(field, sides[0], geometry)
    depth_sigma = pf.depth_sigma_of(field, geometry.focal, geometry.baseline, geometry.doffs)
    sigma = depth_sigma[np.isfinite(depth_sigma)]  # in the order of the points
    where = field.valid & (field.d > 0)
    assert np.allclose(sigma, points[:, 2] ** 2 / (50 * 0.17) * field.sigma[where], rtol=1e-4)
    pf.write_points(tmp_path / "p.ply", points, colors, sigma)
    text = (tmp_path / "p.ply").read_bytes()
    assert b"property float sigma_z" in text
    last = np.frombuffer(text[text.index(b"end_header") + 11 :], np.dtype("3f4, 3u1, f4"))
    assert np.array_equal(last["f2"], sigma) and np.array_equal(last["f0"], points)
    with pytest.raises(pf.Error, match="sigma has the shape"):
        pf.write_points(tmp_path / "p.ply", points, colors, sigma[1:])


def test_scores():
    scene = pf.render_scene("rotation", shape=(120, 160), seed=3)
    flow = pf.estimate_flow(*scene.frames, **BARS)
    scores = pf.evaluate_error_bars(flow, scene.flow[0])
    assert 0.5 < scores.inside68 <= scores.inside95 <= 1 and 0 <= scores.ause < 1 and scores.pixels == 160 * 120
    assert 0 <= scores.brier1 < 0.1 and scores.brier3 <= scores.brier1 + 0.01
    with pytest.raises(pf.Error, match="no error bars"):
        pf.evaluate_error_bars(pf.estimate_flow(*scene.frames), scene.flow[0])
