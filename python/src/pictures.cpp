// SPDX-License-Identifier: MIT
#include "pictures.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "signatures.hpp"

namespace parafield::python {
namespace {

ColorScheme read_scheme(const std::string& scheme) {
  if (scheme == "middlebury") return ColorScheme::middlebury;
  if (scheme == "marzat") return ColorScheme::marzat;
  fail("scheme cannot be '", scheme, "': middlebury or marzat");
}

}  // namespace

void NewFrame::take(const Frame& frame) {
  const std::ptrdiff_t row = row_bytes(size_, format_);
  detail::copy(storage_->data, row, storage_->memory, frame.data, frame.pitch ? frame.pitch : row,
               frame.memory, row, size_.height);
}

nb::object NewFrame::array(bool channels_first) const {
  const int count = channels(format_), value = bytes_per_pixel(format_) / count;
  const nb::dlpack::dtype type = value == 1   ? nb::dtype<std::uint8_t>()
                                 : value == 2 ? nb::dtype<std::uint16_t>()
                                              : nb::dtype<float>();
  const auto height = std::size_t(size_.height), width = std::size_t(size_.width);
  const std::int64_t row = std::int64_t(size_.width) * count;
  if (channels_first)
    return array_in(storage_, storage_->data, type, {std::size_t(count), height, width}, {1, row, count});
  if (count == 1) return array_in(storage_, storage_->data, type, {height, width}, {row, 1});
  return array_in(storage_, storage_->data, type, {height, width, std::size_t(count)}, {row, count, 1});
}

nb::object frame_array(const In<Frame>& frame) {
  NewFrame copy({}, frame.size(), frame.format);
  copy.take(frame);
  return copy.array();
}

nb::object plane_array(View<const float> plane) {
  return frame_array(Frame{plane.data, plane.width, plane.height, plane.pitch, PixelFormat::gray_f32});
}

nb::object mask_array(const Image<std::uint8_t>& mask) {
  const Size size = mask.size();
  const auto storage = make_host_storage(std::size_t(size.width) * std::size_t(size.height));
  for (int y = 0; y < size.height; ++y)
    std::transform(mask.view().row(y), mask.view().row(y) + size.width,
                   storage->data + std::ptrdiff_t(y) * size.width,
                   [](std::uint8_t value) { return value != 0; });
  return array_in(storage, storage->data, nb::dtype<bool>(),
                  {std::size_t(size.height), std::size_t(size.width)}, {size.width, 1});
}

FrameStack read_host_frame(nb::handle object, const std::string& name, const FrameLayout& layout) {
  FrameStack frame = read_frames(object, name, layout);
  if (frame.stacked) fail(name, " is a stack of frames; give one of them");
  if (!frame.array.memory.on_host())
    fail(name, " is on cuda:", frame.array.memory.device, "; copy it to host memory first");
  match({&frame, 1}, layout);
  return frame;
}

FrameBuffer picture_of(const Field<Flow>& field) { return color_flow(field.result(0)); }

FrameBuffer picture_of(const Field<Stereo>& field) { return color_disparity(field.result(0)); }

FrameBuffer picture_of(const Field<Detection>& field) {
  FrameBuffer picture(field.size, PixelFormat::gray_u8);
  for (int y = 0; y < field.size.height; ++y) {
    const std::uint8_t* const row = field.moving + std::ptrdiff_t(y) * field.size.width;
    std::transform(row, row + field.size.width, static_cast<std::uint8_t*>(picture.row(y)),
                   [](std::uint8_t moving) { return moving ? 255 : 0; });
  }
  return picture;
}

nb::object png_of(const FrameBuffer& picture) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "parafield-XXXXXX").string();
  if (!mkdtemp(folder.data())) fail("cannot make a folder in ", fs::temp_directory_path().string());
  const fs::path file = fs::path(folder) / "picture.png";
  const auto remove = [&] {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  };
  try {
    write_frame(file, picture);
    std::ifstream stream(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    remove();
    return nb::bytes(bytes.data(), bytes.size());
  } catch (const Error& error) {
    remove();
    if (error.code() == ErrorCode::unsupported) return nb::none();
    throw;
  }
}

