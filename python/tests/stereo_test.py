# SPDX-License-Identifier: MIT
"""The number of disparities that the images say, and the checks of stereo."""

import pickle

import numpy as np
import pytest

import parafield as pf

SHAPE = 60, 160


def pair(disparity, shape=SHAPE, seed=1):
    """A smooth texture, and the same moved to the left."""
    height, width = shape
    noise = np.random.default_rng(seed).integers(0, 256, (height, width + disparity + 8)).astype(float)
    for axis in (0, 1):
        noise = sum(np.roll(noise, i, axis) for i in range(4)) / 4
    noise = np.clip((noise - 128) * 3 + 128, 0, 255).astype(np.uint8)
    return noise[:, :width].copy(), noise[:, disparity:disparity + width].copy()


def covered(seed):
    """What two covered cameras see."""
    return np.random.default_rng(seed).normal(8, 3, (2, *SHAPE)).clip(0, 255).round().astype(np.uint8)


@pytest.fixture(scope="module")
def few():
    return pair(4)


@pytest.fixture(scope="module")
def many():
    return pair(45)


def number(sides):
    return pf.examine_pair(*sides).disparities


def test_examine_pair(few, many):
    found = pf.examine_pair(*many)
    assert 46 <= found.disparities <= 90 and found.disparities > number(few) > 4
    assert found.matched > 0.4 and found.negative < 0.1 and found.swapped is False
    assert found.blank is False and pf.examine_pair(0 * many[0], 0 * many[1]).blank is True
    assert found.correlation > 0.8 and pf.examine_pair(*covered(1)).blank is True
    assert repr(found).startswith(f"PairFindings(disparities={found.disparities}, matched=0.")
    swapped = pf.examine_pair(many[1], many[0])
    assert swapped.swapped is True and swapped.negative > 0.8
    assert pf.examine_pair(*many, min_disparity=-20).disparities >= 46 + 20
    for convert in (lambda side: side.astype(np.float32), lambda side: np.repeat(side[..., None], 3, 2),
                    lambda side: np.repeat(side[:, :, None], 2, 2)[:, :, 0]):
        again = pf.examine_pair(*map(convert, many), range=(0, 255))
        assert again.disparities == found.disparities
    rolled = [np.moveaxis(np.repeat(side[..., None], 3, 2), 2, 0) for side in many]
    assert pf.examine_pair(*rolled, axes="chw").disparities == found.disparities


@pytest.mark.parametrize("shape", [(1, 1), (6, 8), (40, 3), (3, 40), (1, 9)])
def test_tiny_images(shape):
    sides = pair(0, shape)
    assert 1 <= number(sides) <= shape[1]
    assert pf.estimate_disparity(*sides, device="cpu").d.shape == shape


def test_examine_pair_refuses(few):
    with pytest.raises(pf.Error, match="right has 60 x 100 pixels"):
        pf.examine_pair(few[0], few[1][:, :100])
    with pytest.raises(pf.Error, match="axes cannot be 'nhw': examine_pair takes single frames"):
        pf.examine_pair(few[0][None], few[1][None], axes="nhw")
    with pytest.raises(pf.Error, match="min_disparity cannot be 1.5"):
        pf.examine_pair(*few, min_disparity=1.5)
    with pytest.raises(pf.Error, match="min_disparity cannot be 5000"):
        pf.examine_pair(*few, min_disparity=5000)
    with pytest.raises(pf.Error, match="left"):
        pf.examine_pair("left.png", few[1])


@pytest.mark.parametrize("method", pf.stereo.methods(), ids=lambda method: method.name)
def test_each_call_finds_its_own_number(method, few, many, same):
    fewer = {"sweeps": 2} if hasattr(method(), "sweeps") else {}
    for sides in (few, many, few, many):  # an estimator of the cache knows the number of another call's pair
        assert same(pf.estimate_disparity(*sides, method(**fewer)),
                    pf.estimate_disparity(*sides, method(disparities=number(sides), **fewer)))


def test_stacks_take_the_largest_number(few, many, same):
    left, right = (np.stack(sides) for sides in zip(few, many, few))
    assert same(pf.estimate_disparity(left, right, axes="nhw"),
                pf.estimate_disparity(left, right, axes="nhw", disparities=number(many)))


