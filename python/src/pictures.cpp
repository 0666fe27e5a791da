// SPDX-License-Identifier: MIT
#include "pictures.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "new_frame.hpp"

namespace parafield::python {
namespace {

ColorScheme read_scheme(const std::string& scheme) {
  if (scheme == "middlebury") return ColorScheme::middlebury;
  if (scheme == "marzat") return ColorScheme::marzat;
  fail("scheme cannot be '", scheme, "': middlebury or marzat");
}

}  // namespace

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
  using nb::arg;
  const char* const array = "numpy.typing.NDArray[numpy.uint8]";
  const auto signature = [&](const std::string& head) {
    return nb::sig((new std::string("def " + head + " -> " + array))->c_str());
  };
  module.def(
      "color_flow",
      [](nb::handle flow, float max_motion, const std::string& scheme, bool legend) {
        const Field<Flow> field = field_of<Flow>(flow, "flow");
        const FlowField view = field.result(0);
        ColorOptions options{.scheme = read_scheme(scheme), .max_motion = max_motion};
        if (options.max_motion == 0) options.max_motion = color_scale(view);
        FrameBuffer picture = color_flow(view, options);
        if (legend) picture = with_legend(picture, options.scheme, options.max_motion);
        return frame_array(picture);
      },
      arg("flow").none(), arg("max_motion") = 0.0f, nb::kw_only(), arg("scheme") = "middlebury",
      arg("legend") = false,
      signature("color_flow(flow: typing.Any, max_motion: float = 0, *, scheme: "
                "typing.Literal[\"middlebury\", \"marzat\"] = \"middlebury\", legend: bool = False)"),
      "A picture of a flow field: H x W x 3, RGB.\n\n"
      "`flow` is a FlowField or an array H x W x 2. Motion of `max_motion` px has full color; 0 = the "
      "longest motion. `legend` draws a wheel with the scale in a corner.");
  module.def(
      "color_disparity",
      [](nb::handle disparity, float min, float max, bool show_invalid) {
        const Field<Stereo> field = field_of<Stereo>(disparity, "disparity");
        return frame_array(color_disparity(field.result(0), {min, max, show_invalid}));
      },
      arg("disparity").none(), arg("min") = 0.0f, arg("max") = 0.0f, nb::kw_only(),
      arg("show_invalid") = false,
      signature("color_disparity(disparity: typing.Any, min: float = 0, max: float = 0, *, show_invalid: "
                "bool = False)"),
      "A picture of disparities: H x W x 3, RGB, from blue (far) to red (near).\n\n"
      "`disparity` is a DisparityField or an array H x W. `min` and `max` are the disparities of the first "
      "and the last color, px; 0, 0 = the range of the valid pixels. Pixels that are not valid are black.");
  module.def(
      "draw_arrows",
      [](nb::handle frame, nb::handle flow, int step, float scale) {
        const FrameStack picture = read_host_frame(frame, "frame");
        const Field<Flow> field = field_of<Flow>(flow, "flow");
        return frame_array(draw_arrows(picture.first, field.result(0), {step, scale}));
      },
      arg("frame").none(), arg("flow").none(), arg("step") = 16, arg("scale") = 0.0f,
      signature("draw_arrows(frame: typing.Any, flow: typing.Any, step: int = 16, scale: float = 0)"),
      "The frame with arrows along its flow: H x W x 3, RGB.\n\n"
      "There is an arrow at every `step`th pixel. `scale` is its length / the flow's; 0 = the longest arrow "
      "is `step` px long.");
  module.def(
      "arrow_scale",
      [](nb::handle flow, int step) { return arrow_scale(field_of<Flow>(flow, "flow").result(0), step); },
      arg("flow").none(), arg("step") = 16,
      nb::sig("def arrow_scale(flow: typing.Any, step: int = 16) -> float"),
      "Scale with which draw_arrows makes the longest arrow `step` px long.\n\n"
      "It is 1 if nothing moves. Give pictures of a sequence one scale, so that their arrows can be "
      "compared.");
  module.def(
      "with_scale_arrow",
      [](nb::handle picture, float length, const std::string& label) {
        return frame_array(with_scale_arrow(read_host_frame(picture, "picture").first, length, label));
      },
      arg("picture").none(), arg("length"), arg("label"),
      signature("with_scale_arrow(picture: typing.Any, length: float, label: str)"),
      "The picture with an arrow of `length` px in its lower left corner, and a label beside it.\n\n"
      "The label says what an arrow of that length stands for, as \"20 m/s\". A picture that is too small "
      "stays as it is.");
  module.def(
      "overlay_mask",
      [](nb::handle frame, nb::handle mask) {
        const FrameStack picture = read_host_frame(frame, "frame");
        const Field<Detection> field = field_of<Detection>(mask, "mask");
        return frame_array(overlay_mask(picture.first, field.result(0)));
      },
      arg("frame").none(), arg("mask").none(), signature("overlay_mask(frame: typing.Any, mask: typing.Any)"),
      "The frame, tinted red where the mask is true: H x W x 3, RGB.");
  module.def(
      "beside",
      [](nb::handle left, nb::handle right) {
        const FrameStack first = read_host_frame(left, "left"), second = read_host_frame(right, "right");
        return frame_array(beside(first.first, second.first));
      },
      arg("left").none(), arg("right").none(), signature("beside(left: typing.Any, right: typing.Any)"),
      "Two pictures side by side.");
}

}  // namespace parafield::python
