# SPDX-License-Identifier: MIT
"""Files, pictures, rendered scenes and tracks: the same as the command's."""

import math

import numpy as np
import pytest

import parafield as pf


@pytest.fixture
def flow(frames):
    return pf.estimate_flow(*frames[:2], "lucas-kanade", fb_check=0.5)


@pytest.fixture
def disparity(sides):
    return pf.estimate_disparity(*sides, lr_check=1)


@pytest.fixture(params=["text", "path", "bytes"])
def path_of(request, tmp_path):
    """A function that gives a name of a file in the test's folder."""
    kinds = {"text": str, "path": lambda path: path, "bytes": lambda path: str(path).encode()}
    return lambda name: kinds[request.param](tmp_path / name)


def test_missing_end_markers(frames, tmp_path):
    for name, marker in [("a.png", "IEND"), ("a.jpg", "EOI")]:
        path = tmp_path / name
        pf.write_frame(path, frames[0])
        whole = pf.read_frame(path)
        path.write_bytes(path.read_bytes()[:-2])
        if name == "a.png":
            path.write_bytes(path.read_bytes()[:-10])
        with pytest.warns(pf.FileWarning, match=f"{name}: its end marker .{marker}. is missing") as seen:
            assert (pf.read_frame(path) == whole).all()
        assert seen[0].filename == __file__
        with pytest.warns(pf.FileWarning, match=marker):
            assert (next(pf.read_frames(path)) == whole).all()


def test_folders_in_order(frames, tmp_path):
    for number, frame in [(1, frames[0]), (10, frames[2]), (2, frames[1])]:
        pf.write_frame(tmp_path / f"frame{number}.png", frame)
    for name in [tmp_path, tmp_path / "frame*.png"]:
        for read, frame in zip(pf.read_frames(name), frames[:3], strict=True):
            assert (read == frame).all()
    pf.write_frame(tmp_path / "mask.png", frames[0])
    with pytest.warns(pf.FileWarning, match="1 picture of another name is left out: mask.png"):
        assert len(list(pf.read_frames(tmp_path))) == 3


@pytest.mark.parametrize("extension", ["flo", "pfm", "npy", "png"])
def test_flow(extension, flow, path_of):
    path = path_of(f"flöw 1.{extension}")
    pf.write_flow(path, flow)
    again = pf.read_flow(path)
    assert type(again) is pf.FlowField and again.confidence is None and again.shape == (48, 64)
    if extension == "png":  # KITTI's PNG has steps of 1/64 px, and validity
        assert np.abs(again.uv - flow.uv)[:, flow.valid].max() <= 0.5 / 64
        assert np.array_equal(again.valid, flow.valid)
    else:
        assert again.uv.tobytes() == flow.uv.tobytes() and again.valid.all()
    pf.write_flow(path, np.asarray(flow))
    assert np.abs(pf.read_flow(path).uv - flow.uv).max() <= (0.5 / 64 if extension == "png" else 0)
    pf.write_flow(path, flow, mark_invalid=True)
    assert np.array_equal(pf.read_flow(path).valid, flow.valid)


@pytest.mark.parametrize("extension", ["pfm", "npy", "png"])
def test_disparity(extension, disparity, path_of):
    path = path_of(f"d.{extension}")
    pf.write_disparity(path, disparity)
    again = pf.read_disparity(path)
    assert type(again) is pf.DisparityField and again.confidence is None
    # KITTI's PNG has steps of 1/256 px, and no 0
    assert np.abs(again.d - disparity.d)[disparity.valid].max() <= (1 / 256 if extension == "png" else 0)
    pf.write_disparity(path, disparity, mark_invalid=True)
    assert np.array_equal(pf.read_disparity(path).valid, disparity.valid)
    if extension == "png":
        pf.write_disparity(path, disparity.d, 4)
        assert np.abs(pf.read_disparity(path, scale=4).d - disparity.d).max() <= 1 / 4


