# SPDX-License-Identifier: MIT
"""Frames, and what tests of the package ask of results."""

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import parafield as pf

SHAPE = (48, 64)


def _frozen(arrays):
    """The arrays, which no test can change."""
    for array in arrays:
        array.flags.writeable = False
    return arrays


@pytest.fixture(scope="session")
def frames():
    """Seven gray frames of a sequence: uint8, 48 x 64."""
    return _frozen(pf.render_scene("layers", shape=SHAPE, frames=7, seed=3).frames)


@pytest.fixture(scope="session")
def color_frames():
    """Two frames in color: uint8, 48 x 64 x 3."""
    return _frozen(pf.render_scene("layers", shape=SHAPE, frames=2, seed=3, color=True).frames)


@pytest.fixture(scope="session")
def sides():
    """A left and a right image: uint8, 48 x 64."""
    return _frozen(pf.render_scene("stereo", shape=SHAPE, frames=2, seed=3).frames)


def _planes(result):
    """The planes of a result as arrays of NumPy in host memory, by name."""
    host = result.cpu()
    names = {pf.FlowField: ("u", "v"), pf.DisparityField: ("d",), pf.MotionMask: ("moving",)}[type(result)]
    found = {name: getattr(host, name) for name in (*names, "valid", "confidence")}
    return {name: np.ascontiguousarray(plane) for name, plane in found.items() if plane is not None}


@pytest.fixture(scope="session")
def planes():
    """A function: the planes of a result as arrays of NumPy, by name."""
    return _planes


@pytest.fixture(scope="session")
def same():
    """A function: whether two results have the same bits in all planes. NaN equals NaN of the same bits."""

    def compare(first, second):
        a, b = _planes(first), _planes(second)
        return a.keys() == b.keys() and all(
            a[name].dtype == b[name].dtype and a[name].shape == b[name].shape
            and a[name].tobytes() == b[name].tobytes() for name in a)

    return compare


@pytest.fixture(scope="session")
def command():
    """A function that runs the command parafield and returns what it prints. Keywords are its options."""
    program = Path(pf.__file__).parent / "bin" / "parafield"
    if not program.exists():
        pytest.skip("this build has no command")

    def run(*words, **options):
        for name, value in options.items():
            words += ("--" + name.replace("_", "-"), *([] if value is True else [value]))
        done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def run_program():
    """A function that runs a program in a process of its own, and gives its output."""

    def run(program):
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True,
                              text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "leaked" not in done.stderr
        return done.stdout

    return run


@pytest.fixture
def cuda():
    """Skips a test where no CUDA device can be used."""
    if reason := pf.why_no_cuda():
        pytest.skip(reason)
