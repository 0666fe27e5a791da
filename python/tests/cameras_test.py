# SPDX-License-Identifier: MIT
"""Calibrated cameras: files, rectification, rows, warnings of a pair, depths and points."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import parafield as pf

SHAPE = 120, 160
LENS = (-0.08, 0.01, 0.0005, -0.0003)


def turn(axis, angle):
    """The rotation about an axis by an angle in radians."""
    x, y, z = np.asarray(axis) * angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) / angle * cross + (1 - np.cos(angle)) / angle**2 * cross @ cross


def seen(scene, camera, rotation):
    """The image of a camera with a lens that is turned against the pinhole camera whose image is `scene`."""
    (height, width), k = scene.shape[:2], camera.matrix
    u, v = np.meshgrid(np.arange(width), np.arange(height))
    x = x0 = (u - k[0, 2]) / k[0, 0]
    y = y0 = (v - k[1, 2]) / k[1, 1]
    k1, k2, p1, p2 = LENS
    for _ in range(30):  # the ray that the lens shows there
        r2 = x**2 + y**2
        g = 1 + k1 * r2 + k2 * r2**2
        x = (x0 - 2 * p1 * x * y - p2 * (r2 + 2 * x**2)) / g
        y = (y0 - p1 * (r2 + 2 * y**2) - 2 * p2 * x * y) / g
    rays = np.stack([x, y, np.ones_like(x)]) .reshape(3, -1)
    at = k @ rotation.T @ rays
    px = np.clip(at[0] / at[2], 0, width - 1.001)
    py = np.clip(at[1] / at[2], 0, height - 1.001)
    i, j = px.astype(int), py.astype(int)
    a, b = px - i, py - j
    image = scene.astype(float)
    image = ((1 - a) * (1 - b) * image[j, i] + a * (1 - b) * image[j, i + 1] + (1 - a) * b * image[j + 1, i]
             + a * b * image[j + 1, i + 1])
    return image.reshape(height, width).round().astype(np.uint8)


@pytest.fixture(scope="module")
def true_pair():
    return pf.render_scene("stereo", shape=SHAPE, seed=3)


@pytest.fixture(scope="module")
def calibration():
    """Cameras with lenses, of which the right one is turned by about 2 degrees."""
    camera = pf.CalibratedCamera(128, 128, 79.5, 49.9, LENS)
    rotation = turn((0.6, 0.3, 0.74), 0.035)
    return pf.StereoCalibration(camera, camera, rotation, rotation @ [-0.17, 0, 0], SHAPE)


@pytest.fixture(scope="module")
def pair(true_pair, calibration):
    left, right = true_pair.frames
    return seen(left, calibration.left, np.eye(3)), seen(right, calibration.right, calibration.rotation)


def opencv_yaml(calibration, lens=LENS, model="distortion_model: plumb_bob\n"):
    def matrix(name, values):
        rows, columns = np.atleast_2d(values).shape
        data = ", ".join(repr(float(value)) for value in np.ravel(values))
        return (f"{name}: !!opencv-matrix\n   rows: {rows}\n   cols: {columns}\n   dt: d\n"
                f"   data: [ {data} ]\n")

    return "%YAML:1.0\n---\n" + model + "".join(
        matrix(name, values) for name, values in [
            ("K1", calibration.left.matrix), ("D1", lens), ("K2", calibration.right.matrix), ("D2", lens),
            ("R", calibration.rotation), ("T", calibration.translation.reshape(3, 1))])


def test_files_and_arrays_say_the_same(calibration, tmp_path):
    (tmp_path / "stereo.yml").write_text(opencv_yaml(calibration))
    read = pf.read_calibration(tmp_path / "stereo.yml")
    assert read.shape is None and read.rectified is False
    sized = pf.StereoCalibration(read.left, read.right, read.rotation, read.translation, SHAPE)
    assert sized == calibration and hash(sized) == hash(calibration) and sized != read
    arrays = (calibration.left.matrix, LENS, calibration.right.matrix, np.array([LENS + (0,)]),
              calibration.rotation, calibration.translation.reshape(3, 1))
    assert pf.StereoCalibration.from_opencv(*arrays, shape=SHAPE) == calibration
    long = np.zeros(14)
    long[:4] = LENS
    assert pf.StereoCalibration.from_opencv(*arrays[:3], long, *arrays[4:], SHAPE) == calibration
    half = opencv_yaml(calibration)
    (tmp_path / "in.yml").write_text(half[:half.index("R:")])
    (tmp_path / "ex.yml").write_text("%YAML:1.0\n---\n" + half[half.index("R:"):])
    assert pf.read_calibration(tmp_path / "in.yml", tmp_path / "ex.yml") == read


def test_fisheye_lenses(tmp_path):
    lens = (0.05, -0.02, 0.01, -0.003)
    camera = pf.CalibratedCamera(110, 110, 79.5, 59.5, lens, fisheye=True)
    assert camera.fisheye and camera.distortion.tolist() == list(lens) and "fisheye=True" in repr(camera)
    assert camera != pf.CalibratedCamera(110, 110, 79.5, 59.5, lens)
    assert pickle.loads(pickle.dumps(camera)) == camera
    column = np.array(lens)[:, np.newaxis]
    arrays = (camera.matrix, column, camera.matrix, column, np.eye(3), (-0.1, 0, 0), SHAPE)
    made = pf.StereoCalibration.from_opencv(*arrays, fisheye=True)
    assert made.left == camera
    with pytest.warns(pf.PairWarning, match="D1 and D2 have 4 coefficients in a column .* of a fisheye lens"):
        assert pf.StereoCalibration.from_opencv(*arrays) == made
    assert not pf.StereoCalibration.from_opencv(*arrays, fisheye=False).left.fisheye
    (tmp_path / "stereo.yml").write_text(opencv_yaml(made, column, model=""))
    with pytest.warns(pf.PairWarning, match="stereo.yml: D1 and D2 have 4 coefficients in a column"):
        assert pf.read_calibration(tmp_path / "stereo.yml").left == camera
    with pytest.raises(pf.Error, match="distortion has 5 coefficients; a fisheye lens has 4"):
        pf.CalibratedCamera(1, 1, 0, 0, (1, 2, 3, 4, 5), fisheye=True)


def test_values(calibration):
    left = calibration.left
    assert (left.fx, left.fy, left.cx, left.cy) == (128, 128, 79.5, 49.9)
    assert left.distortion.tolist() == [*LENS, 0, 0, 0, 0]
    assert left.matrix.tolist() == [[128, 0, 79.5], [0, 128, 49.9], [0, 0, 1]]
    geometry = pf.StereoGeometry(256, 0.17, cx=80, cy=60)
    for value in (left, calibration, geometry):
        again = pickle.loads(pickle.dumps(value))
        assert again == value and hash(again) == hash(value) and repr(again) == repr(value)
        assert value != 3 and type(value).__name__ in repr(value)
    assert eval(repr(geometry), {"StereoGeometry": pf.StereoGeometry}) == geometry
    assert repr(geometry) == "StereoGeometry(focal=256.0, baseline=0.17, cx=80.0, cy=60.0, doffs=0.0)"


def test_plans(calibration):
    plan = pf.plan_rectification(calibration)
    assert plan.shape == SHAPE
    for rotation in (plan.left_rotation, plan.right_rotation):
        assert np.allclose(rotation @ rotation.T, np.eye(3))
    assert np.isclose(plan.geometry.baseline, 0.17) and plan.geometry.doffs == 0
    # the baseline lies along the rows
    assert np.allclose(plan.right_rotation @ calibration.translation, [-plan.geometry.baseline, 0, 0])
    whole = pf.plan_rectification(calibration, alpha=1)
    assert whole.geometry.focal < plan.geometry.focal


def test_rectified_rows_are_aligned(pair, calibration):
    before = pf.measure_row_alignment(*pair)
    views = pf.rectify(*pair, calibration)
    after = pf.measure_row_alignment(views.left, views.right, range=views.range)
    assert before.median_error > 1.5 and abs(before.rotation) > 1
    assert after.median_error < 0.2 and abs(after.rotation) < 0.1 and after.tracks >= 20
    assert "RowAlignment(tracks=" in repr(after)
    assert -0.5 < after.least_disparity < after.largest_disparity


def test_depth_is_that_of_the_scene(pair, calibration, true_pair):
    views = pf.rectify(*pair, calibration, alpha=0)
    disparity = pf.estimate_disparity(views.left, views.right, range=views.range)
    geometry = views.geometry
    depth = pf.depth_of(disparity, geometry.focal, geometry.baseline, geometry.doffs)
    points, colors = pf.points_of(disparity, views.left, geometry, range=views.range)
    known = np.isfinite(depth)
    assert points.dtype == np.float32 and colors.dtype == np.uint8
    assert points.shape == colors.shape == (known.sum(), 3)
    assert np.allclose(points[:, 2], depth[known])
    y, x = np.nonzero(known)
    assert np.allclose(points[:, 0], (x - geometry.cx) * depth[known] / geometry.focal, rtol=1e-5)
    assert np.allclose(points[:, 1], (y - geometry.cy) * depth[known] / geometry.focal, rtol=1e-5)
    assert np.abs(colors[:, 0] - views.left[known]).max() <= 0.5 and (colors[:, :1] == colors).all()
    # The rectified left camera is turned against the scene's one.
    plan = pf.plan_rectification(calibration)
    scene = points.astype(float) @ plan.left_rotation
    x, y = scene[:, 0] / scene[:, 2] * 128 + 79.5, scene[:, 1] / scene[:, 2] * 128 + 49.9
    i, j = x.round().astype(int), y.round().astype(int)
    inside = (i >= 0) & (i < SHAPE[1]) & (j >= 0) & (j < SHAPE[0])
    true = true_pair.depth[0][j[inside], i[inside]]
    ground = np.isfinite(true)
    error = np.abs(1 / scene[inside, 2] - 1 / true)[ground] * 128 * 0.17  # px
    assert ground.sum() > 5000 and np.median(error) < 0.3


def test_views_are_as_the_frames(pair, calibration):
    views = pf.rectify(*pair, calibration)
    assert views.left.dtype == np.float32 and views.left.shape == SHAPE and views.range == (0, 255)
    deep = [side.astype(np.uint16) * 257 for side in pair]
    assert pf.rectify(*deep, calibration).range == (0, 65535)
    color = [np.stack([side, side // 2, side // 4], axis=-1) for side in pair]
    rgb = pf.rectify(*color, calibration)
    assert rgb.left.shape == (*SHAPE, 3) and np.array_equal(rgb.left[..., 0], views.left)
    bgr = pf.rectify(*(side[..., ::-1] for side in color), calibration, channels="bgr")
    assert np.array_equal(bgr.left, rgb.left)
    planes = pf.rectify(*(np.moveaxis(side, -1, 0) for side in color), calibration, axes="chw")
    assert planes.right.shape == (3, *SHAPE) and np.array_equal(np.moveaxis(planes.right, 0, -1), rgb.right)
    read = pf.estimate_disparity(planes.left, planes.right, axes="chw", range=planes.range, preset="fast")
    again = pf.estimate_disparity(rgb.left, rgb.right, range=rgb.range, preset="fast")
    assert np.array_equal(read.d, again.d)


def test_a_rectifier_gives_what_the_function_gives(pair, calibration, tmp_path):
    rectifier = pf.Rectifier(calibration, alpha=1, device="cpu", threads=1)
    first = rectifier(*pair)
    again = rectifier(*pair)
    alone = pf.rectify(*pair, calibration, alpha=1)
    for views in (again, alone):
        assert views.left.tobytes() == first.left.tobytes() and views.right.tobytes() == first.right.tobytes()
    assert not np.shares_memory(first.left, again.left)
    left, right = rectifier.region
    assert left.dtype == bool and 0.5 < left.mean() < 1
    assert np.array_equal(left, np.isfinite(first.left)) and np.array_equal(right, np.isfinite(first.right))
    assert rectifier.plan.geometry == first.geometry and rectifier.device == "cpu"
    assert repr(rectifier) == "<parafield.Rectifier 120 x 160, cpu>"
    (tmp_path / "stereo.yml").write_text(opencv_yaml(calibration))
    of_file = pf.rectify(*pair, str(tmp_path / "stereo.yml"), alpha=1)
    assert of_file.left.tobytes() == first.left.tobytes()


def test_a_rectifier_makes_given_views(pair, calibration):
    usual = pf.Rectifier(calibration)
    views, own = usual(*pair), usual.plan
    g = own.geometry
    same = pf.Rectification(own.shape, g, own.left_rotation, own.right_rotation.ravel().tolist())
    assert np.array_equal(pf.Rectifier(calibration, plan=same)(*pair).right, views.right)
    moved = pf.StereoGeometry(g.focal, g.baseline, g.cx - 4, g.cy, -2)
    plan = pf.Rectification(own.shape, moved, own.left_rotation, own.right_rotation)
    assert pickle.loads(pickle.dumps(plan)).geometry == moved
    rectifier = pf.Rectifier(calibration, plan=plan)
    assert rectifier.plan.geometry == moved
    other = rectifier(*pair)
    assert np.allclose(other.left[:, :-4], views.left[:, 4:], atol=0.01)
    assert np.allclose(other.right[:, :-6], views.right[:, 6:], atol=0.01)
    with pytest.raises(pf.Error, match="views of the plan are 64x48 px, the images are 160x120 px"):
        pf.Rectifier(calibration, plan=pf.Rectification((48, 64), g, own.left_rotation, own.right_rotation))
    with pytest.raises(pf.Error, match="left_rotation has the shape .*; expected 3 x 3"):
        pf.Rectification(own.shape, g, np.eye(2), own.right_rotation)


def test_filled_views(pair, calibration):
    views = pf.rectify(*pair, calibration, alpha=1)
    known = [pf.known_pixels(side) for side in (views.left, views.right)]
    whole = [pf.filled(side) for side in (views.left, views.right)]
    disparity = pf.mark_unknown(pf.estimate_disparity(*whole, range=views.range), *known)
    assert np.array_equal(np.isnan(disparity.d), ~known[0]) and not disparity.valid[~known[0]].any()


def test_the_command_gives_the_same(pair, calibration, tmp_path, command):
    (tmp_path / "stereo.yml").write_text(opencv_yaml(calibration))
    for name, side in zip(("left.png", "right.png"), pair):
        pf.write_frame(tmp_path / name, side)
    command("stereo", tmp_path / "left.png", tmp_path / "right.png",
            "--calibration", tmp_path / "stereo.yml", "--depth", tmp_path / "z.npy",
            "--points", tmp_path / "command.ply", "-q", "-d", "cpu")
    views = pf.rectify(*pair, tmp_path / "stereo.yml", device="cpu")
    disparity = pf.estimate_disparity(views.left, views.right, device="cpu", range=views.range)
    points = pf.points_of(disparity, views.left, views.geometry, range=views.range)
    pf.write_points(tmp_path / "python.ply", *points)
    assert (tmp_path / "python.ply").read_bytes() == (tmp_path / "command.ply").read_bytes()
    pf.write_depth(tmp_path / "own.npy", depth := pf.depth_of(disparity.d, views.geometry.focal, 0.17))
    assert np.array_equal(np.load(tmp_path / "own.npy"), depth)
    assert np.allclose(np.load(tmp_path / "z.npy"), depth)  # there filled pixels count


def test_points_and_depths_are_written(tmp_path):
    points = np.array([[1, 2, 3], [4, 5, 6.5]], np.float32)
    colors = np.array([[1, 2, 3], [255, 0, 9]], np.uint8)
    pf.write_points(tmp_path / "p.ply", points, colors)
    header, body = (tmp_path / "p.ply").read_bytes().split(b"end_header\n")
    assert b"element vertex 2" in header
    read = np.frombuffer(body, [("p", "<f4", 3), ("c", "u1", 3)])
    assert np.array_equal(read["p"], points) and np.array_equal(read["c"], colors)
    pf.write_points(tmp_path / "p.ply", points.tolist())
    assert (tmp_path / "p.ply").read_bytes().endswith(b"\xff\xff\xff")
    pf.write_points(tmp_path / "p.ply", np.zeros((0, 3)))
    pf.write_depth(tmp_path / "z.png", np.array([[0.5, 2], [np.inf, 1]], np.float32), 1000)
    assert pf.read_frame(tmp_path / "z.png").tolist() == [[500, 2000], [0, 1000]]
    pf.write_depth(tmp_path / "z.png", np.array([[0.5, 2], [np.inf, 1]], np.float32))
    assert pf.read_frame(tmp_path / "z.png").tolist() == [[500, 2000], [0, 1000]], "millimeters"
    with pytest.warns(pf.RangeWarning, match="z.png: 2 of 3 depths do not fit into 16 bits"):
        pf.write_depth(tmp_path / "z.png", np.array([[0.5, 70], [np.inf, 1e-4]], np.float32))


def test_good_pairs_have_no_warnings(pair, calibration):
    views = pf.rectify(*pair, calibration)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pf.check_pair(views.left, views.right, range=views.range)
        pf.check_pair(views.left, views.right, 32, range=views.range)
        pf.estimate_disparity(views.left, views.right, range=views.range)


def test_wrong_pairs_have_warnings(pair, sides):
    with pytest.warns(pf.PairWarning, match="the rows are not aligned: matches lie .* turned by") as seen:
        pf.check_pair(*pair)
    assert seen[0].filename == __file__ and issubclass(pf.PairWarning, UserWarning)
    left, right = pf.render_scene("stereo", shape=(240, 320)).frames
    with pytest.warns(pf.PairWarning, match="4 disparities seem to be too few: the pair needs about 32"):
        pf.check_pair(left, right, 4)
    with pytest.warns(pf.PairWarning, match="the views seem to be swapped"):
        pf.check_pair(right, left)
    with pytest.warns(pf.PairWarning, match="^the views seem to be swapped: ") as seen:
        pf.estimate_disparity(right, left, preset="fast")
    assert len(seen) == 1 and seen[0].filename == __file__
    with pytest.warns(pf.PairWarning, match="^pair 1: the views seem to be swapped: "):
        pf.estimate_disparity(np.stack([left, right]), np.stack([right, left]), axes="nhw", preset="fast")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(pf.PairWarning, match="swapped"):
            pf.estimate_disparity(right, left)
        pf.estimate_disparity(right, left, disparities=16, preset="fast")  # nothing is examined


def test_what_is_refused(pair, calibration, tmp_path):
    left, right = pair
    camera, from_opencv = calibration.left, pf.StereoCalibration.from_opencv
    for message, call in {
        "calibration is of type int; it must be a StereoCalibration or the path":
            lambda: pf.rectify(*pair, 3),
        "nothing.yml: cannot be read": lambda: pf.rectify(*pair, tmp_path / "nothing.yml"),
        "the calibration is for images of 160x120 px, the frames are 160x100":
            lambda: pf.rectify(left[:100], right[:100], calibration),
        "right has 120 x 100 pixels": lambda: pf.rectify(left, right[:, :100], calibration),
        "axes cannot be 'nhw': rectify takes single frames":
            lambda: pf.rectify(left[None], right[None], calibration, axes="nhw"),
        "axes cannot be 'nhw': a Rectifier takes": lambda: pf.Rectifier(calibration)(left, right, axes="nhw"),
        "alpha cannot be 2": lambda: pf.rectify(*pair, calibration, alpha=2),
        "K1 is not fx 0 cx, 0 fy cy, 0 0 1":
            lambda: from_opencv(np.ones((3, 3)), LENS, np.eye(3), LENS, np.eye(3), [1, 0, 0]),
        "D2 has 12 coefficients; those after the eighth must be 0":
            lambda: from_opencv(np.eye(3), LENS, np.eye(3), np.ones(12), np.eye(3), [1, 0, 0]),
        r"distortion has the shape \(3,\); expected 4, 5 or 8":
            lambda: pf.CalibratedCamera(1, 1, 0, 0, (1, 2, 3)),
        r"rotation has the shape \(2, 2\); expected 3 x 3":
            lambda: pf.StereoCalibration(camera, camera, np.eye(2), (1, 0, 0)),
        r"translation has the shape \(1,\); expected 3":
                lambda: pf.StereoCalibration(camera, camera, np.eye(3), [1]),
        "R of the calibration is not a rotation":
            lambda: pf.rectify(*pair, pf.StereoCalibration(camera, camera, 2 * np.eye(3), (-1, 0, 0))),
        "shape cannot be 3": lambda: pf.Rectifier(calibration, 3),
        "lacks the size of the images": lambda: pf.Rectifier(
            pf.StereoCalibration(camera, camera, np.eye(3), (-1, 0, 0))),
        "left has 60 x 160 pixels|expected 160x120": lambda: pf.Rectifier(calibration)(left[:60], right[:60]),
        "one is|both should be gray": lambda: pf.rectify(left, np.stack([right] * 3, -1), calibration),
        "device cannot be|'gpu'": lambda: pf.rectify(*pair, calibration, "gpu"),
        "disparities cannot be 1.5": lambda: pf.check_pair(*pair, 1.5),
        "min_disparity cannot be 5000": lambda: pf.check_pair(*pair, min_disparity=5000),
        r"points has the shape \(2, 2\); expected N x 3": lambda: pf.write_points("p.ply", np.ones((2, 2))),
        r"colors has the shape \(1, 3\); expected 2 x 3":
            lambda: pf.write_points("p.ply", np.ones((2, 3)), np.ones((1, 3), np.uint8)),
        "colors has values of type float64; expected uint8":
            lambda: pf.write_points("p.ply", np.ones((2, 3)), np.ones((2, 3))),
        "depth has the shape 3": lambda: pf.write_depth("z.npy", np.ones(3)),
        "left is a stack|160x120": lambda: pf.points_of(
            np.ones(SHAPE), left[:60], pf.StereoGeometry(1, 1, 0, 0)),
        "no points by a focal length of 0": lambda: pf.points_of(
            np.ones(SHAPE), left, pf.StereoGeometry(0, 1, 0, 0)),
    }.items():
        with pytest.raises(pf.Error, match=message):
            call()
    with pytest.raises(TypeError):
        pf.StereoCalibration(camera, 3, np.eye(3), (1, 0, 0))


def test_a_child_of_a_fork_makes_its_own(pair, calibration):
    program = """
import os, sys, numpy as np, parafield as pf
camera = pf.CalibratedCamera(128, 128, 79.5, 59.5)
calibration = pf.StereoCalibration(camera, camera, np.eye(3), (-0.1, 0, 0), (120, 160))
frame = np.zeros((120, 160), np.uint8)
rectifier = pf.Rectifier(calibration, device="cpu")
rectifier(frame, frame)
child = os.fork()
if child == 0:
    try:
        rectifier(frame, frame)
    except pf.Error as error:
        pf.rectify(frame, frame, calibration, device="cpu")
        os._exit(7 if "forked" in str(error) else 1)
    os._exit(2)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True,
                          timeout=60)
    assert done.stdout == "7\n", done.stderr


def test_torch_and_its_order_of_axes(pair, calibration):
    torch = pytest.importorskip("torch")
    frames = [torch.from_numpy(np.stack([side] * 3)) for side in pair]
    views = pf.rectify(*frames, calibration, axes="chw", device="cpu")
    assert isinstance(views.left, torch.Tensor) and tuple(views.left.shape) == (3, *SHAPE)
    assert np.array_equal(views.left[0].numpy(), pf.rectify(*pair, calibration, device="cpu").left)
