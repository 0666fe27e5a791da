# SPDX-License-Identifier: MIT
"""parafield-bag: bags of ROS to files and to new bags."""

import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rosbags")

import parafield as pf  # noqa: E402
from parafield.ros import StereoSolver, picture_of  # noqa: E402
from parafield.ros.bag import BagReader, BagWriter  # noqa: E402
from parafield.ros.bag_command import main  # noqa: E402


def real(writer, message):
    """A stand-in as a message of the writer's types."""
    fields = {name: value for name, value in vars(message).items() if name != "kind"}
    for name, value in fields.items():
        if name == "roi":
            fields[name] = writer.make("sensor_msgs/msg/RegionOfInterest", **vars(value))
        elif isinstance(value, SimpleNamespace):
            fields[name] = real(writer, value)
        elif isinstance(value, bytes):
            fields[name] = np.frombuffer(value, np.uint8)
        elif name in "kdrp":
            fields[name] = np.array(value, np.float64)
    return writer.make(message.kind, **fields)


@pytest.fixture(scope="session", params=["mcap", "sqlite3"])
def bag(request, tmp_path_factory, messages, rig):
    """A bag of a stereo camera: three pairs, of which the second has no right image."""
    path = tmp_path_factory.mktemp("bags") / request.param
    with BagWriter(path, request.param) as writer:
        for i in range(3):
            for side in ("left", "right"):
                time = i * 100_000_000 + 5
                info = getattr(rig, f"{side}_info")
                if i == 0:
                    writer.write(f"/cam/{side}/camera_info", time + 7, real(writer, info))
                image = SimpleNamespace(**vars(getattr(rig, side)))
                image.header = messages.header(10 + i / 10)
                if (i, side) != (1, "right"):
                    writer.write(f"/cam/{side}/image_rect", time, real(writer, image))
    return path


