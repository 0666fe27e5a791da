// SPDX-License-Identifier: MIT
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <mutex>

#include "cameras.hpp"
#include "estimation.hpp"
#include "found_disparities.hpp"
#include "new_frame.hpp"
#include "pictures.hpp"
#include "states.hpp"
#include "texts.hpp"

namespace parafield::python {
namespace {

const char* const rectify_doc = R"(Undistorts and rectifies a pair of a calibrated stereo camera.

Parameters
----------
left, right : arrays H x W, H x W x 3 or H x W x 4
    Images of one size, both gray or both in color. axes, range, channels, device and threads are those of
    estimate_flow.
calibration : StereoCalibration or path
    Of a path, what read_calibration reads there.
alpha : 0 to 1
    How much the views show: 0 = all their pixels lie in the images, 1 = the whole images.

The views are float32, in the frames' range and order of axes, gray or RGB. Pixels that show nothing of their
image are NaN. The tables of the places that pixels show are made in each call: for many pairs make a
Rectifier. Raises Error.)";

const char* const rectifier_doc = R"(Undistorts and rectifies many pairs of one size.

Arguments are those of rectify. `shape` is (height, width); it is not needed where the calibration has it.
`device` is the best one if it is not given. Tables are made once. Calls of several threads take turns. On a
CUDA device a call waits for the frames and returns when the views are complete.)";

const char* const alignment_doc = R"(How well the rows of a stereo pair are aligned, from tracks of features.

dy is the row of a match in the right image - its row in the left one, px. All but `tracks` are NaN where
there are fewer than 20.)";

const char* const check_doc = R"(Warns of what seems to be wrong with a pair.

Each is a PairWarning: the views are swapped, the rows are not aligned, or `disparities` are too few for the
pair (0 = their number is found). `min_disparity` is the least disparity. The other arguments are those of
estimate_flow. It takes about as long as estimate_disparity with preset="fast". Raises Error.)";

/// Both views as arrays, with the range and geometry needed to compute disparities and points from them.
struct Views {
  nb::object left, right;
  std::pair<float, float> range;
  StereoGeometry geometry;
};

/// A rectifier as Python sees it.
class PythonRectifier {
 public:
  PythonRectifier(const StereoCalibration& calibration, Size size, const Device& device, double alpha)
      : device_(device), rectifier_(made(calibration, size, device, alpha)) {}
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
                                         const Device& device, double alpha) {
    const nb::gil_scoped_release released;
    return std::make_unique<Rectifier>(calibration, size, RectifierOptions{.device = device, .alpha = alpha});
  }

  Device device_;
  std::unique_ptr<Rectifier> rectifier_;
  std::mutex mutex_;
  const int forks_ = forks();
};

/// The frames of a pair, and the device that processes them.
struct PlacedPair {
  std::vector<FrameStack> frames;
  Device device;

  PlacedPair(nb::handle left, nb::handle right, nb::handle asked, nb::handle threads,
             const FrameLayout& layout, const char* who)
      : frames(read_pair(left, right, layout, who)) {
    const int count = read_threads(threads);
    device = device_for(read_device(asked, count), count, frames[0]);
  }

  /// Waits until frames on a device are complete. Does not need the GIL.
  void wait() const {
    const Array& array = frames[0].array;
    if (!array.memory.on_host()) synchronize(device, Stream{array.stream});
  }
};

/// Returns a signature's text, including the arguments that all functions of pairs have.
std::string with_layout(const std::string& head, const std::string& more, const std::string& result) {
  return "def " + head + ", *, " + more +
         "axes: typing.Literal[\"hw\", \"hwc\", \"chw\"] | None = None, range: tuple[float, float] | None "
         "= None, channels: typing.Literal[\"rgb\", \"bgr\"] | None = None, threads: int | None = None) -> " +
         result;
}

