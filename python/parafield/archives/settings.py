# SPDX-License-Identifier: MIT
"""What an extraction does with each sequence."""

import dataclasses
from dataclasses import dataclass, field

import numpy as np

import parafield as pf

from .errors import argument_error

FORMATS = ("npz", "jpeg", "zarr")
DTYPES = ("float16", "float32")

# These methods read the luma of frames alone. All others are given colors.
_METHODS_OF_LUMA = frozenset(["adaptive-ridge", "lucas-kanade", "gradient-tensor", "ridge-regression"])


@dataclass(frozen=True)
class Settings:
    """What an extraction does with each sequence, checked."""

    output: str
    format: str
    method: object  # a method's value, with all its parameters
    frames: int  # that one flow takes
    options: dict = field(default_factory=dict)  # the task's options: fb_check, speckle, ...
    device: object = None
    threads: int = 1
    dtype: str = "float16"
    bound: float = 20
    valid: bool = False
    step: int = 1
    stride: int = 1
    start: int = 0
    stop: object = None
    short_side: object = None
    shape: object = None
    color: str = "gray"
    range: object = None
    segment: int = 1000

    @property
    def reach(self):
        """Distance of the last frame of a flow from its first one."""
        return (self.frames - 1) * self.step

    @property
    def is_cuttable(self):
        """Whether a sequence in pieces gives the same bits. A method that starts from its last flow does not."""
        return not (self.step == self.stride and getattr(self.method, "temporal", False))

    def frames_in(self, frames):
        """Number of frames before `stop`, in a sequence of so many."""
        return frames if self.stop is None else min(frames, self.stop)

    def flows_of(self, frames):
        """Number of flows of a sequence of so many frames."""
        return max(0, (self.frames_in(frames) - 1 - self.reach - self.start) // self.stride + 1)

    def identity(self):
        """What results depend on, as JSON's types. A result of another identity is another result."""
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


def make_settings(output, format, method, preset, device, dtype, bound, valid, step, stride, start, stop,
                  short_side, shape, color, range, segment, parameters):
    """Checks arguments of `extract`. Errors begin with the argument's name."""
    _one_of("format", format, FORMATS)
    _one_of("dtype", dtype, DTYPES)
    if not _is_number(bound) or not 0 < bound <= 1e6:
        raise argument_error(f"bound: {bound!r} is not a motion above 0 to 1e6 px")
    if valid and format == "jpeg":
        raise argument_error("valid: JPEG pairs hold no validity; use the format npz or zarr")
    for name, value, least in (("step", step, 1), ("stride", stride, 1), ("start", start, 0),
                               ("segment", segment, 1)):
        _whole(name, value, least)
    for name, value, least in (("stop", stop, start + 1), ("short_side", short_side, 1)):
        if value is not None:
            _whole(name, value, least)
    if shape is not None:
        if short_side is not None:
            raise argument_error("shape: it is given beside short_side; give one of them")
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
    return Settings(output=output, format=format, method=value, frames=frames_taken(value), options=options,
                    device=device, dtype=dtype, bound=bound, valid=bool(valid), step=step, stride=stride,
                    start=start, stop=stop, short_side=short_side, shape=shape, color=color, range=range,
                    segment=segment)


def resolve_method(method, preset, parameters):
    """A method's value with all parameters, and the options of the task among them."""
    value = pf.FlowEstimator(method, preset, device="cpu", **parameters).method
    options = {name: given for name, given in parameters.items() if not hasattr(value, name)}
    return value, options


def frames_taken(method):
    """Number of frames that a flow takes."""
    if hasattr(method, "frames"):
        return method.frames
    estimator = pf.FlowEstimator(method, device="cpu", shape=(16, 16), threads=1)
    black, count = np.zeros((16, 16), np.uint8), 1
    while estimator.push(black) is None:
        count += 1
    return count


def _one_of(name, value, values):
    if value not in values:
        raise argument_error(f"{name}: {value!r} is not one of {', '.join(values)}")


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _whole(name, value, least):
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
        raise argument_error(f"{name}: {value!r} is not a whole number of at least {least}")