def test_stereo_to_files(bag, rig, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert (
        main(
            [
                "stereo",
                str(bag),
                "-o",
                "d%04d.pfm",
                "--color",
                "c%d.png",
                "--valid",
                "v%d.png",
                "--depth",
                "z%d.npy",
                "--points",
                "p%d.ply",
                "--times",
                "times.txt",
                "--preset",
                "fast",
            ]
        )
        == 0
    )
    assert "2 results, 1 images without a partner" in capsys.readouterr().err
    expected = StereoSolver(preset="fast")(rig.left, rig.right, rig.left_info, rig.right_info)
    valid = expected.disparity.valid
    for i in range(2):
        assert np.array_equal(pf.read_disparity(f"d{i:04}.pfm").d[valid], expected.disparity.d[valid])
        assert np.array_equal(pf.read_mask(f"v{i}.png"), valid)
        depth = np.load(f"z{i}.npy")
        near = np.isfinite(expected.depth)
        assert np.array_equal(depth[near], expected.depth[near]) and np.isinf(depth[~near]).all()
    assert (tmp_path / "times.txt").read_text() == "0 10.000000000\n1 10.200000000\n"
    assert sorted(path.suffix for path in tmp_path.iterdir()) == sorted(
        [".npy", ".pfm", ".ply", ".png", ".png"] * 2 + [".txt"]
    )


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_stereo_to_a_bag(bag, rig, tmp_path, storage):
    out = tmp_path / "out"
    parameters = ["--disparities", "40", "--no-fill", "--min-confidence", "0"]
    assert (
        main(
            [
                "stereo",
                str(bag),
                "--bag",
                str(out),
                "--storage",
                storage,
                "-q",
                "--bag-points",
                "--preset",
                "fast",
                *parameters,
            ]
        )
        == 0
    )
    expected = StereoSolver(preset="fast", disparities=40, fill=False, min_confidence=0)(
        rig.left, rig.right, rig.left_info, rig.right_info
    )
    with BagReader(out) as reader:
        assert reader.topics == {
            "/depth": ("sensor_msgs/msg/Image", 2),
            "/disparity": ("stereo_msgs/msg/DisparityImage", 2),
            "/points2": ("sensor_msgs/msg/PointCloud2", 2),
            "/valid": ("sensor_msgs/msg/Image", 2),
        }
        found = list(reader.messages(["/disparity"]))
    topic, time, message = found[1]
    assert topic == "/disparity" and time == 200_000_005 and message.header.stamp.nanosec == 200_000_000
    valid = expected.disparity.valid
    assert np.array_equal(picture_of(message.image).pixels[valid], expected.disparity.d[valid])
    assert message.max_disparity == 39
    files = [path for path in out.iterdir() if path.suffix in (".mcap", ".db3")]
    with BagReader(files[0]) as reader:  # a file without its folder's metadata
        assert len(list(reader.messages(["/valid"]))) == 2


def test_flow_and_detection(bag, tmp_path, capsys):
    out, boxes = tmp_path / "flow", tmp_path / "boxes.jsonl"
    words = [str(bag), "--image", "/cam/left/image_rect", "-q"]
    assert (
        main(["flow", *words, "-o", str(tmp_path / "f%02d.flo"), "--bag", str(out), "--preset", "fast"]) == 0
    )
    assert np.abs(pf.read_flow(tmp_path / "f00.flo").u).max() < 0.1  # the same image again
    with BagReader(out) as reader:
        assert {name: count for name, (_, count) in reader.topics.items()} == {
            "/flow": 2,
            "/flow/valid": 2,
            "/flow/color": 2,
        }
    assert main(["detect", *words, "--boxes", str(boxes), "-o", str(tmp_path / "m%d.png")]) == 0
    lines = [json.loads(line) for line in boxes.read_text().splitlines()]
    assert [line["time"] for line in lines] == pytest.approx([10.1, 10.2]) and lines[0]["moving"] == 0
    assert capsys.readouterr() == ("", "")


def test_a_bag_of_ros_1(rig, messages, tmp_path):
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    types = store.types

    def write(writer, topic, kind, **fields):
        if topic not in connections:
            connections[topic] = writer.add_connection(topic, kind, typestore=store)
        time = types["builtin_interfaces/msg/Time"](sec=10, nanosec=0)
        header = types["std_msgs/msg/Header"](seq=0, stamp=time, frame_id="camera")
        message = types[kind](header=header, **fields)
        writer.write(connections[topic], 10**10, store.serialize_ros1(message, kind))

    connections, path = {}, tmp_path / "old.bag"
    with Writer(path) as writer:
        for side in ("left", "right"):
            info, image = vars(getattr(rig, f"{side}_info")).copy(), vars(getattr(rig, side)).copy()
            for fields in (info, image):
                del fields["kind"], fields["header"]
            for name in "dkrp":
                info[name.upper()] = np.array(info.pop(name), np.float64)
            info["roi"] = types["sensor_msgs/msg/RegionOfInterest"](**vars(info["roi"]))
            image["data"] = np.frombuffer(image["data"], np.uint8)
            write(writer, f"/{side}/camera_info", "sensor_msgs/msg/CameraInfo", **info)
            write(writer, f"/{side}/image_rect", "sensor_msgs/msg/Image", **image)
    assert main(["stereo", str(path), "--bag", str(tmp_path / "new"), "--preset", "fast", "-q"]) == 0
    expected = StereoSolver(preset="fast")(rig.left, rig.right, rig.left_info, rig.right_info)
    with BagReader(tmp_path / "new") as reader:
        ((_, _, message),) = reader.messages(["/disparity"])
    valid = expected.disparity.valid
    assert np.array_equal(picture_of(message.image).pixels[valid], expected.disparity.d[valid])


@pytest.mark.parametrize("mode", ["MESSAGE", "FILE"])
def test_compressed_bags(messages, tmp_path, mode):
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, Writer
    from rosbags.typesys import Stores, get_typestore

    store, kind = get_typestore(Stores.ROS2_HUMBLE), "sensor_msgs/msg/Image"
    types = SimpleNamespace(make=lambda name, /, **fields: store.types[name](**fields))
    frames = pf.render_scene("layers", shape=(48, 64), frames=2).frames
    writer = Writer(tmp_path / "small", version=8)
    writer.set_compression(CompressionMode[mode], CompressionFormat.ZSTD)
    with writer:
        connection = writer.add_connection("/image", kind, typestore=store)
        for i, frame in enumerate(frames):
            message = real(types, messages.image(frame, "mono8", i))
            writer.write(connection, i, store.serialize_cdr(message, kind))
    assert main(["flow", str(tmp_path / "small"), "-q", "-o", str(tmp_path / "f%d.flo")]) == 0
    assert np.array_equal(pf.read_flow(tmp_path / "f0.flo").u, pf.estimate_flow(*frames).u)


def test_topics(bag, capsys):
    assert main(["topics", str(bag)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "/cam/left/image_rect  sensor_msgs/msg/Image  3" in lines and len(lines) == 4


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            ["flow", "BAG", "-o", "f%d.flo"],
            2,
            "choose a topic with --image; topics of type sensor_msgs/msg/Image: "
            "/cam/left/image_rect, /cam/right/image_rect",
        ),
        (
            ["flow", "BAG", "-o", "f%d.flo", "--image", "/cam/left/camera_info"],
            2,
            "is of type sensor_msgs/msg/Cam",
        ),
        (["flow", "BAG", "-o", "f%d.flo", "--image", "/nothing"], 2, "topic /nothing is not in the bag"),
        (["flow", "BAG", "--image", "/cam/left/image_rect"], 2, "nothing to write"),
        (["stereo", "BAG", "-o", "d%d.pfm", "--disparities", "-3"], 2, "disparities cannot be -3"),
        (["stereo", "BAG", "-o", "d%d.pfm", "-m", "nothing"], 2, "nothing"),
        (
            ["stereo", "BAG", "-o", "d%d.pfm", "--right", "/cam/left/image_rect"],
            2,
            "and --right are the same topic",
        ),
        (["stereo", "nowhere.mcap", "-o", "d%d.pfm"], 1, "cannot read the bag nowhere.mcap"),
        (["stereo", "BAG", "--bag", "."], 1, "cannot write the bag ."),
        (["stereo", "BAG", "--bag", "new.bag"], 2, "its name must not end in .bag"),
    ],
)
def test_what_is_refused(bag, tmp_path, monkeypatch, capsys, words, code, said):
    monkeypatch.chdir(tmp_path)
    assert main([str(bag) if word == "BAG" else word for word in words]) == code
    error = capsys.readouterr().err
    assert said in error and len(error.splitlines()) == 1


