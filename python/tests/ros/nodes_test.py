# SPDX-License-Identifier: MIT
"""The nodes with ROS 2: messages go through its middleware on the loopback of this machine.

scripts/test-ros runs these tests with ROS from PyPI.
"""

import os
import subprocess
import sys
import threading
import time
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")
pytest.importorskip("stereo_msgs.msg")

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.qos import QoSProfile  # noqa: E402
from sensor_msgs.msg import CameraInfo, Image, PointCloud2  # noqa: E402
from stereo_msgs.msg import DisparityImage  # noqa: E402

import parafield as pf  # noqa: E402
from parafield.ros import StereoSolver, picture_of  # noqa: E402
from parafield.ros.messages import image_message  # noqa: E402
from parafield.ros.queues import percentile  # noqa: E402

pytest.importorskip("parafield_ros.node", reason="the folder ros/ is not in PYTHONPATH")

from parafield_ros.detect import DetectNode, boxes_message  # noqa: E402
from parafield_ros.flow import FlowNode  # noqa: E402
from parafield_ros.node import descriptor_of, make  # noqa: E402
from parafield_ros.stereo import StereoNode  # noqa: E402

RELIABLE = {"use_system_default_qos": True}


@pytest.fixture
def ros(request):
    """A function that starts a node of parafield with parameters, and a node of the test that talks to it."""
    domain = os.getpid() % 50 + 1
    started = []

    def start(kind, outputs, **parameters):
        words = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
        rclpy.init(args=["--ros-args", *words] if words else None, domain_id=domain)
        node = kind()
        node.start()
        other = rclpy.create_node("test", use_global_arguments=False)
        got = {topic: [] for topic in outputs}
        for topic, message in outputs.items():
            other.create_subscription(message, topic, got[topic].append, QoSProfile(depth=20))
        publishers = {}

        def send(topic, message):
            if topic not in publishers:
                publishers[topic] = other.create_publisher(type(message), topic, QoSProfile(depth=20))
                until(lambda: publishers[topic].get_subscription_count() > 0)
            publishers[topic].publish(message)

        executor = SingleThreadedExecutor()
        for one in (node, other):
            executor.add_node(one)
        thread = threading.Thread(target=executor.spin)
        thread.start()
        started.append((node, other, executor, thread))
        return SimpleNamespace(node=node, got=got, send=send, other=other)

    yield start
    for node, other, executor, thread in started:
        executor.shutdown()
        thread.join()
        node.close()
        node.destroy_node()
        other.destroy_node()
        rclpy.try_shutdown()


