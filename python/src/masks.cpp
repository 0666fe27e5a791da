// SPDX-License-Identifier: MIT
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <parafield/boxes.hpp>
#include <parafield/masks.hpp>

#include "cameras.hpp"
#include "new_frame.hpp"
#include "pictures.hpp"

namespace parafield::python {
namespace {

const char* const filled_doc = R"(A copy of a frame whose pixels without a value are filled from those around.

Give estimators frames that are filled so, and mark_unknown their result: a thin line leaves almost no trace,
and a large region has almost no weight. `known` is an array H x W, false where the frame has no value; if it
is not given, these are the pixels that are NaN, infinite or masked (numpy.ma). The copy has the type and the
library of the frame; a masked array becomes float32. The frame is in host memory. Raises Error.)";

const char* const mark_doc = R"(A copy of a result, marked where the frames have no value.

`known0` and `known1` are arrays H x W for the two frames (of stereo: left and right), false where a frame has
no value; None = it has one everywhere. Where `known0` is false, flow or disparity become NaN, and valid and
confidence 0. Where a match has no value in the second frame, valid alone becomes 0. The result is one of a
single frame, in host memory. Raises Error.)";

const char* const boxes_doc = R"(Bounding boxes of the connected regions of a mask: an array N x 5, int32.

Its columns are x and y of the upper left pixel, width, height, and the number of the region's pixels. `mask` is
a MotionMask of one frame or an array H x W. A region is made of true pixels, joined with their 8 neighbors;
those of fewer than `min_area` pixels are left out. Boxes are in the order of the regions' first pixels, row by
row. Raises Error.)";

/// An argument that is a mask or None. Keeps the mask's memory alive.
struct Mask {
  std::optional<Field<Detection>> field;

  Mask(nb::handle mask, const std::string& name) {
    if (!mask.is_none()) field = field_of<Detection>(mask, name);
  }
  MaskView view() const {
    if (!field) return {};
    return {field->moving, field->size.width, field->size.height, field->size.width};
  }
};

nb::object known_array(const Frame& frame) {
  Image<std::uint8_t> known = known_pixels(frame);
  if (!known) {
    known = Image<std::uint8_t>(frame.size());
    for (int y = 0; y < frame.height; ++y) std::fill_n(known.view().row(y), frame.width, std::uint8_t(1));
  }
  return mask_array(known);
}

nb::object box_array(nb::handle mask, int min_area) {
  const Field<Detection> field = field_of<Detection>(mask, "mask");
  std::vector<Box> boxes;
  {
    const nb::gil_scoped_release released;
    boxes = find_boxes(field.result(0).moving, {.min_area = min_area});
  }
  const auto storage = make_host_storage(std::max<std::size_t>(1, boxes.size()) * sizeof(Box));
  std::copy(boxes.begin(), boxes.end(), reinterpret_cast<Box*>(storage->data));
  return array_in(storage, storage->data, nb::dtype<int>(), {boxes.size(), 5}, {5, 1});
}

template <class Task>
nb::object marked(nb::handle result, nb::handle known0, nb::handle known1) {
  const Mask first(known0, "known0"), second(known1, "known1");
  const auto& field = nb::cast<const Field<Task>&>(result);
  if (field.stacked) fail("result is a stack of ", field.count, " results; give one of them");
  if (!field.storage->memory.on_host())
    fail("result is on cuda:", field.storage->memory.device, "; its cpu() is a copy in host memory");
  Field<Task> copy = copied(field);
  typename Task::Result planes = copy.result(0);
  mark_unknown(planes, first.view(), second.view());
  return nb::cast(std::move(copy));
}

}  // namespace

void bind_masks(nb::module_& module) {
  using nb::arg;
  const nb::none none;
  const char* const axes = "axes: typing.Literal[\"hw\", \"hwc\", \"chw\"] | None = None";
  static const std::string known_signature = "def known_pixels(frame: typing.Any, *, " + std::string(axes) +
                                             ") -> numpy.typing.NDArray[numpy.bool_]";
  module.def(
      "known_pixels",
      [](nb::handle frame, nb::handle order) {
        return known_array(read_host_frame(frame, "frame", read_axes(order)).first);
      },
      arg("frame").none(), nb::kw_only(), arg("axes") = none, nb::sig(known_signature.c_str()),
      "Where a frame has a value: bool, H x W. It is false where a channel is NaN, infinite or masked "
      "(numpy.ma).");
  static const std::string filled_signature =
      "def filled(frame: typing.Any, known: typing.Any = None, *, " + std::string(axes) + ") -> typing.Any";
  module.def(
      "filled",
      [](nb::handle frame, nb::handle known, nb::handle order) {
        const FrameLayout layout = read_axes(order);
        const FrameStack read = read_host_frame(frame, "frame", layout);
        const Mask mask(known, "known");
        NewFrame copy(read.array, read.first.size(), read.first.format);
        {
          const nb::gil_scoped_release released;
          const Image<std::uint8_t> found =
              known.is_none() ? known_pixels(read.first) : Image<std::uint8_t>();
          copy.take(filled(read.first, found ? found.view() : mask.view()).frame());
        }
        return copy.array(layout.axes == "chw");
      },
      arg("frame").none(), arg("known") = none, nb::kw_only(), arg("axes") = none,
      nb::sig(filled_signature.c_str()), filled_doc);
  module.def(
      "mark_unknown",
      [](nb::handle result, nb::handle known0, nb::handle known1) {
        if (nb::isinstance<Field<Flow>>(result)) return marked<Flow>(result, known0, known1);
        if (nb::isinstance<Field<Stereo>>(result)) return marked<Stereo>(result, known0, known1);
        fail("result is of type ", type_text(result), "; it has to be a FlowField or a DisparityField");
      },
      arg("result").none(), arg("known0").none(), arg("known1") = none,
      nb::sig("def mark_unknown(result: _Result, known0: typing.Any, known1: typing.Any = None) -> _Result"),
      mark_doc);
  module.def("find_boxes", &box_array, arg("mask").none(), nb::kw_only(), arg("min_area") = 1,
             nb::sig("def find_boxes(mask: typing.Any, *, min_area: int = 1) -> "
                     "numpy.typing.NDArray[numpy.int32]"),
             boxes_doc);
}

}  // namespace parafield::python
