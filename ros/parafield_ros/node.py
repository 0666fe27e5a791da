# SPDX-License-Identifier: MIT
"""What the nodes share: parameters, a thread that solves, publishers, diagnostics."""

from __future__ import annotations

import array
import contextlib
import importlib
import threading
import time
import traceback
import warnings
from collections import deque
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions

import parafield as pf
from parafield.ros.queues import Mailbox, percentile
from parafield.ros.solvers import stamp_of


def make(name: str, /, **fields: Any) -> Any:
    """A message of a type such as "sensor_msgs/msg/Image". Arrays of uint8 become arrays of array.array."""
    for key, value in fields.items():
        if isinstance(value, np.ndarray):
            fields[key] = array.array("B")
            fields[key].frombytes(value.data)
    package, folder, kind = name.split("/")
    return getattr(importlib.import_module(f"{package}.{folder}"), kind)(**fields)


def descriptor_of(parameter: dict[str, Any]) -> ParameterDescriptor:
    """ROS's description of a method's parameter, with its range."""
    unit = f" Unit: {parameter['unit']}." if parameter["unit"] else ""
    descriptor = ParameterDescriptor(description=parameter["help"] + unit)
    choices = parameter["choices"]
    if parameter["type"] == "float":
        descriptor.floating_point_range = [
            FloatingPointRange(from_value=parameter["min"], to_value=parameter["max"], step=0.0)
        ]
    elif parameter["type"] == "int":
        low, high = (min(choices), max(choices)) if choices else (parameter["min"], parameter["max"])
        steps = set(np.diff(choices).tolist())
        step = steps.pop() if len(steps) == 1 else 1
        descriptor.integer_range = [IntegerRange(from_value=low, to_value=high, step=step)]
    if choices:
        descriptor.additional_constraints = "One of " + ", ".join(map(str, choices))
    return descriptor