void bind_pictures(nb::module_& module) {
  define<
      "color_flow(flow, max_motion: float = 0, *, scheme: typing.Literal[\"middlebury\", "
      "\"marzat\"] = \"middlebury\", legend: bool = False) -> array[uint8]">(
      module,
      [](nb::handle flow, float max_motion, const std::string& scheme, bool legend) {
        const Field<Flow> field = field_of<Flow>(flow, "flow");
        const FlowField view = field.result(0);
        ColorOptions options{.scheme = read_scheme(scheme), .max_motion = max_motion};
        if (options.max_motion == 0) options.max_motion = color_scale(view);
        FrameBuffer picture = color_flow(view, options);
        if (legend) picture = with_legend(picture, options.scheme, options.max_motion);
        return frame_array(picture);
      },
      "A picture of a flow field: H x W x 3, RGB.\n\n"
      "`flow` is a FlowField or an array H x W x 2. Motion of `max_motion` px has full color; 0 means the "
      "longest motion. `legend` draws a color wheel with the scale in a corner.");
  define<
      "color_disparity(disparity, min: float = 0, max: float = 0, *, show_invalid: bool = False) "
      "-> array[uint8]">(
      module,
      [](nb::handle disparity, float min, float max, bool show_invalid) {
        const Field<Stereo> field = field_of<Stereo>(disparity, "disparity");
        return frame_array(color_disparity(field.result(0), {min, max, show_invalid}));
      },
      "A picture of disparities: H x W x 3, RGB, from blue (far) to red (near).\n\n"
      "`disparity` is a DisparityField or an array H x W. `min` and `max` are the disparities of the first "
      "and the last color, px; if both are 0, the range of the valid pixels. Invalid pixels are black.");
  define<"draw_arrows(frame, flow, step: int = 16, scale: float = 0) -> array[uint8]">(
      module,
      [](nb::handle frame, nb::handle flow, int step, float scale) {
        const FrameStack picture = read_host_frame(frame, "frame");
        const Field<Flow> field = field_of<Flow>(flow, "flow");
        return frame_array(draw_arrows(picture.first, field.result(0), {step, scale}));
      },
      "The frame with arrows along its flow: H x W x 3, RGB.\n\n"
      "There is an arrow at every `step`th pixel of every `step`th row. Arrows are `scale` times as long as "
      "the flow; 0 makes the longest arrow `step` px long.");
  define<"arrow_scale(flow, step: int = 16) -> float">(
      module,
      [](nb::handle flow, int step) { return arrow_scale(field_of<Flow>(flow, "flow").result(0), step); },
      "The scale with which draw_arrows makes the longest arrow `step` px long; 1 if nothing moves.\n\n"
      "Draw the pictures of a sequence with one scale, so that their arrows can be compared.");
  define<"with_scale_arrow(picture, length: float, label: str) -> array[uint8]">(
      module,
      [](nb::handle picture, float length, const std::string& label) {
        return frame_array(with_scale_arrow(read_host_frame(picture, "picture").first, length, label));
      },
      "The picture with an arrow of `length` px in its lower left corner, and a label next to it.\n\n"
      "The label says what an arrow of that length means, such as \"20 m/s\". A picture that is too small "
      "stays as it is.");
  define<"overlay_mask(frame, mask) -> array[uint8]">(
      module,
      [](nb::handle frame, nb::handle mask) {
        const FrameStack picture = read_host_frame(frame, "frame");
        const Field<Detection> field = field_of<Detection>(mask, "mask");
        return frame_array(overlay_mask(picture.first, field.result(0)));
      },
      "The frame, tinted red where the mask is true: H x W x 3, RGB.");
  define<"beside(left, right) -> array[uint8]">(
      module,
      [](nb::handle left, nb::handle right) {
        const FrameStack first = read_host_frame(left, "left"), second = read_host_frame(right, "right");
        return frame_array(beside(first.first, second.first));
      },
      "Two pictures side by side.");
}

}  // namespace parafield::python