void bind_rectifier(nb::module_& module) {
  nb::class_<Views> pair(module, "RectifiedPair", "Both views of rectify().");
  pair.def_ro("left", &Views::left, nb::sig("def left(self) -> typing.Any"),
              "float32, H x W or H x W x 3. NaN where it shows nothing of the image.")
      .def_ro("right", &Views::right, nb::sig("def right(self) -> typing.Any"), "Likewise.")
      .def_ro("range", &Views::range, "Black and white in both views, as estimate_disparity takes them.")
      .def_ro("geometry", &Views::geometry, "The cameras of the views, as points_of takes them.");
  bind_fields_state(pair, &Views::left, &Views::right, &Views::range, &Views::geometry);
  const nb::none none;
  nb::class_<PythonRectifier>(module, "Rectifier", rectifier_doc)
      .def(
          "__init__",
          [](PythonRectifier* self, nb::handle calibration, nb::handle shape, nb::handle device, double alpha,
             nb::handle threads) {
            const int count = read_threads(threads);
            const std::optional<Device> asked = read_device(device, count);
            Device used = asked ? *asked : Device::best();
            if (used.kind == Device::Kind::cpu) used.threads = count;
            new (self) PythonRectifier(read_calibration_argument(calibration),
                                       size_or_none(read_shape(shape)), used, alpha);
          },
          nb::arg("calibration").none(), nb::arg("shape") = none, nb::arg("device") = none, nb::kw_only(),
          nb::arg("alpha") = 0.0, nb::arg("threads") = none,
          nb::sig("def __init__(self, calibration: StereoCalibration | str | os.PathLike[str], shape: "
                  "tuple[int, int] | None = None, device: str | None = None, *, alpha: float = 0, threads: "
                  "int | None = None) -> None"))
      .def(
          "__call__",
          [](PythonRectifier& self, nb::handle left, nb::handle right, nb::handle axes, nb::handle range,
             nb::handle channels) { return self.call(left, right, read_layout(axes, range, channels)); },
          nb::arg("left").none(), nb::arg("right").none(), nb::kw_only(), nb::arg("axes") = none,
          nb::arg("range") = none, nb::arg("channels") = none,
          nb::sig("def __call__(self, left: typing.Any, right: typing.Any, *, axes: typing.Literal[\"hw\", "
                  "\"hwc\", \"chw\"] | None = None, range: tuple[float, float] | None = None, channels: "
                  "typing.Literal[\"rgb\", \"bgr\"] | None = None) -> RectifiedPair"),
          "The views of a pair, in memory of their own, of the frames' library.")
      .def_prop_ro(
          "plan", [](const PythonRectifier& self) { return self.plan(); },
          "Shape, cameras and rotations of the views.")
      .def_prop_ro(
          "region",
          [](const PythonRectifier& self) {
            return nb::make_tuple(mask_array(self.region().left), mask_array(self.region().right));
          },
          nb::sig("def region(self) -> tuple[numpy.typing.NDArray[numpy.bool_], "
                  "numpy.typing.NDArray[numpy.bool_]]"),
          "Where the left and the right view show something of their images: bool, H x W.")
      .def_prop_ro(
          "device", [](const PythonRectifier& self) { return to_string(self.device()); },
          "The device, such as \"cpu\" or \"cuda:0\".")
      .def("__repr__", [](const PythonRectifier& self) {
        const Size size = self.plan().size;
        return "<parafield.Rectifier " + std::to_string(size.height) + " x " + std::to_string(size.width) +
               ", " + to_string(self.device()) + ">";
      });
  static const std::string signature = with_layout(
      "rectify(left: typing.Any, right: typing.Any, calibration: StereoCalibration | str | "
      "os.PathLike[str], device: str | None = None",
      "alpha: float = 0, ", "RectifiedPair");
  module.def(
      "rectify",
      [](nb::handle left, nb::handle right, nb::handle calibration, nb::handle device, double alpha,
         nb::handle axes, nb::handle range, nb::handle channels, nb::handle threads) {
        const FrameLayout layout = read_layout(axes, range, channels);
        const PlacedPair pair(left, right, device, threads, layout, "rectify");
        PythonRectifier rectifier(read_calibration_argument(calibration), pair.frames[0].first.size(),
                                  pair.device, alpha);
        return rectifier.call(pair.frames, layout);
      },
      nb::arg("left").none(), nb::arg("right").none(), nb::arg("calibration").none(),
      nb::arg("device") = none, nb::kw_only(), nb::arg("alpha") = 0.0, nb::arg("axes") = none,
      nb::arg("range") = none, nb::arg("channels") = none, nb::arg("threads") = none,
      nb::sig(signature.c_str()), rectify_doc);
}