class SolverNode(Node):
    """A node that solves sets of messages in a thread of its own.

    The newest sets wait while it is busy; older ones are dropped and counted. `task` is parafield.stereo,
    flow or detection. A subclass makes its solver in make_solver() and uses it in solve().
    """

    def __init__(self, name: str, task: Any, preset: str) -> None:
        super().__init__(name)
        warnings.showwarning = lambda text, *_, **__: self.get_logger().warning(str(text))
        self.broken = False
        self._outputs: list[Any] = []
        self._solver: Any = None
        methods = {method.name: method for method in task.methods()}
        chosen = self.fixed("method", "", "Method: " + ", ".join(methods) + ". Empty: the first.")
        if chosen and chosen not in methods:
            raise pf.Error(f"method cannot be {chosen!r}; allowed: {', '.join(methods)}")
        self._method = methods[chosen] if chosen else task.methods()[0]
        presets = self._method.presets
        chosen = self.fixed(
            "preset",
            preset if preset in presets else presets[0],
            "Preset, whose values the other parameters have by default: " + ", ".join(presets) + ".",
        )
        values = self._method.preset(chosen)
        device = self.fixed("device", "auto", "auto, cpu, cuda or cuda:1.")
        threads = self.fixed("threads", 0, "Threads on the CPU; 0: all cores.")
        black, white = (
            self.fixed(
                key, 0.0, f"Pixel value of {key}. Both 0: found in the first images of 16 bits or floats."
            )
            for key in ("black", "white")
        )
        self._fixed_arguments = {
            "device": None if device == "auto" else device,
            "threads": threads or None,
            "range": (black, white) if (black, white) != (0, 0) else None,
        }
        self.queue_size = self.fixed("queue_size", 5, "Messages of each topic that wait for their partners.")
        waiting = self.fixed(
            "max_waiting",
            1,
            "Sets of messages that wait while the node is busy. When one more "
            "arrives, the oldest is dropped and counted.",
        )
        if self.queue_size < 1 or waiting < 1:
            raise pf.Error(
                f"queue_size and max_waiting must be 1 or more, not {self.queue_size} and {waiting}"
            )
        self._reliable = self.fixed(
            "use_system_default_qos",
            False,
            "Subscribe reliably, instead of with the QoS of sensors, which is best effort.",
        )
        self._own, self._options = self._method.parameters, task.options()
        self._values = {}
        for parameter in self._own + self._options:
            default = getattr(values, parameter["name"], parameter["default"])
            self._values[parameter["name"]] = self.declare_parameter(
                parameter["name"], default, descriptor_of(parameter)
            ).value
        self.mailbox = Mailbox(waiting)
        self.received = self._solved = self._failed = self._unused = 0
        self._lost_before = 0
        self._seen: dict[str, str] = {}
        self._latencies: deque[float] = deque(maxlen=1000)
        self._times: deque[float] = deque(maxlen=1000)
        self._last_error = ""
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.create_timer(1.0, self._report)
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Makes the solver and starts the thread that uses it. Raises Error."""
        self._solver = self._solver_for(self._values)
        self.add_on_set_parameters_callback(self._on_parameters)
        self._thread.start()

    def make_solver(self, arguments: dict[str, Any]) -> Any:
        """The solver for these arguments of an estimator."""
        raise NotImplementedError

    def solve(self, solver: Any, messages: Any) -> bool:
        """Solves a set of messages and publishes the result. Returns whether there was one."""
        raise NotImplementedError

    def unmatched(self) -> int:
        """Messages that were dropped because they had no partner."""
        return 0

    def fixed(self, name: str, default: Any, text: str) -> Any:
        """Declares a parameter that cannot change while the node runs. Returns its value."""
        return self.declare_parameter(
            name, default, ParameterDescriptor(description=text, read_only=True)
        ).value

    def subscribe(self, kind: Any, topic: str, callback: Any) -> None:
        """Subscribes to a topic with the QoS of sensors; parameters qos_overrides change it."""
        reliability = ReliabilityPolicy.RELIABLE if self._reliable else ReliabilityPolicy.BEST_EFFORT
        qos = QoSProfile(depth=self.queue_size, reliability=reliability)
        self.create_subscription(
            kind, topic, callback, qos, qos_overriding_options=QoSOverridingOptions.with_default_policies()
        )

    def output(self, kind: Any, topic: str) -> Any:
        """Makes a publisher, which is reliable; parameters qos_overrides change it."""
        publisher = self.create_publisher(
            kind,
            topic,
            QoSProfile(depth=self.queue_size),
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )
        self._outputs.append(publisher)
        return publisher

    def has_subscribers(self) -> bool:
        """Whether anyone subscribes to one of the outputs."""
        return any(wanted(publisher) for publisher in self._outputs)

    def close(self) -> None:
        """Ends the thread."""
        self.mailbox.close()
        if self._thread.is_alive():
            self._thread.join()

    def _solver_for(self, values: dict[str, Any]) -> Any:
        """A solver with these values of the method's parameters and of the options. Raises Error."""
        method = self._method(**{parameter["name"]: values[parameter["name"]] for parameter in self._own})
        options = {parameter["name"]: values[parameter["name"]] for parameter in self._options}
        return self.make_solver({"method": method} | options | self._fixed_arguments)

    def _on_parameters(self, changed: list[Any]) -> SetParametersResult:
        values = self._values | {
            parameter.name: parameter.value for parameter in changed if parameter.name in self._values
        }
        if values != self._values:
            try:
                self._solver = self._solver_for(values)  # the thread takes it for the next images
            except pf.Error as error:
                return SetParametersResult(successful=False, reason=str(error))
        self._values = values
        return SetParametersResult(successful=True)

    def _work(self) -> None:
        try:
            while (messages := self.mailbox.take()) is not None:
                self._solve(messages)
        except Exception:
            if self.context.ok():
                self.broken = True
                self.get_logger().fatal(traceback.format_exc())
                self.context.try_shutdown()

    def _solve(self, messages: Any) -> None:
        begin, solver = time.monotonic(), self._solver
        try:
            if not self.solve(solver, messages):
                self._unused += 1
                return
        except pf.Error as error:
            self._failed += 1
            self._last_error = str(error)
            self.get_logger().error(str(error), throttle_duration_sec=5.0)
            return
        self._solved += 1
        estimator = solver.estimator
        self._seen = {"device": estimator.device, "frames": estimator.frames_state}
        self._times.append(time.monotonic() - begin)
        stamp = stamp_of((messages[0] if isinstance(messages, list) else messages).header)
        self._latencies.append((self.get_clock().now().nanoseconds - stamp) * 1e-9)

    def _report(self) -> None:
        lost = self.mailbox.dropped + self.unmatched() + self._failed
        level, text = DiagnosticStatus.OK, "running" if self._solved else "waiting for messages"
        if lost > self._lost_before:
            level, text = DiagnosticStatus.WARN, f"{lost - self._lost_before} dropped in the last second"
        if self._last_error:
            level, text, self._last_error = DiagnosticStatus.ERROR, self._last_error, ""
        self._lost_before = lost
        times, latencies = sorted(self._times), sorted(self._latencies)
        facts = {
            "received": self.received,
            "solved": self._solved,
            "dropped, too fast": self.mailbox.dropped,
            "dropped, no partner": self.unmatched(),
            "failed": self._failed,
            "without subscribers or result": self._unused,
            "solve, median, ms": f"{1e3 * percentile(times, 0.5):.1f}",
            "solve, 99 %, ms": f"{1e3 * percentile(times, 0.99):.1f}",
            "latency, median, ms": f"{1e3 * percentile(latencies, 0.5):.1f}",
            "latency, 99 %, ms": f"{1e3 * percentile(latencies, 0.99):.1f}",
            "method": self._method.name,
            "version": pf.__version__,
        }
        facts |= self._seen
        status = DiagnosticStatus(
            level=level,
            name=self.get_fully_qualified_name(),
            message=text,
            values=[KeyValue(key=key, value=str(value)) for key, value in facts.items()],
        )
        report = DiagnosticArray(status=[status])
        report.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(report)


def wanted(publisher: Any) -> bool:
    """Whether anyone subscribes to a publisher's topic."""
    return publisher.get_subscription_count() > 0


def run(kind: type[SolverNode], args: list[str] | None) -> int:
    """Runs a node until it is interrupted. Returns the exit code."""
    rclpy.init(args=args)
    try:
        node = kind()
        node.start()
    except (pf.Error, ParameterException) as error:
        rclpy.logging.get_logger("parafield").fatal(str(error))
        rclpy.try_shutdown()
        return 1
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(node)
    node.close()
    node.destroy_node()
    rclpy.try_shutdown()
    return 1 if node.broken else 0