@pytest.mark.parametrize("extension, dtypes", [("pgm", "B H"), ("ppm", "B H"), ("png", "B H"), ("pfm", "f")])
def test_frames(extension, dtypes, frames, color_frames, path_of):
    for dtype in dtypes.split():
        for frame in (frames[0], color_frames[0]):
            if extension == ("ppm" if frame.ndim == 2 else "pgm"):
                continue
            values = frame.astype(dtype) * (257 if dtype == "H" else 1)
            path = path_of(f"frame.{extension}")
            pf.write_frame(path, values[:, ::-1])
            again = pf.read_frame(path)
            assert again.dtype == values.dtype and np.array_equal(again, values[:, ::-1])
            assert [np.array_equal(one, again) for one in pf.read_frames(path)] == [True]
            again[0] = 0  # the array owns its values


def test_numpy_files_are_frames(frames, color_frames, tmp_path):
    for frame in (frames[0], color_frames[0], frames[0].astype(np.float32), frames[0].astype(np.uint16)):
        np.save(tmp_path / "frame.npy", frame)
        again = pf.read_frame(tmp_path / "frame.npy")
        assert again.dtype == frame.dtype and np.array_equal(again, frame)


def test_files_with_many_frames(frames, tmp_path):
    parts = []
    for frame in frames:
        pf.write_frame(tmp_path / "one.pgm", frame)
        parts.append((tmp_path / "one.pgm").read_bytes())
    (tmp_path / "all.pgm").write_bytes(b"".join(parts))
    iterator = pf.read_frames(tmp_path / "all.pgm")
    assert iter(iterator) is iterator
    assert all(np.array_equal(a, b) for a, b in zip(iterator, frames, strict=True))
    with pytest.raises(StopIteration):
        next(iterator)


def test_masks(frames, path_of):
    mask = pf.detect_motion(*frames[:2])
    for name in ("mask.png", "mask.pgm"):
        path = path_of(name)
        for form in (mask, mask.moving, mask.moving * 3, mask.moving.tolist()):
            pf.write_mask(path, form)
            again = pf.read_mask(path)
            assert again.dtype == np.bool_ and np.array_equal(again, mask.moving)
            assert set(np.unique(pf.read_frame(path))) == {0, 255}


def test_tracks(frames, path_of, command, tmp_path):
    tracks = pf.find_tracks(*frames[:2])
    for name in ("tracks.csv", "tracks.txt"):
        pf.write_tracks(path_of(name), tracks)
        assert pf.read_tracks(path_of(name)).tobytes() == tracks.tobytes()
    pf.write_tracks(path_of("none.csv"), np.zeros((0, 4)))
    assert pf.read_tracks(path_of("none.csv")).shape == (0, 4)
    for i in range(2):
        pf.write_frame(tmp_path / f"{i}.pgm", frames[i])
    for options in ({}, {"features": "corners", "max_features": 50, "track_check": 0.25},
                    {"features": "matches", "match_stride": 3, "match_check": 1.0}):
        command("tracks", tmp_path / "0.pgm", tmp_path / "1.pgm", "-q", "-o", tmp_path / "theirs.csv",
                **options)
        pf.write_tracks(tmp_path / "ours.csv",
                        pf.find_tracks(*frames[:2], device="cpu", threads=1, **options))
        assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()


READERS = [pf.read_frame, lambda path: list(pf.read_frames(path)), pf.read_flow, pf.read_disparity,
           pf.read_mask, pf.read_tracks]


@pytest.mark.parametrize("reader", READERS, ids="frame frames flow disparity mask tracks".split())
def test_missing_and_broken_files(reader, tmp_path):
    for name in ("a.png", "a.pgm", "a.flo", "a.pfm", "a.npy", "a.csv", "a.jpg", "a.tif", "a.y4m", "a.unknown",
                 "a"):
        path = tmp_path / name
        with pytest.raises(pf.Error, match=f"{path.name}: cannot be read: No such file") as caught:
            reader(path)
        assert caught.value.code == "file"
        for content in (b"", b"P5", b"P5 9999999 9999999 255\n", b"PIEH\x00",
                        b"\x89PNG\r\n\x1a\n" + b"x" * 50,
                        b"\x93NUMPY\x01\x00\xff\xff", b"x,y,u,v\n1,2,3\n", b"\xff" * 100):
            path.write_bytes(content)
            try:
                reader(path)
            except pf.Error as error:
                assert str(path) in str(error) and "\n" not in str(error)
                assert error.code in ("format", "file", "unsupported", "memory", "invalid_argument")
            else:
                assert reader is pf.read_tracks and content == b""
    (tmp_path / "folder").mkdir()
    with pytest.raises(pf.Error, match="directory|holds no picture"):  # read_frames reads a folder's pictures
        reader(tmp_path / "folder")


