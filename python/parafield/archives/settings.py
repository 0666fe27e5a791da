# SPDX-License-Identifier: MIT
"""Settings of an extraction."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import parafield as pf

from .errors import argument_error

FORMATS = ("npz", "jpeg", "zarr")
DTYPES = ("float16", "float32")

# These methods use only the luma of frames. All others get colors.
_METHODS_OF_LUMA = frozenset(["adaptive-ridge", "lucas-kanade", "gradient-tensor", "ridge-regression"])


@dataclass(frozen=True)
class Settings:
    """Checked settings of an extraction."""

    output: str
    format: str
    method: Any  # a method's value, with all its parameters
    frames: int  # that one flow takes
    options: dict[str, Any] = field(default_factory=dict)  # the task's options: fb_check, speckle, ...
    device: str | None = None
    threads: int = 1
    throughput: bool = False  # several processes share a GPU
    dtype: str = "float16"
    bound: float = 20
    valid: bool = False
    step: int = 1
    stride: int = 1
    start: int = 0
    stop: int | None = None
    short_side: int | None = None
    shape: tuple[int, int] | None = None
    color: str = "gray"
    range: tuple[float, float] | None = None
    segment: int = 1000

    @property
    def reach(self) -> int:
        """Distance between the first and the last frame of a flow."""
        return (self.frames - 1) * self.step

    @property
    def is_cuttable(self) -> bool:
        """Whether segments give the same bits, which they do not if the method starts from its last flow."""
        return not (self.step == self.stride and getattr(self.method, "temporal", False))

    def frames_in(self, frames: int) -> int:
        """Number of frames before `stop` in a sequence of so many frames."""
        return frames if self.stop is None else min(frames, self.stop)

    def flows_of(self, frames: int) -> int:
        """Number of flows of a sequence of so many frames."""
        return max(0, (self.frames_in(frames) - 1 - self.reach - self.start) // self.stride + 1)

    def identity(self) -> dict[str, Any]:
        """Everything that results depend on, in JSON's types."""
        values = {
            "method": repr(self.method),
            "options": {name: self.options[name] for name in sorted(self.options)},
            "step": self.step, "stride": self.stride, "start": self.start, "stop": self.stop,
            "short_side": self.short_side, "shape": list(self.shape) if self.shape else None,
            "color": self.color, "range": list(self.range) if self.range else None, "valid": self.valid,
        }
        if self.format == "jpeg":
            values["bound"] = self.bound
        else:
            values["dtype"] = self.dtype
        return values


def make_settings(method: Any, preset: str | None, parameters: dict[str, Any], **given: Any) -> Settings:
    """Settings of checked arguments of `extract`. Errors begin with the argument's name."""
    settings = Settings(method=None, frames=0, **given)
    _one_of("format", settings.format, FORMATS)
    _one_of("dtype", settings.dtype, DTYPES)
    if not _is_number(settings.bound) or not 0 < settings.bound <= 1e6:
        raise argument_error(f"bound: {settings.bound!r} is not a motion above 0 to 1e6 px")
    for name in ("covariance", "outlier", "cause"):
        if name in parameters:
            raise argument_error(f"{name}: archives hold no error bars; parafield.estimate_flow returns them")
    if settings.valid and settings.format == "jpeg":
        raise argument_error("valid: JPEG pairs hold no validity; use the format npz or zarr")
    for name, least in (("step", 1), ("stride", 1), ("start", 0), ("segment", 1)):
        _whole(name, getattr(settings, name), least)
    for name, least in (("stop", settings.start + 1), ("short_side", 1)):
        if getattr(settings, name) is not None:
            _whole(name, getattr(settings, name), least)
    shape, range, color = settings.shape, settings.range, settings.color
    if shape is not None:
        if settings.short_side is not None:
            raise argument_error("shape: it is given together with short_side; give one of them")
        try:
            height, width = shape
        except (TypeError, ValueError):
            raise argument_error(f"shape: {shape!r} is not (height, width)") from None
        _whole("shape", height, 1)
        _whole("shape", width, 1)
        shape = (height, width)
    if color not in (None, "gray", "rgb"):
        raise argument_error(f"color: {color!r} is not gray or rgb")
    if range is not None:
        try:
            black, white = map(float, range)
        except (TypeError, ValueError):
            raise argument_error(f"range: {range!r} is not (black, white)") from None
        if not black < white:
            raise argument_error(f"range: black, {black:g}, is not below white, {white:g}")
        range = (black, white)
    value, options = resolve_method(method, preset, parameters)
    if color is None:
        color = "gray" if value.name in _METHODS_OF_LUMA else "rgb"
    return dataclasses.replace(settings, method=value, frames=value.frames, options=options, shape=shape,
                               range=range, color=color)


def resolve_method(method: Any, preset: str | None,
                   parameters: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A method's value with all parameters, and the options of the task among them."""
    value = pf.FlowEstimator(method, preset, device="cpu", **parameters).method
    options = {name: given for name, given in parameters.items() if not hasattr(value, name)}
    return value, options


def _one_of(name: str, value: object, values: tuple[str, ...]) -> None:
    if value not in values:
        raise argument_error(f"{name}: {value!r} is not one of {', '.join(values)}")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
        raise argument_error(f"{name}: {value!r} is not a whole number of at least {least}")
