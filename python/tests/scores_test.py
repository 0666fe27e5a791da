# SPDX-License-Identifier: MIT
"""Scores of fields and masks."""

import json
import math
import pickle

import numpy as np
import pytest

import parafield as pf


def test_scores_of_known_errors():
    truth = np.zeros((10, 20, 2), np.float32)
    estimate = truth + np.float32([3, 4])
    scores = pf.evaluate(estimate, truth)
    assert type(scores) is pf.FlowScores and (scores.epe, scores.epe_std, scores.pixels) == (5, 0, 200)
    assert (scores.r1, scores.r3, scores.r5, scores.density) == (1, 1, 0, 1)
    assert math.isclose(scores.aae, math.degrees(math.acos(1 / math.sqrt(26))), rel_tol=1e-6)
    mask = np.zeros((10, 20), bool)
    mask[:, :5] = True
    estimate[:, :5] = 0
    assert pf.evaluate(estimate, truth, mask).epe == 0 and pf.evaluate(estimate, truth, mask).pixels == 50
    field = pf.FlowField(estimate[..., 0], estimate[..., 1], valid=mask)
    assert pf.evaluate(field, truth, valid_only=True).epe == 0
    assert math.isclose(pf.evaluate(field, truth).epe, 3.75) and pf.evaluate(field, truth).density == 0.25
    assert math.isnan(pf.evaluate(field, truth, ~mask, valid_only=True).epe)
    d = pf.evaluate(np.full((4, 4), 3.0), np.full((4, 4), 1.0))
    assert type(d) is pf.DisparityScores and (d.average, d.rms, d.bad_1, d.bad_2) == (2, 2, 1, 0)
    assert d.pixels == 16
    moving = np.array([[True, True, False, False]])
    m = pf.evaluate(pf.MotionMask(moving), np.array([[255, 0, 255, 85]], np.uint8))
    assert type(m) is pf.MaskScores and (m.true_positives, m.false_positives, m.false_negatives) == (1, 1, 1)
    assert m.unscored == 1 and m.precision == m.recall == 0.5
    assert (m + m).true_positives == 2 and (m + m).f1 == m.f1
    assert pf.evaluate(pf.MotionMask(moving), pf.MotionMask(moving)).f1 == 1
    for wrong, match in [((estimate, truth[1:]), "20x10.*20x9"), ((estimate, None), "truth is None"),
                         ((3, 4), "^estimate has the shape"), ((field, d), "^truth")]:
        with pytest.raises(pf.Error, match=match):
            pf.evaluate(*wrong)


def test_confidence_that_ranks_errors():
    error, confidence = np.float32([[0, 1, 2, 5]]), np.float32([[3, 2, 9, 2]])
    zero = np.zeros((1, 4), np.float32)
    flow = pf.FlowField(error, zero, confidence=confidence)
    disparity = pf.DisparityField(error, confidence=confidence)
    for estimate, truth in [(flow, np.zeros((1, 4, 2))), (disparity, zero)]:
        scores = pf.evaluate(estimate, truth, confidence=True)
        # errors 2, 0, then 3 twice; means 2, 1, 5/3, 2. The best are 0, 1, 2, 5: means 0, 1/2, 1, 2.
        assert math.isclose(scores.auc, 5 / 3) and scores.auc_best == 0.875
        assert f"auc={scores.auc!r}" in repr(scores)
        assert pickle.loads(pickle.dumps(scores)).auc == scores.auc
        mask = np.array([[True, True, False, False]])
        assert pf.evaluate(estimate, truth, mask, confidence=True).auc == 0.25
        silent = pf.evaluate(estimate, truth)
        assert math.isnan(silent.auc) and math.isnan(silent.auc_best)
    for estimate, truth in [(np.zeros((1, 4, 2)), flow), (zero, disparity)]:
        with pytest.raises(pf.Error, match="no confidence to score"):
            pf.evaluate(estimate, truth, confidence=True)
    with pytest.raises(pf.Error, match="motion mask has no score"):
        pf.evaluate(pf.MotionMask(zero > 0), zero > 0, confidence=True)


def test_confidence_of_the_command(frames, command, tmp_path):
    flow = pf.estimate_flow(*frames[:2], "lucas-kanade")
    truth = pf.render_scene("layers", shape=(48, 64), frames=2, seed=3).flow[0]
    pf.write_flow(tmp_path / "e.npy", flow)
    pf.write_flow(tmp_path / "t.npy", truth)
    np.save(tmp_path / "c.npy", flow.confidence)
    theirs = json.loads(command("eval", tmp_path / "e.npy", tmp_path / "t.npy", "--confidence",
                                tmp_path / "c.npy", "--json"))
    ours = pf.evaluate(flow, truth, confidence=True)
    assert (ours.auc, ours.auc_best) == (theirs["auc"], theirs["auc_best"])
    assert ours.auc_best < ours.auc


def test_masks_as_truth():
    """The other mask may be a MotionMask, an array of bool, or labels."""
    moving = np.array([[True, True, False, False]])
    true = np.array([[True, False, True, False]])
    mask = pf.MotionMask(moving)
    for estimate, truth in [(mask, pf.MotionMask(true)), (mask, true), (moving, pf.MotionMask(true)),
                            (mask, true.astype(np.uint8) * 255), (mask, np.asfortranarray(true)),
                            (moving.tolist(), pf.MotionMask(true))]:
        scores = pf.evaluate(estimate, truth)
        assert type(scores) is pf.MaskScores and scores.unscored == 0
        counts = scores.true_positives, scores.false_positives, scores.false_negatives, scores.true_negatives
        assert counts == (1, 1, 1, 1)
    assert pf.evaluate(mask, true, moving & true).f1 == 1
    for truth, match in [(true[:, :3], "4x1.*3x1"), (true[0], "truth has the shape 4; expected H x W"),
                         (true[None], "truth has the shape 1 x 1 x 4"), (true[:0], "truth has 0 x 4 pixels"),
                         (true.astype(np.int8), "truth has values of type int8"),
                         (true.astype(np.uint8), "label 1 at pixel")]:
        with pytest.raises(pf.Error, match=match):
            pf.evaluate(mask, truth)


def test_masks_of_torch():
    torch = pytest.importorskip("torch")
    moving = np.array([[True, True, False, False]])
    assert pf.evaluate(pf.MotionMask(moving), torch.tensor(moving)).f1 == 1
    assert pf.evaluate(torch.tensor(moving), pf.MotionMask(moving)).f1 == 1


def test_scores_are_the_commands(frames, command, tmp_path):
    flow = pf.estimate_flow(*frames[:2], "lucas-kanade", fb_check=0.5)
    truth = pf.render_scene("layers", shape=(48, 64), frames=2, seed=3).flow[0]
    pf.write_flow(tmp_path / "e.npy", flow)
    pf.write_flow(tmp_path / "t.npy", truth)
    theirs = json.loads(command("eval", tmp_path / "e.npy", tmp_path / "t.npy", "--json"))
    ours = pf.evaluate(np.asarray(flow), truth)
    for name in ("aae", "aae_std", "epe", "epe_std", "r1", "r3", "r5", "density", "pixels", "unknown",
                 "missing"):
        assert getattr(ours, name) == theirs[name]
        assert f"{name}={getattr(ours, name)!r}" in repr(ours)
