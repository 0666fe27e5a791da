# SPDX-License-Identifier: MIT
"""Missing values of a stack: NetCDF's conventions, as far as xarray has not applied them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

import parafield as pf

_DEFAULT_FILLS = {"i2": -32767, "u2": 65535, "i4": -2147483647, "u4": 4294967295}
_DEFAULT_FILLS |= {"i8": -9223372036854775806, "u8": 18446744073709551614}
_MOST = 9e36  # above is the default fill value of floats


@dataclass(frozen=True)
class Missing:
    """Which values of a stack are missing, and which are negative numbers of an unsigned type."""

    values: tuple[float, ...] = ()
    least: float = -math.inf
    most: float = math.inf
    wrap: float = 0.0  # to be added to a negative number; 0: none is
    zero: float = 0.0  # the value of the stored number 0
    step: float = 1.0  # the difference of two stored numbers
    tolerance: float = 0.0  # of `values`, which are rounded if numbers were unpacked

    def frames(self, images: np.ndarray) -> np.ndarray:
        """Images as float32, NaN where they are missing."""
        values = images
        if self.wrap:
            values = images.astype(np.float64)
            values[(values - self.zero) / self.step < -0.5] += self.wrap
        with np.errstate(over="ignore"):
            frames = values.astype(np.float32)
        for value in self.values:
            frames[np.abs(images - value) <= self.tolerance if self.tolerance else images == value] = np.nan
        if self.least > -math.inf or self.most < math.inf:
            frames[(values < self.least) | (values > self.most)] = np.nan
        return frames


def fill_values(stack: xr.DataArray) -> Missing | None:
    """What is missing in a stack by its attributes and its encoding; None if nothing is.

    xarray decodes a file's fill values to NaN and moves attributes to the encoding, but it compares numbers
    of other types exactly, and it knows no default fill values, no limits, and `_Unsigned` in one spelling
    only."""
    attrs, encoding = stack.attrs, stack.encoding
    stored = np.dtype(encoding.get("dtype", stack.dtype))
    if stack.dtype.kind in "iu" and stored != stack.dtype:
        encoding, stored = {}, stack.dtype  # the values were decoded to other integers
    if stored.kind not in "iuf":
        encoding, stored = {}, stack.dtype
    given = {**encoding, **attrs}
    scales = [number for name in ("scale_factor", "add_offset") for number in _numbers(encoding.get(name))]
    step, zero = (_first(encoding.get("scale_factor"), 1.0), _first(encoding.get("add_offset"), 0.0))
    packing = [given[name] for name in ("scale_factor", "add_offset") if name in given]
    bits = 8 * stored.itemsize

    def decoded(number: float) -> float:
        """A stored number as a value of the stack."""
        return float(np.asarray(number).astype(stack.dtype)) * step + zero

    values: list[float] = []
    for name in ("_FillValue", "missing_value"):
        for number in _numbers(given.get(name), name):
            kept = _stored(number, stored)
            if kept is not None:
                values.append(decoded(kept))
            elif packing:
                values.append(number)  # against the conventions, a value of the unpacked
    default = _DEFAULT_FILLS.get(stored.newbyteorder("=").str[1:]) if "source" in stack.encoding else None
    if default is not None and "_FillValue" not in given:
        values.append(decoded(default))

    said = str(given.get("_Unsigned", "")).strip().lower()
    known = "_Unsigned" in stack.encoding and stack.encoding["_Unsigned"] == "true"  # xarray applied it
    is_unsigned = said in ("true", "yes", "1") and stored.kind == "i"
    wrap = 2.0**bits * step if is_unsigned and not known else 0.0

    least, most = -math.inf, math.inf
    limits = [*_numbers(given.get("valid_range"))[:2]]
    limits = [*limits, math.nan, math.nan][:2]
    sources = [given.get("valid_range")] * 2
    for i, name in enumerate(("valid_min", "valid_max")):
        if name in given:
            limits[i], sources[i] = _first(given[name], math.nan), given[name]
    found = [math.nan, math.nan]
    for i, (number, source) in enumerate(zip(limits, sources)):
        if math.isnan(number):
            continue
        # By the NetCDF Users' Guide, limits of the unpacked values' type, if that is wider than the stored
        # one, are limits of the unpacked values. So are all floats for stored integers.
        rank = _rank(source)
        wide = rank > _rank(stored) and (rank == max(map(_rank, packing), default=0) or stored.kind in "iu")
        unpacked = bool(packing) and rank > 100 and wide
        if unpacked and not scales:  # the stack is not decoded
            number = (number - _first(given.get("add_offset"), 0.0)) / _first(given.get("scale_factor"), 1.0)
        elif not unpacked:
            if is_unsigned and number < 0:
                number += 2.0**bits
            slack = 0.25 * abs(step) if scales else 0.0  # the stack's values are rounded
            number = number * step + zero + (slack if (i == 1) == (step > 0) else -slack)
            if stored.kind == "f" and not scales:
                number = float(stored.type(number))
        found[i] = number
    known_limits = [number for number in found if not math.isnan(number)]
    if len(known_limits) == 2:
        least, most = min(found), max(found)
    elif known_limits:
        is_most = math.isnan(found[0]) == (step > 0)
        least, most = (least, known_limits[0]) if is_most else (known_limits[0], most)
    if stored.kind == "f" and "source" in stack.encoding:
        most = min(most, _MOST)
    values = [value for value in dict.fromkeys(values) if not math.isnan(value)]
    tolerance = 0.25 * abs(step) if scales and stored.kind in "iu" else 0.0
    if not values and not wrap and (least, most) == (-math.inf, math.inf):
        return None
    return Missing(tuple(values), least, most, wrap, zero, step, tolerance)


def _numbers(value: Any, name: str = "") -> list[float]:
    """The numbers of an attribute, also if it is text. Raises Error for text of a fill value without numbers."""
    if value is None:
        return []
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    words = value.replace(",", " ").split() if isinstance(value, str) else np.ravel(value).tolist()
    try:
        return [float(word.rstrip("bBsSfFdDlLuU") if isinstance(word, str) else word) for word in words]
    except (TypeError, ValueError):
        if not name:
            return []
        raise pf.Error(f"stack: its fill value cannot be {value!r}; allowed: numbers") from None


def _first(value: Any, default: float) -> float:
    return (_numbers(value) or [default])[0]


def _stored(number: float, stored: np.dtype[Any]) -> float | None:
    """A number as the stored type holds it; None if it cannot."""
    if stored.kind == "f":
        with np.errstate(over="ignore"):
            return float(stored.type(number))
    bits: int = 8 * stored.itemsize
    if not math.isfinite(number) or number != math.floor(number) or not -(2 ** (bits - 1)) <= number < 2**bits:
        return None
    whole = int(number) % (1 << bits)
    return whole - (1 << bits) if stored.kind == "i" and whole >= 2 ** (bits - 1) else whole


def _rank(value: Any) -> int:
    """Width of a value's type: a wider one holds values of a narrower one."""
    dtype = value if isinstance(value, np.dtype) else np.asarray(value).dtype
    return (100 if dtype.kind == "f" else 0) + int(dtype.itemsize) if dtype.kind in "iuf" else 0
