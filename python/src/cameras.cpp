// SPDX-License-Identifier: MIT
#include "cameras.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <parafield/io.hpp>

#include "fields.hpp"
#include "signatures.hpp"
#include "structs.hpp"

namespace parafield::python {
namespace {

using Path = std::filesystem::path;

const char* const camera_doc = R"(A camera: focal lengths and principal point, px, and lens distortion.

`distortion` has 4, 5 or 8 coefficients, as in OpenCV: k1, k2, p1, p2, k3, k4, k5, k6; missing ones are 0. With
`fisheye`, it has 4, as in OpenCV's fisheye model: k1, k2, k3, k4. The center of the first pixel is at
(0, 0).)";

const char* const calibration_doc =
    R"(Calibration of a stereo camera, as OpenCV's stereoCalibrate computes it.

A point at X in the left camera's coordinates is at R X + T in the right camera's. `rotation` is R, 3 x 3, and
`translation` is T, 3 values, in any unit; baseline, depths and points have the same unit. `shape` is the height
and width of the images that were calibrated. `rectified` means that the images are rectified already, like
Middlebury's. read_calibration reads files. Values are checked where the calibration is used.)";

const char* const from_opencv_doc = R"(Makes a calibration from arrays, with OpenCV's names.

K1 and K2 are 3 x 3 matrices. D1 and D2 have 4, 5 or 8 distortion coefficients (or 12 or 14, if those after the
eighth are 0), or 4 of `cv2.fisheye` with `fisheye=True`. By default, 4 coefficients in a column are taken for
fisheye lenses and 4 in a row for perspective ones, with a PairWarning. R is 3 x 3, and T has 3 values. `shape` is
(height, width), whereas OpenCV has (width, height).)";

/// Reads the values of an argument, row by row. Throws Error(invalid_argument) unless their number is one of
/// `counts`.
std::vector<double> read_values(nb::handle object, const std::string& name,
                                const std::vector<std::size_t>& counts, const char* expected) {
  const nb::object array = as_plane(object, name, "float64");
  const auto size = nb::cast<std::size_t>(array.attr("size"));
  if (std::ranges::find(counts, size) == counts.end())
    fail(name, " has the shape ", str_text(array.attr("shape")), "; expected ", expected);
  const double* const first = data_of<double>(array);
  return {first, first + size};
}

LensCoefficients read_coefficients(nb::handle object, const std::string& name) {
  std::vector<double> values = read_values(object, name, {0, 4, 5, 8, 12, 14}, "4, 5 or 8 coefficients");
  if (std::any_of(values.begin() + std::min<std::ptrdiff_t>(8, std::ssize(values)), values.end(),
                  [](double value) { return value != 0; }))
    fail(name, " has ", values.size(), " coefficients; those after the eighth must be 0");
  const nb::object shape = as_plane(object, name, "float64").attr("shape");
  return {std::move(values), nb::len(shape) == 2 && shape[1].equal(nb::int_(1))};
}

CalibratedCamera read_camera(nb::handle matrix, int number) {
  const std::string name = "K" + std::to_string(number);
  const auto k = read_values(matrix, name, {9}, "3 x 3");
  if (k[1] != 0 || k[3] != 0 || k[6] != 0 || k[7] != 0 || k[8] != 1)
    fail(name, " is not fx 0 cx, 0 fy cy, 0 0 1");
  return {k[0], k[4], k[2], k[5]};
}

std::vector<double> values_of(const LensDistortion& lens) {
  if (lens.model == LensModel::fisheye) return {lens.k1, lens.k2, lens.k3, lens.k4};
  return {lens.k1, lens.k2, lens.p1, lens.p2, lens.k3, lens.k4, lens.k5, lens.k6};
}

/// Copies values into a NumPy array of float64.
nb::object array_of(const double* values, const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t side : shape) count *= side;
  const auto storage = make_host_storage(count * sizeof(double));
  std::copy(values, values + count, reinterpret_cast<double*>(storage->data));
  std::vector<std::int64_t> strides(shape.size(), 1);
  if (shape.size() == 2) strides[0] = std::int64_t(shape[1]);
  return array_in(storage, storage->data, nb::dtype<double>(), shape, strides);
}

