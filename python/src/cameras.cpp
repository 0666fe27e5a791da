// SPDX-License-Identifier: MIT
#include "cameras.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <parafield/io.hpp>

#include <algorithm>

#include "fields.hpp"
#include "states.hpp"
#include "texts.hpp"

namespace parafield::python {
namespace {

using Path = std::filesystem::path;

const char* const camera_doc = R"(A camera: its focal lengths and principal point, px, and its lens.

`distortion` has 4, 5 or 8 coefficients of OpenCV: k1, k2, p1, p2, k3, k4, k5, k6; others are 0. Pixels are
counted from (0, 0), the center of the first one.)";

const char* const calibration_doc = R"(Calibration of a stereo camera, as OpenCV's stereoCalibrate gives it.

A point at X from the left camera is at R X + T from the right one. `rotation` is R, 3 x 3, and `translation`
T, 3 values. T has the unit of all that follows from it: baseline, depths, points. `shape` is the height and
width of the images that were calibrated. `rectified` says that the images are rectified already, as
Middlebury's are. read_calibration reads files. Values are checked where the calibration is used.)";

const char* const from_opencv_doc = R"(The calibration of arrays, with OpenCV's names.

K1 and K2 are matrices, 3 x 3, D1 and D2 have 4, 5 or 8 coefficients of distortion (or 12 or 14, of which only
8 are not 0), R is 3 x 3, T has 3 values. `shape` is (height, width), where OpenCV has (width, height).)";

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

LensDistortion read_distortion(nb::handle object, const std::string& name) {
  std::vector<double> values = read_values(object, name, {0, 4, 5, 8, 12, 14}, "4, 5 or 8 coefficients");
  if (std::any_of(values.begin() + std::min<std::ptrdiff_t>(8, std::ssize(values)), values.end(),
                  [](double value) { return value != 0; }))
    fail(name, " has ", values.size(), " coefficients; those after the eighth have to be 0");
  values.resize(8);
  return {values[0], values[1], values[2], values[3], values[4], values[5], values[6], values[7]};
}

CalibratedCamera read_camera(nb::handle matrix, nb::handle distortion, int number) {
  const std::string name = "K" + std::to_string(number);
  const auto k = read_values(matrix, name, {9}, "3 x 3");
  if (k[1] != 0 || k[3] != 0 || k[6] != 0 || k[7] != 0 || k[8] != 1)
    fail(name, " is not fx 0 cx, 0 fy cy, 0 0 1");
  return {k[0], k[4], k[2], k[5], read_distortion(distortion, "D" + std::to_string(number))};
}