def test_frames_of_a_folder_and_of_a_pattern(tmp_path):
    frames = [np.full((3, 4), value, np.uint8) for value in (1, 2)]
    for i, frame in enumerate(frames):
        pf.write_frame(tmp_path / f"a{i}.pgm", frame)
    for path in (tmp_path, tmp_path / "a%d.pgm"):
        assert [np.array_equal(*pair) for pair in zip(pf.read_frames(path), frames, strict=True)] == [True, True]


def test_files_that_cannot_be_written(flow, frames, tmp_path):
    for write, value, name in [(pf.write_flow, flow, "a.flo"), (pf.write_frame, frames[0], "a.pgm"),
                               (pf.write_mask, frames[0] > 9, "a.pgm"),
                               (pf.write_tracks, np.zeros((1, 4)), "a.csv"),
                               (pf.write_disparity, flow.u, "a.pfm")]:
        with pytest.raises(pf.Error, match=f"nothing/{name}: cannot be written"):
            write(tmp_path / "nothing" / name, value)
        if write is not pf.write_tracks:  # they are text in any file
            with pytest.raises(pf.Error, match=r"a\.xyz: .*\.xyz"):
                write(tmp_path / "a.xyz", value)
        with pytest.raises(pf.Error, match="is None"):
            write(tmp_path / name, None)
        with pytest.raises(TypeError):
            write(None, value)
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(pf.Error, match="flow is a stack"):
        pf.write_flow(tmp_path / "a.flo", pf.estimate_flow(np.stack(frames[:3]), axes="nhw"))


def test_pictures_are_the_commands(flow, disparity, frames, command, tmp_path):
    pf.write_flow(tmp_path / "f.npy", flow)
    pf.write_disparity(tmp_path / "d.npy", disparity)
    pf.write_frame(tmp_path / "a.pgm", frames[0])
    plain_flow, plain_disparity = np.asarray(flow), disparity.d
    for words, picture in [
            (("f.npy",), pf.color_flow(plain_flow)),
            (("f.npy", "--scheme", "marzat"), pf.color_flow(plain_flow, scheme="marzat")),
            (("f.npy", "--legend"), pf.color_flow(plain_flow, legend=True)),
            (("d.npy",), pf.color_disparity(plain_disparity)),
            (("d.npy", "--max", 20, "--min", 3), pf.color_disparity(plain_disparity, 3, 20)),
            (("f.npy", "--frame", tmp_path / "a.pgm", "--arrows"), pf.draw_arrows(frames[0], plain_flow)),
            (("f.npy", "--frame", tmp_path / "a.pgm", "--beside"),
             pf.beside(frames[0], pf.color_flow(plain_flow)))]:
        command("color", tmp_path / words[0], *words[1:], "-o", tmp_path / "theirs.ppm")
        theirs = pf.read_frame(tmp_path / "theirs.ppm")
        assert picture.dtype == np.uint8 and np.array_equal(picture, theirs), words


