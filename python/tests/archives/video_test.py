# SPDX-License-Identifier: MIT
"""Frames of videos."""

import warnings

import numpy as np
import pytest

import parafield as pf
from parafield.archives.errors import Broken
from parafield.archives.pixels import pixels_of, resized
from parafield.archives.video import VideoSource

av = pytest.importorskip("av")


def read(path, color="gray", first=0, index=None):
    return [array for _, array in VideoSource(str(path), color).frames(first, index)]


def yuv(values, kind="yuv420p"):
    """A frame with luma of these values and gray chroma."""
    frame = av.VideoFrame(values.shape[1], values.shape[0], kind)
    for plane, array in zip(frame.planes, [values, None, None]):
        rows = np.full((plane.height, plane.line_size), 128, np.uint8)
        if array is not None:
            rows[:, :values.shape[1]] = values
        plane.update(rows.tobytes())
    return frame


def test_lossless_frames_come_back(tmp_path, make):
    frames = make.rendered(4)
    assert all(map(np.array_equal, read(make.encode(tmp_path / "v.mkv", frames)), frames))
    deep = [frame.astype(np.uint16) * 257 for frame in frames]
    path = make.encode(tmp_path / "deep.mkv", deep, pixels="gray16le")
    assert all(map(np.array_equal, read(path), deep))


def test_limited_range_becomes_full_range(tmp_path, make):
    luma = np.arange(256, dtype=np.uint8).reshape(16, 16).repeat(4, 1)
    stretched = np.clip(np.floor((luma.astype(float) - 16) * 255 / 219 + 0.5), 0, 255)
    limited = make.encode(tmp_path / "limited.mkv", [yuv(luma)], pixels="yuv420p")
    assert np.array_equal(read(limited)[0], stretched)
    full = make.encode(tmp_path / "full.mkv", [yuv(luma)], pixels="yuv420p", color_range=2)
    assert np.array_equal(read(full)[0], luma)
    for path, expected in ((limited, stretched), (full, luma)):
        rgb = read(path, "rgb")[0]
        assert rgb.shape == (16, 64, 3) and np.abs(rgb - expected[..., None]).max() <= 1