std::vector<double> values_of(const LensDistortion& lens) {
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

/// Everything that must be equal for two values to be equal.
nb::tuple state_of(const CalibratedCamera& camera) {
  return nb::make_tuple(camera.fx, camera.fy, camera.cx, camera.cy,
                        nb::tuple(nb::cast(values_of(camera.distortion))));
}
nb::tuple state_of(const StereoCalibration& c) {
  const auto list = [](const auto& values) {
    return nb::tuple(nb::cast(std::vector<double>(values.begin(), values.end())));
  };
  return nb::make_tuple(c.left, c.right, list(c.rotation), list(c.translation), shape_or_none(c.size),
                        c.rectified);
}
nb::tuple state_of(const StereoGeometry& g) {
  return nb::make_tuple(g.focal, g.baseline, g.cx, g.cy, g.doffs);
}

/// Makes objects of the class comparable, hashable and picklable. The constructor must take the state.
template <class Value>
void bind_value(nb::class_<Value>& type) {
  type.def(
          "__eq__",
          [](const Value& self, nb::handle other) {
            return nb::isinstance<Value>(other) &&
                   state_of(self).equal(state_of(nb::cast<const Value&>(other)));
          },
          nb::sig("def __eq__(self, other: object) -> bool"))
      .def("__hash__", [](const Value& self) { return nb::hash(state_of(self)); })
      .def(
          "__reduce__",
          [](nb::handle self) { return nb::make_tuple(self.type(), state_of(nb::cast<const Value&>(self))); },
          nb::sig("def __reduce__(self) -> tuple[type, tuple[typing.Any, ...]]"));
}

void bind_camera(nb::module_& module) {
  nb::class_<CalibratedCamera> type(module, "CalibratedCamera", camera_doc);
  type.def(
          "__init__",
          [](CalibratedCamera* self, double fx, double fy, double cx, double cy, nb::handle distortion) {
            new (self) CalibratedCamera{fx, fy, cx, cy, read_distortion(distortion, "distortion")};
          },
          nb::arg("fx"), nb::arg("fy"), nb::arg("cx"), nb::arg("cy"), nb::arg("distortion") = nb::tuple(),
          nb::sig(
              "def __init__(self, fx: float, fy: float, cx: float, cy: float, distortion: typing.Any = ()) "
              "-> None"))
      .def_ro("fx", &CalibratedCamera::fx)
      .def_ro("fy", &CalibratedCamera::fy)
      .def_ro("cx", &CalibratedCamera::cx)
      .def_ro("cy", &CalibratedCamera::cy)
      .def_prop_ro(
          "distortion",
          [](const CalibratedCamera& self) { return array_of(values_of(self.distortion).data(), {8}); },
          nb::sig("def distortion(self) -> numpy.typing.NDArray[numpy.float64]"),
          "k1, k2, p1, p2, k3, k4, k5, k6, as OpenCV has them.")
      .def_prop_ro(
          "matrix",
          [](const CalibratedCamera& self) {
            return matrix_of({self.fx, 0, self.cx, 0, self.fy, self.cy, 0, 0, 1});
          },
          nb::sig("def matrix(self) -> numpy.typing.NDArray[numpy.float64]"),
          "3 x 3: fx 0 cx, 0 fy cy, 0 0 1.")
      .def("__repr__", [](const CalibratedCamera& self) {
        return joined("CalibratedCamera",
                      {named("fx", self.fx), named("fy", self.fy), named("cx", self.cx), named("cy", self.cy),
                       "distortion=" + str_text(nb::repr(nb::tuple(nb::cast(values_of(self.distortion)))))});
      });
  bind_value(type);
}

void bind_calibration(nb::module_& module) {
  nb::class_<StereoCalibration> type(module, "StereoCalibration", calibration_doc);
  type.def(
          "__init__",
          [](StereoCalibration* self, const CalibratedCamera& left, const CalibratedCamera& right,
             nb::handle rotation, nb::handle translation, nb::handle shape, bool rectified) {
            StereoCalibration made{.left = left, .right = right, .rectified = rectified};
            std::ranges::copy(read_values(rotation, "rotation", {9}, "3 x 3"), made.rotation.begin());
            std::ranges::copy(read_values(translation, "translation", {3}, "3 values"),
                              made.translation.begin());
            made.size = size_or_none(read_shape(shape));
            new (self) StereoCalibration(made);
          },
          nb::arg("left"), nb::arg("right"), nb::arg("rotation").none(), nb::arg("translation").none(),
          nb::arg("shape") = nb::none(), nb::arg("rectified") = false,
          nb::sig("def __init__(self, left: CalibratedCamera, right: CalibratedCamera, rotation: typing.Any, "
                  "translation: typing.Any, shape: tuple[int, int] | None = None, rectified: bool = False) "
                  "-> None"))
      .def_static(
          "from_opencv",
          [](nb::handle k1, nb::handle d1, nb::handle k2, nb::handle d2, nb::handle r, nb::handle t,
             nb::handle shape) {
            StereoCalibration made{.left = read_camera(k1, d1, 1), .right = read_camera(k2, d2, 2)};
            std::ranges::copy(read_values(r, "R", {9}, "3 x 3"), made.rotation.begin());
            std::ranges::copy(read_values(t, "T", {3}, "3 values"), made.translation.begin());
            made.size = size_or_none(read_shape(shape));
            return made;
          },
          nb::arg("K1").none(), nb::arg("D1").none(), nb::arg("K2").none(), nb::arg("D2").none(),
          nb::arg("R").none(), nb::arg("T").none(), nb::arg("shape") = nb::none(),
          nb::sig("def from_opencv(K1: typing.Any, D1: typing.Any, K2: typing.Any, D2: typing.Any, R: "
                  "typing.Any, T: typing.Any, shape: tuple[int, int] | None = None) -> StereoCalibration"),
          from_opencv_doc)
      .def_ro("left", &StereoCalibration::left)
      .def_ro("right", &StereoCalibration::right)
      .def_prop_ro(
          "rotation", [](const StereoCalibration& self) { return matrix_of(self.rotation); },
          nb::sig("def rotation(self) -> numpy.typing.NDArray[numpy.float64]"), "R, 3 x 3.")
      .def_prop_ro(
          "translation", [](const StereoCalibration& self) { return array_of(self.translation.data(), {3}); },
          nb::sig("def translation(self) -> numpy.typing.NDArray[numpy.float64]"), "T, 3 values.")
      .def_prop_ro(
          "shape", [](const StereoCalibration& self) { return shape_or_none(self.size); },
          nb::sig("def shape(self) -> tuple[int, int] | None"),
          "Height and width of the images; None where it is not known.")
      .def_ro("rectified", &StereoCalibration::rectified)
      .def("__repr__", [](const StereoCalibration& self) {
        const auto cell = [](const nb::object& values) {
          return str_text(nb::repr(values.attr("tolist")()));
        };
        return joined("StereoCalibration", {"left=" + str_text(nb::repr(nb::cast(self.left))),
                                            "right=" + str_text(nb::repr(nb::cast(self.right))),
                                            "rotation=" + cell(matrix_of(self.rotation)),
                                            "translation=" + cell(array_of(self.translation.data(), {3})),
                                            "shape=" + str_text(nb::repr(shape_or_none(self.size))),
                                            named("rectified", self.rectified)});
      });
  bind_value(type);
}

void bind_plan(nb::module_& module) {
  nb::class_<StereoGeometry> type(module, "StereoGeometry",
                                  "Geometry of a rectified pair.\n\n"
                                  "A pixel (x, y) of the left view with disparity d shows the point Z = "
                                  "focal * baseline / (d + doffs), X = (x - cx) * Z / focal, Y = (y - cy) "
                                  "* Z / focal. focal, cx, cy and doffs are px; doffs is how far the right "
                                  "view's principal point lies to the right of the left view's.");
  type.def(nb::init<double, double, double, double, double>(), nb::arg("focal"), nb::arg("baseline"),
           nb::arg("cx"), nb::arg("cy"), nb::arg("doffs") = 0.0)
      .def_ro("focal", &StereoGeometry::focal)
      .def_ro("baseline", &StereoGeometry::baseline)
      .def_ro("cx", &StereoGeometry::cx)
      .def_ro("cy", &StereoGeometry::cy)
      .def_ro("doffs", &StereoGeometry::doffs)
      .def("__repr__", [](const StereoGeometry& self) {
        return joined("StereoGeometry",
                      {named("focal", self.focal), named("baseline", self.baseline), named("cx", self.cx),
                       named("cy", self.cy), named("doffs", self.doffs)});
      });
  bind_value(type);
  nb::class_<Rectification> plan(module, "Rectification", "How both views of a pair are rectified.");
  plan.def_prop_ro(
          "shape", [](const Rectification& self) { return shape_or_none(self.size); },
          nb::sig("def shape(self) -> tuple[int, int]"), "Height and width of both views.")
      .def_ro("geometry", &Rectification::geometry)
      .def_prop_ro(
          "left_rotation", [](const Rectification& self) { return matrix_of(self.left_rotation); },
          nb::sig("def left_rotation(self) -> numpy.typing.NDArray[numpy.float64]"),
          "OpenCV's R1, 3 x 3: a point at X from the left camera is at R1 X from its rectified one.")
      .def_prop_ro(
          "right_rotation", [](const Rectification& self) { return matrix_of(self.right_rotation); },
          nb::sig("def right_rotation(self) -> numpy.typing.NDArray[numpy.float64]"), "OpenCV's R2, 3 x 3.")
      .def("__repr__", [](const Rectification& self) {
        return joined("Rectification", {"shape=" + str_text(nb::repr(shape_or_none(self.size))),
                                        "geometry=" + str_text(nb::repr(nb::cast(self.geometry)))});
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
  module.def(
      "plan_rectification",
      [](nb::handle calibration, nb::handle shape, double alpha) {
        return plan_rectification(read_calibration_argument(calibration), size_or_none(read_shape(shape)),
                                  alpha);
      },
      nb::arg("calibration").none(), nb::arg("shape") = nb::none(), nb::arg("alpha") = 0.0,
      nb::sig("def plan_rectification(calibration: StereoCalibration | str | os.PathLike[str], shape: "
              "tuple[int, int] | None = None, alpha: float = 0) -> Rectification"),
      "The views that rectify() makes by a calibration, or the file of one.\n\n"
      "Both cameras turn until the baseline is along their rows (Bouguet's method, as OpenCV's "
      "stereoRectify). `alpha` says how much they show: 0 = all pixels of both views lie in the images, 1 "
      "= both views show the whole images.");
}

}  // namespace

StereoCalibration read_calibration_argument(nb::handle calibration) {
  if (nb::isinstance<StereoCalibration>(calibration)) return nb::cast<const StereoCalibration&>(calibration);
  Path path;
  if (!nb::try_cast(calibration, path))
    fail("calibration is of type ", type_text(calibration),
         "; it has to be a StereoCalibration or the path of a file");
  return read_calibration(path);
}

nb::object shape_or_none(Size size) {
  if (size == Size{}) return nb::none();
  return nb::make_tuple(size.height, size.width);
}

void bind_cameras(nb::module_& module) {
  bind_camera(module);
  bind_calibration(module);
  bind_plan(module);
}

}  // namespace parafield::python
