// SPDX-License-Identifier: MIT
#pragma once
#include <parafield/rectification.hpp>

#include <optional>
#include <utility>

#include "frames.hpp"

namespace parafield::python {

/// Reads an argument that is a StereoCalibration or the path of a calibration file. Throws Error.
StereoCalibration read_calibration_argument(nb::handle calibration);

/// Returns the size, or 0x0 if none is given.
inline Size size_or_none(const std::optional<Size>& size) { return size.value_or(Size{}); }

/// Returns the shape (height, width) of a size, or None for 0x0.
nb::object shape_or_none(Size size);

/// Reads the frames of a pair and matches them (see match()). Stacks are refused: `who` names the caller in
/// that error. Throws Error(invalid_argument).
std::vector<FrameStack> read_pair(nb::handle left, nb::handle right, const FrameLayout& layout,
                                  const char* who);

/// Binds the classes of calibrated cameras and plan_rectification.
void bind_cameras(nb::module_& module);
/// Binds Rectifier, rectify, measure_row_alignment and check_pair.
void bind_rectification(nb::module_& module);
/// Binds points_of, height_of and HeightFilter.
void bind_heights(nb::module_& module);
/// Binds known_pixels, filled and mark_unknown.
void bind_masks(nb::module_& module);

}  // namespace parafield::python