def test_video_of_ten_bits_fills_sixteen():
    frame = av.VideoFrame(32, 16, "yuv420p10le")
    for plane, value in zip(frame.planes, (64, 512, 512)):
        plane.update(np.full((plane.height, plane.line_size // 2), value, "<u2").tobytes())
    assert pixels_of(frame, "gray").dtype == np.uint16 and not pixels_of(frame, "gray").any()
    for plane, value in zip(frame.planes, (940, 512, 512)):
        plane.update(np.full((plane.height, plane.line_size // 2), value, "<u2").tobytes())
    assert np.all(pixels_of(frame, "gray") == 65535)
    assert np.all(pixels_of(frame, "rgb") >= 65280)


def test_video_of_colors(tmp_path, make):
    frame = np.zeros((32, 32, 3), np.uint8)
    frame[..., 0] = 200
    path = make.encode(tmp_path / "v.mkv", [frame], pixels="bgr0")
    assert np.array_equal(read(path, "rgb")[0], frame)
    assert np.array_equal(read(path, "gray")[0], frame)  # it has no luma of its own


@pytest.mark.parametrize(("matrix", "turns"), [((0, 1, -1, 0), -1), ((0, -1, 1, 0), 1), ((-1, 0, 0, -1), 2)])
def test_rotation_is_that_of_a_viewer(tmp_path, make, matrix, turns):
    path = make.encode(tmp_path / "v.mp4", make.rendered(2), "libx264", "yuv420p", qp="0")
    upright = read(path)
    make.turn(path, *matrix)
    assert all(np.array_equal(np.rot90(a, turns), b) for a, b in zip(upright, read(path)))


@pytest.mark.parametrize("container", ["mp4", "mkv"])
@pytest.mark.parametrize("codec", ["libx264", "libx265", "libvpx-vp9", "mpeg4", "ffv1"])
def test_frames_from_the_middle_are_the_same(tmp_path, make, codec, container):
    if codec == "ffv1" and container == "mp4":
        pytest.skip("MP4 does not hold FFV1")
    path = tmp_path / f"v.{container}"
    options = {"g": "7", "x264-params": "open-gop=1:bframes=3", "x265-params": "open-gop=1:log-level=none"}
    kept = {name: value for name, value in options.items() if name == "g" or name.startswith(codec[3:])}
    make.encode(path, make.rendered(20), codec, "yuv420p", **kept)
    all_frames = read(path)
    index = VideoSource(str(path), "gray").index()
    assert len(all_frames) == 20 == len(index.times)
    for first in (1, 6, 7, 8, 13, 19):
        from_here = read(path, "gray", first, index.part(first, 19))
        assert len(from_here) == 20 - first and all(map(np.array_equal, from_here, all_frames[first:]))


def test_damage(tmp_path, make):
    whole = make.encode(tmp_path / "v.mp4", make.rendered(20), "libx264", "yuv420p", g="5")
    data = open(whole, "rb").read()
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(data[:len(data) * 3 // 4])
    frames = []
    with pytest.raises(Broken) as error:
        frames.extend(array for _, array in VideoSource(str(cut), "gray").frames())
    assert 5 < error.value.frames < 20
    mkv = make.encode(tmp_path / "v.mkv", make.rendered(20))
    data = open(mkv, "rb").read()
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(data[:len(data) // 2])
    with pytest.raises(Broken, match="was cut off|damaged"):
        read(cut)
    ogg = make.encode(tmp_path / "v.ogv", make.rendered(20), "libvpx", "yuv420p", g="5")
    for path, missing in (mkv, 4), (ogg, 4), (ogg, 2000):
        data = open(path, "rb").read()
        assert missing < len(data) // 2
        cut = tmp_path / ("cut" + str(path)[-4:])
        cut.write_bytes(data[:-missing])
        video, frames = VideoSource(str(cut), "gray"), []
        with pytest.raises(Broken, match="frames: the file was cut off: it ends at byte") as error:
            frames.extend(array for _, array in video.frames())
        assert 0 < len(frames) == error.value.frames <= 20
        assert video.index() is None
    cut.write_bytes(b"no video")
    with pytest.raises(Broken, match="cannot be read"):
        read(cut)


def test_sound_alone_is_no_video(tmp_path):
    with av.open(str(tmp_path / "a.wav"), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), format="s16", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
    with pytest.raises(Broken, match="no video stream"):
        VideoSource(str(tmp_path / "a.wav"), "gray")


def test_resizing_keeps_values_and_averages_details():
    for value in (0, 7, 255):
        assert np.all(resized(np.full((60, 80), value, np.uint8), (17, 23)) == value)
    assert np.all(resized(np.full((60, 80, 3), 65535, np.uint16), (30, 40)) == 65535)
    checks = np.indices((64, 64)).sum(0) % 2 * np.uint8(200)
    assert np.abs(resized(checks.astype(np.uint8), (16, 16))[2:-2, 2:-2].astype(int) - 100).max() <= 2
    with pytest.raises(Broken, match="float32 cannot be resized"):
        resized(np.zeros((8, 8), np.float32), (4, 4))


def test_interlaced_videos_warn(tmp_path, make):
    frames = make.rendered(4)
    path = make.encode(tmp_path / "v.mpg", frames, "mpeg2video", "yuv420p", flags="+ilme+ildct",
                       field_order="tt")
    video = VideoSource(path, "gray")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len([*video.frames()]) == 4
    interlaced = [str(each.message) for each in caught if each.category is pf.FileWarning]
    assert interlaced == [f"{path}: it is interlaced; its rows are read as they are stored"]