nb::object matrix_of(const std::array<double, 9>& values) { return array_of(values.data(), {3, 3}); }

/// Everything that must be equal for two values to be equal: the arguments of the class's constructor.
nb::tuple state_of(const CalibratedCamera& camera) {
  return nb::make_tuple(camera.fx, camera.fy, camera.cx, camera.cy,
                        nb::tuple(nb::cast(values_of(camera.distortion))),
                        camera.distortion.model == LensModel::fisheye);
}
nb::tuple state_of(const StereoCalibration& c) {
  const auto list = [](const auto& values) {
    return nb::tuple(nb::cast(std::vector<double>(values.begin(), values.end())));
  };
  return nb::make_tuple(c.left, c.right, list(c.rotation), list(c.translation), shape_or_none(c.size),
                        c.rectified);
}

/// Makes objects of the class comparable, hashable and picklable.
template <class Value>
void bind_value(nb::class_<Value>& type) {
  bind_comparison(type, [](const Value& self) { return state_of(self); });
  type.def(
      "__reduce__",
      [](nb::handle self) { return nb::make_tuple(self.type(), state_of(nb::cast<const Value&>(self))); },
      nb::sig("def __reduce__(self) -> tuple[type, tuple[typing.Any, ...]]"));
}

/// Reads the rotation, the translation and the shape of a calibration.
StereoCalibration completed(StereoCalibration cameras, nb::handle rotation, const char* rotation_name,
                            nb::handle translation, const char* translation_name, nb::handle shape) {
  std::ranges::copy(read_values(rotation, rotation_name, {9}, "3 x 3"), cameras.rotation.begin());
  std::ranges::copy(read_values(translation, translation_name, {3}, "3 values"), cameras.translation.begin());
  cameras.size = read_shape(shape);
  return cameras;
}

void bind_camera(nb::module_& module) {
  nb::class_<CalibratedCamera> type(module, "CalibratedCamera", camera_doc);
  define<
      "__init__(self, fx: float, fy: float, cx: float, cy: float, distortion = (), fisheye: bool = False) -> "
      "None">(type, [](CalibratedCamera* self, double fx, double fy, double cx, double cy,
                       nb::handle distortion, bool fisheye) {
    StereoCalibration made;
    LensCoefficients lens = read_coefficients(distortion, "distortion");
    if (fisheye && lens.values.empty()) lens.values.resize(4);
    if (fisheye && lens.values.size() != 4)
      fail("distortion has ", lens.values.size(), " coefficients; a fisheye lens has 4");
    set_lenses(made, lens, lens, fisheye ? LensModel::fisheye : LensModel::perspective);
    new (self) CalibratedCamera{fx, fy, cx, cy, made.left.distortion};
  });
  type.def_ro("fx", &CalibratedCamera::fx)
      .def_ro("fy", &CalibratedCamera::fy)
      .def_ro("cx", &CalibratedCamera::cx)
      .def_ro("cy", &CalibratedCamera::cy)
      .def_prop_ro(
          "distortion",
          [](const CalibratedCamera& self) {
            const std::vector<double> values = values_of(self.distortion);
            return array_of(values.data(), {values.size()});
          },
          signature("distortion(self) -> array[float64]"),
          "k1, k2, p1, p2, k3, k4, k5, k6, as in OpenCV; of a fisheye lens k1, k2, k3, k4.")
      .def_prop_ro(
          "fisheye", [](const CalibratedCamera& self) { return self.distortion.model == LensModel::fisheye; },
          nb::sig("def fisheye(self) -> bool"), "Whether the lens has OpenCV's fisheye model.")
      .def_prop_ro(
          "matrix",
          [](const CalibratedCamera& self) {
            return matrix_of({self.fx, 0, self.cx, 0, self.fy, self.cy, 0, 0, 1});
          },
          signature("matrix(self) -> array[float64]"), "3 x 3: fx 0 cx, 0 fy cy, 0 0 1.")
      .def("__repr__", [](const CalibratedCamera& self) {
        return joined("CalibratedCamera",
                      {named("fx", self.fx), named("fy", self.fy), named("cx", self.cx), named("cy", self.cy),
                       named("distortion", nb::tuple(nb::cast(values_of(self.distortion)))),
                       named("fisheye", self.distortion.model == LensModel::fisheye)});
      });
  bind_value(type);
}

