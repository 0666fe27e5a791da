#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures parafield.pysteps.motion beside motion methods of pysteps, on synthetic rain.

    bench/pysteps/nowcast.py [--seeds N] [--methods NAME...]

Fields of 480x400 px, a quarter of which is wet, move by translation, rotation or an affine motion of about 3
px a step. Rain lives as long as its motion lasts, or for `life` steps times (size / px)^0.8. From 3 images
comes a motion field, and with pysteps' extrapolation a nowcast of 6 steps. Prints a table: errors of the
motion in px, over all pixels and over wet ones; of the last step the mean absolute error in mm/h and CSI at
0.3 mm/h; seconds for a motion field. Means over seeds and motions. It needs pysteps, and lucaskanade also
opencv-python.
"""

import argparse
import contextlib
import io
import time
from importlib.metadata import version

import numpy as np
from scipy import ndimage
from scipy.linalg import expm

import parafield as pf
import parafield.pysteps

with contextlib.redirect_stdout(io.StringIO()):
    import pysteps

HEIGHT, WIDTH, PERIOD = 400, 480, 1024
IMAGES, STEPS = 3, 6
DRY = -15.0  # dBR


def textures(random, count, life):
    """Fields of scale-free noise, which change from one to the next unless life is infinite."""
    frequency = np.hypot(np.fft.fftfreq(PERIOD)[:, None], np.fft.fftfreq(PERIOD)[None])
    frequency[0, 0] = 1
    amplitude = frequency**-1.6 * (frequency > 2 / PERIOD)
    amplitude[0, 0] = 0
    memory = np.exp(-(frequency**0.8) / life)
    spectrum = np.fft.fft2(random.normal(size=(PERIOD, PERIOD)))
    for _ in range(count):
        yield np.fft.ifft2(spectrum * amplitude).real
        if np.isfinite(life):
            new = np.fft.fft2(random.normal(size=(PERIOD, PERIOD)))
            spectrum = memory * spectrum + np.sqrt(1 - memory**2) * new


def motion_of(kind, random):
    """The generator of a motion: 3 x 3, of x, y and 1."""
    matrix = np.zeros((3, 3))
    if kind == "rotation":
        matrix[:2] = [[0, -0.02, 1.0], [0.02, 0, 0.5]]
    else:
        if kind == "affine":
            matrix[:2, :2] = random.normal(0, 0.008, (2, 2))
        matrix[:2, 2] = random.uniform(-3.5, 3.5, 2)
    return matrix


def rain(kind, seed, life):
    """Images in dBR, and the true motion of a step: 2 x H x W."""
    random = np.random.default_rng(seed)
    fields = list(textures(random, IMAGES + STEPS, life))
    motion = motion_of(kind, random)
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(float)
    places = np.stack([x - WIDTH / 2, y - HEIGHT / 2, np.ones_like(x)])
    images = []
    for step, field in enumerate(fields):
        x, y = np.tensordot(expm(-step * motion), places, 1)[:2] + PERIOD / 2
        images.append(ndimage.map_coordinates(field / fields[0].std(), (y, x), order=3, mode="grid-wrap"))
    images = np.array(images)
    threshold = np.quantile(images[0], 0.75)
    images = np.where(images > threshold, (images - threshold) * 12 - 5, DRY)
    return images, np.tensordot(expm(motion), places, 1)[:2] - places[:2]


def scores(method, images, truth):
    begin = time.perf_counter()
    field = method(images[:IMAGES])
    seconds = time.perf_counter() - begin
    errors = np.hypot(*(field - truth))
    rates = np.where(images > -10, 10 ** (images / 10), 0)
    last = pysteps.extrapolation.semilagrangian.extrapolate(rates[IMAGES - 1], field, STEPS)[-1]
    seen = np.isfinite(last)
    forecast, observed = last[seen], rates[-1][seen]
    hits, either = (forecast > 0.3) & (observed > 0.3), (forecast > 0.3) | (observed > 0.3)
    csi = hits.sum() / max(1, either.sum())
    wet = errors[images[IMAGES - 1] > -10].mean()
    return errors.mean(), wet, np.abs(forecast - observed).mean(), csi, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--methods", nargs="+", default=["parafield", "lucaskanade"])
    given = parser.parse_args()
    pf.pysteps.register()
    methods = {name: pysteps.motion.get_method(name) for name in given.methods}
    print(f"parafield {pf.__version__}, pysteps {version('pysteps')}, {given.seeds} seeds, on "
          f"{pf.devices()[-1].name}\n")
    print("| rain | method | motion, all | wet | MAE | CSI | s |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for life in (np.inf, 1.5, 0.4):
        found = {name: [] for name in methods}
        for kind in ("translation", "rotation", "affine"):
            for seed in range(given.seeds):
                images, truth = rain(kind, seed, life)
                for name, method in methods.items():
                    with contextlib.redirect_stdout(io.StringIO()):
                        found[name].append(scores(method, images, truth))
        for name, values in found.items():
            every, wet, mae, csi, _ = np.mean(values, axis=0)
            seconds = np.median(values, axis=0)[-1]
            rain_of = f"life {life}" if np.isfinite(life) else "lasts"
            print(f"| {rain_of} | {name} | {every:.2f} | {wet:.2f} | {mae:.3f} | {csi:.3f} | {seconds:.2f} |",
                  flush=True)


if __name__ == "__main__":
    main()
