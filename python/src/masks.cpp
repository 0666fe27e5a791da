// SPDX-License-Identifier: MIT
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <parafield/boxes.hpp>
#include <parafield/masks.hpp>

#include "cameras.hpp"
#include "pictures.hpp"
#include "signatures.hpp"

namespace parafield::python {
namespace {

const char* const filled_doc =
    R"(A copy of a frame whose missing pixels are filled from the pixels around them.

Give filled frames to an estimator, and its result to mark_unknown. Thin lines then leave almost no trace, and
large regions have almost no weight. `known` is an array H x W, false where the frame has no value. By
default, pixels that are NaN, infinite or masked (numpy.ma) have no value. The copy has the frame's type and
library; a masked array becomes float32. The frame must be in host memory. Raises Error.)";

const char* const mark_doc = R"(A copy of a result that is marked where the frames have no value.

`known0` and `known1` are arrays H x W for the two frames (in stereo: left and right), false where a frame has
no value; None means that all pixels have one. Where `known0` is false, flow or disparity become NaN, and
valid and confidence 0. Where a match has no value in the second frame, only valid becomes 0. The result must
belong to a single frame and be in host memory. Raises Error.)";

const char* const boxes_doc = R"(Bounding boxes of the connected regions of a mask: an array N x 5, int32.

Its columns are x and y of the upper left pixel, width, height, and number of pixels of the region. `mask` is
a MotionMask of one frame or an array H x W. Regions consist of true pixels that are connected by any of their
8 neighbors; regions with fewer than `min_area` pixels are left out. Boxes are in the order of the regions'
first pixels, row by row. Raises Error.)";

nb::object known_array(const Frame& frame) {
  Image<std::uint8_t> known = known_pixels(frame);
  if (!known) {
    known = Image<std::uint8_t>(frame.size());
    for (int y = 0; y < frame.height; ++y) std::fill_n(known.view().row(y), frame.width, std::uint8_t(1));
  }
  return mask_array(known);
}

constexpr const char* range_doc = R"((black, white) of frames, found in the bulk of their values.

It is the range that estimate_flow and estimate_disparity use if none is given: hot pixels and values that
stand for missing ones do not decide it, and low contrast is stretched. Give it as `range` to all calls for a
camera's frames.

frames : array or list of arrays
    Frames of one type and size, or a stack, of which at most 16 frames decide. NaN and masked pixels are
    ignored. Frames on a CUDA device are waited for.
axes : "hw", "hwc", "chw", "nhw", "nhwc" or "nchw"
    As in estimate_flow.

Raises Error.)";

nb::object box_array(nb::handle mask, int min_area) {
  const Field<Detection> field = field_of<Detection>(mask, "mask");
  std::vector<Box> boxes;
  {
    const nb::gil_scoped_release released;
    boxes = find_boxes(field.result(0).moving, {.min_area = min_area});
  }
  return rows_array<int>(boxes);
}

template <class Task>
nb::object marked(nb::handle result, nb::handle known0, nb::handle known1) {
  const MaskArgument first(known0, "known0"), second(known1, "known1");
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
  define<
      "find_range(frames, *, axes: typing.Literal[\"hw\", \"hwc\", \"chw\", \"nhw\", \"nhwc\", \"nchw\"] "
      "| None = None) -> tuple[float, float]">(
      module,
      [](nb::handle frames, nb::handle order) {
        FrameLayout layout = read_axes(order);
        layout.stretches = true;
        std::vector<FrameStack> read;
        if (nb::isinstance<nb::list>(frames) || nb::isinstance<nb::tuple>(frames)) {
          for (const nb::handle frame : frames)
            read.push_back(read_frames(frame, "frames[" + std::to_string(read.size()) + "]", layout));
          if (read.empty()) fail("frames is an empty list");
        } else {
          read.push_back(read_frames(frames, "frames", layout));
        }
        match(read, layout);
        const ValueRange range = read[0].first.range;
        return nb::make_tuple(range.black, range.white);
      },
      range_doc);
  define<"known_pixels(frame, *, axes) -> array[bool_]">(
      module,
      [](nb::handle frame, nb::handle order) {
        return known_array(read_host_frame(frame, "frame", read_axes(order)).first);
      },
      "Where a frame has a value: bool, H x W. False where a channel is NaN, infinite or masked (numpy.ma).");
  define<"filled(frame, known = None, *, axes) -> typing.Any">(
      module,
      [](nb::handle frame, nb::handle known, nb::handle order) {
        const FrameLayout layout = read_axes(order);
        const FrameStack read = read_host_frame(frame, "frame", layout);
        const MaskArgument mask(known, "known");
        NewFrame copy(read.array, read.first.size(), read.first.format);
        {
          const nb::gil_scoped_release released;
          const Image<std::uint8_t> found =
              known.is_none() ? known_pixels(read.first) : Image<std::uint8_t>();
          copy.take(filled(read.first, found ? found.view() : mask.view()).frame());
        }
        return copy.array(layout.axes == "chw");
      },
      filled_doc);
  define<"mark_unknown(result: _Result, known0, known1 = None) -> _Result">(
      module,
      [](nb::handle result, nb::handle known0, nb::handle known1) {
        if (nb::isinstance<Field<Flow>>(result)) return marked<Flow>(result, known0, known1);
        if (nb::isinstance<Field<Stereo>>(result)) return marked<Stereo>(result, known0, known1);
        fail("result is of type ", type_text(result), "; it must be a FlowField or a DisparityField");
      },
      mark_doc);
  define<"find_boxes(mask, *, min_area: int = 1) -> array[int32]">(module, &box_array, boxes_doc);
}

}  // namespace parafield::python