void bind_calibration(nb::module_& module) {
  nb::class_<StereoCalibration> type(module, "StereoCalibration", calibration_doc);
  define<
      "__init__(self, left: CalibratedCamera, right: CalibratedCamera, rotation, translation, shape, "
      "rectified: bool = False) -> None">(
      type, [](StereoCalibration* self, const CalibratedCamera& left, const CalibratedCamera& right,
               nb::handle rotation, nb::handle translation, nb::handle shape, bool rectified) {
        new (self) StereoCalibration(completed({.left = left, .right = right, .rectified = rectified},
                                               rotation, "rotation", translation, "translation", shape));
      });
  type.def_static(
          "from_opencv",
          [](nb::handle k1, nb::handle d1, nb::handle k2, nb::handle d2, nb::handle r, nb::handle t,
             nb::handle shape, std::optional<bool> fisheye) {
            StereoCalibration made =
                completed({.left = read_camera(k1, 1), .right = read_camera(k2, 2)}, r, "R", t, "T", shape);
            std::optional<LensModel> model;
            if (fisheye) model = *fisheye ? LensModel::fisheye : LensModel::perspective;
            set_lenses(made, read_coefficients(d1, "D1"), read_coefficients(d2, "D2"), model);
            if (!made.assumption.empty()) warn_of_pair(made.assumption);
            return made;
          },
          nb::arg("K1").none(), nb::arg("D1").none(), nb::arg("K2").none(), nb::arg("D2").none(),
          nb::arg("R").none(), nb::arg("T").none(), nb::arg("shape") = nb::none(),
          nb::arg("fisheye") = nb::none(),
          signature(
              "from_opencv(K1, D1, K2, D2, R, T, shape, fisheye: bool | None = None) -> StereoCalibration"),
          from_opencv_doc)
      .def_ro("left", &StereoCalibration::left)
      .def_ro("right", &StereoCalibration::right)
      .def_prop_ro(
          "rotation", [](const StereoCalibration& self) { return matrix_of(self.rotation); },
          signature("rotation(self) -> array[float64]"), "R, 3 x 3.")
      .def_prop_ro(
          "translation", [](const StereoCalibration& self) { return array_of(self.translation.data(), {3}); },
          signature("translation(self) -> array[float64]"), "T, 3 values.")
      .def_prop_ro(
          "shape", [](const StereoCalibration& self) { return shape_or_none(self.size); },
          nb::sig("def shape(self) -> tuple[int, int] | None"),
          "Height and width of the images; None if unknown.")
      .def_ro("rectified", &StereoCalibration::rectified)
      .def("__repr__", [](const StereoCalibration& self) {
        return joined("StereoCalibration",
                      {named("left", self.left), named("right", self.right),
                       named("rotation", matrix_of(self.rotation).attr("tolist")()),
                       named("translation", self.translation), named("shape", shape_or_none(self.size)),
                       named("rectified", self.rectified)});
      });
  bind_value(type);
}

