# SPDX-License-Identifier: MIT
"""Synchronization and mailboxes of messages, and the package of the nodes. ROS is not needed."""

import ast
import re
import sys
import threading
from pathlib import Path
from types import ModuleType, SimpleNamespace

import parafield as pf
from parafield.ros import Mailbox, Synchronizer

PACKAGE = Path(__file__).parents[3] / "ros"


def test_exact_synchronization():
    pairs = Synchronizer(2, queue_size=3)
    assert pairs.add(0, 10, "l1") is None and pairs.add(0, 20, "l2") is None
    assert pairs.add(1, 20, "r2") == ["l2", "r2"] and pairs.unmatched == 1
    assert pairs.add(1, 31, "r3") is None and pairs.add(0, 30, "l3") is None
    for stamp in (40, 50, 60):
        assert pairs.add(0, stamp, f"l{stamp}") is None
    assert pairs.unmatched == 2  # l3 left the queue
    assert pairs.add(1, 50, "r50") == ["l50", "r50"] and pairs.unmatched == 4  # l40, r3
    pairs.clear()
    assert pairs.unmatched == 5


def test_approximate_synchronization():
    pairs = Synchronizer(3, tolerance=5)
    assert pairs.add(0, 100, "a1") is None and pairs.add(1, 104, "b1") is None
    assert pairs.add(2, 107, "c1") is None  # 7 from a1
    assert pairs.add(0, 106, "a2") == ["a2", "b1", "c1"] and pairs.unmatched == 1
    assert pairs.add(2, 200, "c2") is None and pairs.add(0, 201, "a3") is None
    assert pairs.add(1, 203, "b2") == ["a3", "b2", "c2"]


def test_synchronization_after_a_jump_back():
    pairs = Synchronizer(2)
    pairs.add(0, 9_000_000_000, "late")
    pairs.add(0, 1_000_000_000, "early")
    assert pairs.unmatched == 1 and pairs.add(1, 1_000_000_000, "right") == ["early", "right"]


def test_mailboxes_drop_the_oldest():
    box = Mailbox(2)
    for item in range(5):
        box.put(item)
    assert box.dropped == 3 and [box.take(), box.take()] == [3, 4]
    got = []
    thread = threading.Thread(target=lambda: got.extend(iter(box.take, None)))
    thread.start()
    box.put("a")
    while not got:
        pass
    box.close()
    thread.join(10)
    assert got == ["a"] and not thread.is_alive()


def test_the_package_of_nodes(monkeypatch):
    """Its setup names modules that exist, and its launch file builds with stand-ins for ROS's modules."""
    setup = (PACKAGE / "setup.py").read_text()
    for line in setup.splitlines():
        if " = parafield_ros." in line:
            module, function = line.strip(' ",').split(" = parafield_ros.")[1].split(":")
            tree = ast.parse((PACKAGE / "parafield_ros" / f"{module}.py").read_text())
            assert function in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    version = (PACKAGE / "package.xml").read_text().split("<version>")[1].split("<")[0]
    assert version == pf.__version__ and f'version="{version}"' in setup

    def stand_in(*arguments, **options):
        return SimpleNamespace(arguments=arguments, **options)

    for name in (
        "launch",
        "launch.actions",
        "launch.substitutions",
        "launch_ros",
        "launch_ros.actions",
        "launch_ros.parameter_descriptions",
    ):
        module = ModuleType(name)
        for member in (
            "LaunchDescription",
            "DeclareLaunchArgument",
            "LaunchConfiguration",
            "Node",
            "ParameterValue",
        ):
            setattr(module, member, stand_in)
        monkeypatch.setitem(sys.modules, name, module)
    scope = {}
    exec((PACKAGE / "launch" / "stereo.launch.py").read_text(), scope)
    *arguments, node = scope["generate_launch_description"]().arguments[0]
    assert {argument.arguments[0] for argument in arguments} >= {"namespace", "preset", "approximate_sync"}
    assert node.executable == "stereo" and "left/image_raw" in dict(node.remappings)
    nodes = [(PACKAGE / "parafield_ros" / name).read_text() for name in ("node.py", "stereo.py")]
    declared = set(re.findall(r'fixed\(\s*"(\w+)"', "".join(nodes)))
    assert set(node.parameters[0]) <= declared
