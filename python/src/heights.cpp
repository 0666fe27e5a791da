// SPDX-License-Identifier: MIT
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <parafield/heights.hpp>

#include "cameras.hpp"
#include "pictures.hpp"
#include "signatures.hpp"

namespace parafield::python {
namespace {

const char* const points_doc = R"(The points of a disparity field, and their colors.

Both are NumPy arrays. Points are N x 3, float32: x to the right, y down and z forward from the left camera,
in the unit of the baseline. Colors are N x 3, uint8: red, green and blue of the left view. Invalid pixels
give no point. `left` is the left view, in host memory; axes, range and channels are as in estimate_flow.
`geometry` is rectify()'s geometry, or any other. The finite values of depth_sigma_of are the standard
deviations of z, in the order of the points. Raises Error.)";

const char* const filter_doc = R"(Averages heights along the trajectories of motion.

For each frame call the filter with its heights, then move() it with the flow to the next frame. A
trajectory's mean covers about `frames` frames; 1 means no smoothing. A height that differs from the mean by
more than `tolerance` starts a new trajectory. Where a frame has no height, the result is the mean. `shape` is
(height, width).)";

nb::tuple point_arrays(const std::vector<ColorPoint>& points) {
  const std::size_t count = points.size(), least = std::max<std::size_t>(count, 1);
  const auto places = make_host_storage(least * 12), colors = make_host_storage(least * 3);
  auto* place = reinterpret_cast<float*>(places->data);
  auto* color = reinterpret_cast<std::uint8_t*>(colors->data);
  for (const ColorPoint& point : points) {
    *place++ = point.x, *place++ = point.y, *place++ = point.z;
    *color++ = point.red, *color++ = point.green, *color++ = point.blue;
  }
  return nb::make_tuple(array_in(places, places->data, nb::dtype<float>(), {count, 3}, {3, 1}),
                        array_in(colors, colors->data, nb::dtype<std::uint8_t>(), {count, 3}, {3, 1}));
}

/// Copy of an argument that is a plane of heights. The argument may be an array that a filter returned.
struct HeightPlane {
  Field<Stereo> field;

  explicit HeightPlane(nb::handle heights) : field(field_from<Stereo>({{heights, "heights"}})) {}
  View<const float> view() const {
    return {field.values, field.size.width, field.size.height, field.size.width * 4};
  }
};

}  // namespace

void bind_heights(nb::module_& module) {
  define<
      "points_of(disparity, left, geometry: StereoGeometry, *, axes, range, channels) -> "
      "tuple[array[float32], array[uint8]]">(
      module,
      [](nb::handle disparity, nb::handle left, const StereoGeometry& geometry, nb::handle axes,
         nb::handle range, nb::handle channels) {
        const Field<Stereo> field = field_of<Stereo>(disparity, "disparity");
        const FrameStack frame = read_host_frame(left, "left", read_layout(axes, range, channels));
        const auto points = [&] {
          const nb::gil_scoped_release released;
          return points_of(field.result(0), frame.first, geometry);
        }();
        return point_arrays(points);
      },
      points_doc);
  define<"height_of(disparity, scale: float, offset: float = 0) -> array[float32]">(
      module,
      [](nb::handle disparity, double scale, double offset) {
        return plane_array(
            height_of(field_of<Stereo>(disparity, "disparity").result(0), scale, offset).view());
      },
      "Heights, H x W: scale * d + offset, in any unit. NaN where the disparity is invalid.");
  nb::class_<HeightFilter> filter(module, "HeightFilter", filter_doc);
  define<"__init__(self, shape: tuple[int, int], frames: int = 4, tolerance: float = 1.0) -> None">(
      filter, [](HeightFilter* self, nb::handle shape, int frames, float tolerance) {
        new (self) HeightFilter(read_shape(shape), {frames, tolerance});
      });
  define<"__call__(self, heights) -> array[float32]">(
      filter,
      [](HeightFilter& self, nb::handle heights) { return plane_array(self(HeightPlane(heights).view())); },
      "Adds the heights of a frame, H x W, NaN where unknown. Returns the means.");
  define<"move(self, flow) -> None">(
      filter, [](HeightFilter& self, nb::handle flow) { self.move(field_of<Flow>(flow, "flow").result(0)); },
      "Moves the means to the next frame. A trajectory ends where the flow is unknown or invalid.");
}

}  // namespace parafield::python
