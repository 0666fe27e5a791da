// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <parafield/image.hpp>
#include <span>
#include <string>
#include <vector>

#include "arrays.hpp"

namespace parafield::python {

/// How frames are stored in the arrays of a call.
struct FrameLayout {
  std::string axes = {};  ///< "hw", "hwc", "chw", "nhw", "nhwc", "nchw"; empty = deduce from the shape
  std::optional<ValueRange> range = {};  ///< if not given, match() finds it
  bool bgr = false;                      ///< the channels are blue, green, red
  bool stretches = false;                ///< match() stretches low contrast of uint8
  RangeUse use = RangeUse::matching;     ///< what the range is for
  bool warns = false;                    ///< match() warns if it guessed the range; set if calls take a range
};

/// Reads the arguments `axes`, `range` and `channels`, which are None if they are not given. Sets `warns`.
/// Throws Error(invalid_argument).
FrameLayout read_layout(nb::handle axes, nb::handle range, nb::handle channels);

/// Reads the argument `axes` of a function that has no argument `range`. Throws Error(invalid_argument).
FrameLayout read_axes(nb::handle axes);

/// Reads the argument `shape`, (height, width). Returns 0x0 for None. Throws Error(invalid_argument).
Size read_shape(nb::handle shape);

/// Returns the shape (height, width) of a size, or None for 0x0.
nb::object shape_or_none(Size size);

/// Returns "480 x 640": height and width, as everywhere in messages.
std::string size_text(Size size);

/// The frames of one argument: a single frame or a stack.
struct FrameStack {
  Array array;
  bool stacked = false;
  int count = 1;            ///< number of frames
  Frame first = {};         ///< the first frame
  std::ptrdiff_t step = 0;  ///< bytes from one frame to the next

  Frame operator[](int i) const {
    Frame frame = first;
    frame.data = static_cast<const char*>(first.data) + i * step;
    return frame;
  }
};

/// Reads an argument's frames. Arrays are copied only if the library cannot read them in place; it needs
/// contiguous pixels within a row, with any positive pitch. Throws Error(invalid_argument), for example if
/// neither the shape nor `layout` tells which axis is which.
FrameStack read_frames(nb::handle object, const std::string& name, const FrameLayout& layout);

/// The type of an array's values, for messages: "uint8", "uint16" or "float32". Masked arrays, which are read
/// as floats, count as what they were.
const char* depth_text(const Array& array);

/// Checks that all frames have the same size and depth and are in the same memory, and sets their ranges. The
/// range is `layout.range` if it is given. Otherwise it is 0..255 for uint8, and what find_values finds in
/// uint16 and float32, of a stack in at most 16 of its frames, and in uint8 in host memory if
/// `layout.stretches` is set. If `layout.warns` is set, issues warnings when that range is unusual for its
/// type (not 0..65535 for uint16, neither 0..255 nor 0..1 for float32), and for values far from all others;
/// other Python threads may run meanwhile. Waits for uint16 and float32 frames on a device. Throws
/// Error(invalid_argument).
void match(std::span<FrameStack> frames, const FrameLayout& layout);

}  // namespace parafield::python
