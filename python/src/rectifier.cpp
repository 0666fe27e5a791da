// SPDX-License-Identifier: MIT
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <mutex>

#include "cameras.hpp"
#include "estimation.hpp"
#include "found_disparities.hpp"
#include "pictures.hpp"
#include "signatures.hpp"
#include "structs.hpp"

namespace parafield::python {
namespace {

const char* const rectify_doc = R"(Undistorts and rectifies a pair of a calibrated stereo camera.

Parameters
----------
left, right : arrays H x W, H x W x 3 or H x W x 4
    Images of one size, both gray or both in color. axes, range, channels, device and threads are as in
    estimate_flow.
calibration : StereoCalibration or path
    For a path, read_calibration reads the file.
alpha : 0 to 1
    With 0, all pixels of the views lie inside the images; with 1, the views show the whole images.

The views are float32, with the frames' range and order of axes, gray or RGB. Pixels outside the images are
NaN. Each call computes the tables anew; for many pairs make a Rectifier. Raises Error.)";

const char* const rectifier_doc = R"(Undistorts and rectifies many pairs of one size.

Arguments are as in rectify. `shape` is (height, width); it can be left out if the calibration has it. `device`
is by default the best one. `plan` is the views to make instead of plan_rectification's, such as R and P of
ROS's camera_info; alpha is then ignored. The tables are computed once. Calls of several threads take turns.
On a CUDA device a call waits for the frames and returns when the views are complete.)";

const char* const alignment_doc =
    R"(How well the rows of a stereo pair are aligned, measured by tracking features.

dy is the row of a match in the right image minus its row in the left image, px. If there are fewer than 20
tracks, all values but `tracks` are NaN.)";

const char* const check_doc = R"(Warns if something seems to be wrong with a pair.

Each problem gives a PairWarning: the views are swapped, the rows are not aligned, or the pair needs more than
`disparities` (0 means that the number is found). `min_disparity` is the least
disparity. The other arguments are as in estimate_flow. The check takes about as long as estimate_disparity
with preset="fast". Raises Error.)";

/// Both views as arrays, with the range and geometry needed to compute disparities and points from them.
struct Views {
  nb::object left, right;
  std::pair<float, float> range;
  StereoGeometry geometry;
};

/// A rectifier as Python sees it.
class PythonRectifier {
 public:
  PythonRectifier(const StereoCalibration& calibration, Size size, const Device& device, double alpha,
                  const std::optional<Rectification>& plan = {})
      : device_(device), rectifier_(made(calibration, size, device, alpha, plan)) {}
  ~PythonRectifier() {
    if (forks_ != forks()) rectifier_.release();  // its threads are in the parent process
    const nb::gil_scoped_release released;
    rectifier_.reset();
  }

  Views call(nb::handle left, nb::handle right, const FrameLayout& layout) {
    return call(read_pair(left, right, layout, "a Rectifier"), layout);
  }
  Views call(const std::vector<FrameStack>& frames, const FrameLayout& layout) {
    if (forks_ != forks())
      fail("the rectifier belongs to the process that forked this one; make one in this process");
    const Array& array = frames[0].array;
    if (!array.memory.on_host() && device_ != Device::cuda(array.memory.device))
      fail("left is on cuda:", array.memory.device, ", the rectifier works on ", to_string(device_));
    const Size size = frames[0].first.size();
    const PixelFormat format =
        channels(frames[0].first.format) == 1 ? PixelFormat::gray_f32 : PixelFormat::rgb_f32;
    // Allocate before synchronize(), because pending work of the arrays' library may still use the memory.
    NewFrame views[] = {{array, size, format}, {array, size, format}};
    {
      const nb::gil_scoped_release released;
      const std::lock_guard lock(mutex_);
      if (!array.memory.on_host()) synchronize(device_, Stream{array.stream});
      const RectifiedPair& pair = (*rectifier_)(frames[0].first, frames[1].first);
      rectifier_->synchronize();
      views[0].take(pair.left);
      views[1].take(pair.right);
    }
    const ValueRange range = frames[0].first.range;
    const bool first = layout.axes == "chw";
    return {views[0].array(first), views[1].array(first), {range.black, range.white}, plan().geometry};
  }

