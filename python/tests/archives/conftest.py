# SPDX-License-Identifier: MIT
"""Videos and image folders to extract from, rendered."""

import os
import struct
from types import SimpleNamespace

import numpy as np
import pytest

import parafield as pf

SHAPE = (48, 64)


def rendered(count, seed=1, shape=SHAPE, scene="rotation"):
    """Gray frames of a scene."""
    return list(pf.render_scene(scene, shape=shape, frames=count, seed=seed).frames)


def encode(path, frames, codec="ffv1", pixels="gray", rate=25, color_range=None, **options):
    """Writes a video; FFV1 keeps every bit."""
    import av

    os.makedirs(os.path.dirname(path), exist_ok=True)
    in_container = {"movflags": "faststart"} if str(path).endswith("mp4") else {}
    with av.open(str(path), "w", options=in_container) as container:
        stream = container.add_stream(codec, rate=rate, options=options)
        first = frames[0]
        is_frame = isinstance(first, av.VideoFrame)
        stream.height, stream.width = (first.height, first.width) if is_frame else first.shape[:2]
        stream.pix_fmt = pixels
        if color_range is not None:
            stream.codec_context.color_range = color_range
        for array in frames:
            if isinstance(array, av.VideoFrame):
                frame = array
            else:
                kind = {2: "gray" if array.dtype == np.uint8 else "gray16le", 3: "rgb24"}[array.ndim]
                frame = av.VideoFrame.from_ndarray(array, format=kind)
            if color_range is not None:
                frame.color_range = color_range
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return str(path)


def turn(path, a, b, c, d):
    """Writes the matrix of rotation into an MP4 file."""
    with open(path, "rb") as stream:
        data = bytearray(stream.read())
    place = data.index(b"tkhd") + 44
    data[place:place + 36] = struct.pack(">9i", a << 16, b << 16, 0, c << 16, d << 16, 0, 0, 0, 1 << 30)
    with open(path, "wb") as stream:
        stream.write(data)


def flows_alone(frames, method="adaptive-ridge", **parameters):
    """u and v of each pair of frames, one call a pair."""
    flows = [pf.estimate_flow(a, b, method, device="cpu", threads=1, **parameters)
             for a, b in zip(frames, frames[1:])]
    return np.stack([flow.u for flow in flows]), np.stack([flow.v for flow in flows])


@pytest.fixture(scope="session")
def make():
    """The functions above."""
    pytest.importorskip("av")
    return SimpleNamespace(rendered=rendered, encode=encode, turn=turn, flows_alone=flows_alone)


@pytest.fixture(scope="session")
def archive(tmp_path_factory):
    """A folder of videos and an image folder, and the frames of each by name."""
    pytest.importorskip("av")
    top = tmp_path_factory.mktemp("archive")
    frames = {f"class{number % 2}/video{number}": rendered(6, seed=number + 1) for number in range(5)}
    for name, some in frames.items():
        encode(top / f"{name}.mkv", some)
    frames["images"] = rendered(5, seed=9)
    (top / "images").mkdir()
    for number, frame in enumerate(frames["images"], 8):
        pf.write_frame(str(top / f"images/{number}.png"), frame)
    return top, frames