void bind_alignment(nb::module_& module) {
  nb::class_<RowAlignment> type(module, "RowAlignment", alignment_doc);
  type.def_ro("tracks", &RowAlignment::tracks, "Number of tracks that are used.")
      .def_ro("median_dy", &RowAlignment::median_dy, "px.")
      .def_ro("median_error", &RowAlignment::median_error, "Median of |dy|, px.")
      .def_ro("error_90", &RowAlignment::error_90, "90 % of the tracks have a smaller |dy|, px.")
      .def_ro("above_1", &RowAlignment::above_1, "Share, 0 to 1, of the tracks with |dy| > 1 px.")
      .def_ro("rotation", &RowAlignment::rotation,
              "Degrees by which the right image is turned, clockwise, against the left one.")
      .def_ro("scale", &RowAlignment::scale,
              "By how much more rows the right image is taller than the left one, as a share.")
      .def_ro("least_disparity", &RowAlignment::least_disparity,
              "5 % of the tracks have a smaller disparity, px.")
      .def_ro("largest_disparity", &RowAlignment::largest_disparity,
              "5 % of the tracks have a larger disparity, px.")
      .def("__repr__", [](const RowAlignment& self) {
        return joined("RowAlignment", {named("tracks", self.tracks), named("median_error", self.median_error),
                                       named("error_90", self.error_90), named("rotation", self.rotation)});
      });
  using Rows = RowAlignment;
  bind_fields_state(type, &Rows::tracks, &Rows::median_dy, &Rows::median_error, &Rows::error_90,
                    &Rows::above_1, &Rows::rotation, &Rows::scale, &Rows::least_disparity,
                    &Rows::largest_disparity);
  const nb::none none;
  static const std::string measure_signature =
      with_layout("measure_row_alignment(left: typing.Any, right: typing.Any, device: str | None = None", "",
                  "RowAlignment");
  module.def(
      "measure_row_alignment",
      [](nb::handle left, nb::handle right, nb::handle device, nb::handle axes, nb::handle range,
         nb::handle channels, nb::handle threads) {
        const PlacedPair pair(left, right, device, threads, read_layout(axes, range, channels),
                              "measure_row_alignment");
        const nb::gil_scoped_release released;
        pair.wait();
        return measure_row_alignment(pair.frames[0].first, pair.frames[1].first, pair.device);
      },
      nb::arg("left").none(), nb::arg("right").none(), nb::arg("device") = none, nb::kw_only(),
      nb::arg("axes") = none, nb::arg("range") = none, nb::arg("channels") = none, nb::arg("threads") = none,
      nb::sig(measure_signature.c_str()),
      "How well the rows of a pair are aligned: whether it is rectified.\n\n"
      "Features are tracked from the left image to the right one and back. Arguments are those of "
      "estimate_flow. Raises Error.");
  static const std::string check_signature = with_layout(
      "check_pair(left: typing.Any, right: typing.Any, disparities: int = 0, min_disparity: int = 0, "
      "device: str | None = None",
      "", "None");
  module.def(
      "check_pair",
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
      nb::arg("left").none(), nb::arg("right").none(), nb::arg("disparities") = 0,
      nb::arg("min_disparity") = 0, nb::arg("device") = none, nb::kw_only(), nb::arg("axes") = none,
      nb::arg("range") = none, nb::arg("channels") = none, nb::arg("threads") = none,
      nb::sig(check_signature.c_str()), check_doc);
}

}  // namespace

std::vector<FrameStack> read_pair(nb::handle left, nb::handle right, const FrameLayout& layout,
                                  const char* who) {
  if (layout.axes.starts_with('n')) fail("axes cannot be '", layout.axes, "': ", who, " takes single frames");
  std::vector<FrameStack> frames = {read_frames(left, "left", layout), read_frames(right, "right", layout)};
  match(frames, layout);
  return frames;
}

void bind_rectification(nb::module_& module) {
  bind_rectifier(module);
  bind_alignment(module);
}

}  // namespace parafield::python