def test_blank_pairs_of_a_stack_do_not_count(few, same):
    blank = [covered(seed) for seed in range(8)]
    assert max(map(number, blank)) > number(few)
    left, right = (np.stack(sides) for sides in zip(few, *blank))
    assert same(pf.estimate_disparity(left, right, axes="nhw"),
                pf.estimate_disparity(left, right, axes="nhw", disparities=number(few)))


def test_estimators_say_the_number_that_they_found(few, many):
    estimator = pf.StereoEstimator()
    assert estimator.method == pf.stereo.BeliefPropagation() and estimator.method.disparities == 0
    estimator(*few)
    assert estimator.method == pf.stereo.BeliefPropagation(disparities=number(few))
    assert f"disparities={number(few)}" in repr(estimator)
    estimator(*many)
    assert estimator.method.disparities == number(few), "the first pair says it"
    estimator.reset()
    assert estimator.method.disparities == 0
    estimator(*many)
    assert estimator.method.disparities == number(many)
    assert pf.StereoEstimator("icm", disparities=7).method.disparities == 7


def test_checks_are_parameters_of_every_method(few):
    checks = {"lr_check": 0.5, "speckle": 9, "fill": True, "final_median": 5}
    for method in pf.stereo.methods():
        value = method(**checks)
        assert {name: getattr(value, name) for name in checks} == checks
        assert pickle.loads(pickle.dumps(value)) == value
        accurate = method.preset("accurate")
        assert (accurate.lr_check, accurate.fill) == (1, True)
        assert accurate.final_median in (3, 5)
    default = pf.stereo.BeliefPropagation()
    assert (default.lr_check, default.fill, default.final_median) == (1, True, 3)
    assert default == pf.stereo.BeliefPropagation.preset("quality")
    assert pf.stereo.BeliefPropagation.presets == ("quality", "fast", "accurate", "paper")
    assert pf.stereo.methods()[0] is pf.stereo.BeliefPropagation
    with pytest.raises(pf.Error, match="final_median cannot be 4"):
        pf.estimate_disparity(*few, final_median=4)
    unchecked = pf.estimate_disparity(*few, lr_check=0)
    assert unchecked.valid.sum() >= pf.estimate_disparity(*few).valid.sum()


@pytest.fixture(scope="module")
def video():
    """Three pairs of a camera that stands still, with noise."""
    left, right = pf.render_scene("stereo", shape=(60, 80), frames=2, seed=3).frames
    random = np.random.default_rng(1)
    noisy = lambda image: np.clip(image + random.normal(0, 4, image.shape), 0, 255).astype(np.uint8)
    return [(noisy(left), noisy(right)) for _ in range(3)]


def test_pushed_pairs_are_calls(video, same):
    estimator = pf.StereoEstimator(disparities=12, device="cpu", threads=2)
    for left, right in video:
        assert same(estimator.push(left, right), pf.estimate_disparity(left, right, disparities=12))


def test_noise_averages_pushed_pairs(video, same):
    estimator = pf.StereoEstimator(disparities=12, noise=4, device="cpu")
    alone = [pf.estimate_disparity(left, right, disparities=12) for left, right in video]
    first = [estimator.push(left, right) for left, right in video]
    assert same(first[0], alone[0]) and not same(first[2], alone[2])
    assert same(estimator(*video[2]), alone[2])      # a call is alone, and forgets the video
    again = [estimator.push(left, right) for left, right in video]
    assert all(same(a, b) for a, b in zip(first, again))
    estimator.reset()
    assert same(estimator.push(*video[0]), alone[0])


def test_pushed_pairs_have_one_size(video):
    estimator = pf.StereoEstimator(noise=4, device="cpu")
    left, right = video[0]
    with pytest.raises(ValueError, match="left|right"):
        estimator.push(left, right[:, :70])
    estimator.push(left, right)
    with pytest.raises(ValueError, match="60 x 80"):
        estimator.push(left[:50], right[:50])
    with pytest.raises(TypeError):
        estimator.push(left)