  const Rectification& plan() const { return rectifier_->plan(); }
  const RectifiedRegion& region() const { return rectifier_->region(); }
  const Device& device() const { return device_; }

 private:
  static std::unique_ptr<Rectifier> made(const StereoCalibration& calibration, Size size,
                                         const Device& device, double alpha,
                                         const std::optional<Rectification>& plan) {
    const nb::gil_scoped_release released;
    return std::make_unique<Rectifier>(calibration, size,
                                       RectifierOptions{.device = device, .alpha = alpha, .plan = plan});
  }

  Device device_;
  std::unique_ptr<Rectifier> rectifier_;
  std::mutex mutex_;
  const int forks_ = forks();
};

void bind_rectifier(nb::module_& module) {
  nb::class_<Views> pair(module, "RectifiedPair", "Both views of rectify().");
  pair.def_ro("left", &Views::left, nb::sig("def left(self) -> typing.Any"),
              "float32, H x W or H x W x 3. NaN outside the image.")
      .def_ro("right", &Views::right, nb::sig("def right(self) -> typing.Any"), "As `left`.")
      .def_ro("range", &Views::range, "Values of black and white in both views, for estimate_disparity.")
      .def_ro("geometry", &Views::geometry, "The cameras of the views, for points_of.");
  bind_fields_state(pair, &Views::left, &Views::right, &Views::range, &Views::geometry);
  nb::class_<PythonRectifier> type(module, "Rectifier", rectifier_doc);
  define<
      "__init__(self, calibration, shape, device, *, alpha: float = 0, threads, plan: Rectification | None = "
      "None) -> None">(type, [](PythonRectifier* self, nb::handle calibration, nb::handle shape,
                                nb::handle device, double alpha, nb::handle threads,
                                const std::optional<Rectification>& plan) {
    const int count = read_threads(threads);
    const std::optional<Device> asked = read_device(device, count);
    Device used = asked ? *asked : Device::best();
    if (used.kind == Device::Kind::cpu) used.threads = count;
    new (self) PythonRectifier(read_calibration_argument(calibration), read_shape(shape), used, alpha, plan);
  });
  define<"__call__(self, left, right, *, axes, range, channels) -> RectifiedPair">(
      type,
      [](PythonRectifier& self, nb::handle left, nb::handle right, nb::handle axes, nb::handle range,
         nb::handle channels) { return self.call(left, right, read_layout(axes, range, channels)); },
      "The views of a pair: new arrays of the frames' library.");
  type.def_prop_ro(
          "plan", [](const PythonRectifier& self) { return self.plan(); },
          "Shape, cameras and rotations of the views.")
      .def_prop_ro(
          "region",
          [](const PythonRectifier& self) {
            return nb::make_tuple(mask_array(self.region().left), mask_array(self.region().right));
          },
          signature("region(self) -> tuple[array[bool_], array[bool_]]"),
          "The pixels of the left and the right view that lie inside their images: bool, H x W.")
      .def_prop_ro(
          "device", [](const PythonRectifier& self) { return to_string(self.device()); },
          "The device, such as \"cpu\" or \"cuda:0\".")
      .def("__repr__", [](const PythonRectifier& self) {
        return "<parafield.Rectifier " + size_text(self.plan().size) + ", " + to_string(self.device()) + ">";
      });
  define<
      "rectify(left, right, calibration, device, *, alpha: float = 0, axes, range, channels, threads) "
      "-> RectifiedPair">(
      module,
      [](nb::handle left, nb::handle right, nb::handle calibration, nb::handle device, double alpha,
         nb::handle axes, nb::handle range, nb::handle channels, nb::handle threads) {
        const FrameLayout layout = read_layout(axes, range, channels);
        const PlacedPair pair(left, right, device, threads, layout, "rectify");
        PythonRectifier rectifier(read_calibration_argument(calibration), pair.frames[0].first.size(),
                                  pair.device, alpha);
        return rectifier.call(pair.frames, layout);
      },
      rectify_doc);
}