def test_pictures(flow, disparity, frames, color_frames):
    assert pf.color_flow(flow).shape == pf.color_disparity(disparity).shape == (48, 64, 3)
    assert pf.beside(frames[0], color_frames[0]).shape == (48, 128, 3)
    mask = frames[0] > 100
    seen = pf.overlay_mask(frames[0], mask)
    changed = (seen != frames[0][..., None]).any(axis=2)
    assert changed[mask].mean() > 0.9 and not changed[~mask].any()
    assert (pf.color_disparity(disparity)[~disparity.valid] == 0).all()
    assert (pf.color_disparity(disparity, show_invalid=True)[~disparity.valid] > 0).any()
    for picture, match in [(lambda: pf.color_flow(frames[0]),
                            "flow has the shape 48 x 64; expected H x W x 2"),
                           (lambda: pf.color_flow(flow, -1), "max_motion cannot be -1"),
                           (lambda: pf.color_flow(flow, scheme="x"), "scheme cannot be 'x'"),
                           (lambda: pf.color_disparity(disparity, 5, 1), "min and max"),
                           (lambda: pf.draw_arrows(frames[0], flow, 0), "step cannot be 0"),
                           (lambda: pf.draw_arrows(frames[0][1:], flow), "64x47"),
                           (lambda: pf.overlay_mask(frames[0], mask[1:]), "64x47"),
                           (lambda: pf.beside(frames[0], frames[0][1:]), "64x47"),
                           (lambda: pf.overlay_mask(np.stack(frames), mask),
                            "frame has the shape 7 x 48 x 64"),
                           (lambda: pf.color_flow(None), "flow is None")]:
        with pytest.raises(pf.Error, match=match):
            picture()


@pytest.mark.parametrize("name", [scene.name for scene in pf.scenes()])
def test_scenes_are_the_commands(name, command, tmp_path):
    command("synth", name, "-o", tmp_path, "--size", "64x48", "--frames", 3, "--seed", 5, "-q")
    scene = pf.render_scene(name, shape=(48, 64), frames=3, seed=5)
    found = set()

    def check(kind, values, read, extension):
        for i, value in enumerate(values):
            paths = [tmp_path / f"{kind}{at:04}.{extension}" for at in (i, i + (kind == "moving"), 2 * i)]
            path = paths[2] if kind == "disparity" else paths[1] if kind == "moving" else paths[0]
            assert np.array_equal(read(path), value), path
            found.add(path)

    check("frame", scene.frames, pf.read_frame, "png")
    check("flow", map(np.asarray, scene.flow), lambda path: np.asarray(pf.read_flow(path)), "flo")
    check("occluded", scene.occluded, pf.read_mask, "png")
    check("depth", scene.depth, pf.read_frame, "pfm")
    check("disparity", [field.d for field in scene.disparity], lambda path: pf.read_disparity(path).d, "pfm")
    check("moving", scene.moving, pf.read_mask, "png")
    assert found == set(tmp_path.iterdir()) and len(scene.frames) == 3
    assert len(scene.flow) == {"clouds": 1, "square": 0}.get(name, 2)  # square has masks alone


def test_scenes_and_their_options():
    plain = pf.render_scene("layers", (20, 30))
    assert plain.frames[0].shape == (20, 30) and len(plain.frames) == 2
    assert pf.render_scene("layers", (20, 30), color=True).frames[0].shape == (20, 30, 3)
    assert not np.array_equal(pf.render_scene("layers", (20, 30), fine=False).frames[0], plain.frames[0])
    assert not np.array_equal(pf.render_scene("layers", (20, 30), 2, 2).frames[0], plain.frames[0])
    assert all(scene.help and scene.name in repr(scene) for scene in pf.scenes())
    for options, match in [({"name": "nothing"}, "no scene 'nothing'; .*layers"),
                           ({"frames": 0}, "frames cannot be 0"),
                           ({"shape": (0, 5)}, "size cannot be 5x0"),
                           ({"shape": (10**6, 10**6)}, "size cannot be")]:
        with pytest.raises(pf.Error, match=match):
            pf.render_scene(**{"name": "layers", "shape": (8, 8), **options})


def test_depth():
    d = pf.DisparityField([[4, 2, 0, -1]], valid=[[1, 1, 1, 1]])
    assert pf.depth_of(d, 8, 0.5).tolist() == [[1, 2, math.inf, math.inf]]
    assert pf.depth_of(d, 8, 0.5, 2).tolist()[0][2:] == [2, 4]
    assert pf.depth_of(pf.DisparityField(d.d, valid=[[0, 1, 1, 1]]), 8, 0.5)[0, 0] == math.inf
    for wrong in (0, -1, math.nan):
        with pytest.raises(pf.Error, match="focal length"):
            pf.depth_of(d, wrong, 0.5)
