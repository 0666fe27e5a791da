# SPDX-License-Identifier: MIT
"""Bags of ROS, read and written by the package rosbags, without ROS."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import parafield as pf

IMAGE, CAMERA_INFO = "sensor_msgs/msg/Image", "sensor_msgs/msg/CameraInfo"
STORAGES = ("mcap", "sqlite3")


def rosbags() -> Any:
    """The package rosbags. Raises Error if it is not installed."""
    try:
        for part in ("highlevel", "rosbag2", "typesys"):
            importlib.import_module(f"rosbags.{part}")
    except ImportError as error:
        raise pf.Error(
            f"bags need the package rosbags ({error}): pip install 'parafield[bag]'", "unsupported"
        ) from None
    return importlib.import_module("rosbags")


class BagReader:
    """A bag of ROS 2 (a folder, an .mcap or a .db3) or ROS 1 (.bag).

    Use it in a `with` statement. Raises Error.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        packages = rosbags()
        store = packages.typesys.get_typestore(packages.typesys.Stores.LATEST)
        try:
            self._reader = packages.highlevel.AnyReader([self.path], default_typestore=store)
            self._reader.open()
        except Exception as error:  # of several classes, some of them of the storage's own library
            raise pf.Error(f"cannot read the bag {path}: {error}", "file") from None

    def __enter__(self) -> BagReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reader.close()

    @property
    def topics(self) -> dict[str, tuple[str, int]]:
        """Type and number of messages of each topic."""
        return {name: (str(info.msgtype), info.msgcount) for name, info in self._reader.topics.items()}

    def topic(self, name: str | None, kind: str, option: str, part: str = "") -> str:
        """The topic of this name, or the only one of its type with `part` in its name. Raises Error."""
        of_type = [topic for topic, (other, _) in self.topics.items() if other == kind]
        if name is not None:
            if name in of_type:
                return name
            has = f"is of type {self.topics[name][0]}" if name in self.topics else "is not in the bag"
            raise pf.Error(f"topic {name} {has}; topics of type {kind}: {', '.join(of_type) or 'none'}")
        fitting = [topic for topic in of_type if part in topic]
        if len(fitting) != 1:
            raise pf.Error(
                f"choose a topic with {option}; topics of type {kind}: {', '.join(of_type) or 'none'}"
            )
        return fitting[0]

    def messages(self, topics: list[str]) -> Iterator[tuple[str, int, Any]]:
        """The messages of topics in order: topic, time of recording in ns, message. Raises Error."""
        chosen = [connection for connection in self._reader.connections if connection.topic in topics]
        for connection, time, data in self._reader.messages(chosen):
            try:
                message = self._reader.deserialize(data, connection.msgtype)
            except Exception as error:
                raise pf.Error(
                    f"cannot read a message of {connection.topic} in {self.path}: {error}", "format"
                ) from None
            yield connection.topic, time, message


class BagWriter:
    """A new bag of ROS 2: a folder with an .mcap or a .db3. Use it in a `with` statement. Raises Error."""

    def __init__(self, path: str | Path, storage: str = "mcap") -> None:
        packages = rosbags()
        if Path(path).suffix == ".bag":
            raise pf.Error(
                f"the new bag {path} is a folder; its name must not end in .bag, as files of ROS 1 do"
            )
        self._store = packages.typesys.get_typestore(packages.typesys.Stores.ROS2_HUMBLE)
        plugin = packages.rosbag2.StoragePlugin[storage.upper()]
        try:
            self._writer = packages.rosbag2.Writer(path, version=8, storage_plugin=plugin)
            self._writer.open()
        except Exception as error:
            raise pf.Error(f"cannot write the bag {path}: {error}", "file") from None
        self._connections: dict[str, Any] = {}

    def __enter__(self) -> BagWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()

    def make(self, name: str, /, **fields: Any) -> Any:
        """Makes a message of a type such as "sensor_msgs/msg/Image"."""
        return self._store.types[name](**fields)

    def header(self, header: Any) -> Any:
        """The header of a message of any bag."""
        stamp = self.make("builtin_interfaces/msg/Time", sec=header.stamp.sec, nanosec=header.stamp.nanosec)
        return self.make("std_msgs/msg/Header", stamp=stamp, frame_id=header.frame_id)

    def write(self, topic: str, time: int, message: Any) -> None:
        """Adds a message, with its time in ns."""
        kind = message.__msgtype__
        if topic not in self._connections:
            self._connections[topic] = self._writer.add_connection(topic, kind, typestore=self._store)
        self._writer.write(self._connections[topic], time, self._store.serialize_cdr(message, kind))
