# SPDX-License-Identifier: MIT
"""Motion fields for nowcasts, with pysteps itself where it is installed."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import parafield as pf
from parafield.pysteps import motion, register

SHAPE = (240, 320)


def rain(scene: str = "rotation", count: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rendered frames as rain in dBR with dry areas, the true motion (2, m, n), and where it rains."""
    rendered = pf.render_scene(scene, shape=SHAPE, frames=count)
    bright = np.stack(rendered.frames).astype(np.float64)
    wet = bright > 128
    truth = rendered.flow[count - 2]
    return np.where(wet, (bright - 128) * 0.4 - 5, -15), np.stack([truth.u, truth.v]), wet[-2]


def error(field: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return np.hypot(*(field - truth))


def test_the_field_is_complete_and_near_the_truth() -> None:
    for scene in ("translation", "rotation"):
        images, truth, wet = rain(scene)
        field = motion(images)
        assert field.shape == (2, *SHAPE) and field.dtype == np.float64 and np.isfinite(field).all()
        assert error(field, truth)[wet].mean() < 0.2
        assert error(field, truth).mean() < 0.3


def test_missing_pixels_have_no_weight() -> None:
    images, truth, _ = rain()
    images[:, 60:120, 80:160] = np.nan
    field = motion(images)
    assert np.isfinite(field).all() and error(field, truth).mean() < 0.4
    masked = np.ma.masked_invalid(images)
    masked.data[masked.mask] = 1e6
    np.testing.assert_array_equal(motion(masked), field)
    images[np.isnan(images)] = np.inf
    np.testing.assert_array_equal(motion(images), field)


def test_dry_areas_take_the_motion_around() -> None:
    images, truth, _ = rain("translation")
    images[:, :, 160:] = -15
    far = motion(images)[:, :, 240:]
    assert error(far, truth[:, :, 240:]).mean() < 0.3


def test_no_rain_does_not_move() -> None:
    for images in (np.full((3, 40, 50), -15.0), np.full((2, 40, 50), np.nan), np.zeros((2, 1, 1))):
        np.testing.assert_array_equal(motion(images), 0)


def test_methods_and_parameters_reach_the_library() -> None:
    images, truth, wet = rain("translation", 5)
    for chosen in ({"preset": "sequence"}, {"method": "lucas-kanade"}, {"preset": "fast", "smoothing": 10}):
        assert error(motion(images, **chosen), truth)[wet].mean() < 0.5
    assert motion(images.astype(np.int16)).shape == (2, *SHAPE)
    assert (motion(images[-2:]) != motion(images)).any()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: motion(np.zeros((40, 50))), r"input_images cannot have the shape \(40, 50\)"),
        (lambda: motion(np.zeros((1, 40, 50))), "input_images cannot have the shape"),
        (lambda: motion(np.zeros((2, 0, 50))), "input_images cannot have the shape"),
        (lambda: motion(np.zeros((2, 40, 50), complex)), "input_images cannot be of complex128"),
        (lambda: motion(np.zeros((3, 40, 50)), preset="sequence"), "input_images cannot be 3 images"),
        (lambda: motion(np.zeros((2, 40, 50)), smoothing=0), "smoothing cannot be 0"),
        (lambda: motion(np.zeros((2, 40, 50)), smoothing="much"), "smoothing cannot be 'much'"),
        (lambda: motion(np.zeros((2, 40, 50)), fd_method="blob"), "fd_method"),
        (lambda: motion(np.zeros((2, 40, 50)), covariance=True), "covariance cannot be given here"),
    ],
)
def test_errors_name_the_argument(call: Any, message: str) -> None:
    with pytest.raises(pf.Error, match=message):
        call()


def test_the_interface_is_that_of_pysteps_methods() -> None:
    lucas_kanade = pytest.importorskip("pysteps.motion.lucaskanade").dense_lucaskanade
    first = next(iter(inspect.signature(motion).parameters))
    assert first == next(iter(inspect.signature(lucas_kanade).parameters))


def test_nowcasts_with_pysteps() -> None:
    methods = pytest.importorskip("pysteps.motion")
    extrapolate = pytest.importorskip("pysteps.extrapolation.semilagrangian").extrapolate
    pytest.importorskip("cv2")
    register()
    assert methods.get_method("parafield") is motion
    images, truth, _ = rain("rotation", 7)
    errors, misses = {}, {}
    for name in ("parafield", "lucaskanade"):
        field = methods.get_method(name)(images[:3])
        errors[name] = error(field, truth).mean()
        nowcast = extrapolate(images[2], field, 4)
        misses[name] = np.nanmean(np.abs(nowcast - images[3:]))
    still = np.abs(images[2] - images[3:]).mean()
    assert errors["parafield"] < errors["lucaskanade"]
    assert misses["parafield"] < misses["lucaskanade"] < still
