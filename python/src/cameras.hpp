// SPDX-License-Identifier: MIT
#pragma once
#include <parafield/rectification.hpp>

#include <optional>
#include <utility>

#include "frames.hpp"

namespace parafield::python {

/// Reads an argument that is a StereoCalibration or the path of its file. Throws Error.
StereoCalibration read_calibration_argument(nb::handle calibration);

/// The size of a shape (height, width); 0x0 where none is given.
inline Size size_or_none(const std::optional<Size>& size) { return size.value_or(Size{}); }

/// A size as a shape; None for 0x0.
nb::object shape_or_none(Size size);

/// Reads the frames of a pair, which match each other. `who` takes single frames. Throws
/// Error(invalid_argument).
std::vector<FrameStack> read_pair(nb::handle left, nb::handle right, const FrameLayout& layout,
                                  const char* who);

/// The classes of calibrated cameras, and plan_rectification.
void bind_cameras(nb::module_& module);
/// Rectifier, rectify, measure_row_alignment, check_pair.
void bind_rectification(nb::module_& module);
/// points_of, height_of, HeightFilter.
void bind_heights(nb::module_& module);
/// known_pixels, filled, mark_unknown.
void bind_masks(nb::module_& module);

}  // namespace parafield::python