void bind_plan(nb::module_& module) {
  using Geometry = StereoGeometry;
  nb::class_<Geometry> type(
      module, "StereoGeometry",
      "Geometry of a rectified pair.\n\n"
      "A pixel (x, y) of the left view with disparity d shows the point Z = focal * "
      "baseline / (d + doffs), X = (x - cx) * Z / focal, Y = (y - cy) * Z / focal. focal, "
      "cx, cy and doffs are px; doffs is how far the right view's principal point lies to "
      "the right of the left view's.");
  type.def(nb::init<double, double, double, double, double>(), nb::arg("focal"), nb::arg("baseline"),
           nb::arg("cx"), nb::arg("cy"), nb::arg("doffs") = 0.0);
  bind_members(type, "StereoGeometry", StructField("focal", &Geometry::focal),
               StructField("baseline", &Geometry::baseline), StructField("cx", &Geometry::cx),
               StructField("cy", &Geometry::cy), StructField("doffs", &Geometry::doffs));
  bind_comparison(type,
                  [](const Geometry& g) { return std::tuple(g.focal, g.baseline, g.cx, g.cy, g.doffs); });
  nb::class_<Rectification> plan(
      module, "Rectification",
      "The rotations and the geometry of both rectified views of a pair.\n\n"
      "`shape` is (height, width) of the views. The rotations, 3 x 3, are OpenCV's R1 "
      "and R2. A Rectifier checks the values.");
  define<
      "__init__(self, shape: tuple[int, int], geometry: StereoGeometry, left_rotation, right_rotation) -> "
      "None">(plan, [](Rectification* self, nb::handle shape, const Geometry& geometry, nb::handle left,
                       nb::handle right) {
    Rectification made{read_shape(shape), geometry, {}, {}};
    std::ranges::copy(read_values(left, "left_rotation", {9}, "3 x 3"), made.left_rotation.begin());
    std::ranges::copy(read_values(right, "right_rotation", {9}, "3 x 3"), made.right_rotation.begin());
    new (self) Rectification(made);
  });
  plan.def_prop_ro(
          "shape", [](const Rectification& self) { return shape_or_none(self.size); },
          nb::sig("def shape(self) -> tuple[int, int]"), "Height and width of both views.")
      .def_ro("geometry", &Rectification::geometry)
      .def_prop_ro(
          "left_rotation", [](const Rectification& self) { return matrix_of(self.left_rotation); },
          signature("left_rotation(self) -> array[float64]"),
          "OpenCV's R1, 3 x 3: a point at X in the left camera's coordinates is at R1 X in its rectified "
          "view's.")
      .def_prop_ro(
          "right_rotation", [](const Rectification& self) { return matrix_of(self.right_rotation); },
          signature("right_rotation(self) -> array[float64]"), "OpenCV's R2, 3 x 3.")
      .def("__repr__", [](const Rectification& self) {
        return joined("Rectification",
                      {named("shape", shape_or_none(self.size)), named("geometry", self.geometry)});
      });
  bind_state(
      plan,
      [](const Rectification& self) {
        return std::tuple(self.size.width, self.size.height, self.geometry, self.left_rotation,
                          self.right_rotation);
      },
      [](const auto& state) {
        const auto& [width, height, geometry, left, right] = state;
        return Rectification{{width, height}, geometry, left, right};
      });
  define<"plan_rectification(calibration, shape, alpha: float = 0) -> Rectification">(
      module,
      [](nb::handle calibration, nb::handle shape, double alpha) {
        return plan_rectification(read_calibration_argument(calibration), read_shape(shape), alpha);
      },
      "The views that rectify() makes for a calibration or a calibration file.\n\n"
      "Both cameras are rotated until the baseline is parallel to their rows (Bouguet's method, as in "
      "OpenCV's "
      "stereoRectify). With `alpha` 0, all pixels of both views lie inside the images; with 1, the views "
      "show "
      "the whole images.");
}

}  // namespace

StereoCalibration read_calibration_argument(nb::handle calibration) {
  if (nb::isinstance<StereoCalibration>(calibration)) return nb::cast<const StereoCalibration&>(calibration);
  Path path;
  if (!nb::try_cast(calibration, path))
    fail("calibration is of type ", type_text(calibration),
         "; it must be a StereoCalibration or the path of a file");
  const StereoCalibration read = read_calibration(path);
  if (!read.assumption.empty()) warn_of_pair(str_text(nb::cast(path)) + ": " + read.assumption);
  return read;
}

void bind_cameras(nb::module_& module) {
  bind_camera(module);
  bind_calibration(module);
  bind_plan(module);
}

}  // namespace parafield::python