void bind_alignment(nb::module_& module) {
  nb::class_<RowAlignment> type(module, "RowAlignment", alignment_doc);
  using Rows = RowAlignment;
  bind_members(type, "RowAlignment", StructField("tracks", &Rows::tracks, "Number of tracks that are used."),
               StructField("median_dy", &Rows::median_dy, "px."),
               StructField("median_error", &Rows::median_error, "Median of |dy|, px."),
               StructField("error_90", &Rows::error_90, "90 % of the tracks have a smaller |dy|, px."),
               StructField("above_1", &Rows::above_1, "Share, 0 to 1, of the tracks with |dy| > 1 px."),
               StructField("rotation", &Rows::rotation,
                           "Clockwise rotation of the right image against the left one, degrees."),
               StructField("scale", &Rows::scale,
                           "How much taller the right image appears than the left one, as a share."),
               StructField("least_disparity", &Rows::least_disparity,
                           "5 % of the tracks have a smaller disparity, px."),
               StructField("largest_disparity", &Rows::largest_disparity,
                           "5 % of the tracks have a larger disparity, px."));
  define<"measure_row_alignment(left, right, device, *, axes, range, channels, threads) -> RowAlignment">(
      module,
      [](nb::handle left, nb::handle right, nb::handle device, nb::handle axes, nb::handle range,
         nb::handle channels, nb::handle threads) {
        const PlacedPair pair(left, right, device, threads, read_layout(axes, range, channels),
                              "measure_row_alignment");
        const nb::gil_scoped_release released;
        pair.wait();
        return measure_row_alignment(pair.frames[0].first, pair.frames[1].first, pair.device);
      },
      "How well the rows of a pair are aligned, which tells whether it is rectified.\n\n"
      "Features are tracked from the left image to the right one and back. Arguments are as in "
      "estimate_flow. "
      "Raises Error.");
  define<
      "check_pair(left, right, disparities: int = 0, min_disparity: int = 0, device, *, axes, range, "
      "channels, threads) -> None">(
      module,
      [](nb::handle left, nb::handle right, nb::handle disparities, nb::handle min_disparity,
         nb::handle device, nb::handle axes, nb::handle range, nb::handle channels, nb::handle threads) {
        const int count = read_whole_number(disparities, "disparities", 0, 4096),
                  least = read_whole_number(min_disparity, "min_disparity", -4096, 4096);
        const PlacedPair pair(left, right, device, threads, read_layout(axes, range, channels), "check_pair");
        const auto texts = [&] {
          const nb::gil_scoped_release released;
          pair.wait();
          const Frame &first = pair.frames[0].first, &second = pair.frames[1].first;
          return pair_warnings(examine_pair(first, second, least),
                               measure_row_alignment(first, second, pair.device), count);
        }();
        for (const std::string& text : texts) warn_of_pair(text);
      },
      check_doc);
}

}  // namespace

std::vector<FrameStack> read_pair(nb::handle first, nb::handle second, const FrameLayout& layout,
                                  const char* who, const std::array<const char*, 2>& names) {
  if (layout.axes.starts_with('n'))
    fail("axes cannot be '", layout.axes, "': ", who, " takes single frames, no stacks");
  std::vector<FrameStack> frames = {read_frames(first, names[0], layout),
                                    read_frames(second, names[1], layout)};
  for (const FrameStack& frame : frames)
    if (frame.stacked) fail(frame.array.name, " is a stack; ", who, " takes single frames");
  match(frames, layout);
  return frames;
}

PlacedPair::PlacedPair(nb::handle first, nb::handle second, nb::handle asked, nb::handle threads,
                       const FrameLayout& layout, const char* who, const std::array<const char*, 2>& names)
    : frames(read_pair(first, second, layout, who, names)) {
  const int count = read_threads(threads);
  device = device_for(read_device(asked, count), count, frames[0]);
}

void PlacedPair::wait() const {
  const Array& array = frames[0].array;
  if (!array.memory.on_host()) synchronize(device, Stream{array.stream});
}

void bind_rectification(nb::module_& module) {
  bind_rectifier(module);
  bind_alignment(module);
}

}  // namespace parafield::python