def test_patterns(bag, capsys):
    with pytest.raises(SystemExit) as end:
        main(["flow", str(bag), "-o", "flow.flo"])
    assert (
        end.value.code == 2 and "flow.flo has no pattern of numbers such as %04d" in capsys.readouterr().err
    )


def test_damaged_bags(tmp_path, capsys):
    (tmp_path / "bad.mcap").write_bytes(b"\x89MCAP0\r\n" + bytes(100))
    assert main(["topics", str(tmp_path / "bad.mcap")]) == 1
    assert "cannot read the bag" in capsys.readouterr().err


@pytest.mark.parametrize("task", ["stereo", "flow", "detect"])
def test_every_method_has_a_parser(task, capsys):
    module = {"stereo": pf.stereo, "flow": pf.flow, "detect": pf.detection}[task]
    for method in module.methods():
        with pytest.raises(SystemExit) as end:
            main([task, "--help", "-m", method.name])
        assert end.value.code == 0
    assert "-o PATTERN" in capsys.readouterr().out


def test_without_rosbags(bag):
    program = """
        import sys
        sys.modules["rosbags"] = None
        from parafield.ros.bag_command import main
        sys.exit(main(["topics", sys.argv[1]]))"""
    program = "\n".join(line.strip() for line in program.splitlines())
    done = subprocess.run([sys.executable, "-c", program, str(bag)], capture_output=True, text=True)
    assert done.returncode == 1 and "pip install 'parafield[bag]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1
