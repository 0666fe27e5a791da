// SPDX-License-Identifier: MIT
#pragma once
#include <parafield/image.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrays.hpp"

namespace parafield::python {

/// How the arrays of a call hold frames.
struct FrameLayout {
  std::string axes = {};  ///< "hw", "hwc", "chw", "nhw", "nhwc", "nchw"; empty = what the shape says
  std::optional<ValueRange> range = {};  ///< not given: see match
  bool bgr = false;                      ///< the channels are blue, green, red
  bool warns = false;                    ///< of a range that is a guess, since the call can be given another
};

/// Reads the arguments `axes`, `range` and `channels`; None stands for "not given". The layout warns of a range
/// that is a guess. Throws Error(invalid_argument).
FrameLayout read_layout(nb::handle axes, nb::handle range, nb::handle channels);

/// Reads the argument `axes` of a call without `range`. Throws Error(invalid_argument).
FrameLayout read_axes(nb::handle axes);

/// Reads the argument `shape`, (height, width); None stands for "not given". Throws Error(invalid_argument).
std::optional<Size> read_shape(nb::handle shape);

/// The frames of one argument: one frame, or a stack of frames.
struct FrameStack {
  Array array;
  bool stacked = false;
  int count = 1;             ///< frames
  Frame first = {};            ///< the first frame
  std::ptrdiff_t step = 0;   ///< bytes from one frame to the next

  Frame operator[](int i) const {
    Frame frame = first;
    frame.data = static_cast<const char*>(first.data) + i * step;
    return frame;
  }
};

/// Reads an argument's frames. Arrays that the library can read as they are, are not copied: rows of pixels
/// with any distance from row to row. Throws Error(invalid_argument) for shapes that do not say which axis is
/// which.
FrameStack read_frames(nb::handle object, const std::string& name, const FrameLayout& layout);

/// Checks that all frames have one size and lie in one memory, and gives them all the same range: the
/// layout's; otherwise 0..255 for uint8, and for uint16 and float32 the one that the values suggest. Where the
/// layout says so, it warns of a range that is not a usual one of its type (0..65535; 0..255 or 0..1): other
/// threads may run meanwhile. Throws Error(invalid_argument) if the range is not given and the frames are on a device.
void match(std::span<FrameStack> frames, const FrameLayout& layout);

}  // namespace parafield::python
