// SPDX-License-Identifier: MIT
#include "frames.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string_view>

#include "found_disparities.hpp"

namespace parafield::python {
namespace {

/// A number as Python and messages show it.
std::string number_text(float value) {
  std::ostringstream stream;
  stream.precision(6);
  stream << value;
  return stream.str();
}

constexpr std::array<std::string_view, 6> known_axes = {"hw", "hwc", "chw", "nhw", "nhwc", "nchw"};

bool is_channels(std::int64_t count) { return count == 1 || count == 3 || count == 4; }

/// Deduces the order of axes from the shape. Throws Error(invalid_argument) if the shape is ambiguous.
std::string axes_of(const Array& array) {
  const std::int64_t last = array.shape[std::size_t(std::max(0, array.dimensions - 1))];
  if (array.dimensions == 2) return "hw";
  if (array.dimensions == 3 && is_channels(last)) return "hwc";
  if (array.dimensions == 4 && is_channels(last)) return "nhwc";
  const std::string has = array.name + " has the shape " + array.shape_text() + ". ";
  if (array.dimensions == 3 && is_channels(array.shape[0]))
    fail(has,
         "Say axes=\"chw\" if the first axis are channels, or axes=\"nhw\" if this is a stack of frames");
  if (array.dimensions == 3) fail(has, "Say axes=\"nhw\" if this is a stack of frames");
  if (array.dimensions == 4 && is_channels(array.shape[1]))
    fail(has, "Say axes=\"nchw\" if this is a stack of frames with ", array.shape[1], " channels");
  fail(has, "A frame is H x W or H x W x 3; other shapes need axes=");
}

PixelFormat format_of(const Array& array, int channels, bool bgr) {
  switch (array.values) {
    case Values::u8:
      if (channels == 1) return PixelFormat::gray_u8;
      if (channels == 3) return bgr ? PixelFormat::bgr_u8 : PixelFormat::rgb_u8;
      return bgr ? PixelFormat::bgra_u8 : PixelFormat::rgba_u8;
    case Values::u16:
      return channels == 1 ? PixelFormat::gray_u16 : PixelFormat::rgb_u16;
    case Values::f32:
      return channels == 1 ? PixelFormat::gray_f32 : PixelFormat::rgb_f32;
  }
  return {};
}

/// Positions of the axes n, h, w and c in an array; -1 for axes that it lacks.
struct Places {
  int n, h, w, c;
  explicit Places(const std::string& axes)
      : n(int(axes.find('n'))), h(int(axes.find('h'))), w(int(axes.find('w'))), c(int(axes.find('c'))) {}
};

/// Whether the library can read the pixels in place.
bool is_readable(const Array& array, const Places& at, int channels, bool bgr) {
  const auto stride = [&](int axis) { return array.strides[std::size_t(axis)]; };
  const auto length = [&](int axis) { return array.shape[std::size_t(axis)]; };
  const int value = bytes_of(array.values);
  if (array.values != Values::u8 && (channels == 4 || bgr)) return false;
  if (at.c >= 0 && channels > 1 && stride(at.c) != value) return false;
  if (length(at.w) > 1 && stride(at.w) != channels * value) return false;
  if (length(at.h) > 1 && (stride(at.h) < length(at.w) * channels * value || stride(at.h) % value != 0))
    return false;
  if (at.n >= 0 && stride(at.n) % value != 0) return false;
  return reinterpret_cast<std::uintptr_t>(array.data) % std::uintptr_t(value) == 0;
}

std::string place_text(const Array& array) {
  return array.memory.on_host() ? "in host memory" : "on cuda:" + std::to_string(array.memory.device);
}

/// Warns of a range that was found in frames if it is unusual for their type, and of values far from all
/// others. 0..1 is usual for floats, because most Python packages store images this way.
void warn_of(const ValueFindings& found, Values type) {
  std::vector<std::string> notes = value_notes(found);
  if (!found.usual) {
    if (type == Values::f32 && found.range == ValueRange{0, 1})
      notes.erase(notes.begin());
    else
      notes[0] += "; give range=(" + number_text(found.range.black) + ", " + number_text(found.range.white) +
                  "), or the right one, for all frames";
  }
  for (const std::string& note : notes) warn_of_range(note);
}

/// Adds the frames of a stack that decide its range.
void add_deciding(const FrameStack& stack, std::vector<Frame>& frames) {
  constexpr int most = 16;
  const int count = std::min(stack.count, most);
  for (int i = 0; i < count; ++i) frames.push_back(stack[int(std::int64_t(i) * stack.count / count)]);
}

}  // namespace

FrameLayout read_layout(nb::handle axes, nb::handle range, nb::handle channels) {
  FrameLayout layout{.warns = true};
  if (!axes.is_none()) {
    layout.axes = name_text(axes);
    if (std::ranges::find(known_axes, layout.axes) == known_axes.end())
      fail("axes cannot be '", layout.axes, "': hw, hwc, chw, nhw, nhwc or nchw");
  }
  if (!range.is_none()) {
    float black = 0, white = 0;
    bool fits = PySequence_Check(range.ptr()) && nb::len(range) == 2;
    fits = fits && nb::try_cast(range[0], black) && nb::try_cast(range[1], white);
    if (!fits)
      fail("range cannot be ", repr_text(range),
           ": two numbers, the values of black and white, such as (0, 1)");
    if (!(black < white) || !std::isnormal(255 / (white - black)))
      fail("range cannot be ", repr_text(range), ": black must be below white");
    layout.range = ValueRange{black, white};
  }
  if (!channels.is_none()) {
    const auto text = name_text(channels);
    if (text != "rgb" && text != "bgr") fail("channels cannot be '", text, "': rgb or bgr");
    layout.bgr = text == "bgr";
  }
  return layout;
}

FrameLayout read_axes(nb::handle axes) {
  FrameLayout layout = read_layout(axes, nb::none(), nb::none());
  layout.warns = false;
  return layout;
}

Size read_shape(nb::handle shape) {
  if (shape.is_none()) return {};
  Size size;
  if (!PySequence_Check(shape.ptr()) || nb::len(shape) != 2 || !nb::try_cast(shape[0], size.height) ||
      !nb::try_cast(shape[1], size.width) || size.width < 1 || size.height < 1)
    fail("shape cannot be ", repr_text(shape), ": height and width, such as (480, 640)");
  return size;
}

nb::object shape_or_none(Size size) {
  return size == Size{} ? nb::none() : nb::object(nb::make_tuple(size.height, size.width));
}

std::string size_text(Size size) { return std::to_string(size.height) + " x " + std::to_string(size.width); }

FrameStack read_frames(nb::handle object, const std::string& name, const FrameLayout& layout) {
  FrameStack frames{.array = read_array(object, name)};
  Array& array = frames.array;
  std::string axes = layout.axes.empty() ? axes_of(array) : layout.axes;
  if (int(axes.size()) != array.dimensions)
    fail(name, " has the shape ", array.shape_text(), "; axes=\"", axes, "\" are ", axes.size());
  Places at(axes);
  const auto length = [&](int axis) { return axis < 0 ? 1 : array.shape[std::size_t(axis)]; };
  const std::int64_t channels = length(at.c);
  if (!is_channels(channels))
    fail(name, " has the shape ", array.shape_text(), ": ", channels, " channels; frames have 1, 3 or 4");
  for (const int axis : {at.n, at.h, at.w})
    if (length(axis) > INT32_MAX) fail(name, " has the shape ", array.shape_text(), ", which is too large");
  const bool bgr = layout.bgr && channels > 1;
  const bool readable = is_readable(array, at, int(channels), bgr);
  if (!readable) {
    const bool is_u8 = array.values == Values::u8;
    std::vector<int> order;
    for (const int axis : {at.n, at.h, at.w, at.c})
      if (axis >= 0) order.push_back(axis);
    array = rearranged(array, order, !is_u8 && channels == 4 ? 3 : 0, !is_u8 && bgr);
    axes = std::string(at.n >= 0 ? "nhw" : "hw") + (at.c >= 0 ? "c" : "");
    at = Places(axes);
  }
  frames.stacked = at.n >= 0;
  frames.count = int(length(at.n));
  if (frames.stacked) frames.step = array.strides[0];
  frames.first = {
      .data = array.data,
      .width = int(length(at.w)),
      .height = int(length(at.h)),
      .pitch = std::ptrdiff_t(length(at.h) > 1 ? array.strides[std::size_t(at.h)] : 0),
      .format = format_of(array, int(length(at.c)), bgr && (readable || array.values == Values::u8)),
      .memory = array.memory};
  return frames;
}

const char* depth_text(const Array& array) {
  return array.depth == Values::u8 ? "uint8" : array.depth == Values::u16 ? "uint16" : "float32";
}

void match(std::span<FrameStack> frames, const FrameLayout& layout) {
  const FrameStack& first = frames[0];
  for (FrameStack& other : frames.subspan(1)) {
    if (other.array.memory != first.array.memory)
      fail(first.array.name, " is ", place_text(first.array), " and ", other.array.name, " ",
           place_text(other.array), "; copy them to the same memory");
    if (other.first.size() != first.first.size())
      fail(other.array.name, " has ", size_text(other.first.size()), " pixels, ", first.array.name, " has ",
           size_text(first.first.size()));
    if (other.stacked != first.stacked)
      fail("one of ", first.array.name, " and ", other.array.name,
           " is a stack of frames and one is a frame");
    if (other.array.stream != first.array.stream)
      fail(first.array.name, " and ", other.array.name,
           " belong to libraries that use different CUDA streams");
    if (std::string_view(depth_text(other.array)) != depth_text(first.array))
      fail(first.array.name, " has values of type ", depth_text(first.array), " and ", other.array.name,
           " of type ", depth_text(other.array), "; convert them to one type");
  }
  if (layout.range) {
    for (FrameStack& stack : frames) stack.first.range = *layout.range;
    return;
  }
  const Array& array = first.array;
  const bool is_u8 = array.depth == Values::u8, on_host = array.memory.on_host();
  if (is_u8)
    for (FrameStack& stack : frames) stack.first.range = {0, 255};
  // Masked arrays have been converted to floats. If there are others, they decide.
  const auto is_plain = [](const FrameStack& stack) { return stack.array.values == stack.array.depth; };
  const bool any_plain = std::ranges::any_of(frames, is_plain);
  if (is_u8 && !(layout.stretches && on_host && any_plain)) return;
  std::vector<Frame> deciding;
  for (const FrameStack& stack : frames)
    if (is_plain(stack) || !any_plain) add_deciding(stack, deciding);
  ValueFindings found;
  if (on_host) {
    found = find_values(deciding, layout.use);
  } else {
    const nb::gil_scoped_release released;
    synchronize(Device::cuda(array.memory.device), Stream{array.stream});
    found = find_values(deciding, layout.use);
  }
  for (FrameStack& stack : frames) stack.first.range = found.range;
  if (layout.warns) warn_of(found, any_plain ? *array.depth : Values::f32);
}

}  // namespace parafield::python
