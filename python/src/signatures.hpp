// SPDX-License-Identifier: MIT
#pragma once
#include <nanobind/nanobind.h>

#include <string_view>

namespace parafield::python {

/// Returns the signature of a function for its docstring and the stubs, from a text such as
/// "rectify(left, right, calibration, device, *, alpha: float = 0, axes) -> RectifiedPair". An argument
/// without a type has the type and the default that its name has in all functions (`device` is a text or
/// None, and None by default), or any type. "array[float32]" is a NumPy array.
nanobind::sig signature(std::string_view text);

}  // namespace parafield::python