def until(condition, seconds=20):
    """Waits until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def stamped(message, seconds):
    message.header.stamp.sec, message.header.stamp.nanosec = int(seconds), round(seconds % 1 * 1e9)
    message.header.frame_id = "camera"
    return message


def image(pixels, encoding="mono8", seconds=1.0):
    return stamped(image_message(make, Image().header, pixels, encoding), seconds)


def info(like):
    """A CameraInfo with the fields of the stand-in `like`."""
    message = CameraInfo(height=like.height, width=like.width, distortion_model=like.distortion_model)
    message.d, message.k, message.r, message.p = (list(map(float, getattr(like, name))) for name in "dkrp")
    return message


def test_stereo(ros, rig):
    left, right = (np.array(picture_of(side).pixels) for side in (rig.left, rig.right))
    expected = StereoSolver(preset="fast")(rig.left, rig.right, rig.left_info, rig.right_info)
    outputs = {
        "disparity": DisparityImage,
        "depth": Image,
        "valid": Image,
        "points2": PointCloud2,
        "/diagnostics": DiagnosticArray,
    }
    talk = ros(StereoNode, outputs, **RELIABLE)
    talk.send("left/camera_info", info(rig.left_info))
    talk.send("right/camera_info", info(rig.right_info))
    until(lambda: None not in talk.node._infos)
    for i in range(3):
        talk.send("left/image_rect", image(left, "rgb8", 5 + i))
        talk.send("right/image_rect", image(right, "rgb8", 5 + i))
        until(lambda: all(len(talk.got[topic]) > i for topic in list(outputs)[:4]))
    message = talk.got["disparity"][-1]
    assert message.header.stamp.sec == 7 and message.header.frame_id == "camera"
    assert message.f == 128 and np.isclose(message.t, 0.17)
    valid = expected.disparity.valid
    assert np.array_equal(picture_of(message.image).pixels[valid], expected.disparity.d[valid])
    assert np.array_equal(picture_of(talk.got["valid"][-1]).pixels > 0, valid)
    assert np.array_equal(picture_of(talk.got["depth"][-1]).pixels, expected.depth, equal_nan=True)
    cloud = talk.got["points2"][-1]
    assert [field.name for field in cloud.fields] == ["x", "y", "z", "rgb"] and cloud.width == 160

    def facts():
        statuses = [status for report in talk.got["/diagnostics"] for status in report.status]
        return {value.key: value.value for value in statuses[-1].values} if statuses else {}

    until(lambda: facts().get("solved") == "3")
    assert (
        facts()["received"] == "6" and facts()["dropped, too fast"] == facts()["dropped, no partner"] == "0"
    )
    assert facts()["method"] == "belief-propagation" and facts()["device"] == "cpu"


def test_approximate_synchronization_and_rectification(ros, rig):
    left, right = (np.array(picture_of(side).pixels) for side in (rig.left, rig.right))
    outputs = {"disparity": DisparityImage, "left/image_rect": Image}
    talk = ros(StereoNode, outputs, rectify=True, approximate_sync=True, **RELIABLE)
    talk.send("left/camera_info", info(rig.left_info))
    talk.send("right/camera_info", info(rig.right_info))
    until(lambda: None not in talk.node._infos)
    talk.send("left/image_raw", image(left, "rgb8", 5))
    talk.send("right/image_raw", image(right, "rgb8", 5.008))
    until(lambda: talk.got["disparity"] and talk.got["left/image_rect"])
    assert talk.got["disparity"][0].header.stamp.sec == 5
    assert np.array_equal(picture_of(talk.got["left/image_rect"][0]).pixels, left)  # these cameras are ideal
    talk.send("left/image_raw", image(left, "rgb8", 6))
    talk.send("right/image_raw", image(right, "rgb8", 6.02))
    until(lambda: talk.node.received == 4)
    time.sleep(0.3)
    assert len(talk.got["disparity"]) == 1


def test_flow(ros):
    frames = pf.render_scene("layers", shape=(48, 64), frames=3, seed=3).frames
    talk = ros(FlowNode, {"flow": Image, "flow/valid": Image, "flow/color": Image}, preset="fast", **RELIABLE)
    estimator = pf.FlowEstimator(preset="fast")
    for i, frame in enumerate(frames):
        talk.send("image", image(frame, seconds=1 + i))
        until(lambda: all(len(got) == i for got in talk.got.values()) and talk.node.received == i + 1)
        expected = estimator.push(frame)
        time.sleep(0.1)
    flow = talk.got["flow"][-1]
    assert flow.encoding == "32FC2" and flow.header.stamp.sec == 2 and flow.step == 64 * 8
    uv = np.ndarray((48, 64, 2), np.float32, flow.data.tobytes())
    assert np.array_equal(uv[expected.valid], np.asarray(expected)[expected.valid])
    assert np.array_equal(picture_of(talk.got["flow/color"][-1]).pixels, pf.color_flow(expected))


def test_detection_and_boxes(ros, monkeypatch):
    frames = pf.render_scene("balloons", shape=(48, 64), frames=2, seed=3).frames
    talk = ros(DetectNode, {"mask": Image}, **RELIABLE)
    talk.send("image", image(frames[0], seconds=1))
    until(lambda: talk.node._unused == 1)
    talk.send("image", image(frames[1], seconds=2))
    until(lambda: talk.got["mask"])
    detector = pf.MotionDetector()
    detector.push(frames[0])
    moving = detector.push(frames[1]).moving
    assert np.array_equal(picture_of(talk.got["mask"][0]).pixels > 0, moving)

    for center in (SimpleNamespace(position=SimpleNamespace()), SimpleNamespace()):  # Humble; Foxy
        module = ModuleType("vision_msgs.msg")
        module.Detection2DArray = lambda header: SimpleNamespace(header=header, detections=[])
        module.Detection2D = lambda header: SimpleNamespace(
            header=header, bbox=SimpleNamespace(center=center, size_x=0, size_y=0)
        )
        boxes = boxes_message(module, "header", np.array([[4, 6, 11, 5, 40]]))
        box = boxes.detections[0].bbox
        place = getattr(box.center, "position", box.center)
        assert (place.x, place.y, box.size_x, box.size_y) == (9, 8, 11, 5)


def test_parameters(ros):
    talk = ros(StereoNode, {}, disparities=32, preset="accurate", method="icm")
    node = talk.node
    method = pf.stereo.Icm.preset("accurate")
    assert node._solver.estimator is None and node._solver._arguments["method"] == method.replace(disparities=32)
    described = node.describe_parameter("disparities")
    expected = next(entry for entry in pf.stereo.Icm.parameters if entry["name"] == "disparities")
    assert described.description.startswith(expected["help"])
    assert (described.integer_range[0].from_value, described.integer_range[0].to_value) == (
        expected["min"],
        expected["max"],
    )
    assert node.set_parameters([Parameter("disparities", value=48)])[0].successful
    assert node._solver._arguments["method"].disparities == 48
    refused = node.set_parameters([Parameter("disparities", value=-5)])[0]
    assert not refused.successful and refused.reason
    refused = node.set_parameters([Parameter("data", value="nothing")])[0]
    assert not refused.successful and "data cannot be nothing" in refused.reason
    assert not node.set_parameters([Parameter("preset", value="fast")])[0].successful
    assert node._solver._arguments["method"].disparities == 48


def test_every_parameter_has_a_descriptor():
    for task in (pf.flow, pf.stereo, pf.detection):
        for method in task.methods():
            for entry in method.parameters + task.options():
                descriptor = descriptor_of(entry)
                if entry["type"] == "int":
                    low = descriptor.integer_range[0]
                    assert (entry["default"] - low.from_value) % low.step == 0


def test_frames_that_come_too_fast_are_dropped_and_counted(ros, monkeypatch):
    talk = ros(FlowNode, {"flow": Image}, **RELIABLE)
    gate = threading.Event()
    solve = talk.node.solve
    monkeypatch.setattr(talk.node, "solve", lambda *given: gate.wait() and solve(*given))
    frame = pf.render_scene("layers", shape=(48, 64), frames=1).frames[0]
    for i in range(5):
        talk.send("image", image(frame, seconds=i))
        until(lambda: talk.node.received == i + 1)
    until(lambda: talk.node.mailbox.dropped == 3)  # the first is being solved, the last one waits
    gate.set()
    until(lambda: talk.got["flow"])
    assert talk.got["flow"][0].header.stamp.sec == 0


def test_nothing_is_solved_without_subscribers(ros):
    talk = ros(FlowNode, {}, **RELIABLE)
    for i in range(2):
        talk.send("image", image(np.zeros((48, 64), np.uint8), seconds=i))
        until(lambda: talk.node._unused == i + 1)
    assert talk.node._solved == 0


def test_wrong_messages_are_reported(ros, rig):
    talk = ros(FlowNode, {"flow": Image, "/diagnostics": DiagnosticArray}, **RELIABLE)
    wrong = image(np.zeros((48, 64), np.uint8))
    wrong.encoding = "nothing"
    talk.send("image", wrong)
    until(
        lambda: any(
            status.level == b"\x02" and "encoding 'nothing'" in status.message
            for report in talk.got["/diagnostics"]
            for status in report.status
        )
    )
    for i in range(2):
        talk.send("image", image(np.zeros((48, 64), np.uint8), seconds=1 + i))
        time.sleep(0.2)
    until(lambda: talk.got["flow"])  # and the node goes on


@pytest.mark.parametrize(
    ("module", "word", "said"),
    [
        ("stereo", "preset:=nothing", "nothing"),
        ("stereo", "disparities:=-5", "disparities"),
        ("stereo", "disparities:=many", "disparities"),
        ("flow", "method:=nothing", "method cannot be 'nothing'"),
        ("flow", "device:=nothing", "device"),
        ("detect", "queue_size:=0", "queue_size and max_waiting must be 1 or more"),
    ],
)
def test_wrong_parameters_end_a_node(module, word, said):
    program = f"import sys; from parafield_ros.{module} import main; sys.exit(main())"
    words = [sys.executable, "-c", program, "--ros-args", "-p", word]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr


def test_load():
    """Pairs of 640x480 at 15 Hz, reliable: none is lost. PARAFIELD_ROS_SECONDS=60 is the whole test."""
    psutil = pytest.importorskip("psutil")
    seconds, rate = float(os.environ.get("PARAFIELD_ROS_SECONDS", 5)), 15
    scene = pf.render_scene("stereo", shape=(480, 640), frames=8, seed=3).frames
    program = "import sys; from parafield_ros.stereo import main; sys.exit(main())"
    domain = os.getpid() % 50 + 51
    words = ["--ros-args", "-p", "use_system_default_qos:=true"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words], env=os.environ | {"ROS_DOMAIN_ID": str(domain)}
    )
    rclpy.init(domain_id=domain)
    node = rclpy.create_node("test")
    late, reports = [], []

    def on_disparity(message):
        stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        late.append((node.get_clock().now().nanoseconds - stamp) * 1e-6)

    node.create_subscription(DisparityImage, "disparity", on_disparity, QoSProfile(depth=20))
    node.create_subscription(DiagnosticArray, "/diagnostics", reports.append, 10)
    topics = {f"{side}/{kind}": kind for side in ("left", "right") for kind in ("image_rect", "camera_info")}
    publishers = {
        topic: node.create_publisher(
            CameraInfo if kind == "camera_info" else Image, topic, QoSProfile(depth=20)
        )
        for topic, kind in topics.items()
    }
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    try:
        until(
            lambda: all(one.get_subscription_count() for one in publishers.values())
            and node.count_publishers("disparity"),
            60,
        )
        camera = dict(
            height=480,
            width=640,
            distortion_model="plumb_bob",
            d=[0.0] * 5,
            k=[512.0, 0.0, 319.5, 0.0, 512.0, 239.5, 0.0, 0.0, 1.0],
            r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        )
        images = [image(frame) for frame in scene]

        def send(pair):
            now = node.get_clock().now().to_msg()
            for side, offset, message in (("left", 0.0, pair[0]), ("right", -512 * 0.17, pair[1])):
                message.header.stamp = now
                camera_info = CameraInfo(
                    p=[512.0, 0.0, 319.5, offset, 0.0, 512.0, 239.5, 0.0, 0.0, 0.0, 1.0, 0.0], **camera
                )
                camera_info.header.stamp = now
                publishers[f"{side}/camera_info"].publish(camera_info)
                publishers[f"{side}/image_rect"].publish(message)

        first = time.monotonic()
        while not late:  # the first pair finds the number of disparities and starts threads
            assert time.monotonic() < first + 30
            send(images[:2])
            time.sleep(0.5)
        time.sleep(1)
        before, count = len(late), round(seconds * rate)
        psutil.cpu_percent()
        begin = time.monotonic()
        for i in range(count):
            time.sleep(max(begin + i / rate - time.monotonic(), 0))
            send(images[2 * (i % 4) : 2 * (i % 4) + 2])
        end = time.monotonic() + 5
        while len(late) < before + count and time.monotonic() < end:
            time.sleep(0.05)
        arrived = sorted(late[before:])
        facts = {value.key: value.value for value in reports[-1].status[0].values} if reports else {}
        print(
            f"\n{len(arrived)} of {count} pairs; latency median {percentile(arrived, 0.5):.1f} ms, 99 % "
            f"{percentile(arrived, 0.99):.1f} ms, largest {arrived[-1]:.1f} ms; load {os.getloadavg()[0]:.1f}; "
            f"processors busy {psutil.cpu_percent():.0f} %; the node: {facts}"
        )
        assert len(arrived) == count
    finally:
        process.terminate()
        executor.shutdown()
        thread.join()
        node.destroy_node()
        rclpy.try_shutdown()
        assert process.wait(20) in (0, -15)
